"""Whether anybody else has a file open, asked of the kernel by a lease.

A write lease is granted only while no other open file description of the inode exists, in any process, any
namespace or the kernel itself: descriptors, mappings whose descriptor is closed, files registered in a ring,
descriptors on their way over a socket, loop devices, swap. Source: fcntl(2), F_SETLEASE.
"""

from __future__ import annotations

import errno
import fcntl
import os
import signal
from typing import Literal

Lease = Literal["free", "held", "unknown"]
"""`free`: nobody else has it open. `unknown`: not our file and no CAP_LEASE, or a file system without."""


def probe(descriptor: int) -> Lease:
    """Take a write lease on an open file and give it back at once.

    Every other descriptor of ours that is not a duplicate of this one counts as somebody else's. Who opens
    the file during the moment of the lease waits for its end, a few microseconds (with O_NONBLOCK it gets
    EWOULDBLOCK).
    """
    return _asked(descriptor, fcntl.F_WRLCK)


def only_read_elsewhere(descriptor: int) -> bool:
    """Say whether it is certain that nobody, ourselves included, has an open file open for writing."""
    reading = fcntl.fcntl(descriptor, fcntl.F_GETFL) & os.O_ACCMODE == os.O_RDONLY
    return reading and _asked(descriptor, fcntl.F_RDLCK) == "free"


def _asked(descriptor: int, kind: int) -> Lease:
    try:
        # Who breaks a lease has a signal sent to us. The usual one, SIGIO, ends a process; this one does not.
        fcntl.fcntl(descriptor, fcntl.F_SETSIG, signal.SIGURG)
        fcntl.fcntl(descriptor, fcntl.F_SETLEASE, kind)
    except OSError as error:
        return "held" if error.errno == errno.EAGAIN else "unknown"
    fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_UNLCK)
    return "free"
