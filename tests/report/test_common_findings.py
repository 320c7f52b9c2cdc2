"""What several runs say is a table with a row for each, in which nothing is lost."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ssdlab.report.together import tabled
from ssdlab.report.view import Finding, Section
from ssdlab.results.claim import Amount, Claim, sentence


def section(*said: tuple[Claim, ...]) -> Section:
    lead = tuple(Finding(run, f"N{run}", " ".join(map(sentence, own)), own) for run, own in enumerate(said))
    return Section("one", "One", lead, tuple(range(len(said))), ())


def placed(count: int) -> Any:
    return [
        SimpleNamespace(label=f"N{run}", index=run, style=SimpleNamespace(short=f"N{run}"))
        for run in range(count)
    ]


def rows(found: Section) -> list[list[str]]:
    return [[cell.text for cell in row] for table in found.common for row in table.rows]


def speed(value: float, depth: int = 32, labels: str = "") -> Claim:
    says = "{figure} at {depth}" + (" ({labels})" if labels else "")
    others = {"depth": f"QD {depth}", **({"labels": labels} if labels else {})}
    columns = {"Reported": "{figure}", "Depth": "{depth}"}
    return Claim(says, figure=Amount(value, "MB/s"), others=others, columns=columns)


REACHED = Claim("The discard reached the device")


def test_claims_with_columns_are_a_table_and_what_all_say_stands_once() -> None:
    found = tabled(section((speed(100), REACHED), (speed(200, 64), REACHED)), placed(2))
    (table,) = found.common
    assert table.head == ("Run", "Reported", "Depth")
    assert rows(found) == [["N0", "100 MB/s", "QD 32"], ["N1", "200 MB/s", "QD 64"]]
    assert found.lead == (sentence(REACHED),)


@pytest.mark.parametrize("labels", ["state unproven", "prepared, not written"])
def test_the_labels_of_a_figure_stay_with_it_and_those_of_all_are_the_headings(labels: str) -> None:
    alike = tabled(section((speed(1, labels=labels),), (speed(2, labels=labels),)), placed(2))
    assert alike.common[0].head == ("Run", f"Reported ({labels})", "Depth")
    unlike = tabled(section((speed(1),), (speed(2, labels=labels),)), placed(2))
    assert [row[1] for row in rows(unlike)] == ["1.00 MB/s", f"2.00 MB/s ({labels})"]


def test_more_findings_than_runs_stand_below_each_other() -> None:
    tail = Claim("Tail {figure}", figure=Amount(9, "ms"), columns={"Tail": "{figure}"})
    found = tabled(section((speed(100), tail), (speed(200, 64),)), placed(2))
    (table,) = found.common
    assert table.head == ("Finding", "N0", "N1")
    assert rows(found) == [
        ["Reported", "100 MB/s", "200 MB/s"],
        ["Depth", "QD 32", "QD 64"],
        ["Tail", "9.00 ms", "—"],
    ]


def test_a_sentence_of_some_stands_behind_their_names_and_of_one_beside_its_own() -> None:
    odd = Claim("It is odd")
    found = tabled(section((REACHED,), (REACHED,), (odd,)), placed(3))
    first, own = found.lead
    assert first == f"N0 and N1: {sentence(REACHED)}"
    assert isinstance(own, Finding) and (own.run, own.sentences) == (2, sentence(odd))


def test_one_run_keeps_its_sentences() -> None:
    alone = section((speed(1),))
    assert tabled(alone, placed(1)) == alone


CLAIMS = st.one_of(
    st.just(REACHED),
    st.builds(speed, st.floats(1, 900), st.integers(1, 512), st.sampled_from(("", "throttled"))),
    st.builds(lambda value: Claim("{figure} moved", figure=Amount(value, "%")), st.floats(1, 99)),
)


@given(st.lists(st.lists(CLAIMS, min_size=1, max_size=4).map(tuple), min_size=2, max_size=5))
def test_no_amount_of_a_run_is_lost(said: list[tuple[Claim, ...]]) -> None:
    found = tabled(section(*said), placed(len(said)))
    heads = " ".join(head for table in found.common for head in table.head)
    table = rows(found) or [[""]] * len(said)
    for run, own in enumerate(said):
        beside = [str(each) for each in found.lead if getattr(each, "run", run) == run]
        seen = " ".join((heads, *table[run], *beside))
        for claim in own:
            assert all(str(each) in seen for each in claim.amounts().values())
