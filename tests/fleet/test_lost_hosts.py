"""Hosts and daemons that are killed under their jobs: nothing is lost, nothing is done twice.

Slurm gives the job of a node that it does not hear of back to its queue, whether its processes have ended
or not. Where they have, the next attempt goes on in the run; where not, it is refused by the run's lock.
"""

from __future__ import annotations

import json
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from ssdlab.fleet.fleet_folder import Attempt, FleetFolder
from ssdlab.fleet.fleet_plan import FleetJob
from ssdlab.results.run_folder import read_manifest

pytestmark = [pytest.mark.machine, pytest.mark.timeout(1500)]
STEPS_BEFORE = 20
"""Steps that a run has finished when its host is lost: it is in the middle."""
DOWN_AFTER_S = 8
SELECTION = """
[[drives]]
model = "tiny-test"
[[work]]
run = "pts-iops"
quick = true
set = {{ seconds = "{seconds}" }}
"""


@dataclass(frozen=True)
class Scene:
    """What happens to a job: its host or only its daemon is killed, and who else has the drive.

    What outlives its daemon stands still until Slurm has given the job back, so that this does not depend on
    how fast the machine is; where it is `stopped`, until a second runner was there.
    """

    serial: str
    host: bool
    elsewhere: bool
    stopped: bool = False

    @property
    def node(self) -> str:
        return f"n{self.serial.lower()}"


SPARE = "spare"


class Trial:
    """A plan on a Slurm, with a node for each drive and one more that has some of them too."""

    def __init__(self, scenes: list[Scene], seconds: str, kit: Kit) -> None:
        self.scenes, self._kit = scenes, kit
        drives = {scene.node: [scene.serial] for scene in scenes}
        drives[SPARE] = [scene.serial for scene in scenes if scene.elsewhere]
        self.cluster = kit.make_slurm(drives, cpus=16, down_after_s=DOWN_AFTER_S)
        # The spare node is kept out of the way until there is something to take over.
        self.cluster.ask("scontrol", "update", f"NodeName={SPARE}", "State=DRAIN", "Reason=spare")
        path = kit.make_plan(
            SELECTION.format(seconds=seconds), **{scene.node: [scene.serial] for scene in scenes}
        )
        done = kit.ssdlab(
            "fleet", "run", str(path), "--destroy-all", str(len(scenes)), environment=self.cluster.environment
        )
        assert done.returncode == 0, done.stderr
        self.folder = FleetFolder(next(kit.library.glob(".fleet/2*")))
        self.before: dict[str, dict[int, str]] = {}

    def job(self, scene: Scene) -> FleetJob:
        return next(job for job in self.folder.plan.jobs if job.serial == scene.serial)

    def attempts(self, scene: Scene) -> list[Attempt]:
        return self.folder.attempts().get(self.job(scene).name, [])

    def ended(self, scene: Scene) -> list[tuple[int, str]]:
        """Finished steps, as the journal has them: ordinal and line."""
        journal = self._kit.library / self.job(scene).run_id / "journal.jsonl"
        if not journal.is_file():
            return []
        lines = [line for line in journal.read_text().splitlines(keepends=True) if line.endswith("\n")]
        found = [(json.loads(line), line) for line in lines]
        return [(entry["ordinal"], line) for entry, line in found if entry["t"] == "end"]

    def lose(self, scene: Scene, *, told: bool) -> None:
        """Kill the host, or its daemon alone; Slurm is told of it, or finds it out by its time limit."""
        self.wait(lambda: len(self.ended(scene)) >= STEPS_BEFORE, f"{scene.serial} is in the middle")
        if scene.host:
            self.cluster.kill_host(scene.node)
        else:
            self.cluster.kill_daemon(scene.node)
            self.cluster.signal_jobs(scene.node, signal.SIGSTOP)
        self.before[scene.serial] = dict(self.ended(scene))
        if told:
            self.cluster.ask("scontrol", "update", f"NodeName={scene.node}", "State=DOWN", "Reason=lost")

    def given_back(self, scene: Scene) -> bool:
        """Whether Slurm has given the job back to its queue, or begun it again."""
        told = self.cluster.ask("scontrol", "show", "job", "--oneliner", self._number(scene)).stdout
        return " Restarts=0 " not in told

    def begin_again(self, scene: Scene) -> None:
        """Let a job that was given back begin; Slurm keeps it back for two minutes."""
        self.cluster.ask("scontrol", "update", f"JobId={self._number(scene)}", "StartTime=now")

    def _number(self, scene: Scene) -> str:
        submitted = self.folder.submitted()
        assert submitted is not None
        return submitted.jobs[self.job(scene).name]

    def finished(self, scene: Scene) -> bool:
        return read_manifest(self._kit.library / self.job(scene).run_id).status == "finished"

    def is_back(self, scene: Scene) -> bool:
        return not self.cluster.out_of_service(scene.node)

    def second_ended(self, scene: Scene) -> bool:
        """Whether it was begun again, and all but the first attempt have ended."""
        later = self.attempts(scene)[1:]
        return bool(later) and all(each.ended for each in later)

    def wait(self, holds: Callable[[], object], what: str, within_s: float = 900.0) -> None:
        until = time.monotonic() + within_s
        while not holds():
            assert time.monotonic() < until, f"not in time: {what}; {self._told()}"
            time.sleep(0.5)

    def _told(self) -> object:
        queue = self.cluster.ask("squeue", "--format=%i %T %N %r").stdout
        return queue, self.folder.attempts(), self.cluster.ask("sinfo", "-N").stdout

    def check(self, scene: Scene) -> None:
        """No step lost, none done twice; the second runner went on, or was refused while the first ran."""
        ended = self.ended(scene)
        ordinals = [ordinal for ordinal, _ in ended]
        assert len(ordinals) == len(set(ordinals)), f"{scene}: a finished step was done twice"
        assert self.before[scene.serial].items() <= dict(ended).items(), f"{scene}: a finished step was lost"
        assert sorted(ordinals) == list(range(min(ordinals), min(ordinals) + len(ordinals)))
        first, *later = self.attempts(scene)
        assert later, f"{scene}: it was not begun again"
        assert {each.host for each in later} == {SPARE if scene.elsewhere else scene.node}
        if scene.host or not scene.elsewhere:  # who comes back is ended by Slurm, and its job begun again
            assert first.exit_status in ({None} if scene.host else {None, 0, 1, 130})
            assert later[-1].exit_status in {0, 1}
            return
        assert first.exit_status in {0, 1}, "the first runner went on to its end"
        for each in later:
            if each.began < (first.ended or 0.0):
                assert each.exit_status == 2
                assert "is being run by another process" in each.sentence


