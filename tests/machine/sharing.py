"""What a test needs says in which part of the tests it is run.

Tests that share the machine run one by one; all others run beside each other, in processes of their own. A
test shares the machine if it has a fixture that makes devices, mounts, traces or limits of the kernel, or
that starts a program which wants the processors for itself. None can do so unmarked: in a process that runs
tests beside others, what makes such things refuses to.

What runs before every commit needs a built tree alone: in that part (`SSDLAB_PART=quick`) what asks for root
or for a program fails.
"""

from __future__ import annotations

import os
import sys
from functools import cache
from pathlib import Path

import pytest

MARKER = "machine"
OUTSIDE = "outside"
OUTSIDE_FIXTURES = frozenset({"chromium", "need_tool", "make_slurm"})
"""A test that asks for one of these needs what a built tree does not have, and gets that marker."""
FIXTURES = frozenset(
    {"make_zram", "zram", "loop", "stage", "small_library"}  # devices and mounts
    | {"throttled", "bpf", "block_trace", "event_log", "traced"}  # the kernel's limits and traces
    | {"fio"}  # programs
)
"""A test that asks for one of these, itself or through another fixture, gets the marker."""

COLLECTED = pytest.StashKey[list[pytest.Item]]()
"""Every test that was collected, whether it is run or not."""
QUICK = os.environ.get("SSDLAB_PART") == "quick"
PROGRAMS = frozenset({"losetup", "mount", "umount", "swapon", "swapoff", "modprobe", "bpftrace", "fio"})


def shares(item: pytest.Item) -> bool:
    """Whether a test has one of the fixtures."""
    return not FIXTURES.isdisjoint(getattr(item, "fixturenames", ()))


def wants_outside(item: pytest.Item) -> bool:
    """Whether a test has one of the fixtures that need root or a program."""
    return not OUTSIDE_FIXTURES.isdisjoint(getattr(item, "fixturenames", ()))


def outside(what: str) -> None:
    """Fail in the part that needs a built tree alone."""
    assert not QUICK, f"{what}: the test wants pytest.mark.{OUTSIDE}"


def alone(what: str) -> None:
    """Fail in a process that pytest started to run tests beside others."""
    beside = os.environ.get("PYTEST_XDIST_WORKER")
    assert beside is None, (
        f"{what}, beside other tests (in {beside}): "
        f"the test wants one of the fixtures {sorted(FIXTURES)}, or pytest.mark.{MARKER}"
    )


@cache
def watch_programs_here() -> None:
    """Let this process start no program that changes the machine, as long as it runs tests beside others."""
    sys.addaudithook(_watch_programs)


def _watch_programs(event: str, facts: tuple[str, ...]) -> None:
    if event == "subprocess.Popen" and "PYTEST_XDIST_WORKER" in os.environ:
        program = Path(os.fsdecode(facts[0])).name
        if program in PROGRAMS:
            alone(f"starts {program}")
