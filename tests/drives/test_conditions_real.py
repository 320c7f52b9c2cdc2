"""Conditions on a real queue: a loop device's scheduler and merging, over a kill -9 too."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from ssdlab.cli import main
from ssdlab.lab.found import find_method
from ssdlab.lab.job import read_job
from ssdlab.results.run_folder import RunFolder
from ssdlab.runs.conditions.ledger import ledgers
from ssdlab.runs.conditions.leftovers import left_behind
from ssdlab.runs.doctor import _left
from ssdlab.runs.order import Order
from ssdlab.runs.session import RunEnvironment, resume, start

JOB = """
[[step]]
do = "conditions"
scheduler = "none"
nomerges = 2
[[step]]
do = "run"
rw = "randread"
seconds = "{time}"
"""
FILES = ("scheduler", "nomerges", "nr_requests", "wbt_lat_usec")


def queue(device: Path) -> dict[str, str]:
    folder = Path("/sys/block") / device.name / "queue"
    found = {name: (folder / name).read_text().strip() for name in FILES if (folder / name).exists()}
    return {**found, "scheduler": found["scheduler"].partition("[")[2].partition("]")[0]}


@pytest.fixture
def device(loop, scratch: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A loop device with settings of its own, which are not those that the kernel would choose."""
    monkeypatch.setenv("XDG_STATE_HOME", str(scratch / "state"))
    made = loop()
    folder = Path("/sys/block") / made.name / "queue"
    (folder / "scheduler").write_text("mq-deadline")
    (folder / "nr_requests").write_text("77")
    (folder / "nomerges").write_text("1")
    return made


def order(device: Path, duration: str = "200ms") -> Order:
    steps = read_job(JOB.format(time=duration), "job")
    return Order(find_method("job"), steps, str(device), seed=1)


def environment() -> RunEnvironment:
    return RunEnvironment(finish=lambda folder, manifest, lock: manifest)


def killed(device: Path, library: Path, how: signal.Signals) -> Path:
    """Begin a run in a child and end that by a signal when its settings are made."""
    child = os.fork()
    if child == 0:
        try:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
            start(order(device, "60s"), library, environment=environment())
        finally:
            os._exit(0)
    deadline = time.monotonic() + 60
    while queue(device)["nomerges"] != "2" or not list(library.glob("2*/steps/*.log")):
        assert time.monotonic() < deadline, "the run never set anything"
        time.sleep(0.02)
    os.kill(child, how)
    os.waitpid(child, 0)
    (folder,) = library.glob("2*")
    return folder


def test_set_in_mid_run_and_put_back(device: Path, scratch: Path) -> None:
    before = queue(device)
    folder = start(order(device), scratch / "library", environment=environment())
    assert queue(device) == before
    assert before["scheduler"] == "mq-deadline" and before["nr_requests"] == "77"
    facts = RunFolder(folder).steps()[1].result.facts
    assert {each["name"]: each["after"] for each in facts["set"]} == {"scheduler": "none", "nomerges": "2"}
    assert facts["found"]["scheduler"] == "none" and facts["departures"] == []
    storage = RunFolder(folder).manifest.environment["storage"]["conditions"]
    assert (storage["scheduler"], storage["nomerges"]) == ("none", 2), "told as they were before the run"
    assert not list(ledgers())


def test_put_back_after_a_signal(device: Path, scratch: Path) -> None:
    before = queue(device)
    folder = killed(device, scratch / "library", signal.SIGTERM)
    assert queue(device) == before
    assert RunFolder(folder).manifest.status == "interrupted"
    assert not list(ledgers())


def test_after_a_kill_doctor_tells_and_restore_puts_back(
    device: Path, scratch: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = queue(device)
    folder = killed(device, scratch / "library", signal.SIGKILL)
    assert queue(device)["scheduler"] == "none"
    told = dict(_left())
    words = f"a crashed run left the scheduler of {device.name}: none, was mq-deadline"
    assert folder.name[-6:] in told[words] and str(folder) in told[words]
    assert main(["conditions", "restore", folder.name[-6:], "--json"]) == 0
    changes = json.loads(capsys.readouterr().out)["changes"]
    assert {each["name"] for each in changes} >= {"scheduler", "nomerges", "nr_requests"}
    assert queue(device) == before and not list(left_behind())
    assert main(["conditions", "restore"]) == 0
    assert "nothing to restore" in capsys.readouterr().out
    assert main(["conditions", "restore", "nobody"]) == 2


def test_after_a_kill_resume_sets_again_and_puts_back(
    device: Path, scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = queue(device)
    folder = killed(device, scratch / "library", signal.SIGKILL)
    short = read_job(JOB.format(time="200ms"), "job")
    monkeypatch.setattr("ssdlab.runs.session.resumable_method", lambda manifest: (find_method("job"), short))
    # The step that was cut short is another one then: its begin is forgotten.
    journal = folder / "journal.jsonl"
    kept = [line for line in journal.read_text().splitlines(keepends=True) if '"ordinal":2' not in line]
    journal.write_text("".join(kept))
    for log in (folder / "steps").iterdir():
        log.unlink()
    assert resume(folder, environment=environment()) == folder
    assert RunFolder(folder).manifest.status == "finished"
    assert queue(device) == before and not list(ledgers())


def test_a_run_that_goes_on_is_nobodys_leftover(device: Path, scratch: Path) -> None:
    seen: list[int] = []

    class Look:
        def __getattr__(self, name: str) -> Callable[..., None]:
            return lambda *a, **k: seen.append(len(list(ledgers())) - len(list(left_behind())))

    start(order(device), scratch / "library", [Look()], environment=environment())
    assert max(seen) == 1


def test_what_the_drive_has_not_got(device: Path, scratch: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["conditions", "show", str(device), "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)["settings"]
    assert shown["scheduler"]["value"] == "mq-deadline" and shown["nr_requests"]["value"] == "77"
    assert shown["write_cache"]["value"] is None and "does not support" in shown["write_cache"]["remark"]
    library = ["--library", str(scratch / "library"), "--json"]
    for words in (["--write-cache", "off"], ["--power-limit", "10W"], ["--usable", "1GB"]):
        assert main(["run", "peak-random-read", str(device), *words, *library]) == 2
    assert not list((scratch / "library").glob("2*"))
