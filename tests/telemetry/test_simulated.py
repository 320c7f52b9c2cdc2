"""What a simulated drive tells: samples on its own clock, and they agree with its own accounts."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

from ssdlab.cli import main
from ssdlab.drives import open_drive
from ssdlab.drives.simulated.profiles import profiles
from ssdlab.host.held_folder import HeldFolder
from ssdlab.model.options import MeasureOptions
from ssdlab.results import tables
from ssdlab.results.run_folder import RunFolder
from ssdlab.runs.observe import marks_of

S = 1_000_000_000
AMBIENT_C, ABOVE_C, CAP_W = 30.0, 60.0, 3.0
POWER = f"""
[power]
idle_mw = {{ value = 1500, source = "chosen" }}
die_read_mw = {{ value = 120, source = "recalled" }}
die_program_mw = {{ value = 200, source = "recalled" }}
die_erase_mw = {{ value = 100, source = "recalled" }}
transfer_nj = {{ value = 600.0, source = "recalled" }}
command_uj = {{ value = 1.5, source = "recalled" }}
link_pj_per_byte = {{ value = 120.0, source = "recalled" }}
window_ms = {{ value = 1.0, source = "recalled" }}
[thermal]
ambient_c = {{ value = {AMBIENT_C}, source = "chosen" }}
resistance_k_per_w = {{ value = 10.0, source = "chosen" }}
time_constant_s = {{ value = 20.0, source = "chosen" }}
[[thermal.throttle]]
above_c = {{ value = {ABOVE_C}, source = "chosen" }}
until_c = {{ value = {ABOVE_C - 2}, source = "chosen" }}
cap_w = {{ value = {CAP_W}, source = "chosen" }}
"""


def workload(**options: object):
    return MeasureOptions(**{"rw": "randwrite", "threads": 32, "seconds": 5, **options}).workload(())


@pytest.fixture(scope="module")
def hot_text(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Text of a drive that its work heats up until it throttles."""
    path = tmp_path_factory.mktemp("hot") / "hot.toml"
    path.write_text(profiles()["tiny-test"] + POWER, encoding="utf-8")
    return f"sim:{path},scale=4"


@pytest.fixture(scope="module")
def hot(hot_text: str):
    """Such a drive, and what it measured."""
    with open_drive(hot_text, writing=True) as drive:
        began_ns, before = drive.native.now_ns, drive.health()
        measured = drive.run(workload(rw="write", bs="128k", seconds=60, threads=8))
        yield drive, began_ns, before, measured


def test_one_sample_a_second_of_the_drives_own_time(hot) -> None:
    _, _, _, measured = hot
    whole = [sample.at_ns for sample in measured.samples if sample.at_ns % S == 0]
    assert whole == [(n + 1) * S for n in range(len(whole))]
    assert len(whole) >= 60
    assert measured.samples[-1].at_ns == pytest.approx(measured.as_dict()["total_s"] * S, abs=1)


def test_the_watts_of_the_samples_add_up_to_the_drives_energy(hot) -> None:
    drive, began_ns, _, measured = hot
    last_ns = joules = 0.0
    for sample in measured.samples:
        joules += sample.drawn_w * (sample.at_ns - last_ns) / S
        last_ns = sample.at_ns
    assert joules == pytest.approx(drive.power(began_ns, began_ns + last_ns).energy_j, rel=1e-6)


def test_bytes_are_the_drives_counters(hot) -> None:
    drive, _, before, measured = hot
    last, after = measured.samples[-1], drive.health()
    assert last.host_written_bytes == after["host_bytes_written"] > before["host_bytes_written"]
    assert last.nand_written_bytes == after["nand_bytes_written"]
    grows = [sample.host_written_bytes for sample in measured.samples]
    assert grows == sorted(grows)


