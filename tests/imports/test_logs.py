"""Rows of logs and statuses, held against what the logs were made from."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from imports import made
from ssdlab.formats.fio.logs import OverTime, over_time
from ssdlab.formats.fio.results import read_fio
from ssdlab.model.errors import UsageError

READ, WRITE = 0, 1


def imported(
    folder: Path,
    logs: dict[str, str],
    options: dict[str, str],
    *,
    ios: int = 4000,
    ms: int = 2000,
    threads: int = 1,
) -> OverTime:
    """One job of a result with these logs beside it."""
    for name, text in logs.items():
        (folder / name).write_text(text)
    each = made.job("3.33", made.samples(ios // threads), options=made.OPTIONS | options, ms=ms)
    (found,) = over_time(read_fio(made.put(folder / "r.json", made.document("3.33", *[each] * threads))))
    return found


def averaged(values: dict[int, int], direction: int = READ) -> str:
    return "".join(f"{at}, {value}, {direction}, {made.BLOCK}, 0\n" for at, value in values.items())


LOGGED = {"write_iops_log": "out/a", "write_bw_log": "out/a", "log_avg_msec": "500"}


def test_an_interval_without_a_line_is_a_row_of_nothing(tmp_path: Path) -> None:
    rates = {500: 2000, 1001: 3000, 2002: 1000}
    logs = {
        "a_iops.1.log": averaged(rates),
        "a_bw.1.log": averaged({at: each * 4 for at, each in rates.items()}),
    }
    (rows,) = imported(tmp_path, logs, LOGGED).rows
    assert rows.ios.tolist() == [1000, 1500, 0, 500]
    assert rows.bytes.tolist() == [each * made.BLOCK for each in rows.ios.tolist()]
    assert rows.end_ms.tolist() == [500, 1000, 1500, 2000] and not rows.partial.any()


def test_threads_add_up_and_an_end_that_one_lacks_is_no_row(tmp_path: Path) -> None:
    logs = {
        "a_iops.1.log": averaged({500: 1000, 1000: 1000, 1500: 1000, 2000: 1000}),
        "a_iops.2.log": averaged({500: 3000, 1000: 5000, 1500: 3000}),
    }
    found = imported(tmp_path, logs, LOGGED, threads=2, ios=9332)
    (rows,) = found.rows
    assert rows.ios.tolist() == [2000, 3000, 2000]
    assert {each.name for each in found.files} == set(logs)


def test_the_ramp_is_no_part_of_the_rows(tmp_path: Path) -> None:
    logs = {"a_iops.log": averaged({1500: 10, 2000: 20, 2500: 30, 3000: 40})}
    (rows,) = imported(tmp_path, logs, LOGGED | {"ramp_time": "1s"}, ios=50).rows
    assert rows.ios.tolist() == [5, 10, 15, 20]


@given(st.lists(st.tuples(st.integers(0, 3499), st.integers(1, 1 << 30)), min_size=2, max_size=60))
def test_single_ios_are_counted_and_have_exact_quantiles(
    tmp_path_factory: pytest.TempPathFactory, ios: list[tuple[int, int]]
) -> None:
    text = "".join(f"{at}, {value}, 0, {made.BLOCK}, 0\n" for at, value in sorted(ios))
    found = imported(
        tmp_path_factory.mktemp("log"), {"a_clat.1.log": text}, {"write_lat_log": "a"}, ios=len(ios), ms=3500
    )
    (rows,) = found.rows
    assert rows.ios.sum() == len(ios) and rows.bytes.sum() == len(ios) * made.BLOCK
    assert rows.partial.tolist() == [False, False, False, True]
    for second in range(4):
        own = sorted(value for at, value in ios if at // 1000 == second)
        longest, median = (rows.quantiles["clat", name][second] for name in ("max", "p50"))
        if own:
            assert (longest, median) == (own[-1], own[(len(own) - 1) // 2])
        else:
            assert np.isnan(longest) and np.isnan(median)
    bins = found.job.sides["read"].times["clat"].bins
    assert bins is not None and bins.total == len(ios)
    assert bins.percentile_ns(0.9) == made.percentile([value for _, value in ios], 90)


def histogram(counts: dict[int, int], coarse: int = 0) -> str:
    columns = [0] * (1856 >> coarse)
    for value, count in counts.items():
        columns[made.bucket(value) >> coarse] += count
    return ", ".join(map(str, columns))


@pytest.mark.parametrize("coarse", [0, 2])
def test_histogram_logs_are_rows_and_where_they_hold_all_the_whole(coarse: int, tmp_path: Path) -> None:
    first, second = {60_000: 90, 3_000_000: 10}, {70_000: 300}
    lines = f"500, 0, 4096, {histogram(first, coarse)}\n1000, 0, 4096, {histogram(second, coarse)}\n"
    options = {"write_hist_log": "a", "log_hist_msec": "500", "log_hist_coarseness": str(coarse)}
    found = imported(tmp_path, {"a_clat_hist.1.log": lines}, options, ios=400, ms=1000)
    (rows,) = found.rows
    assert rows.ios.tolist() == [100, 300]
    width = 1 / (64 >> coarse)
    assert rows.quantiles["clat", "p99"].tolist() == pytest.approx([3_000_000, 70_000], rel=width)
    bins = found.job.sides["read"].times["clat"].bins
    assert bins is not None and bins.total == 400
    assert bins.percentile_ns(0.99) == pytest.approx(3_000_000, rel=width)


def test_a_histogram_log_that_lacks_ios_says_nothing_of_the_whole(tmp_path: Path) -> None:
    lines = f"500, 0, 4096, {histogram({60_000: 99})}\n"
    options = {"write_hist_log": "a", "log_hist_msec": "500"}
    found = imported(tmp_path, {"a_clat_hist.1.log": lines}, options, ios=400, ms=1000)
    assert found.job.sides["read"].times["clat"].bins is None


def test_statuses_are_rows_of_what_came_between(tmp_path: Path) -> None:
    counts = (1000, 3000, 3000, 3100)
    documents = [
        made.document("3.33", made.job("3.33", made.samples(count), ms=1000 * at, bins=True))
        for at, count in enumerate(counts, 1)
    ]
    (found,) = over_time(read_fio(made.put(tmp_path / "r.json", *documents)))
    (rows,) = found.rows
    assert rows.ios.tolist() == [1000, 2000, 0, 100]
    assert rows.quantiles["clat", "p50"][1] == made.percentile(made.samples(3000)[1000:], 50)
    assert np.isnan(rows.quantiles["clat", "p50"][2])


def test_logs_that_several_jobs_write_are_left_out_unless_numbers_tell(tmp_path: Path) -> None:
    for number, rate in ((1, 1000), (2, 7000)):
        (tmp_path / f"a_iops.{number}.log").write_text(averaged({500: rate, 1000: rate}))
    options = made.OPTIONS | LOGGED
    jobs = [
        made.job("3.33", made.samples(ios), name=name, ms=1000, options=options)
        for name, ios in (("x", 1000), ("y", 7000))
    ]
    result = read_fio(made.put(tmp_path / "r.json", made.document("3.33", *jobs)))
    assert [each.rows[0].ios.tolist() for each in over_time(result)] == [[500, 500], [3500, 3500]]
    for each in jobs:
        each["job options"] = each["job options"] | {"group_reporting": ""}
    result = read_fio(made.put(tmp_path / "r.json", made.document("3.33", *jobs)))
    assert [each.rows[0].ios.tolist() for each in over_time(result)] == [[500, 500], [3500, 3500]]
    (tmp_path / "a_iops.3.log").write_text(averaged({500: 1}))  # of a section that its group hides
    assert all(not each.rows and each.notes for each in over_time(result))


def test_logs_that_a_later_run_wrote_are_left_out(tmp_path: Path) -> None:
    times = range(500, 2001, 500)
    later = {"a_iops.1.log": averaged(dict.fromkeys(times, 6000))}  # the result has 2000
    other = {"a_iops.1.log": averaged(dict.fromkeys(times, 2000), WRITE)}  # the result reads
    for logs in (later, other):
        found = imported(tmp_path, logs, LOGGED)
        assert not found.rows and not found.files and found.notes


@pytest.mark.parametrize("bad", ["1000, 7", "1000, fast, 0, 4096, 0", "half a lin"])
def test_a_line_that_is_none_is_named(bad: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError) as error:
        imported(tmp_path, {"a_iops.1.log": averaged({500: 10}) + bad}, LOGGED)
    assert error.value.facts["line"] == 2 and "a_iops.1.log" in error.value.what
