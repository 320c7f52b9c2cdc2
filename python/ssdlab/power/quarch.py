"""A minimal client for Quarch power modules, through Quarch's server QIS.

Commands end in CRLF, answers in CRLF and ``>``. A command to a module begins with the module's name. The
client uses these commands:

* ``$list`` lists the modules.
* ``rec stream`` and ``rec stop`` start and stop a stream; ``stream?`` returns its state.
* ``stream text header`` returns XML: the period, and name, group and units of each channel.
* ``stream text all`` returns a line for each buffered sample, then ``eof``. A line has the sample's time in
  the period's unit, and a value for each channel.

The protocol follows Quarch's own client, quarchpy 2.2. That client also reads all samples from the server
that the tests use.
"""

from __future__ import annotations

import re
import time
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple
from xml.etree import ElementTree

import numpy as np

from ssdlab.model.closing import Closing
from ssdlab.model.errors import HostError, Refused, UsageError, excerpt
from ssdlab.power.lines import DeviceClock, Lines, address
from ssdlab.power.meter import MeterInfo, Samples, in_order, silent
from ssdlab.power.rails import AMOUNTS, Column, rails_of

if TYPE_CHECKING:
    from ssdlab.analysis.energy import Array
    from ssdlab.model.meter_text import MeterText

PORT = 9722
_ASK_S = 0.1
"""Interval between two requests for samples."""
_BOUND_NS = 20_000_000
"""Bound of the clock's offset, ten times the delay of a slow network, as the minimum delay is taken as
zero."""
_HEADER_S = 3.0
"""Timeout for the first header, which exists once the module streams."""
_TIMES = {"ns": 1, "us": 1000, "ms": 1_000_000, "s": 1_000_000_000}
_UNITS = {unit.lower(): amount for unit, amount in AMOUNTS.items()}


class Header(NamedTuple):
    period_ns: int
    tick_ns: int
    """Unit of the samples' times, in ns."""
    columns: int
    amounts: tuple[Column, ...]


def parse_header(text: str) -> Header:
    """Parse the XML of ``stream text header``.

    Raises
    ------
    ValueError
        The text is not XML, states no period, or has a document type.
    """
    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        raise ValueError("a header has no document type")
    try:
        root = ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        raise ValueError(f"not XML: {error}") from error
    stated = next(
        (
            found
            for name in ("devicePeriod", "devicePerioduS", "mainPeriod")
            if (found := root.findtext(f".//{name}"))
        ),
        "",
    )
    period = re.fullmatch(r"(\d+)\s*([nuµm]?[sS])?", stated.strip())
    if period is None or not int(period[1]):
        raise ValueError(f"no period: {stated!r}")
    tick_ns = _TIMES[(period[2] or "us").lower().replace("µ", "u")]
    channels = [each for each in root.iterfind(".//channels/*") if each.find("name") is not None]
    amounts = []
    for at, channel in enumerate(channels, start=1):
        unit, name = ((channel.findtext(each) or "").strip() for each in ("units", "name"))
        if (amount := _UNITS.get(unit.lower())) is not None:
            amounts.append(Column(at, name, *amount, f"{name} [{unit}]"))
    return Header(int(period[1]) * tick_ns, tick_ns, len(channels) + 1, tuple(amounts))


