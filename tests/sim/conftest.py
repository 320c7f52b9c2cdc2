"""Servers of simulated drives."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from machine.nbd_server import DRIVE, Server


@pytest.fixture
def serve(command: str, tmp_path: Path) -> Iterator[Callable[..., Server]]:
    """Starts servers: ``serve(*options, drive=..., socket=...)``; what still runs at the end is killed."""
    started: list[Server] = []

    def start(*options: str, drive: str = DRIVE, socket: str = "drive.sock") -> Server:
        started.append(Server(command, tmp_path, *options, drive=drive, socket=socket))
        return started[-1]

    yield start
    for server in started:
        if server.process.poll() is None:
            server.process.kill()
            server.process.communicate()
