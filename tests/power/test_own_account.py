"""A real drive's own account as its meter: a made-up SMART log, as no drive at hand has interval power."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from machine.fake_drive import patched
from power.test_metered_runs import JOB, job
from ssdlab.cli import main
from ssdlab.drives.admin.port import NvmeReply
from ssdlab.drives.base import RealDrive
from ssdlab.drives.telemetry.of_device import NvmeLogs
from ssdlab.drives.telemetry.sampler import HostTelemetry
from ssdlab.results import tables
from ssdlab.results.run_folder import RunFolder
from ssdlab.runs.metering import OwnAccount

PERIOD_S = 0.05
"""Of its readings here: 1 s of a real drive, whose windows must have ten of them."""
WATTS, PERCENT = 8.12, 3
LONGER = JOB.replace('seconds = "300ms"', 'seconds = "1s"')
"""Twenty readings, so that a busy host that lets one wait leaves no gap."""


class Drive:
    """Answers SMART and power logs; keeps the times at which it was asked."""

    def __init__(self, watts: float | None) -> None:
        self.asked_ns: list[int] = []
        power = b"" if watts is None else (round(watts * 100) | 2 << 16).to_bytes(4, "little")
        self.health = patched("nvme-health.bin", {240: power})
        self.power = bytes([0, 0, 1]) + bytes(53) + bytes([PERCENT]) + bytes(7)

    def nvme(self, opcode: int, *, cdw: tuple[int, ...], **_: object) -> NvmeReply:
        assert opcode == 0x02
        self.asked_ns.append(time.monotonic_ns())
        pages = {0x02: self.health, 0x25: self.power}
        page = pages.get(cdw[0] & 0xFF)
        return NvmeReply(0x4109) if page is None else NvmeReply(0, 0, page)


@pytest.fixture
def drive(monkeypatch: pytest.MonkeyPatch) -> Drive:
    """Stands behind every file that is opened, and is asked twenty times a second."""
    found = Drive(WATTS)
    logs = NvmeLogs(found)
    watch = HostTelemetry([logs], logs.reading, PERIOD_S)
    monkeypatch.setattr(RealDrive, "telemetry", property(lambda _: watch))
    monkeypatch.setattr(OwnAccount, "period_s", PERIOD_S)
    return found


@pytest.mark.machine  # a reading that waits for a processor leaves a gap, and a step with a gap has no power
def test_steps_that_measure_have_its_power_and_idle_ones_none(drive: Drive, scratch: Path) -> None:
    run = RunFolder(job(scratch, "--meter", "nvme:smart", text=LONGER))
    measured = [step for step in run.steps() if step.label.endswith(": run")]
    powers = [step.measured.power for step in measured]
    assert [each.mean_w for each in powers] == [pytest.approx(WATTS)] * 2
    assert [each.energy_j for each in powers] == [
        pytest.approx(WATTS * step.measured.elapsed_s) for step in measured
    ]
    assert [each.error_w for each in powers] == [pytest.approx(WATTS * PERCENT / 100)] * 2
    (rest,) = [step for step in run.steps() if step.verb == "idle"]
    assert rest.result.rest is None or rest.result.rest.power is None
    meter = run.manifest.environment["meter"]
    assert (meter["name"], meter["accuracy"]) == ("the drive's own reading, measured", PERCENT / 100)
    rows = run.read_table(tables.POWER, tables.POWER_COLUMNS, "true", "ordinal, start_ns")
    metered = set(rows["ordinal"].tolist())
    assert {step.ordinal for step in measured} <= metered
    assert rest.ordinal not in metered
    assert set(rows["rail"].tolist()) == {"drive"}


def test_nothing_is_asked_of_it_for_its_power_in_an_idle_step(drive: Drive, scratch: Path) -> None:
    """Job: fill, run, idle, run. The longest time without a question is the idle step."""
    job(scratch, "--meter", "nvme:smart", text=LONGER)
    with_meter = len(drive.asked_ns)
    pauses = [later - at for at, later in zip(drive.asked_ns, drive.asked_ns[1:], strict=False)]
    assert max(pauses) >= 0.2e9
    assert with_meter > 10


def test_at_one_reading_a_second_a_short_window_has_no_figure(
    drive: Drive, scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(OwnAccount, "period_s", 1.0)
    run = RunFolder(job(scratch, "--meter", "nvme:smart", text=LONGER))
    assert all(step.measured.power is None for step in run.steps() if step.label.endswith(": run"))
    assert "meter-window" in {each.code for each in run.manifest.warnings}


def test_a_drive_without_one_is_refused_before_anything_is_done(
    drive: Drive, scratch: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    drive.health = patched("nvme-health.bin", {})
    target, library = scratch / "drive.img", scratch / "runs"
    words = ["run", "peak-random-read", str(target), "--size", "16MiB", "--library", str(library)]
    assert main([*words, "--meter", "nvme:smart"]) == 2
    assert "does not report its power" in capsys.readouterr().err
    assert not library.exists() or not list(library.glob("*/manifest.json"))


def test_meters_says_that_it_is_read_in_runs(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["meters", "nvme:smart", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert "during runs" in shown["meters"][0]["note"]
    assert "nvme" in shown["kinds"]
    assert main(["meters", "nvme:/dev/nvme0"]) == 2
    assert "there is no power reading of a drive" in capsys.readouterr().out
