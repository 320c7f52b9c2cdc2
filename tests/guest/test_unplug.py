"""A drive that is pulled, in mid-run or between two steps: the run ends, says why, and keeps what it had."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from guest.machine import BAYS, Guest
from ssdlab.cli import main
from ssdlab.results.run_folder import RunFolder

JOB = """
[[step]]
do = "conditions"
write-cache = "off"
[[step]]
do = "run"
label = "short"
rw = "randread"
seconds = "500ms"
[[step]]
do = "run"
label = "long"
rw = "randread"
seconds = 100
"""
IDLE_JOB = """
[[step]]
do = "run"
label = "short"
rw = "randread"
bytes = "4k"
[[step]]
do = "idle"
seconds = "1s"
[[step]]
do = "run"
label = "after"
rw = "{then}"
bytes = "4k"
"""
IDLE = """
# `ssdlab job`, but for the tables at the end. Where the job asks whether it is to stop, the idle step goes on
# until the kernel has no such disk any more: the next step cannot come before it.
import json, sys, time
from pathlib import Path
from ssdlab.lab.found import find_method
from ssdlab.lab.job import read_job
from ssdlab.model.errors import LabError
from ssdlab.results.records import BeginRecord
from ssdlab.results.run_folder import RunFolder
from ssdlab.runs.order import Order
from ssdlab.runs.session import RunEnvironment, start

device, consent, library, text = sys.argv[1:]
library = Path(library)
disk = Path("/sys/block") / Path(device).name

def stopped():
    journals = list(library.glob("2*/journal.jsonl"))
    records = RunFolder(journals[0].parent).journal() if journals else ()
    if any(isinstance(one, BeginRecord) and one.verb == "idle" for one in records):
        (library / "idles").touch()
        while disk.exists():
            time.sleep(0.1)
    return False

order = Order(find_method("job"), read_job(text, "job"), device, destroy=consent)
environment = RunEnvironment(finish=lambda folder, manifest, lock: manifest, stopped=stopped)
try:
    start(order, library, environment=environment)
except LabError as error:
    print("SAID", json.dumps([error.exit_status, error.facts.get("reason"), error.what]))
"""


def test_unplugged_in_mid_run(guest: Guest, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (guest.orders / "pulled.toml").write_text(JOB)
    library = guest.orders / "pulled"
    with guest.plugged(BAYS[0], "GUEST-PULLED-3", iops=500) as drive:
        running = guest.begin(
            "job", "/run/guest/pulled.toml", drive, "--library", "/run/guest/pulled", "--json"
        )
        deadline = time.monotonic() + 600
        while not list(library.glob("2*/steps/0003-*.log")):
            assert not running.ended, running.wait()
            assert time.monotonic() < deadline, running.err
            time.sleep(0.1)
        time.sleep(0.5)
        guest.unplug("GUEST-PULLED-3")
        done = running.wait(300)
    assert done.status == 3, done
    told = json.loads(done.out)
    assert told["facts"]["reason"] == "gone" and f"{drive} is gone" in told["what"]
    (folder,) = library.glob("2*")
    run = RunFolder(folder)
    assert run.manifest.status == "failed" and run.manifest.failure.facts["reason"] == "gone"
    assert [step.label for step in run.steps()][-1] == "short"
    assert run.steps()[-1].result.measurement["read"]["ios"] > 0
    left = [warned.code for warned in run.manifest.warnings]
    assert "condition-left" not in left, "a cache that lost its power is nobody's leftover"
    assert main(["show", str(folder)]) == 0
    assert "is gone" in capsys.readouterr().out
    assert main(["report", str(folder), "-o", str(tmp_path / "page.html")]) == 0
    assert "is unfinished" in (tmp_path / "page.html").read_text()


def test_unplugged_while_idle(guest: Guest) -> None:
    """Nothing is in flight: what is asked of it next, a write too, finds that it is gone and not replaced."""
    with guest.plugged(BAYS[0], "GUEST-PULLED-1") as one, guest.plugged(BAYS[1], "GUEST-PULLED-2") as two:
        drives = {one: ("GUEST-PULLED-1", "randread"), two: ("GUEST-PULLED-2", "randwrite")}
        running = {}
        for drive, (serial, then) in drives.items():
            words = (drive, serial, f"/run/guest/{serial}", IDLE_JOB.format(then=then))
            running[drive] = guest.begin_python(IDLE, *words)
        deadline = time.monotonic() + 600
        while not all((guest.orders / serial / "idles").exists() for serial, _ in drives.values()):
            assert not any(each.ended for each in running.values()), [
                each.wait() for each in running.values()
            ]
            assert time.monotonic() < deadline, [each.err for each in running.values()]
            time.sleep(0.1)
        for serial, _ in drives.values():
            guest.unplug(serial)
        for drive, command in running.items():
            done = command.wait(200)
            status, reason, what = json.loads(done.out.partition("SAID")[2])
            assert (status, reason) == (3, "gone"), done
            assert f"{drive} is gone" in what
    for serial, _ in drives.values():
        (folder,) = (guest.orders / serial).glob("2*")
        run = RunFolder(folder)
        assert run.manifest.status == "failed" and run.manifest.failure.facts["reason"] == "gone"
        assert run.steps()[-1].verb == "idle", "it ended when the drive was asked again"
