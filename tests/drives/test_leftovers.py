"""Settings that the kernel rounds, and runs killed at every moment around them: nothing stays unnamed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from machine.killed_settings import MEASURED, killed_at, moments, run_job, setting
from ssdlab.cli import main
from ssdlab.host.user_folders import conditions_folder
from ssdlab.results.run_folder import RunFolder
from ssdlab.runs.conditions.ledger import Ledger, ledgers
from ssdlab.runs.doctor import _left

JOB = setting(scheduler="none", nomerges=2, nr_requests=2)
BEFORE = {"scheduler": "mq-deadline", "nr_requests": "77", "nomerges": "1"}
KILLS = 20
CODE = "settings-left"


def queue(device: Path) -> dict[str, str]:
    folder = Path("/sys/block") / device.name / "queue"
    found = {name: (folder / name).read_text().strip() for name in BEFORE}
    return {**found, "scheduler": found["scheduler"].partition("[")[2].partition("]")[0]}


@pytest.fixture
def device(loop, scratch: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A loop device with settings of its own, which are not those that the kernel would choose."""
    monkeypatch.setenv("XDG_STATE_HOME", str(scratch / "state"))
    monkeypatch.setenv("XDG_DATA_HOME", str(scratch / "data"))
    made = loop()
    for name, value in BEFORE.items():
        (Path("/sys/block") / made.name / "queue" / name).write_text(value)
    assert queue(made) == BEFORE
    (scratch / "measured.toml").write_text(MEASURED)
    return made


def run(device: Path, library: Path, job: str = JOB) -> Path:
    return run_job(str(device), library, job)


@pytest.mark.parametrize("leader", [{"scheduler": "none"}, {}], ids=["with-its-leader", "alone"])
def test_what_the_kernel_rounds_is_put_back(device: Path, scratch: Path, leader: dict[str, str]) -> None:
    folder = run(device, scratch / "library", setting(**leader, nomerges=2, nr_requests=2))
    set_to = {each["name"]: each["after"] for each in RunFolder(folder).steps()[1].result.facts["set"]}
    assert set_to["nr_requests"] != "2", "this kernel does not round: nothing was tested"
    assert queue(device) == BEFORE and not list(ledgers())
    (change,) = [change for change in Ledger(folder).changes if change.name == "nr_requests"]
    assert (change.after, change.found, change.ended) == ("2", set_to["nr_requests"], "put back")
    (departure,) = RunFolder(folder).manifest.departures
    assert departure.code == "condition-nr_requests", "and nothing else was lost on the way"


def commands(device: Path, job: str) -> list[list[str]]:
    """Commands of every kind, as text and as JSON."""
    planned = ["peak-random-read", str(device)]
    texts = [
        ["drives"],
        ["drives", str(device)],
        ["plan", *planned],
        ["plan", "quick-look", str(device)],
        ["run", *planned, "--dry-run"],
        ["job", job, str(device), "--dry-run"],
        ["conditions", "show", str(device)],
    ]
    small = ["--quick", "--set", "depths=1", "--set", "seconds=10ms", "--set", "ramp_seconds=0"]
    measured = [
        ["measure", str(device), "--bytes", "4k", "--json"],
        ["job", job, str(device), "--json"],
        ["run", *planned, *small, "--json"],
    ]
    return [*texts, *([*words, "--json"] for words in texts), *measured, ["doctor", "--json"]]


def test_killed_at_twenty_moments(
    device: Path, scratch: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever the kill leaves, the next command names it, and `conditions restore` puts it back."""
    every = killed_at(0, lambda: run(device, scratch / "whole"))
    assert every > KILLS and queue(device) == BEFORE
    kinds = commands(device, str(scratch / "measured.toml"))
    left = 0
    for number, point in enumerate(moments(every, KILLS)):
        killed_at(point, lambda at=scratch / f"cycle-{number}": run(device, at))
        found = {name: value for name, value in queue(device).items() if value != BEFORE[name]}
        left += bool(found)
        assert set(found) == names_in([what for what, _ in _left()], device, found), point
        # Every kind once with all three settings left, and then one after the other.
        for words in kinds if left == 1 and found else [kinds[number % len(kinds)]]:
            check_named(words, device, found, capsys)
        assert main(["conditions", "restore"]) == 0
        assert queue(device) == BEFORE and not list(conditions_folder().glob("*")), point
        assert _left() == ()
    assert left > KILLS // 2, "most kills came when nothing was set"


def check_named(
    words: list[str], device: Path, found: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert main(words) == 0
    shown = capsys.readouterr()
    if words[0] == "doctor":  # its list is the checks, not a warning
        assert set(found) == names_in(
            [each["what"] for each in json.loads(shown.out)["left_set"]], device, found
        )
        return
    assert set(found) == names_in(shown.err.splitlines(), device, found), (words, shown.err)
    assert "ssdlab conditions restore" in shown.err or not found
    if "--json" in words:
        # A method has set the scheduler by then, and requests follow it: what is left is named by its name.
        now = {} if words[0] == "run" and "--dry-run" not in words else found
        assert set(found) == names_in(warned(shown.out), device, now), words
    assert queue(device) == {**BEFORE, **found}, words


def names_in(lines: list[str], device: Path, found: dict[str, str]) -> set[str]:
    """The settings that are named, each with what it is now and what it was."""
    words = [line for line in lines if "a crashed run left" in line]
    named = {name for name in BEFORE if any(f"the {name.replace('_', ' ')} of" in line for line in words)}
    for name in named & found.keys():
        said = f"{name.replace('_', ' ')} of {device.name}: {found[name]}, was {BEFORE[name]}"
        assert any(said in line for line in words), (said, words)
    return named


def warned(out: str) -> list[str]:
    """What the JSON of a command says is left: in the warnings of a result, or in what is told of drives."""
    told = json.loads(out)
    if "left_set" in told:
        assert all(set(each) >= {"what", "advice"} for each in told["left_set"])
        return [each["what"] for each in told["left_set"]]
    return [each["what"] for each in told.get("warnings", told.get("manifest", {}).get("warnings"))
            if each["code"] == CODE]  # fmt: skip


def test_what_somebody_set_since_is_theirs_and_a_damaged_account_hides_nothing(
    device: Path, scratch: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    every = killed_at(0, lambda: run(device, scratch / "whole"))
    killed_at(every // 2, lambda: run(device, scratch / "killed"))
    settings = Path("/sys/block") / device.name / "queue"
    (settings / "nomerges").write_text("0")
    (conditions_folder() / "0-damaged.json").write_text("{")
    said = [what for what, _ in _left()]
    assert any("nr requests" in line for line in said) and not any("nomerges" in line for line in said)
    assert any("0-damaged.json cannot be read" in line for line in said)
    assert main(["measure", str(device), "--bytes", "4k", "--json"]) == 0
    shown = capsys.readouterr()
    assert "0-damaged.json" in shown.err and any("0-damaged" in line for line in warned(shown.out))
    assert main(["conditions", "restore"]) == 2, "what the damaged one held is not known"
    assert queue(device) == {**BEFORE, "nomerges": "0"}
