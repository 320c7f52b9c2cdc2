"""Whether two threads share one table of descriptors: kcmp(2), which Python lacks."""

from __future__ import annotations

import os
from collections.abc import Callable

from ssdlab.host.sysfs import HostFiles

_NUMBERS = {"x86_64": 312, "aarch64": 272, "riscv64": 272, "loongarch64": 272}
"""The system call's number; elsewhere each thread is looked at."""
_KCMP_FILES = 2


def table_comparison(files: HostFiles) -> Callable[[int, int], bool] | None:
    """Return a function that says whether two threads certainly share one table; None where nothing can.

    The threads' numbers must be those of this process's own namespace, so `/proc` must be too.
    """
    number = _NUMBERS.get(os.uname().machine)
    try:
        own = os.readlink(files.proc / "self")  # noqa: PTH115
    except OSError:
        return None
    if number is None or own != str(os.getpid()):
        return None
    import ctypes  # costs a start of 3 ms, and most processes have one thread

    call = ctypes.CDLL(None).syscall

    def same(one: int, other: int) -> bool:
        return bool(call(number, one, other, _KCMP_FILES, ctypes.c_ulong(0), ctypes.c_ulong(0)) == 0)

    return same
