"""Plant a library that holds every kind of result, and every state that a figure of it can be in.

    .venv/bin/python scripts/plant_library.py FOLDER [--only WORD ...]
    .venv/bin/python scripts/plant_library.py FOLDER --archive tests/planted/library.tar.xz

Small simulated drives, one seed, a named run for each scene: real runs of the command line, of seconds.
What no drive does in seconds (a busy host, failed I/Os, a queue not reached) is planted in the result of
a step, when it is done and before it is journalled: procedures decide and methods conclude by it, and no
figure is touched. The host is planted too, so that the library tells of no machine.
"""

from __future__ import annotations

import argparse
import os
import re
import runpy
import shutil
import signal
import sys
import tarfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

os.environ["SLURMD_NODENAME"] = "lab-1"  # what ssdlab takes for the name of the host

from ssdlab import cli
from ssdlab.cli import main as ssdlab
from ssdlab.drives import environment
from ssdlab.fleet import fleet_folder, inventory
from ssdlab.model.errors import DriveError
from ssdlab.model.host_load import HostLoad
from ssdlab.model.warning_texts import CATALOGUE
from ssdlab.results import journal
from ssdlab.results.records import StepResult
from ssdlab.results.schema import Warned
from ssdlab.results.store import run_folders
from ssdlab.runs.step_executor import StepExecutor
from ssdlab.runs.suites import side_by_side

if TYPE_CHECKING:
    from ssdlab.drives.base import Drive
    from ssdlab.lab.verbs.steps import Request
    from ssdlab.results.records import PartRecord

WITHIN = "--within"
"""Marks a process that a command of ours has begun, as those of suites and fleets are."""
SCENE, WORK = "PLANTED_SCENE", "PLANTED_WORK"
"""Variables that tell it of what scene it is, and where files are."""
SEED = "7"
TINY, SMALL = "sim:tiny-test,scale=4", "sim:nvme-tlc-client,scale=128"
SERVER = "sim:nvme-tlc-enterprise,scale=32"
RATED = "sim:samsung-983-dct-960gb,scale=64"
SHORT = "seconds=200ms ramp_seconds=0 size_seconds=50ms sizes=4k"
FEW = "--quick depths=1,8,32 seconds=500ms"
ONE = "--quick depths=8 seconds=50ms"
STEADY = "round_seconds=500ms least_seconds=1 most_seconds=120"
BRIEF = (
    "round_seconds=200ms least_seconds=200ms overwrites=0.5 most_seconds=20 "
    "seconds=200ms ramp_seconds=0 depths=1,8"
)
"""Of methods that write until a steady state: fractions of a second of a drive of 4 GiB."""
QUICK = [
    *("peak-random-read", "peak-sequential-read", "steady-random-write", "steady-sequential-write"),
    *("mixed-random", "read-under-writes", "low-depths", "whole-drive-fill", "consistency"),
    *("trim-validation", "paced-burst", "rate-limit", "pts-throughput", "pts-latency", "latency-qd32"),
    *("pts-write-saturation", "pts-host-idle-recovery", "pts-cross-stimulus-recovery", "pts-composite"),
    *("pts-demand-intensity", "act", "act-index", "act-search"),
]
BUSY = {"cpu_busy_share": 0.97, "threads": 8}
LARGE = {"pts-iops", "pts-composite"}
"""Their tables would be two fifths of an archive, and their kind of result is there by `pts-throughput`."""
BOOT = "00000000-0000-4000-8000-000000000001"
HOST = {
    "release": "6.1.0",
    "version": "#1 SMP",
    "hostname": "lab-1",
    "hypervisor": None,
    "container": None,
    "model_name": "Planted CPU",
    "mitigations": {},
    "memory_bytes": 16 << 30,
    "available_bytes": 8 << 30,
    "load_average": [0.0, 0.0, 0.0],
    "found": None,
}
"""Of the environment that a run records, what tells of this machine."""
NUMBERED = [f"--simulated={TINY},serial=FLEET{number:02},seed={number}" for number in range(1, 9)]
"""The drives of the fleet: as many as the page of a model needs to judge any."""
SELECTION = """\
name = "planted"
[[drives]]
model = "tiny-test"
[[work]]
run = "peak-random-read"
quick = true
seed = 7
set = { depths = "1,8", seconds = "200ms" }
"""

