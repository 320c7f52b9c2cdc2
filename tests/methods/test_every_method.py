"""Every method as a user runs it: planned, run with `--quick`, on a simulated drive and on a file."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from methods.inside_plan import check_inside
from ssdlab.lab.folders import REGISTRY, is_figure
from ssdlab.lab.found import find_method

pytestmark = pytest.mark.slow

SIZE = "64MiB"


def ssdlab(*words: str) -> dict[str, Any]:
    """Run a command line in a process of its own, and return the JSON that it prints."""
    line = [sys.executable, "-m", "ssdlab", *words, "--json"]
    done = subprocess.run(line, check=False, capture_output=True, text=True)
    assert done.returncode == 0, (words, done.stdout[-500:], done.stderr[-2000:])
    told: dict[str, Any] = json.loads(done.stdout)
    return told


@pytest.mark.parametrize("name", REGISTRY)
def test_quick_on_a_simulated_drive(tmp_path: Path, name: str) -> None:
    words = (name, "sim:tiny-test", "--quick")
    plan = ssdlab("plan", *words)
    run = ssdlab("run", *words, "--library", str(tmp_path), "--seed", "1")
    assert run["status"] == "finished"
    assert run["result"]["quick"] is True
    assert all(is_figure(one["name"], REGISTRY[name].figures) for one in run["result"]["scalars"])
    check_inside(plan, run)


@pytest.mark.parametrize("name", [name for name in REGISTRY if not find_method(name).asks_drive])
def test_quick_on_a_file(tmp_path: Path, name: str) -> None:
    words = (name, str(tmp_path / "scratch.img"), "--size", SIZE, "--quick")
    plan = ssdlab("plan", *words)
    assert list(tmp_path.iterdir()) == []
    began = time.monotonic()
    run = ssdlab("run", *words, "--library", str(tmp_path / "library"))
    took_s = time.monotonic() - began
    assert run["status"] == "finished"
    lower, upper = plan["seconds"]
    assert lower <= took_s <= upper
    check_inside(plan, run)
