"""Does the engine measure what fio measures? Agreement on a real file with O_DIRECT, beside a control.

For each workload, rounds of three runs in random order: fio, the engine, fio again. The engine's figures
divided by the geometric mean of fio's two give one ratio per round; fio's second by its first give one ratio
of the control, which shows how far this machine's moods alone reach. A ratio's confidence interval (at least
95 %) is that of its median, from order statistics: that the median lies outside the k-th smallest and the
k-th largest ratio has a binomial chance, whatever the shape of the noise.

The engine agrees when the interval lies within 7 % for IOPS, 10 % for the median latency and 25 % for p99.
Random I/O is of 4 KiB, sequential of 128 KiB, as in drive reviews: with small sequential blocks the disk
answers faster than fio can ask, and the comparison would be one of the two programs' own cost.
Both use registered buffers and files and submit in the same portions, an eighth of the depth, as the engine
does by itself; fio's latency is `lat`, from submission to completion, as ours. At depth 1 both of our engines
are compared. fio's `scramble_buffers` is off: it touches each 512 B of a buffer between two writes, where the
engine stamps each 4 KiB, and 256 changed lines per 128 KiB made fio's writes 7 % slower on a virtual disk,
whose host fetches them from the other CPU's cache.

    python benches/fio_agreement.py [--folder DIR] [--rounds 61] [--seconds 0.4] [--size-mib 1024]
        [--depths 1,8,32] [--only read,randread,write,randwrite]
"""

from __future__ import annotations

import argparse
import math
import random
import statistics
import sys
import tempfile
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import NamedTuple

import engine_only
import fio

CONFIDENCE = 0.95
# How far from 1 the interval of a ratio may reach.
BOUNDS = {"iops": 0.07, "p50_ns": 0.10, "p99_ns": 0.25}
ROUNDS = 61
SECONDS = 0.4
DEPTHS = (1, 8, 32)
NAMES = ("randread", "read", "randwrite", "write")


class Workload(NamedTuple):
    """One line of the table."""

    engine: str
    depth: int
    direction: str
    random: bool

    @property
    def name(self) -> str:
        """As fio calls it."""
        return ("rand" if self.random else "") + self.direction

    @property
    def block_bytes(self) -> int:
        """Size of an I/O."""
        return engine_only.BLOCK_BYTES if self.random else 128 * 1024

    def fio_options(self, seconds: float) -> list[str]:
        """Return fio's options for it."""
        common = [
            f"--rw={self.name}",
            f"--bs={self.block_bytes}",
            "--time_based",
            "--scramble_buffers=0",
            f"--runtime={round(seconds * 1000)}ms",
        ]
        if self.engine == "sync":
            return [*common, "--ioengine=psync"]
        # One by one at depth 8 and below, which is fio's own way too.
        portion = math.ceil(self.depth / 8)
        ring = (
            "--ioengine=io_uring --fixedbufs --registerfiles --nonvectored=1 --iodepth_batch_complete_min=1"
        )
        batches = [f"--iodepth_batch_submit={portion}", f"--iodepth_batch_complete_max={portion}"]
        return [*common, *ring.split(), f"--iodepth={self.depth}", *batches]

    def stream(self, size_bytes: int, seconds: float) -> dict[str, object]:
        """Return the engine's stream for it."""
        return engine_only.stream(
            self.engine,
            size_bytes,
            depth=self.depth,
            block=[{"bytes": self.block_bytes, "weight": 1}],
            ops={"mix": {"read_pct": 100 if self.direction == "read" else 0}},
            pattern="uniform" if self.random else {"sequential": {"cursors": None}},
            stop=engine_only.stop(time_ns=round(seconds * 1e9)),
        )


class Interval(NamedTuple):
    """Median of some ratios and its confidence interval."""

    low: float
    median: float
    high: float

    def is_within(self, bound: float) -> bool:
        """Return whether all of it is nearer to 1 than `bound`."""
        return 1 - bound <= self.low and self.high <= 1 + bound

    def __str__(self) -> str:
        return f"{self.median:.3f} [{self.low:.3f} {self.high:.3f}]"


def interval(ratios: list[float]) -> Interval:
    """Return the narrowest interval between order statistics that holds the median with `CONFIDENCE`.

    Ratios that could not be formed, because a run stalled and has no p99, are nan and lie outside.
    """
    ordered, n = sorted(ratios, key=lambda ratio: math.inf if math.isnan(ratio) else ratio), len(ratios)
    # The chance that fewer than k of n ratios lie below the median, for both sides.
    outside = 0.0
    k = 0
    while k < n // 2 and outside + 2 * math.comb(n, k) / 2**n <= 1 - CONFIDENCE:
        outside += 2 * math.comb(n, k) / 2**n
        k += 1
    if k == 0:
        raise ValueError(f"{n} ratios are too few for an interval")
    return Interval(ordered[k - 1], statistics.median(ordered), ordered[n - k])