def test_heat_limits_the_drive_from_when_it_passes_the_throttle_point(hot) -> None:
    """By the profile: no sample is hotter and free, none is cooler than where it lets go and limited."""
    drive, _, _, measured = hot
    limited = [sample for sample in measured.samples if sample.limit_w is not None]
    free = [sample for sample in measured.samples if sample.limit_w is None]
    assert {sample.limit_w for sample in limited} == {CAP_W}
    assert min(sample.temperature_c for sample in free) > AMBIENT_C
    assert max(sample.temperature_c for sample in free) < ABOVE_C
    assert min(sample.temperature_c for sample in limited) >= ABOVE_C - 2
    assert limited[0].throttle_events == 1
    (first, *_) = marks_of(measured.samples, None, None, measured.samples[-1].at_ns)
    assert (first.code, first.until_ns > first.at_ns) == ("throttled", True)
    assert first.at_ns == limited[0].at_ns - S
    assert drive.telemetry.reading().throttle_events == measured.samples[-1].throttle_events


def test_a_slow_clock_of_rows_does_not_slow_the_samples() -> None:
    with open_drive("sim:tiny-test,scale=4", writing=True) as drive:
        rows = workload(interval="10s", seconds=25)
        found = drive.run(rows).samples
    assert [sample.at_ns // S for sample in found][:5] == [1, 2, 3, 4, 5]
    assert len(found) >= 25


@pytest.mark.long
def test_a_run_keeps_them_in_a_sealed_table(
    hot_text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["run", "peak-random-read", hot_text, "--quick", "--seed", "7"]
    assert main([*words, "--library", str(tmp_path), "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    run = RunFolder(Path(shown["folder"]))
    assert run.verify() == "sealed"
    table = next(each for each in shown["manifest"]["tables"] if each["name"] == "telemetry.parquet")
    told = {step["ordinal"]: step["result"]["telemetry"] for step in shown["steps"]}
    of_runs = {ordinal: each for ordinal, each in told.items() if each is not None}
    assert sum(each["samples"] for each in of_runs.values()) == table["rows"] > 0
    for ordinal, each in of_runs.items():
        lines = run.telemetry(ordinal)
        assert len(lines["at_ns"]) == each["samples"]
        assert lines["temperature_c"].max() == each["hottest_c"]
        assert each["ended_ns"] > each["began_ns"]
        assert np.isnan(lines["media_errors"]).all(), "what is not told is not 0"
    (run.path / "telemetry.parquet").chmod(0o600)
    (run.path / "telemetry.parquet").write_bytes(b"not it")
    from ssdlab.model.errors import Refused

    with pytest.raises(Refused, match=r"telemetry\.parquet"):
        RunFolder(run.path).verify()


def test_watts_by_the_second_are_those_of_all_rails(tmp_path: Path) -> None:
    """Ten samples a second of two rails, of which the second has a gap: the mean of what was covered."""
    ends = np.arange(1, 21) * (S // 10)
    rails = np.repeat(["12V", "3V3"], 20)
    columns = {
        "ordinal": np.full(40, 4, dtype=np.int32),
        "attempt": np.ones(40, dtype=np.int32),
        "rail": rails.astype(object),
        "start_ns": np.tile(ends - S // 10, 2),
        "end_ns": np.tile(ends, 2),
        "mean_w": np.where(rails == "12V", np.tile(np.repeat([3.0, 5.0], 10), 2), 0.5),
    }
    with HeldFolder(tmp_path, follow=True) as folder:
        tables.write(folder, tables.POWER, columns, tables.POWER_COLUMNS, "rail, start_ns")
        found = tables.power_by_second(folder, tables.POWER)
    assert found["ordinal"].tolist() == [4, 4]
    assert found["end_ns"].tolist() == [S, 2 * S]
    assert found["mean_w"].tolist() == pytest.approx([3.5, 5.5])


def test_a_second_of_which_nothing_is_known_has_no_watts(tmp_path: Path) -> None:
    columns = {
        "ordinal": np.full(3, 4, dtype=np.int32),
        "attempt": np.ones(3, dtype=np.int32),
        "rail": np.repeat(["12V"], 3).astype(object),
        "start_ns": np.arange(3) * S,
        "end_ns": np.arange(1, 4) * S,
        "mean_w": np.array([3.0, np.nan, 5.0]),
    }
    with HeldFolder(tmp_path, follow=True) as folder:
        tables.write(folder, tables.POWER, columns, tables.POWER_COLUMNS, "rail, start_ns")
        found = tables.power_by_second(folder, tables.POWER)
    assert found["mean_w"].tolist() == pytest.approx([3.0, math.nan, 5.0], nan_ok=True)
