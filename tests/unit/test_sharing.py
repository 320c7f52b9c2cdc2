"""Which tests may run beside others: those that share the machine are marked, and cannot go unmarked."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from machine import blkio, memory_disk, orphans, sharing, tracing
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


@pytest.mark.long
def test_a_fixture_marks_its_tests() -> None:
    """One of the 17 tests of one file asks for fio."""
    words = ["--collect-only", "--quiet", "-p", "no:cacheprovider", "-m", sharing.MARKER]
    file = str(TESTS / "report" / "test_fio.py")
    words = [sys.executable, "-m", "pytest", *words, file]
    done = subprocess.run(words, capture_output=True, text=True, cwd=TESTS.parent, check=True)
    assert "1/17 tests collected" in done.stdout


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


PARTS = ("(long or outside)", "machine", "tests/guest", "wheel and", "-m matrix")
"""By what the call of each part of `all` is known."""


@pytest.mark.parametrize(
    ("statuses", "words", "status"),
    [
        ((0, 0, 0, 0, 0), [], 0),
        ((1, 0, 0, 0, 0), [], 1),
        ((0, 2, 0, 0, 0), [], 2),
        ((0, 0, 5, 0, 0), [], 5),
        ((5, 0, 5, 5, 5), ["-k", "zram"], 0),
        ((5, 1, 0, 5, 5), ["-k", "zram"], 1),
        ((5, 5, 5, 5, 5), ["-k", "nothing"], 5),
    ],
)
def test_every_part_counts(
    statuses: tuple[int, ...], words: list[str], status: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A part that finds no test is a failure, unless the words given leave it none."""
    cases = " ".join(f"*'{part}'*) exit {status};;" for part, status in zip(PARTS, statuses, strict=True))
    for name in ("pytest", "cargo"):
        stub = tmp_path / name
        stub.write_text(f'#!/bin/sh\necho "{name} $*"\ncase "$*" in {cases} esac\n')
        stub.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("PYTEST", str(tmp_path / "pytest"))
    script = TESTS.parent / "scripts" / "test"
    done = subprocess.run([script, "all", *words], capture_output=True, text=True, check=False)
    assert done.returncode == status
    calls = [line for line in done.stdout.splitlines() if line.startswith("pytest ")]
    assert ["-n " in call for call in calls] == [True, False, True, False, False]
    assert all(call.endswith(" ".join(words)) for call in calls)


def test_orphans_of_a_failed_test_are_ended_and_children_are_not() -> None:
    child = subprocess.Popen(["sleep", "60"])
    line = subprocess.run(
        ["sh", "-c", "sleep 60 >&- 2>&- & echo $!"], capture_output=True, text=True, check=True
    )
    orphan = int(line.stdout)
    assert orphan in orphans.end_orphans()
    assert child.poll() is None
    child.kill()
    child.wait()
