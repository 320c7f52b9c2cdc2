"""Children that do not outlive the tests, however those end."""

from __future__ import annotations

import ctypes
import os
import signal

_PR_SET_PDEATHSIG = 1
_LIBC = ctypes.CDLL(None, use_errno=True)


def dies_with_parent() -> None:
    """Let the kernel kill this process when its parent ends, by kill -9 too: for ``Popen(preexec_fn=...)``.

    Source: PR_SET_PDEATHSIG(2const). The parent's thread counts; pytest starts them in its main one.
    """
    parent = os.getppid()
    if _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl")
    if os.getppid() != parent:  # it ended before it was asked for
        os.kill(os.getpid(), signal.SIGKILL)
