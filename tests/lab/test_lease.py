"""Lock and lease of a run: one host, and two that are emulated by their names and boot ids over one folder.

T is short here, and what is asserted of time are lower bounds alone: who waits, waits for 2 T at least.
"""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest

from ssdlab.drives.file import holding
from ssdlab.drives.guard import file_guard
from ssdlab.lab.found import find_method
from ssdlab.model.errors import LabError, LeaseLost, Refused
from ssdlab.results import lease
from ssdlab.results.lease import LEASE, Holder, RunLock, is_running
from ssdlab.results.run_folder import RunFolder
from ssdlab.results.verifying import verify_run
from ssdlab.runs.order import Order
from ssdlab.runs.session import resume, start

T_S = 1.0
BLOCK_BYTES, DEPTH = 4096, 8


def on_host(name: str) -> None:
    """Be another host that has the same folder, in a child process."""
    lease.may_be_shared = lambda descriptor: True
    lease.boot_id = lambda: f"boot-of-{name}"
    lease.this_holder = lambda: Holder(name, f"boot-of-{name}", os.getpid(), os.urandom(8).hex())
    lease.LEASE_S, lease.RENEWAL_S, lease._AGAIN_S = T_S, T_S / 5, T_S / 10


class Child:
    """A forked process that says in a file what became of its work."""

    def __init__(self, folder: Path, name: str, work: Callable[[], object]) -> None:
        self._file = folder / f"ended-{name}"
        self.pid = os.fork()
        if self.pid == 0:
            outcome: dict[str, object] = {}
            try:
                quiet = os.open(os.devnull, os.O_WRONLY)
                os.dup2(quiet, 2)
                on_host(name)
                work()
                outcome = {"done": True}
            except LabError as error:
                outcome = {"error": type(error).__name__, "what": error.what, "exit": error.exit_status}
            finally:
                self._file.write_text(json.dumps(outcome))
                os._exit(0)

    def ended(self) -> dict:
        """Wait for the end, and return what it told."""
        os.waitpid(self.pid, 0)
        self.pid = 0
        return json.loads(self._file.read_text())

    def send(self, number: int) -> None:
        os.kill(self.pid, number)
        if number == signal.SIGSTOP:
            os.waitid(os.P_PID, self.pid, os.WSTOPPED)

    def reads(self) -> int:
        """Bytes that it has had read from storage."""
        lines = Path(f"/proc/{self.pid}/io").read_text().splitlines()
        return int(dict(line.split(": ") for line in lines)["read_bytes"])


@pytest.fixture
def child(tmp_path: Path) -> Iterator[Callable[..., Child]]:
    made: list[Child] = []

    def make(name: str, work: Callable[[], object]) -> Child:
        made.append(Child(tmp_path, name, work))
        return made[-1]

    yield make
    for each in made:
        if each.pid:
            with suppress(ProcessLookupError):
                each.send(signal.SIGKILL)
            os.waitpid(each.pid, 0)


def wait_for(what: Callable[[], object]) -> None:
    end = time.monotonic() + 60
    while not what():
        assert time.monotonic() < end
        time.sleep(0.01)


def holding_for_ever(folder: Path) -> Callable[[], object]:
    def work() -> None:
        lock = RunLock(folder)
        (folder / "held").touch()
        while True:
            time.sleep(T_S / 20)
            lock.check()

    return work


def test_a_second_runner_is_refused_and_file_the_process_even_if_that_is_stopped(
    tmp_path: Path, child: Callable[..., Child]
) -> None:
    (run := tmp_path / "run").mkdir()
    first = child("one", holding_for_ever(run))
    wait_for((run / "held").exists)
    for number in (None, signal.SIGSTOP):
        if number:
            first.send(number)
            time.sleep(3 * T_S)  # longer than its lease could last
        again = child("one", lambda: RunLock(run))
        assert again.ended()["what"] == f"run is being run by another process, process {first.pid}"
        assert is_running(run)


def test_a_run_that_was_killed_here_is_free_at_once(tmp_path: Path, child: Callable[..., Child]) -> None:
    (run := tmp_path / "run").mkdir()
    first = child("one", holding_for_ever(run))
    wait_for((run / "held").exists)
    first.send(signal.SIGKILL)
    os.waitpid(first.pid, 0)
    first.pid = 0
    assert not is_running(run) and (run / LEASE).exists()
    began = time.monotonic()
    RunLock(run).release()
    assert time.monotonic() - began < 2 * T_S
    assert not (run / LEASE).exists()


def test_another_host_that_renews_its_lease_is_left_alone(
    tmp_path: Path, child: Callable[..., Child]
) -> None:
    (run := tmp_path / "run").mkdir()
    first = child("one", holding_for_ever(run))
    wait_for((run / "held").exists)
    ended = child("two", lambda: RunLock(run)).ended()
    assert ended["what"] == f"run is being run by another process, process {first.pid} on one"
    assert ended["exit"] == 2
    assert os.waitpid(first.pid, os.WNOHANG) == (0, 0), "the first has lost nothing"


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP])
@pytest.mark.long
def test_a_lease_of_another_host_that_is_not_renewed_is_taken_after_two_t(
    tmp_path: Path, child: Callable[..., Child], number: int
) -> None:
    (run := tmp_path / "run").mkdir()
    first = child("one", holding_for_ever(run))
    wait_for((run / "held").exists)
    first.send(number)
    waits: list[str] = []

    def take() -> None:
        began = time.monotonic()
        lock = RunLock(run, on_wait=waits.append)
        assert time.monotonic() - began >= 2 * T_S
        assert lock.taken_over and lock.deadline is not None
        assert "process" in waits[0] and "on one" in waits[0]
        time.sleep(2 * T_S)
        lock.check()  # its own is renewed
        lock.release()

    assert child("two", take).ended() == {"done": True}
    assert not (run / LEASE).exists()
    if number == signal.SIGSTOP:
        first.send(signal.SIGCONT)
        ended = first.ended()
        assert ended["error"] == LeaseLost.__name__ and ended["exit"] == 3


