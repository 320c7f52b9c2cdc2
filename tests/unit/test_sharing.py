"""Which tests may run beside others: those that share the machine are marked, and cannot go unmarked."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from machine import blkio, memory_disk, sharing, tracing
from machine.staging import Stage

TESTS = Path(__file__).parents[1]


def test_every_test_that_shares_the_machine_is_marked(request: pytest.FixtureRequest) -> None:
    """Whatever was collected together with this one: in `make test`, all that are to run beside others."""
    collected = request.config.stash[sharing.COLLECTED]
    assert request.node in collected
    unmarked = [
        item.nodeid
        for item in collected
        if sharing.shares(item) and not item.get_closest_marker(sharing.MARKER)
    ]
    assert not unmarked


def test_a_fixture_marks_its_tests() -> None:
    """Nine of the 13 tests of one file have fio, whether they ask for it or their fixtures do."""
    words = ["--collect-only", "--quiet", "-p", "no:cacheprovider", "-m", sharing.MARKER]
    file = str(TESTS / "report" / "test_fio.py")
    words = [sys.executable, "-m", "pytest", *words, file]
    done = subprocess.run(words, capture_output=True, text=True, cwd=TESTS.parent, check=True)
    assert "9/13 tests collected" in done.stdout


@pytest.mark.parametrize(
    "share",
    [
        lambda: memory_disk.add(4096),
        lambda: blkio.Throttle(Path("/dev/null"), read_iops=1),
        tracing.mount_tracefs,
        lambda: Stage(Path("/nowhere"), str),
        lambda: subprocess.run(["losetup", "--find"], check=True),
        lambda: subprocess.Popen(["/usr/bin/fio"]),
    ],
    ids=["zram", "throttle", "trace", "scene", "program", "program-by-path"],
)
def test_nothing_of_the_machine_is_used_beside_other_tests(
    share: Callable[[], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    sharing.watch_programs_here()
    monkeypatch.setenv("PYTEST_XDIST_WORKER", "gw7")
    with pytest.raises(AssertionError, match=r"beside other tests \(in gw7\)"):
        share()


def test_no_state_of_the_user_is_used() -> None:
    homes = {os.environ[f"XDG_{kind}_HOME"] for kind in ("CONFIG", "DATA", "STATE")}
    assert len(homes) == 3
    assert all("ssdlab-homes-" in home for home in homes)
