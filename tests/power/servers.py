"""Instruments on loopback: a socket that speaks SCPI, and QIS with one module. Their watts are a function.

Written from SCPI-99 and from how quarchpy talks to QIS; no hardware was at hand.
"""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

Watts = Callable[[int], float]
"""Power at a time of CLOCK_MONOTONIC, in W."""
VOLTS = 12.0


class Server:
    """Answers lines, one connection after another, in a thread of its own."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.silent = False
        """Answers nothing more."""
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port = self._listening.getsockname()[1]
        self._held: list[socket.socket] = []
        threading.Thread(target=self._serve, daemon=True).start()

    def close(self) -> None:
        with suppress(OSError):
            self._listening.shutdown(socket.SHUT_RDWR)  # wakes who waits in accept
        self._listening.close()
        self.hang_up()

    def hang_up(self) -> None:
        """Break every connection off."""
        for each in self._held:
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()
        self._held.clear()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._listening.accept()
            except OSError:
                return
            self._held.append(connection)
            threading.Thread(target=self._talk, args=(connection,), daemon=True).start()

    def _talk(self, connection: socket.socket) -> None:
        try:
            connection.sendall(self.welcome())
            for line in connection.makefile("rb"):
                self.asked.append(line.decode().strip())
                answer = self.answer(self.asked[-1])
                if answer and not self.silent:
                    connection.sendall(answer)
        except OSError:
            return

    def welcome(self) -> bytes:
        return b""

    def answer(self, line: str) -> bytes:
        raise NotImplementedError


class Scpi(Server):
    """An instrument with power, or with voltage and current alone."""

    def __init__(self, watts: Watts, *, power: bool = True, bare: bool = False) -> None:
        self.watts, self.power, self.bare = watts, power, bare
        self.error = '0,"No error"'
        super().__init__()

    def answer(self, line: str) -> bytes:
        found = "\n".join(filter(None, (self._one(each.strip()) for each in line.split(";"))))
        return found.encode() + b"\n" if found else b""

    def _one(self, query: str) -> str:
        head, _, channel = query.partition(" ")
        share = {"(@1)": 0.75, "(@2)": 0.25}.get(channel, 1.0)
        watts = self.watts(time.monotonic_ns()) * share
        known = {"*IDN?": "Acme,PA9000,1234,1.0", "*OPC?": "1", "SYST:ERR?": self.error}
        if query in known:
            return known[query]
        if query == "*CLS":
            self.error = '0,"No error"'
        elif head == "MEAS:POW?" and self.power:
            return f"{watts:.7E}"
        elif head == "MEAS:VOLT?" and not self.bare:
            return f"{VOLTS:.4E}"
        elif head == "MEAS:CURR?" and not self.bare:
            return f"{watts / VOLTS:.8E}"
        else:
            self.error = '-113,"Undefined header"'
        return ""


HEADER = """<?xml version="1.0" encoding="UTF-8"?>
<header><version>V3</version><devicePeriod>{period}</devicePeriod><channels>
<channel><group>voltage</group><name>12V</name><units>mV</units><maxTValue>16383</maxTValue></channel>
<channel><group>current</group><name>12V</name><units>uA</units><maxTValue>16383</maxTValue></channel>
<channel><group>voltage</group><name>5V</name><units>mV</units><maxTValue>16383</maxTValue></channel>
<channel><group>current</group><name>5V</name><units>uA</units><maxTValue>16383</maxTValue></channel>
</channels></header>"""
MODULE = "TCP:QTL1999-05-005"


class Qis(Server):
    """QIS with a module that streams: 12 V takes three quarters of the watts, 5 V the rest.

    Parameters
    ----------
    watts
        What the drive draws.
    period_us
        Between samples.
    skip
        Numbers of samples that are lost.
    drift_ppm
        How much too fast the module's clock is.
    """

    def __init__(
        self, watts: Watts, *, period_us: int = 100, skip: range = range(0), drift_ppm: float = 0.0
    ) -> None:
        self.watts, self.period_us, self.skip, self.drift_ppm = watts, period_us, skip, drift_ppm
        self.swapped = range(0)
        """Numbers of samples that come after the one that follows them."""
        self.began = 0
        self.sent = 0
        self.running = False
        self.modules = [MODULE]
        super().__init__()

    def welcome(self) -> bytes:
        return b"QIS v1.43\r\n>"

    def answer(self, line: str) -> bytes:
        return self._text(line.removeprefix(f"{MODULE} ")).encode() + b"\r\n>"

    def _text(self, command: str) -> str:
        if command == "$list":
            return "\r\n".join(f"{at}) {name}" for at, name in enumerate(self.modules, start=1))
        if command == "rec stream":
            self.began, self.sent, self.running = time.monotonic_ns(), 0, True
            return "OK"
        if command == "rec stop":
            self.running = False
            return "OK"
        if command in ("stream?", "rec stream?"):
            return "Running\r\nStripes Buffered: 0" if self.running else "Stopped\r\nStripes Buffered: 0"
        if command == "stream text header":
            return HEADER.format(period=f"{self.period_us}uS") if self.began else "Header Not Available"
        if command == "stream text all":
            return self._stripes()
        return "FAIL: 0x01 -Command not recognised"

    def _stripes(self) -> str:
        period_ns = self.period_us * 1000
        passed = (time.monotonic_ns() - self.began) * (1 + self.drift_ppm / 1e6)
        until = int(passed // period_ns) if self.running else self.sent
        lines = []
        for number in range(self.sent, until):
            if number not in self.skip:
                watts = self.watts(self.began + round(number * period_ns / (1 + self.drift_ppm / 1e6)))
                micro = [round(watts * 0.75 / 12 * 1e6), round(watts * 0.25 / 5 * 1e6)]
                lines.append(f"{number * self.period_us} 12000 {micro[0]} 5000 {micro[1]}")
        for number in self.swapped:
            at = number - self.sent
            if 0 <= at < len(lines) - 1:
                lines[at], lines[at + 1] = lines[at + 1], lines[at]
        self.sent = until
        return "\r\n".join([*lines, "eof"])


@contextmanager
def serving(server: Server) -> Iterator[Server]:
    try:
        yield server
    finally:
        server.close()
