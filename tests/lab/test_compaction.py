"""Tables and catalogue: they hold what the logs held, and are only then put in their place."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pytest

from ssdlab import _core
from ssdlab.cli import main
from ssdlab.host.held_folder import HeldFolder
from ssdlab.lab.found import find_method
from ssdlab.lab.job import read_job
from ssdlab.lab.outcome import read_result
from ssdlab.model.errors import HostError, Refused
from ssdlab.model.summary import DIRECTIONS
from ssdlab.results import compaction, finishing, tables
from ssdlab.results.lease import RunLock
from ssdlab.results.run_folder import RunFolder, read_manifest
from ssdlab.results.store import make_run_folder
from ssdlab.runs.order import Order
from ssdlab.runs.saving import save_measurement
from ssdlab.runs.session import RunEnvironment, start

pytestmark = pytest.mark.usefixtures("as_a_program")

JOB = """
[[step]]
do = "run"
label = "mix"
rw = "randrw"
read_pct = 70
bs = "4k"
threads = 4
seconds = "400ms"
ramp = "100ms"
interval = "100ms"
[[step]]
do = "run"
label = "paced"
rw = "randread"
rate = 500
seconds = "300ms"
interval = "100ms"
"""


@pytest.fixture
def uncompacted(scratch: Path) -> Iterator[Path]:
    order = Order(
        find_method("job"), read_job(JOB, "job"), str(scratch / "s.img"), size_bytes=16 << 20, seed=3
    )
    yield start(
        order, scratch / "library", environment=RunEnvironment(finish=lambda folder, manifest, lock: manifest)
    )


def finish(folder: Path):
    lock = RunLock(folder)
    try:
        return finishing.finish_run(folder, read_manifest(folder), lock)
    finally:
        lock.release()


@pytest.mark.long
def test_tables_hold_exactly_what_the_logs_held(uncompacted: Path) -> None:
    logs = {
        int(path.name[:4]): _core.read_log(path, keep_interval_histograms=True).measurement
        for path in (uncompacted / "steps").glob("*.log")
    }
    manifest = finish(uncompacted)
    run = RunFolder(uncompacted)
    assert run.manifest == manifest and not (uncompacted / "steps").exists()
    # A run of more than a second, as on a slow host, has telemetry too.
    assert {info.name for info in manifest.tables} - {tables.TELEMETRY} == {tables.SERIES, tables.HIST}
    for step in run.steps():
        if step.result.measurement is None:
            continue
        measured = logs[step.ordinal]
        rows, buckets = run.rows(step.ordinal), run.histograms(step.ordinal)
        for direction in DIRECTIONS:
            native = measured.rows(measured.streams[0], direction)
            kept = rows["direction"] == direction
            if not native["ios"].any():
                assert not kept.any()
                continue
            assert np.array_equal(rows["ios"][kept], native["ios"])
            assert np.array_equal(rows["response_p999_ns"][kept], native["response_p99_9_ns"])
            assert np.array_equal(rows["end_ns"][kept], native["start_ns"] + native["duration_ns"])
            for clock in ("service", "response"):
                low, count = measured.histogram(direction, clock).buckets()
                ours = (buckets["direction"] == direction) & (buckets["clock"] == clock)
                assert np.array_equal(buckets["low_ns"][ours], low)
                assert np.array_equal(buckets["count"][ours], count)
                assert (buckets["low_ns"] < buckets["high_ns"])[ours].all()
            side = step.result.measurement[direction]
            assert rows["ios"][kept & ~rows["ramp"]].sum() == side["ios"]
        by_row = run.histograms(step.ordinal, by_row=True)
        total = sum(len(measured.rows(measured.streams[0], d)["ios"]) > 0 for d in DIRECTIONS)
        assert total and by_row["count"][by_row["clock"] == "service"].sum() == rows["ios"].sum()


def test_a_finished_run_is_read_only_and_compacted_once(uncompacted: Path) -> None:
    finish(uncompacted)
    for name in ("manifest.json", "journal.jsonl", tables.SERIES, tables.HIST):
        assert not (uncompacted / name).stat().st_mode & 0o222
    with pytest.raises(Refused, match="already"):
        compaction.compact(uncompacted)
    for info in read_manifest(uncompacted).tables:
        import hashlib

        assert hashlib.sha256((uncompacted / info.name).read_bytes()).hexdigest() == info.sha256


def test_damage_keeps_the_logs_and_is_said(uncompacted: Path) -> None:
    log = sorted((uncompacted / "steps").glob("*.log"))[0]
    data = bytearray(log.read_bytes())
    data[len(data) // 3] ^= 0xFF
    log.write_bytes(bytes(data))
    with pytest.raises(HostError, match="step 2"):
        finish(uncompacted)
    assert len(list((uncompacted / "steps").glob("*.log"))) == 2
    assert read_manifest(uncompacted).tables == () and read_manifest(uncompacted).result is not None


def buckets_of(values_ns: list[int]) -> list[int]:
    """Where the buckets begin that the engine's histogram counts single samples in."""
    ones = np.ones(len(values_ns), dtype=np.uint64)
    lows, _ = _core.Histogram.from_buckets(np.array(values_ns, dtype=np.uint64), ones).buckets()
    return [int(low) for low in lows]


