"""`ssdlab sim serve` as a process of its own."""

from __future__ import annotations

import json
import signal
import subprocess
from pathlib import Path
from typing import Any

DRIVE = "tiny-test,scale=4"


class Server:
    """A server that is running; `end` asks it to stop and returns its summary."""

    def __init__(
        self, command: str, folder: Path, *options: str, drive: str = DRIVE, socket: str = "drive.sock"
    ) -> None:
        self.socket = folder / socket
        where = () if "--tcp" in options else ("--socket", str(self.socket))
        words = [command, "sim", "serve", drive, *where, "--json", *options]
        pipes: Any = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        self.process = subprocess.Popen(words, cwd=folder, **pipes)
        self.uri = ""
        self.said: list[str] = []
        assert self.process.stderr
        for line in self.process.stderr:
            self.said.append(line)
            if line.startswith("serving "):
                self.uri = line.rpartition(" at ")[2].strip()
            # The last line before clients are waited for.
            if line.startswith("replies are sent") or (line.startswith("a null") and "--null" in options):
                break
        assert self.uri, "".join(self.said)

    @property
    def port(self) -> int:
        return int(self.uri.rstrip("/").rpartition(":")[2])

    def end(self, by: signal.Signals = signal.SIGTERM) -> dict[str, Any]:
        self.process.send_signal(by)
        out, rest = self.process.communicate(timeout=30)
        self.said.append(rest)
        assert self.process.returncode == 0, self.said
        record: dict[str, Any] = json.loads(out)
        assert record["schema"] == "ssdlab.serve/1"
        return record
