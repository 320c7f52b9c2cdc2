"""Runs of small simulated drives in which something is the matter, made once, and what surfaces say of them.

What no drive does in seconds is planted in the result of a step, when it is done and before it is journalled.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest

from report.reading import concluded
from ssdlab.cli import main
from ssdlab.lab.outcome import read_result
from ssdlab.lab.verbs.steps import Request
from ssdlab.model.host_load import HostLoad
from ssdlab.model.summary import Pause
from ssdlab.report import source
from ssdlab.report.body import body_of, placed_of
from ssdlab.report.claims import UserClaim
from ssdlab.report.heads import heads_of
from ssdlab.report.outline import Outline, arranged
from ssdlab.report.runs import Shown
from ssdlab.report.sections import conclusion
from ssdlab.report.sections.claims import Judged, judged
from ssdlab.report.sections.header import Header
from ssdlab.report.sections.top import Bar, top
from ssdlab.report.source import Reported
from ssdlab.report.standings import Standing, standings
from ssdlab.results.metric import Metric
from ssdlab.results.qualifiers import CATALOGUE, Kind
from ssdlab.results.records import PartRecord, StepResult
from ssdlab.results.run_folder import RunFolder
from ssdlab.results.schema import Warned
from ssdlab.runs.step_executor import StepExecutor

Change = Callable[[int, StepResult], StepResult]

RATED = "sim:samsung-983-dct-960gb,scale=64"
SLOWER = "sim:sata-tlc-enterprise,scale=64"
TINY, SERVER = "sim:tiny-test,scale=4", "sim:nvme-tlc-enterprise,scale=64"
READ = "--quick fill=true depths=1,8 seconds=200ms"
BRIEF = (
    "--quick round_seconds=200ms least_seconds=200ms overwrites=0.5 most_seconds=20 "
    "seconds=200ms ramp_seconds=0 depths=1,8"
)
"""Too short to show a steady state."""
HEATED = "round_seconds=1 least_seconds=90 most_seconds=400 seconds=10 depths=1,8"
"""Long enough for one of two drives to slow itself down."""
STEADY = "round_seconds=500ms least_seconds=1 most_seconds=120 depths=1,8 seconds=1"
IOPS = "peak_random_read_iops"


@dataclass(frozen=True)
class Scene:
    """A run in which something is the matter with a figure; the serial of its drive is its name."""

    name: str
    code: str
    method: str = "peak-random-read"
    drive: str = RATED
    words: str = READ
    figure: str = IOPS
    change: Change | None = None
    rated: bool = True
    """Whether the drive has a rating of the figure."""
    withheld: bool = False
    """Whether it has no value for it."""

    @property
    def kind(self) -> Kind:
        return CATALOGUE[self.code]

    @property
    def text(self) -> str:
        return f"{self.drive},serial={self.name.upper()}"

    @property
    def group(self) -> tuple[str, str, str]:
        """What runs have in common that are ranked beside each other."""
        return self.method, self.drive, self.words


def measured(change: Change) -> Change:
    """A change of the steps that measured."""
    return lambda at, result: result if result.measurement is None else change(at, result)


@measured
def hot(at: int, result: StepResult) -> StepResult:
    warned = Warned(code="throttled", what="planted", advice="planted", ordinal=at)
    return result.model_copy(update={"warnings": (*result.warnings, warned)})


@measured
def by_host(at: int, result: StepResult) -> StepResult:
    load = HostLoad(cores=2, threads=8, cpu_busy_share=0.97, run_queue_delay_share=0.0)
    return result.model_copy(update={"host": load})


@measured
def failed(at: int, result: StepResult) -> StepResult:
    """Fail three I/Os of what the step did."""
    found = dict(result.measurement or {})
    for side in ("read", "write"):
        if isinstance(one := found.get(side), dict) and one.get("ios"):
            found[side] = {**one, "requested": one["requested"] + 3, "failed": 3, "errors": {"5": 3}}
    return result.model_copy(update={"measurement": found})


@measured
def still(at: int, result: StepResult) -> StepResult:
    begun = int((result.measurement or {}).get("zero_ns", 0))
    pause = Pause(start_ns=begun, end_ns=begun + 2 * 10**9, length_ns=10**9)
    return result.model_copy(update={"pauses": (pause,)})


def unpurged(at: int, result: StepResult) -> StepResult:
    return result.model_copy(update={"facts": {**result.facts, "purged": False}}) if at == 1 else result


def unfilled(at: int, result: StepResult) -> StepResult:
    """Let writes of the fill fail, the first step beside that of the conditions."""
    facts = {**result.facts, "failed": 3, "ios": 997, "asked": 1000}
    return result.model_copy(update={"facts": facts}) if at == 1 else result


SCENES = (
    Scene("hot", "throttled", change=hot),
    Scene("host", "host-limited", change=by_host),
    Scene("failing", "failed-io", change=failed),
    Scene("stopped", "paused", change=still),
    Scene("unfilled", "state-unproven", change=unfilled),
    Scene(
        "unproven", "state-unproven", "steady-random-write", words=BRIEF, figure="steady_random_write_iops"
    ),
    Scene(
        "moved",
        "state-moved",
        "steady-random-write",
        SERVER,
        "--quick depths=1,8,32",
        "steady_random_write_iops",
        rated=False,
        withheld=True,
    ),
    Scene(
        "few",
        "few-samples",
        figure="peak_random_read_p99.99_ns",
        rated=False,
        withheld=True,
    ),
    Scene("tail", "modelled", "rate-limit", TINY, "--quick", "rate_under_1_ms_p99", rated=False),
    Scene(
        "ceiling",
        "search-ceiling",
        "rate-limit",
        TINY,
        "--quick first=4000 most=8000",
        "rate_under_1_ms_p99",
        rated=False,
    ),
    Scene("seconds", "not-judged", "act", TINY, "--quick", "act_load_passed", rated=False),
    Scene("cached", "within-cache", "paced-burst", TINY, "--quick", "paced_safe_mb_s", rated=False),
    Scene("used", "not-fresh", "whole-drive-fill", words="--quick", figure="fill_mb_s", change=unpurged),
    Scene(
        "once",
        "written-once",
        "low-depths",
        "sim:nvme-tlc-enterprise,scale=128",
        "--quick",
        "low_depths_random_write_mb_s",
        rated=False,
    ),
    Scene(
        "placed",
        "placed",
        "steady-random-write",
        words="--precondition analytic depths=1,8 seconds=1",
        figure="steady_random_write_iops",
    ),
    Scene(
        "passed",
        "one-pass",
        "steady-random-write",
        TINY,
        f"--precondition one-pass {STEADY}",
        "steady_random_write_iops",
        rated=False,
    ),
    Scene("invented", "example", "trace", TINY, "--quick seconds=2", "trace_mb_s", rated=False),
)


@contextlib.contextmanager
def planted(change: Change | None, killed_at: int | None = None) -> Iterator[None]:
    """Change the results of steps so; SIGKILL comes where a step begins."""
    act = StepExecutor.act

    def acted(self: StepExecutor, request: Request, attempt: int, parts: Sequence[PartRecord]) -> StepResult:
        if request.ordinal == killed_at:
            os.kill(os.getpid(), signal.SIGKILL)
        result = act(self, request, attempt, parts)
        return result if change is None else change(request.ordinal, result)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(StepExecutor, "act", acted)
        patch.setattr("ssdlab.host.cpus.read_cpu_times", lambda: None)  # nobody says how busy this host is
        yield


@dataclass(frozen=True)
class Done:
    """How a command ended."""

    status: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out or self.err)

    @property
    def text(self) -> str:
        """All of it, whatever its lines."""
        return " ".join(f"{self.out} {self.err}".split())


def ssdlab(*words: object) -> Done:
    """Do a command in this process."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = main([str(each) for each in words])
    return Done(status, out.getvalue(), err.getvalue())


