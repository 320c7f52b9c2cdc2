"""A TCP connection to an instrument with a line protocol, and a mapping of the instrument's clock."""

from __future__ import annotations

import re
import socket
import time
from collections import deque
from typing import TYPE_CHECKING

from ssdlab.model.closing import Closing
from ssdlab.model.errors import UsageError
from ssdlab.power.meter import silent

if TYPE_CHECKING:
    from ssdlab.model.meter_text import MeterText

ANSWER_S = 2.0
"""Timeout for an answer. Integrating over 0.1 s takes far less, and so does a network."""
_MAX_BYTES = 1 << 24
"""Maximum size of one answer. A larger one has lost its line end."""


def address(text: MeterText, port: int) -> tuple[str, int]:
    """Return host and port of ``KIND:HOST`` or ``KIND:HOST:PORT``; an IPv6 address is in brackets.

    Raises
    ------
    UsageError
        The text has no valid host and port.
    """
    found = re.fullmatch(r"(?:\[([0-9a-fA-F:.]+)\]|([^:\[\]/]+))(?::(\d{1,5}))?", text.place)
    if found is None or not 0 < (number := int(found[3] or port)) < 65536:
        raise UsageError(f"{text.use} does not name a host", f"give it as {text.kind}:192.168.1.5:{port}")
    return found[1] or found[2], number


class Lines(Closing):
    """A TCP connection to an instrument; its errors are `HostError`s that name the meter.

    Parameters
    ----------
    use
        The meter as given by the user, for errors.
    place
        Host and port.
    end
        Line end to append to each sent line.
    """

    def __init__(self, use: str, place: tuple[str, int], end: bytes) -> None:
        self._use, self._end = use, end
        self._held = b""
        try:
            self._socket = socket.create_connection(place, timeout=ANSWER_S)
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        except OSError as error:
            raise silent(use, error.strerror or str(error)) from error

    def send(self, line: str) -> None:
        try:
            self._socket.sendall(line.encode() + self._end)
        except OSError as error:
            raise silent(self._use, error.strerror or str(error)) from error

    def until(self, mark: bytes, seconds: float = ANSWER_S) -> bytes:
        """Return the input up to a mark; later input is kept for the next call.

        Raises
        ------
        HostError
            The mark does not come in time.
        """
        limit = time.monotonic() + seconds
        searched = 0
        while (at := self._held.find(mark, searched)) < 0:
            searched = max(len(self._held) - len(mark) + 1, 0)
            self._receive(limit - time.monotonic())
            if len(self._held) > _MAX_BYTES:
                raise silent(self._use, f"over {_MAX_BYTES >> 20} MiB came without a line end")
        found, self._held = self._held[:at], self._held[at + len(mark) :]
        return found

    def _receive(self, seconds: float) -> None:
        try:
            self._socket.settimeout(max(seconds, 0.001))
            part = self._socket.recv(1 << 18)
        except TimeoutError as error:
            raise silent(self._use, "no answer in time") from error
        except OSError as error:
            raise silent(self._use, error.strerror or str(error)) from error
        if not part:
            raise silent(self._use, "it closed the connection")
        self._held += part

    def close(self) -> None:
        self._socket.close()


_BLOCKS = 64
"""Number of blocks over which the minimum delay is taken. At ten a second, a clock that is 100 ppm off moves
0.64 ms in that time."""


class DeviceClock:
    """Maps times of a meter's clock to CLOCK_MONOTONIC, by the arrival time of each block of samples.

    The smallest network delay cannot be told from an offset and stays in the result, about 0.1 ms on a cable.
    """

    def __init__(self) -> None:
        self._delays: deque[int] = deque(maxlen=_BLOCKS)
        self._first: tuple[int, int] | None = None
        self._offset_ns = 0
        self.drift_ppm = 0.0
        """Drift against the host's clock over all blocks so far; 0 before `_BLOCKS` blocks."""

    def put(self, latest_ns: int, came_ns: int) -> int:
        """Note when a block arrived, and return the offset in ns to add to its times.

        `latest_ns` is the time of the block's last sample by the meter's clock, `came_ns` its arrival by the
        host's.
        """
        self._delays.append(came_ns - latest_ns)
        self._offset_ns = min(self._delays)
        if len(self._delays) == _BLOCKS:
            if self._first is None:
                self._first = (latest_ns, self._offset_ns)
            elif latest_ns > self._first[0]:
                moved = self._offset_ns - self._first[1]
                self.drift_ppm = moved / (latest_ns - self._first[0]) * 1e6
        return self._offset_ns
