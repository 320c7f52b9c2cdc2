"""A library on NFS: two hosts with a kernel's own client each, and two mounts of the export on either.

T is short here: what it is in the product, a test of its own holds (`tests/lab/test_lease.py`).
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from guest.machine import Command, Guest
from library.made import run

T_S = 6
LIMIT_S = 500
BLOCK_BYTES, DEPTH = 4096, 8
VIEWS = [("one", "shared"), ("two", "shared"), ("one", "again"), ("two", "again")]
"""Host and mount."""

ON_HOST = f"""
import ctypes, json, os, sys, time
from pathlib import Path
host, *words = sys.argv[1:]
namespaces = os.open("/proc/" + Path(f"/run/{{host}}.pid").read_text().strip(), os.O_RDONLY)
libc = ctypes.CDLL(None, use_errno=True)
for kind in ("net", "uts", "mnt"):
    descriptor = os.open(f"ns/{{kind}}", os.O_RDONLY, dir_fd=namespaces)
    assert libc.setns(descriptor, 0) == 0, (kind, os.strerror(ctypes.get_errno()))
os.chdir("/")
from ssdlab.model.errors import LabError
from ssdlab.results import lease
from ssdlab.results.lease import RunLock
lease.LEASE_S, lease.RENEWAL_S, lease._AGAIN_S = {T_S}, {T_S} / 6, 0.5
"""
"""Makes a forked process of the guest one of a host: its network, its name, its boot id and its mounts."""
RUNS = f"{ON_HOST}from ssdlab.cli import main\nassert main(words) == 0"
TOGETHER = (
    ON_HOST
    + """
from ssdlab.cli import main
from ssdlab.results import finishing
finish_run = finishing.finish_run
def together(*arguments):
    Path(f"/run/ended-{os.getpid()}").touch()
    while len(list(Path("/run").glob("ended-*"))) < 4:
        time.sleep(0.01)
    return finish_run(*arguments)
finishing.finish_run = together
assert main(words) == 0
"""
)
"""A run that is entered in the moment in which the last of four has ended."""
ENTER = (
    ON_HOST
    + """
from ssdlab.results import catalogue, catalogue_row, run_folder
Path(f"/run/enters-{os.getpid()}").touch()
while len(list(Path("/run").glob("enters-*"))) < 4:
    time.sleep(0.01)
catalogue.add(Path(words[0]), Path(words[0]) / words[1])
"""
)
HOLD = (
    ON_HOST
    + """
lock = RunLock(Path(words[0]))
Path("/run/held").write_text(str(os.getpid()))
while not Path("/run/let-go").exists():
    lock.check()
    time.sleep(0.1)
lock.release()
"""
)
TAKE = (
    ON_HOST
    + """
try:
    RunLock(Path(words[0])).release()
    print(json.dumps("taken"))
except LabError as error:
    print(json.dumps([error.exit_status, error.what]))
"""
)
MEASURE = (
    ON_HOST
    + f"""
from ssdlab.drives.file import holding
from ssdlab.drives.guard import file_guard
from ssdlab.lab.found import find_method
from ssdlab.runs.order import Order
from ssdlab.runs.session import resume, start
# Two views of one target: neither host sees who has it open on the other.
holding._lock = lambda *_: None
file_guard._in_use = file_guard._perhaps_in_use = lambda *_: None
target, library, run = words
Path(f"/run/measures-{{host}}").write_text(str(os.getpid()))
try:
    if run:
        resume(Path(library) / run)
    else:
        method = find_method("peak-random-read")
        settings = dict(depths="{DEPTH}", seconds="60s", ramp_seconds="0")
        start(Order(method, method.params.build(settings), target), Path(library))
    print(json.dumps("finished"))
except LabError as error:
    print(json.dumps([error.exit_status, error.what]))