FILES = {
    "selection.toml": SELECTION,
    "job.toml": """\
[[step]]
do = "fill"
unless-written = true

[[step]]
do = "run"
label = "mixed"
rw = "randrw"
read-pct = 70
bs = "4k"
threads = 4
seconds = "300ms"

[[step]]
do = "idle"
seconds = "100ms"
""",
    "suite.toml": """\
schema = "ssdlab.review/1"
name = "planted"
title = "Planted"
tiles = ["peak_random_read_iops"]

[[chapter]]
title = "Reads"

[[part]]
method = "peak-random-read"
begins = "written"
chapter = "Reads"
set = { fill = true, depths = [1, 8], seconds = 0.2, ramp_seconds = 0 }

[[part]]
method = "steady-random-write"
begins = "random-steady"
set = { depths = [1, 8] }

[[variant]]
name = "spare-25"
spare = "25%"
parts = ["steady-random-write"]
""",
}
"""What commands are given."""
DOCUMENT = Path(cli.__file__).parents[3] / "docs" / "writing-a-method.md"
"""Of the checkout whose package this is: it may be another than ours."""

Change = Callable[[int, StepResult], StepResult]


@dataclass(frozen=True)
class Scene:
    """A run that is planted: its command, what its steps are changed to, and where it is killed."""

    name: str
    words: Sequence[str]
    change: Change | None = None
    kill_at: int | None = None
    """Step in which SIGKILL comes."""
    status: int = 0


def scene(
    name: str,
    method: str,
    drives: str,
    words: str,
    change: Change | None = None,
    kill_at: int | None = None,
    status: int = 0,
) -> Scene:
    """Return a scene of `ssdlab run`; what is NAME=VALUE among its words is a setting."""
    settings = dict(word.split("=") for word in words.split() if "=" in word)  # the last of a name counts
    given = [f"--set={each}={value}" for each, value in settings.items()]
    options = [word for word in words.split() if "=" not in word]
    command = ["run", method, *drives.split(), "--seed", SEED, *options, *given]
    return Scene(name, command, change, kill_at, status if kill_at is None else -signal.SIGKILL)


def warned(code: str, **host: float) -> Change:
    """Return a change that puts a warning, and what it speaks of, into each measured step."""

    def change(ordinal: int, result: StepResult) -> StepResult:
        if result.measurement is None:
            return result
        entry = CATALOGUE[code]
        told = Warned(
            code=code, what=f"planted: {code}", advice=entry.in_step or entry.advice, ordinal=ordinal
        )
        load = result.host or HostLoad(cores=2, threads=1, cpu_busy_share=0.1, run_queue_delay_share=0.0)
        changes: dict[str, Any] = {"warnings": (*result.warnings, told), "host": load.model_copy(update=host)}
        if code == "failed":
            measured = dict(result.measurement)
            for direction in ("read", "write"):
                if isinstance(one := measured.get(direction), dict):
                    measured[direction] = {**one, "failed": 3, "errors": {"EIO": 3}}
            changes["measurement"] = measured
        return result.model_copy(update=changes)

    return change


def of_steps(change: Change, *ordinals: int) -> Change:
    """Return a change of some steps alone."""
    return lambda ordinal, result: change(ordinal, result) if ordinal in ordinals else result


HOST_LIMITED = warned("host-limited", **BUSY)
HOT = warned("throttled")


def lost(ordinal: int, result: StepResult) -> StepResult:
    """End the run at its third measured step as a drive does that is gone."""
    if ordinal == 3:
        raise DriveError("planted: the drive does not answer", "see to it")
    return result


