"""A run whose every step ssdlab stood still in: nothing of it is ranked, held, passed or called steady."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from methods.on_simulated import parts_of, quick_run
from ssdlab.lab.folders import REGISTRY
from ssdlab.lab.outcome import read_result
from ssdlab.model.summary import Pause
from ssdlab.results.records import StepResult
from ssdlab.runs import runner
from ssdlab.runs.step_executor import StepExecutor

pytestmark = pytest.mark.long

PAUSE = Pause(start_ns=0, end_ns=1 << 62, length_ns=10**9)
"""In all of any step: simulated drives keep a time of their own, in which nothing can stand still."""
QUICK = ("act", "rate-limit", "paced-burst", "read-under-writes", "trim-validation")
GOOD = ("held", "passed", "reached", "steady")


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=() if name in QUICK else pytest.mark.slow)
        for name in REGISTRY
        if name not in ("idle-power", "job")
    ],
)
def test_nothing_of_it_is_good(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    act = StepExecutor.act

    def stopped(self: StepExecutor, *given: Any) -> StepResult:
        found = act(self, *given)
        return found if found.measurement is None else found.model_copy(update={"pauses": (PAUSE,)})

    monkeypatch.setattr(StepExecutor, "act", stopped)
    monkeypatch.setattr(runner, "_AGAIN", 0)
    run = quick_run(name, tmp_path)
    result: Any = read_result(run)
    assert not [each.name for each in result.scalars if not each.unfit("ranking")]
    assert not [each.name for each in result.scalars if not each.unfit("ratings")]
    measured = {step.ordinal for step in run.steps() if step.result.measurement is not None}
    for part in parts_of(result.model_dump(mode="json")):
        if part.get("ordinal") in measured:
            assert not [each for each in GOOD if part.get(each) is True], part
    assert result.passed is not True
