"""Who has what open: every table of every thread, and what is said where nobody may look."""

from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from machine import holding
from machine.scenes import make_stage
from machine.staging import Stage
from ssdlab.host import openers
from ssdlab.host.openers import PROCESSES, look_at_processes
from ssdlab.host.sysfs import HostFiles

stage = pytest.fixture(make_stage)
FILES = HostFiles()
FULL = "000001ffffffffff"


def who(path: Path) -> list[tuple[int, str, bool]]:
    status = path.stat()
    found = look_at_processes(FILES, [(status.st_dev, status.st_ino)])
    return [(one.pid, one.how, one.writing) for one in found.files[status.st_dev, status.st_ino]]


@pytest.mark.parametrize(
    ("way", "how"),
    [
        ("descriptor", "open"),
        ("mapped", "mapped"),
        ("leader-gone", "open"),
        ("mapped-leader-gone", "mapped"),
        ("own-table", "open"),
        ("ring", "open"),
    ],
)
@pytest.mark.parametrize("without", ["", "kcmp", "map_files"])
def test_every_way_to_have_a_file_open(
    stage: Stage, way: str, how: str, without: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where the kernel does not compare tables, and where the links of mappings may not be followed."""
    if without == "kcmp":
        monkeypatch.setattr(openers, "table_comparison", lambda _: None)
    if without == "map_files":
        look_through = os.stat

        def refuse(path: object, **more: object) -> os.stat_result:
            if "map_files" in str(path):
                raise PermissionError(1, "Operation not permitted")
            return look_through(path, **more)  # type: ignore[call-overload, no-any-return]

        monkeypatch.setattr(openers.os, "stat", refuse)
    made = stage.file()
    assert who(made) == []
    pid = int(stage.holder(made, way=way)["pid"])
    assert who(made) == [(pid, how, True)]


def test_reading_is_told_from_writing(stage: Stage) -> None:
    made = stage.file()
    pid = int(stage.holder(made, "O_RDONLY")["pid"])
    other = int(stage.holder(made, "O_RDONLY", "read-privately")["pid"])
    # Python keeps a descriptor beside its mapping.
    assert sorted(who(made)) == sorted(
        [(pid, "open", False), (other, "open", False), (other, "mapped", False)]
    )


@pytest.fixture
def many_threads() -> Iterator[None]:
    """More tables of descriptors in one process than are told apart."""
    library, ready, done = ctypes.CDLL(None), threading.Barrier(25), threading.Event()

    def wait() -> None:
        assert library.unshare(0x400) == 0
        ready.wait()
        done.wait()

    threads = [threading.Thread(target=wait) for _ in range(24)]
    for thread in threads:
        thread.start()
    ready.wait()
    yield
    done.set()
    for thread in threads:
        thread.join()


@pytest.mark.usefixtures("many_threads")
def test_a_process_with_many_tables(stage: Stage) -> None:
    """Each of its threads holds what the first has opened before: one entry, as it is one process."""
    made = stage.file()
    with made.open("r+b"):
        assert who(made) == [(os.getpid(), "open", True)]


def test_a_descriptor_of_our_own_does_not_count(stage: Stage) -> None:
    made = stage.file()
    with made.open("rb") as one, made.open("rb"):
        status = made.stat()
        key = (status.st_dev, status.st_ino)
        found = look_at_processes(FILES, [key], one.fileno()).files[key]
        assert [opener.pid for opener in found] == [os.getpid()], "the other one does"
    with made.open("rb") as one:
        assert look_at_processes(FILES, [key], one.fileno()).files[key] == ()


def proc_of(host, capabilities: str, *, whole: bool = True, mountinfo: str = "") -> None:
    host.write(
        host.root / "proc/self",
        {
            "status": f"CapEff:\t{capabilities}",
            "uid_map": f"0 {0 if whole else 1000} {4294967295 if whole else 1}",
            "mountinfo": mountinfo,
        },
    )


HIDING = "22 27 0:21 / /proc rw,relatime - proc proc rw,hidepid={}"


@pytest.mark.parametrize(
    ("capabilities", "whole", "hidepid", "denied", "unseen", "barred"),
    [
        (FULL, True, "invisible", False, False, False),
        (FULL, True, "invisible", True, False, True),
        (FULL, False, "off", True, True, False),
        ("0", True, "off", False, False, False),
        ("0", True, "off", True, True, False),
        ("0", True, "invisible", False, True, False),
        ("0", True, "2", False, True, False),
    ],
)
def test_what_is_not_seen(
    host, monkeypatch: pytest.MonkeyPatch, capabilities, whole, hidepid, denied, unseen, barred
) -> None:
    proc_of(host, capabilities, whole=whole, mountinfo=HIDING.format(hidepid))
    for pid in ("7", "8"):
        (host.root / f"proc/{pid}/task/{pid}/fd").mkdir(parents=True)
        host.write(host.root / f"proc/{pid}", {"comm": "guarded", "maps": ""})
    listing = os.listdir

    def refuse(folder: str) -> list[str]:
        if denied and "/8/" in str(folder):
            raise PermissionError(13, "Permission denied")
        return listing(folder)

    monkeypatch.setattr(openers.os, "listdir", refuse)
    found = look_at_processes(host.files)
    assert found.unseen == ((PROCESSES,) if unseen else ())
    told = "what process 8 (guarded) has open, which this host hides from everyone"
    assert found.barred == ((told,) if barred else ())


def test_the_ways_of_holding_are_all_tried() -> None:
    assert set(holding.WAYS) >= {"descriptor", "mapped", "leader-gone", "own-table", "ring", "in-flight"}
