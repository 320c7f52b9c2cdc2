"""Runs of suites, each in a fork of this process: to start Python takes longer than most of them do."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ssdlab.host.programs import fixed_environment
from ssdlab.runs.suites import side_by_side

if TYPE_CHECKING:
    from machine.forked import Started


class Here:
    """What `side_by_side` uses of `subprocess`."""

    PIPE = subprocess.PIPE

    @staticmethod
    def Popen(words: Sequence[str], **_: Any) -> Started:
        from machine.forked import Started
        from ssdlab.runs.suites import worker

        given = list(words[words.index(worker.__name__) + 1 :])
        return Started(
            given, cwd=Path("/"), env=fixed_environment(), held=True, does=lambda: worker.main(given)
        )


def install() -> None:
    """Let suites in this process fork their runs; what it starts does as a user's command does."""
    side_by_side.subprocess = Here  # type: ignore[attr-defined, assignment]
