"""A host that stops for a second must show in the response times, and nowhere else.

1000 I/Os a second for 6 s; the process is stopped (SIGSTOP) for 1.0 s in the middle. The thousand I/Os that
were due meanwhile are done in a burst afterwards, each in microseconds; the time from their intended start is
spread evenly over 0 to 1 s. They are a sixth of all, so p99 lies at 940 ms and p99.9 at 994 ms.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

MS = 1_000_000
ENGINES = {"sync": {"engine": "sync", "threads": 1}, "uring": {"engine": "uring", "depth": 32}}

ATTEMPTS = 5
"""The upper bounds hold on a host with a CPU to spare: where others keep all of them busy, the stop lasts
longer than asked for, and an I/O waits for a CPU before it completes. The lower ones hold each time."""

# A process of its own, which can be stopped. Only 6 of 6000 samples lie beyond p99.9, so a summary
# withholds it (it wants ten); the histogram has it.
PROGRAM = """
import json, sys
import ssdlab
options = json.loads(sys.argv[2])
measured = ssdlab.measure(sys.argv[1], rw="randread", rate=1000, seconds=6, **options)
beyond = measured.histogram("read", "response").quantile(0.999)
print(json.dumps({**measured.as_dict(), "response_p99.9_ns": beyond}))
"""


@pytest.mark.parametrize("engine", ENGINES)
def test_a_stop_of_one_second(zram: Path, engine: str) -> None:
    for attempt in range(1, ATTEMPTS + 1):
        said = measured_with_a_stop(zram, ENGINES[engine])
        read = said["read"]
        assert (read["requested"], read["ios"] + read["dropped"]) == (6000, 6000)
        assert (read["failed"], read["dropped"]) == (0, 0)
        assert read["response_ns"]["p99"] >= 900 * MS
        assert 980 * MS < said["response_p99.9_ns"] <= read["response_ns"]["max"]
        assert read["response_ns"]["p99.9"] is None
        assert read["late"] >= 950
        if read["response_ns"]["p99"] <= 1000 * MS and read["service_ns"]["p99"] < 1 * MS:
            return
        assert attempt < ATTEMPTS, read


def measured_with_a_stop(device: Path, options: dict[str, str | int]) -> dict[str, dict[str, dict[str, int]]]:
    """What the process said that was stopped for a second after 2.5 s."""
    Path(f"/sys/block/{device.name}/queue/iostats").write_text("1")
    done_before = reads(device)
    # Ahead of whatever else runs here: the host is to stop for that second, and for that only.
    arguments = ["nice", "-n", "-15", sys.executable, "-c", PROGRAM, str(device), json.dumps(options)]
    process = subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True)
    wait_for_reads(device, done_before + 2500)
    process.send_signal(signal.SIGSTOP)
    time.sleep(1.0)
    process.send_signal(signal.SIGCONT)
    output, _ = process.communicate(timeout=30)
    assert process.returncode == 0
    return json.loads(output)


def reads(device: Path) -> int:
    """Reads that a device has done."""
    return int(Path(f"/sys/block/{device.name}/stat").read_text().split()[0])


def wait_for_reads(device: Path, count: int) -> None:
    """Wait until a device has done so many reads."""
    deadline = time.monotonic() + 20
    while reads(device) < count:
        assert time.monotonic() < deadline, "the measurement does not begin"
        time.sleep(0.01)