METHODS = [
    scene("qd1", "qd1", TINY, f"--quick {SHORT} sizes=4k,128k"),
    *(scene(name, name, TINY, "--quick") for name in QUICK),
    scene("idle-power", "idle-power", SMALL, "--quick"),
    scene("energy-per-job", "energy-per-job", SMALL, "--quick"),
    scene("pts-iops", "pts-iops", TINY, "--quick seconds=100ms"),
    scene("trace", "trace", TINY, "--quick seconds=2"),
    Scene("measured", ["measure", TINY, "--rw", "randread", "--seconds", "200ms", "--save"]),
    Scene("job", ["job", "job.toml", TINY, "--seed", SEED]),
]
"""Every kind of result."""
STATES = [
    # Heat, power and scale are those of the simulated drive.
    scene("hot", "steady-sequential-write", SMALL, "least_seconds=90 most_seconds=100 seconds=10 depths=1,8"),
    scene("hot-reads", "peak-random-read", TINY, FEW, change=HOT),
    scene("hot-in-part", "qd1", TINY, f"--quick {SHORT}", change=of_steps(HOT, 2)),
    scene("cool", "peak-sequential-read", SMALL, FEW),
    scene("capped", "peak-sequential-read", SMALL, f"--power-limit 3.5W {FEW}"),
    scene("capped-writes", "steady-random-write", f"{SMALL},power=4W", "--quick depths=1,8"),
    scene("host-reads", "peak-random-read", TINY, FEW, change=HOST_LIMITED),
    scene("host-qd1", "qd1", TINY, f"--quick {SHORT}", change=of_steps(HOST_LIMITED, 3)),
    scene("host-writes", "steady-random-write", TINY, f"--quick {BRIEF}", change=HOST_LIMITED),
    scene("host-trim", "trim-validation", TINY, "--quick", change=HOST_LIMITED),
    scene("host-mix", "mixed-random", TINY, f"--quick {BRIEF}", change=warned("host-shared", **BUSY)),
    scene("failed-ios", "peak-random-read", TINY, FEW, change=warned("failed")),
    scene("held-depth", "peak-random-read", TINY, FEW, change=warned("depth-not-reached")),
    scene("moved", "steady-random-write", SERVER, "--quick depths=1,8,32"),
    scene("moved-mix", "mixed-random", SERVER, "--quick depths=32"),
    scene("steady", "steady-random-write", TINY, f"{STEADY} depths=1,8 seconds=1"),
    scene("steady-qd1", "qd1", TINY, f"{STEADY} {SHORT}"),
    scene("unproven", "steady-random-write", TINY, BRIEF),
    scene("analytic", "steady-random-write", TINY, "--precondition analytic depths=1,8 seconds=1"),
    scene("one-pass", "steady-random-write", TINY, f"--precondition one-pass {STEADY} depths=1,8 seconds=1"),
    scene("few-samples", "peak-random-read", TINY, "depths=1,8 seconds=20ms"),
    scene("ceiling", "peak-random-read", TINY, "depths=1,2 seconds=1"),
    scene("other-depth", "peak-random-read", TINY, "depths=1,2,4 seconds=1"),
    scene("at-least", "rate-limit", TINY, "--quick first=4000 most=8000"),
    scene("full", "peak-random-read", TINY, "depths=1,8"),
    scene("whole-drive", "peak-random-read", "sim:tiny-test", FEW),
    scene("spare", "steady-random-write", TINY, f"--quick --spare 30% {BRIEF}"),
    scene("trim-ignored", "trim-validation", f"{TINY},trim=ignored", "--quick"),
    scene("real", "peak-random-read", "drive.img", f"--size 16MiB {FEW}"),
    scene("rated", "peak-random-read", RATED, FEW),
    scene("rated-writes", "steady-random-write", RATED, "--quick --precondition analytic depths=1,32"),
    scene("rated-fill", "whole-drive-fill", RATED, "--quick"),
    scene("rated-hot", "peak-sequential-read", RATED, FEW, change=HOT),
    # Ends of runs.
    scene("killed", "peak-random-read", TINY, FEW, kill_at=3),
    scene("resumed", "steady-random-write", TINY, f"--quick {BRIEF}", kill_at=3),
    Scene("resume", ["resume", "resumed"]),
    scene("lost", "qd1", TINY, f"--quick {SHORT}", change=lost, status=3),
    # Several runs of one order.
    scene("base", "peak-random-read", TINY, f"--repeat 6 {ONE}"),
    scene("new", "peak-random-read", f"{TINY},seed=2", f"--repeat 6 {ONE}"),
    scene("part-hot", "peak-random-read", TINY, f"--repeat 3 {ONE}", change=of_steps(HOT, 2)),
    scene("suite", "suite.toml", TINY, "--quick"),
    scene("review", "suite.toml", f"{TINY} {SMALL} {RATED}", "--quick"),
    # Methods of a package that is not there when the library is read.
    scene("plug-in", "after-writes", TINY, "--quick"),
    scene("plug-in-kind", "after-writes-told", TINY, "--quick"),
    scene("certified", "act-certify", TINY, "--quick"),
]
"""Every state of a figure."""
FLEET = [
    Scene("fleet-inventory", ["fleet", "inventory", "--host", "lab-1", "--rack", "A", *NUMBERED]),
    Scene("fleet-plan", ["fleet", "plan", "selection.toml", "-o", "plan.json"]),
    Scene("fleet-run", ["fleet", "run", "plan.json", "--backend", "local"]),
]
SCENES = [*METHODS, *STATES, *FLEET]


