"""What an I/O costs the engine, beside a bare loop and fio at its best.

Three figures on a fallocated, never written file, whose reads never reach a device (on ext4 they complete
within the system call, so all that is left is the cost of asking):

- user-space instructions per 4 KiB random read with full latency recording, counted by callgrind: the
  difference of two run lengths, so that start and end do not count. Exact, unmoved by load.
- user CPU time per I/O, `io_uring` at depth 32 in batches of 32.
- IOPS of one thread: the median of paired ratios, runs interleaved so that the machine's moods hit all alike;
  ours runs between two runs of the bare loop, whose mean it is compared with.

    python benches/lean.py [--folder DIR] [--pairs 11]
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import engine_only
import fio

SIZE_BYTES = 1 << 30
SHORT_IOS, LONG_IOS = 20_000, 60_000
TIMED_IOS = 4_000_000

INSTRUCTIONS_AT_MOST = {"sync": 220, "uring": 150}
USER_NS_AT_MOST = 40
OF_BARE_AT_LEAST = 0.95
OF_FIO_AT_LEAST = 1.15


def instructions(command: Sequence[str | Path]) -> int:
    """Return the user-space instructions that a command takes, all its threads together."""
    with tempfile.TemporaryDirectory() as folder:
        counted = [
            "valgrind",
            "--tool=callgrind",
            f"--callgrind-out-file={folder}/out.%p",
            *map(str, command),
        ]
        subprocess.run(counted, check=True, capture_output=True)
        texts = [path.read_text(errors="replace") for path in Path(folder).iterdir()]
    # fio leaves a small file for the process that checks its terminal beside that of the job.
    return max(int(total) for text in texts for total in re.findall(r"^totals: (\d+)", text, re.M))


def marginal(command: Sequence[str | Path], ios_option: str = "{}") -> float:
    """Return the instructions per I/O: the last argument is the number of I/Os."""
    short, long = (instructions([*command, ios_option.format(n)]) for n in (SHORT_IOS, LONG_IOS))
    return (long - short) / (LONG_IOS - SHORT_IOS)


class Benchmark:
    """The programs and the file of one session."""

    def __init__(self, folder: Path) -> None:
        self.engine, self.bare, self.record_cost = engine_only.build()
        self.file = folder / "never-written"
        with self.file.open("wb") as handle:
            os.posix_fallocate(handle.fileno(), 0, SIZE_BYTES)
        self.workloads = {
            "sync": engine_only.stream("sync", SIZE_BYTES),
            "uring": engine_only.stream("uring", SIZE_BYTES, depth=32),
            "batched": engine_only.stream("uring", SIZE_BYTES, depth=32, batch=32),
        }
        self.tuned = {"sync": fio.TUNED_SYNC, "uring": fio.TUNED_RING}

    def count_instructions(self) -> bool:
        """Print the instructions per I/O; returns whether they are few enough."""
        print("user-space instructions per 4 KiB random read")
        print(f"  {'':10}{'ssdlab':>8}{'bare loop':>12}{'fio':>8}   at most")
        good = True
        for engine, most in INSTRUCTIONS_AT_MOST.items():
            ours = self.engine_instructions(engine)
            bare = marginal([self.bare, engine, self.file])
            theirs = "-"
            if fio.is_here():
                line = fio.command(self.file, SIZE_BYTES, *self.tuned[engine])
                theirs = f"{marginal(line, '--number_ios={}'):.0f}"
            print(f"  {engine:10}{ours:8.0f}{bare:12.0f}{theirs:>8}   {most}")
            good &= ours <= most
        return good

    def count_recording(self) -> None:
        """Print the instructions to record one latency, in our histogram and in a well-known one."""
        alone, ours, theirs = (marginal([self.record_cost, what]) for what in ("nothing", "ours", "hdr"))
        print("user-space instructions to record a latency")
        print(f"  ours {ours - alone:.0f}, hdrhistogram {theirs - alone:.0f}")

    def engine_instructions(self, engine: str) -> float:
        """Return the engine's instructions per I/O."""
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            engine_only.write(file, self.workloads[engine])
            return marginal([self.engine, self.file, file.name])

    def time_user(self, rounds: int) -> bool:
        """Print the user CPU time per I/O; returns whether it is short enough."""
        ours, theirs = [], []
        for _ in range(rounds):
            report = engine_only.run(self.engine, self.file, self.workloads["batched"], TIMED_IOS)
            ours.append(report["user_ns_per_io"])
            if fio.is_here():
                options = [*fio.TUNED_RING, f"--number_ios={TIMED_IOS}", "--iodepth_batch_complete_min=32"]
                theirs.append(fio.run(self.file, SIZE_BYTES, *options).user_ns_per_io)
        median = statistics.median(ours)
        beside = f"; fio {statistics.median(theirs):.0f} ns" if theirs else ""
        print(f"user CPU per I/O, uring at depth 32, batches of 32, median of {rounds}")
        print(f"  {median:.1f} ns, at most {USER_NS_AT_MOST} ns{beside}")
        return median <= USER_NS_AT_MOST

    def compare_iops(self, pairs: int) -> bool:
        """Print paired ratios of IOPS; returns whether they are high enough."""
        print(f"IOPS of one thread, median of {pairs} interleaved pairs")
        good = True
        for engine in ("sync", "uring"):
            of_bare, of_fio, iops = [], [], []
            for _ in range(pairs):
                before = self.bare_iops(engine)
                ours = engine_only.run(self.engine, self.file, self.workloads[engine], TIMED_IOS)["iops"]
                iops.append(ours)
                of_bare.append(ours / statistics.fmean((before, self.bare_iops(engine))))
                if fio.is_here():
                    options = [*self.tuned[engine], f"--number_ios={TIMED_IOS}"]
                    of_fio.append(ours / fio.run(self.file, SIZE_BYTES, *options).iops)
            line = f"  {engine:6}{statistics.median(iops) / 1e6:.2f} M"
            line += f"   of bare loop {described(of_bare)}, at least {OF_BARE_AT_LEAST}"
            good &= statistics.median(of_bare) >= OF_BARE_AT_LEAST
            if of_fio:
                line += f"   of fio {described(of_fio)}, at least {OF_FIO_AT_LEAST}"
                good &= statistics.median(of_fio) >= OF_FIO_AT_LEAST
            print(line)
        return good

    def bare_iops(self, engine: str) -> float:
        """Run the bare loop once."""
        command = [self.bare, engine, self.file, str(TIMED_IOS)]
        output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        iops: float = engine_only.parse(output)["iops"]
        return iops


def described(ratios: list[float]) -> str:
    """Return median and middle half."""
    low, middle, high = statistics.quantiles(ratios, n=4)
    return f"{middle:.3f} ({low:.3f} to {high:.3f})"


def lean(folder: Path | None, pairs: int) -> bool:
    """Print all figures; returns whether all are reached."""
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        benchmark = Benchmark(Path(scratch))
        good = True
        if shutil.which("valgrind"):
            good &= benchmark.count_instructions()
            benchmark.count_recording()
        else:
            print("instructions are not counted: valgrind is not installed")
        good &= benchmark.time_user(5)
        good &= benchmark.compare_iops(pairs)
    return good


def main() -> None:
    """Print the figures; exit status 1 if one is not reached."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", type=Path, help="where the scratch file goes; on ext4, not tmpfs")
    parser.add_argument("--pairs", type=int, default=11)
    arguments = parser.parse_args()
    sys.exit(0 if lean(arguments.folder, arguments.pairs) else 1)


if __name__ == "__main__":
    main()
