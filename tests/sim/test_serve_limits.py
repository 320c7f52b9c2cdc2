"""More clients than `ssdlab sim serve` has places for, with its own limits. Rust's tests have shorter."""

from __future__ import annotations

import errno
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import NamedTuple

import pytest

from machine import nbd
from machine.nbd import NbdClient
from machine.nbd_server import Server

MIB = 1 << 20
LARGEST = 32 * MIB
GREEDY = 30
UNANSWERED = 64 * MIB + LARGEST
"""Most that is done of one client's requests before it takes replies: the last may go beyond 64 MiB."""
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


def answered_s(client: NbdClient) -> float:
    """The median of some reads and writes: a busy host may keep one waiting by itself."""
    times = []
    for number in range(9):
        began = time.monotonic()
        assert client.write(number * MIB, b"x" * 4 * KIB) == 0
        client.read(number * MIB, 4 * KIB)
        times.append((time.monotonic() - began) / 2)
    return sorted(times)[4]


def ask_for_all(client: NbdClient, kind: int, length: int) -> None:
    """Ask for more than is ever read of one client, and take no reply."""
    client.socket.settimeout(0.2)
    with suppress(TimeoutError):
        for _ in range(2048):
            client.send(kind, 0, length)


@pytest.mark.parametrize(
    ("kind", "length"), [(nbd.READ, LARGEST), (nbd.WRITE_ZEROES, 2048 * MIB)], ids=["reads", "writes"]
)
def test_others_are_answered_beside_clients_that_ask_for_the_most(
    serve: Callable[..., Server], kind: int, length: int
) -> None:
    """Reads, and writes of zeroes that are no holes: both keep the drive at work."""
    server = serve("--memory", "64MiB")
    with ExitStack() as held:
        for _ in range(GREEDY):
            client = held.enter_context(NbdClient(server.socket))
            ask_for_all(client, kind, length) if kind == nbd.READ else client.send(
                kind, 0, length, flags=nbd.NO_HOLE
            )
        other = held.enter_context(NbdClient(server.socket))
        assert answered_s(other) < 1
        began = time.monotonic()
    # They have left, and what they asked for is not done any more.
    with NbdClient(server.socket) as late:
        assert answered_s(late) < 1
    record = server.end()
    assert time.monotonic() - began < 30
    if kind == nbd.READ:
        assert record["read_bytes"] <= GREEDY * UNANSWERED + MIB
    else:
        assert record["flash"]["host_bytes_written"] < GREEDY * length / 2


def test_data_on_its_way_takes_of_the_memory(serve: Callable[..., Server]) -> None:
    """64 MiB may come beside it; the rest is refused, and taken from the connection all the same."""
    server = serve("--memory", "64MiB", "--null")
    before = resident_bytes(server)
    with NbdClient(server.socket) as first:
        assert answered_s(first) < 1  # what lies there already takes no more
    with ExitStack() as held:
        clients = [held.enter_context(NbdClient(server.socket)) for _ in range(GREEDY)]
        for client in clients:
            client.send(nbd.WRITE, 0, LARGEST, b"x" * (LARGEST - KIB))
        assert resident_bytes(server) - before < 128 * MIB + GREEDY * 4 * MIB
        with NbdClient(server.socket) as other:
            assert answered_s(other) < 1
            assert other.write(0, b"y" * LARGEST) == errno.ENOSPC
        for client in clients:
            client.send_rest(b"x" * KIB)
        errors = [client.reply()[0] for client in clients]
        assert errors.count(0) <= 4 and set(errors) == {0, errno.ENOSPC}
    with NbdClient(server.socket) as late:
        for _ in range(2):
            # What is full is written again: its data has 64 MiB of its own.
            assert late.write(0, b"z" * LARGEST) == 0
            assert late.write(LARGEST, b"z" * LARGEST) == 0


def resident_bytes(server: Server) -> int:
    status = Path(f"/proc/{server.process.pid}/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0]) * KIB
