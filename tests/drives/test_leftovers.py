"""Settings that the kernel rounds, and runs killed at every moment around them: nothing stays unnamed."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from ssdlab.cli import main
from ssdlab.methods import find_method
from ssdlab.methods.job import read_job
from ssdlab.results.run_folder import RunFolder
from ssdlab.runs.conditions.ledger import Ledger, ledgers
from ssdlab.runs.conditions.place import host_folder
from ssdlab.runs.doctor import _left
from ssdlab.runs.order import Order
from ssdlab.runs.session import Bench, start

JOB = """
[[step]]
do = "conditions"
scheduler = "none"
nomerges = 2
nr-requests = 2
[[step]]
do = "run"
rw = "randread"
bytes = "4k"
"""
MEASURED = """
[[step]]
do = "run"
rw = "randread"
bytes = "4k"
"""
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
    order = Order(find_method("job"), read_job(job, "job"), str(device), seed=1)
    return start(order, library, bench=Bench(finish=lambda folder, manifest, lock: manifest))


def killed_at(point: int, work: Callable[[], object]) -> int:
    """Do work in a child that kills itself at a moment by its number, and return how many have passed.

    The moments are those before and after each writing of the ledger and of a setting.
    """
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
            _arm(point, write)
            work()
        finally:
            os._exit(0)
    os.close(write)
    os.waitpid(child, 0)
    with os.fdopen(read, "rb") as passed:
        return len(passed.read())


def _arm(point: int, passed: int) -> None:
    import ssdlab.drives.settings.queue
    import ssdlab.runs.conditions.ledger

    count = 0

    def moment() -> None:
        nonlocal count
        count += 1
        os.write(passed, b".")
        if count == point:
            os.kill(os.getpid(), signal.SIGKILL)

    def around(work: Callable[..., object]) -> Callable[..., object]:
        def watched(*words: object) -> object:
            moment()
            done = work(*words)
            moment()
            return done

        return watched

    for module, name in (
        (ssdlab.runs.conditions.ledger, "replace"),
        (ssdlab.drives.settings.queue, "write_file"),
    ):
        setattr(module, name, around(getattr(module, name)))


@pytest.mark.parametrize("leader", ['scheduler = "none"\n', ""], ids=["with-its-leader", "alone"])
def test_what_the_kernel_rounds_is_put_back(device: Path, scratch: Path, leader: str) -> None:
    folder = run(device, scratch / "library", JOB.replace('scheduler = "none"\n', leader))
    set_to = {each["name"]: each["after"] for each in RunFolder(folder).steps()[1].result.facts["set"]}
    assert set_to["nr_requests"] != "2", "this kernel does not round: nothing was tested"
    assert queue(device) == BEFORE and not list(ledgers())
    (change,) = [change for change in Ledger(folder).changes if change.name == "nr_requests"]
    assert (change.after, change.found, change.ended) == ("2", set_to["nr_requests"], "put back")
    (departure,) = RunFolder(folder).manifest.departures
    assert departure.code == "condition-nr_requests", "and nothing else was lost on the way"


def test_killed_at_twenty_moments(
    device: Path, scratch: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever the kill leaves, the next command names it, and `conditions restore` puts it back."""
    every = killed_at(0, lambda: run(device, scratch / "whole"))
    assert every > KILLS and queue(device) == BEFORE
    job = str(scratch / "measured.toml")
    commands = [
        ["drives"],
        ["drives", str(device)],
        ["plan", "peak-random-read", str(device)],
        ["job", job, str(device), "--dry-run"],
        ["job", job, str(device), "--json"],
        ["run", "peak-random-read", str(device), "--dry-run"],
        ["measure", str(device), "--bytes", "4k", "--json"],
    ]
    left = 0
    for number in range(KILLS):
        point = 1 + number * (every - 1) // (KILLS - 1)
        killed_at(point, lambda at=scratch / f"cycle-{number}": run(device, at))
        capsys.readouterr()
        found = {name: value for name, value in queue(device).items() if value != BEFORE[name]}
        left += bool(found)
        assert set(found) == names_in([what for what, _ in _left()], device, found), point
        words = commands[number % len(commands)]
        assert main(words) == 0
        shown = capsys.readouterr()
        assert set(found) == names_in(shown.err.splitlines(), device, found), (point, words, shown.err)
        assert "ssdlab conditions restore" in shown.err or not found
        if "--json" in words:
            assert set(found) == names_in(warned(shown.out), device, found), (point, words)
        assert main(["conditions", "restore"]) == 0
        assert queue(device) == BEFORE and not list(host_folder().glob("*")), point
        assert _left() == ()
    assert left > KILLS // 2, "most kills came when nothing was set"


def names_in(lines: list[str], device: Path, found: dict[str, str]) -> set[str]:
    """The settings that are named, each with what it is now and what it was."""
    words = [line for line in lines if "a run that died left" in line]
    named = {name for name in BEFORE if any(f"the {name.replace('_', ' ')} of" in line for line in words)}
    for name in named & found.keys():
        said = f"{name.replace('_', ' ')} of {device.name}: {found[name]}, was {BEFORE[name]}"
        assert any(said in line for line in words), (said, words)
    return named


def warned(out: str) -> list[str]:
    """What the warnings of a result say: of a measurement, or of a run."""
    told = json.loads(out)
    return [each["what"] for each in told.get("warnings", told.get("manifest", {}).get("warnings"))
            if each["code"] == CODE]  # fmt: skip


def test_what_somebody_set_since_is_theirs_and_a_damaged_account_hides_nothing(
    device: Path, scratch: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    every = killed_at(0, lambda: run(device, scratch / "whole"))
    killed_at(every // 2, lambda: run(device, scratch / "killed"))
    settings = Path("/sys/block") / device.name / "queue"
    (settings / "nomerges").write_text("0")
    (host_folder() / "0-damaged.json").write_text("{")
    said = [what for what, _ in _left()]
    assert any("nr requests" in line for line in said) and not any("nomerges" in line for line in said)
    assert any("0-damaged.json cannot be read" in line for line in said)
    assert main(["measure", str(device), "--bytes", "4k", "--json"]) == 0
    shown = capsys.readouterr()
    assert "0-damaged.json" in shown.err and any("0-damaged" in line for line in warned(shown.out))
    assert main(["conditions", "restore"]) == 2, "what the damaged one held is not known"
    assert queue(device) == {**BEFORE, "nomerges": "0"}
