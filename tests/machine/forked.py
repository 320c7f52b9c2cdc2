"""Runs the command line in a fork of this process, which has imported it: as it is, or as somebody else.

A start of the program takes longer than what a refusal does, and a checkout may lie where only root reads.
"""

from __future__ import annotations

import atexit
import codecs
import ctypes
import faulthandler
import functools
import gc
import importlib
import os
import pkgutil
import select
import shlex
import signal
import struct
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import ssdlab.__main__

NOBODY = 65534
SYS_PTRACE, DAC_READ_SEARCH = 19, 2
_KEEP_CAPABILITIES, _DUMPABLE = 8, 4
_CAPABILITY_VERSION = 0x20080522
_STREAMS = ("stdin", "stdout", "stderr")
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


class Started:
    """``ssdlab WORDS`` at work in a fork of this process: what is used of `subprocess.Popen`.

    For what does not depend on how a program starts. Its output goes into files; its input is empty, or with
    `held` a pipe that ends with `stdin`. Another program of ours is named by what `does` it.
    """

    def __init__(
        self,
        words: Sequence[str],
        *,
        cwd: Path,
        env: Mapping[str, str] = os.environ,
        held: bool = False,
        does: Callable[[], int] = ssdlab.__main__.main,
    ) -> None:
        _import_everything()
        self.args = ["ssdlab", *words]
        self.returncode: int | None = None
        self.stdin: BinaryIO | None = None
        self._out, self._err = (tempfile.TemporaryFile() for _ in range(2))  # noqa: SIM115
        read, write = os.pipe() if held else (os.open(os.devnull, os.O_RDONLY), None)
        self.pid = os.fork()
        if self.pid == 0:
            streams = (read, self._out.fileno(), self._err.fileno())
            _be_a_program(does, self.args, cwd, dict(env), streams)
        os.close(read)
        if write is not None:
            self.stdin = os.fdopen(write, "wb")
        self._watched = os.pidfd_open(self.pid)

    def poll(self) -> int | None:
        if self.returncode is None and select.select([self._watched], [], [], 0)[0]:
            self.wait()
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        if self.returncode is None:
            if not select.select([self._watched], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired(self.args, timeout or 0)
            self.returncode = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
            os.close(self._watched)
        return self.returncode

    def communicate(self, timeout: float | None = None) -> tuple[str, str]:
        """Wait for its end, and give its stdout and stderr."""
        self.wait(timeout)
        told = []
        for file in (self._out, self._err):
            file.seek(0)
            told.append(file.read().decode())
        return told[0], told[1]

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


def run(
    words: Sequence[str], *, cwd: Path, env: Mapping[str, str] = os.environ, timeout: float = 300
) -> subprocess.CompletedProcess[str]:
    """Run ``ssdlab WORDS`` to its end in a fork, as `subprocess.run` runs a program."""
    process = Started(words, cwd=cwd, env=env)
    try:
        out, err = process.communicate(timeout)
    except subprocess.TimeoutExpired as late:
        process.send_signal(signal.SIGABRT)
        late.add_note(process.communicate()[1])
        raise
    except BaseException:
        process.kill()
        process.wait()
        raise
    assert process.returncode is not None
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)


def run_line(
    line: str, *, cwd: Path, env: Mapping[str, str] = os.environ, timeout: float = 300
) -> subprocess.CompletedProcess[str]:
    """Run a line of a document: by a shell, but for a command of ours that asks nothing of one."""
    words = shlex.split(line)
    if words[0] == "ssdlab" and shlex.join(words[1:]) == line.removeprefix("ssdlab "):
        return run(words[1:], cwd=cwd, env=env, timeout=timeout)
    return subprocess.run(
        line, shell=True, cwd=cwd, env=env, capture_output=True, text=True, timeout=timeout, check=False
    )


def _be_a_program(
    does: Callable[[], int],
    words: list[str],
    folder: Path,
    environment: dict[str, str],
    streams: Sequence[int],
) -> None:
    """Be a program that has just started; it never returns."""
    status = 70
    try:
        gc.freeze()  # to look through what it has from this process would copy all of it
        atexit._clear()  # what this process does at its end is not the program's
        for each in signal.valid_signals():
            if callable(signal.getsignal(each)):
                signal.signal(each, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        os.chdir(folder)
        os.environ.clear()
        os.environ.update(environment)
        for number, (stream, name, mode) in enumerate(zip(streams, _STREAMS, "rww", strict=True)):
            os.dup2(stream, number)
            setattr(sys, name, open(number, mode, encoding="utf-8"))  # noqa: PTH123, SIM115
        os.closerange(3, os.sysconf("SC_OPEN_MAX"))  # files, locks and pipes that an exec would have closed
        faulthandler.enable()  # one that hangs says where, when SIGABRT ends it
        sys.argv = words
        status = does()
        sys.stdout.flush()
        sys.stderr.flush()
        atexit._run_exitfuncs()
    except BaseException:
        traceback.print_exc()
        sys.stderr.flush()
    finally:
        os._exit(status)


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
