"""A command in a child of this process, with bounds on memory and CPU time: what it exits with, and took."""

from __future__ import annotations

import os
import resource
import signal
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path

MEMORY_BYTES = 1 << 30
CPU_S = 10
_ADDRESSES_BYTES = 8 << 30
"""The child may add to its address space: what runs away is stopped before the host has no memory left. What
it has from this process is not its own: an engine of pictures reserves many GiB and uses little of it."""
_HANGS_S = 120
"""Nothing is measured by it: a command that waits for ever takes no CPU time."""


@dataclass(frozen=True)
class Ended:
    """How a command ended; `status` is negative for a signal."""

    status: int
    out: str
    err: str
    peak_bytes: int
    cpu_s: float


def ssdlab(*words: str) -> Ended:
    """Run `ssdlab WORDS` in a fork, which has imported the commands and what they work with."""
    _imported()
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        child = os.fork()
        if child == 0:
            _child(words, out.fileno(), err.fileno())
        _, status, used = os.wait4(child, 0)
        texts = []
        for file in (out, err):
            file.seek(0)
            texts.append(file.read(1 << 20).decode(errors="replace"))
    cpu_s = used.ru_utime + used.ru_stime
    return Ended(os.waitstatus_to_exitcode(status), *texts, used.ru_maxrss * 1024, cpu_s)


@cache
def _imported() -> None:
    from ssdlab.cli import COMMANDS

    for place in {command.place.partition(":")[0] for command in COMMANDS.values()}:
        import_module(place)
    for name in ("runs.session", "runs.suites.session", "lab.job", "formats.traces.overview", "drives"):
        import_module(f"ssdlab.{name}")
    from ssdlab.lab.found import all_methods

    all_methods()


def _child(words: Sequence[str], out: int, err: int) -> None:
    status = 70
    try:
        os.dup2(out, 1)
        os.dup2(err, 2)
        # pytest's own streams go to its capture; these go to the files.
        sys.stdout = os.fdopen(1, "w", encoding="utf-8", closefd=False)
        sys.stderr = os.fdopen(2, "w", encoding="utf-8", errors="backslashreplace", closefd=False)
        most = _addresses_now() + _ADDRESSES_BYTES
        resource.setrlimit(resource.RLIMIT_AS, (most, most))
        resource.setrlimit(resource.RLIMIT_CPU, (2 * CPU_S, 2 * CPU_S))
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(_HANGS_S)
        from ssdlab.cli import main

        status = main(words)
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(status)


def _addresses_now() -> int:
    """Bytes of address space of this process: the first figure of proc_pid_statm(5), in pages."""
    return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()


def check(ended: Ended, words: Sequence[str]) -> None:
    """What every input must come to: done or refused in two lines, within memory and time."""
    said = f"{[word[:200] for word in words]}: {ended.status}, {ended.err[-2000:]}"
    assert ended.status in (0, 1, 2, 3), said
    assert "Traceback" not in ended.err and "internal error" not in ended.err, said
    if ended.status in (2, 3):
        lines = [line for line in ended.err.splitlines() if not line.startswith("warning:")]
        assert any(line.startswith("ssdlab: ") for line in lines), said
    assert ended.peak_bytes <= MEMORY_BYTES, f"{said}: {ended.peak_bytes >> 20} MiB"
    assert ended.cpu_s <= CPU_S, f"{said}: {ended.cpu_s} s"
