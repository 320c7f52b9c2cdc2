"""The few commands of QEMU's monitor (QMP) that the tests need, on its unix socket."""

from __future__ import annotations

import json
import socket
import time
from pathlib import Path
from typing import Any


class Monitor:
    """A connection to the monitor of one running QEMU."""

    def __init__(self, path: Path, patience_s: float = 10.0) -> None:
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.settimeout(patience_s)
        deadline = time.monotonic() + patience_s
        while True:
            try:
                self._socket.connect(str(path))
                break
            except OSError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.05)
        self._lines = self._socket.makefile("r")
        self._next()
        self.ask("qmp_capabilities")

    def ask(self, command: str, **arguments: Any) -> Any:
        """Send a command and return its answer; events that come first are passed over."""
        order = {"execute": command, **({"arguments": arguments} if arguments else {})}
        self._socket.sendall(json.dumps(order).encode() + b"\n")
        while True:
            answer = self._next()
            if "error" in answer:
                raise RuntimeError(f"{command}: {answer['error']}")
            if "return" in answer:
                return answer["return"]

    def close(self) -> None:
        self._lines.close()
        self._socket.close()

    def _next(self) -> dict[str, Any]:
        line = self._lines.readline()
        if not line:
            raise ConnectionError("QEMU ended")
        return json.loads(line)
