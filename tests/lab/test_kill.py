"""Kill -9 at seeded moments, then resume: no finished step is lost or repeated, and nothing is torn.

The runs are real: `peak-random-read` with tiny parameters on a scratch file. They are forked from this
process, which has imported everything, so that a cycle takes a fraction of a second and the moments fall on
the steps and not on the start of an interpreter; two cycles go through the command itself.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from ssdlab import _core
from ssdlab.lab.found import find_method
from ssdlab.lab.job import read_job
from ssdlab.lab.outcome import read_result
from ssdlab.model.summary import DIRECTIONS
from ssdlab.results import finishing
from ssdlab.results.lease import is_running
from ssdlab.results.records import BeginRecord, EndRecord, PartRecord, VoidRecord
from ssdlab.results.run_folder import RunFolder
from ssdlab.results.step_log import log_name, read_progress
from ssdlab.runs.order import Order
from ssdlab.runs.session import RunEnvironment, resume, start

pytestmark = pytest.mark.long

SEED = 20_261_121
SETTINGS = {"depths": "1,2,4,8", "seconds": "40ms", "ramp_seconds": "5ms"}
KILLS = 20


def make_order(scratch: Path) -> Order:
    method = find_method("peak-random-read")
    return Order(method, method.params.build(SETTINGS), str(scratch), size_bytes=8 << 20, seed=SEED)


def uncompacted() -> RunEnvironment:
    return RunEnvironment(finish=lambda folder, manifest, lock: manifest)


def in_child(work: Callable[[], object], kill_after_s: float | None = None) -> int:
    """Do work in a forked process, killed after a time if one is given; return its wait status."""
    child = os.fork()
    if child == 0:
        status = 70
        try:
            quiet = os.open(os.devnull, os.O_WRONLY)
            os.dup2(quiet, 2)
            work()
            status = 0
        finally:
            os._exit(status)
    if kill_after_s is not None:
        time.sleep(kill_after_s)
        os.kill(child, signal.SIGKILL)
    return os.waitpid(child, 0)[1]


def records_of(folder: Path) -> list:
    return RunFolder(folder).read_journal().records


def check_finished(folder: Path, before: list[list]) -> None:
    """The invariants, against the records that stood after each kill."""
    run = RunFolder(folder)
    records = run.journal()
    assert run.manifest.status == "finished"
    assert [point.workers for point in read_result(run).points] == [1, 2, 4, 8]
    for earlier in before:
        assert records[: len(earlier)] == earlier, "a record that was there after a kill has changed or gone"
    ends = Counter(record.ordinal for record in records if isinstance(record, EndRecord))
    assert ends == {ordinal: 1 for ordinal in range(5)}, "a step was finished twice, or never"
    voided = {(r.ordinal, r.attempt) for r in records if isinstance(r, VoidRecord)}
    ended = {(r.ordinal, r.attempt) for r in records if isinstance(r, EndRecord)}
    begun = {(r.ordinal, r.attempt) for r in records if isinstance(r, BeginRecord)}
    assert begun == voided | ended and not voided & ended, "an attempt is neither finished nor voided"
    for step in run.steps():
        if step.result.measurement is not None:
            check_log(folder / "steps" / log_name(step.ordinal, step.attempt), step.result.measurement)


def check_log(path: Path, summary: dict) -> None:
    log = _core.read_log(path)
    assert not log.torn
    measured = log.measurement
    kept = sum(
        int(rows["ios"][~rows["ramp"]].sum())
        for stream in measured.streams
        for direction in DIRECTIONS
        if len((rows := measured.rows(stream, direction))["ios"])
    )
    assert kept == summary["read"]["ios"]


def campaign(folder: Path, cycles: int, seed: int = SEED) -> Counter:
    """Kill and resume so many runs; return how often each number of steps was finished when the kill came.

    A kill that comes before there is a run folder has nothing to lose and does not count as a cycle.
    """
    order = make_order(folder / "scratch.img")
    draw = random.Random(seed)
    for name in ("layout", "timed"):
        began = time.monotonic()
        assert in_child(lambda at=name: start(order, folder / at, environment=uncompacted())) == 0
        whole_s = time.monotonic() - began
    (sample,) = (folder / "timed").glob("2*")
    check_finished(sample, [])
    found: Counter = Counter()
    tries = 0
    while sum(found.values()) < cycles and tries < 4 * cycles:
        tries += 1
        library = folder / f"cycle-{tries}"
        in_child(lambda at=library: start(order, at, environment=uncompacted()), draw.uniform(0.0, whole_s))
        runs = list(library.glob("2*"))
        if not runs or not (runs[0] / "manifest.json").exists():
            continue
        (run,) = runs
        before = [records_of(run)]
        found[sum(isinstance(record, EndRecord) for record in before[0])] += 1
        while draw.random() < 0.3 and RunFolder(run).manifest.status != "finished":
            in_child(lambda at=run: resume(at, environment=uncompacted()), draw.uniform(0.0, whole_s))
            before.append(records_of(run))
        if RunFolder(run).manifest.status != "finished":
            assert in_child(lambda at=run: resume(at, environment=uncompacted())) == 0
        check_finished(run, before)
    return found


def spread_over_the_run(found: Counter) -> bool:
    """Whether the kills hit several different steps, so that the campaign tested something."""
    return len(found) >= 4


def test_killed_at_twenty_seeded_moments(scratch: Path) -> None:
    found = campaign(scratch, KILLS)
    print("finished steps at the kill:", dict(found))
    assert sum(found.values()) == KILLS
    assert spread_over_the_run(found), found


@pytest.mark.slow
def test_killed_at_a_hundred_and_ten_other_moments(scratch: Path) -> None:
    found = campaign(scratch, 110, SEED + 1)
    print("finished steps at the kill:", dict(found))
    assert sum(found.values()) == 110
    assert spread_over_the_run(found), found


def test_killed_while_the_tables_are_written(scratch: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        finishing, "subprocess", subprocess
    )  # as a user's command, with a child that compacts
    order = make_order(scratch / "scratch.img")
    draw = random.Random(SEED)
    began = time.monotonic()
    assert in_child(lambda: start(order, scratch / "plain", environment=uncompacted())) == 0
    steps_s = time.monotonic() - began
    for cycle in range(4):
        library = scratch / f"cycle-{cycle}"
        in_child(lambda at=library: start(order, at), steps_s + draw.uniform(0.0, 0.6))
        (run,) = (path for path in library.iterdir() if not path.name.startswith("."))
        before = records_of(run)
        while is_running(run):  # the child that compacts has outlived its parent, and holds the run
            time.sleep(0.01)
        if not RunFolder(run).manifest.tables:
            assert in_child(lambda at=run: resume(at)) == 0
        manifest = RunFolder(run).manifest
        assert manifest.status == "finished"
        assert [table.rows > 0 for table in manifest.tables] == [True, True]
        assert not (run / "steps").exists()
        assert RunFolder(run).journal()[: len(before)] == before


@pytest.mark.parametrize("kill_after_s", [0.9, 1.4])
def test_the_command_is_killed_and_resumed(scratch: Path, kill_after_s: float) -> None:
    words = [sys.executable, "-m", "ssdlab"]
    library = ["--library", str(scratch / "library")]
    run = [*words, "run", "peak-random-read", str(scratch / "scratch.img"), "--size", "8MiB", *library]
    slow = [*run, "--set", "depths=1,2", "--set", "seconds=1", "--set", "ramp_seconds=0"]
    process = subprocess.Popen(slow, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while not list((scratch / "library").glob("*/journal.jsonl")):
        assert process.poll() is None and time.monotonic() < deadline
        time.sleep(0.02)
    time.sleep(kill_after_s)
    process.kill()
    process.wait()
    (folder,) = (scratch / "library").glob("2*")
    before = records_of(folder)
    done = subprocess.run(
        [*words, "resume", folder.name[-6:], *library], check=False, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    after = RunFolder(folder)
    assert after.manifest.status == "finished" and after.journal()[: len(before)] == before


def test_a_fill_goes_on_where_it_was_killed(scratch: Path) -> None:
    job = find_method("job")
    size, passes = 32 << 20, 60
    steps = read_job(f'[[step]]\ndo = "fill"\npasses = {passes}\n', "fill")
    order = Order(job, steps, str(scratch / "scratch.img"), size_bytes=size, seed=SEED)
    library = scratch / "library"
    child = os.fork()
    if child == 0:
        start(order, library, environment=uncompacted())
        os._exit(0)
    deadline = time.monotonic() + 60
    while not any(read_progress(path) for path in library.glob("*/steps/*.log")):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    (folder,) = library.glob("2*")
    assert in_child(lambda: resume(folder, environment=uncompacted())) == 0
    fill = RunFolder(folder).steps()[1].result
    (part,) = [record for record in RunFolder(folder).journal() if isinstance(record, PartRecord)]
    assert 0 < part.done["bytes"] < passes * size, "the kill came too late to test anything"
    assert fill.segments == (1, 2) and fill.facts["bytes"] == passes * size
    assert fill.measurement["write"]["bytes"] == passes * size - part.done["bytes"]
