"""A PPK2 behind a pseudo-terminal: answers Get Meta Data, and streams what a function of time draws.

Written from Nordic's pc-nrfconnect-ppk; no hardware was at hand. ppk2-api 0.9.2, too, reads the same current.
"""

from __future__ import annotations

import os
import pty
import select
import threading
import time
import tty
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import numpy as np

VOLTS = 5.0
OHMS = (1000.0, 100.0, 10.0, 1.0, 0.05)
RANGE = 4
ADC_VOLTS = 4 * 1.8 / 163840
PERIOD_NS = 10_000
GAIN = 1.02
"""Of the range that it measures in: a client that leaves its calibration out is 2 % off."""


def meta_data(**changed: str) -> str:
    """What it says of itself."""
    lines = {"Calibrated": "1"}
    for at, ohms in enumerate(OHMS):
        zero = {"GS": "0", "GI": "1", "O": "8", "S": "0.001", "I": "0.0005", "UG": str(GAIN)}
        lines |= {f"R{at}": str(ohms), **{f"{name}{at}": value for name, value in zero.items()}}
    lines |= {"VDD": "5000", "HW": "9173", "mode": "1", "IA": "56", **changed}
    return "".join(f"{name}: {value}\n" for name, value in lines.items()) + "END\n"


def amperes_of(word: int) -> float:
    """The slow obvious decoder of one sample."""
    plain = ((word & 0x3FFF) * 4 - 8) * (1.8 / 163840 / OHMS[word >> 14 & 7])
    return GAIN * (plain * 1.0 + (0.001 * VOLTS + 0.0005))


def word_of(amperes: float, count: int) -> int:
    """The sample nearest to a current, in the range for amperes."""
    plain = amperes / GAIN - (0.001 * VOLTS + 0.0005)
    adc = round(plain * OHMS[RANGE] / ADC_VOLTS + 2)
    return max(adc, 0) | RANGE << 14 | (count & 63) << 18


class Kit:
    """Its end of the pseudo-terminal; `path` is where a client finds it.

    Parameters
    ----------
    watts
        What is drawn at a time of CLOCK_MONOTONIC, in W.
    skip
        Numbers of samples that get lost.
    """

    def __init__(
        self, watts: Callable[[int], float], *, skip: range = range(0), says: str | None = None
    ) -> None:
        self.watts, self.skip = watts, skip
        self.says = meta_data() if says is None else says
        self.commands = b""
        self.sent = 0
        self.running = False
        self._ours, theirs = pty.openpty()
        tty.setraw(theirs)
        self.path = os.ttyname(theirs)
        self._theirs = theirs
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def unplug(self) -> None:
        self._ended.set()
        self._thread.join()
        for each in (self._ours, self._theirs):
            with suppress(OSError):
                os.close(each)

    def _serve(self) -> None:
        began = time.monotonic_ns()
        while not self._ended.is_set():
            if select.select([self._ours], [], [], 0.002)[0]:
                for command in os.read(self._ours, 256):
                    self.commands += bytes([command])
                    if command == 0x19:
                        os.write(self._ours, self.says.encode())
                    elif command == 0x06:
                        self.running, self.sent, began = True, 0, time.monotonic_ns()
                    elif command == 0x07:
                        self.running = False
            if self.running:
                self._send(began, (time.monotonic_ns() - began) // PERIOD_NS)

    def _send(self, began: int, until: int) -> None:
        while self.sent < until and not self._ended.is_set():
            last = min(until, self.sent + 800)
            watts = self.watts(began + self.sent * PERIOD_NS)
            word = word_of(watts / VOLTS, 0)
            numbers = np.array([n for n in range(self.sent, last) if n not in self.skip], dtype=np.uint32)
            self._put((np.uint32(word) | (numbers & 63) << 18).astype("<u4").tobytes())
            self.sent = last

    def _put(self, part: bytes) -> None:
        while part and not self._ended.is_set():
            if select.select([], [self._ours], [], 0.05)[1]:
                part = part[os.write(self._ours, part) :]


@contextmanager
def plugged(kit: Kit) -> Iterator[Kit]:
    try:
        yield kit
    finally:
        kit.unplug()
