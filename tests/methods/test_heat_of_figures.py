"""Figures of steps that heat or the host slowed: labelled in every method, and held against no rating."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import pytest

from ssdlab.drives.rated import Rated
from ssdlab.methods.presented.fill import findings
from ssdlab.methods.results.figure_state import states_of, with_states
from ssdlab.methods.results.fill import FillResult
from ssdlab.methods.results.points import PointsResult
from ssdlab.methods.results.trim import LbaPlot, TrimEffect, TrimResult
from ssdlab.model.host_load import HostLoad
from ssdlab.results.claim import sentence
from ssdlab.results.rated_shares import rated_shares
from ssdlab.results.records import StepResult
from ssdlab.results.run_folder import Step
from ssdlab.results.schema import Scalar, Warned

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
        "scalars": (Scalar.more("fill_mb_s", "whole drive", 750.0, "MB/s"),),
    }
    return FillResult(**(facts | changes))


def shares(result: FillResult) -> list[tuple[str, float]]:
    return [(each.figure.name, each.share) for each in rated_shares(result.rated_scalars, RATED)]


def test_a_fill_that_heat_slowed_is_labelled_and_is_no_share_of_a_rating() -> None:
    cool, hot = (with_states(fill(), [step(0), step(1, *codes)]) for codes in ((), ("throttled",)))
    assert (states_of(cool), shares(cool)) == ({}, [("fill_mb_s", 0.5)])
    assert (states_of(hot), shares(hot)) == ({"fill_mb_s": "throttled by heat"}, [])
    assert hot.scalars[0].unshown == "throttled by heat", "the library ranks by that"
    first = sentence(next(iter(findings(cast("FillResult", hot)))))
    assert first == "750 MB/s over the whole drive (throttled by heat), 750 MB/s over its last 16.0 GB."
    other = with_states(fill(), [step(0, "throttled"), step(1)])
    assert states_of(other) == {}, "heat of another step"


def test_a_fill_that_the_host_limited_is_labelled_and_is_no_share_of_a_rating() -> None:
    limited = with_states(fill(), [step(0), step(1, busy=0.97)])
    assert (states_of(limited), shares(limited)) == ({"fill_mb_s": "limited by the host"}, [])
    assert limited.scalars[0].unshown == "limited by the host", "the library ranks by that"
    other = with_states(fill(), [step(0, busy=0.97), step(1)])
    assert states_of(other) == {}, "the host's load of another step"


@pytest.mark.parametrize(
    ("one", "state"),
    [
        (step(1, busy=0.97), "limited by the host"),
        (step(1, "throttled"), "throttled by heat"),
        (step(1), None),
        (replace(step(1, "throttled", busy=0.97), verb="fill"), None),
    ],
)
def test_a_figure_that_names_no_steps_is_of_all_that_were_measured(one: Step, state: str | None) -> None:
    figure = Scalar.more("fill_mb_s", "whole drive", 750.0, "MB/s")
    result = with_states(PointsResult(quick=False, points=(), scalars=(figure,)), [step(0), one])
    assert not result.basis_of(figure).steps
    assert result.scalars[0].unshown == state


def test_of_a_fill_with_a_cache_the_speed_before_its_end_is_what_a_cached_rating_speaks_of() -> None:
    cached = fill(cache_bytes=16 * 10**9, before_mb_s=1600.0, after_mb_s=600.0)
    assert shares(cached) == [("fill_mb_s", 0.5), ("fill_cached_mb_s", 1.0)]
    hot = with_states(cached, [step(1, "throttled")])
    assert shares(cast("FillResult", hot)) == [("fill_cached_mb_s", 1.0)], "the cache ended before the heat"


def test_a_fill_of_a_drive_that_is_not_known_to_be_fresh_is_held_against_no_rating() -> None:
    assert shares(fill(purged=False, before_mb_s=1600.0, after_mb_s=600.0, cache_bytes=10**9)) == []


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
    found = with_states(result, [step(1, *codes), step(2), step(3)])
    watts = {name: state for name, state in states_of(found).items() if name.startswith("trim_clean")}
    assert set(watts.values()) == ({"throttled by heat"} if codes else set())
    assert len(watts) == (2 if codes else 0)
