"""What a failed test left running: it would take the processors of those after it."""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from pathlib import Path


def end_orphans() -> list[int]:
    """Kill processes with the state folder of these tests whose parents, and theirs, are none of us."""
    ours = f"XDG_STATE_HOME={os.environ['XDG_STATE_HOME']}".encode()
    ended = []
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            pid = int(process.name)
            if ours in (process / "environ").read_bytes().split(b"\0") and not _is_ours(pid):
                os.kill(pid, signal.SIGKILL)
                ended.append(pid)
    return ended


def _is_ours(pid: int) -> bool:
    while pid > 1:
        if pid == os.getpid():
            return True
        pid = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    return False
