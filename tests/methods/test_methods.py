"""The methods against a drive whose answers are known: they find what it was built to give."""

from __future__ import annotations

from pathlib import Path

import pytest

from lab.fake_drive import FakeDrive, knee, run_on
from methods.on_simulated import findings_of, shorter_in
from ssdlab.lab.found import all_methods, find_method
from ssdlab.lab.job import read_job
from ssdlab.lab.outcome import read_result
from ssdlab.lab.parts.workloads import closed_loop
from ssdlab.model.errors import UsageError
from ssdlab.results.run_folder import RunFolder
from ssdlab.results.schema import Point

KIB = 1024
READS = ("qd1", "peak-random-read", "peak-sequential-read")
"""Methods that conclude from summaries alone; those that need rows are tried on simulated drives."""


def run_of(name: str, drive: FakeDrive, library: Path, quick: bool = False, **settings: str) -> RunFolder:
    method = find_method(name)
    if name == "qd1":
        settings.setdefault("steady", "false")  # steady state is judged by rows
    return RunFolder(run_on(drive, method, method.params.build(settings, quick=quick), library, quick=quick))


def result_of(name: str, drive: FakeDrive, library: Path, **settings: str):
    return read_result(run_of(name, drive, library, **settings))


# 100 us a read: the ceiling is reached between two powers of two, or exactly at one.
@pytest.mark.parametrize(
    ("ceiling", "depth"),
    [(10_000, 1), (80_000, 8), (84_000, 8), (84_500, 16), (640_000, 64), (5_120_000, 512)],
)
def test_the_sweep_finds_the_knee(tmp_path: Path, ceiling: float, depth: int) -> None:
    result = result_of("peak-random-read", FakeDrive(knee(100e-6, ceiling)), tmp_path)
    assert result.points[result.chosen].in_flight_asked == depth
    chosen = result.points[result.chosen]
    assert chosen.iops == min(depth * 10_000, ceiling) and chosen.mb_s == pytest.approx(
        chosen.iops * 4096 / 1e6
    )
    assert result.threshold_iops == pytest.approx(0.95 * ceiling)
    assert (result.sweep_min_iops, result.sweep_max_iops) == (10_000, ceiling)
    assert [point.in_flight_asked for point in result.points] == [2**n for n in range(10)]
    scalars = {scalar.name: scalar.value for scalar in result.scalars}
    assert scalars["peak_random_read_depth"] == depth and scalars["peak_random_read_iops"] == chosen.iops


def test_the_whole_curve_is_kept_with_its_spread(tmp_path: Path) -> None:
    result = result_of("peak-random-read", FakeDrive(), tmp_path)
    for point in result.points:
        assert point.spread_iops.n == 60 and point.spread_iops.min == point.spread_iops.max
        assert point.spread_iops.mean == pytest.approx(point.iops, rel=1e-3)
        assert point.little_ratio == pytest.approx(1.0)
        assert point.attribution is not None and point.service_ns["mean"] > 0
        assert point.ordinal is not None and point.missing is None


def test_a_curve_that_dips_is_read_as_the_rule_says(tmp_path: Path) -> None:
    measured = {1: 10e3, 2: 96e3, 4: 50e3, 8: 100e3, 16: 99e3}
    drive = FakeDrive(lambda in_flight, block, writes: measured[in_flight])
    result = result_of("peak-random-read", drive, tmp_path, depths="1,2,4,8,16")
    assert (
        result.points[result.chosen].in_flight_asked == 2 and result.points[result.best].in_flight_asked == 8
    )


def test_threads_of_one_io_or_one_ring_of_that_depth(tmp_path: Path) -> None:
    for engine, shape in (("sync", (8, 1)), ("uring", (1, 8))):
        drive = FakeDrive()
        result = result_of("peak-random-read", drive, tmp_path / engine, depths="8", engine=engine)
        stream = drive.runs[0].streams[0]
        assert (stream.workers, stream.depth) == shape and stream.engine == engine
        assert result.engine == engine and result.points[result.chosen].in_flight_asked == 8
        assert any("io_uring" in each.lower() for each in findings_of(result)) is (engine == "uring")


def test_what_each_method_asks_of_the_drive(tmp_path: Path) -> None:
    asked = {}
    for name in READS:
        drive = FakeDrive()
        result_of(name, drive, tmp_path)
        streams = [workload.streams[0] for workload in drive.runs]
        asked[name] = {(s.pattern.kind, s.reads, s.block[0].bytes) for s in streams}
        assert {(s.span.start, s.span.length) for s in streams} == {(0, drive.capacity_bytes)}, (
            "not the whole span"
        )
        assert all(s.direct and s.stop.time_ns for s in streams)
    assert asked["peak-random-read"] == {("uniform", True, 4096)}
    assert asked["peak-sequential-read"] == {("sequential", True, 128 * KIB)}
    assert len(asked["qd1"]) == 4 * 12


