"""Tables of finished runs, written in this process: to start Python takes longer than most runs."""

from __future__ import annotations

import io
import os
import subprocess
from collections.abc import Sequence
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

from ssdlab.results import finishing


class Here:
    """What `finishing` uses of `subprocess`."""

    DEVNULL = subprocess.DEVNULL

    @staticmethod
    def run(words: Sequence[str], **_: Any) -> subprocess.CompletedProcess[str]:
        from ssdlab.results import compaction

        with redirect_stdout(io.StringIO()) as out:
            status = compaction.main(os.dup(int(words[-2])), Path(words[-1]))
        return subprocess.CompletedProcess(words, status, out.getvalue(), "")


def install() -> None:
    """Let runs in this process have their tables from it; what it starts does as a user's command does."""
    finishing.subprocess = Here  # type: ignore[attr-defined]
