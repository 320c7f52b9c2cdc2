"""Figures of steps that heat or the host slowed: labelled in every method, and held against no rating."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from methods.on_simulated import rateable, run
from report.planted_scenes import Change, hot, planted
from ssdlab.drives.ratings import Rated
from ssdlab.lab.kinds import PointsResult
from ssdlab.lab.outcome import marked, read_result
from ssdlab.lab.rated_shares import rated_shares
from ssdlab.methods.trim_validation.result import LbaPlot, TrimEffect, TrimResult
from ssdlab.methods.whole_drive_fill.result import FillResult, findings
from ssdlab.model.host_load import HostLoad
from ssdlab.model.telemetry import Mark, StepTelemetry
from ssdlab.results.claim import sentence
from ssdlab.results.evidence import qualified
from ssdlab.results.records import StepResult
from ssdlab.results.run_folder import Step
from ssdlab.results.schema import Metric, Warned

RATED = [
    Rated(metric="sequential_write_mb_s", value=1500.0, state="fresh", source="data-sheet"),
    Rated(metric="sequential_write_mb_s", value=1600.0, state="cached", source="data-sheet"),
]


def step(ordinal: int, *codes: str, busy: float = 0.1) -> Step:
    load = HostLoad(cores=2, threads=1, cpu_busy_share=busy, run_queue_delay_share=0.0)
    result = StepResult(seconds=1.0, measurement={}, host=load)
    warned = [Warned(code=code, what="", advice="") for code in codes]
    return Step(ordinal, 1, "run", "load", {}, result.model_copy(update={"warnings": warned}))


def fill(**changes: Any) -> FillResult:
    facts: dict[str, Any] = {
        "quick": False,
        "block_bytes": 131072,
        "depth": 32,
        "ordinal": 1,
        "part_bytes": 1e9,
        "parts_mb_s": (750.0,) * 64,
        "mean_mb_s": 750.0,
        "last_mb_s": 750.0,
        "cache_bytes": None,
        "before_mb_s": None,
        "after_mb_s": None,
        "scalars": (Metric.more("fill_mb_s", "whole drive", 750.0, "MB/s", steps=(1,)),),
    }
    return FillResult(**(facts | changes))


def shares(result: FillResult) -> list[tuple[str, float]]:
    return [(each.figure.name, each.share) for each in rated_shares(rateable(result), RATED)]


def test_a_fill_that_heat_slowed_is_labelled_and_is_no_share_of_a_rating() -> None:
    cool, hot = (qualified(fill(), [step(0), step(1, *codes)]) for codes in ((), ("throttled",)))
    assert (cool.scalars[0].codes, shares(cool)) == ((), [("fill_mb_s", 0.5)])
    assert (hot.scalars[0].codes, shares(hot)) == (("throttled",), [])
    for result, label in ((cool, False), (hot, True)):
        first = sentence(marked(findings(result), result.scalars)[0])
        assert "750 MB/s" in first and ("(throttled)" in first) is label
    other = qualified(fill(), [step(0, "throttled"), step(1)])
    assert other.scalars[0].codes == (), "heat of another step"


def test_a_fill_that_the_host_limited_is_labelled_and_is_no_share_of_a_rating() -> None:
    limited = qualified(fill(), [step(0), step(1, busy=0.97)])
    assert (limited.scalars[0].codes, shares(limited)) == (("host-limited",), [])
    other = qualified(fill(), [step(0, busy=0.97), step(1)])
    assert other.scalars[0].codes == (), "the host's load of another step"


@pytest.mark.parametrize(
    ("one", "code"),
    [
        (step(1, busy=0.97), "host-limited"),
        (step(1, "throttled"), "throttled"),
        (step(1), None),
        (replace(step(1, "throttled", busy=0.97), verb="fill"), None),
    ],
)
def test_a_figure_that_names_no_steps_is_of_all_that_were_measured(one: Step, code: str | None) -> None:
    figure = Metric.more("fill_mb_s", "whole drive", 750.0, "MB/s")
    result = qualified(PointsResult(quick=False, points=(), scalars=(figure,)), [step(0), one])
    assert result.scalars[0].codes == ((code,) if code else ())


def with_mark(at_ns: int) -> Step:
    """A step in which the drive throttled itself from then on."""
    hot = step(1, "throttled")
    marks = (Mark(code="throttled", at_ns=at_ns, what="hot"),)
    telemetry = StepTelemetry(sources=("x",), samples=1, began_ns=0, ended_ns=100, marks=marks)
    return replace(hot, result=hot.result.model_copy(update={"telemetry": telemetry}))


@pytest.mark.parametrize(("hot_from_ns", "kept"), [(60, ["fill_cached_mb_s"]), (40, [])])
def test_heat_after_the_fall_is_none_of_the_speed_before_it(hot_from_ns: int, kept: list[str]) -> None:
    figures = (
        Metric.more("fill_mb_s", "whole drive", 750.0, "MB/s", steps=(1,)),
        Metric.more("fill_cached_mb_s", "before", 1600.0, "MB/s", steps=(1,), ends_ns=50),
    )
    assert [name for name, _ in shares(fill(scalars=figures))] == ["fill_mb_s", "fill_cached_mb_s"]
    hot = qualified(fill(scalars=figures), [with_mark(hot_from_ns)])
    assert [name for name, _ in shares(hot)] == kept


@pytest.mark.parametrize("codes", [(), ("throttled",)])
def test_the_power_of_a_trim_pass_that_heat_slowed_is_labelled(codes: tuple[str, ...]) -> None:
    plots = [
        LbaPlot(
            name=name,
            ordinal=at,
            part_bytes=1e9,
            parts_mb_s=(500.0,) * 64,
            mean_mb_s=500.0,
            sustained_mb_s=500.0,
            mean_w=4.0,
            throttled=bool(codes) and at == 1,
        )
        for at, name in enumerate(("clean", "before TRIM", "after TRIM"), 1)
    ]
    effect = TrimEffect(reached_device=True, evidence="simulated", reads="zeroes", seconds=0.1)
    facts: dict[str, Any] = {"quick": False, "block_bytes": 131072, "torture_s": 3600.0, "purged": True}
    result = TrimResult.of(*plots, effect, 1, sustained_s=60.0, **facts)
    found = qualified(result, [step(1, *codes), step(2), step(3)])
    watts = [each.codes for each in found.scalars if each.name.startswith("trim_clean")]
    assert watts == [codes] * 2


@pytest.mark.parametrize(("change", "kept"), [(None, True), (hot, False)])
def test_a_fill_that_fell_when_it_was_hot_withholds_the_speed_before(
    tmp_path: Path, change: Change | None, kept: bool
) -> None:
    with planted(change):
        result = read_result(run("whole-drive-fill", tmp_path, "sim:nvme-tlc-client,scale=64"))
    (figure,) = [each for each in result.scalars if each.name == "fill_cached_mb_s"]
    assert (figure.value is not None) is kept
    assert ("throttled" in figure.codes) is not kept
    assert (result.hot_drop_bytes is None) is kept
