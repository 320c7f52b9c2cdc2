"""A read-only client for Nordic's Power Profiler Kit II (PPK2) in a drive's supply.

The kit is a serial device (CDC ACM) without framing. The client sends three commands: Get Meta Data (19h),
Average Start (06h) and Average Stop (07h). The answer to the first is text with the calibration, up to
``END``. The client never changes mode, voltage or switch, which would cut the drive's power.

The kit streams 100,000 samples a second, each a little-endian word of four bytes: 14 bits of ADC value, 3 of
its range, one unused, 6 of a loss counter, 8 of logic inputs. It measures only current, so the user gives the
supply voltage: ``ppk2:/dev/ttyACM0@5V``.

Source: Nordic's nRF Connect Power Profiler (pc-nrfconnect-ppk, its serial device). Its spike filter at range
changes is left out, because it shifts energy in time.
"""

from __future__ import annotations

import os
import re
import select
import termios
import time
import tty
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Self

import numpy as np

from ssdlab.model.closing import Closing
from ssdlab.model.errors import HostError, UsageError
from ssdlab.power.lines import DeviceClock
from ssdlab.power.meter import MeterInfo, Samples, chosen_rails, silent

if TYPE_CHECKING:
    from collections.abc import Callable

    from ssdlab.analysis.energy import Array
    from ssdlab.model.meter_text import MeterText

RATE_HZ = 100_000
_PERIOD_NS = 1_000_000_000 // RATE_HZ
_RANGES = 5
_OHMS = (1031.64, 101.65, 10.15, 0.94, 0.043)
"""Shunt resistors of the ranges, for a kit whose metadata lacks them."""
_ADC_VOLTS = 4 * 1.8 / 163840
"""Volts per step of the ADC."""
_META_DATA, _START, _STOP = b"\x19", b"\x06", b"\x07"
_COUNTS = 64
_ANSWER_S = 2.0
_QUIET_S = 0.1
"""Wait after stopping a stream, until samples in transit have arrived."""
_ASK_S = 0.1
"""Samples that arrive within this time are decoded together."""
_BOUND_NS = 20_000_000
"""Bound of the clock's offset, as the delay over USB is taken as zero. It is about 1 ms, and more on a busy
host."""
_MAX_BYTES = 1 << 16
_PLACE = re.compile(r"(/.+)@(\d{1,2}(?:\.\d{1,4})?)V")


class Calibration:
    """The conversion of ADC values to amperes, for each of five ranges.

    Parameters
    ----------
    values
        A kit's metadata by name and range: ``R0`` to ``R4``, and likewise GS, GI, O, S, I and UG.
    """

    def __init__(self, values: dict[str, float]) -> None:
        def row(name: str, otherwise: float) -> Array:
            return np.array([values.get(f"{name}{number}", otherwise) for number in range(_RANGES)])

        known = row("R", 0.0)
        self._volts_to_amperes = _ADC_VOLTS / np.where(known > 0, known, _OHMS)
        self._offset, self._user = row("O", 0.0) / 4, row("UG", 1.0)
        self._square, self._gain = row("GS", 1.0), row("GI", 1.0)
        self._slope, self._shift = row("S", 0.0), row("I", 0.0)

    @classmethod
    def parse(cls, text: str) -> Self:
        """Return the calibration from a kit's metadata, lines of ``name: value``.

        Raises
        ------
        ValueError
            There is no calibration, or a value is not a finite number.
        """
        found = re.findall(r"^(R|GS|GI|O|S|I|UG)([0-4]): *(\S+)\s*$", text, re.MULTILINE)
        values = {name + number: float(value) for name, number, value in found}
        if "R0" not in values or not all(np.isfinite(value) for value in values.values()):
            raise ValueError("no calibration in its metadata")
        return cls(values)

    def amperes(self, words: Array, volts: float) -> Array:
        """Return the current in A of raw samples, shape (n,), at a supply voltage."""
        ranges = np.minimum(words >> 14 & 7, _RANGES - 1)
        plain = ((words & 0x3FFF) - self._offset[ranges]) * self._volts_to_amperes[ranges]
        curved = plain * (self._square[ranges] * plain + self._gain[ranges])
        found: Array = self._user[ranges] * (curved + self._slope[ranges] * volts + self._shift[ranges])
        return found