class QuarchMeter(Closing):
    """A Quarch module that streams samples through QIS.

    Parameters
    ----------
    text
        ``quarch:HOST:PORT`` of QIS, and ``/MODULE`` if it has several: ``quarch:lab:9722/TCP:QTL1999``.

    Raises
    ------
    UsageError
        QIS has no such module, or several and none is named.
    HostError
        QIS or the module does not answer.
    Refused
        The module streams no rail.
    """

    def __init__(self, text: MeterText) -> None:
        self._use = text.use
        place, slash, module = text.place.partition("/")
        plain = text.model_copy(update={"use": f"{text.kind}:{place}"})
        self._lines = Lines(text.use, address(plain, PORT), b"\r\n")
        self._clock = DeviceClock()
        self._asked = 0.0
        self._latest: int | None = None
        self._module = ""
        try:
            self._lines.until(b">")  # the greeting of QIS
            self._module = self._found(module if slash else None)
            self._begin()
            header = self._header()
            self._rails = rails_of(text, header.amounts, of_one_drive=True).rails
        except BaseException:
            self.close()
            raise
        self._stream = header
        self._info = MeterInfo(
            use=text.use,
            name=f"Quarch {self._module}",
            rails=tuple(rail.name for rail in self._rails),
            rate_hz=1e9 / header.period_ns,
            streamed=True,
            bound_ns=_BOUND_NS,
        ).as_described(text)

    @property
    def info(self) -> MeterInfo:
        return self._info

    @property
    def drift_ppm(self) -> float:
        return self._clock.drift_ppm

    def read(self, timeout_s: float) -> Samples:
        """Return all samples that QIS has buffered."""
        time.sleep(max(min(self._asked + _ASK_S - time.monotonic(), timeout_s), 0))
        self._asked = time.monotonic()
        text = self._ask("stream text all")
        came_ns = time.monotonic_ns()
        end = text.rfind("eof")  # searched from the end, as the text may be long
        values = self._numbers(text if end < 0 else text[:end])
        if not len(values):
            self._check_running()
            return Samples(np.empty(0, dtype=np.int64), np.empty((0, len(self._rails))))
        device_ns = values[:, 0].astype(np.int64) * self._stream.tick_ns
        kept = in_order(device_ns, self._latest)
        disordered = len(kept) - int(kept.sum())
        if disordered == len(kept):
            return Samples(np.empty(0, dtype=np.int64), np.empty((0, len(self._rails))), 0, disordered)
        if disordered:
            device_ns, values = device_ns[kept], values[kept]
        lost = self._lost(device_ns)
        offset = self._clock.put(int(device_ns[-1]), came_ns)
        watts = np.stack([rail.watts(values) for rail in self._rails], axis=1)
        return Samples(device_ns + offset, watts, lost, disordered)

    def close(self) -> None:
        with suppress(HostError):  # the connection is closed in any case
            if self._module:
                self._ask("rec stop")
        self._lines.close()

    def _ask(self, command: str, *, of_server: bool = False) -> str:
        self._lines.send(command if of_server else f"{self._module} {command}")
        return self._lines.until(b"\r\n>").decode("ascii", "replace")

    def _found(self, wanted: str | None) -> str:
        """Return the wanted module, or the only one that QIS lists."""
        listed = [
            re.sub(r"^\d+\)\s*", "", line).strip() for line in self._ask("$list", of_server=True).splitlines()
        ]
        modules = [each for each in listed if each and "no devices" not in each.lower()]
        fitting = modules if wanted is None else [each for each in modules if each == wanted]
        if len(fitting) != 1:
            known = ", ".join(modules) or "none"
            raise UsageError(
                f"{self._use} is a server with {len(modules)} modules, and "
                f"{'none is named' if wanted is None else f'none is named {wanted!r}'}",
                f"name one after a slash: {known}",
                meter=self._use,
            )
        return fitting[0]

    def _begin(self) -> None:
        answer = self._ask("rec stream")
        if "OK" not in answer:
            raise silent(self._use, f"rec stream was answered by {excerpt(answer, 60)!r}")

    def _header(self) -> Header:
        limit = time.monotonic() + _HEADER_S
        while True:
            answer = self._ask("stream text header")
            try:
                header = parse_header(answer.strip())
                break
            except ValueError as error:
                if time.monotonic() > limit:
                    raise silent(self._use, f"its header is invalid: {error}") from error
                time.sleep(_ASK_S)
        if not header.amounts:
            raise Refused(f"{self._use} streams no rail", "enable its voltage and current, or its power")
        return header

    def _numbers(self, body: str) -> Array:
        # Parsing whole numbers takes a quarter of the time of others: 1.2 % of a core at 100 kS/s.
        kind = np.float64 if "." in body else np.int64
        values = np.fromstring(body, sep=" ", dtype=kind) if body.strip() else np.empty(0)
        columns = self._stream.columns
        if len(values) % columns:
            raise silent(self._use, f"a line of its stream does not have {columns} values")
        return values.reshape(-1, columns)

    def _lost(self, device_ns: Array) -> int:
        """Return how many samples are missing since the last sample of the previous block."""
        before = self._latest
        self._latest = int(device_ns[-1])
        from_ns = int(device_ns[0]) - self._stream.period_ns if before is None else before
        due = (self._latest - from_ns) // self._stream.period_ns
        return max(due - len(device_ns), 0)

    def _check_running(self) -> None:
        state = self._ask("stream?").lower()
        if "running" not in state:
            raise silent(self._use, f"its stream ended: {excerpt(state.strip(), 60)}")
