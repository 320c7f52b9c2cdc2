"""Change points: planted ones are found, flat series left alone, the energy is what its formula says."""

from __future__ import annotations

import json
import random
from pathlib import Path

import numpy as np
import pytest

from library.made import run
from ssdlab.analysis.change_points import STRETCH_MIN, _best_place, change_points
from ssdlab.cli import main
from ssdlab.results import catalogue


def nights(seed: int, changes_at: dict[int, float], n: int = 60) -> list[float]:
    """Nightly values with 5 % noise and 8 % of slow ones; from each night on times a factor."""
    draw, factor, values = random.Random(seed), 1.0, []
    for night in range(n):
        factor = changes_at.get(night, factor)
        slow = 1 + draw.uniform(0, 0.3) if draw.random() < 0.08 else 1.0
        values.append(factor * slow * draw.gauss(100, 5))
    return values


def energy_by_pairs(series: list[float]) -> tuple[float, int]:
    """The scaled energy distance by its definition, over all places and ends."""

    def mean(pairs: list[float]) -> float:
        return sum(pairs) / len(pairs)

    best = (-np.inf, 0)
    for place in range(STRETCH_MIN, len(series) - STRETCH_MIN + 1):
        for end in range(place + STRETCH_MIN, len(series) + 1):
            left, right = series[:place], series[place:end]
            between = mean([abs(a - b) for a in left for b in right])
            inner = [
                mean([abs(a - b) for i, a in enumerate(side) for b in side[:i]]) for side in (left, right)
            ]
            scale = len(left) * len(right) / (len(left) + len(right))
            best = max(best, (scale * (2 * between - sum(inner)), place))
    return best


@pytest.mark.parametrize("seed", range(4))
def test_the_energy_is_what_its_definition_says(seed: int) -> None:
    series = nights(seed, {8: 1.1}, 16)
    found = _best_place(np.abs(np.subtract.outer(series, series)))
    expected = energy_by_pairs(series)
    assert found[0] == pytest.approx(expected[0]) and found[1] == expected[1]


def campaign(seeds: range) -> tuple[int, int, float]:
    """Series with a change that were parted, flat ones that were, and how many nights off the first were."""
    off, false = [], 0
    for seed in seeds:
        at = 20 + seed % 20
        changes = change_points(nights(seed, {at: 1.1}))
        off += [min(abs(change.at - at) for change in changes)] if changes else []
        false += bool(change_points(nights(seed + 1000, {})))
    near = sum(nights_off <= STRETCH_MIN for nights_off in off)
    mean = sum(off) / len(off)
    print(f"of {len(seeds)}: found {len(off)}, {near} near, {mean:.1f} nights off; false {false}")
    return len(off), false, mean


def test_a_change_of_a_tenth_is_found_and_flat_series_are_left_alone() -> None:
    found, false, off = campaign(range(12))
    assert found >= 10 and false <= 3 and off <= STRETCH_MIN


@pytest.mark.slow
def test_of_a_hundred_series_each() -> None:
    found, false, off = campaign(range(100))
    assert found >= 90 and false <= 15 and off <= STRETCH_MIN


def test_two_changes_are_both_found_with_their_sizes() -> None:
    first, second = change_points(nights(1, {20: 1.3, 40: 1.0}))
    assert abs(first.at - 20) <= 2 and abs(second.at - 40) <= 2
    assert first.share == pytest.approx(0.3, abs=0.06) and second.share == pytest.approx(-0.23, abs=0.06)


def test_short_constant_and_odd_series() -> None:
    assert change_points([1.0] * 9) == () and change_points([2.0] * 60) == ()
    assert [change.at for change in change_points([1.0] * 10 + [2.0] * 10)] == [10]
    with pytest.raises(ValueError):
        change_points([1.0, 0.0])


def test_the_command_names_the_run_since_when(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for night, value in enumerate(nights(3, {15: 1.3}, 30)):
        at = f"2026-10-{night + 1:02d}T02:00:00.000Z"
        folder = run(tmp_path, night, {"p99_ns": value}, at=at, drive_id="SER1")
        catalogue.add(tmp_path, folder)
    for number, changes in ((50, {"engine": "uring"}), (51, {"drive_id": "SER2"})):
        catalogue.add(tmp_path, run(tmp_path, number, {"p99_ns": 1.0}, **changes))
    assert main(["changes", "p99", "--drive", "ser1", "--library", str(tmp_path), "--json"]) == 0
    (series,) = json.loads(capsys.readouterr().out)["series"]
    (change,) = series["changes"]
    assert abs(change["at"] - 15) <= 2 and series["runs"][change["at"]].startswith("202610")
    assert main(["changes", "p99", "--library", str(tmp_path)]) == 0
    out, err = capsys.readouterr()
    assert series["runs"][change["at"]] in out and "+" in out
    assert "series: Model of SER1 (SER1), 30 runs" in out
    assert "too few runs (needs ten): Model of SER2 (SER2), 1 run\n" in out
    assert "left out: 1 run of 1 drive" in out
    assert err == "", "all is said once"
    assert "left out: 1 run of 1 drive: engine uring, not sync" in out
    assert main(["changes", "p99", "--library", str(tmp_path), "--json"]) == 0
    (unlike,) = json.loads(capsys.readouterr().out)["left_out"]
    assert unlike["why"] == "engine uring, not sync" and unlike["runs"] == 1
