"""Rates are of the time in which I/O was issued; counts and latencies are of every I/O."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from ssdlab.lab.parts.points import point_of
from ssdlab.model.measurement import Measurement
from ssdlab.model.summary import Summary
from ssdlab.results.records import StepResult
from ssdlab.results.run_folder import Step
from ssdlab.runs.measure import measure

SMALL = "sim:tiny-test,scale=4"


def measured(**options: Any) -> Measurement:
    return measure(SMALL, seed=1, interval=0.1, **options)


@pytest.mark.parametrize("threads", [1, 32, 512])
@pytest.mark.parametrize("seconds", [0.5, 0.95])
def test_the_mean_lies_within_the_intervals_and_the_depth_is_reached(threads: int, seconds: float) -> None:
    made = measured(rw="randread", threads=threads, seconds=seconds)
    summary, rows = made.summary(), made.rows()
    issued = rows["start_ns"] < round(seconds * 1e9)
    rates = rows["ios"][issued] / (rows["duration_ns"][issued] / 1e9)
    assert rates.min() <= summary.iops <= rates.max()
    assert summary.elapsed_s == seconds
    assert summary.iops == pytest.approx(rows["ios"][issued].sum() / seconds)
    assert summary.in_flight == pytest.approx(threads, rel=0.02)
    assert "depth-not-reached" not in [each.code for each in made.warnings]


def test_every_io_is_counted_and_the_drain_is_told_apart() -> None:
    made = measured(rw="randread", threads=512, seconds=0.5)
    summary, rows = made.summary(), made.rows()
    assert summary.read is not None and summary.drained is not None
    after = rows["start_ns"] >= 500_000_000
    assert summary.drained.ios == rows["ios"][after].sum() > 0
    assert summary.read.ios == rows["ios"].sum() == made.histogram("read", "service").count
    assert rows["partial"][after].all(), "no row of the drain is an interval"
    assert summary.drained.ns == pytest.approx(summary.total_s * 1e9 - 500_000_000)
    assert summary.counted_s == summary.total_s


def test_directions_and_points_share_the_window() -> None:
    made = measured(rw="randrw", threads=64, seconds=0.5, destroy=SMALL)
    summary = made.summary()
    assert summary.iops_of("read") + summary.iops_of("write") == pytest.approx(summary.iops)
    assert summary.mb_s_of("read") + summary.mb_s_of("write") == pytest.approx(summary.mb_s)
    assert summary.read is not None
    assert summary.iops_of("read") < summary.read.ios / summary.elapsed_s, "of which some came after the stop"
    workload = {"workload": made.as_dict()["workload"]}
    plain = json.loads(json.dumps(made.as_dict(), default=list))
    step = Step(0, 1, "run", "mix", workload, StepResult(seconds=1.0, measurement=plain))
    assert point_of(step, direction="write").iops == summary.iops_of("write")


def test_what_older_versions_stored_has_the_rates_that_it_had() -> None:
    old = Summary.model_validate({"elapsed_s": 2.0, "iops": 50.0, "read": {"ios": 100, "bytes": 4_000_000}})
    assert (old.iops_of("read"), old.mb_s_of("read"), old.iops_of("write")) == (50.0, 2.0, 0.0)
    assert old.counted_s == 2.0


def test_a_fill_has_no_drain() -> None:
    made = measured(rw="write", bs="1m", bytes="64m", destroy=SMALL)
    assert made.summary().drained is None
    assert made.elapsed_s == made.summary().total_s
    assert made.mb_s == pytest.approx(np.sum(made.rows()["bytes"]) / made.elapsed_s / 1e6)


def test_spare_area_in_use_is_told_once_all_of_it_is() -> None:
    fresh = measured(rw="randread", seconds=0.2).summary().drive
    assert fresh is not None and fresh.effective_spare is None
    full = measured(rw="randread", seconds=0.2, precondition="fill", destroy=SMALL).summary().drive
    assert full is not None and full.effective_spare == pytest.approx(0.127, abs=0.005)


@pytest.mark.parametrize(("spare", "early", "late"), [("99%", 2.0, 16.0), ("60%", 3.0, 24.0)])
def test_spare_area_is_not_told_while_blocks_are_left_that_nobody_wrote(
    spare: str, early: float, late: float
) -> None:
    """It grew by each write from where it passed that of a full drive: 93.7 % of 99 after two seconds."""
    found = []
    for seconds in (early, late):
        text = f"{SMALL},spare={spare}"
        job = {"rw": "randwrite", "engine": "uring", "depth": 32, "seconds": seconds, "destroy": text}
        drive = measure(text, seed=1, **job).summary().drive
        assert drive is not None
        found.append(drive.effective_spare)
    assert found == [None, pytest.approx(float(spare[:-1]) / 100, abs=0.002)]


def test_what_is_trimmed_is_no_spare_area_in_use() -> None:
    drive = measured(rw="randtrim", seconds=3.0, destroy=SMALL).summary().drive
    assert drive is not None and drive.effective_spare is None
