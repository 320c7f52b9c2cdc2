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
from ssdlab.results.schema import Manifest
from ssdlab.results.store import run_folders

SHORT = ("seconds=60ms", "ramp_seconds=0")
STEADY = ("overwrites=0", "least_seconds=0", "most_seconds=1", "round_seconds=100ms")
SETTINGS = {
    "qd1": (*SHORT, "size_seconds=20ms", "sizes=4096"),
    "peak-random-read": (*SHORT, "depths=1,4"),
    "peak-sequential-read": (*SHORT, "depths=1,4"),
    "steady-random-write": (*SHORT, *STEADY, "depths=1,4"),
    "mixed-random": (*SHORT, *STEADY, "depths=4"),
    "consistency": ("seconds=5",),
}


def shortened(chapters: tuple[demo_module.Chapter, ...]) -> tuple[demo_module.Chapter, ...]:
    return tuple(chapter._replace(settings=SETTINGS[chapter.method]) for chapter in chapters)


@pytest.fixture
def place(scratch: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(scratch)
    monkeypatch.setenv("XDG_DATA_HOME", str(scratch / "data"))
    monkeypatch.setattr(demo_module, "SCRATCH_BYTES", 8 << 20)
    monkeypatch.setattr(demo_module, "DRIVE", "sim:tiny-test,scale=4")
    for name in ("REAL", "READING", "SIMULATED"):
        monkeypatch.setattr(demo_module, name, shortened(getattr(demo_module, name)))
    # One method of each kind: all six are no other code, and six times the time.
    few = [chapter for chapter in demo_module.SIMULATED if "peak" not in chapter.method]
    monkeypatch.setattr(demo_module, "SIMULATED", [few[0], *few[2:]])
    return scratch


def library(place: Path) -> Path:
    return place / "data" / "ssdlab" / "runs"


def manifests(place: Path, names: list[str]) -> list[Manifest]:
    return [RunFolder(library(place) / name).manifest for name in names]


@pytest.mark.long
def test_a_simulated_drive_is_reviewed_by_default(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo"]) == 0
    shown = capsys.readouterr()
    assert "reviewing a simulated drive" in shown.err
    assert f"Report: {place / 'ssdlab-demo.html'}" in shown.out
    assert "--on /dev/" in shown.out
    assert (place / "ssdlab-demo.html").stat().st_size > 100_000
    found = [RunFolder(path).manifest for path in run_folders(library(place))]
    assert {manifest.method.name for manifest in found} == {"qd1", "mixed-random", "consistency"}
    assert all(manifest.quick and manifest.status == "finished" for manifest in found)
    assert {(manifest.drive.kind, manifest.engine) for manifest in found} == {("sim", "sim")}
    assert sorted(path.name for path in place.iterdir()) == ["data", "ssdlab-demo.html"]


def test_every_chapter_of_the_review_can_be_ordered() -> None:
    for chapter in (*demo_module.REAL, *demo_module.SIMULATED):
        ordered = demo_module.order(
            chapter.method, demo_module.DRIVE, chapter.settings, quick=True, destroy=None
        )
        assert ordered.quick


@pytest.mark.long
def test_a_file_that_is_not_there_is_a_scratch_file(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "--on", "scratch.bin", "--json"]) == 0
    found = manifests(place, json.loads(capsys.readouterr().out)["runs"])
    assert [manifest.method.name for manifest in found] == ["qd1", "peak-random-read", "peak-sequential-read"]
    assert all(manifest.quick and manifest.status == "finished" for manifest in found)
    assert {manifest.drive.kind for manifest in found} == {"file"}
    assert sorted(path.name for path in place.iterdir()) == ["data", "ssdlab-demo.html"]


def test_a_device_that_is_not_there_is_no_scratch_file(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["demo", "--on", "/dev/ssdlab-is-not-here"]) == 2
    assert "there is no device" in capsys.readouterr().err
    assert run_folders(library(place)) == []


def test_a_profile_that_is_not_there_is_said(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "--on", "sim:tiny-tset"]) == 2
    assert "tiny-test" in capsys.readouterr().err


@pytest.mark.long
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
    assert main(["demo", "--on", "scratch.bin"]) == 3
    assert [path.name for path in place.iterdir()] == []


def test_stopped_it_leaves_no_scratch_file_and_says_to_begin_anew(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def stop_in_the_first_run() -> None:
        while not list(library(place).glob("*/steps/*.log")):
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=stop_in_the_first_run, daemon=True).start()
    assert main(["demo", "--on", "scratch.bin"]) == 130
    assert "run it again" in capsys.readouterr().err.lower()
    assert not (place / "scratch.bin").exists()
