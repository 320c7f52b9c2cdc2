"""Consistency: the stretches on numbers known beforehand, and spare area on a simulated drive."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from methods.on_simulated import run
from ssdlab.analysis.consistency import stretch
from ssdlab.methods.results.consistency import ConsistencyResult
from ssdlab.methods.results.outcome import read_result


def test_a_stretch_holds_the_rows_that_end_in_it() -> None:
    ends_s = np.arange(1.0, 11.0)
    found = stretch(ends_s, np.array([9.0] * 5 + [1.0, 2.0, 3.0, 4.0, 5.0]), 5.0, 10.0)
    assert found is not None
    assert (found.rows, found.floor, found.mean) == (5, 1.0, 3.0)
    assert found.deviation == pytest.approx(np.std([1, 2, 3, 4, 5], ddof=1))
    assert found.evenness == pytest.approx(3.0 / found.deviation)
    assert stretch(ends_s, ends_s, 10.0, 20.0) is None
    level = stretch(ends_s, np.full(10, 7.0), 0.0, 10.0)
    assert level is not None
    assert level.evenness is None


def test_more_spare_area_makes_it_faster_and_both_runs_begin_fresh(tmp_path: Path) -> None:
    folder = run("consistency", tmp_path, seconds="60", round_seconds="2")
    result = read_result(folder)
    assert isinstance(result, ConsistencyResult)
    assert result.purged
    stock, spare = result.entries
    assert (stock.name, spare.name) == ("stock", "25 % left unwritten")
    assert spare.spare_of_capacity == pytest.approx(0.25, abs=0.001)
    last = {
        entry.name: entry.stretches[-1 if entry.steady_from_s is None else -2] for entry in result.entries
    }
    assert last[spare.name].mean > 1.5 * last[stock.name].mean
    assert stock.write_amplification is not None
    assert spare.write_amplification is not None
    assert spare.write_amplification < stock.write_amplification
    for entry in result.entries:
        whole = entry.stretches[0]
        assert whole.rows == 60
        assert whole.floor <= whole.p1 <= whole.mean
    assert [step.verb for step in folder.steps()] == ["conditions"] + ["purge", "limit", "fill", "run"] * 2