@pytest.mark.long
def test_only_one_of_several_successors_takes_a_lease_over(
    tmp_path: Path, child: Callable[..., Child]
) -> None:
    (run := tmp_path / "run").mkdir()
    first = child("one", holding_for_ever(run))
    wait_for((run / "held").exists)
    first.send(signal.SIGSTOP)
    others = [child(f"host-{number}", lambda: RunLock(run) and time.sleep(3 * T_S)) for number in range(5)]
    ended = [each.ended() for each in others]
    assert sum("done" in each for each in ended) == 1, ended
    assert sum(each.get("error") == Refused.__name__ for each in ended) == 4, ended


def test_a_lease_that_was_lost_is_lost_for_good(
    tmp_path: Path, child: Callable[..., Child], monkeypatch: pytest.MonkeyPatch
) -> None:
    (run := tmp_path / "run").mkdir()

    def work() -> None:
        lock = RunLock(run)
        (run / LEASE).rename(run / "elsewhere")  # as if the server were gone: it cannot be read nor renewed
        wait_for(lambda: lock.deadline.has_passed)
        (run / "elsewhere").rename(run / LEASE)
        time.sleep(T_S)
        lock.check()

    ended = child("one", work).ended()
    assert ended["error"] == LeaseLost.__name__ and "nothing more is written" in ended["what"]


@pytest.mark.parametrize("where", ["before it reads who holds the run", "after that", "before it writes"])
def test_a_renewal_that_is_under_way_writes_into_no_other_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    """The server answers the renewing thread slowly, and the run is given up meanwhile."""
    under_way, closed = threading.Event(), threading.Event()
    reads, writes = RunLock._named_holder, lease._write

    def slow(place: str) -> None:
        if place == where and threading.current_thread().name == "ssdlab-lease":
            under_way.set()
            closed.wait(0.3)  # a release that waits for the renewal is not waited for

    def named_holder(self: RunLock) -> Holder | None:
        slow("before it reads who holds the run")
        found = reads(self)
        slow("after that")
        return found

    def write(descriptor: int, holder: Holder, *, durable: bool) -> None:
        slow("before it writes")
        writes(descriptor, holder, durable=durable)

    monkeypatch.setattr(lease, "may_be_shared", lambda descriptor: True)
    monkeypatch.setattr(lease, "RENEWAL_S", 0.01)
    (run := tmp_path / "run").mkdir()
    lock = RunLock(run)
    (thread,) = (each for each in threading.enumerate() if each.name == "ssdlab-lease")
    monkeypatch.setattr(RunLock, "_named_holder", named_holder)
    monkeypatch.setattr(lease, "_write", write)
    assert under_way.wait(30)
    lock.release()
    others = [tmp_path / f"other-{number}" for number in range(4)]
    with ExitStack() as stack:  # they have the numbers of the descriptors that were closed
        for other in others:
            stack.enter_context(other.open("wb"))
        closed.set()
        thread.join(30)
    assert [other.read_bytes() for other in others] == [b""] * 4
    assert lock.deadline is not None and not lock.deadline.has_passed, "given up, not lost"
    assert not is_running(run)


@pytest.mark.long
def test_a_stopped_run_that_another_host_went_on_with_issues_no_more_when_it_wakes(
    scratch: Path, tmp_path: Path, child: Callable[..., Child], monkeypatch: pytest.MonkeyPatch
) -> None:
    # Two views of one target: neither host sees who has the file open on the other.
    monkeypatch.setattr(holding, "_lock", lambda *_: None)
    monkeypatch.setattr(file_guard, "_in_use", lambda *_: None)
    monkeypatch.setattr(file_guard, "_perhaps_in_use", lambda *_: None)
    method = find_method("peak-random-read")
    settings = {"depths": str(DEPTH), "seconds": "8s", "ramp_seconds": "0"}
    order = Order(method, method.params.build(settings), str(scratch / "target.img"), size_bytes=8 << 20)
    library = tmp_path / "library"
    first = child("one", lambda: start(order, library))
    wait_for(lambda: list(library.glob("*/steps/*.log")))
    begun = first.reads()
    wait_for(lambda: first.reads() > begun + (1 << 20))
    first.send(signal.SIGSTOP)
    before = first.reads()
    (run,) = library.glob("2*")
    second = child("two", lambda: resume(run))
    wait_for(lambda: len(list(library.glob("*/steps/*.log"))) > 1)
    begun = second.reads()
    wait_for(lambda: second.reads() > begun + (1 << 20))  # it has waited, and is amid the same step
    first.send(signal.SIGCONT)
    os.waitid(os.P_PID, first.pid, os.WEXITED | os.WNOWAIT)
    after = first.reads()
    ended = first.ended()
    assert after - before <= DEPTH * BLOCK_BYTES, "more than was prepared when it was stopped"
    assert ended["error"] == LeaseLost.__name__ and ended["exit"] == 3
    assert f"process {second.pid} on two is now working on it" in ended["what"]
    assert second.ended() == {"done": True}
    assert RunFolder(run).manifest.status == "finished"
    assert verify_run(run).damage is None
