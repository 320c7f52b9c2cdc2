"""Several runs of one method: medians and their intervals against what is known of them."""

from __future__ import annotations

import random
import re
import statistics
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from lab.fake_drive import FakeDrive
from library.made import manifest
from ssdlab.cli.showing_suite import print_suite
from ssdlab.lab.found import find_method
from ssdlab.lab.kinds import RepeatedFigure, SuiteResult
from ssdlab.lab.outcome import read_result
from ssdlab.model.errors import UsageError
from ssdlab.results.metric import Load, Metric, Qualifier
from ssdlab.results.run_folder import RunFolder
from ssdlab.runs.order import Order
from ssdlab.runs.suites import outcome
from ssdlab.runs.suites.ordering import SuiteOrder, check_repeat, repeated
from ssdlab.runs.suites.outcome import median_interval
from ssdlab.runs.suites.session import start_suite
from suites.made import Watcher, environment


@pytest.mark.parametrize(
    ("runs", "rank", "confidence"),
    [
        (1, 1, 0.0),
        (2, 1, 0.5),
        (3, 1, 0.75),
        (5, 1, 0.9375),
        (6, 1, 0.96875),
        (9, 2, 0.9609375),
        (20, 6, 0.9586),
    ],
)
def test_the_interval_is_the_narrowest_that_reaches_95_percent(
    runs: int, rank: int, confidence: float
) -> None:
    """Confidences by the binomial distribution, as in tables of the sign test."""
    values = [float(value) for value in range(1, runs + 1)]
    random.Random(1).shuffle(values)
    found = median_interval(values)
    assert (found.low, found.high) == (rank, runs + 1 - rank)
    assert found.confidence == pytest.approx(confidence, abs=1e-4)
    assert found.median == statistics.median(values)


@pytest.mark.parametrize("runs", [4, 6, 11])
def test_the_interval_covers_the_median_as_often_as_it_says(runs: int) -> None:
    draw = random.Random(runs)
    median = 2**0.5  # of a Pareto distribution with exponent 2, which has no variance
    trials = 4000
    covered = 0
    for _ in range(trials):
        found = median_interval([draw.paretovariate(2) for _ in range(runs)])
        covered += found.low <= median <= found.high
    spread = 4 * (found.confidence * (1 - found.confidence) / trials) ** 0.5
    assert covered / trials == pytest.approx(found.confidence, abs=spread)


def test_no_runs_and_odd_confidences_are_refused() -> None:
    with pytest.raises(ValueError):
        median_interval([])
    with pytest.raises(ValueError):
        median_interval([1.0], 1.0)
    for repeat in (0, -1, 100):
        with pytest.raises(UsageError, match=f"--repeat {repeat} is not 1 to 99"):
            check_repeat(repeat)


def repeats_of(
    monkeypatch: pytest.MonkeyPatch, figures: Sequence[Metric], **changes: Sequence[object]
) -> RepeatedFigure:
    """One figure of a run each; `changes` are fields of their manifests, one for each run."""
    results = {
        number: SuiteResult(quick=False, outcomes=(), scalars=(figure,))
        for number, figure in enumerate(figures)
    }
    runs: list[Any] = []
    for number in results:
        own: dict[str, Any] = {name: each[number] for name, each in changes.items()}
        runs.append(SimpleNamespace(number=number, manifest=manifest(number, {}, **own)))
    monkeypatch.setattr(outcome, "read_result", lambda run: results[run.number])
    (figure,) = outcome._figures("part", runs)
    return figure


