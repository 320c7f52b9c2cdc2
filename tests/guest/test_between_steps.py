"""A disk that becomes another one, or comes into use, between two steps: the next step does not begin.

On the kernel's own device mapper and NVMe target, which few hosts of tests have. The job's first step writes;
in its idle step something happens to the disk; what the images behind the guest's disks hold is compared.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from guest.machine import SATA_SERIAL

JOB = """
[[step]]
do = "run"
rw = "write"
bytes = "64KiB"
[[step]]
do = "idle"
seconds = "1s"
[[step]]
do = "run"
rw = "write"
bytes = "1MiB"
"""
CODE = """
# `ssdlab job`, but for the tables at the end; what happens in the idle step happens where the job asks
# whether it is to stop, so that the next step cannot come before it. Sectors are the kernel's count.
import json, subprocess, sys
from pathlib import Path
from ssdlab.lab.found import find_method
from ssdlab.lab.job import read_job
from ssdlab.model.errors import LabError
from ssdlab.results.records import BeginRecord
from ssdlab.results.run_folder import RunFolder
from ssdlab.runs.order import Order
from ssdlab.runs.session import RunEnvironment, resume, start

device, consent, happens, undone, text = sys.argv[1:]
library = Path("/run/between")
untouched = lambda folder, manifest, lock: manifest
done, counts = [], []

def shell(command):
    subprocess.run(["sh", "-c", "exec 2>&1; " + command], check=True)

def sectors_written():
    return [int(Path(f"/sys/block/{disk}/stat").read_text().split()[6]) for disk in ("sda", "vda")]

def stopped():
    journals = list(library.glob("*/journal.jsonl"))
    records = RunFolder(journals[0].parent).journal() if journals else ()
    if not done and any(isinstance(one, BeginRecord) and one.verb == "idle" for one in records):
        done.append(True)
        shell(happens + " && sync")
        counts.append(sectors_written())
    return False

def tried(work):
    try:
        return {"status": RunFolder(work()).manifest.status}
    except LabError as error:
        return {"status": error.exit_status, "what": error.what, "reason": error.facts.get("reason")}

order = Order(find_method("job"), read_job(text, "job"), device, destroy=consent, wipe_signatures=True)
said = [tried(lambda: start(order, library, environment=RunEnvironment(finish=untouched, stopped=stopped)))]
(folder,) = library.glob("2*")
said += [tried(lambda: resume(folder, environment=RunEnvironment(finish=untouched)))]
counts.append(sectors_written())
shell(undone)
said += [tried(lambda: resume(folder, environment=RunEnvironment(finish=untouched)))]
print("SAID", json.dumps([*said, counts]))
"""
SECTORS = 65536


@dataclass(frozen=True)
class Happening:
    """What is set up, what comes about in the idle step, and how that is undone; with what it is called."""

    target: str
    consent: str
    happens: str
    undone: str
    reason: str
    what: str
    on_resume: str


def reload(volume: str, disk: str, at: int = 0) -> str:
    return f"dmsetup reload {volume} --table '0 {SECTORS} linear {disk} {at}' && dmsetup resume {volume}"


_SPACE = "/sys/kernel/config/nvmet/subsystems/lab/namespaces/1"
_SERVED = (
    "modprobe nvmet; mountpoint -q /sys/kernel/config || mount -t configfs none /sys/kernel/config; "
    f"mkdir -p {_SPACE}; printf /dev/sda >{_SPACE}/device_path; echo 1 >{_SPACE}/enable"
)
_NOT_SERVED = (
    f"echo 0 >{_SPACE}/enable; rmdir {_SPACE} /sys/kernel/config/nvmet/subsystems/lab; "
    "umount /sys/kernel/config; modprobe -r nvmet; ! test -d /sys/module/nvmet"
)
HAPPENINGS = {
    "onto-another-disk": Happening(
        "/dev/dm-0",
        "low",
        reload("low", "/dev/vda"),
        reload("low", "/dev/sda"),
        "replaced",
        "below dm-0, vda (254:0) replaced sda (8:0)",
        "replaced",
    ),
    "onto-another-place": Happening(
        "/dev/dm-0",
        "low",
        reload("low", "/dev/sda", 8),
        reload("low", "/dev/sda"),
        "replaced",
        "the table of dm-0 was changed",
        "replaced",
    ),
    "two-layers-down": Happening(
        "/dev/dm-1",
        "high",
        reload("low", "/dev/vda"),
        reload("low", "/dev/sda"),
        "replaced",
        "below dm-1, below dm-0, vda (254:0) replaced sda (8:0)",
        "replaced",
    ),
    "served-to-others": Happening(
        "/dev/sda", SATA_SERIAL, _SERVED, _NOT_SERVED, "held", "NVMe target", "held"
    ),
}


@pytest.fixture
def volumes(guest, request: pytest.FixtureRequest) -> Iterator[None]:
    """A volume `low` on the SATA disk, and `high` on that, as far as they are used."""
    layers = {"/dev/sda": [], "/dev/dm-0": ["low"], "/dev/dm-1": ["low", "high"]}[request.param]
    below = {"low": "/dev/sda", "high": "/dev/dm-0"}
    guest.must("exec 2>&1; modprobe dm-mod; head -c 32M /dev/urandom >/dev/vda; rm -rf /run/between; sync")
    try:
        for name in layers:
            guest.must(f"exec 2>&1; dmsetup create {name} --table '0 {SECTORS} linear {below[name]} 0'")
        yield
    finally:
        for name in reversed(layers):
            guest.must(f"exec 2>&1; dmsetup remove {name}")


def image(guest, disk: str) -> str:
    guest.must("sync")
    return guest.digest(disk)


@pytest.mark.parametrize(
    ("volumes", "name"), [(one.target, name) for name, one in HAPPENINGS.items()], indirect=["volumes"]
)
@pytest.mark.usefixtures("volumes")
def test_the_next_step_does_not_write(guest, name: str) -> None:
    happening = HAPPENINGS[name]
    other = image(guest, "virtio")
    words = [happening.target, happening.consent, happening.happens, happening.undone, JOB]
    done = guest.python(CODE, *words, limit_s=600)
    assert done.status == 0, done
    job, resumed, put_back, (before, after) = json.loads(done.out.partition("SAID")[2])
    assert (job["status"], job["reason"]) == (2, happening.reason)
    assert happening.what in job["what"]
    assert (resumed["status"], resumed["reason"]) == (2, happening.on_resume)
    assert after == before, "sectors written, by the kernel's count"
    assert put_back == {"status": "finished"}
    assert image(guest, "virtio") == other