def workloads(depths: Collection[int] = DEPTHS, names: Collection[str] = NAMES) -> Iterator[Workload]:
    """Give the lines of the table, for these depths and fio's names; at depth 1 both engines."""
    cases = [("sync", 1)] * (1 in depths) + [("uring", depth) for depth in depths]
    for engine, depth in cases:
        for name in names:
            yield Workload(engine, depth, name.removeprefix("rand"), name.startswith("rand"))


class Benchmark:
    """The engine's program and a file that is really written."""

    def __init__(self, folder: Path, size_bytes: int, seconds: float) -> None:
        self.engine = engine_only.build().engine_only
        self.file = folder / "written"
        self.size_bytes, self.seconds = size_bytes, seconds
        engine_only.lay_out(self.engine, self.file, size_bytes)

    def by_fio(self, workload: Workload) -> dict[str, float]:
        """Run fio once."""
        return fio.run(self.file, self.size_bytes, *workload.fio_options(self.seconds))._asdict()

    def by_engine(self, workload: Workload) -> dict[str, float]:
        """Run the engine once."""
        report = engine_only.run(self.engine, self.file, workload.stream(self.size_bytes, self.seconds))
        latency = report[workload.direction]["service_ns"]
        figures = {"iops": report["iops"], "p50_ns": latency["p50"], "p99_ns": latency["p99"]}
        # Too few samples for a percentile, after a stall, give none.
        return {name: math.nan if figure is None else figure for name, figure in figures.items()}

    def rounds(self, workload: Workload, count: int) -> list[dict[str, dict[str, float]]]:
        """Run so many rounds of three, each in an order of its own."""
        order = random.Random(workload.name)
        rounds = []
        for _ in range(count):
            runs: dict[str, Callable[[Workload], dict[str, float]]] = {
                "fio": self.by_fio,
                "ours": self.by_engine,
                "control": self.by_fio,
            }
            names = order.sample(sorted(runs), k=len(runs))
            rounds.append({name: runs[name](workload) for name in names})
        return rounds

    def compare(self, workload: Workload, count: int) -> bool:
        """Print one line of the table; returns whether the engine agrees."""
        rounds = self.rounds(workload, count)
        iops = statistics.median(r["ours"]["iops"] for r in rounds)
        cells, agrees = [], True
        for figure, bound in BOUNDS.items():
            ours = interval(
                [r["ours"][figure] / math.sqrt(r["fio"][figure] * r["control"][figure]) for r in rounds]
            )
            control = interval([r["control"][figure] / r["fio"][figure] for r in rounds])
            agrees &= ours.is_within(bound)
            mark = " " if ours.is_within(bound) else "!" if control.is_within(bound) else "?"
            cells.append(f"{ours}{mark} {control}")
        name = f"{workload.name:9} {workload.engine:5} {workload.depth:3}"
        print(f"{name} {iops / 1e3:7.1f}k  {'   '.join(cells)}", flush=True)
        return agrees


def agreement(
    folder: Path | None, rounds: int, seconds: float, size_bytes: int, lines: Collection[Workload]
) -> bool:
    """Print the table of these lines; returns whether the engine agrees with fio in all of them."""
    print(f"engine/fio and, as a control, fio/fio: median [interval] of {rounds} rounds of {seconds} s;")
    print("'!' marks an interval that reaches beyond its bound (IOPS 7 %, p50 10 %, p99 25 %),")
    print("'?' one where that of the control does so too: this machine is too restless to tell")
    print(f"{'':19}{'IOPS':>9}" + "".join(f"  {figure:20} {'control':20} " for figure in BOUNDS))
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        benchmark = Benchmark(Path(scratch), size_bytes, seconds)
        verdicts = [benchmark.compare(workload, rounds) for workload in lines]
    print(f"{sum(verdicts)} of {len(verdicts)} workloads agree")
    return all(verdicts)


def main() -> None:
    """Print the table; exit status 1 if some line does not agree."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", type=Path, help="where the scratch file goes; not on tmpfs")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--seconds", type=float, default=SECONDS)
    parser.add_argument("--size-mib", type=int, default=1024)
    parser.add_argument("--depths", type=lambda text: [int(part) for part in text.split(",")], default=DEPTHS)
    parser.add_argument("--only", type=lambda text: text.split(","), default=NAMES, help="fio's names")
    arguments = parser.parse_args()
    if not fio.is_here():
        sys.exit("fio is not installed")
    size_bytes = arguments.size_mib << 20
    lines = list(workloads(arguments.depths, arguments.only))
    agrees = agreement(arguments.folder, arguments.rounds, arguments.seconds, size_bytes, lines)
    sys.exit(0 if agrees else 1)


if __name__ == "__main__":
    main()
