"""Runs the command line in a fork of this process, which has imported it: as it is, or as somebody else.

A start of the program takes longer than what a refusal does, and a checkout may lie where only root reads.
"""

from __future__ import annotations

import codecs
import ctypes
import functools
import importlib
import os
import pkgutil
import struct
import sys
import tempfile
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

NOBODY = 65534
SYS_PTRACE, DAC_READ_SEARCH = 19, 2
_KEEP_CAPABILITIES, _DUMPABLE = 8, 4
_CAPABILITY_VERSION = 0x20080522
_NEW_MOUNTS = 0x20000
_PRIVATE = 1 << 18 | 1 << 14
"""`MS_PRIVATE`, for all below (`MS_REC`)."""


@dataclass(frozen=True)
class Done:
    """How a command ended, and what it said."""

    status: int
    out: str
    err: str


def run_forked(
    words: Sequence[str],
    environment: dict[str, str],
    capabilities: tuple[int, ...] | None = None,
    closed: Path | None = None,
) -> Done:
    """Run ``ssdlab WORDS`` to its end; with `capabilities` as nobody, who has these and no others.

    What lies in the folder `closed` is hidden from everybody but root, in a mount namespace of its own.
    """
    _import_everything()
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        child = os.fork()
        if child == 0:
            if closed is not None:
                _close(closed)
            _become(out.fileno(), err.fileno(), environment, capabilities)
            _run_and_exit(words)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        told = []
        for file in (out, err):
            file.seek(0)
            told.append(file.read().decode())
    return Done(status, *told)


@functools.cache
def _import_everything() -> None:
    import ssdlab.cli

    ssdlab.cli.build_app()
    for module in pkgutil.walk_packages(ssdlab.__path__, "ssdlab."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    codecs.lookup("ascii")  # which Python imports when it is first used


def _close(folder: Path) -> None:
    """Mount an empty folder of root's over a folder, for this process alone."""
    library = ctypes.CDLL(None, use_errno=True)
    for done in (
        library.unshare(_NEW_MOUNTS),
        library.mount(b"none", b"/", None, _PRIVATE, None),
        library.mount(b"none", os.fsencode(folder), b"tmpfs", 0, b"mode=0700"),
    ):
        assert done == 0, os.strerror(ctypes.get_errno())


def _become(out: int, err: int, environment: dict[str, str], capabilities: tuple[int, ...] | None) -> None:
    os.environ.update(environment)
    os.chdir("/")
    for number, (stream, name) in enumerate(((out, "stdout"), (err, "stderr")), start=1):
        os.dup2(stream, number)
        setattr(sys, name, Path(f"/proc/self/fd/{number}").open("w"))  # noqa: SIM115 - ends with the process
    if capabilities is None:
        return
    library = ctypes.CDLL(None)
    library.prctl(_KEEP_CAPABILITIES, 1, 0, 0, 0)
    os.setgroups([])
    os.setgid(NOBODY)
    os.setuid(NOBODY)
    kept = sum(1 << number for number in capabilities)
    header, sets = struct.pack("=Ii", _CAPABILITY_VERSION, 0), struct.pack("=6I", kept, kept, 0, 0, 0, 0)
    assert library.capset(header, sets) == 0
    library.prctl(_DUMPABLE, 1, 0, 0, 0)  # its own /proc belongs to it, as after an execve


def _run_and_exit(words: Sequence[str]) -> None:
    status = 70
    try:
        from ssdlab.cli import main

        status = main(list(words))
        sys.stdout.flush()
        sys.stderr.flush()
    except BaseException:
        traceback.print_exc()
        sys.stderr.flush()
    finally:
        os._exit(status)
