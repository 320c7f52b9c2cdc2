"""Results that fio itself writes here, each held against another output of the same run."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from ssdlab.formats.fio.logs import over_time
from ssdlab.formats.fio.results import Bins, FioResult, edges_of_value, read_fio
from ssdlab.runs.importing import read_imports, save_import

MIXED = ("--rw=randrw", "--rwmixread=70", "--ioengine=libaio", "--iodepth=4", "--rate_iops=800,400")


@pytest.fixture
def ran(fio: str, scratch: Path) -> Any:
    """Runs fio for a second on a small file, and returns what it wrote."""

    def run(*options: str, name: str = "out.json") -> Path:
        path = scratch / name
        command = [fio, "--name=j", f"--filename={scratch / 'data'}", "--size=4m", "--bs=4k", "--direct=1"]
        command += ["--time_based", "--runtime=1", f"--output={path}", *options]
        subprocess.run(command, cwd=scratch, check=True, capture_output=True)
        return path

    return run


def document(path: Path) -> dict[str, Any]:
    text = path.read_text()
    found: dict[str, Any] = json.JSONDecoder().raw_decode(text[text.index("{") :])[0]
    return found


def test_bins_have_the_percentiles_that_fio_has(ran: Any) -> None:
    path = ran(*MIXED, "--output-format=json+", "--lat_percentiles=1", "--slat_percentiles=1", "--numjobs=2",
               "--group_reporting")  # fmt: skip
    (job,) = read_fio(path).jobs
    for side in job.sides.values():
        for clock in ("clat", "lat", "slat"):
            times = side.times[clock]
            assert times.bins is not None and times.bins.total == times.samples == side.ios
            assert times.percentiles == {
                name: times.bins.percentile_ns(float(name[1:]) / 100) for name in times.percentiles
            }


def test_jobs_apart_add_up_to_the_group(ran: Any) -> None:
    path = ran(*MIXED, "--output-format=json+", "--numjobs=3")
    entries = document(path)["jobs"]
    (job,) = read_fio(path).jobs
    assert job.threads == len(entries) == 3
    for direction in ("read", "write"):
        side = job.sides[direction]
        own = [each[direction] for each in entries]
        assert side.ios == sum(each["total_ios"] for each in own)
        assert side.bytes == sum(each["io_bytes"] for each in own)
        counts: dict[tuple[int, int], int] = {}
        for each in own:
            for value, count in each["clat_ns"]["bins"].items():
                edges = edges_of_value(int(value))
                counts[edges] = counts.get(edges, 0) + count
        assert side.times["clat"].percentiles["p99"] == Bins(1, counts).percentile_ns(0.99)
        assert min(each["clat_ns"]["min"] for each in own) == side.times["clat"].min_ns


@pytest.mark.parametrize("version", [3, 4, 5])
def test_terse_output_says_what_the_json_beside_it_says(version: int, ran: Any, tmp_path: Path) -> None:
    path = ran(*MIXED, "--output-format=terse,json", f"--terse-version={version}")
    lines = [line for line in path.read_text().splitlines() if line.startswith(f"{version};")]
    (tmp_path / "t.txt").write_text("\n".join(lines))
    (terse,), (whole,) = read_fio(tmp_path / "t.txt").jobs, read_fio(path).jobs
    assert list(terse.sides) == list(whole.sides) == ["read", "write"]
    for direction, side in terse.sides.items():
        json_side = whole.sides[direction]
        assert side.iops == pytest.approx(json_side.iops, abs=1)
        assert side.bytes == pytest.approx(json_side.bytes, abs=1024)
        for clock in ("slat", "clat", "lat"):
            assert side.times[clock].mean_ns == pytest.approx(json_side.times[clock].mean_ns, abs=1)
            assert side.times[clock].max_ns == pytest.approx(json_side.times[clock].max_ns, abs=1000)
        assert side.times["clat"].percentiles["p99"] == pytest.approx(
            json_side.times["clat"].percentiles["p99"], abs=1000
        )


def rows_of(result: FioResult) -> dict[str, Any]:
    (found,) = over_time(result)
    return {rows.direction: rows for rows in found.rows}


def test_logs_of_single_ios_hold_every_io_and_the_same_percentiles(ran: Any) -> None:
    path = ran(*MIXED, "--output-format=json+", "--write_lat_log=s", "--write_iops_log=s")
    result = read_fio(path)
    (found,) = over_time(result)
    for rows in found.rows:
        side = result.jobs[0].sides[rows.direction]
        assert rows.ios.sum() == side.ios and rows.bytes.sum() == side.bytes
        bins = found.job.sides[rows.direction].times["lat"].bins  # which fio did not write: its log says it
        assert bins is not None and bins.total == side.ios
        clat = result.jobs[0].sides[rows.direction].times["clat"]
        assert rows.quantiles["clat", "max"].max() == clat.max_ns


def test_rows_of_averages_add_up_to_what_was_done(ran: Any) -> None:
    logs = (
        "--write_bw_log=a",
        "--write_iops_log=a",
        "--log_avg_msec=100",
        "--write_hist_log=a",
        "--log_hist_msec=100",
    )
    path = ran(*MIXED, "--output-format=json+", "--numjobs=2", "--group_reporting", *logs)
    result = read_fio(path)
    found = rows_of(result)
    for direction, side in result.jobs[0].sides.items():
        rows = found[direction]
        assert rows.end_ms[0] == 100 and rows.end_ms[-1] <= side.runtime_ms
        seconds = (rows.end_ms[-1] - rows.start_ms[0]) / 1e3
        # fio tells whole IOPS of intervals that it ends a few ms late on a loaded host.
        assert rows.ios.sum() / seconds == pytest.approx(side.iops, rel=0.2)
        assert any(value > 0 for value in rows.quantiles["clat", "p99"])


def test_statuses_add_up_to_the_result(ran: Any) -> None:
    path = ran(
        "--rw=randread", "--ioengine=psync", "--output-format=json+", "--status-interval=1", "--runtime=3"
    )
    result = read_fio(path)
    assert len(result.statuses) >= 3
    rows = rows_of(result)["read"]
    assert rows.ios.sum() == result.jobs[0].sides["read"].ios
    assert rows.bytes.sum() == result.jobs[0].sides["read"].bytes


def test_the_etcd_line_has_its_fdatasync(ran: Any, tmp_path: Path) -> None:
    options = ("--rw=write", "--ioengine=sync", "--fdatasync=1", "--direct=0", "--bs=2300", "--time_based=0")
    options += ("--size=3m", "--runtime=60")
    path = ran(*options, "--output-format=json")
    (found,) = read_imports([path], tmp_path / "library")
    told = document(path)["jobs"][0]["sync"]["lat_ns"]
    figures = {each.name: each.value for each in found.result.scalars}
    assert found.result.syncs[0].syncs == told["N"] > 1000
    assert figures["j_sync_p99_ns"] == told["percentile"]["99.000000"]
    assert figures["j_sync_mean_ns"] == pytest.approx(told["mean"])


@pytest.mark.parametrize(
    "options",
    [
        ("--output-format=json", "--unified_rw_reporting=both"),
        ("--output-format=json", "--unified_rw_reporting=1"),
        ("--output-format=normal,json",),
        ("--output-format=json+", "--gtod_reduce=1"),
        ("--output-format=json", "--disable_lat=1", "--disable_clat=1", "--disable_slat=1"),
        ("--output-format=json+", "--percentile_list=50:99.99"),
        ("--output-format=json+", "--clat_percentiles=0"),
        ("--output-format=json+", "--continue_on_error=all", "--steadystate=iops:90%", "--ss_dur=1"),
    ],
)
def test_each_way_to_write_a_result_becomes_a_run(options: tuple[str, ...], ran: Any, tmp_path: Path) -> None:
    path = ran("--rw=randrw", "--ioengine=psync", *options)
    library = tmp_path / "library"
    (found,) = read_imports([path], library)
    figures = [each.name for each in found.result.scalars]
    assert bool(figures) is not ("--unified_rw_reporting=1" in options)
    assert bool(figures) or found.result.notes
    save_import(library, found)
    assert len(list(library.glob("*-fio-*"))) == 1


def test_a_job_that_failed_is_marked(fio: str, tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    command = [fio, "--name=e", "--filename=/dev/full", "--size=1m", "--rw=write", "--ioengine=psync"]
    subprocess.run([*command, "--output-format=json", f"--output={path}"], cwd=tmp_path, capture_output=True)
    (found,) = read_imports([path], tmp_path / "library")
    assert "ENOSPC" in found.result.notes[0]
    assert all("failed-io" in each.codes for each in found.result.scalars)
