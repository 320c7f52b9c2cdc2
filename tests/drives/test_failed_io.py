"""Real I/O that the kernel fails: the policy, its error, and what is said of what was measured."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from conftest import need_root
from ssdlab.cli import main
from ssdlab.model.failed_ios import FAILED_MIN, FAILED_SHARE, too_many
from ssdlab.model.warning_texts import CATALOGUE
from ssdlab.results.evidence import HIDDEN

MIB = 1 << 20
BLOCK = 4096
SIZE = 64 * MIB
Failing = Callable[[float], Path]
"""Makes a device of which that share of the bytes cannot be had."""
QUICK = ("--set", "depths=1,4", "--set", "seconds=0.4", "--set", "ramp_seconds=0", "--quick")


@pytest.fixture
def fails_reads(loop: Callable[..., Path], scratch: Path) -> Failing:
    """A loop device whose file lost its end: the kernel fails reads there."""

    def make(share: float) -> Path:
        device = loop()
        (backing,) = scratch.glob("backing-*")
        backing.write_bytes(os.urandom(SIZE))
        os.truncate(backing, SIZE - max(BLOCK, round(SIZE * share) // BLOCK * BLOCK))
        return device

    return make


@pytest.fixture
def fails_writes(tmp_path: Path) -> Iterator[Failing]:
    """A loop device on a full file system: the kernel fails writes to the holes of its file."""
    need_root()
    if not Path("/dev/loop-control").exists():
        pytest.skip("no loop devices in this kernel")
    folder, devices = tmp_path / "full", []
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "none", str(folder)], check=True)

    def make(share: float) -> Path:
        backing, holes = folder / "backing", max(1, round(SIZE / MIB * share))
        with backing.open("wb") as file:  # the loop driver takes a write that is short for a whole one
            file.truncate(SIZE)
            for chunk in range(holes, SIZE // MIB):
                os.pwrite(file.fileno(), os.urandom(MIB), chunk * MIB)
        with (folder / "ballast").open("wb") as file:
            try:
                while os.write(file.fileno(), b"x" * BLOCK):
                    pass
            except OSError:
                pass
        command = ["losetup", "--find", "--show", str(backing)]
        devices.append(subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip())
        return Path(devices[-1])

    yield make
    for device in devices:
        subprocess.run(["losetup", "--detach", device], check=False)
    subprocess.run(["umount", str(folder)], check=False)


@pytest.mark.parametrize(("failed", "done", "many"), [(9, 0, False), (10, 9990, False), (10, 9000, True)])
def test_a_share_is_of_ten_at_least(failed: int, done: int, many: bool) -> None:
    assert (FAILED_MIN, FAILED_SHARE) == (10, 0.001)
    assert too_many(failed, done) is many


def test_a_measurement_stops_and_says_of_how_many(
    fails_reads: Failing, capsys: pytest.CaptureFixture[str]
) -> None:
    device = str(fails_reads(0.5))
    assert main(["measure", device, "--seconds", "20", "--json"]) == 3
    told = json.loads(capsys.readouterr().out)
    facts, read = told["facts"], told["measurement"]["read"]
    assert facts["reason"] == "failed-ios"
    assert facts["failed"] >= FAILED_MIN
    assert facts["offset"] >= SIZE // 2
    assert facts["errno"] == 5
    assert told["measurement"]["elapsed_s"] < 15
    assert read["failed"] <= facts["failed"]
    assert "--on-error continue" in told["advice"]


def test_a_measurement_that_continues_is_not_ranked(
    fails_reads: Failing, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    device, library = str(fails_reads(0.5)), str(tmp_path / "library")
    words = ["measure", device, "--rw", "read", "--bytes", str(SIZE), "--save", "--library", library]
    assert main([*words, "--on-error", "continue", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["read"]["failed"] == told["read"]["ios"] == SIZE // BLOCK // 2, "past a hundred in a row"
    assert told["first_failure"]["offset"] == SIZE // 2
    assert main(["rank", "iops", "--library", library]) == 2
    assert "failed I/O" in capsys.readouterr().err


def test_a_run_ends_failed_and_resumes_on_a_mended_drive(
    fails_reads: Failing, scratch: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    device, library = str(fails_reads(0.5)), tmp_path / "library"
    words = ["run", "peak-random-read", device, *QUICK, "--library", str(library)]
    assert main([*words, "--json"]) == 3
    told = json.loads(capsys.readouterr().out)
    assert "depth 1" in told["what"]
    assert "ssdlab resume" in told["advice"]
    (manifest,) = library.glob("*/manifest.json")
    kept = json.loads(manifest.read_text())
    assert (kept["status"], kept["open_options"]["on_error"]) == ("failed", "stop")
    again = ["resume", told["facts"]["run"], "--library", str(library), "--json"]
    assert main(again) == 3, "the drive still fails"
    capsys.readouterr()
    (backing,) = scratch.glob("backing-*")
    os.truncate(backing, SIZE)
    assert main(again) == 0
    assert "failed-io" not in json.loads(capsys.readouterr().out)["qualifiers"]


def test_a_drive_that_fails_is_not_ranked_beside_a_whole_one(
    fails_reads: Failing, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    device, library = str(fails_reads(0.01)), tmp_path / "library"
    words = ["run", "peak-random-read", device, *QUICK, "--library", str(library), "--on-error", "continue"]
    assert main([*words, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    names = [each["name"] for each in told["result"]["scalars"]]
    assert names and told["qualifiers"]["failed-io"]["figures"] == names
    report = tmp_path / "page.html"
    assert main(["report", told["run"], "--library", str(library), "--output", str(report)]) == 0
    assert "failed I/O" in report.read_text()
    assert main(["rank", "peak_random_read_iops", "--library", str(library)]) == 2
    assert "failed I/O" in capsys.readouterr().err


@pytest.mark.machine
def test_failed_writes_of_a_fill_prove_no_state(
    fails_writes: Failing, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    device = fails_writes(0.01)
    words = ["run", "rate-limit", str(device), "--destroy", device.name, "--set", "fill=true", "--quick"]
    assert main([*words, "--set", "most=4000", "--library", str(tmp_path / "library"), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    names = [each["name"] for each in told["result"]["scalars"]]
    assert names and told["qualifiers"]["state-unproven"]["figures"] == names
    assert "failed-io" not in told["qualifiers"]
    assert any(each["code"] == "written-unknown" for each in told["manifest"]["departures"])


def test_every_mark_has_its_warning() -> None:
    assert set(CATALOGUE) >= HIDDEN
