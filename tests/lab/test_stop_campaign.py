"""Campaigns: many stops at random moments, each told; many runs under load without one, none told."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from lab.test_stopped import hogs, wait_until_busy
from machine import sharing
from ssdlab.lab.outcome import read_result
from ssdlab.model.summary import Summary
from ssdlab.model.units import NS_PER_S
from ssdlab.results.records import EndRecord, pauses_of
from ssdlab.results.run_folder import RunFolder

STOPS, SEED = 5, 20_261_128
LOADED_S = float(os.environ.get("SSDLAB_LOADED_S", "3600"))
"""How long runs go on under load; shorter for a first look."""

JOB = """
[[step]]
do = "fill"
[[step]]
do = "run"
rw = "randrw"
seconds = 4
threads = 2
[[step]]
do = "idle"
seconds = 1
[[step]]
do = "run"
rw = "randwrite"
engine = "uring"
depth = 8
seconds = 4
"""
SWEEP = ["--set", "depths=1,2,4", "--set", "seconds=4", "--set", "ramp_seconds=1"]
METHODS = {
    "sync sweep": ["run", "peak-random-read", *SWEEP],
    "uring sweep": ["run", "peak-random-read", *SWEEP, "--set", "engine=uring"],
    "sequential": ["run", "peak-sequential-read", *SWEEP, "--set", "engine=uring"],
    "qd1": ["run", "qd1", "--quick"],
    "low-depths": ["run", "low-depths", "--quick"],
    "mixed": ["run", "mixed-random", "--quick"],
    "read-under-writes": ["run", "read-under-writes", "--quick"],
    "fill": ["run", "whole-drive-fill", "--quick"],
    "snia": ["run", "pts-iops", "--quick"],
    "bursts": ["run", "paced-burst", "--quick"],
    "rates": ["run", "rate-limit", "--quick"],
    "job": ["job"],
}


class Stop(NamedTuple):
    """On CLOCK_MONOTONIC: the process stood still from the first to the second, and for as long as told."""

    from_ns: int
    to_ns: int


def words(command: str, name: str, drive: Path, library: Path) -> list[str]:
    what = METHODS[name]
    if what == ["job"]:
        job = library.parent / "job.toml"
        job.write_text(JOB)
        what = ["job", str(job)]
    return [command, *what, str(drive), "--size", "32MiB", "--library", str(library)]


def stopped_run(arguments: list[str], draw: random.Random) -> list[Stop]:
    """Run a command, and stop it for 0.2 to 30 s, five times at random moments."""
    process = subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    stops = []
    wait_until_busy(process)
    for _ in range(STOPS):
        time.sleep(draw.uniform(0.2, 3))
        if process.poll() is not None:
            break
        length_s = 0.2 * 150 ** draw.random()
        process.send_signal(signal.SIGSTOP)
        os.waitpid(process.pid, os.WUNTRACED)  # until all of its threads have stopped
        from_ns = time.monotonic_ns()
        time.sleep(length_s)
        to_ns = time.monotonic_ns()
        process.send_signal(signal.SIGCONT)
        stops.append(Stop(from_ns, to_ns))
    assert process.wait(900) == 0
    return stops


def measured_in(run: RunFolder) -> Iterator[tuple[tuple[int, int], int, int]]:
    """Give each attempt that measured, with the beginning and end of its rows on CLOCK_MONOTONIC."""
    for record in run.journal():
        if isinstance(record, EndRecord) and record.result.measurement is not None:
            summary = Summary.model_validate(record.result.measurement)
            ended_ns = summary.zero_ns + round(float(summary.total_s or 0.0) * NS_PER_S)
            yield (record.ordinal, record.attempt), summary.zero_ns, ended_ns


@pytest.mark.slow
@pytest.mark.parametrize("name", METHODS)
def test_each_of_many_stops_is_told(command: str, scratch: Path, name: str) -> None:
    drive = scratch / "drive.bin"
    stops = stopped_run(words(command, name, drive, scratch / "library"), random.Random(f"{SEED} {name}"))
    assert stops
    (folder,) = (scratch / "library").glob("2*")
    run = RunFolder(folder)
    seen, standing = pauses_of(run.journal()), {(each.ordinal, each.attempt) for each in run.steps()}
    hit = 0
    for key, began_ns, ended_ns in measured_in(run):
        for stop in stops:
            if stop.to_ns <= began_ns or stop.from_ns >= ended_ns:
                continue
            hit += 1
            found = [
                each for each in seen[key] if each.start_ns <= stop.from_ns and each.end_ns >= stop.to_ns
            ]
            assert found, f"a stop of {(stop.to_ns - stop.from_ns) / 1e9} s in {key} was not seen"
            assert run.rows(*key)["paused"].any()
            if key in standing:
                assert key[0] in {each.ordinal for each in run.manifest.warnings if each.code == "paused"}
    for key, pauses in seen.items():
        for each in pauses:
            true = any(each.start_ns <= stop.to_ns and each.end_ns >= stop.from_ns for stop in stops)
            assert true, f"{key} tells of a stop that was none"
    still = {key[0] for key in standing if seen.get(key)}
    result = read_result(run)
    marked = [each for each in result.scalars if still.intersection((*each.steps, *each.chosen_among))]
    assert not [each.name for each in marked if not each.unfit("ranking")]
    unmarked = [each for each in result.scalars if "paused" not in each.codes]
    print(name, f"stops {len(stops)}, in measured attempts {hit}, voided {len(run.voided())},", end=" ")
    print(
        f"standing {len(still)}, figures {len(result.scalars)}, marked {len(result.scalars) - len(unmarked)}"
    )


@pytest.mark.slow
@pytest.mark.machine
@pytest.mark.timeout(2 * 3600)
def test_no_run_under_load_was_stopped(command: str, scratch: Path) -> None:
    sharing.alone("takes all processors")
    drive = scratch / "drive.bin"
    end, runs, steps = time.monotonic() + LOADED_S, 0, 0
    with hogs(2 * (os.cpu_count() or 1)), hogs(1, "nice", "-n", "-10"):
        while time.monotonic() < end:
            name = list(METHODS)[runs % len(METHODS)]
            library = scratch / f"library-{runs}"
            subprocess.run(
                words(command, name, drive, library), check=True, capture_output=True, timeout=1800
            )
            (folder,) = library.glob("2*")
            found = pauses_of(RunFolder(folder).journal())
            assert not any(found.values()), f"{name} was never stopped, and tells of it"
            runs, steps = runs + 1, steps + len(found)
    print(f"{runs} runs, {steps} attempts")
