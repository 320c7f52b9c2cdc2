"""What is said of the drive's state is derived from what was done: falls, windows, and what was written."""

from __future__ import annotations

import itertools
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from methods.on_simulated import rateable, run
from methods.quick_runs import QuickRun
from ssdlab.analysis.saturation import came_back, deepest_fall
from ssdlab.analysis.steady_state import MAX_RANGE, WINDOW, first_lasting, first_steady
from ssdlab.cli import main
from ssdlab.lab.kinds import PointsResult
from ssdlab.lab.method import RunData
from ssdlab.lab.outcome import read_result
from ssdlab.lab.parts.steady import checks_of, heat_check, written_by
from ssdlab.lab.presented.points import points_findings
from ssdlab.lab.presented.steady import check_claim
from ssdlab.methods.sweeps.result import PeakResult
from ssdlab.methods.sweeps.result import findings as peak_findings
from ssdlab.report.runs import shown as runs_shown
from ssdlab.report.sections.top import top
from ssdlab.report.source import read_run
from ssdlab.report.standings import standings
from ssdlab.results.claim import sentence
from ssdlab.results.drive_states import moved
from ssdlab.results.qualifiers import CATALOGUE
from ssdlab.results.records import StepResult
from ssdlab.results.run_folder import Step
from ssdlab.results.schema import Warned

SCENE = "sim:samsung-850-evo-4tb,scale=64"
"""Its quick sweep fills the cache on the way: from 92 600 IOPS at depth 4 to some 50 000, for good."""


@pytest.mark.parametrize("seed", range(50))
def test_the_deepest_fall_is_that_of_all_pairs(seed: int) -> None:
    draw = random.Random(seed)
    values = [draw.choice([10.0, 50.0, 80.0, 90.0, 100.0]) for _ in range(draw.randint(1, 8))]
    hosts = [draw.random() < 0.2 for _ in values]
    pairs = [
        (1 - values[low] / values[high])
        for high, low in itertools.combinations(range(len(values)), 2)
        if not hosts[high] and not hosts[low]
    ]
    deepest = max((share for share in pairs if share > MAX_RANGE), default=None)
    found = deepest_fall(values, hosts)
    assert (found.share if found else None) == deepest
    if found is not None:
        assert 1 - values[found.low] / values[found.high] == deepest
        assert found.high < found.low


def test_a_fifth_is_allowed_and_more_is_not() -> None:
    assert deepest_fall([100.0, 80.0], [False, False]) is None
    assert deepest_fall([100.0, 79.0], [False, False]) is not None
    assert deepest_fall([100.0, 79.0], [False, True]) is None, "what the host costs says nothing of the drive"
    assert came_back(100.0, 80.0)
    assert not came_back(100.0, 79.0)


def test_what_was_steady_once_and_fell_was_not_in_steady_state() -> None:
    fell = [100.0] * 8 + [20.0] * 3
    assert first_steady([fell]) == 0
    assert first_lasting([fell]) is None
    assert first_lasting([[*fell, 20.0, 20.0]]) == 8
    assert first_lasting([[*fell, 20.0, 20.0, 24.0, 16.0]]) == 8
    assert first_lasting([[*fell, 20.0, 20.0, 24.1]]) is None
    assert first_lasting([[1.0] * (WINDOW - 1)]) is None


def step(ordinal: int, verb: str, written: int = 0, *, args: Any = None, **facts: Any) -> Step:
    measured: Any = {"write": {"bytes": written}} if written else None
    result = StepResult(seconds=1.0, measurement=measured, facts=facts)
    return Step(ordinal, 1, verb, verb, args or {}, result)


