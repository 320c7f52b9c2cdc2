"""A drive at rest: the watts and wake-up latencies that are found are those that its profile holds."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from methods.on_simulated import run, shorter_in
from methods.statements import Told
from report.reading import Page
from ssdlab.cli import main
from ssdlab.drives import open_drive
from ssdlab.drives.simulated.profiles import check_profile
from ssdlab.lab.found import find_method
from ssdlab.lab.outcome import read_result
from ssdlab.lab.verbs.resting import Rest
from ssdlab.methods.idle_power.result import IdlePowerResult, Rested, findings, rests
from ssdlab.report.page import render
from ssdlab.report.source import read_run
from ssdlab.results.claim import sentence
from ssdlab.results.records import StepResult
from ssdlab.results.run_folder import RunFolder, Step
from ssdlab.runs.order import Order, plan_order

SHORT = {"settle_seconds": "3", "seconds": "2", "again_seconds": "3", "reads": "9"}
NVME = "nvme-tlc-client"
SATA = "samsung-850-evo-4tb"


def rested(name: str, library: Path, **settings: str) -> tuple[RunFolder, IdlePowerResult]:
    folder = run("idle-power", library, f"sim:{name},scale=64", **{**SHORT, **settings})
    result = read_result(folder)
    assert isinstance(result, IdlePowerResult)
    return folder, result


def held(name: str) -> dict[str, tuple[float, float]]:
    """Watts and exit latency in us of each state to rest in, as the profile has them."""
    states = check_profile(name)["profile"]["power"]["idle_states"]
    return {each["name"]: (each["mw"]["value"] / 1e3, each["exit_us"]["value"]) for each in states}


def test_an_nvme_drive_draws_and_wakes_as_its_profile_says(tmp_path: Path) -> None:
    folder, result = rested(NVME, tmp_path)
    profile = check_profile(NVME)["profile"]["power"]
    states = held(NVME)
    found = {each.label: each for each in result.rests}
    assert list(found) == ["APST off", *states, "APST on"]
    assert found["APST off"].mean_w == pytest.approx(profile["idle_mw"]["value"] / 1e3, rel=1e-3)
    assert found["APST off"].wake_ns is None, "a drive that does not sleep has nothing to wake from"
    deepest = list(states)[-1]
    for name, (watts, exit_us) in {**states, "APST on": states[deepest]}.items():
        assert found[name].mean_w == pytest.approx(watts, rel=1e-3), name
        # Pages of one cell differ in what a read of them takes: tens of microseconds.
        assert found[name].wake_ns == pytest.approx(exit_us * 1e3, abs=60e3), name
    told = {state.name: state for state in result.states}
    assert [told[name].idle_w for name in states] == [watts for watts, _ in states.values()]
    assert told[deepest].after_ms is not None and not told[deepest].operational
    (shortened,) = shorter_in(folder)
    assert result.lacks == () and shortened.startswith("shorter than the method requires: settle time")
    assert Told(folder.path).faults() == []


def test_a_sata_drive_uses_the_states_that_its_links_policy_allows(tmp_path: Path) -> None:
    _, result = rested(SATA, tmp_path)
    states = list(held(SATA).values())
    found = {each.label.removeprefix("link power "): each for each in result.rests}
    assert list(found) == ["max_performance", "medium_power", "med_power_with_dipm", "min_power"]
    for policy, (watts, exit_us) in zip(list(found)[1:], states, strict=True):
        assert found[policy].mean_w == pytest.approx(watts, rel=1e-3), policy
        assert (found[policy].wake_ns or 0.0) == pytest.approx(exit_us * 1e3, abs=60e3), policy


def test_what_rests_for_less_than_it_takes_is_met_on_the_way(tmp_path: Path) -> None:
    """ps2 of the profile is reached after 512.2 ms: who reads after 300 ms meets ps1."""
    _, result = rested(NVME, tmp_path, again_seconds="0.3", reads="3")
    (by_itself,) = (each for each in result.rests if each.label == "APST on")
    ps1, ps2 = (exit_us * 1e3 for _, exit_us in held(NVME).values())
    assert by_itself.first_min_ns < 1.2 * ps1 + 100e3
    assert by_itself.first_max_ns > ps2


def test_what_is_set_is_part_of_the_drives_state(tmp_path: Path) -> None:
    """A drive that is brought back to a state saves power as it did then: a resume needs no more."""
    with open_drive(f"sim:{NVME},scale=64") as drive:
        apst = drive.setting("apst")
        mark = drive.state.mark()
        before = drive.state.digest()
        apst.write("on")
        assert apst.read() == "on" and drive.state.digest() != before
        drive.state.save(tmp_path / "on.state")
        drive.state.back(mark)
        assert apst.read() == "off" and drive.state.digest() == before
        drive.state.load(tmp_path / "on.state")
        assert drive.setting("apst").read() == "on"


def test_a_drive_with_nothing_to_rest_in_says_what_it_lacks(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", "idle-power", "sim:tiny-test", "--quick", "--library", str(tmp_path)]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "the profile has no idle states" in shown
    assert "the drive was not metered" in shown
    assert "Non-operational states none" in shown


@pytest.mark.parametrize("name", [NVME, SATA, "samsung-860-dct-960gb"])
@pytest.mark.long
def test_the_plan_names_the_states_that_the_drive_has(name: str, tmp_path: Path) -> None:
    """It went by a usual drive, with states and an APST that this one lacks."""
    folder, _ = rested(name, tmp_path)
    method, text = find_method("idle-power"), f"sim:{name},scale=64"
    plan = plan_order(Order(method, method.params.build(SHORT), text))
    assert [(step.verb, step.label) for step in plan.steps] == [
        (step.verb, step.label) for step in folder.steps()
    ]


def test_a_quick_run_says_that_it_is_rough(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["run", "idle-power", "sim:tiny-test,scale=4", "--quick", "--library", str(tmp_path)]
    assert main(words) == 0
    (told,) = (Told(path.parent) for path in tmp_path.glob("*/manifest.json"))
    (said,) = shorter_in(told.folder)
    assert said.startswith("quick: ") and "time 2 s instead of 60 s" in said
    assert told.faults() == []


def test_a_file_is_refused_before_it_is_made(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "drive.img"
    words = ["idle-power", str(path), "--size", "16MiB", "--quick"]
    assert main(["run", *words, "--library", str(tmp_path / "runs")]) == 2
    said = capsys.readouterr().err
    assert "has no power states: a file on a file system is not a drive" in said
    assert not path.exists()
    assert main(["plan", *words, "--json"]) in (0, 2)
    objection = json.loads(capsys.readouterr().out)
    assert "no power states" in json.dumps(objection)


def test_the_page_has_its_tables_and_charts(tmp_path: Path) -> None:
    folder, _ = rested(NVME, tmp_path, reads="5")
    text = Page.of(render([read_run(folder.path)])).text
    assert "Time line of the run" not in text, "of rests alone nothing could be drawn on it"
    for heading in ("power at rest", "wake-up latency", "Power features and states"):
        assert heading in text
    assert re.search(r"APST on", text)
    assert "at rest, lowest" in text, "the label of the tile's second figure is whole"


def rest_of(first_us: list[float], awake_us: list[float]) -> Rested:
    facts = {"wake_ns": [each * 1e3 for each in first_us], "awake_ns": [each * 1e3 for each in awake_us]}
    asked = Rest(
        sent_to="ps3", settle_s=1, metered_s=1, again_s=1, reads=9, block_bytes=4096, certain=True
    ).stored()
    return Rested.of(Step(1, 1, "rest", "ps3", asked, StepResult(seconds=1.0, facts=facts)))


def test_a_difference_inside_the_noise_is_no_wake_up() -> None:
    awake = [70.0, 75.0, 81.0, 68.0, 90.0, 77.0, 72.0, 69.0, 83.0]
    noise, slept = (
        rest_of([each + 2 for each in awake], awake),
        rest_of([each + 400 for each in awake], awake),
    )
    assert (noise.wake_ns, slept.wake_ns) == (None, pytest.approx(400e3))
    facts = {
        "quick": False,
        "protocol": "nvme",
        "saving": None,
        "states": (),
        "lacks": (),
        "block_bytes": 4096,
    }
    none, one = (
        IdlePowerResult(**facts, rests=(noise, each))  # type: ignore[arg-type]
        for each in (noise, slept)
    )
    assert [each.value for each in none.figures() if each.name == "wake_up_us"] == [None]
    # One that has no state of rest has no least: awake, it would rank among those that rest.
    alone = IdlePowerResult(**facts, rests=(noise,))  # type: ignore[arg-type]
    assert [each.name for each in alone.figures()] == ["idle_w"]
    assert "least_idle_w" in [each.name for each in none.figures()]
    assert "indistinguishable" in sentence([*findings(none)][-1])
    assert "adds 400 µs to a read of 75.0 µs: the longest wake-up (medians of 9 reads)" in sentence(
        [*findings(one)][-1]
    )
    assert "indistinguishable" in [cell.text for row in rests(one).rows for cell in row]