def test_the_highest_depth_is_said_to_be_it(tmp_path: Path) -> None:
    never = result_of("peak-random-read", FakeDrive(knee(100e-6, 1e12)), tmp_path / "a")
    assert never.points[never.chosen].in_flight_asked == 512 and any(
        "highest depth" in each for each in findings_of(never)
    )
    settles = result_of("peak-random-read", FakeDrive(), tmp_path / "b")
    assert not any("highest depth" in each for each in findings_of(settles))


@pytest.mark.parametrize("name", READS)
def test_quick_says_what_it_costs(tmp_path: Path, name: str) -> None:
    quick = run_of(name, FakeDrive(), tmp_path / "quick", quick=True)
    (said,) = shorter_in(quick)
    assert read_result(quick).quick and said.startswith("quick: ") and "60 s" in said
    full = run_of(name, FakeDrive(), tmp_path / "full")
    assert not read_result(full).quick and not shorter_in(full)


def test_qd1_reads_everything_before_it_writes_anything(tmp_path: Path) -> None:
    drive = FakeDrive(known_written=False)
    result = result_of("qd1", drive, tmp_path)
    order = [workload.changes_data for workload in drive.runs]
    assert order[0] is True and drive.runs[0].streams[0].stop.bytes == drive.capacity_bytes, (
        "the fill comes first"
    )
    assert order[1:] == sorted(order[1:]), "a write came before a read"
    assert {workload.streams[0].in_flight for workload in drive.runs} == {1}
    assert [(p.pattern, p.direction) for p in result.corners] == [
        ("random", "read"),
        ("random", "write"),
        ("sequential", "read"),
        ("sequential", "write"),
    ]
    assert [p.iops for p in result.corners[:2]] == [10_000, 5_000]


def sizes_of(result, pattern: str, direction: str) -> list[Point]:
    return [p for p in result.block_sizes if (p.pattern, p.direction) == (pattern, direction)]


def test_a_size_that_the_drive_cannot_do_leaves_its_row_empty_with_the_reason(tmp_path: Path) -> None:
    result = result_of("qd1", FakeDrive(logical_block_bytes=4096), tmp_path)
    assert len(result.block_sizes) == 4 * 12
    for pattern in ("random", "sequential"):
        for direction in ("read", "write"):
            points = sizes_of(result, pattern, direction)
            assert [p.block_bytes for p in points] == [512 * 2**n for n in range(12)]
            for point in points:
                if point.block_bytes < 4096:
                    assert point.iops is None and point.missing == "the drive's logical block is 4 KiB"
                else:
                    assert point.iops > 0 and point.missing is None
    whole = result_of("qd1", FakeDrive(logical_block_bytes=512), tmp_path)
    assert not any(point.missing for point in whole.block_sizes)


@pytest.mark.parametrize("method", all_methods(), ids=lambda method: method.name)
def test_every_method_explains_itself(method) -> None:
    prose = method.prose
    for part in ("Question", "Procedure", "Source", "What it cannot show"):
        assert f"\n{part}\n" in prose, part
    info = method.info()
    assert info.version >= 1 and info.title and info.needs and info.conditions == {"scheduler": "none"}
    for each in info.parameters:
        assert each.reason, each.name
        assert each.unit or isinstance(each.default, str | bool | int), each.name
        assert each.default != each.quick or each.name not in ("seconds", "ramp_seconds")


@pytest.mark.parametrize(
    ("settings", "nearest"),
    [({"second": "3"}, "seconds"), ({"depth": "1"}, "depths"), ({"Engine": "uring"}, "engine")],
)
def test_an_unknown_parameter_names_the_nearest(settings: dict[str, str], nearest: str) -> None:
    with pytest.raises(UsageError) as raised:
        find_method("peak-random-read").params.build(settings)
    assert raised.value.facts["nearest"] == nearest and nearest in raised.value.advice


@pytest.mark.parametrize(
    "settings",
    [
        {"seconds": "soon"},
        {"seconds": "0"},
        {"seconds": "-1"},
        {"depths": ""},
        {"depths": "1,x"},
        {"depths": "0"},
        {"depths": "4,2"},
        {"depths": "1,1"},
        {"depths": "5000"},
        {"engine": "urings"},
        {"fill": "perhaps"},
    ],
)
def test_a_value_that_does_not_fit_is_said_before_anything_runs(settings: dict[str, str]) -> None:
    with pytest.raises(UsageError) as raised:
        find_method("peak-random-read").params.build(settings)
    assert raised.value.what and raised.value.advice


