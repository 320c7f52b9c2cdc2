"""What the native module says of itself, of the host, and of what it costs."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from ssdlab import _core


def test_build_info_names_what_made_a_number() -> None:
    info = _core.build_info()
    assert set(info) == {"version", "profile", "rustc", "target"}
    assert info["profile"] in {"release", "debug"}
    assert info["rustc"].startswith("rustc 1.")
    assert info["target"] == f"{os.uname().machine}-linux"


def test_capabilities_are_those_of_this_process() -> None:
    found = _core.capabilities()
    assert set(found["cpus"]) == os.sched_getaffinity(0)
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    assert found["open_files"] == (None if soft == resource.RLIM_INFINITY else soft)
    soft, _ = resource.getrlimit(resource.RLIMIT_MEMLOCK)
    assert found["locked_memory_bytes"] == (None if soft == resource.RLIM_INFINITY else soft)
    assert found["schedstat"] == Path("/proc/self/schedstat").exists()


def test_a_smaller_set_of_cpus_is_seen() -> None:
    program = (
        "import os; os.sched_setaffinity(0, {min(os.sched_getaffinity(0))});"
        "from ssdlab import _core; print(_core.capabilities()['cpus'])"
    )
    said = subprocess.run([sys.executable, "-c", program], text=True, capture_output=True, check=True)
    assert said.stdout == f"[{min(os.sched_getaffinity(0))}]\n"


def test_a_ring_that_is_refused_is_told_with_its_errno() -> None:
    """With no file to open, no ring can be made either."""
    program = (
        "import json, resource; from ssdlab import _core;"
        "resource.setrlimit(resource.RLIMIT_NOFILE, (3, 3));"
        "ring = _core.capabilities()['io_uring']; print(ring['available'], ring['errno'])"
    )
    said = subprocess.run([sys.executable, "-c", program], text=True, capture_output=True, check=True)
    assert said.stdout == "False 24\n"


def test_costs_are_in_order_of_size() -> None:
    costs = _core.calibrate(0.5)
    # A clock reading through the vDSO takes tens of ns; a system call more than drawing an I/O.
    assert 1 < costs["clock_ns"] < 2000
    assert 0.2 < costs["generate_ns"] < costs["system_call_ns"] < 20_000
    assert 0.2 < costs["record_ns"] < 2000
    assert costs["wake_up_ns"]["min"] > 0
    assert costs["wake_up_ns"]["p50"] >= costs["wake_up_ns"]["min"]


def test_nonsense_lengths_are_refused() -> None:
    with pytest.raises(ValueError, match="negative"):
        _core.calibrate(-1)


def test_the_module_alone_needs_no_numpy() -> None:
    """A command that only wants totals starts without it; rows bring it in."""
    program = "import sys; from ssdlab import _core; _core.build_info(); print('numpy' in sys.modules)"
    said = subprocess.run([sys.executable, "-c", program], text=True, capture_output=True, check=True)
    assert said.stdout == "False\n"
