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
    """One of the 16 tests of one file asks for fio."""
    words = ["--collect-only", "--quiet", "-p", "no:cacheprovider", "-m", sharing.MARKER]
    file = str(TESTS / "report" / "test_fio.py")
    words = [sys.executable, "-m", "pytest", *words, file]
    done = subprocess.run(words, capture_output=True, text=True, cwd=TESTS.parent, check=True)
    assert "1/16 tests collected" in done.stdout


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


@pytest.mark.parametrize(
    ("beside", "alone", "words", "status"),
    [
        (0, 0, [], 0),
        (1, 0, [], 1),
        (0, 1, [], 1),
        (2, 1, [], 2),
        (5, 0, [], 5),
        (0, 5, [], 5),
        (5, 0, ["-k", "zram"], 0),
        (0, 5, ["-k", "units"], 0),
        (5, 1, ["-k", "zram"], 1),
        (1, 5, ["-k", "units"], 1),
        (5, 5, ["-k", "nothing"], 5),
    ],
)
def test_both_calls_count(beside: int, alone: int, words: list[str], status: int, tmp_path: Path) -> None:
    """A call that finds no test is a failure, unless the words given leave it none."""
    pytest_stub = tmp_path / "pytest"
    pytest_stub.write_text(
        f'#!/bin/sh\necho "with $*"\ncase "$*" in *"not machine"*) exit {beside};; *) exit {alone};; esac\n'
    )
    pytest_stub.chmod(0o755)
    script = TESTS.parent / "scripts" / "test"
    done = subprocess.run([script, pytest_stub, *words], capture_output=True, text=True, check=False)
    assert done.returncode == status
    calls = done.stdout.splitlines()
    assert ["-n " in call for call in calls] == [True, False]
    assert all(call.endswith(" ".join(words)) for call in calls)
