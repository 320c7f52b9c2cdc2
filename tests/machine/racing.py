"""An unprivileged user who swaps names in a folder of their own, as fast as they can, while root uses them.

The child changes into the folder and gives up all rights before it begins; so whatever comes of its swaps, it
was root's program that did it.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import random
import signal
import struct
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self

NOBODY = 65534
_NOREPLACE, _EXCHANGE = 1, 2
_LONGEST_S = 0.03


class Swapper:
    """Exchanges pairs of names, and back, until it is left; a context manager.

    Parameters
    ----------
    folder
        Of the unprivileged user.
    pairs
        Names in it, or paths from it. The first of a pair need not be there.
    seed
        Of the times between two swaps: from none at all up to what a whole command takes, so that a swap
        falls between any two of its steps sooner or later.
    """

    def __init__(self, folder: Path, pairs: Sequence[tuple[str, str]], seed: int) -> None:
        self._folder, self._pairs, self._seed = folder, pairs, seed
        self._shared = mmap.mmap(-1, 16)  # swaps done; whether to hold still
        self._child = 0

    @property
    def swaps(self) -> int:
        """How often names were exchanged so far."""
        return int(struct.unpack_from("=Q", self._shared)[0])

    @contextmanager
    def still(self) -> Iterator[None]:
        """Let names alone for a while; each is where it was in the beginning."""
        self._shared[8] = 1
        while self._shared[8] != 2:
            time.sleep(0.001)
        try:
            yield
        finally:
            self._shared[8] = 0

    def __enter__(self) -> Self:
        self._child = os.fork()
        if self._child == 0:
            try:
                self._swap()
            finally:
                os._exit(1)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.kill(self._child, signal.SIGKILL)
        os.waitpid(self._child, 0)

    def _swap(self) -> None:
        os.chdir(self._folder)
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)
        library = ctypes.CDLL(None)
        draw = random.Random(self._seed)
        names = [tuple(os.fsencode(name) for name in pair) for pair in self._pairs]
        while True:
            if self._shared[8]:
                self._shared[8] = 2
                time.sleep(0.001)
                continue
            one, other = draw.choice(names)
            back = _exchanged(library, one, other)
            _dwell(draw)
            if back is not None:
                back()
                struct.pack_into("=Q", self._shared, 0, self.swaps + 2)
            _dwell(draw)


def _dwell(draw: random.Random) -> None:
    pause_s = _LONGEST_S * 10 ** draw.uniform(-5, 0)
    if pause_s > 1e-4:
        time.sleep(pause_s)


def _exchanged(library: ctypes.CDLL, one: bytes, other: bytes) -> Callable[[], object] | None:
    """Exchange two names in one step; where only the second is there, give it the first's name.

    Returns how to undo it, or None if neither could be done.
    """
    here = -100  # AT_FDCWD
    if library.renameat2(here, one, here, other, _EXCHANGE) == 0:
        return lambda: library.renameat2(here, one, here, other, _EXCHANGE)
    if library.renameat2(here, other, here, one, _NOREPLACE) == 0:
        return lambda: library.renameat2(here, one, here, other, _NOREPLACE)
    return None