def test_a_median_says_in_how_many_of_its_runs_each_qualifier_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs whose value was withheld count: what is left is a selection."""
    hot, host, placed = (Qualifier(code=code) for code in ("throttled", "host-limited", "placed"))
    runs = [(1.0, (placed, host)), (2.0, (placed, hot, host)), (3.0, (placed, hot, hot)), (None, (hot,))]
    figures = [Metric.more("a", "A", value, "IOPS", qualifiers=found) for value, found in runs]
    figure = repeats_of(monkeypatch, figures)
    assert (figure.values, figure.withheld) == ((1.0, 2.0, 3.0), 1)
    assert figure.qualified == {"placed": 3, "host-limited": 2, "throttled": 3}
    words = ("throttled in 3 of 4 runs", "host-limited in 2 of 4 runs", f"{placed.label} in 3 of 4 runs")
    assert figure.state == ", ".join(words)
    assert figure.model_dump(mode="json")["qualified"] == figure.qualified


def test_there_is_no_median_of_repeats_that_are_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    loads = [Load(depth=depth) for depth in (8, 1, 4)]
    figures = [Metric.less("a", "A", 10.0 + load.depth, "ns", load=load) for load in loads]
    figure = repeats_of(monkeypatch, figures)
    assert (figure.median, figure.low, figure.high, figure.confidence) == (None, None, None, None)
    assert figure.values == (18.0, 11.0, 14.0), "what each run has stands"
    assert figure.apart == figure.state == "taken at depths 1, 4 and 8"
    same = repeats_of(monkeypatch, [each.resting(load=loads[0]) for each in figures])
    assert (same.median, same.load, same.apart) == (14.0, loads[0], "")
    unlike = repeats_of(
        monkeypatch, [each.resting(load=None) for each in figures], engine=["sync", "uring", "sync"]
    )
    assert (unlike.median, unlike.apart) == (None, "engine uring, not sync")


def test_depths_that_runs_chose_have_no_median_between_them(monkeypatch: pytest.MonkeyPatch) -> None:
    depths = [Metric.more("depth", "depth", value, "I/Os") for value in (8.0, 1.0)]
    figure = repeats_of(monkeypatch, depths)
    assert (figure.median, figure.apart) == (None, "taken at depths 1 and 8")
    assert repeats_of(monkeypatch, depths[:1] * 2).median == 8.0


def test_a_run_without_a_value_takes_no_median_from_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    figures = [Metric.less("a", "A", 10.0, "ns", load=Load(depth=8)) for _ in range(2)]
    none = Metric.less("a", "A", None, "ns", load=Load(depth=1)).sampled()
    assert repeats_of(monkeypatch, [*figures, none]).median == 10.0
    for number in (1, 2):
        figure = repeats_of(monkeypatch, [*figures[: number - 1], none, none])
        assert (figure.median, figure.values) == (None, (10.0,) * (number - 1)), "it is there all the same"
        assert figure.apart == ""


@pytest.mark.parametrize(
    ("bounded", "bound"),
    [([1.0], "at least"), ([2.0], "at least"), ([3.0], None), ([1.0, 2.0, 3.0], "at least"), ([], None)],
)
def test_a_median_of_bounds_is_one(
    monkeypatch: pytest.MonkeyPatch, bounded: list[float], bound: str | None
) -> None:
    """One that may be more is of no matter above the middle; below it the middle may be more."""
    figures = [
        Metric.more("a", "A", value, "IOPS", bound="at least" if value in bounded else None)
        for value in (1.0, 2.0, 3.0)
    ]
    figure = repeats_of(monkeypatch, figures)
    assert (figure.median, figure.bound) == (2.0, bound)


def test_a_method_run_three_times_gives_the_median_of_each_figure(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ceilings = iter([70_000.0, 90_000.0, 80_000.0])
    latest = [0.0]
    drive = FakeDrive(curve=lambda in_flight, block, writes: latest[0])

    def before(count: int) -> None:
        if count % 2 == 1:  # two depths make a run
            latest[0] = next(ceilings)

    drive.before_run = before
    method = find_method("peak-random-read")
    params = method.params.build({"depths": "1,2", "seconds": "1", "ramp_seconds": "0"})
    made, by_part = repeated(method, params, 3)
    order = SuiteOrder(made, by_part, Order(method, params, "/dev/fake0", seed=7), 3)
    folder = RunFolder(start_suite(order, tmp_path, Watcher(), environment(drive)))
    result = read_result(folder)
    assert isinstance(result, SuiteResult)
    assert (result.repeats, [each.part for each in result.outcomes]) == (
        3,
        [f"peak-random-read #{number}" for number in (1, 2, 3)],
    )
    figure = next(each for each in result.repeated if each.name == "peak_random_read_iops")
    assert figure.values == (70_000.0, 90_000.0, 80_000.0)
    assert (figure.median, figure.low, figure.high, figure.confidence) == (80_000.0, 70_000.0, 90_000.0, 0.75)
    assert len({child.seed for child in folder.manifest.children}) == 3
    assert len({child.preparation_seed for child in folder.manifest.children}) == 3
    print_suite(folder, result)
    shown = capsys.readouterr().out.splitlines()
    rows = [line for line in shown if line.startswith("peak-random-read #")]
    assert [re.findall(r"\S+ IOPS", line) for line in rows] == [
        ["70.0k IOPS"],
        ["90.0k IOPS"],
        ["80.0k IOPS"],
    ]
