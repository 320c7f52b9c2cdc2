"""A run on a simulated drive that is killed and resumed gives, to the bit, what it gives undisturbed."""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lab.test_verbs import NoParams
from report.planted_scenes import planted
from ssdlab import _core, open_drive
from ssdlab.drives.simulated.drive import SimulatedDrive
from ssdlab.lab.lab import Lab
from ssdlab.lab.method import Method
from ssdlab.lab.parts.workloads import closed_loop
from ssdlab.model.errors import Refused
from ssdlab.model.summary import DIRECTIONS
from ssdlab.results.records import EndRecord
from ssdlab.results.run_folder import RunFolder
from ssdlab.results.schema import JobResult
from ssdlab.results.step_log import log_name
from ssdlab.runs import drive_state
from ssdlab.runs import resume_checks as same_run
from ssdlab.runs.drive_state import STATES
from ssdlab.runs.order import Order
from ssdlab.runs.session import RunEnvironment, resume, start

SEED = 20_261_121
CYCLES = 5
DRIVE = "sim:tiny-test,scale=4"
HOST_FACTS = ("cpu", "environment", "started", "workers", "host", "build", "streams", "warnings")


def procedure(lab: Lab) -> None:
    """Something of everything that changes a drive."""
    lab.fill(unless_written=True)
    lab.precondition(_writes(8, 0.4), label="precondition")
    with lab.on_interruption("re-precondition"):
        for depth in (1, 2, 4):
            lab.run(_writes(depth, 0.15), label=f"depth {depth}")
    lab.sweep("forked", (1, 4, 16), lambda depth: _writes(depth, 0.15), forked=True)
    lab.trim()
    lab.idle(5)
    lab.flush()
    lab.fill()
    lab.health()
    lab.purge()
    lab.run(_writes(4, 0.2), label="fresh out of the box")
    lab.run(_writes(2, 0.05, log_ios=True), label="each I/O on record")
    lab.run(_writes(2, 0.05), label="after it")


def _writes(depth: int, seconds: float, *, log_ios: bool = False) -> Any:
    found = closed_loop("random", "write", block_bytes=4096, in_flight=depth, seconds=seconds)
    streams = tuple(each.model_copy(update={"log_ios": log_ios}) for each in found.streams)
    return found.model_copy(update={"streams": streams})


METHOD = Method(
    "some",
    1,
    "Some",
    NoParams,
    lambda lab, params: procedure(lab),
    lambda data, params: JobResult(quick=False, points=()),
    writes=lambda params: True,
)


@pytest.fixture(autouse=True)
def known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(same_run, "find_method", lambda name: METHOD)


def environment() -> RunEnvironment:
    return RunEnvironment(finish=lambda folder, manifest, lock: manifest)


def begin(library: Path, drive: str = DRIVE) -> Path:
    return start(Order(METHOD, NoParams(), drive, seed=SEED), library, environment=environment())


def go_on(folder: Path) -> Path:
    return resume(folder, environment=environment())


def results(folder: Path) -> list[Any]:
    """All that a run measured on the drive's side: summaries, rows, states; nothing of the host."""
    run = RunFolder(folder)
    states = {r.ordinal: r.drive_state for r in run.journal() if isinstance(r, EndRecord)}
    found = []
    for step in run.steps():
        summary = step.result.measurement or {}
        kept = {name: value for name, value in summary.items() if name not in HOST_FACTS}
        if "drive" in kept:
            kept["drive"] = {name: value for name, value in kept["drive"].items() if name != "path"}
        rows = []
        if summary:
            measured = _core.read_log(folder / "steps" / log_name(step.ordinal, step.attempt)).measurement
            rows = [
                {name: column.tolist() for name, column in measured.rows(stream, side).items()}
                for stream in measured.streams
                for side in DIRECTIONS
            ]
        facts = {name: value for name, value in step.result.facts.items() if name != "ns"}
        told = None if step.result.telemetry is None else step.result.telemetry.changes
        found.append((step.ordinal, step.verb, step.label, facts, kept, rows, told, states[step.ordinal]))
    return found


def in_child(work: Callable[[], object], kill_after_s: float | None = None) -> int:
    child = os.fork()
    if child == 0:
        status = 70
        try:
            work()
            status = 0
        finally:
            os._exit(status)
    if kill_after_s is not None:
        time.sleep(kill_after_s)
        os.kill(child, signal.SIGKILL)
    return os.waitpid(child, 0)[1]


def folder_in(library: Path) -> Path | None:
    return next((path.parent for path in library.glob("*/manifest.json")), None)


