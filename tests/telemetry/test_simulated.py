"""What a simulated drive tells: samples on its own clock, and they agree with its own accounts."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from ssdlab.cli import main
from ssdlab.drives import open_drive
from ssdlab.model.options import MeasureOptions
from ssdlab.results.run_folder import RunFolder

HOT = "sim:intel-600p-512gb,scale=64"
S = 1_000_000_000


def workload(**options: object):
    return MeasureOptions(**{"rw": "randwrite", "threads": 32, "seconds": 5, **options}).workload(())


@pytest.fixture(scope="module")
def hot():
    """A drive that its work heats up until it throttles, and what it measured."""
    with open_drive(HOT, writing=True) as drive:
        began_ns, before = drive.native.now_ns, drive.health()
        measured = drive.run(workload(rw="write", bs="128k", seconds=400, threads=8))
        yield drive, began_ns, before, measured


def test_one_sample_a_second_of_the_drives_own_time(hot) -> None:
    _, _, _, measured = hot
    whole = [sample.at_ns for sample in measured.samples if sample.at_ns % S == 0]
    assert whole == [(n + 1) * S for n in range(len(whole))]
    assert len(whole) >= 400
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
    """The profile's points hold: hot samples are limited, and none is before the first of them is reached."""
    drive, _, _, measured = hot
    limited = [sample for sample in measured.samples if sample.limit_w is not None]
    free = [sample for sample in measured.samples if sample.limit_w is None]
    assert limited
    assert free
    hottest_free = max(sample.temperature_c for sample in free)
    assert all(math.isfinite(sample.temperature_c) for sample in measured.samples)
    assert max(sample.temperature_c for sample in limited) >= hottest_free
    assert limited[0].throttle_events > 0
    assert drive.telemetry.reading().throttle_events == measured.samples[-1].throttle_events


def test_a_slow_clock_of_rows_does_not_slow_the_samples() -> None:
    with open_drive("sim:tiny-test,scale=4", writing=True) as drive:
        rows = workload(interval="10s", seconds=25)
        found = drive.run(rows).samples
    assert [sample.at_ns // S for sample in found][:5] == [1, 2, 3, 4, 5]
    assert len(found) >= 25


def test_a_run_keeps_them_in_a_sealed_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["run", "peak-random-read", "sim:intel-600p-512gb,scale=64", "--quick", "--seed", "7"]
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
    (run.path / "telemetry.parquet").chmod(0o600)
    (run.path / "telemetry.parquet").write_bytes(b"not it")
    from ssdlab.model.errors import Refused

    with pytest.raises(Refused, match=r"telemetry\.parquet"):
        RunFolder(run.path).verify()
