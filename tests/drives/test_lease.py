"""Every way to have a file open is seen by a lease, and asking leaves nothing behind."""

from __future__ import annotations

import fcntl
import mmap
import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from conftest import need_root
from ssdlab.drives.guard.file_guard import only_read_elsewhere, probe


@pytest.fixture
def descriptor(scratch: Path) -> Iterator[int]:
    path = scratch / "asked"
    path.write_bytes(bytes(4096))
    opened = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    yield opened
    os.close(opened)


def again(descriptor: int, flags: int = os.O_RDONLY) -> int:
    return os.open(f"/proc/self/fd/{descriptor}", flags | os.O_CLOEXEC)


def test_free_as_often_as_it_is_asked(descriptor: int) -> None:
    assert [probe(descriptor) for _ in range(3)] == ["free"] * 3
    assert fcntl.fcntl(descriptor, fcntl.F_GETLEASE) == fcntl.F_UNLCK


@pytest.mark.parametrize("flags", [os.O_RDONLY, os.O_WRONLY, os.O_RDWR])
def test_an_open_descriptor(descriptor: int, flags: int) -> None:
    other = again(descriptor, flags)
    assert probe(descriptor) == "held"
    os.close(other)
    assert probe(descriptor) == "free"


def test_a_mapping_whose_descriptor_is_closed(descriptor: int) -> None:
    other = again(descriptor)
    with mmap.mmap(other, 4096, prot=mmap.PROT_READ):
        os.close(other)
        assert probe(descriptor) == "held"
    assert probe(descriptor) == "free"


def test_a_descriptor_on_its_way_over_a_socket(descriptor: int) -> None:
    """It is in no process: the lease alone sees it."""
    one, two = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    with one, two:
        other = again(descriptor)
        socket.send_fds(one, [b"x"], [other])
        os.close(other)
        assert probe(descriptor) == "held"
    assert probe(descriptor) == "free"


def test_another_process(descriptor: int) -> None:
    script = "import sys; print(flush=True); sys.stdin.read()"
    path = f"/proc/{os.getpid()}/fd/{descriptor}"
    with (
        Path(path).open("rb") as other,
        subprocess.Popen(
            [sys.executable, "-c", script],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            pass_fds=[other.fileno()],
        ) as process,
    ):
        assert process.stdout is not None
        process.stdout.readline()
        other.close()
        assert probe(descriptor) == "held"
        process.communicate()
    assert probe(descriptor) == "free"


def test_who_only_reads_is_told_from_who_writes(descriptor: int, scratch: Path) -> None:
    path = scratch / "second"
    path.write_bytes(b"x")
    with path.open("rb") as ours, path.open("rb"):
        assert probe(ours.fileno()) == "held"
        assert only_read_elsewhere(ours.fileno())
        with path.open("r+b"):
            assert not only_read_elsewhere(ours.fileno())
    assert not only_read_elsewhere(descriptor), "our own descriptor may write"


@pytest.mark.outside
def test_a_file_of_somebody_else_cannot_be_told() -> None:
    need_root()
    with tempfile.TemporaryFile() as file:
        child = os.fork()
        if child == 0:
            os.seteuid(65534)
            os._exit(0 if probe(file.fileno()) == "unknown" else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_a_lease_that_is_broken_does_not_end_the_process(
    descriptor: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody opens the file in the moment of the lease; the signal that says so is a harmless one."""
    ask, broken = fcntl.fcntl, []

    def broken_into(asked: int, command: int, *value: int) -> int:
        answer = ask(asked, command, *value)
        if command == fcntl.F_SETLEASE and value == (fcntl.F_WRLCK,):
            with pytest.raises(BlockingIOError):
                again(descriptor, os.O_NONBLOCK)
            broken.append(asked)
        return answer

    monkeypatch.setattr("ssdlab.drives.guard.file_guard.fcntl.fcntl", broken_into)
    assert signal.getsignal(signal.SIGIO) == signal.SIG_DFL, "which would end this process"
    assert probe(descriptor) == "free"
    assert broken == [descriptor]
