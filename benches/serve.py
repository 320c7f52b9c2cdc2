"""Does a drive that is served in real time show a client what it is in virtual time?

fio works on `ssdlab sim serve` over its nbd engine; the same workload on the same drive, in the same state,
runs in virtual time. Their IOPS, median and mean latency may differ by 10 % where the drive is asked for no
more than half of what a null drive reaches here with the same client: beyond that ceiling nothing is claimed.
Nor is anything of a latency that is less than twice that of the null drive, in brackets: of writes that a
drive's buffer takes at once the client sees mostly itself.

Random reads at depth 1 to 8, then random writes in steady state: the drive is overwritten in virtual time
until the write amplification stays, and both begin with that state. Real time wants a host that has time:
each point is the median of some rounds, and a line tells how many replies were late.

    python benches/serve.py [--rounds 3] [--seconds 2]
"""

from __future__ import annotations

import argparse
import json
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import fio

PROFILE = "kingston-dc500r-3.84tb,scale=128"
READ_DEPTHS = (1, 2, 4, 8)
WRITE_DEPTHS = (2, 4, 8)
BOUND = 0.10
CEILING_SHARE = 0.5
"""As `ssdlab sim serve` itself: beyond half of what a null drive reaches the host shows."""
RAMP_S = 1
"""Not counted: while fio starts, a drive in real time rests and collects, and then writes faster."""
ROUNDS = 3
SECONDS = 2.0
OVERWRITES = 2
"""Times that the span is overwritten at random before: the write amplification no longer changes then."""


class Point(NamedTuple):
    """A workload."""

    rw: str
    depth: int

    @property
    def direction(self) -> str:
        """What it does."""
        return self.rw.removeprefix("rand")


class Figures(NamedTuple):
    """What came of it."""

    iops: float
    p50_ns: float
    mean_ns: float


def ssdlab(*words: str) -> dict[str, Any]:
    """Run a command of ssdlab and return its JSON."""
    command = [sys.executable, "-m", "ssdlab", *words, "--json"]
    told: dict[str, Any] = json.loads(
        subprocess.run(command, check=True, capture_output=True, text=True).stdout
    )
    return told


class Served:
    """A server that runs, and what fio sees of it."""

    def __init__(self, process: subprocess.Popen[str], uri: str) -> None:
        self.process, self.uri = process, uri
        self.record: dict[str, Any] = {}

    def run(self, point: Point, seconds: float) -> Figures:
        """Run fio once."""
        where = ["--ioengine=nbd", f"--uri={self.uri}"]
        what = f"--rw={point.rw} --bs=4k --iodepth={point.depth} --norandommap --lat_percentiles=1"
        # Other offsets each time: the same ones again would empty whole blocks, and cost the drive nothing.
        when = f"--randrepeat=0 --time_based --runtime={round(seconds * 1000)}ms --ramp_time={RAMP_S}s"
        line = ["fio", "--name=bench", *where, *what.split(), *when.split(), "--output-format=json"]
        output = subprocess.run(line, check=True, capture_output=True, text=True).stdout
        # Its nbd engine says on stdout that it is connected.
        side = json.loads("{" + output.partition("{")[2])["jobs"][0][point.direction]
        latency = side["lat_ns"]
        return Figures(side["iops"], latency["percentile"]["50.000000"], latency["mean"])


@contextmanager
def served(drive: str, folder: Path, *options: str) -> Iterator[Served]:
    """Serve a drive until the end; `record` is then what the server says of it."""
    socket = folder / "drive.sock"
    words = ["sim", "serve", drive, "--socket", str(socket), "--contents", "seeded", "--json", *options]
    command = [sys.executable, "-m", "ssdlab", *words]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True) as process:
        assert process.stderr is not None
        uri = ""
        for line in process.stderr:
            if line.startswith("serving "):
                uri = line.rpartition(" at ")[2].strip()
                break
        server = Served(process, uri)
        try:
            yield server
        finally:
            process.send_signal(signal.SIGTERM)
            out, said = process.communicate()
            if process.returncode:
                raise SystemExit(said)
            server.record = json.loads(out)


