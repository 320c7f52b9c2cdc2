"""What is said beside a figure that its own rule holds good."""

from __future__ import annotations

import pytest

from methods.on_simulated import findings_of
from ssdlab.methods.pts.findings import found_text, moving_cells
from ssdlab.methods.pts.result import PtsCell, PtsRounds, PtsSamples, TrackedVariable
from ssdlab.methods.pts.series_findings import window_of
from ssdlab.methods.rate_limit.result import OfferedLoad, RateLimitResult, failure_of, rates
from ssdlab.methods.read_under_writes.result import LoadCell, saturated
from ssdlab.results.claim import Amount, Evidence, clause, sentence


def rounds_of(*cells: PtsCell, steady: bool = True) -> PtsRounds:
    return PtsRounds(
        group="",
        rounds=5,
        steady=steady,
        first=1,
        last=5,
        reported=(1, 5),
        fills=3.0,
        tracked=(),
        cells=cells,
    )


def cell(block_bytes: int, *iops: float) -> PtsCell:
    return PtsCell(read_pct=0, block_bytes=block_bytes, ordinals=(1, 2, 3, 4, 5), iops=iops)


def test_a_cell_that_is_not_tracked_and_slides_is_named() -> None:
    level, slides = cell(4096, *[100.0] * 5), cell(8192, 100, 96, 92, 88, 84)
    claim = moving_cells(rounds_of(level, slides))
    assert claim is not None
    said = sentence(claim)
    assert "in the same rounds 1 of 2 cells was not" in said
    assert "8 KiB 0/100" in said
    assert moving_cells(rounds_of(level)) is None
    assert moving_cells(rounds_of(level, slides, steady=False)) is None, "its rounds are no window"
    assert moving_cells(rounds_of(level, PtsCell(read_pct=0, block_bytes=512, missing="sectors"))) is None


def test_a_rate_that_the_longest_io_vouched_for_says_so() -> None:
    few = OfferedLoad(rate=1000, ordinal=1, held=True, response_ns={"p99": None, "max": 2e6})
    many = OfferedLoad(rate=2000, ordinal=2, held=True, response_ns={"p99": 1e6, "max": 3e6})
    result = RateLimitResult.of(
        (few, many), quick=True, read_pct=100, block_bytes=4096, percentile="p99", bound_ns=5e6
    )
    assert any("Too few I/Os for p99 at 1.00k IOPS" in each for each in findings_of(result))
    held = [row[6].text for row in rates(result).rows]
    assert held == ["yes: the longest took 2.00 ms", "yes"]


@pytest.mark.parametrize(
    ("done", "what", "said"),
    [
        (1.0, "p99 was", "p99 was 0.085 ms"),
        (1.0, "the longest of 2 I/Os took", "the longest of 2 I/Os took 0.085 ms"),
        (0.5, "p99 was", "only 50.0 % of the I/Os that arrived were done"),
        (None, "p99 was", "no I/O arrived: the measurement was too short"),
    ],
)
def test_why_a_rate_did_not_hold_is_what_was_seen(done: float | None, what: str, said: str) -> None:
    failed = failure_of(done, 0, Amount(85_000.0, "ns"), what, 50_000.0, Evidence((1,)))
    assert failed is not None and clause(failed) == said


@pytest.mark.parametrize(
    ("values", "verdict", "span"),
    [
        ((), "not assessed: 0 samples are too few", "none: 0 of 5 samples"),
        ((1.0,), "not assessed: 1 sample is too few", "none: 1 of 5 samples"),
    ],
)
def test_samples_that_are_too_few_are_no_window(values: tuple[float, ...], verdict: str, span: str) -> None:
    """Whatever was written meanwhile: no count of it is the reason."""
    tracked = TrackedVariable(name="samples", unit="IOPS", values=values)
    found = PtsSamples(steady=False, first=1, last=len(values), every=30, at=29, variable=tracked, fills=4.8)
    assert found.verdict == found_text(found) == verdict
    assert window_of(found).span == span


def test_the_lightest_of_the_saturated_cells_are_those_below_which_none_is() -> None:
    """The sum of two shares, which are of unlike peaks, is no measure of a load."""
    pairs = [(5, 95), (50, 75), (75, 50), (75, 75), (75, 95)]
    held = [True, False, False, False, False]
    cells = [
        LoadCell.model_construct(
            read_pct=reads, write_pct=writes, ordinal=at, held=holds, why="" if holds else "it was late"
        )
        for at, ((reads, writes), holds) in enumerate(zip(pairs, held, strict=True))
    ]
    (claim,) = saturated(cells)
    assert sentence(claim) == (
        "4 of 5 cells are saturated, the lightest at 50 % reads and 75 % writes and at 75 % reads and "
        "50 % writes: it was late."
    )
    (claim,) = saturated(cells[:2])
    assert sentence(claim) == "1 of 2 cells is saturated, at 50 % reads and 75 % writes: it was late."
    assert not [*saturated(cells[:1])]
