"""What draws pictures: the page's own charts in an embedded V8. No browser, no Node.

A program of its own, which `engine` begins and asks: V8 and its Python are loaded while the other process
reads runs, and one that dies takes no report with it. It needs nothing of ssdlab but the front end's file.
Asked and answered is a line with the length in bytes, then so many of them; an answer's line begins with
`ok`, or with `wrong` where they are a fault in words. It ends when nothing more can be asked.
"""

from __future__ import annotations

import os
import select
import sys
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import IO, Protocol

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


class Charts(Protocol):
    """The front end's functions."""

    def call(self, name: str, given: object, /) -> object:
        """Call one."""


def main(script: str) -> None:
    """Load the charts, learn by samples until a picture is asked for, and draw what is asked."""
    asked, answers = sys.stdin.buffer, sys.stdout.buffer
    context = _loaded(script)
    _warm(context, asked)
    while line := asked.readline():
        _answer(answers, context, asked.read(int(line)).decode())


def _loaded(script: str) -> Charts:
    from py_mini_racer import DEFAULT_V8_FLAGS, MiniRacer, init_mini_racer

    init_mini_racer(flags=(*DEFAULT_V8_FLAGS, *_FLAGS), ignore_duplicate_init=True)
    context = MiniRacer()
    with Path(script).open(encoding="utf-8") as front_end:
        context.eval(front_end.read())
    return context


def _warm(context: Charts, asked: IO[bytes]) -> None:
    for at in count():
        if select.select([asked], [], [], 0)[0] or not context.call(_SAMPLE, at):
            return


def _answer(answers: IO[bytes], context: Charts, picture: str) -> None:
    try:
        how, drawn = "ok", str(context.call(_DRAW, picture))
    except Exception as error:
        how, drawn = "wrong", str(error)
    content = drawn.encode()
    answers.write(b"%s %d\n" % (how.encode(), len(content)))
    answers.write(content)
    answers.flush()


if __name__ == "__main__":
    with suppress(BrokenPipeError):  # who asked is gone
        main(sys.argv[1])
    os._exit(0)  # V8 waits for a thread of its own otherwise
