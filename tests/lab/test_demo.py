"""The demo: a report at the end, the scratch file gone, and nobody else's file touched. Shortened presets."""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from pathlib import Path

import pytest

from ssdlab.cli import demo as demo_module
from ssdlab.cli import main
from ssdlab.results.run_folder import RunFolder
from ssdlab.results.store import run_folders


@pytest.fixture
def place(scratch: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(scratch)
    monkeypatch.setenv("XDG_DATA_HOME", str(scratch / "data"))
    monkeypatch.setattr(demo_module, "SCRATCH_BYTES", 8 << 20)
    whole = demo_module.order

    def short(name: str, target: str, words: tuple, **options: object):
        words = (
            "seconds=60ms",
            "ramp_seconds=0",
            *(("size_seconds=20ms",) if name == "qd1" else ("depths=1,4",)),
        )
        return whole(name, target, words, **options)

    monkeypatch.setattr(demo_module, "order", short)
    return scratch


def library(place: Path) -> Path:
    return place / "data" / "ssdlab" / "runs"


def test_it_ends_in_a_report_and_leaves_no_scratch_file(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["demo", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert Path(told["report"]).stat().st_size > 100_000 and told["report"] == str(place / "ssdlab-demo.html")
    runs = [RunFolder(library(place) / name) for name in told["runs"]]
    assert [run.manifest.method.name for run in runs] == ["qd1", "peak-random-read", "peak-sequential-read"]
    assert all(run.manifest.quick and run.manifest.status == "finished" for run in runs)
    assert sorted(path.name for path in place.iterdir()) == ["data", "ssdlab-demo.html"]


def test_a_file_of_that_name_that_is_not_ours_is_left_alone(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    foreign = place / demo_module.SCRATCH_NAME
    foreign.write_bytes(b"precious")
    assert main(["demo"]) == 2
    assert foreign.read_bytes() == b"precious" and run_folders(library(place)) == []
    assert capsys.readouterr().err.startswith("ssdlab: ")


def test_a_simulated_drive_is_reviewed_too(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "--on", "sim:tiny-test", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    manifests = [RunFolder(library(place) / name).manifest for name in told["runs"]]
    assert [manifest.method.name for manifest in manifests] == list(demo_module.METHODS)
    assert {(manifest.drive.kind, manifest.engine) for manifest in manifests} == {("sim", "sim")}


def test_a_foreign_file_is_only_read(place: Path) -> None:
    foreign = place / "foreign.img"
    foreign.write_bytes(os.urandom(8 << 20))
    os.sync()
    before = foreign.read_bytes()
    assert main(["demo", "--on", "foreign.img", "-o", "page.html"]) == 0
    names = [RunFolder(path).manifest.method.name for path in run_folders(library(place))]
    assert sorted(names) == ["peak-random-read", "peak-sequential-read"]
    assert foreign.read_bytes() == before and (place / "page.html").exists()


def test_a_wrong_identifier_is_refused(place: Path) -> None:
    foreign = place / "foreign.img"
    foreign.write_bytes(bytes(8 << 20))
    assert main(["demo", "--on", "foreign.img", "--destroy", "other"]) == 2
    assert run_folders(library(place)) == []


def test_too_little_room_is_said_first(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demo_module, "SCRATCH_BYTES", 1 << 60)
    assert main(["demo"]) == 3
    assert [path.name for path in place.iterdir()] == []


def test_stopped_it_leaves_no_scratch_file_and_says_to_begin_anew(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def stop_in_the_first_run() -> None:
        while not list(library(place).glob("*/steps/*.log")):
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=stop_in_the_first_run, daemon=True).start()
    assert main(["demo"]) == 130
    assert "run it again" in capsys.readouterr().err.lower()
    assert not (place / demo_module.SCRATCH_NAME).exists()
