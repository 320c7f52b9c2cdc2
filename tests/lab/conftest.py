"""Runs to be damaged: made once for all files that damage copies of them."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from lab.damaged import UNSEALED, DamagedRun, make_runs
from ssdlab.results import finishing


@pytest.fixture
def as_a_program(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have tables written by a program, as users do."""
    monkeypatch.setattr(finishing, "subprocess", subprocess)


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A finished run, a saved measurement and a run that was killed after three of its steps."""
    return make_runs(tmp_path_factory.mktemp("made"))


@pytest.fixture
def make_damaged(
    made: dict[str, Path], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> Callable[[str], DamagedRun]:
    def get(which: str, place: str = "copy") -> DamagedRun:
        run = made.get(which) or UNSEALED / which.removeprefix("unsealed ")
        return DamagedRun(run, tmp_path / place, capfd)

    return get
