"""What a drive has been written in a run that was interrupted: by attempts that do not count, too."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from methods.on_simulated import findings_of
from pts.resting import TEXT, RestingDrive, StopAt
from ssdlab.drives.simulated.drive import SimulatedDrive
from ssdlab.drives.simulated.text import SimulatedText
from ssdlab.lab.found import find_method
from ssdlab.lab.outcome import read_result
from ssdlab.lab.parts.steady import written_by
from ssdlab.methods.pts.result import PtsIdleRecoveryResult, PtsResult
from ssdlab.model.errors import Interrupted
from ssdlab.results.claim import Amount
from ssdlab.results.records import StepResult, VoidedWrites
from ssdlab.results.run_folder import RunFolder, Step
from ssdlab.runs.order import Order
from ssdlab.runs.session import RunEnvironment, resume, start

GIB = 1 << 30


@pytest.fixture(autouse=True)
def own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


class Counted(RestingDrive):
    """Its own counter tells what the host has written, whatever became of the steps."""

    @property
    def host_bytes(self) -> int:
        return int(self.native.counters()["host_bytes_written"])


def interrupted(library: Path, name: str, stop: StopAt, **settings: str) -> tuple[RunFolder, int]:
    """Return a run that was stopped and resumed, and the bytes that its drive was written meanwhile."""
    drive = Counted(stop)
    before = drive.host_bytes
    environment = RunEnvironment(lambda text, **opened: drive)
    method = find_method(name)
    order = Order(method, method.params.build(settings), TEXT, destroy=TEXT, seed=3)
    with pytest.raises(Interrupted) as caught:
        start(order, library, environment=environment)
    folder = resume(Path(str(caught.value.facts["folder"])), environment=environment)
    return RunFolder(folder), drive.host_bytes - before


def test_fills_after_a_resume_have_those_of_the_voided_preconditioning(tmp_path: Path) -> None:
    """Stopped in round 2: the drive was written over once before the cut, and is again after it."""
    brief = {"overwrites": "1", "seconds": "0.02", "fixed_rounds": "true", "most_rounds": "5"}
    stop = StopAt(1 + 9 + 1)  # the preconditioning, the first round, and a cell of the second
    run, written = interrupted(tmp_path, "pts-latency", stop, histogram_seconds="0.05", **brief)
    result = read_result(run)
    assert isinstance(result, PtsResult)
    capacity_bytes = run.manifest.drive.capacity_bytes
    counted = sum(step.written_bytes for step in run.steps())
    assert result.fills * capacity_bytes == pytest.approx(written, rel=1e-3)
    assert result.fills - counted / capacity_bytes == pytest.approx(1.0, rel=1e-2), "what was voided"
    (group,) = result.groups
    assert 2.0 < group.fills <= result.fills, "none of it was purged away in between"


class Kept(SimulatedDrive):
    """One that is made anew for each session, and brought to where the last one left it."""

    def __init__(self, before_run: StopAt) -> None:
        super().__init__(SimulatedText.parse(TEXT), writing=True, allow_unwritten=True)
        self.before_run = before_run

    def run(self, workload: Any, **options: Any) -> Any:
        self.before_run()
        return super().run(workload, **options)


def test_a_drive_whose_state_goes_back_has_none_of_it(tmp_path: Path) -> None:
    """Stopped in round 2: what the voided attempt had written is not on the drive of the next session."""
    method, stop = find_method("pts-throughput"), StopAt(1 + 2 + 2)
    brief = {"overwrites": "1", "seconds": "0.02", "fixed_rounds": "true", "most_rounds": "5"}
    environment = RunEnvironment(lambda text, **opened: Kept(stop))
    order = Order(method, method.params.build(brief), TEXT, destroy=TEXT, seed=3)
    with pytest.raises(Interrupted) as caught:
        start(order, tmp_path, environment=environment)
    run = RunFolder(resume(Path(str(caught.value.facts["folder"])), environment=environment))
    assert run.voided()
    result = read_result(run)
    assert isinstance(result, PtsResult)
    assert result.fills * run.manifest.drive.capacity_bytes == sum(s.written_bytes for s in run.steps())


def step(ordinal: int, verb: str, gib: int, place: int) -> Step:
    facts: dict[str, Any] = {"purged": True} if verb == "purge" else {}
    found = StepResult(seconds=0.0, written_bytes=gib * GIB, facts=facts)
    return Step(ordinal, 1, verb, verb, {}, found, place)


def test_what_was_written_by_a_step_is_told_in_the_order_in_which_it_was_done() -> None:
    """Purge, writing over cut short at 1 of 2 GiB, done again, a round; then both were done again.

    Journal: purge 1, [begun 2: 1 GiB, voided], WIPC [begun 4, 2 GiB, voided later], round 1 of 3 GiB at 7,
    round 2 [begun 8, 4 GiB, voided], WIPC again at 11, round 2 again of 4 GiB at 13.
    """
    steps = [
        step(0, "purge", 0, 1),
        step(1, "precondition", 2, 11),
        step(2, "run", 3, 7),
        step(3, "run", 4, 13),
    ]
    voided = [VoidedWrites(8, 4 * GIB), VoidedWrites(2, GIB), VoidedWrites(4, 2 * GIB)]
    found = written_by(steps, 8 * GIB, voided)
    assert {ordinal: each.bytes // GIB for ordinal, each in found.items()} == {0: 0, 2: 6, 1: 12, 3: 16}
    again = [step(4, "purge", 0, 14), step(5, "run", 1, 16)]
    assert written_by([*steps, *again], 8 * GIB, voided)[5].bytes == GIB, "a purge begins anew"


def test_bursts_before_an_interruption_are_told_from_the_baseline_after_it(tmp_path: Path) -> None:
    """Stopped in the bursts of the second wait state: the baseline is of what preconditioned it again."""
    brief = {"seconds": "0.05", "cycle": "1", "burst_seconds": "0.05", "bursts": "2", "return_seconds": "0.1"}
    run, _ = interrupted(tmp_path, "pts-host-idle-recovery", StopAt(1 + 2 + 1), **brief)
    result = read_result(run)
    assert isinstance(result, PtsIdleRecoveryResult)
    assert [bool(wait.cut) for wait in result.waits] == [False, True, False, False, False]
    (cut,) = (each for each in findings_of(result) if each.startswith("Interrupted"))
    assert all(str(Amount(seconds, "s")) in cut for seconds in (0.1, 0.05))
