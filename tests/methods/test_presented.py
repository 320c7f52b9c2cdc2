"""What each kind of Result says and shows: findings are objects with evidence, tables have one definition."""

from __future__ import annotations

import pytest

from methods.quick_runs import METHODS, QuickResult
from ssdlab.cli.showing import print_kind
from ssdlab.lab.kinds import KINDS
from ssdlab.lab.outcome import findings_of, kind_of
from ssdlab.lab.presented.points import scalars_table
from ssdlab.results.claim import Amount, Bound, Claim, Evidence, sentence
from ssdlab.results.kind import loaded

WITHOUT = {"act", "act-index", "act-certify"}
"""A quick run has nothing of what these find: they judge hours."""


@pytest.mark.parametrize("name", METHODS)
def test_a_result_is_presented_by_its_kind(
    name: str, quick_result: QuickResult, capsys: pytest.CaptureFixture[str]
) -> None:
    result = quick_result(name)
    kind = kind_of(result.kind)
    claims, tables = list(findings_of(kind, result)), list(loaded(kind.tables)(result))
    assert claims and tables
    assert all(isinstance(claim, Claim) for claim in claims)
    assert any(claim.figure is not None and claim.evidence.steps for claim in claims) or name in WITHOUT
    print_kind(kind, result)
    printed = " ".join(capsys.readouterr().out.split())
    for claim in claims:
        assert " ".join(sentence(claim).split()) in printed and "{" not in sentence(claim)
    for table in (each for each in tables if each != scalars_table(result)):
        assert all(sum(cell.span for cell in row) == len(table.head) for row in table.rows), table.caption
        assert set(table.brief) <= set(table.head)
        kept = table.filled  # what nothing stands in is not printed
        assert (" ".join(table.caption.split()) in printed) is bool(kept.rows)
        shown = [at for at, title in enumerate(kept.head) if not table.brief or title in table.brief]
        for row in kept.rows:
            for at in shown if len(row) == len(kept.head) else ():
                assert " ".join(row[at].text.split()) in printed


def test_every_kind_that_is_presented_names_who_says_it() -> None:
    plain = {name for name, kind in KINDS.items() if kind.findings == type(kind).findings}
    assert plain == {"measure", "suite"}, "printed by a command of its own; shown by its runs"


def test_bytes_that_are_a_block_read_binary() -> None:
    said = {4096: "4 KiB", 1 << 20: "1 MiB", 512: "512 B", 1000: "1.00 kB", 4_000_000: "4.00 MB"}
    assert {size: str(Amount(size, "bytes")) for size in said} == said


def test_a_finding_says_whether_its_figure_keeps_its_bound() -> None:
    under = Bound("under", Amount(1e6, "ns"))
    for figure, holds in ((999_999.0, True), (1e6, False), (None, None)):
        claim = Claim("p99 was {figure}, {bound}", figure=Amount(figure, "ns"), bound=under)
        assert claim.holds is holds
    assert Bound("at least", Amount(95, "%")).kept_by(Amount(95, "%")) is True
    assert Bound("at most", Amount(95, "%")).kept_by(Amount(95.1, "%")) is False
    assert Claim("{figure}", figure=Amount(1.0)).holds is None


def test_the_sentence_is_made_of_the_object() -> None:
    claim = Claim(
        "writes took {figure}, {bound}; {why}",
        figure=Amount(388_000.0, "ns"),
        bound=Bound("under", Amount(1e6, "ns")),
        evidence=Evidence((3,), (0, 4)),
        others={"why": "braces {like these} are words"},
    )
    assert sentence(claim) == "Writes took 388 µs, under 1.00 ms; braces {like these} are words."
    with pytest.raises(ValueError, match="'when'"):
        Claim("a figure of {when}")


def test_verdicts_of_runs_are_their_findings(quick_result: QuickResult) -> None:
    """Known of the quick runs: the rate that held, rounds without an end."""
    (*_, limit) = loaded(kind_of("rate-limit").findings)(quick_result("rate-limit"))
    result = quick_result("rate-limit")
    assert limit.holds is True and len(limit.evidence.steps) == len(result.tries)
    (_, verdict, *_) = loaded(kind_of("pts").findings)(quick_result("pts-latency"))
    assert verdict.evidence.rows == (0, 4)
