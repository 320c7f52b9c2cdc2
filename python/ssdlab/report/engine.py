"""The page's own charts in an embedded V8: no browser and no Node.

To load it and to draw takes as long as to read a run, and Python can go on meanwhile: it has a thread of its
own, and `ready` begins with it before anything is known of the page.
"""

from __future__ import annotations

import atexit
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache
from importlib import resources
from importlib.util import find_spec
from itertools import count
from resource import RLIM_INFINITY, RLIMIT_AS, getrlimit
from typing import Any

from ssdlab.model.errors import HostError, UsageError

PACKAGE = "py_mini_racer"
_DRAW, _SAMPLE = "drawPicture", "drawSample"
_FLAGS = (
    "--min-semi-space-size=32",
    "--no-lazy-feedback-allocation",
    "--no-opt",
    "--invocation-count-for-maglev=4000",
)
"""Of V8, whose own are for pages that stay open.

Megabytes of young objects before the first collection: all pictures of a run's page fit in. What the first
call of a function teaches is kept. Of the compilers, which took a third of the time of such a page, the
slowest never earns back what it costs, and the quick one does after some hundred pictures: it is asked ten
times as late.
"""

_ADDRESSES_BYTES = 2 << 40
"""With so many V8 always begins: it reserves 1.4 TiB of addresses, which is no memory."""


class Engine:
    """An engine with the charts loaded, which draws one picture after another.

    Raises
    ------
    HostError
        The front end was not built.
    """

    def __init__(self) -> None:
        script = static("pictures.js")
        self._thread = ThreadPoolExecutor(1, "pictures")
        self._loaded = self._thread.submit(_loaded, script)
        self._asked = False
        # One that is still there when Python ends waits for its own thread for ever.
        atexit.register(self.close)

    def draw(self, asked: str) -> Future[str]:
        """Begin with a picture; `asked` is JSON of what `web/src/stills.ts` is given."""
        self._asked = True
        return self._thread.submit(self._draw, asked)

    def _draw(self, asked: str) -> str:
        return str(self._loaded.result().call(_DRAW, asked))

    def warm(self) -> Future[None]:
        """Draw samples as long as no picture is asked for."""
        return self._thread.submit(self._warm)

    def _warm(self) -> None:
        for at in count():
            if self._asked or not self.sample(at):
                return

    def sample(self, at: int) -> bool:
        """Draw one of the samples, and say whether there are more."""
        return bool(self._loaded.result().call(_SAMPLE, at))

    def close(self) -> None:
        """End its threads."""
        self._asked = True
        self._thread.shutdown()
        if self._loaded.exception() is None:
            self._loaded.result().close()
        del self._loaded


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
    """Begin to load the engine and to warm it, where there is one."""
    if available():
        engine().warm()


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
    file = resources.files("ssdlab.report").joinpath("static", name)
    try:
        return file.read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise HostError(
            f"the front end of the report is not built: {name} is missing", "build it: make build", file=name
        ) from error


def _loaded(script: str) -> Any:  # noqa: ANN401 - of a library without types for what is called
    from py_mini_racer import DEFAULT_V8_FLAGS, MiniRacer, init_mini_racer

    init_mini_racer(flags=(*DEFAULT_V8_FLAGS, *_FLAGS), ignore_duplicate_init=True)
    context = MiniRacer()
    context.eval(script)
    return context
