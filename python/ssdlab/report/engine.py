"""What draws the page's charts as pictures: a process of its own, `drawing`, asked for one at a time.

To load it and to draw takes as long as to read a run: `ready` begins with it before anything is known of the
page, and it goes on beside.
"""

from __future__ import annotations

import atexit
import subprocess
import sys
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache
from importlib import resources
from importlib.util import find_spec
from pathlib import Path
from resource import RLIM_INFINITY, RLIMIT_AS, getrlimit
from typing import TYPE_CHECKING

from ssdlab.model.errors import HostError, UsageError

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

PACKAGE = "py_mini_racer"
_PROGRAM = Path(__file__).with_name("drawing.py")
_ADDRESSES_BYTES = 2 << 40
"""With so many V8 always begins: it reserves 1.4 TiB of addresses, which is no memory."""


class Engine:
    """An engine with the charts loaded, which draws one picture after another.

    Raises
    ------
    HostError
        The front end was not built, or no process can be made.
    """

    def __init__(self) -> None:
        script = _file("pictures.js")
        # Not from the folder that one is in: files there may be called as what is imported.
        command = [sys.executable, "-P", str(_PROGRAM), str(script)]
        try:
            self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        except OSError as error:
            raise HostError(
                f"what draws pictures cannot be started: {error.strerror}", "see what limits processes here"
            ) from error
        self._thread = ThreadPoolExecutor(1, "pictures")
        atexit.register(self.close)

    def draw(self, asked: str) -> Future[str]:
        """Begin with a picture; `asked` is JSON of what `web/src/stills.ts` is given.

        The Future raises HostError where the process has ended.
        """
        return self._thread.submit(self._draw, asked.encode())

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
            raise HostError(
                f"what draws pictures has ended (exit status {self._process.wait()})",
                "free some memory, and try again",
            ) from error
        if how != b"ok":
            raise RuntimeError(drawn)
        return drawn

    def close(self) -> None:
        """End it, whatever it draws."""
        self._process.kill()
        self._process.wait()
        self._thread.shutdown(cancel_futures=True)


def engine() -> Engine:
    """Return the engine of this process: a second one would have to learn the same charts again.

    Raises
    ------
    UsageError
        The extra `figures` is not installed.
    HostError
        The front end was not built, or the process may not have as many addresses as V8 reserves.
    """
    needed(PACKAGE)
    if _confined():
        raise HostError(
            "pictures need more addresses than this process may have", "lift the limit: ulimit -v unlimited"
        )
    return _made()


@cache
def _made() -> Engine:
    return Engine()


def available() -> bool:
    """Whether pictures can be drawn: what draws them is installed, and may have its addresses."""
    return find_spec(PACKAGE) is not None and not _confined()


def _confined() -> bool:
    """Whether V8 would end the process instead of drawing: that is all it does where it gets too few."""
    most = getrlimit(RLIMIT_AS)[0]
    return most != RLIM_INFINITY and most < _ADDRESSES_BYTES


def ready() -> None:
    """Begin to load the engine, where there is one; it learns by samples until it is asked."""
    if available():
        engine()


def needed(package: str) -> None:
    """Refuse where a package that draws pictures is not installed.

    Raises
    ------
    UsageError
        So it is.
    """
    if find_spec(package) is None:
        raise UsageError(
            "pictures need the extra `figures`, which is not installed",
            "install it: pip install 'ssdlab[figures]'",
            package=package,
        )


def static(name: str) -> str:
    """Return a file of the front end.

    Raises
    ------
    HostError
        It was not built.
    """
    return _file(name).read_text(encoding="utf-8")


def _file(name: str) -> Traversable:
    file = resources.files("ssdlab.report").joinpath("static", name)
    if not file.is_file():
        raise HostError(
            f"the front end of the report is not built: {name} is missing", "build it: make build", file=name
        )
    return file