def test_bucket_widths_are_those_of_the_histogram() -> None:
    """Every bucket up to the overflow: the layout has one definition in Rust, and this is the other one."""
    overflow_ns = 1 << 40
    lows = [0]
    while lows[-1] < overflow_ns:
        lows.append(lows[-1] + int(compaction.bucket_width(np.array(lows[-1:], dtype=np.uint64))[0]))
    assert lows[-1] == overflow_ns
    assert buckets_of(lows) == lows
    assert buckets_of([low - 1 for low in lows[1:]]) == lows[:-1]
    assert buckets_of([overflow_ns << 1]) == [overflow_ns]


def test_a_sum_of_waits_beyond_64_bits_is_no_hindrance() -> None:
    """Fifty million I/Os that wait six minutes each in an overloaded open loop: 570 years in all."""
    waits = _core.Histogram.from_buckets(
        np.array([1 << 38], dtype=np.uint64), np.array([1 << 26], dtype=np.uint64)
    )
    assert waits.sum_ns > np.iinfo(np.int64).max

    low, count = waits.buckets()
    of_row = {
        name: np.array([value]) for name, value in {"row": 0, "stream": 0, "direction": 1, "kind": 1}.items()
    }
    measured = Mock(streams=["writes"], histogram=lambda *_: waits)
    measured.interval_histograms.return_value = {
        **of_row,
        "bucket_low_ns": low,
        "count": count,
        "sum_ns": np.array([float(waits.sum_ns)]),
    }
    attempt = Mock(ordinal=3, attempt=1, measured=measured)
    attempt.key = partial(compaction._Attempt.key, attempt)
    found = tables.concatenate(compaction._hist(attempt), tables.HIST_COLUMNS)
    assert found["count"].sum() == 9 * (1 << 26), "three directions and flushes by two clocks, and the row"


@pytest.mark.long
def test_the_runner_never_loads_duckdb(scratch: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from ssdlab.runs.order import Order\n"
        "from ssdlab.runs.session import start\n"
        "from ssdlab.lab.found import find_method\n"
        "m = find_method('peak-random-read')\n"
        "p = m.params.build({'depths': '1', 'seconds': '50ms', 'ramp_seconds': '0'})\n"
        f"start(Order(m, p, '{scratch}/s.img', size_bytes=4 << 20), Path('{scratch}/library'))\n"
        "print([name for name in ('duckdb', 'scipy', 'matplotlib', 'pyarrow') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "[]"


def test_a_measurement_is_saved_as_a_run(scratch: Path) -> None:
    from ssdlab.drives import open_drive
    from ssdlab.model.workload import Stop, Stream, Workload

    workload = Workload.of(Stream(workers=2, stop=Stop(time_ns=200_000_000)), interval_ns=50_000_000)
    log = scratch / "measured.log"
    with open_drive(scratch / "s.img", size=8 << 20) as drive:
        measured = drive.run(workload, log_path=log)
        logs = (HeldFolder(scratch), log.name)
        folder = save_measurement(
            scratch / "library", drive, "s.img", workload, measured, logs, {"rw": "randread"}
        )
    run = RunFolder(folder)
    assert run.manifest.method.name == "measure" and run.manifest.status == "finished" and run.manifest.tables
    assert read_result(run).measurement["iops"] == measured.summary()["iops"]
    assert run.rows(0)["ios"].sum() == measured.summary()["read"]["ios"]
    assert not log.exists()


@pytest.mark.parametrize(
    ("words", "codes"),
    [
        (["--rw", "randread", "--precondition", "fill"], ()),
        (["--rw", "randwrite"], ("state-unproven",)),
        (["--rw", "randrw", "--allow-unwritten"], ("state-unproven",)),
        (["--rw", "randwrite", "--precondition", "fill"], ("written-once",)),
    ],
)
def test_writes_of_a_saved_measurement_say_what_is_known_of_their_state(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: list[str], codes: tuple[str, ...]
) -> None:
    drive = "sim:tiny-test,scale=4"
    own = ["--seconds", "0.1", "--destroy", drive, "--save", "--library", str(tmp_path)]
    assert main(["measure", drive, *words, *own]) == 0, capsys.readouterr().err
    (folder,) = (path.parent for path in tmp_path.glob("*/manifest.json"))
    assert {each.codes for each in read_result(RunFolder(folder)).scalars} == {codes}


def test_a_run_folder_of_the_same_name_is_not_overwritten(tmp_path: Path) -> None:
    make_run_folder(tmp_path, "id")
    with pytest.raises(HostError):
        make_run_folder(tmp_path, "id")
    assert [path.name for path in tmp_path.iterdir()] == ["id"]
