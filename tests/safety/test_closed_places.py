"""A user who may not look into a part of /sys or /proc: figures are left out, or the refusal is a sentence.

A container or a hardened service hides parts of them. What only describes the host is then not known; without
the folders that say which disk is which, nothing is done.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from conftest import need_root
from machine.forked import NOBODY, run_forked

pytestmark = pytest.mark.long

MIB = 1 << 20
DESCRIBES = (
    "/sys/kernel",
    "/sys/fs",
    "/sys/fs/cgroup",
    "/sys/module",
    "/sys/bus",
    "/sys/devices/system/cpu",
    "/sys/devices/system/node",
    "/sys/firmware",
    "/proc/sys",
    "/run",
)
TELLS_DISKS = ("/sys", "/sys/block", "/sys/class", "/sys/class/block", "/sys/dev")
WORDS = (
    "drives",
    "doctor",
    "drives FILE",
    "plan steady-random-write FILE",
    "measure FILE --rw randrw --bytes 64KiB",
    "measure NEW --size 1MiB --bytes 64KiB",
    "run steady-random-write FILE --dry-run",
)


@pytest.fixture
def own() -> Iterator[Path]:
    """A folder of nobody's, with a file of theirs."""
    need_root()
    with tempfile.TemporaryDirectory(prefix="ssdlab-test-", dir="/var/tmp") as made:
        folder = Path(made)
        (folder / "file").write_bytes(os.urandom(MIB))
        for each in (folder, folder / "file"):
            os.chown(each, NOBODY, NOBODY)
        yield folder


def said(own: Path, closed: Path, words: str) -> tuple[int, dict[str, object]]:
    place = {"HOME": str(own), "XDG_STATE_HOME": str(own / "state"), "XDG_DATA_HOME": str(own / "data")}
    names = {"FILE": str(own / "file"), "NEW": str(own / "new")}
    consent = ["--destroy", "file"] if "FILE" in words and not words.startswith("drives") else []
    given = [names.get(word, word) for word in words.split()]
    done = run_forked([*given, *consent, "--json"], place, (), closed)
    assert "Traceback" not in done.err, done.err
    return done.status, json.loads(done.out)


@pytest.mark.parametrize("words", WORDS)
@pytest.mark.parametrize("closed", DESCRIBES)
def test_what_only_describes_the_host_is_left_out(own: Path, closed: str, words: str) -> None:
    if not Path(closed).is_dir():
        pytest.skip(f"no {closed} here")
    status, told = said(own, Path(closed), words)
    assert status == 0, told


@pytest.mark.parametrize("words", [each for each in WORDS if each != "doctor"])
@pytest.mark.parametrize("closed", TELLS_DISKS)
def test_without_what_tells_disks_apart_nothing_is_done(own: Path, closed: str, words: str) -> None:
    before = (own / "file").read_bytes()
    status, told = said(own, Path(closed), words)
    if status != 0:
        assert status == 3 and told["facts"]["reason"] == "no-sysfs", told  # type: ignore[index]
        assert "cannot be read: Permission denied" in str(told["what"])
    else:
        assert words == "drives"
    assert (own / "file").read_bytes() == before
