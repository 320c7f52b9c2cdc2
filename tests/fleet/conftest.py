"""A library, simulated drives with serials, and a Slurm of the test's own."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from conftest import need_root
from fleet.slurm_cluster import PROGRAMS, Cluster
from machine import forked

DRIVE = "sim:tiny-test,scale=4"


@pytest.fixture
def library(tmp_path: Path) -> Path:
    return tmp_path / "library"


@pytest.fixture
def ssdlab(tmp_path: Path, library: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run a command of the fleet in a folder of its own; `text` of a selection is written first."""

    def run(
        *words: str, environment: dict[str, str] | None = None, host: str = "n1"
    ) -> subprocess.CompletedProcess[str]:
        named = {"SLURMD_NODENAME": host, **(environment or dict(os.environ))}
        if "PYTHONPATH" not in named:
            return forked.run(words, cwd=tmp_path, env=named)
        # What is there may change Python as it starts.
        command = [sys.executable, "-m", "ssdlab", *words]
        return subprocess.run(
            command, cwd=tmp_path, env=named, capture_output=True, text=True, timeout=300, check=False
        )

    return run


@pytest.fixture
def make_plan(
    tmp_path: Path, library: Path, ssdlab: Callable[..., subprocess.CompletedProcess[str]]
) -> Callable[..., Path]:
    """Take inventories and make a plan: ``make_plan(selection, n1=["A1"], n2=["A2"])`` gives its file."""

    def make(selection: str, drive: str = DRIVE, **hosts: list[str]) -> Path:
        for host, serials in hosts.items():
            words = [word for serial in serials for word in ("--simulated", f"{drive},serial={serial}")]
            done = ssdlab("fleet", "inventory", "--host", host, "--library", str(library), *words)
            assert done.returncode == 0, done.stderr
        (tmp_path / "selection.toml").write_text(selection)
        path = tmp_path / "plan.json"
        done = ssdlab("fleet", "plan", "selection.toml", "--library", str(library), "-o", str(path))
        assert done.returncode == 0, done.stderr
        return path

    return make


@pytest.fixture
def states(library: Path, ssdlab: Callable[..., Any]) -> Callable[..., dict[str, dict[str, Any]]]:
    """What `fleet status` says of each job, by serial."""

    def read(environment: dict[str, str] | None = None) -> dict[str, dict[str, Any]]:
        done = ssdlab("fleet", "status", "last", "--library", str(library), "--json", environment=environment)
        assert done.returncode == 0, done.stderr
        return {job["serial"]: job for job in json.loads(done.stdout)["jobs"]}

    return read


@pytest.fixture
def make_slurm() -> Iterator[Callable[..., Cluster]]:
    """Starts a Slurm: ``make_slurm({"n1": ["A1", "A2"], "n2": ["A3"]})``; ended afterwards."""
    need_root()
    for program, package in PROGRAMS.items():
        if shutil.which(program) is None:
            pytest.skip(f"{program} is not installed (apt install {package})")
    made: list[Cluster] = []
    # Not below the test's own folder: a socket's path is at most 107 bytes long.
    with tempfile.TemporaryDirectory(prefix="slurm-") as folder:

        def make(drives: dict[str, list[str]], kind: type[Cluster] = Cluster, **options: Any) -> Cluster:
            place = Path(folder) / str(len(made))
            place.mkdir()
            made.append(kind(place, drives, **options))
            return made[-1]

        yield make
        for cluster in made:
            cluster.stop()