@pytest.mark.parametrize("snapshots", ["by-cost", "often", "never"])
@pytest.mark.parametrize("kept", [False, True], ids=["made-anew", "kept-in-a-file"])
@pytest.mark.long
def test_killed_at_seeded_moments_a_run_gives_the_same_bits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, snapshots: str, kept: bool
) -> None:
    share = {"by-cost": drive_state.COST_SHARE, "often": 1e9, "never": 0.0}[snapshots]
    monkeypatch.setattr(drive_state, "COST_SHARE", share)
    draw = random.Random(f"{SEED} {snapshots} {kept}")

    def named(file: str) -> str:
        return f"{DRIVE},state={tmp_path / file}" if kept else DRIVE

    began = time.monotonic()
    assert in_child(lambda: begin(tmp_path / "whole", named("whole.sim"))) == 0
    whole_s = time.monotonic() - began
    whole = folder_in(tmp_path / "whole")
    assert whole is not None
    undisturbed = results(whole)
    assert len(undisturbed) == 22 and all(state for *_, state in undisturbed)

    moments = set()
    for cycle in range(3 * CYCLES):
        if cycle >= CYCLES and len(moments) >= 3:
            break
        library = tmp_path / f"cycle-{cycle}"
        moment_s = (0.2 + 0.8 * (cycle % CYCLES + draw.random()) / CYCLES) * whole_s
        in_child(lambda at=library, c=cycle: begin(at, named(f"{c}.sim")), moment_s)
        folder = folder_in(library)
        if folder is None:
            continue
        for _ in range(2):
            if RunFolder(folder).manifest.status == "finished":
                break
            moments.add(len(RunFolder(folder).journal()))
            in_child(lambda at=folder: go_on(at), draw.uniform(0.1, 0.9) * whole_s)
        if RunFolder(folder).manifest.status != "finished":
            assert in_child(lambda at=folder: go_on(at)) == 0
        assert results(folder) == undisturbed
        if (folder / STATES).exists():  # killed after its last record, when it was tidying up
            assert in_child(lambda at=folder: go_on(at)) == 0
        assert not (folder / STATES).exists()
        if kept:
            assert digest_of(named(f"{cycle}.sim")) == digest_of(named("whole.sim"))
    assert len(moments) >= 3, "the kills came at different steps"


def digest_of(text: str) -> str:
    with open_drive(text) as drive:
        assert isinstance(drive, SimulatedDrive)
        return drive.state.digest()


def killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, drive: str = DRIVE) -> Path:
    """Begin a run that is stopped in its fourth step, after its snapshots were taken."""
    monkeypatch.setattr(drive_state, "COST_SHARE", 1e9)
    run_of = SimulatedDrive.run
    runs = []

    def counted(self: SimulatedDrive, workload: Any, **options: Any) -> Any:
        runs.append(workload)
        if len(runs) == 4 and options.get("log_path"):
            run_of(self, workload, **{**options, "log_path": None})
            raise KeyboardInterrupt
        return run_of(self, workload, **options)

    monkeypatch.setattr(SimulatedDrive, "run", counted)
    with pytest.raises(KeyboardInterrupt):
        begin(tmp_path / "runs", drive)
    monkeypatch.setattr(SimulatedDrive, "run", run_of)
    folder = folder_in(tmp_path / "runs")
    assert folder is not None
    return folder


def test_one_snapshot_is_there_and_a_corrupt_one_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = killed(tmp_path, monkeypatch)
    (snapshot,) = (folder / STATES).iterdir()
    whole = snapshot.read_bytes()
    snapshot.write_bytes(whole[:-1])
    with pytest.raises(Refused) as raised:
        go_on(folder)
    assert raised.value.reason == "state-corrupt"
    snapshot.unlink()
    go_on(folder)
    assert RunFolder(folder).manifest.status == "finished"


def test_a_replay_that_ends_elsewhere_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = killed(tmp_path, monkeypatch)
    for snapshot in (folder / STATES).iterdir():
        snapshot.unlink()
    made = SimulatedDrive._begin

    def otherwise(self: SimulatedDrive, *args: Any) -> None:
        made(self, *args)
        self.native.idle(1)

    monkeypatch.setattr(SimulatedDrive, "_begin", otherwise)
    with pytest.raises(Refused, match="simulated again") as raised:
        go_on(folder)
    assert raised.value.ordinal == 0 and raised.value.then != raised.value.found


def test_a_kept_drive_that_was_used_in_between_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "drive.sim"
    text = f"{DRIVE},state={file}"
    folder = killed(tmp_path, monkeypatch, text)
    left = file.read_bytes()
    with open_drive(text) as drive:
        drive.idle(1)
    with pytest.raises(Refused, match="used since") as raised:
        go_on(folder)
    assert raised.value.reason == "state-differs"
    file.write_bytes(left)
    go_on(folder)
    assert RunFolder(folder).manifest.status == "finished"


def test_forked_points_begin_alike(tmp_path: Path) -> None:
    folder = begin(tmp_path)
    run = RunFolder(folder)
    assert not [departure for departure in run.manifest.departures if departure.code == "order-effects"]
    states = [r.drive_state for r in run.journal() if isinstance(r, EndRecord)]
    steps = run.steps()
    fork = next(step.ordinal for step in steps if step.verb == "fork")
    backs = [step.ordinal for step in steps if step.verb == "back"]
    assert len(backs) == 4 and {states[back] for back in backs} == {states[fork]}
    assert len({states[back + 1] for back in backs[:3]}) == 3
    health = next(step for step in steps if step.verb == "health").result.facts["health"]
    assert health["host_bytes_written"] > 0 and health["clock_s"] > 5


def test_a_step_that_kept_each_io_is_done_again_for_its_state(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed as the next step begins, with no snapshot behind it: its I/Os are on record already."""
    monkeypatch.setattr(drive_state, "COST_SHARE", 0.0)

    def first() -> None:
        with planted(None, 21):
            begin(tmp_path)

    assert os.WTERMSIG(in_child(first)) == signal.SIGKILL
    folder = folder_in(tmp_path)
    assert folder is not None
    assert [step.label for step in RunFolder(go_on(folder)).steps()][-2:] == [
        "each I/O on record",
        "after it",
    ]