def order(method: str, drive: str, words: str) -> list[str]:
    """The words of a run; what is NAME=VALUE among them is a setting."""
    split = words.split()
    settings = [f"--set={each}" for each in split if "=" in each]
    return [
        "run",
        method,
        *drive.split(),
        "--seed",
        "7",
        *(each for each in split if "=" not in each),
        *settings,
    ]


@dataclass
class Shelf:
    """A library in which each scene is made when it is first asked for."""

    library: Path
    made: dict[object, RunFolder] = field(default_factory=dict)

    def run(self, method: str, drive: str, words: str, change: Change | None = None) -> RunFolder:
        """A run of a method; as often as it is asked for, made once."""
        key = (method, drive, words, change)
        if key not in self.made:
            with planted(change):
                done = ssdlab(*order(method, drive, words), "--library", self.library, "--json")
            assert done.status == 0, done
            self.made[key] = RunFolder(Path(done.json["folder"]))
        return self.made[key]

    def repeated(self, scene: Scene) -> RunFolder:
        """The suite of both runs of a scene."""
        return self.run(scene.method, scene.text, f"{scene.words} --repeat 2", scene.change)

    def of(self, scene: Scene) -> RunFolder:
        """The first of them."""
        suite = self.repeated(scene)
        return RunFolder(suite.path.parent / suite.manifest.children[0].run_id)

    def good(self, scene: Scene) -> list[RunFolder]:
        """Runs of the same order in which nothing is the matter: of a slower drive, and of one like it."""
        if scene.change is None and scene.kind.forbids and scene.code != "few-samples":
            return []
        slower = [SLOWER] if scene.drive == RATED else []
        return [self.run(scene.method, text, scene.words) for text in (f"{scene.drive},serial=GOOD", *slower)]


