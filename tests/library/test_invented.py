"""The script that makes a library of invented runs: its runs are as ssdlab writes them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from ssdlab.cli import main

pytestmark = pytest.mark.long

SCRIPT = Path(__file__).parents[2] / "scripts" / "make_library.py"


def test_an_invented_library_can_be_asked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    subprocess.run([sys.executable, SCRIPT, tmp_path, "120"], check=True)
    place = ("--library", str(tmp_path), "--json")
    assert main(["library", "rebuild", *place]) == 0
    assert main(["library", "verify", *place]) == 0
    capsys.readouterr()
    assert main(["rank", "qd1_random_read_iops", *place, "--limit", "3"]) == 0
    assert len(json.loads(capsys.readouterr().out)["lines"]) == 3
