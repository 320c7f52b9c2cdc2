"""Several runs of one method: medians and their intervals against what is known of them."""

from __future__ import annotations

import random
import re
import statistics
from pathlib import Path
from typing import Any

import pytest

from lab.fake_drive import FakeDrive
from ssdlab.analysis.repeats import median_interval
from ssdlab.cli.showing_suite import print_suite
from ssdlab.lab.found import find_method
from ssdlab.lab.outcome import read_result
from ssdlab.lab.suite_result import SuiteResult
from ssdlab.model.errors import UsageError
from ssdlab.results.metric import Metric, Qualifier
from ssdlab.results.run_folder import RunFolder
from ssdlab.runs.order import Order
from ssdlab.runs.suites import outcome
from ssdlab.runs.suites.ordering import SuiteOrder, check_repeat, repeated
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
        with pytest.raises(UsageError, match=f"--repeat {repeat} is not from 1 to 99"):
            check_repeat(repeat)


def test_a_median_says_in_how_many_of_its_runs_each_qualifier_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs whose value was withheld count: what is left is a selection."""
    hot, host, placed = (Qualifier(code=code) for code in ("throttled", "host-limited", "placed"))
    runs: Any = {
        "one": (1.0, (placed, host)),
        "two": (2.0, (placed, hot, host)),
        "three": (3.0, (placed, hot, hot)),
        "four": (None, (hot,)),
    }

    def result_of(run: str) -> SuiteResult:
        value, qualifiers = runs[run]
        figure = Metric.more("a", "A", value, "IOPS", qualifiers=qualifiers)
        return SuiteResult(quick=False, outcomes=(), scalars=(figure,))

    monkeypatch.setattr(outcome, "read_result", result_of)
    (figure,) = outcome._figures("part", list(runs))
    assert (figure.values, figure.withheld) == ((1.0, 2.0, 3.0), 1)
    assert figure.qualified == {"placed": 3, "host-limited": 2, "throttled": 3}
    words = ("throttled in 3 of 4 runs", "host-limited in 2 of 4 runs", f"{placed.label} in 3 of 4 runs")
    assert figure.state == ", ".join(words)
    assert figure.model_dump(mode="json")["qualified"] == figure.qualified


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
