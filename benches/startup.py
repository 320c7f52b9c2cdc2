"""How long `ssdlab measure` takes to begin, and how much memory it takes.

Begins: from the moment the command is started to the zero of the run's clock, which the result holds as a
Unix stamp. Ends: when the command has ended, with one I/O done. Medians of ten, on a scratch file laid out
before.

    python benches/startup.py
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

BEGIN_S = 0.25
PEAK_MB = 50
RUNS = 10


class Start(NamedTuple):
    """One start of the command."""

    begin_s: float
    whole_s: float
    cpu_s: float
    peak_mb: float


def start(file: Path) -> Start:
    """Run `ssdlab measure` for one I/O."""
    command = [sys.executable, "-m", "ssdlab", "measure", str(file), "--bytes", "4k", "--json"]
    began_ns = time.time_ns()
    process = subprocess.Popen(command, stdout=subprocess.PIPE)
    assert process.stdout is not None
    summary = json.loads(process.stdout.read())
    _, status, usage = os.wait4(process.pid, 0)
    ended_ns = time.time_ns()
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} ended with status {process.returncode}")
    return Start(
        begin_s=(summary["started"]["unix_ns"] - began_ns) / 1e9,
        whole_s=(ended_ns - began_ns) / 1e9,
        cpu_s=usage.ru_utime + usage.ru_stime,
        peak_mb=usage.ru_maxrss * 1024 / 1e6,
    )


def startup() -> Start:
    """Return the median of each figure."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "scratch.bin"
        size = ["--size", "1MiB", "--bytes", "4k"]
        subprocess.run(
            [sys.executable, "-m", "ssdlab", "measure", str(file), *size], check=True, capture_output=True
        )
        starts = [start(file) for _ in range(RUNS)]
    return Start(*(statistics.median(column) for column in zip(*starts, strict=True)))


def main() -> None:
    """Print the figures beside those to reach."""
    median = startup()
    print(f"ssdlab measure, median of {RUNS}")
    print(f"  begins after   {median.begin_s:.3f} s    to reach: {BEGIN_S} s")
    print(f"  ends after     {median.whole_s:.3f} s    (one I/O)")
    print(f"  CPU time       {median.cpu_s:.3f} s")
    print(f"  memory at peak {median.peak_mb:.1f} MB   to reach: {PEAK_MB} MB")


if __name__ == "__main__":
    main()
