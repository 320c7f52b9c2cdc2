"""What several runs say in the same words: a table, a row for each, in which nothing is lost."""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ssdlab.report.together import tabled
from ssdlab.report.view import Finding, Section


def section(*said: tuple[str, ...]) -> Section:
    lead = tuple(Finding(run, f"N{run}", each) for run, each in enumerate(said))
    return Section("one", "One", lead, tuple(range(len(said))), ())


def placed(count: int) -> Any:
    return [
        SimpleNamespace(label=f"N{run}", index=run, style=SimpleNamespace(short=f"N{run}"))
        for run in range(count)
    ]


def texts(found: Section) -> list[list[str]]:
    return [[cell.text for cell in row] for table in found.common for row in table.rows]


def test_sentences_that_differ_by_amounts_are_a_column_and_the_same_stands_once() -> None:
    found = tabled(
        section(
            ("55.7k IOPS in all 10.0 s, never under 3.47k IOPS.", "The discard reached the device."),
            ("110k IOPS in all 10.0 s, never under 110k IOPS.", "The discard reached the device."),
        ),
        placed(2),
    )
    (table,) = found.common
    assert table.head == ("Run", "… in all 10.0 s, never under …")
    assert texts(found) == [["N0", "55.7k IOPS, 3.47k IOPS"], ["N1", "110k IOPS, 110k IOPS"]]
    assert found.lead == ("The discard reached the device.",)


def test_two_sentences_of_a_run_in_the_same_words_are_two_columns() -> None:
    said = [("70/30 mix, {} GB/s at QD 32.", "70/30 mix, {} GB/s at QD 128.")] * 2
    found = tabled(
        section(*(tuple(text.format(f"{run + 1}.5") for text in own) for run, own in enumerate(said))),
        placed(2),
    )
    assert found.common[0].head == ("Run", "70/30 mix, … at QD 32", "70/30 mix, … at QD 128")


@pytest.mark.parametrize("state", ["state unproven", "prepared, not written", "not judged, search ceiling"])
def test_the_labels_of_a_figure_stay_with_it(state: str) -> None:
    alike = tabled(section((f"Reads 1.50 ms ({state}).",), (f"Reads 2.50 ms ({state}).",)), placed(2))
    assert alike.common[0].head == ("Run", f"Reads … ({state})")
    for amount in ("2.50", "1.50"):
        unlike = tabled(section(("Reads 1.50 ms.",), (f"Reads {amount} ms ({state}).",)), placed(2))
        assert texts(unlike) == [["N0", "1.50 ms"], ["N1", f"{amount} ms ({state})"]]


def test_what_one_run_alone_says_stays_its_own_sentence() -> None:
    found = tabled(section(("It held; no rate failed.", "1.50 ms."), ("2.50 ms.",)), placed(2))
    (own,) = found.lead
    assert isinstance(own, Finding) and (own.run, own.sentences) == (0, "It held; no rate failed.")


def test_one_run_keeps_its_sentences() -> None:
    alone = section(("55.7k IOPS.",))
    assert tabled(alone, placed(1)) == alone


AMOUNTS = st.builds(
    "{} {}".format, st.floats(0.1, 900).map("{:.3g}".format), st.sampled_from(("MB/s", "ms", "%"))
)
WORDS = st.sampled_from(("Reads {} and {}", "Writes {}; never under {}", "It held the rule", "Odd … {}"))


@given(
    st.lists(
        st.lists(st.tuples(WORDS, AMOUNTS, AMOUNTS), min_size=1, max_size=4).map(
            lambda own: tuple(f"{words.format(*amounts)}." for words, *amounts in own)
        ),
        min_size=2,
        max_size=5,
    )
)
def test_no_amount_of_a_run_is_lost(said: list[tuple[str, ...]]) -> None:
    found = tabled(section(*said), placed(len(said)))
    heads = " ".join(head for table in found.common for head in table.head)
    rows = texts(found) or [[""]] * len(said)
    for run, own in enumerate(said):
        beside = [str(each) for each in found.lead if getattr(each, "run", run) == run]
        seen = " ".join((heads, *rows[run], *beside))
        for amount in re.findall(r"\d[\d.e+]* (?:MB/s|ms|%)", " ".join(own)):
            assert amount in seen
