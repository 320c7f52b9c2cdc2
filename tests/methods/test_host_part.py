"""The host's part in a run: one sentence for all methods, from the steps that measured figures."""

from __future__ import annotations

from ssdlab.methods.results.points import PointsResult
from ssdlab.model.host_load import HostLoad
from ssdlab.results.host_part import host_part, with_host_part
from ssdlab.results.records import StepResult
from ssdlab.results.run_folder import Step


def step(ordinal: int, verb: str, busy: float | None, threads: int = 8) -> Step:
    load = HostLoad(cores=2, threads=threads, cpu_busy_share=busy, run_queue_delay_share=0.0)
    result = StepResult(seconds=1.0, measurement={}, host=load)
    return Step(ordinal, 1, verb, f"load {threads}", {}, result)


def test_preparation_does_not_count_and_the_busiest_step_is_named() -> None:
    steps = [step(0, "fill", 1.0), step(1, "run", 0.1), step(2, "run", 0.95), step(3, "run", 0.99, 82)]
    part = host_part(steps)
    assert part is not None
    assert part.words == "host-limited in 2 of 3 measured steps"
    result = with_host_part(PointsResult(quick=False, points=(), caveats=("another",)), steps)
    assert result.caveats == (
        "the host, not the drive, was the limit in 2 of 3 measured steps: at step 4, load 82, the CPUs were "
        "99.0 % busy, 90 % being near saturation",
        "another",
    )


def test_where_the_drive_was_the_limit_nothing_is_said() -> None:
    steps = [
        step(0, "fill", 1.0),
        step(1, "run", 0.1),
        Step(2, 1, "idle", "rest", {}, StepResult(seconds=1.0)),
    ]
    assert host_part(steps) is None
    result = PointsResult(quick=False, points=())
    assert with_host_part(result, steps) is result


def test_of_one_step_no_share_is_told() -> None:
    part = host_part([step(0, "run", 0.97)])
    assert part is not None and part.words == "host-limited"
