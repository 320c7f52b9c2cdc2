"""What was not shown or judged says so wherever a figure is told: tables, cards, repeats and JSON alike."""

from __future__ import annotations

import json
import re
from copy import deepcopy
from dataclasses import replace
from pathlib import Path

import pytest

from methods.on_simulated import SMALL
from methods.quick_runs import METHODS, QuickRun
from ssdlab.cli import main
from ssdlab.lab.outcome import read_result
from ssdlab.methods.pts.result import Judgement
from ssdlab.model.units import figure_text
from ssdlab.results.drive_states import doubts
from ssdlab.results.evidence import PREPARING, qualified
from ssdlab.results.run_folder import Step


def told(
    words: list[str], library: Path, capsys: pytest.CaptureFixture[str], page: bool = False
) -> tuple[dict[str, object], str, str]:
    """The JSON of a run, what the terminal says of it, and the words of its page."""
    common = ["--quick", "--seed", "5", "--destroy", SMALL, "--library", str(library)]
    assert main(["run", *words, *common, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert main(["show", found["folder"], "--all"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    if not page:
        return found, shown, ""
    place = library / "page.html"
    assert main(["report", found["folder"], "-o", str(place)]) == 0
    return found, shown, place.read_text(encoding="utf-8")


def failing(step: Step) -> Step:
    """The same step with one read or write that failed."""
    measurement = deepcopy(step.result.measurement)
    assert measurement is not None
    side = next(measurement[each] for each in ("read", "write", "trim") if measurement[each])
    side["failed"] += 1
    return replace(step, result=step.result.model_copy(update={"measurement": measurement}))


@pytest.mark.parametrize("name", METHODS)
def test_failed_io_marks_the_figures_that_its_step_decided_and_no_others(
    name: str, quick_run: QuickRun
) -> None:
    run = quick_run(name)
    result, steps = read_result(run), run.steps()
    assert result is not None
    measured = {at for at, step in enumerate(steps) if step.result.measurement and step.verb not in PREPARING}
    chosen = sorted(measured)
    for at in {*chosen[:: len(chosen) // 5 + 1], *chosen[-1:]}:
        spoilt = qualified(result, [*steps[:at], failing(steps[at]), *steps[at + 1 :]])
        for figure in spoilt.scalars:
            decided = {*figure.steps, *figure.chosen_among}
            assert ("failed-io" in figure.codes) is (steps[at].ordinal in decided), (figure.name, at)


def test_seconds_of_act_pass_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["act", SMALL, "--set", "load=10"]
    found, shown, page = told(words, tmp_path, capsys, page=True)
    assert found["qualifiers"]["not-judged"]["figures"] == ["act_load_passed"]
    assert "10x kept the limits of 6.x" in shown
    assert "a not judged: " in shown
    assert not re.search(r"\bpassed\b", shown.partition("How this was measured")[0])
    assert "ACT load passed" not in page
    chart = page[page.index('<div class="top-chart') :].partition("</section>")[0]
    assert "not judged" in chart
    other = re.search(r"kept the limits of 2019 [^.]*\.[^.]*\.", page.replace("\xa0", " "))
    assert other is not None and "not judged" in other[0]


def test_headlines_of_snia_tests_bear_the_verdict(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["pts-host-idle-recovery", SMALL]
    found, shown, page = told(words, tmp_path, capsys, page=True)
    result = found["result"]
    assert isinstance(result, dict)
    assert not result["samples"]["steady"]
    verdict = Judgement(steady=False, fills=result["samples"]["fills"]).verdict
    assert verdict.startswith("not assessed: ")
    for figure in result["scalars"]:
        (unproven,) = [each for each in figure["qualifiers"] if each["code"] == "state-unproven"]
        assert unproven["why"] == f"steady state {verdict}"
    assert "NOT" not in shown.partition("Headline figures")[0], "three verdicts for one thing"
    assert shown.count(verdict) >= 2
    chart = page[page.index('<div class="top-chart') :].partition("</section>")[0]
    assert "state unproven" in chart and verdict in page.replace("\xa0", " ")


def test_repeats_keep_the_state_of_a_figure(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["consistency", SMALL, "--repeat", "2", "--set", "seconds=2"]
    found, shown, _ = told(words, tmp_path, capsys)
    result = found["result"]
    assert isinstance(result, dict)
    assert all(each["qualified"] == {"state-unproven": 2} for each in result["repeated"])
    assert "a state unproven: " in shown


def test_the_verdict_has_three_words() -> None:
    assert Judgement(steady=True, fills=3.0).verdict == "achieved"
    assert Judgement(steady=False, fills=3.0).verdict == "NOT ACHIEVED"
    assert Judgement(steady=False, fills=0.543).verdict == "not assessed: only 0.543 drive writes"
    doubted = doubts([1], host="the CPUs were 99.0 % busy")
    assert Judgement(steady=False, fills=3.0, doubts=doubted).verdict == "not assessed: host-limited"


def test_the_lowest_percent_needs_ten_rows_below_it(tmp_path: Path) -> None:
    from methods.on_simulated import run
    from ssdlab.lab.outcome import read_result
    from ssdlab.methods.consistency.result import stretches

    result = read_result(run("consistency", tmp_path, seconds="2"))
    assert {row[5].text for row in stretches(result).rows} == {"—"}  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["qd1", "steady-random-write", "mixed-random"])
@pytest.mark.long
def test_a_figure_whose_state_was_not_shown_is_nowhere_told_without_that(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """In prose, on cards, and beside charts that draw what no mark can be put to."""
    settings = ["--set", "depths=1,2"] if name == "steady-random-write" else []
    found, shown, page = told([name, SMALL, *settings], tmp_path, capsys, page=True)
    qualifiers, result = found["qualifiers"], found["result"]
    assert isinstance(qualifiers, dict) and isinstance(result, dict)
    unproven = qualifiers["state-unproven"]
    figures = {each["name"]: figure_text(each["value"], each["unit"]) for each in result["scalars"]}
    throughputs = [each for each in unproven["figures"] if each.endswith(("_iops", "_mb_s"))]
    assert throughputs, "the scene has figures that were not shown"
    prose = [
        each for each in shown.partition("Throughput")[0].split(". ") if "IOPS" in each or "MB/s" in each
    ]
    for figure in throughputs:
        assert all(unproven["label"] in each for each in prose if f" {figures[figure]}" in each), figure
    assert any(unproven["label"] in each for each in prose)
    if name == "qd1":
        assert f"KiB, {unproven['label']}" in page, "behind each bar"
        assert "no proven state" in page
