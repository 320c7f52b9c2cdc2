"""Paths that the documents of 0.1 named: they still work, once more, and say where to import from."""

from __future__ import annotations

import importlib
import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

import ssdlab

OLD = {
    "ssdlab.errors": ("UsageError", "ssdlab.model.errors"),
    "ssdlab.measurement": ("read_ios", "ssdlab.model.measurement"),
    "ssdlab.results.outcome": ("PointsResult", "ssdlab.lab.points_result"),
    "ssdlab.workload": ("Open", "ssdlab.model.arrival"),
}


@pytest.mark.parametrize("path", OLD)
def test_an_old_path_gives_the_same_names_and_warns_at_the_line(path: str, tmp_path: Path) -> None:
    name, home = OLD[path]
    script = tmp_path / "script.py"
    script.write_text(
        f"import ssdlab\nfrom {path} import {name}\nimport {home}\nassert {home}.{name} is {name}\n"
    )
    done = subprocess.run(
        [sys.executable, "-W", "default", script], capture_output=True, text=True, check=True
    )
    assert f"{script}:2: DeprecationWarning: {path} goes with the next version of ssdlab" in done.stderr
    assert "import from ssdlab" in done.stderr


def test_the_module_stays_what_it_is() -> None:
    with pytest.warns(DeprecationWarning):
        old = importlib.import_module("ssdlab.workload")
    new = importlib.import_module("ssdlab.model.workload")
    assert old is new and new.__name__ == "ssdlab.model.workload"
    assert new.__spec__ is not None and new.__spec__.name == "ssdlab.model.workload"


def test_what_was_never_there_is_still_not_there() -> None:
    assert importlib.util.find_spec("ssdlab.nowhere") is None
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("ssdlab.nowhere")


def test_every_public_name_is_there() -> None:
    assert set(dir(ssdlab)) >= set(ssdlab.__all__)
    for name in ssdlab.__all__:
        assert getattr(ssdlab, name) is not None
