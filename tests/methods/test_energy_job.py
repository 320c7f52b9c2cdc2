"""Energy for a fixed amount of work: the meter's over the job, a figure only of a whole one."""

from __future__ import annotations

from pathlib import Path

import pytest

from methods.on_simulated import findings_of, run, shorter_in
from methods.statements import Told
from ssdlab.cli import main
from ssdlab.lab.outcome import read_result
from ssdlab.methods.energy_per_job.result import findings as claims_of
from ssdlab.methods.energy_per_job.result import tables as tables_of
from ssdlab.results import tables
from ssdlab.results.run_folder import RunFolder

DRIVE = "sim:samsung-950-pro-512gb,scale=64"
QUICK = {"least_seconds": "0", "most_seconds": "8", "round_seconds": "0.5", "overwrites": "0"}
MIB = 1 << 20


def of(name: str, folder: RunFolder) -> float:
    (found,) = (each.value for each in read_result(folder).scalars if each.name == name)
    assert found is not None
    return found


@pytest.mark.parametrize("job", ["reads", "fill", "trace"])
@pytest.mark.long
def test_the_energy_is_that_of_the_drives_own_samples(tmp_path: Path, job: str) -> None:
    folder = run("energy-per-job", tmp_path, DRIVE, job=job, amount=str(64 * MIB))
    result = read_result(folder)
    power = folder.read_table(tables.POWER, tables.POWER_COLUMNS, "true", "ordinal, start_ns")
    mine = power["ordinal"] == result.ordinal
    drawn = power["mean_w"] * (power["end_ns"] - power["start_ns"]) / 1e9
    assert result.energy_j == pytest.approx(float(drawn[mine].sum()), rel=0.01)
    assert of(f"{job}_j", folder) == result.energy_j
    assert of(f"{job}_j_per_gb", folder) == pytest.approx(result.energy_j / (result.bytes / 1e9))
    if job == "reads":
        assert result.bytes == 64 * MIB
    assert Told(folder.path).faults() == []


@pytest.mark.long
def test_a_job_of_a_trace_tells_what_became_of_the_trace(tmp_path: Path) -> None:
    """As `trace` does of its own: on a drive that is smaller than the one recorded, I/Os are wrapped."""
    trace = tmp_path / "t.log"
    lines = "".join(f"{at * 1000} d write {(at % 3) * 10**12} 4096\n" for at in range(50))
    trace.write_text(f"fio version 3 iolog\n0 d add\n0 d open\n{lines}60000 d close\n")
    told = [
        findings_of(read_result(run(name, tmp_path / name, DRIVE, file=str(trace), **more)))
        for name, more in (("energy-per-job", {"job": "trace"}), ("trace", {}))
    ]
    wrapped = [each for each in told[1] if "wrapped" in each]
    assert wrapped and set(wrapped) <= set(told[0])


def test_a_quick_job_says_how_small_it_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["run", "energy-per-job", DRIVE, "--quick", "--set", "job=reads", "--library", str(tmp_path)]
    assert main(words) == 0
    (told,) = (Told(path.parent) for path in tmp_path.glob("*/manifest.json"))
    (said,) = shorter_in(told.folder)
    assert said.startswith("quick: ") and "amount 67.1 MB instead of 100 GB" in said
    assert told.faults() == []


def test_twice_the_work_takes_twice_the_energy(tmp_path: Path) -> None:
    once, twice = (
        of("reads_j", run("energy-per-job", tmp_path, DRIVE, job="reads", amount=str(amount * MIB)))
        for amount in (64, 128)
    )
    assert twice / once == pytest.approx(2.0, rel=0.02)


def test_a_job_that_is_given_up_has_no_figure(tmp_path: Path) -> None:
    folder = run("energy-per-job", tmp_path, DRIVE, job="reads", amount=str(256 * MIB), limit_seconds="0.05")
    result = read_result(folder)
    assert result.scalars == ()
    (said,) = findings_of(result)
    assert "stopped at its time limit" in said
    assert Told(folder.path).faults() == []


def test_without_a_meter_there_is_only_the_time(tmp_path: Path) -> None:
    folder = run("energy-per-job", tmp_path, "sim:tiny-test,scale=4", job="reads", amount=str(16 * MIB))
    result = read_result(folder)
    assert [each.name for each in result.scalars] == ["reads_s"]
    (said,) = findings_of(result)
    assert "not metered" in said


def test_drives_are_ranked_by_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for drive in (DRIVE, "sim:intel-600p-512gb,scale=64"):
        run("energy-per-job", tmp_path, drive, job="reads", amount=str(64 * MIB))
    assert main(["rank", "reads_j", "--library", str(tmp_path)]) == 0
    shown = capsys.readouterr().out
    assert "samsung-950-pro" in shown and "intel-600p" in shown and " J" in shown


def test_steady_writes_begin_in_a_state_that_is_proven_or_not_shown(tmp_path: Path) -> None:
    folder = run(
        "energy-per-job",
        tmp_path,
        "sim:samsung-883-dct-960gb,scale=128",
        job="steady-random-writes",
        amount=str(64 * MIB),
        **QUICK,
    )
    result = read_result(folder)
    assert result.steady is not None and result.bytes == 64 * MIB
    assert {result.steady.ordinal} <= {step for each in claims_of(result) for step in each.evidence.steps}
    assert all(("state-unproven" in each.codes) is not result.steady.reached for each in result.scalars)
    assert all(bool(each.unfit("ranking")) is not result.steady.reached for each in result.scalars)
    assert Told(folder.path).faults() == []


def test_the_table_names_no_meter_for_a_simulated_drive_has_none(tmp_path: Path) -> None:
    result = read_result(run("energy-per-job", tmp_path, DRIVE, job="reads", amount=str(64 * MIB)))
    assert [table.caption for table in tables_of(result)] == ["Energy of the job"]
