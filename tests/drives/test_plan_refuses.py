"""What `run` refuses before it begins, `plan` says beforehand: the same error, of drives of every kind."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ssdlab.cli import main

WORDS = (["--power-limit", "10W"], ["--lba-format", "4k"], ["--write-cache", "off"])
"""Of none of these drives can any of that be set."""


@pytest.fixture(autouse=True)
def own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


def told(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, dict[str, Any]]:
    capsys.readouterr()
    status = main([*words, "--json"])
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return status, found


def check_refused_alike(
    capsys: pytest.CaptureFixture[str], library: Path, name: str, words: list[str]
) -> dict[str, Any]:
    """Plan and run the same; returns what both say."""
    status, planned = told(capsys, "plan", name, *words)
    objection: dict[str, Any] = planned["objection"]
    assert status == 0
    assert objection is not None, (name, words)
    for more in ([], ["--dry-run"]):
        status, refused = told(capsys, "run", name, *words, *more, "--library", str(library))
        assert status == objection["exit_status"]
        # A dry run is one document, as the plan is.
        assert (refused["objection"] if more else refused) == objection, (name, words, more)
    assert not list(library.glob("2*"))
    return objection


@pytest.mark.machine  # loop and zram devices, asked for by their kind
@pytest.mark.parametrize("name", ["peak-random-read", "steady-random-write", "quick-look"])
@pytest.mark.parametrize("kind", ["loop", "zram", "file"])
def test_a_variant_that_a_drive_cannot_be(
    request: pytest.FixtureRequest,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    kind: str,
    name: str,
) -> None:
    made: dict[str, Callable[[], list[str]]] = {
        "loop": lambda: _device(request.getfixturevalue("loop")()),
        "zram": lambda: _device(request.getfixturevalue("make_zram")(64 << 20)),
        "file": lambda: [str(tmp_path / "scratch.img"), "--size", "64MiB"],
    }
    drive = made[kind]()
    for words in WORDS:
        objection = check_refused_alike(capsys, tmp_path / "runs", name, [*drive, *words])
        assert objection["error"] == "unsupported"
    assert not (tmp_path / "scratch.img").exists()


def _device(device: Path) -> list[str]:
    return [str(device), "--destroy", device.name]