class Ppk2Meter(Closing):
    """A PPK2 that streams samples.

    Parameters
    ----------
    text
        ``ppk2:`` with the serial device and the volts of the supply: ``ppk2:/dev/ttyACM0@5V``.

    Raises
    ------
    UsageError
        The text lacks device or volts.
    HostError
        The device cannot be opened, or does not answer as a PPK2.
    """

    def __init__(self, text: MeterText) -> None:
        place = _PLACE.fullmatch(text.place)
        if place is None or not 0 < float(place[2]) <= 12:
            raise UsageError(
                f"{text.use} lacks the device or the supply voltage",
                "give it as ppk2:/dev/ttyACM0@5V",
            )
        chosen_rails(text, ("DUT",))
        self._use, self._volts = text.use, float(place[2])
        self._clock = DeviceClock()
        self._held, self._count, self._last = b"", 0, -1
        self._port, self._put_back = _opened(text.use, place[1])
        try:
            self._calibration = self._begin()
        except BaseException:
            self.close()
            raise
        self._asked = time.monotonic()
        self._info = MeterInfo(
            use=text.use,
            name="Nordic PPK2",
            rails=("DUT",),
            rate_hz=float(RATE_HZ),
            streamed=True,
            bound_ns=_BOUND_NS,
        ).as_described(text)

    @property
    def info(self) -> MeterInfo:
        return self._info

    @property
    def drift_ppm(self) -> float:
        """Drift of the kit's clock against the host's; the kit's clock is its count of samples."""
        return self._clock.drift_ppm

    def read(self, timeout_s: float) -> Samples:
        """Return the samples of about 0.1 s, waiting for at most `timeout_s`."""
        limit = time.monotonic() + timeout_s
        due = min(self._asked + _ASK_S, limit)
        came_ns = time.monotonic_ns()
        while (left := due - time.monotonic()) > 0 or (len(self._held) < 4 and time.monotonic() < limit):
            if self._receive(max(left, 0.001)):
                came_ns = time.monotonic_ns()
        self._asked = time.monotonic()
        whole = len(self._held) // 4 * 4
        words = np.frombuffer(self._held[:whole], dtype="<u4")
        self._held = self._held[whole:]
        if not len(words):
            return Samples(np.empty(0, dtype=np.int64), np.empty((0, 1)))
        counters = (words >> 18 & (_COUNTS - 1)).astype(np.int64)
        steps = np.diff(counters, prepend=self._last if self._last >= 0 else counters[0] - 1) % _COUNTS
        steps[steps == 0] = _COUNTS
        numbers = self._count + np.cumsum(steps)
        self._count, self._last = int(numbers[-1]), int(counters[-1])
        offset_ns = self._clock.put(self._count * _PERIOD_NS, came_ns)
        watts = self._calibration.amperes(words, self._volts) * self._volts
        return Samples(numbers * _PERIOD_NS + offset_ns, watts[:, None], int(steps.sum()) - len(words))

    def close(self) -> None:
        """Stop the stream and close the device; the kit's switch stays closed."""
        with suppress(HostError):  # the device is closed in any case
            self._send(_STOP)
        with suppress(termios.error):
            self._put_back()
        os.close(self._port)

    def _begin(self) -> Calibration:
        self._send(_STOP)  # an earlier program may have left the stream running
        time.sleep(_QUIET_S)
        with suppress(termios.error):
            termios.tcflush(self._port, termios.TCIFLUSH)
        self._send(_META_DATA)
        limit = time.monotonic() + _ANSWER_S
        while b"END" not in self._held:
            if time.monotonic() > limit or len(self._held) > _MAX_BYTES:
                raise silent(self._use, "it does not identify itself as a PPK2")
            self._receive(0.1)
        try:
            calibration = Calibration.parse(self._held.decode("ascii", "replace"))
        except ValueError as error:
            raise silent(self._use, str(error)) from error
        self._held = b""
        self._send(_START)
        return calibration

    def _send(self, command: bytes) -> None:
        try:
            os.write(self._port, command)
        except OSError as error:
            raise silent(self._use, error.strerror or str(error)) from error

    def _receive(self, seconds: float) -> bool:
        """Read input for at most `seconds`; return False if nothing came."""
        if not select.select([self._port], [], [], seconds)[0]:
            return False
        try:
            part = os.read(self._port, _MAX_BYTES)
        except BlockingIOError:
            return False
        except OSError as error:
            raise silent(self._use, error.strerror or str(error)) from error
        if not part:
            raise silent(self._use, "it was unplugged")
        self._held += part
        return True


def _opened(use: str, path: str) -> tuple[int, Callable[[], None]]:
    """Open a serial device in raw mode; return it with a function that restores its mode."""
    try:
        port = os.open(path, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise silent(use, error.strerror or str(error)) from error
    try:
        before = termios.tcgetattr(port)
        tty.setraw(port)
    except termios.error as error:
        os.close(port)
        raise silent(use, f"{path} is not a serial device") from error
    return port, partial(termios.tcsetattr, port, termios.TCSANOW, before)