@dataclass(frozen=True)
class Kit:
    """The fixtures of a trial."""

    make_slurm: Callable[..., Any]
    make_plan: Callable[..., Path]
    ssdlab: Callable[..., Any]
    states: Callable[..., dict[str, dict[str, Any]]]
    library: Path


@pytest.fixture
def kit(
    make_slurm: Callable[..., Any],
    make_plan: Callable[..., Path],
    ssdlab: Callable[..., Any],
    states: Callable[..., dict[str, dict[str, Any]]],
    library: Path,
) -> Kit:
    return Kit(make_slurm, make_plan, ssdlab, states, library)


def run_trial(scenes: list[Scene], seconds: str, kit: Kit, *, told: bool) -> None:
    trial = Trial(scenes, seconds, kit)
    for scene in scenes:
        trial.lose(scene, told=told)
    trial.cluster.ask("scontrol", "update", f"NodeName={SPARE}", "State=RESUME")
    for scene in scenes:
        trial.wait(partial(trial.given_back, scene), f"{scene.serial} is given back")
        if not scene.host and not scene.stopped:
            trial.cluster.signal_jobs(scene.node, signal.SIGCONT)
        if not scene.elsewhere:
            trial.cluster.start_node(scene.node)
    for scene in scenes:
        if not scene.elsewhere:  # Slurm ends what it finds of the job there, then begins it
            trial.wait(partial(trial.is_back, scene), f"{scene.node} is back")
    for scene in scenes:
        trial.begin_again(scene)
    for scene in filter(lambda each: each.stopped, scenes):
        trial.wait(partial(trial.second_ended, scene), f"the second runner of {scene.serial} was there")
        trial.cluster.signal_jobs(scene.node, signal.SIGCONT)
    for scene in scenes:
        trial.wait(partial(trial.finished, scene), f"{scene.serial} is finished")
        trial.wait(partial(trial.second_ended, scene), "all attempts have ended")
    refused = sum(each.exit_status == 2 for scene in scenes for each in trial.attempts(scene))
    for scene in scenes:
        trial.check(scene)
    told = kit.states(trial.cluster.environment)
    assert {job["state"] for job in told.values()} == {"finished"}
    steps = {scene.serial: (len(trial.before[scene.serial]), len(trial.ended(scene))) for scene in scenes}
    print(f"steps before and at the end: {steps}; {refused} second runners refused")
    assert refused >= sum(scene.stopped for scene in scenes) > 0


def test_a_lost_host_and_a_lost_daemon_lose_nothing(kit: Kit) -> None:
    scenes = [Scene("H1", host=True, elsewhere=True), Scene("D1", host=False, elsewhere=True, stopped=True)]
    run_trial(scenes, "500ms", kit, told=True)


@pytest.mark.slow
def test_five_hosts_and_five_daemons_lost_side_by_side(kit: Kit) -> None:
    """Found out by the time limit; of the daemons' drives three are elsewhere too, and two go on."""
    scenes = [Scene(f"H{number}", host=True, elsewhere=number <= 3) for number in range(1, 6)]
    scenes += [
        Scene(f"D{number}", host=False, elsewhere=number <= 3, stopped=number == 1) for number in range(1, 6)
    ]
    run_trial(scenes, "1s", kit, told=False)
