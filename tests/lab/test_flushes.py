"""Flushes from the drive to the page: counted once, in figures of their own, and in no other."""

from __future__ import annotations

from pathlib import Path

import pytest

import ssdlab
from ssdlab.cli import main
from ssdlab.host.held_folder import HeldFolder
from ssdlab.report.runs import shown
from ssdlab.report.sections.points import job_section, measured
from ssdlab.report.source import read_run
from ssdlab.results import tables
from ssdlab.results.run_folder import RunFolder
from ssdlab.results.schema import JobResult, MeasureResult

DRIVE = "sim:nvme-tlc-client,scale=64"
LOAD = {"rw": "randrw", "bs": "4k", "bytes": "8MiB", "interval": "50ms", "engine": "uring", "depth": 4}


def test_every_nth_write_is_flushed_and_all_accounts_agree() -> None:
    result = ssdlab.measure(DRIVE, **LOAD, fdatasync=3)
    summary = result.summary()
    assert summary.write is not None
    assert summary.flush is not None
    assert summary.flush.flushes == summary.write.ios // 3 > 100
    histogram = result.histogram("flush", "service")
    assert histogram.count == summary.flush.flushes
    assert histogram.max_ns == summary.flush.latency_ns["max"]
    assert int(result.rows(direction="flush")["ios"].sum()) == histogram.count
    assert sum(row["flush"]["flushes"] for row in result.report()["intervals"]) == histogram.count
    # In no figure of I/Os.
    assert summary.ios == summary.write.ios + (0 if summary.read is None else summary.read.ios) == 2048
    assert int(result.rows()["ios"].sum()) == summary.ios


def test_the_same_seed_gives_the_same_flushes() -> None:
    first, second = (ssdlab.measure(DRIVE, **LOAD, fsync=2) for _ in range(2))
    assert first.as_dict()["flush"] == second.as_dict()["flush"]


def test_none_is_told_of_where_none_was_asked_for() -> None:
    result = ssdlab.measure(DRIVE, **LOAD)
    assert "flush" not in result.as_dict()
    assert all("flush" not in row for row in result.report()["intervals"])
    assert result.histogram("flush", "service").count == 0


@pytest.mark.parametrize("options", [[], ["--buffered", "--bs", "2300"]], ids=["direct", "buffered"])
def test_a_saved_measurement_has_them_in_tables_figures_and_page(
    scratch: Path, options: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["measure", str(scratch / "wal.bin"), "--size", "8MiB", "--rw", "write", "--bytes", "2MiB"]
    words += ["--fdatasync", "2", *options, "--save", "--library", str(scratch / "runs")]
    assert main(words) == 0
    (run,) = (scratch / "runs").glob("*-measure-*")
    folder = RunFolder(run)
    result = MeasureResult.model_validate(folder.manifest.result)
    flush = result.summary.flush
    assert flush is not None
    with HeldFolder(run) as held:
        rows = tables.read(held, tables.FLUSHES, tables.FLUSH_COLUMNS)
    buckets = folder.histograms(0)
    kept = (buckets["direction"] == "flush") & (buckets["clock"] == "service")
    assert int(rows["flushes"].sum()) == int(buckets["count"][kept].sum()) == flush.flushes
    figures = {each.name: each for each in result.scalars}
    assert figures["flush_p99_ns"].value == flush.latency_ns["p99"]
    assert figures["flush_p99_ns"].label == "p99 of fdatasync"
    unranked = ["buffered"] if options else []
    for figure in figures.values():
        assert [each.code for each in figure.unfit("ranking") if each.code == "buffered"] == unranked
    section = measured(shown([read_run(run)]))
    assert {row.name for view in section.figures[0].chart.views for row in view.rows} == {"write", "flush"}
    capsys.readouterr()
    assert main(["show", str(run)]) == 0
    assert f"flush  {flush.flushes} flushes" in capsys.readouterr().out


def test_a_job_has_them_by_step(tmp_path: Path) -> None:
    job = tmp_path / "job.toml"
    job.write_text(
        '[[step]]\ndo = "run"\nlabel = "wal"\nrw = "write"\nfsync = 4\nbytes = "1MiB"\n'
        '[[step]]\ndo = "run"\nlabel = "reads"\nbytes = "1MiB"\n'
    )
    assert main(["job", str(job), DRIVE, "--library", str(tmp_path)]) == 0
    (run,) = tmp_path.glob("*-job-*")
    result = JobResult.model_validate(RunFolder(run).manifest.result)
    (flushes,) = result.flushes
    assert (flushes.label, flushes.call, flushes.every, flushes.flushes) == ("wal", "fsync", 4, 64)
    section = job_section(shown([read_run(run)]))
    assert any(table.caption == "Latency of flushes" for each in section.exhibits for table in each.tables)