class Benchmark:
    """The drive in both states, and where files go."""

    def __init__(self, folder: Path, rounds: int, seconds: float) -> None:
        self.folder, self.rounds, self.seconds = folder, rounds, seconds
        self.steady = folder / "steady.sim"

    def make_steady(self) -> None:
        """Overwrite the drive at random in virtual time, and keep its state."""
        drive = f"sim:{PROFILE},state={self.steady}"
        size = ssdlab("drives", drive)["identity"]["capacity_bytes"]
        volume = str(size // 4096 * 4096 * OVERWRITES)
        ssdlab("measure", drive, "--rw", "randwrite", "--threads", "32", "--bytes", volume)

    def drive(self, point: Point) -> str:
        """Return the drive for a workload; the steady state is copied, so that all begin with the same."""
        if point.direction == "read":
            return PROFILE
        state = self.folder / "begun.sim"
        shutil.copy(self.steady, state)
        return f"{PROFILE},state={state}"

    def virtual(self, point: Point) -> Figures:
        """Run a workload in virtual time."""
        words = ["--rw", point.rw, "--engine", "uring", "--depth", str(point.depth)]
        times = ["--seconds", str(self.seconds), "--ramp", f"{RAMP_S}s"]
        summary = ssdlab("measure", f"sim:{self.drive(point)}", *words, *times)
        latency = summary[point.direction]["service_ns"]
        return Figures(summary["iops"], latency["p50"], latency["mean"])

    def real(self, point: Point) -> tuple[Figures, float]:
        """Run it on a served drive; returns the median of the rounds and the share of late replies."""
        with served(self.drive(point), self.folder) as server:
            rounds = [server.run(point, self.seconds) for _ in range(self.rounds)]
        return Figures(*map(statistics.median, zip(*rounds, strict=True))), server.record["late_pct"]

    def null(self, point: Point) -> Figures:
        """Return what fio makes of a null drive."""
        with served(PROFILE, self.folder, "--null") as server:
            return server.run(point, min(self.seconds, 1.0))

    def compare(self, point: Point) -> bool | None:
        """Print one line; returns whether both agree, and None where nothing can be claimed."""
        null = self.null(point)
        virtual = self.virtual(point)
        real, late_pct = self.real(point)
        ratios = [there / here for there, here in zip(real, virtual, strict=True)]
        claimed = virtual.iops <= CEILING_SHARE * null.iops
        told = [claimed, *(CEILING_SHARE * v >= n for v, n in zip(virtual[1:], null[1:], strict=True))]
        agrees = all(abs(ratio - 1) <= BOUND for ratio, counts in zip(ratios, told, strict=True) if counts)
        cells = "".join(
            f"{f'{ratio:.3f}' if counts else f'({ratio:.3f})':>9}"
            for ratio, counts in zip(ratios, told, strict=True)
        )
        verdict = ("agrees" if agrees else "differs") if claimed else "no claim: beyond half the null ceiling"
        figures = f"{virtual.iops:9.0f}{virtual.p50_ns / 1e3:9.1f}{null.iops:10.0f}"
        print(f"  {point.rw:10}{point.depth:3}{figures}{cells}{late_pct:8.2f}  {verdict}", flush=True)
        return agrees if claimed else None


def agreement(folder: Path | None, rounds: int = ROUNDS, seconds: float = SECONDS) -> bool:
    """Print the table; returns whether all points of which something is claimed agree."""
    print(
        f"fio on ssdlab sim serve against virtual time, {PROFILE}: median of {rounds} rounds of {seconds:g} s"
    )
    print(f"  {'':10}{'QD':>3}{'IOPS':>9}{'p50 us':>9}{'ceiling':>10}", end="")
    print(f"{'IOPS':>9}{'p50':>9}{'mean':>9}{'late %':>8}  within {BOUND:.0%}")
    points = [Point("randread", depth) for depth in READ_DEPTHS]
    points += [Point("randwrite", depth) for depth in WRITE_DEPTHS]
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        benchmark = Benchmark(Path(scratch), rounds, seconds)
        benchmark.make_steady()
        verdicts = [benchmark.compare(point) for point in points]
    claimed = [verdict for verdict in verdicts if verdict is not None]
    print(f"  {sum(claimed)} of {len(claimed)} points agree, {verdicts.count(None)} without a claim")
    return bool(claimed) and all(claimed)


def main() -> None:
    """Print the table; exit status 1 if a point does not agree."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", type=Path, help="where the state of the drive goes")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--seconds", type=float, default=SECONDS)
    arguments = parser.parse_args()
    if not fio.is_here():
        sys.exit("fio is not installed")
    sys.exit(0 if agreement(arguments.folder, arguments.rounds, arguments.seconds) else 1)


if __name__ == "__main__":
    main()
