"""An NBD client that says whatever a test wants it to say, right or wrong. Fixed newstyle, simple replies."""

from __future__ import annotations

import socket
import struct
from pathlib import Path
from types import TracebackType
from typing import Self

READ, WRITE, DISCONNECT, FLUSH, TRIM, WRITE_ZEROES = 0, 1, 2, 3, 4, 6
FUA = 1 << 0
NO_HOLE = 1 << 1
GO = 7
REQUEST_MAGIC = 0x25609513
OPTION_MAGIC = b"IHAVEOPT"
_ACK = 1
_INFO = 3
_ABOUT_THE_EXPORT = 0
PATIENCE_S = 30.0
"""A server that is silent for so long is taken for dead."""


class NbdClient:
    """A connection; with `greet=False` nothing has been said yet."""

    def __init__(self, address: Path | int, *, greet: bool = True, patience_s: float = PATIENCE_S) -> None:
        if isinstance(address, int):
            self.socket = socket.create_connection(("127.0.0.1", address), patience_s)
        else:
            self.socket = socket.socket(socket.AF_UNIX)
            self.socket.settimeout(patience_s)
            self.socket.connect(str(address))
        self.size_bytes = 0
        if greet:
            self._greet()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.socket.close()

    def send(
        self,
        kind: int,
        offset: int,
        length: int,
        payload: bytes = b"",
        *,
        flags: int = 0,
        cookie: int = 0,
        magic: int = REQUEST_MAGIC,
    ) -> None:
        """Send a request without waiting for what comes of it."""
        self.socket.sendall(struct.pack(">IHHQQI", magic, flags, kind, cookie, offset, length) + payload)

    def send_rest(self, payload: bytes) -> None:
        """Send what is left of a request's data."""
        self.socket.sendall(payload)

    def reply(self) -> tuple[int, int]:
        """Take the next reply: its error (0 if none) and cookie."""
        magic, error, cookie = struct.unpack(">IIQ", self.take(16))
        assert magic == 0x67446698
        return error, cookie

    def ask(self, kind: int, offset: int, length: int, payload: bytes = b"", *, flags: int = 0) -> int:
        """Send a request that carries no data back, and return its error."""
        self.send(kind, offset, length, payload, flags=flags, cookie=offset ^ length)
        error, cookie = self.reply()
        assert cookie == offset ^ length
        return error

    def read(self, offset: int, length: int) -> bytes:
        assert self.ask(READ, offset, length) == 0
        return self.take(length)

    def write(self, offset: int, data: bytes, *, flags: int = 0) -> int:
        return self.ask(WRITE, offset, len(data), data, flags=flags)

    def take(self, length: int) -> bytes:
        """Take exactly so many bytes; EOFError when the server closes the connection instead."""
        data = b""
        while len(data) < length:
            try:
                part = self.socket.recv(length - len(data))
            except ConnectionResetError:
                part = b""
            if not part:
                raise EOFError
            data += part
        return data

    def is_closed(self) -> bool:
        """Wait for the server to say something or to close the connection, and say which."""
        try:
            self.take(1)
        except EOFError:
            return True
        return False

    def goodbye(self) -> None:
        self.send(DISCONNECT, 0, 0)
        assert self.is_closed()

    def _greet(self) -> None:
        assert self.take(18)[:16] == b"NBDMAGIC" + OPTION_MAGIC
        self.socket.sendall(struct.pack(">I", 0b11))
        # The empty name, and no piece of information asked for beyond what has to be told.
        self.socket.sendall(OPTION_MAGIC + struct.pack(">IIIH", GO, 6, 0, 0))
        while True:
            _, _, kind, length = struct.unpack(">QIII", self.take(20))
            data = self.take(length)
            if kind == _ACK:
                return
            assert kind == _INFO
            if data[:2] == struct.pack(">H", _ABOUT_THE_EXPORT):
                (self.size_bytes,) = struct.unpack(">Q", data[2:10])
