"""Draws the page's charts as pictures, one at a time, in a separate process (`drawing`).

The process takes as long to load as a run takes to read, so `ready` starts it early, in parallel.
"""

from __future__ import annotations

import atexit
import os
import sys
from concurrent.futures import Future
from contextlib import suppress
from functools import cache
from importlib import resources
from importlib.util import find_spec
from pathlib import Path
from queue import SimpleQueue
from resource import RLIM_INFINITY, RLIMIT_AS, getrlimit
from subprocess import PIPE, Popen
from threading import Thread
from typing import TYPE_CHECKING

from ssdlab.model.errors import HostError, UsageError, excerpt

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

PACKAGE = "py_mini_racer"
_ENDS_WITHIN_S = 2.0
"""Time allowed for the thread to end after the process has ended."""
_PROGRAM = Path(__file__).with_name("drawing.py")
_ADDRESSES_BYTES = 2 << 40
"""Address space with which V8 always starts. It reserves 1.4 TiB of addresses, but not of memory."""


class Engine:
    """A process with the charts loaded, which draws one picture at a time.

    Raises
    ------
    HostError
        The front end is not built, or no process can be started.
    """

    def __init__(self) -> None:
        self._owner = os.getpid()
        script = _file("pictures.js")
        # Keeps the current folder off the import path: files there may shadow imported modules.
        command = [sys.executable, "-P", str(_PROGRAM), str(script)]
        try:
            # A process group of its own, so that Ctrl-C does not reach it: the caller decides when it ends.
            self._process = Popen(command, stdin=PIPE, stdout=PIPE, process_group=0)
        except OSError as error:
            raise HostError(
                f"the chart renderer cannot be started: {error.strerror}",
                "check the process limits of this host",
            ) from error
        self._asked: SimpleQueue[tuple[str, str, Future[str]] | None] = SimpleQueue()
        # A daemon thread, since at exit nobody waits for the remaining pictures.
        self._thread = Thread(target=self._serve, name="pictures", daemon=True)
        self._thread.start()
        atexit.register(self.close)

    @property
    def ended(self) -> bool:
        """Whether the process has ended, or this object was inherited by a fork."""
        return os.getpid() != self._owner or self._process.poll() is not None

    def draw(self, asked: str, title: str = "") -> Future[str]:
        """Start drawing a picture; `asked` is the JSON input of `web/src/stills.ts`, `title` is for errors.

        The Future raises HostError if the process has ended, and RuntimeError if the chart cannot be drawn.
        """
        future: Future[str] = Future()
        self._asked.put((asked, title, future))
        return future

    def _serve(self) -> None:
        while (asked := self._asked.get()) is not None:
            text, title, future = asked
            try:
                future.set_result(self._draw(text.encode()))
            except RuntimeError as error:
                future.set_exception(RuntimeError(f"chart {title!r} cannot be drawn: {error}"))
            except Exception as error:
                future.set_exception(error)

    def _draw(self, asked: bytes) -> str:
        to, answers = self._process.stdin, self._process.stdout
        assert to is not None
        assert answers is not None
        try:
            to.write(b"%d\n" % len(asked))
            to.write(asked)
            to.flush()
            how, length = answers.readline().split()
            drawn = answers.read(int(length)).decode()
        except (OSError, ValueError) as error:
            status = self._process.wait()
            raise HostError(
                f"the chart renderer ended (exit status {status})",
                "free some memory, and try again" if status < 0 else "see its messages on stderr",
            ) from error
        if how != b"ok":
            raise RuntimeError(excerpt(drawn, 200))
        return drawn

    def close(self) -> None:
        """End the process and its thread; unfinished pictures are lost."""
        atexit.unregister(self.close)
        if os.getpid() != self._owner:
            return  # a fork has no copy of the thread, which may have held the locks of the pipes
        self._process.kill()
        self._process.wait()
        self._asked.put(None)
        self._thread.join(_ENDS_WITHIN_S)
        for pipe in (self._process.stdin, self._process.stdout):
            with suppress(OSError):  # the rest of a request may still be buffered
                if pipe is not None:
                    pipe.close()


def engine() -> Engine:
    """Return the engine of this process; a second one would have to warm up again.

    Raises
    ------
    UsageError
        The extra `figures` is not installed.
    HostError
        The front end is not built, or the address space limit is below the space that V8 reserves.
    """
    needed(PACKAGE)
    if _confined():
        raise HostError(
            "pictures need more address space than this process may use",
            "lift the limit: ulimit -v unlimited",
        )
    if (made := _made()).ended:
        _made.cache_clear()
        made.close()
        return _made()
    return made


@cache
def _made() -> Engine:
    return Engine()


def available() -> bool:
    """Return whether pictures can be drawn: the engine is installed and has enough address space."""
    return find_spec(PACKAGE) is not None and bool(sys.executable) and not _confined()


def _confined() -> bool:
    """Return whether the address space limit is so low that V8 would abort the process."""
    most = getrlimit(RLIMIT_AS)[0]
    return most != RLIM_INFINITY and most < _ADDRESSES_BYTES


def ready() -> None:
    """Start loading the engine, if installed; it warms up with samples until the first request."""
    if available():
        with suppress(HostError):  # reported when a picture is needed; a page is written without pictures
            engine()


def needed(package: str) -> None:
    """Refuse if a package for drawing pictures is not installed.

    Raises
    ------
    UsageError
        The package is missing.
    """
    if find_spec(package) is None:
        raise UsageError(
            "pictures need the extra `figures`, which is not installed",
            "install it: pip install 'ssdlab[figures]'",
            package=package,
        )


def static(name: str) -> str:
    """Return the text of a file of the front end.

    Raises
    ------
    HostError
        The front end is not built.
    """
    return _file(name).read_text(encoding="utf-8")


def _file(name: str) -> Traversable:
    file = resources.files("ssdlab.report").joinpath("static", name)
    if not file.is_file():
        raise HostError(
            f"the front end of the report is not built: {name} is missing", "build it: make build", file=name
        )
    return file
