"""Two system calls that Python's `os` lacks: `statx` (birth time, O_DIRECT alignment) and `fallocate`.

Through the C library that Python runs on; a library or kernel without them answers None or an error number.
Layout of `struct statx`: statx(2); mask bits: include/uapi/linux/stat.h.
"""

from __future__ import annotations

import ctypes
import errno
import os
import struct
from dataclasses import dataclass

_AT_EMPTY_PATH = 0x1000
_MASK_BTIME = 0x800
_MASK_DIOALIGN = 0x2000
_BUFFER_BYTES = 256
_BTIME_AT = 80
_DIO_MEMORY_AT = 152


@dataclass(frozen=True, slots=True)
class FileDetails:
    """What `statx` adds to `stat`; None where kernel or file system does not say."""

    birth_ns: int | None
    direct_offset_bytes: int | None


def file_details(descriptor: int) -> FileDetails:
    """Return when an open file was made, and what O_DIRECT wants offsets and lengths to be multiples of."""
    library = ctypes.CDLL(None, use_errno=True)
    buffer = ctypes.create_string_buffer(_BUFFER_BYTES)
    call = getattr(library, "statx", None)
    wanted = _MASK_BTIME | _MASK_DIOALIGN
    if call is None or call(descriptor, b"", _AT_EMPTY_PATH, ctypes.c_uint(wanted), buffer) != 0:
        return FileDetails(None, None)
    (mask,) = struct.unpack_from("=I", buffer)
    seconds, nanoseconds = struct.unpack_from("=qI", buffer, _BTIME_AT)
    _, offset_bytes = struct.unpack_from("=II", buffer, _DIO_MEMORY_AT)
    return FileDetails(
        birth_ns=seconds * 10**9 + nanoseconds if mask & _MASK_BTIME else None,
        # Zero: the kernel answers, and the answer is that this file takes no direct I/O.
        direct_offset_bytes=offset_bytes if mask & _MASK_DIOALIGN else None,
    )


def allocate(descriptor: int, length: int) -> bool:
    """Reserve space for the first `length` bytes of an open file; False where the file system cannot.

    Python's own `posix_fallocate` writes a byte into every block where the kernel cannot allocate.

    Raises
    ------
    OSError
        The space cannot be had (ENOSPC, EDQUOT, EFBIG ...).
    """
    library = ctypes.CDLL(None, use_errno=True)
    call = getattr(library, "fallocate64", None) or library.fallocate
    if call(descriptor, 0, ctypes.c_int64(0), ctypes.c_int64(length)) == 0:
        return True
    number = ctypes.get_errno()
    if number in {errno.EOPNOTSUPP, errno.ENOSYS}:
        return False
    raise OSError(number, os.strerror(number))
