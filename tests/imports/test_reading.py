"""What is read of results of fio, held against the latencies that they were made from."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from imports import made
from ssdlab.formats.fio.results import (
    Bins,
    Times,
    edges_of_index,
    edges_of_value,
    load_of,
    load_words,
    read_fio,
)
from ssdlab.model.errors import UsageError


@given(st.integers(0, (1 << 36) - 1))
def test_a_bucket_has_the_edges_of_the_list(value: int) -> None:
    at = made.bucket(value)
    assert edges_of_value(value) == edges_of_index(at) == (made.EDGES[at], made.EDGES[at + 1])


@given(
    st.lists(st.lists(st.integers(1, 1 << 30), min_size=1, max_size=40), min_size=1, max_size=5),
    st.sampled_from(made.PERCENTILES),
)
def test_bins_of_jobs_have_the_percentile_of_all_their_latencies(
    jobs: list[list[int]], percent: float
) -> None:
    total = Bins(1, {})
    for samples in jobs:
        counts: dict[tuple[int, int], int] = {}
        for each in samples:
            counts[edges_of_value(each)] = counts.get(edges_of_value(each), 0) + 1
        total = total.plus(Bins(1, counts))
    whole = [each for samples in jobs for each in samples]
    assert total.total == len(whole)
    assert total.percentile_ns(percent / 100) == made.percentile(whole, percent)
    assert total.minus(total).total == 0


@pytest.mark.parametrize("version", made.VERSIONS)
def test_every_version_tells_the_same_of_the_same_latencies(version: str, tmp_path: Path) -> None:
    samples = made.samples(4000)
    result = read_fio(made.put(tmp_path / "r.json", made.document(version, made.job(version, samples))))
    (job,) = result.jobs
    (side,) = job.sides.values()
    assert side.ios == (None if version == "2.0.15" else 4000)
    assert (side.bytes, side.iops, side.mb_s) == (4000 * made.BLOCK, 2000, 4000 * made.BLOCK / 2e6)
    assert (side.times["clat"].min_ns, side.times["clat"].max_ns) == (samples[0], samples[-1])
    assert side.times["lat"].mean_ns == side.times["slat"].mean_ns + side.times["clat"].mean_ns
    assert not side.times["lat"].percentiles
    found = side.times["clat"].percentiles["p99"]
    assert found == pytest.approx(samples[3960], rel=1 / 64)
    assert result.at is not None and result.at.year == 2025


@pytest.mark.parametrize("version", ["2.12", "2.20", "2.21", "3.1", "3.33"])
def test_jobs_of_one_name_are_one_and_their_bins_add_up(version: str, tmp_path: Path) -> None:
    one, other = made.samples(3000), made.samples(1000, 900_000)
    jobs = [made.job(version, one, bins=True), made.job(version, other, bins=True, ms=1000)]
    (job,) = read_fio(made.put(tmp_path / "r.json", made.document(version, *jobs))).jobs
    side = job.sides["read"]
    assert (job.threads, side.ios, side.runtime_ms, side.iops) == (2, 4000, 2000, 2000)
    assert side.times["clat"].mean_ns == pytest.approx(sum(one + other) / 4000)
    unit = 1 if made.number(version) >= (2, 99) else 1000
    whole = [each // unit for each in one + other]
    for name, value in side.times["clat"].percentiles.items():
        assert value == made.percentile(whole, float(name[1:])) * unit


def test_percentiles_of_jobs_without_bins_are_absent(tmp_path: Path) -> None:
    jobs = [made.job("3.33", made.samples(2000)), made.job("3.33", made.samples(1000))]
    (job,) = read_fio(made.put(tmp_path / "r.json", made.document("3.33", *jobs))).jobs
    assert job.sides["read"].ios == 3000
    assert not job.sides["read"].times["clat"].percentiles


def test_groups_and_clients_stay_apart(tmp_path: Path) -> None:
    jobs = [
        made.job("3.33", made.samples(100), groupid=0),
        made.job("3.33", made.samples(200), groupid=1),
    ]
    assert len(read_fio(made.put(tmp_path / "r.json", made.document("3.33", *jobs))).jobs) == 2
    clients = [{**made.job("3.33", made.samples(100)), "hostname": host, "port": 8765} for host in "ab"]
    whole = made.job("3.33", made.samples(200), name="All clients")
    stored = made.document("3.33")
    del stored["jobs"]
    stored["client_stats"] = [*clients, whole]
    found = read_fio(made.put(tmp_path / "c.json", stored)).jobs
    assert [job.host for job in found] == ["a:8765", "b:8765", ""]


def test_text_around_documents_and_numbers_that_are_none_are_passed_over(tmp_path: Path) -> None:
    path = made.put(
        tmp_path / "r.json",
        made.document("2.2.10", made.job("2.2.10", made.samples(500))),
        before="fio: this platform does not support process shared mutexes\nnote: {half\n\n",
        after="\nRun status group 0 (all jobs):\n",
    )
    path.write_text(path.read_text().replace('"stddev": 0.0', '"stddev": -nan'))
    assert read_fio(path).jobs[0].sides["read"].ios == 500


def test_statuses_are_one_run_and_the_last_is_its_result(tmp_path: Path) -> None:
    documents = [
        made.document("3.33", made.job("3.33", made.samples(count), ms=count)) for count in (1000, 2000, 3000)
    ]
    result = read_fio(made.put(tmp_path / "r.json", *documents))
    assert len(result.statuses) == 3
    assert result.jobs[0].sides["read"].ios == 3000
    with pytest.raises(UsageError, match="does not continue"):
        read_fio(made.put(tmp_path / "s.json", *reversed(documents)))


def test_reads_and_writes_that_fio_added_up_are_neither(tmp_path: Path) -> None:
    entry = made.job("3.33", made.samples(100), options={"rw": "randrw"})
    entry["mixed"] = entry.pop("read")
    del entry["write"], entry["trim"]
    (job,) = read_fio(made.put(tmp_path / "r.json", made.document("3.33", entry))).jobs
    assert job.mixed and not job.sides
    entry["job options"] = {"rw": "randread"}
    (job,) = read_fio(made.put(tmp_path / "o.json", made.document("3.33", entry))).jobs
    assert list(job.sides) == ["read"] and not job.mixed


def test_syncs_have_times_of_their_own(tmp_path: Path) -> None:
    entry = made.job("3.33", write=made.samples(100))
    entry["sync"] = {
        "total_ios": 0,
        "lat_ns": made.clock(made.samples(100), "3.33", percentiles=True, bins=True),
    }
    (job,) = read_fio(made.put(tmp_path / "r.json", made.document("3.33", entry))).jobs
    assert isinstance(job.sync, Times) and job.sync.samples == 100
    assert list(job.sides) == ["write"]


def terse(version: int, directions: int, *, width: int) -> str:
    """A line of terse output, its first direction with I/O: 1000 KiB, 250 IOPS, 1 s, clat p99 900 us."""
    idle = ["0"] * 12 + ["0%=0"] * 20 + ["0"] * 4 + ["0", "0", "0.0%", "0.0", "0.0"]
    busy = ["1000", "1000", "250", "1000", "1", "2", "1.5", "0.5", "100", "1000", "500.0", "9.0"]
    busy += ["50.000000%=480", "99.000000%=900", *["0%=0"] * 18, "102", "1002", "501.5", "9.0", *idle[-5:]]
    blocks = [busy, *([idle] * (directions - 1))]
    fields = [str(version), "fio-3.33", "made", "0", "0"]
    for block in blocks:
        fields += block + ["0"] * (width - len(block))
    return ";".join([*fields, "1.0%", "2.0%", "3", "0", "4", *["0.0%"] * 29, "vda", "1"])


@pytest.mark.parametrize(("version", "directions", "width"), [(3, 2, 41), (4, 3, 41), (5, 3, 47), (5, 4, 47)])
def test_terse_output_is_read_by_its_version(
    version: int, directions: int, width: int, tmp_path: Path
) -> None:
    path = tmp_path / "t.txt"
    path.write_text(f"Starting 1 process\n{terse(version, directions, width=width)}\n")
    result = read_fio(path)
    (job,) = result.jobs
    side = job.sides["read"]
    assert list(job.sides) == ["read"] and result.terse == version
    assert (side.ios, side.bytes, side.iops, side.runtime_ms) == (None, 1000 << 10, 250, 1000)
    assert side.times["clat"].percentiles == {"p50": 480_000, "p99": 900_000}
    assert (side.times["lat"].mean_ns, side.times["slat"].max_ns) == (501_500, 2000)


def test_one_direction_in_a_terse_line_is_reads_and_writes_added_up(tmp_path: Path) -> None:
    path = tmp_path / "t.txt"
    path.write_text(terse(5, 1, width=47))
    (job,) = read_fio(path).jobs
    assert job.mixed and not job.sides


@pytest.mark.parametrize(
    ("edit", "facts"),
    [
        (lambda text: text[: len(text) // 2], {"line"}),
        (lambda text: text.replace('"runtime": 2000', '"runtime": 2000 2', 1), {"line"}),
        (lambda text: text.replace('"fio version"', '"version"'), {"key", "line"}),
        (lambda text: text.replace('"jobs"', '"tests"'), {"key"}),
        (lambda text: text.replace('"runtime": 2000', '"runtime": "long"', 1), {"key", "line"}),
        (lambda text: text.replace('"total_ios": 100', '"total_ios": -100', 1), {"key", "line"}),
        (lambda text: text.replace('"io_bytes"', '"bytes"', 1), {"key", "line"}),
        (lambda text: text.replace("fio-3.33", "fio-4.1"), {"version"}),
        (lambda text: text.replace("fio-3.33", "fio-1.59"), {"version"}),
        (lambda text: '{"a": 1}', {"key"}),
        (lambda text: "[1, 2]", {"path"}),
        (lambda text: "2;made;0;0;1;2\n", {"path"}),
        (lambda text: "made: (groupid=0, jobs=1): err= 0: pid=1: then\n", {"path"}),
        (lambda text: terse(5, 3, width=47)[:300], {"line"}),
        (lambda text: terse(7, 3, width=47), {"line"}),
        (lambda text: "", {"path"}),
    ],
)
def test_what_is_no_result_is_refused_with_its_place(
    edit: Callable[[str], str], facts: set[str], tmp_path: Path
) -> None:
    path = tmp_path / "r.json"
    text = json.dumps(made.document("3.33", made.job("3.33", made.samples(100))), indent=1)
    path.write_text(edit(text))
    with pytest.raises(UsageError) as error:
        read_fio(path)
    assert str(path) in error.value.what and error.value.advice
    assert facts <= error.value.facts.keys()


def test_a_load_is_what_is_asked_of_the_drive() -> None:
    options = {"rw": "randrw:8", "bssplit": "4k/50:8k/50", "iodepth": "8", "rate_iops": "100"}
    asked = load_of(options)
    assert (asked.kind, asked.pattern, asked.depth, asked.paced) == ("mixed", "random", 8, True)
    assert load_of({}).pattern is None
    elsewhere = {"filename": "/dev/x", "write_bw_log": "x", "log_avg_msec": "500", "group_reporting": ""}
    assert load_words(options | elsewhere) == load_words(options)
    assert load_words(options) != load_words(options | {"iodepth": "9"})


def test_sections_of_one_name_and_other_loads_are_two_jobs(tmp_path: Path) -> None:
    jobs = [made.job("3.33", made.samples(100), options=made.OPTIONS | {"bs": size}) for size in ("4k", "8k")]
    assert len(read_fio(made.put(tmp_path / "r.json", made.document("3.33", *jobs))).jobs) == 2


def test_statuses_of_a_ramp_are_none_of_the_run(tmp_path: Path) -> None:
    options = made.OPTIONS | {"ramp_time": "2"}
    documents = [
        made.document("3.33", made.job("3.33", made.samples(count), ms=count, options=options))
        for count in (1000, 2000, 500, 1500)
    ]
    result = read_fio(made.put(tmp_path / "r.json", *documents))
    assert [jobs[0].sides["read"].ios for jobs in result.statuses] == [500, 1500]


def test_names_are_text_whatever_json_makes_of_them(tmp_path: Path) -> None:
    path = made.put(
        tmp_path / "r.json", made.document("3.33", made.job("3.33", made.samples(9), name="a\ud800"))
    )
    assert read_fio(path).jobs[0].name == "a?"