def test_values_carry_units() -> None:
    params = find_method("peak-random-read").params.build(
        {"seconds": "2min", "depths": "1, 4,16", "fill": "true"}
    )
    assert params.seconds == 120 and params.depths == (1, 4, 16) and params.fill is True
    assert find_method("qd1").params.build({"sizes": "4k,1MiB"}).sizes == (4096, 1 << 20)


def test_an_unknown_method_names_the_nearest() -> None:
    with pytest.raises(UsageError) as raised:
        find_method("peak-random-reed")
    assert raised.value.facts["nearest"] == "peak-random-read"


def test_what_writes_says_so() -> None:
    peak, qd1 = find_method("peak-random-read"), find_method("qd1")
    assert not peak.writes(peak.params()) and peak.writes(peak.params.build({"fill": "true"}))
    assert qd1.writes(qd1.params()) and qd1.info().destructive and not peak.info().destructive


JOB = """
[[step]]
do = "fill"
unless-written = true
[[step]]
do = "run"
label = "mixed"
rw = "randrw"
read-pct = 70
bs = "4k"
threads = 4
seconds = 2
[[step]]
do = "idle"
seconds = "10ms"
[[step]]
do = "trim"
[[step]]
do = "flush"
[[step]]
do = "limit"
size = "512MiB"
[[step]]
do = "precondition"
rw = "randwrite"
seconds = 1
span = "0..25%"
seed = 9
[[step]]
do = "note"
text = "that was all"
"""


def test_a_job_does_its_steps_in_order(tmp_path: Path) -> None:
    drive, job = FakeDrive(), find_method("job")
    run = RunFolder(run_on(drive, job, read_job(JOB, "job.toml"), tmp_path))
    verbs = [step.verb for step in run.steps()]
    assert verbs == ["conditions", "fill", "run", "idle", "trim", "flush", "limit", "precondition", "note"]
    assert [point.label for point in read_result(run).points] == ["mixed", "step 7 of the job: precondition"]
    mixed, last = drive.runs
    assert mixed.streams[0].ops.read_pct == 70 and mixed.streams[0].span.length == 1 << 30
    assert last.seed == 9 and last.streams[0].span.length == "25%", "what the step names is kept"
    assert run.manifest.method.destructive and run.manifest.params["steps"][1]["options"]["rw"] == "randrw"


def test_a_job_that_only_reads_needs_no_consent() -> None:
    job = find_method("job")
    assert not job.writes(read_job('[[step]]\ndo = "run"\nseconds = 1', "x"))
    assert job.writes(read_job('[[step]]\ndo = "trim"', "x"))
    assert job.writes(read_job('[[step]]\ndo = "run"\nrw = "write"\nseconds = 1', "x"))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[[step]\n", "not TOML"),
        ("", "no steps"),
        ("[[steps]]\n", "'steps'"),
        ("step = [1, 2]", "step 1"),
        ("[[step]]\nrw = 'read'", "does not say what to do"),
        ("[[step]]\ndo = 'rum'", "'rum'"),
        ("[[step]]\ndo = 'idle'", "seconds"),
        ("[[step]]\ndo = 'idle'\nseconds = 1\nsecs = 3", "'secs'"),
        ("[[step]]\ndo = 'run'\nthread = 3", "'thread'"),
        ("[[step]]\ndo = 'run'\ndepth = 4", "sync"),
        ("[[step]]\ndo = 'run'\ndestroy = 'X'", "destroy"),
        ("[[step]]\ndo = 'fill'\npasses = 'many'", "passes"),
        ("[[step]]\ndo = 'idle'\nseconds = 'long'", "long"),
        ("[[step]]\ndo = 'limit'\nsize = 'half'", "half"),
    ],
)
def test_a_job_that_cannot_be_is_said_before_anything_runs(text: str, words: str) -> None:
    with pytest.raises(UsageError) as raised:
        read_job(text, "job.toml")
    assert words in f"{raised.value.what} {raised.value.advice}"


@pytest.mark.parametrize(("seconds", "ramp_seconds"), [(60, 2), (1.5, 0.2), (2, 0.005), (30, 1.3), (1, 0)])
def test_a_ramp_ends_with_a_row_and_is_not_part_of_the_time(seconds: float, ramp_seconds: float) -> None:
    workload = closed_loop(
        "random", "read", block_bytes=4096, in_flight=4, seconds=seconds, ramp_seconds=ramp_seconds
    )
    assert workload.ramp_ns % workload.interval_ns == 0
    assert 0 <= workload.ramp_ns - ramp_seconds * 1e9 < workload.interval_ns
    assert workload.streams[0].stop.time_ns == workload.ramp_ns + seconds * 1e9
