"""fio as the independent witness: its command line and what of its report is compared."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any, NamedTuple

# fio at its best on one thread: registered buffers and files, whole batches in and out.
TUNED_RING = [
    "--ioengine=io_uring",
    "--iodepth=32",
    "--fixedbufs",
    "--registerfiles",
    "--nonvectored=1",
    "--iodepth_batch_submit=32",
    "--iodepth_batch_complete_min=1",
    "--iodepth_batch_complete_max=32",
]
TUNED_SYNC = ["--ioengine=psync"]


class Figures(NamedTuple):
    """What one run of fio tells; latencies are from submission to completion (fio's `lat`)."""

    iops: float
    user_ns_per_io: float
    sys_ns_per_io: float
    p50_ns: int
    p99_ns: int


def is_here() -> bool:
    """Return whether fio is installed."""
    return shutil.which("fio") is not None


def command(target: Path, size_bytes: int, *options: str) -> list[str]:
    """Return the command line that both modes of counting share."""
    plain = "--name=bench --thread --group_reporting --direct=1 --allow_file_create=0"
    reads = "--bs=4k --rw=randread --norandommap --randrepeat=1"
    report = "--output-format=json --lat_percentiles=1"
    where = [f"--filename={target}", f"--size={size_bytes}"]
    return ["fio", *plain.split(), *reads.split(), *report.split(), *where, *options]


def run(target: Path, size_bytes: int, *options: str) -> Figures:
    """Run fio once."""
    line = command(target, size_bytes, *options)
    output = subprocess.run(line, check=True, capture_output=True, text=True).stdout
    job: dict[str, Any] = json.loads(output)["jobs"][0]
    side = job["read"] if job["read"]["total_ios"] else job["write"]
    percentile = side["lat_ns"]["percentile"]
    # CPU shares are of the job's run time; with several threads fio gives their mean.
    cpu_ns = job["job_runtime"] * 1e6 / 100 / side["total_ios"]
    return Figures(
        iops=side["iops"],
        user_ns_per_io=job["usr_cpu"] * cpu_ns,
        sys_ns_per_io=job["sys_cpu"] * cpu_ns,
        p50_ns=percentile["50.000000"],
        p99_ns=percentile["99.000000"],
    )
