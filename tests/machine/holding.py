"""Holds a device or file in a way that a look at `/proc/PID/fd` does not show; ends when its input does.

    python holding.py WAY PATH MODE

Prints a line when it holds; WAY is one of `WAYS`, MODE one of `O_RDONLY`, `O_RDWR`.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import platform
import socket
import sys
import threading

_CLONE_FILES = 0x400
_RING_SETUP, _RING_REGISTER, _REGISTER_FILES = 425, 427, 2
_EXIT = {"x86_64": 60}.get(platform.machine(), 93)
_KEPT: list[object] = []


def descriptor(path: str, mode: int) -> None:
    """Plainly."""
    _KEPT.append(os.open(path, mode))


def mapped(path: str, mode: int) -> None:
    """A shared mapping, its descriptor closed: Python keeps one of its own, so the C library maps."""
    opened = os.open(path, mode)
    library = ctypes.CDLL(None, use_errno=True)
    library.mmap.restype = ctypes.c_void_p
    rights = mmap.PROT_READ | (mmap.PROT_WRITE if mode == os.O_RDWR else 0)
    place = library.mmap(None, ctypes.c_size_t(4096), rights, mmap.MAP_SHARED, opened, ctypes.c_long(0))
    assert place != ctypes.c_void_p(-1).value, os.strerror(ctypes.get_errno())
    os.close(opened)


def read_privately(path: str, mode: int) -> None:
    """A private mapping for reading, as of a library."""
    del mode
    with open(path, "rb") as file:  # noqa: PTH123
        _KEPT.append(mmap.mmap(file.fileno(), 4096, flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ))


def leader_gone(path: str, mode: int) -> None:
    """In a process whose first thread has ended."""
    _KEPT.append(os.open(path, mode))
    _end_first_thread()


def mapped_leader_gone(path: str, mode: int) -> None:
    """Both."""
    mapped(path, mode)
    _end_first_thread()


def own_table(path: str, mode: int) -> None:
    """In a thread with a descriptor table of its own."""

    def hold() -> None:
        assert ctypes.CDLL(None).unshare(_CLONE_FILES) == 0
        _KEPT.append(os.open(path, mode))
        held.set()
        threading.Event().wait()

    held = threading.Event()
    threading.Thread(target=hold, daemon=True).start()
    assert held.wait(10)


def ring(path: str, mode: int) -> None:
    """Registered in an io_uring, its descriptor closed."""
    library = ctypes.CDLL(None, use_errno=True)
    made = library.syscall(_RING_SETUP, 4, ctypes.create_string_buffer(120))
    assert made >= 0, os.strerror(ctypes.get_errno())
    opened = os.open(path, mode)
    assert library.syscall(_RING_REGISTER, made, _REGISTER_FILES, (ctypes.c_int * 1)(opened), 1) == 0
    os.close(opened)


def in_flight(path: str, mode: int) -> None:
    """On its way over a socket."""
    ends = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    opened = os.open(path, mode)
    socket.send_fds(ends[0], [b"x"], [opened])
    os.close(opened)
    _KEPT.extend(ends)


def _end_first_thread() -> None:
    def wait() -> None:
        sys.stdin.read()
        os._exit(0)

    threading.Thread(target=wait).start()
    print("held", flush=True)
    ctypes.CDLL(None).syscall(_EXIT, 0)


WAYS = {
    way.__name__.replace("_", "-"): way
    for way in (
        descriptor, mapped, read_privately, leader_gone, mapped_leader_gone, own_table, ring, in_flight,
    )
}  # fmt: skip

if __name__ == "__main__":
    WAYS[sys.argv[1]](sys.argv[2], getattr(os, sys.argv[3]))
    print("held", flush=True)
    sys.stdin.read()