"""
)


@pytest.fixture(scope="module")
def shared(guest: Guest) -> Iterator[Guest]:
    """The guest with two hosts in it, on two processors, as they race; see `shared_folder.sh`."""
    script = guest.orders / "shared_folder.sh"
    script.write_text(Path(__file__).with_name("shared_folder.sh").read_text())
    with guest.both_processors():
        guest.must(f"exec 2>&1; sh /run/guest/{script.name}", limit_s=LIMIT_S)
        yield guest


def wait_for(guest: Guest, command: str, *beside: Command) -> str:
    """Wait until a shell command of the guest succeeds; nothing beside may end meanwhile."""
    deadline = time.monotonic() + LIMIT_S
    while (done := guest.run(command)).status != 0:
        assert not any(each.ended for each in beside), [each.wait() for each in beside]
        assert time.monotonic() < deadline, command
        time.sleep(0.2)
    return done.out.strip()


def test_runs_entered_at_once_over_two_mounts_of_two_hosts_are_each_there_once(shared: Guest) -> None:
    made = [run(shared.orders / "entered", number).name for number in range(4)]
    shared.must("cp -r /run/guest/entered /export/")
    entering = [
        shared.begin_python(ENTER, host, f"/{mount}/entered", name)
        for name, (host, mount) in zip(made, VIEWS, strict=True)
    ]
    for command in entering:
        assert (done := command.wait(LIMIT_S)).status == 0, done
    for host, mount in VIEWS[::3]:
        assert sorted(each["folder"] for each in listed(shared, host, f"/{mount}/entered")) == made


@pytest.mark.slow  # four processes that load the tables' library: three minutes under emulation
def test_four_runs_that_end_at_once_over_two_mounts_are_each_entered_once(shared: Guest) -> None:
    quick = ("--quick", "--set", "depths=1", "--set", "seconds=20ms")
    commands = [
        shared.begin_python(
            TOGETHER, host, "run", "peak-random-read", f"sim:tiny-test,seed={number}", *quick,
            "--library", f"/{mount}/library", "--json",
        )
        for number, (host, mount) in enumerate(VIEWS)
    ]  # fmt: skip
    for command in commands:
        assert (done := command.wait(LIMIT_S)).status == 0, done
    made = sorted(Path(each).name for each in shared.must("ls -d /export/library/2*").split())
    assert len(made) == 4
    for host, mount in VIEWS[::3]:
        found = listed(shared, host, f"/{mount}/library")
        assert sorted(each["folder"] for each in found) == made
        assert {each["status"] for each in found} == {"finished"}
        assert len({each["drive_id"] for each in found}) == 4


def listed(guest: Guest, host: str, library: str) -> list[dict[str, str]]:
    """What `ssdlab runs` of a host lists."""
    done = guest.python(RUNS, host, "runs", "--library", library, "--json", limit_s=LIMIT_S)
    assert done.status == 0, done
    return json.loads(done.out)["runs"]


def test_a_second_runner_is_refused_by_every_mount_and_the_first_loses_nothing(shared: Guest) -> None:
    shared.must("mkdir -p /export/held/run")
    first = shared.begin_python(HOLD, "one", "/shared/held/run")
    process = wait_for(shared, "cat /run/held", first)
    for host, mount in VIEWS:
        # Another host has to see that the lease is renewed, whatever its client keeps of the file.
        elsewhere = " on one" if host == "two" else ""
        done = shared.python(TAKE, host, f"/{mount}/held/run", limit_s=LIMIT_S)
        assert json.loads(done.out) == [
            2,
            f"run is being run by another process, process {process}{elsewhere}",
        ]
    shared.must("touch /run/let-go")
    assert (ended := first.wait(LIMIT_S)).status == 0, ended
    done = shared.python(TAKE, "two", "/again/held/run", limit_s=LIMIT_S)
    assert json.loads(done.out) == "taken"


@pytest.mark.slow  # a run of a minute: 170 s under emulation
def test_what_was_stopped_and_taken_over_issues_no_more_than_it_had_prepared(shared: Guest) -> None:
    shared.must("head -c 8M /dev/urandom >/export/target.img; mkdir -p /export/moved; rm -f /run/measures-*")
    place = ("/again/target.img", "/shared/moved")
    first = shared.begin_python(MEASURE, "one", *place, "")
    wait_for(shared, f"test $({bytes_read('one')}) -gt 1000000", first)
    shared.must("kill -STOP $(cat /run/measures-one)")
    wait_for(shared, "grep -q '^State:.T' /proc/$(cat /run/measures-one)/status")
    before = int(shared.must(bytes_read("one")))
    (name,) = [each for each in shared.must("ls /export/moved").split() if each.startswith("2")]
    began = time.monotonic()
    second = shared.begin_python(MEASURE, "two", *place, name)
    wait_for(shared, f"test $({bytes_read('two')}) -gt 1000000", second)  # amid the same step
    assert time.monotonic() - began >= 2 * T_S
    assert int(shared.must(bytes_read("one"))) == before
    shared.must("kill -CONT $(cat /run/measures-one)")
    successor = shared.must("cat /run/measures-two").strip()
    assert json.loads(first.wait(LIMIT_S).out) == [
        3,
        f"the lease on run {name} was not renewed for {T_S} s, "
        f"and process {successor} on two is now working on it",
    ]
    assert int(shared.must(bytes_read("one"))) - before <= DEPTH * BLOCK_BYTES
    assert json.loads(second.wait(LIMIT_S).out) == "finished"
    words = ("library", "verify", "--library", place[1], "--json")
    assert (verified := shared.python(RUNS, "one", *words, limit_s=LIMIT_S)).status == 0, verified


def bytes_read(host: str) -> str:
    """A command for how many bytes a host's client was asked to read directly, of the target's mount."""
    return (
        f"nsenter -t $(cat /run/{host}.pid) -m cat /proc/self/mountstats | "
        "awk '/ mounted on \\/again / {found = 1} found && /bytes:/ {print $4; exit}'"
    )