def plug_in(site: Path) -> None:
    """Install the two methods of the document: one has a result of ours, one of its own."""
    first, own, *_ = re.findall(r"^```python\n(.*?)^```", DOCUMENT.read_text(), re.MULTILINE | re.DOTALL)
    info = site / "planted-0.1.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: planted\nVersion: 0.1\n")
    (info / "entry_points.txt").write_text(
        "[ssdlab.methods]\nafter-writes = planted_plain:METHOD\nafter-writes-told = planted_told:METHOD\n"
    )
    (site / "planted_plain.py").write_text(first)
    told = first.partition("def conclude")[0] + own
    (site / "planted_told.py").write_text(
        re.sub(r"(name=|ResultKind\()\"after-writes\"", r'\1"after-writes-told"', told).replace(
            'Literal["after-writes"] = "after-writes"', 'Literal["after-writes-told"] = "after-writes-told"'
        )
    )


def nowhere(facts: Any) -> Any:  # noqa: ANN401 - JSON
    """Return facts of an environment as those of the planted host."""
    if isinstance(facts, dict):
        return {name: HOST[name] if name in HOST else nowhere(value) for name, value in facts.items()}
    return [nowhere(each) for each in facts] if isinstance(facts, list) else facts


def plant(change: Change | None, kill_at: int | None) -> None:
    """Put the planted host and the changes of steps in place, in this process and those that it begins."""
    facts_of, act = environment.environment_facts, StepExecutor.act

    def facts(drive: Drive, rig: Path | None = None) -> dict[str, Any]:
        return {**nowhere(facts_of(drive, rig)), "platform": {}}

    def acted(self: StepExecutor, request: Request, attempt: int, parts: Sequence[PartRecord]) -> StepResult:
        if request.ordinal == kill_at:
            os.kill(os.getpid(), signal.SIGKILL)
        result = act(self, request, attempt, parts)
        return result if change is None else change(request.ordinal, result)

    def ours(module: str, *words: str) -> list[str]:
        return [sys.executable, "-P", str(Path(__file__).resolve()), WITHIN, module, *words]

    planted: list[tuple[Any, str, Any]] = [
        (environment, "environment_facts", facts),
        (journal, "_BOOT_ID", Path(os.environ[WORK], "boot_id")),
        (inventory, "list_drives", list),
        (StepExecutor, "act", acted),
        (side_by_side, "own_module", ours),
        (fleet_folder, "own_module", ours),
    ]
    for place, name, value in planted:
        if not hasattr(place, name):
            raise SystemExit(f"{place.__name__}.{name} is gone: {__file__} plants it")
        setattr(place, name, value)


