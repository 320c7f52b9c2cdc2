"""The Rust programs that the benchmarks drive, and the workloads they are given.

`engine_only` is the engine without Python; `bare` is the leanest loop that does the same I/O with a latency
histogram, the floor that the engine is compared with; `record_cost` only records latencies.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from pathlib import Path
from typing import IO, Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
BLOCK_BYTES = 4096


class Programs(NamedTuple):
    """Where the programs are, built for speed."""

    engine_only: Path
    bare: Path
    record_cost: Path


def build() -> Programs:
    """Build the programs."""
    packages = ["-p", "ssdlab-engine", "-p", "ssdlab-metrics", "--examples"]
    subprocess.run(["cargo", "build", "--locked", "--quiet", "--release", *packages], cwd=ROOT, check=True)
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    return Programs(*(target / "release" / "examples" / name for name in Programs._fields))


def stream(engine: str, size_bytes: int, *, depth: int = 1, **changes: object) -> dict[str, Any]:
    """Return 4 KiB random reads in a closed loop over the whole of a target, with `changes` to that."""
    plain = {
        "name": "bench",
        "ops": {"mix": {"read_pct": 100}},
        "block": [{"bytes": BLOCK_BYTES, "weight": 1}],
        "pattern": "uniform",
        "span": {"start": 0, "length": size_bytes},
        "workers": 1,
        "depth": depth,
        "engine": engine,
        "batch": None,
        "polled": False,
        "arrival": {"closed": {"think_ns": 0}},
        "compressible_pct": 0,
        "direct": True,
        "dsync": False,
        "flush_every": None,
        "cpus": [],
        "stop": {"time_ns": None, "bytes": None, "ios": None, "span_once": False},
        "log_ios": False,
    }
    return plain | changes


def stop(**bounds: object) -> dict[str, Any]:
    """Return a stop with these bounds."""
    return {"time_ns": None, "bytes": None, "ios": None, "span_once": False} | bounds


def write(file: IO[str], stream: dict[str, Any]) -> None:
    """Write a workload of one stream to an open file."""
    json.dump({"seed": 1, "interval_ns": 10**9, "ramp_ns": 0, "streams": [stream]}, file)
    file.flush()


def parse(output: str) -> dict[str, Any]:
    """Return the object that a program printed."""
    report: dict[str, Any] = json.loads(output)
    return report


def run(program: Path, target: Path, stream: dict[str, Any], ios: int | None = None) -> dict[str, Any]:
    """Run one stream and return what `engine_only` reports."""
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        write(file, stream)
        command = [program, target, file.name, *([] if ios is None else [str(ios)])]
        return parse(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def lay_out(program: Path, file: Path, size_bytes: int) -> None:
    """Make a file that is really written, block by block."""
    with file.open("wb") as handle:
        os.posix_fallocate(handle.fileno(), 0, size_bytes)
    block = [{"bytes": 1 << 20, "weight": 1}]
    writes = stream(
        "uring",
        size_bytes,
        depth=8,
        ops={"mix": {"read_pct": 0}},
        block=block,
        pattern={"sequential": {"cursors": None}},
        stop=stop(span_once=True),
    )
    run(program, file, writes)