@dataclass(frozen=True)
class Read:
    """A page of runs, as it is put together."""

    folders: tuple[RunFolder, ...]

    @cached_property
    def reported(self) -> list[Reported]:
        return [source.read(each.path) for each in self.folders]

    @cached_property
    def placed(self) -> tuple[Shown, ...]:
        return placed_of(self.reported)

    @cached_property
    def arranged(self) -> tuple[Header, Outline]:
        return arranged(self.reported, body_of(self.placed))

    @cached_property
    def standings(self) -> dict[str, Standing]:
        return standings(self.placed)

    @cached_property
    def notes(self) -> list[str]:
        """What stands on the pictures."""
        heads = heads_of(self.arranged[1].sections, self.placed).values()
        return [note.text for head in heads for note in head.notes]

    @property
    def marks(self) -> list[str]:
        """What the page explains of figures."""
        found = [each for each in self.arranged[0].banners if each.kind == "mark"]
        return [notice.what for banner in found for notice in banner.notices]

    def bar(self, run: int, name: str) -> Bar:
        """Its bar at the top of a page whose review wants the figure there."""
        (chart,) = top(self.placed, self.standings, [name]).charts
        (found,) = [each for each in chart.bars if each.shown.index == run]
        return found

    def noted(self, run: int, name: str) -> str:
        """What stands below that bar, and below all bars of the figure."""
        (chart,) = top(self.placed, self.standings, [name]).charts
        return f"{self.bar(run, name).note}. {chart.foot}"

    def sentences(self, name: str) -> str:
        """What the top of such a page says."""
        return " ".join(top(self.placed, self.standings, [name]).sentences)

    def best_in(self, run: int) -> list[str]:
        """The figures in which the conclusion calls the drive of a run best, of all that have them."""
        rows = concluded(conclusion.section(self.placed))
        name = self.placed[run].style.short
        return [
            figure
            for figure, row in rows.items()
            if name in row["Best"] and "among those ranked" not in row["Best"]
        ]

    def claim(self, name: str, bound: str, run: int = 0) -> Judged:
        """What a claim of a drive comes to."""
        claim = UserClaim(sentence="It is so.", figure=name, bound=bound, drive=self.placed[run].label)
        (found,) = judged([claim], self.placed, {})
        return found


def killed(shelf: Shelf, scene: Scene, at: int) -> RunFolder:
    """Begin a run in a fork of this process and kill it where a step begins."""
    run_id = f"20260101-0900-{scene.name}-000001"
    child = os.fork()
    if child == 0:
        try:
            with planted(scene.change, at):
                words = order(scene.method, scene.text, scene.words)
                ssdlab(*words, "--library", shelf.library, "--run-id", run_id)
        finally:
            os._exit(70)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
    return RunFolder(shelf.library / run_id)


def figure_of(run: RunFolder, name: str) -> Metric:
    result = read_result(run)
    assert result is not None
    (found,) = [each for each in result.scalars if each.name == name]
    return found