def within(module: str, words: Sequence[str]) -> None:
    """Be a process that a scene has begun."""
    found = next((each for each in SCENES if each.name == os.environ[SCENE]), None)
    plant(*((found.change, found.kill_at) if found else (None, None)))
    sys.argv[1:] = words
    runpy.run_module(module, run_name="__main__", alter_sys=True)


def perform(each: Scene, words: Sequence[str]) -> str:
    """Do the command of a scene in a process of its own, and return what is wrong with how it ended."""
    child = os.fork()
    if child == 0:
        os.environ[SCENE] = each.name
        with Path(f"{each.name}.log").open("w") as log:
            os.dup2(log.fileno(), 1)
            os.dup2(log.fileno(), 2)
        status = 70
        try:
            plant(each.change, each.kill_at)
            status = ssdlab(list(words))
        finally:
            sys.stdout.flush()
            os._exit(status)
    found = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    said = Path(f"{each.name}.log").read_text()[-1000:]
    return "" if found == each.status else f"{each.name} ended with {found}: {said}\n"


def run_scenes(library: Path, names: Sequence[str]) -> str:
    """Do scenes one after the other, and return what went wrong with some."""
    failed = ""
    for number, each in enumerate(SCENES):
        if each.name not in names:
            continue
        words = [run_of(library, "resumed") if word == "resumed" else word for word in each.words]
        if words[0] in ("run", "job") and each.name != "review":  # of several drives each has a run
            words += ["--run-id", f"20260101-{9 + number // 60:02}{number % 60:02}-{each.name}-{number:06}"]
        if words[0] != "resume" and words[:2] != ["fleet", "run"]:  # these know where their runs are
            words += ["--library", str(library)]
        print(f"{each.name} ...", file=sys.stderr, flush=True)
        failed += perform(each, words)
    return failed


def run_of(library: Path, name: str) -> str:
    """Return the folder of a scene's run."""
    return next(str(folder) for folder in run_folders(library) if f"-{name}-" in folder.name)


def main() -> None:
    """Plant the library that the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", nargs="+", default=[], help="names of scenes")
    parser.add_argument("--archive", type=Path, help="also write it as a tar file, packed as its name says")
    chosen = parser.parse_args()
    library, archive = chosen.folder.resolve(), chosen.archive and chosen.archive.resolve()
    work = library.parent / f"{library.name}-work"
    shutil.rmtree(work, ignore_errors=True)  # of one that failed
    work.mkdir(parents=True)
    os.chdir(work)
    os.environ[WORK] = str(work)
    for name, text in {**FILES, "boot_id": BOOT}.items():
        Path(name).write_text(text)
    for kind in ("STATE", "DATA", "CONFIG"):
        os.environ[f"XDG_{kind}_HOME"] = str(work / kind.lower())
    plug_in(work / "site")
    sys.path.insert(0, str(work / "site"))
    usual = [each.name for each in SCENES if not (archive and each.name in LARGE)]
    if failed := run_scenes(library, chosen.only or usual):
        raise SystemExit(failed)
    shutil.rmtree(work)
    if archive:
        with tarfile.open(archive, "w:xz", preset=9) as packed:
            packed.add(library, "library", filter=plainly)


def plainly(member: tarfile.TarInfo) -> tarfile.TarInfo:
    """Leave out of an archive who made it."""
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    return member


if __name__ == "__main__":
    if sys.argv[1:2] == [WITHIN]:
        within(sys.argv[2], sys.argv[3:])
    else:
        main()
