"""Draws pictures: runs the page's own charts in an embedded V8, without a browser or Node.

`engine` starts this program as a separate process. V8 thus loads while the other process reads runs, and a
crash does not end the report. The program needs only the front end's file. A request is a line with the
length in bytes, then so many bytes of JSON. An answer is a line with `ok` and the length, then the picture;
if drawing failed, `wrong`, the length and an error text. The program ends when its input ends.
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
"""Flags of V8, whose defaults suit pages that stay open.

* `--min-semi-space-size`: megabytes of young objects before the first garbage collection. All pictures of a
  run's page fit in.
* `--no-lazy-feedback-allocation`: type feedback is kept from the first call of a function.
* `--no-opt`: the slowest compiler never saves as much time as it costs.
* `--invocation-count-for-maglev`: the quick compiler pays off only after some hundred pictures, so it starts
  ten times as late. Both compilers together took a third of the time of such a page."""


class Charts(Protocol):
    def call(self, name: str, given: object, /) -> object: ...


def main(script: str) -> None:
    """Load the charts, warm up with samples until the first request, then draw the requested pictures."""
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
    with suppress(BrokenPipeError):  # the process that asked has ended
        main(sys.argv[1])
    os._exit(0)  # V8 would wait for a thread of its own
