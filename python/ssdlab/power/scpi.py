"""Instruments that speak SCPI over TCP: power analysers, source meters, supplies, multimeters.

Each query and each answer is one line. The query for power is ``MEAS:POW?``. If `SYST:ERR?` reports that the
instrument does not know it, voltage and current are queried instead. Each given rail is a channel:
``rails=CH1+CH2`` appends ``(@1)`` and ``(@2)``.

Source: SCPI-99, volume 2 (MEASure, FETCh) and IEEE 488.2 (`*IDN?`).
"""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING

import numpy as np

from ssdlab.model.errors import Refused, UsageError, excerpt
from ssdlab.power.lines import Lines, address
from ssdlab.power.meter import POLL_HZ, Polled, Samples, silent

if TYPE_CHECKING:
    from ssdlab.model.meter_text import MeterText

PORT = 5025
_ERROR = re.compile(r"[+-]?\d+,\s*\"")
"""SCPI-99, 21.8: an error is a number, a comma, and text in quotes. Measured values have no quotes."""
_NO_NUMBER = 9.9e37
"""SCPI-99, 7.2.1: NaN is 9.91E37, infinity 9.9E37."""


class ScpiMeter(Polled):
    """An SCPI instrument, polled at the user's rate or at `POLL_HZ`.

    Parameters
    ----------
    text
        ``scpi:HOST:PORT``; the default port is 5025.

    Raises
    ------
    HostError
        The instrument does not answer.
    Refused
        The instrument measures neither power nor voltage and current.
    """

    def __init__(self, text: MeterText) -> None:
        self._use = text.use
        self._lines = Lines(text.use, address(text, PORT), b"\n")
        try:
            maker, model = (*self._ask("*IDN?").split(","), "", "")[:2]
            self._channels = tuple(_channel(name) for name in text.rails) or ("",)
            self._queries = self._known()
        except BaseException:
            self._lines.close()
            raise
        name = f"{maker.strip()} {model.strip()}".strip()
        self.describe(text, name, text.rails or ("power",), text.rate or POLL_HZ)

    def read(self, timeout_s: float) -> Samples:
        """Query each rail once; the time is the middle between first query and last answer."""
        del timeout_s
        began = time.monotonic_ns()
        watts = []
        for channel in self._channels:
            value = 1.0
            for query in self._queries:
                value *= self._number(f"{query}{channel}")
            watts.append(value)
        return Samples(np.array([(began + time.monotonic_ns()) // 2]), np.array([watts]))

    def close(self) -> None:
        self._lines.close()

    def _known(self) -> tuple[str, ...]:
        """Return the queries that the instrument knows and whose product is the power."""
        for queries in (("MEAS:POW?",), ("MEAS:VOLT?", "MEAS:CURR?")):
            self._ask("*CLS;*OPC?")
            for query in queries:
                self._lines.send(f"{query}{self._channels[0]}")
            error = self._error_after(len(queries))
            if int(error.partition(",")[0] or "1") == 0:
                return queries
        raise Refused(
            f"{self._use} measures neither power nor voltage and current: {excerpt(error)}",
            "find out which of its channels does, and name it: rails=CH1",
            meter=self._use,
        )

    def _error_after(self, answers: int) -> str:
        """Return the answer to `SYST:ERR?`, skipping the answers to earlier queries.

        An unknown query has no answer, so fewer than `answers` lines may come first.
        """
        self._lines.send("SYST:ERR?")
        for _ in range(answers + 1):
            line = self._line()
            if _ERROR.match(line):
                return line
        raise silent(self._use, f"SYST:ERR? was answered by {excerpt(line, 40)!r}")

    def _ask(self, query: str) -> str:
        self._lines.send(query)
        return self._line()

    def _line(self) -> str:
        return self._lines.until(b"\n").decode("ascii", "replace").strip()

    def _number(self, query: str) -> float:
        answer = self._ask(query)
        try:
            value = float(answer.split(",")[0])
        except ValueError:
            value = _NO_NUMBER
        if not abs(value) < _NO_NUMBER:
            raise silent(self._use, f"{query} was answered by {excerpt(answer, 40)!r}")
        return value


def _channel(rail: str) -> str:
    """Return the channel list for a rail's name: CH2 is ``(@2)``."""
    found = re.fullmatch(r"\D*(\d{1,3})", rail)
    if found is None:
        raise UsageError(
            f"rail {excerpt(rail)!r} is not a channel of an instrument", "name them by number: rails=CH1+CH2"
        )
    return f" (@{int(found[1])})"