def test_what_was_written_counts_from_what_last_made_the_state_known() -> None:
    trimmed = {"start": 0, "length": 1000, "seconds": 1.0, "reached_device": True}
    steps = [
        step(0, "fill", 1000),
        step(1, "purge", purged=False),
        step(2, "run", 10),
        step(3, "purge", purged=True),
        step(4, "fill", 1000),
        step(5, "fork", forked=True),
        step(6, "run", 500),
        step(7, "back", args={"to": 5, "end": False}, forked=True),
        step(8, "run", 7),
        step(9, "trim", trim={**trimmed, "length": 999}),
        step(10, "trim", trim={**trimmed, "reached_device": False}),
        step(11, "trim", trim=trimmed),
        step(12, "run", 3),
    ]
    found = written_by(steps, 1000)
    assert found[2] == ("beginning", 1010)
    assert found[4] == ("purge", 1000)
    assert found[6] == ("purge", 1500)
    assert found[8] == ("purge", 1007), "what was done on a fork is undone"
    assert found[10] == ("purge", 1007), "a trim of a part, or one that came to nothing, makes nothing known"
    assert found[12] == ("trim", 3)
    real = [step(5, "fork", forked=False), step(6, "run", 500), step(7, "back", args={"to": 5, "end": True})]
    assert written_by(real, 1000)[7].bytes == 500, "a real drive does not go back"


