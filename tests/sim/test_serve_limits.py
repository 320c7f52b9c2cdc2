"""More clients than `ssdlab sim serve` has places for, with its own limits. Rust's tests have shorter."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

import pytest

from machine import nbd
from machine.nbd import NbdClient
from machine.nbd_server import Server

PLACES = 64
IDLE_S = 60.0
"""While others wait, nobody may be idle for longer."""
SERVED_BY_S = 65.0
KIB = 1 << 10


class Stall(NamedTuple):
    """A way to hold a place: whether the client agrees to the negotiation, and what it sends then."""

    name: str
    tcp: bool
    agrees: bool
    begins_write: bool


STALLS = (
    Stall("in the negotiation", tcp=False, agrees=False, begins_write=False),
    Stall("without a request", tcp=True, agrees=True, begins_write=False),
    Stall("without a request", tcp=False, agrees=True, begins_write=False),
    Stall("in the middle of data", tcp=True, agrees=True, begins_write=True),
    Stall("in the middle of data", tcp=False, agrees=True, begins_write=True),
)


def stalled(address: Path | int, stall: Stall) -> NbdClient:
    client = NbdClient(address, greet=stall.agrees)
    if not stall.agrees:
        client.take(18)
    if stall.begins_write:
        client.send(nbd.WRITE, 0, 64 * KIB, b"x" * KIB)
    return client


def one_more(server: Server, stall: Stall) -> tuple[float, float]:
    """Fill all places with such clients, and let one more come.

    Returns when it got its first answer, in seconds since it came and since the first of them did.
    """
    address = server.port if stall.tcp else server.socket
    with ExitStack() as held:
        began = time.monotonic()
        for _ in range(PLACES):
            held.enter_context(stalled(address, stall))
        came = time.monotonic()
        with NbdClient(address, patience_s=SERVED_BY_S) as late:
            assert late.read(0, 4 * KIB) == bytes(4 * KIB)
            served = time.monotonic()
    return served - came, served - began


@pytest.mark.slow
def test_one_more_than_there_are_places_for_is_served(serve: Callable[..., Server]) -> None:
    # At the same time, because all of them only wait.
    servers = [
        serve("--null", *(("--tcp", "0") if stall.tcp else ()), socket=f"{number}.sock")
        for number, stall in enumerate(STALLS)
    ]
    with ThreadPoolExecutor(len(STALLS)) as pool:
        times = list(pool.map(one_more, servers, STALLS))
    for server, stall, (waited_s, taken_s) in zip(servers, STALLS, times, strict=True):
        print(f"{stall.name}, {'TCP' if stall.tcp else 'unix'}: served after {waited_s:.1f} s")
        record = server.end()
        assert waited_s <= SERVED_BY_S, stall
        assert record["connections"] == PLACES + 1, stall
        assert record["turned_away"] == 0, stall
        if stall.agrees:
            assert taken_s >= IDLE_S, stall
            assert record["idle"] == 1, stall
            assert any("an idle client was dropped" in line for line in server.said), server.said
        else:
            # Each of them had ten seconds to agree, whether others wait or not.
            assert record["violations"] >= 1, stall
