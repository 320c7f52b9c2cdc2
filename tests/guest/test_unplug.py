"""A drive that is pulled, in mid-run or between two steps: the run ends, says why, and keeps what it had."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from guest.machine import NVME_SERIAL
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
seconds = 40
[[step]]
do = "run"
label = "after"
rw = "{then}"
bytes = "4k"
"""


@pytest.mark.timeout(1000)
def test_unplugged_in_mid_run(boot, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    guest = boot(nvme_iops=500)
    (guest.orders / "job.toml").write_text(JOB)
    words = ["job", "/run/guest/job.toml", "/dev/nvme0n1", "--library", "/run/guest/library", "--json"]
    running = guest.begin(*words)
    deadline = time.monotonic() + 600
    while not list(guest.orders.glob("library/2*/steps/0003-*.log")):
        assert not running.ended, running.wait()
        assert time.monotonic() < deadline, running.err
        time.sleep(0.1)
    time.sleep(0.5)
    guest.unplug()
    done = running.wait(300)
    assert done.status == 3, done
    told = json.loads(done.out)
    assert told["facts"]["reason"] == "gone" and "/dev/nvme0n1 is gone" in told["what"]
    (folder,) = (guest.orders / "library").glob("2*")
    run = RunFolder(folder)
    assert run.manifest.status == "failed" and run.manifest.failure.facts["reason"] == "gone"
    assert [step.label for step in run.steps()][-1] == "short"
    assert run.steps()[-1].result.measurement["read"]["ios"] > 0
    left = [warned.code for warned in run.manifest.warnings]
    assert "condition-left" not in left, "a cache that lost its power is nobody's leftover"
    assert main(["show", str(folder)]) == 0
    assert "is gone" in capsys.readouterr().out
    assert main(["report", str(folder), "-o", str(tmp_path / "page.html")]) == 0
    assert "did not reach its end" in (tmp_path / "page.html").read_text()


def test_unplugged_while_idle(boot) -> None:
    """Nothing is in flight: what is asked of it next, a write too, finds that it is gone and not replaced."""
    guest = boot()
    drives = {"/dev/nvme0n1": "randread", "/dev/nvme0n2": "randwrite"}
    running = {}
    for number, (drive, then) in enumerate(drives.items(), 1):
        (guest.orders / f"{number}.toml").write_text(IDLE_JOB.format(then=then))
        words = ["job", f"/run/guest/{number}.toml", drive, "--library", f"/run/guest/{number}", "--json"]
        running[drive] = guest.begin(*words, "--destroy", f"{NVME_SERIAL}/{number}")
    deadline = time.monotonic() + 600
    while not all(idles(guest.orders / f"{number}") for number in (1, 2)):
        assert not any(each.ended for each in running.values()), [each.wait() for each in running.values()]
        assert time.monotonic() < deadline, [each.err for each in running.values()]
        time.sleep(0.1)
    guest.unplug()
    for drive, command in running.items():
        done = command.wait(200)
        told = json.loads(done.out)
        assert (done.status, told["facts"]["reason"]) == (3, "gone"), done
        assert f"{drive} is gone" in told["what"]
    for number in (1, 2):
        (folder,) = (guest.orders / f"{number}").glob("2*")
        run = RunFolder(folder)
        assert run.manifest.status == "failed" and run.manifest.failure.facts["reason"] == "gone"
        assert run.steps()[-1].verb == "idle", "it ended when the drive was asked again"


def idles(library: Path) -> bool:
    """Whether the one run of a library has begun its idle step."""
    return any('"verb":"idle"' in journal.read_text() for journal in library.glob("2*/journal.jsonl"))
