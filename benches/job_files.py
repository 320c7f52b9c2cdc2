"""Does `ssdlab job FILE.fio` measure what fio measures with the same file? Ten kinds of jobs, in pairs.

Each pair runs fio and ssdlab in random order; the ratio of their figures is taken for each pair, and the
median of the ratios is judged: IOPS within 5 %, the 99th percentile of latency within 15 %.

The device is overwritten. Take one of a known speed, such as a zram device in a blkio cgroup with limits:

    python benches/job_files.py /dev/zram0 --destroy zram0 [--pairs 11] [--seconds 1.5] [--only randread]
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

BOUNDS = {"iops": 0.05, "p99": 0.15}
JOBS = {
    "randread": "rw=randread\nbs=4k\nioengine=io_uring\niodepth=16",
    "randread-sync": "rw=randread\nbs=4k\nioengine=psync",
    "randwrite": "rw=randwrite\nbs=4k\nioengine=io_uring\niodepth=16",
    "read": "rw=read\nbs=128k\nioengine=libaio\niodepth=4",
    "write": "rw=write\nbs=128k\nioengine=libaio\niodepth=4",
    "database-mix": "rw=randrw\nrwmixread=70\nbs=8k\nioengine=libaio\niodepth=8",
    "clones": "rw=randread\nbs=4k\nioengine=psync\nnumjobs=4\nthread\ngroup_reporting",
    "sizes": "rw=randread\nbssplit=4k/60:16k/40\nnorandommap=1\nioengine=io_uring\niodepth=8",
    "rate": "rw=randread\nbs=4k\nioengine=io_uring\niodepth=8\nrate_iops=1000",
    "log": "rw=write\nbs=4k\nioengine=psync\nfdatasync=1",
}


def main() -> int:
    """Run the pairs, print a line for each job, and return 1 if one is out of bounds."""
    words = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    words.add_argument("device", type=Path)
    words.add_argument("--destroy", required=True, help="identifier of the device, as ssdlab asks for it")
    words.add_argument("--pairs", type=int, default=11)
    words.add_argument("--seconds", type=float, default=1.5)
    words.add_argument("--only", default="")
    words.add_argument("--seed", type=int, default=1)
    given = words.parse_args()
    draw, failed = random.Random(given.seed), 0
    print(f"{'job':14} {'direction':9} {'IOPS':>8} {'ratio':>6} {'p99 us':>8} {'ratio':>6}")
    with tempfile.TemporaryDirectory() as folder:
        for name in given.only.split(",") if given.only else JOBS:
            file = Path(folder) / f"{name}.fio"
            lasts = f"time_based\nruntime={round(given.seconds * 1e3)}ms"
            file.write_text(f"[{name}]\nfilename={given.device}\ndirect=1\n{lasts}\n{JOBS[name]}\n")
            pairs = [_pair(file, given.device, given.destroy, draw) for _ in range(given.pairs)]
            for direction in pairs[0][0]:
                fio, ours = ([of[side][direction] for of in pairs] for side in (0, 1))
                shown = {}
                for key, bound in BOUNDS.items():
                    ratio = statistics.median(b[key] / a[key] for a, b in zip(fio, ours, strict=True))
                    shown[key] = f"{ratio:.3f}" + ("" if abs(ratio - 1) <= bound else " !")
                failed += sum("!" in text for text in shown.values())
                iops, p99 = (statistics.median(each[key] for each in fio) for key in BOUNDS)
                print(
                    f"{name:14} {direction:9} {iops:8.0f} {shown['iops']:>6} {p99:8.0f} {shown['p99']:>6}",
                    flush=True,
                )
    return int(failed > 0)


def _pair(file: Path, device: Path, destroy: str, draw: random.Random) -> tuple[Any, Any]:
    sides = [lambda: _of_fio(file), lambda: _of_ssdlab(file, device, destroy)]
    order = draw.sample((0, 1), 2)
    found: dict[int, Any] = {}
    for at in order:
        found[at] = sides[at]()
    return found[0], found[1]


def _of_fio(file: Path) -> dict[str, dict[str, float]]:
    line = ["fio", "--output-format=json", "--lat_percentiles=1", str(file)]
    job = json.loads(subprocess.run(line, check=True, capture_output=True, text=True).stdout)["jobs"][0]
    return {
        side: {"iops": job[side]["iops"], "p99": job[side]["lat_ns"]["percentile"]["99.000000"] / 1e3}
        for side in ("read", "write")
        if job[side]["total_ios"]
    }


def _of_ssdlab(file: Path, device: Path, destroy: str) -> dict[str, dict[str, float]]:
    with tempfile.TemporaryDirectory() as library:
        line = [sys.executable, "-m", "ssdlab", "job", str(file), str(device), "--destroy", destroy]
        line += ["--library", library, "--json"]
        done = subprocess.run(line, check=False, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(done.stderr)
    return {
        point["direction"]: {"iops": point["iops"], "p99": point["service_ns"]["p99"] / 1e3}
        for point in json.loads(done.stdout)["result"]["points"]
    }


if __name__ == "__main__":
    sys.exit(main())