@pytest.mark.long
def test_a_sweep_whose_drive_moved_has_no_headline_and_no_share_of_a_rating(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["run", "steady-random-write", SCENE, "--quick", "--seed", "1", "--library", str(tmp_path)]
    assert main(words) == 0
    shown = capsys.readouterr().out
    assert "repeated" in shown
    assert "the drive's state moved" in shown
    assert CATALOGUE["state-moved"].advice.casefold() in " ".join(shown.split()).casefold()
    assert "of the rated" not in shown
    assert "n steady state after" not in shown
    (folder,) = (path for path in tmp_path.iterdir() if (path / "manifest.json").exists())
    assert main(["report", str(folder), "-o", str(tmp_path / "page.html")]) == 0
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "state moved" in page
    assert "of the rated" not in page


@pytest.mark.long
def test_a_sweep_in_one_state_keeps_its_headline(tmp_path: Path) -> None:
    brief = {
        "round_seconds": "0.5",
        "least_seconds": "1",
        "most_seconds": "120",
        "depths": "8,32",
        "seconds": "4",
    }
    result = read_result(run("steady-random-write", tmp_path, **brief))
    assert isinstance(result, PeakResult)
    assert [(check.kind, check.held) for check in result.checks] == [("window", True)]
    assert rateable(result) == list(result.scalars) != []
    quick = read_result(
        run("steady-random-write", tmp_path, **{**brief, "overwrites": "0", "most_seconds": "3"})
    )
    assert isinstance(quick, PeakResult)
    assert quick.steady is not None
    assert quick.steady.capacities < 1
    assert rateable(quick) == [], "of a state that was not shown"
    assert not any("n steady state after" in sentence(claim) for claim in peak_findings(quick))


@pytest.mark.parametrize(("after", "held"), [(90.0, True), (50.0, False)])
def test_points_taken_again_decide_whether_the_state_held(after: float, held: bool) -> None:
    figures = {
        "depth 1": 60.0,
        "depth 4": 100.0,
        "depth 8": 40.0,
        "depth 1 again": 60.0,
        "depth 4 again": after,
    }
    steps = tuple(
        replace(step(at, "run"), label=label, result=StepResult(seconds=1.0, measurement={"iops": iops}))
        for at, (label, iops) in enumerate(figures.items())
    )
    checks = checks_of(RunData(steps, 1, 1), [["depth 1", "depth 4", "depth 8"]], "IOPS")
    assert [(check.what, check.fallen, check.lowest) for check in checks] == [
        ("depth 1", "depth 8", 40.0),
        ("depth 4", "depth 8", 40.0),
    ]
    assert [check.held for check in checks] == [True, held]
    assert [each.code for each in moved(checks)] == ([] if held else ["state-moved"])


def test_writes_at_low_depths_that_fall_are_taken_again_and_have_no_score_unless_they_come_back(
    tmp_path: Path,
) -> None:
    """Rests are left out, so that the small drive's cache is full after the first of the random writes."""
    folder = run(
        "low-depths", tmp_path, "sim:intel-600p-512gb,scale=64", seed=3, seconds="5", rest_seconds="0"
    )
    result = read_result(folder)
    assert isinstance(result, PointsResult)
    found = {figure.name: figure for figure in result.scalars}
    steps = {each.label: each for each in folder.steps()}
    fallen = set()
    for order in ("random", "sequential"):
        line = [f"{order} write, depth {depth}" for depth in (1, 2, 4)]
        iops = [float(steps[label].measured.iops) for label in line]
        fell = any(later < (1 - MAX_RANGE) * high for high, later in itertools.combinations(iops, 2))
        assert (f"{line[0]} again" in steps) is fell, iops
        again = [label for label in line if f"{label} again" in steps]
        back = {label: float(steps[f"{label} again"].measured.iops) for label in again}
        held = all(came_back(float(steps[label].measured.iops), back[label]) for label in again)
        score = found[f"low_depths_{order}_write_mb_s"]
        assert (score.value is not None) is held and ("state-moved" in score.codes) is not held
        if not held:
            fallen.add(order)
        following = steps["sequential write, depth 1"].ordinal
        assert order != "random" or all(steps[f"{each} again"].ordinal < following for each in again)
    assert fallen == {"random"}, "the scene is one of each"
    said = " ".join(sentence(claim) for claim in points_findings(result))
    assert "the drive's state moved" in said


def test_a_point_below_all_others_fell_nowhere() -> None:
    figures = {"depth 1": 33.0, "depth 4": 100.0, "depth 8": 50.0, "depth 1 again": 34.0}
    steps = tuple(
        replace(step(at, "run"), label=label, result=StepResult(seconds=1.0, measurement={"iops": iops}))
        for at, (label, iops) in enumerate(figures.items())
    )
    (check,) = checks_of(RunData(steps, 1, 1), [["depth 1", "depth 4", "depth 8"]], "IOPS")
    assert (check.fallen, check.lowest, check.held, check.ordinals) == ("", None, True, (0, 3))
    assert sentence(check_claim(check)).startswith("Depth 1 gave 33.0 IOPS, and 34.0 IOPS when repeated")
    # Another check may show a move: one that came back is no conclusion on the state.
    assert "state held" not in sentence(check_claim(check))


@pytest.mark.parametrize(
    ("hot", "chosen", "apart"),
    [
        ((False, False, False), "depth 2", None),
        ((False, True, True), "depth 2", ("depth 1", "depth 2")),
        ((False, True, True), "depth 1", None),
        ((False, False, True), "depth 4", ("depth 2", "depth 4")),
        ((True, True, True), "depth 2", None),
    ],
    ids=["cool", "hot where reported", "hot beyond", "hot at the end", "hot throughout"],
)
def test_a_depth_is_not_reported_that_only_warmth_chose(
    hot: tuple[bool, ...], chosen: str, apart: tuple[str, str] | None
) -> None:
    labels = ["depth 1", "depth 2", "depth 4"]
    steps = tuple(_warm(at, label, warm) for at, (label, warm) in enumerate(zip(labels, hot, strict=True)))
    check = heat_check(RunData(steps, 1, 1), labels, chosen, "IOPS")
    assert (None if check is None else (check.what, check.then)) == apart
    if check is not None:
        assert [each.code for each in moved([check])] == ["state-moved"], "so there is no headline"
        assert "before the drive throttled" in sentence(check_claim(check))


def _warm(at: int, label: str, warm: bool) -> Step:
    warnings = (Warned(code="throttled", what="hot", advice="cool it"),) if warm else ()
    result = StepResult(seconds=1.0, measurement={"iops": 100.0 * (at + 1)}, warnings=warnings)
    return replace(step(at, "run"), label=label, result=result)


def test_a_drive_whose_mixes_moved_has_its_place_without_a_bar(quick_run: QuickRun) -> None:
    run = read_run(quick_run("mixed-random").path)
    checks = tuple(each.model_copy(update={"held": False}) for each in run.result.checks)
    figures = tuple(each.withheld(moved(checks)) for each in run.result.scalars)
    held = run.result.model_copy(update={"checks": checks, "scalars": figures})
    runs = runs_shown([replace(run, result=held)])
    names = [f"mixed_random_qd{depth}_mb_s" for depth in (32, 128)]
    charts = top(runs, standings(runs), names).charts
    assert [chart.title for chart in charts] == [f"Mixed random I/O, 70/30 mix at QD {n}" for n in (32, 128)]
    assert all(bar.note.startswith("state moved") for chart in charts for bar in chart.bars)
