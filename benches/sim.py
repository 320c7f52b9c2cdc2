"""What an I/O costs the simulator, beside a bare mapping loop.

One drive of 64 GiB of flash, an eighth of it spare, all parts modelled, 4 KiB random I/O at depth 32
through the runner with full latency recording:

- I/O per second of CPU time, one thread: medians of rounds in which the bare map (the same map and
  collection, fed with addresses, no time passes) and the drive in its steady state take turns; and the
  drive's share of the map's rate.
- user-space instructions per I/O, counted by callgrind on a small drive whose blocks are as much smaller:
  the difference of two run lengths, so that filling the drive does not count.
- memory at its peak, for each 4 KiB of flash.

    python benches/sim.py
"""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import engine_only
import lean

GIB, SPARE_MILLE, DEPTH = 64, 125, 32
# For callgrind, which takes fifty times as long: 1 GiB in blocks an eighth as large.
COUNTED_GIB, COUNTED_SHRINK = 1, 8

RATE_AT_LEAST = {"writes": 5e6, "reads": 7e6}
RATE_AIMED_AT = {"writes": 10e6, "reads": 10e6}
# MQSim on a drive of 4 GiB, on a machine like that of the first figures here.
MQSIM_RATE = {"writes": 0.069e6, "reads": 0.267e6}
BYTES_PER_UNIT_AT_MOST = 8.5


def build() -> Path:
    """Build the program for speed; returns where it is."""
    package = ["-p", "ssdlab-sim", "--example", "speed"]
    subprocess.run(
        ["cargo", "build", "--locked", "--quiet", "--release", *package], cwd=engine_only.ROOT, check=True
    )
    target = Path(os.environ.get("CARGO_TARGET_DIR", engine_only.ROOT / "target"))
    return target / "release" / "examples" / "speed"


def command(program: Path, gib: int = GIB, shrink: int = 1) -> list[str]:
    """Return the program's command for such a drive."""
    return [str(program), *map(str, (gib, SPARE_MILLE, shrink, DEPTH))]


def described(words: list[str]) -> list[dict[str, Any]]:
    """Run the program; returns the objects it prints."""
    output = subprocess.run(words, check=True, capture_output=True, text=True).stdout
    return [json.loads(line) for line in output.splitlines()]


def rates(program: Path) -> bool:
    """Print the rates; returns whether they are high enough."""
    rounds: dict[str, list[float]] = defaultdict(list)
    for fact in described(command(program)):
        if "ios_per_cpu_s" in fact:
            rounds[fact["what"]].append(fact["ios_per_cpu_s"])
    count = len(rounds["map"])
    print(f"simulated 4 KiB random I/O per s of CPU, {GIB} GiB drive in steady state, median of {count}")
    print(f"  {'map alone':10}{statistics.median(rounds['map']) / 1e6:6.2f} M")
    good = True
    for what in ("writes", "reads", "70/30"):
        median = statistics.median(rounds[what])
        line = f"  {what:10}{median / 1e6:6.2f} M"
        shares = [rate / bare for rate, bare in zip(rounds[what], rounds["map"], strict=True)]
        line += f"   of the map's writes {lean.described(shares)}"
        if what in RATE_AT_LEAST:
            line += f"   at least {RATE_AT_LEAST[what] / 1e6:.0f} M, aim {RATE_AIMED_AT[what] / 1e6:.0f} M"
            line += f", MQSim {MQSIM_RATE[what] / 1e6:.2f} M"
            good &= median >= RATE_AT_LEAST[what]
        print(line)
    return good


def instructions(program: Path) -> None:
    """Print the instructions per I/O."""
    print("user-space instructions per simulated 4 KiB random I/O")
    for what in ("map", "writes", "reads"):
        per_io = lean.marginal([*command(program, COUNTED_GIB, COUNTED_SHRINK), what])
        print(f"  {'map alone' if what == 'map' else what:10}{per_io:6.0f}")


def memory(program: Path) -> bool:
    """Print the memory of a drive that has been overwritten; returns whether it is small enough."""
    (peak,) = (fact for fact in described([*command(program), "writes", "1"]) if fact["what"] == "peak")
    per_unit = peak["bytes"] / peak["raw_units"]
    print(f"memory of a simulated drive of {GIB} GiB at its peak")
    line = f"  {peak['bytes'] / 1e6:.0f} MB, {per_unit:.2f} bytes for each 4 KiB"
    print(f"{line}, at most {BYTES_PER_UNIT_AT_MOST}")
    return per_unit <= BYTES_PER_UNIT_AT_MOST


def main() -> bool:
    """Print all figures; returns whether all are reached."""
    program = build()
    good = rates(program)
    if shutil.which("valgrind"):
        instructions(program)
    else:
        print("instructions are not counted: valgrind is not installed")
    return memory(program) and good


if __name__ == "__main__":
    sys.exit(0 if main() else 1)
