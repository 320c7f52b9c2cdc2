"""Real stops of real measurements: seen, said, and never seen where the process only found no CPU."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from conftest import need_root
from machine import sharing
from machine.nbd_server import Server
from ssdlab.lab.outcome import read_result
from ssdlab.results.run_folder import RunFolder

pytestmark = pytest.mark.long

MIB = 1 << 20
ENGINES = {"sync": [], "uring": ["--engine", "uring", "--depth", "8"]}
STOP_S = 1.0
"""Ten times what counts as a stop: no host is so busy that it hides one."""
FREEZER, QUOTA = Path("/sys/fs/cgroup/freezer"), Path("/sys/fs/cgroup/cpu")


@pytest.fixture
def written(scratch: Path) -> Path:
    """A file that has been written, to read from."""
    path = scratch / "drive.bin"
    path.write_bytes(os.urandom(16 * MIB))
    return path


def measuring(command: str, drive: Path | str, *options: str, seconds: float = 4.0) -> subprocess.Popen[str]:
    words = [command, "measure", str(drive), "--seconds", str(seconds), "--interval", "200ms", *options]
    return subprocess.Popen([*words, "--json"], stdout=subprocess.PIPE, text=True)


def wait_until_busy(process: subprocess.Popen[str]) -> None:
    """Wait until the engine's threads are there, which it names, and have begun."""
    tasks = Path(f"/proc/{process.pid}/task")
    end = time.monotonic() + 60
    while time.monotonic() < end:
        names = [each.read_text().strip() for each in tasks.glob("*/comm")]
        if any(name.startswith("ssdlab-") for name in names):
            time.sleep(0.3)
            return
        time.sleep(0.02)
    raise AssertionError("it never began to measure")


def stop(process: subprocess.Popen[str], seconds: float = STOP_S) -> None:
    process.send_signal(signal.SIGSTOP)
    time.sleep(seconds)
    process.send_signal(signal.SIGCONT)


def told(process: subprocess.Popen[str]) -> dict:
    out, _ = process.communicate(timeout=120)
    assert process.returncode == 0
    return json.loads(out)


def codes(summary: dict) -> list[str]:
    return [each["code"] for each in summary["warnings"]]


def check_stopped(summary: dict, seconds: float = STOP_S) -> None:
    assert "paused" in codes(summary)
    # A busy host may stop it for longer, and never for less but by what the sleeper itself slept.
    assert sum(each["length_ns"] for each in summary["pauses"]) >= 0.9 * seconds * 1e9
    paused = [each for each in summary["intervals"] if each["paused"]]
    assert paused and len(paused) < len(summary["intervals"])
    slowest = max(summary["intervals"], key=lambda each: each["read"]["response_ns"]["max"] or 0)
    assert slowest["paused"], "the row that holds the stop is not flagged"


@pytest.mark.parametrize("engine", ENGINES)
def test_a_stop_by_a_signal_is_said(command: str, written: Path, engine: str) -> None:
    process = measuring(command, written, *ENGINES[engine])
    wait_until_busy(process)
    stop(process)
    check_stopped(told(process))


def test_an_open_loop_that_was_stopped_is_late_by_it_and_says_so(command: str, written: Path) -> None:
    process = measuring(command, written, "--rate", "200", "--threads", "2", "--backlog", "200ms")
    wait_until_busy(process)
    stop(process)
    summary = told(process)
    check_stopped(summary)
    assert summary["read"]["dropped"] > 0
    assert codes(summary).index("paused") < codes(summary).index("dropped")


def test_a_frozen_cgroup_is_said(command: str, written: Path) -> None:
    if not os.access(FREEZER / "cgroup.procs", os.W_OK):
        pytest.skip("no freezer cgroup (version 1) is mounted")
    with group_of(FREEZER) as group:
        process = measuring(command, written)
        (group / "cgroup.procs").write_text(str(process.pid))
        wait_until_busy(process)
        (group / "freezer.state").write_text("FROZEN")
        time.sleep(STOP_S)
        (group / "freezer.state").write_text("THAWED")
        check_stopped(told(process))


def test_ctrl_z_of_a_shell_is_said(command: str, written: Path, tmp_path: Path) -> None:
    """As a user has it: a job of an interactive shell, stopped by its terminal and brought back by `fg`."""
    out = tmp_path / "out.json"
    line = f"{command} measure {written} --seconds 4 --interval 200ms --json > {out}\n"
    shell, terminal = pty.fork()
    if shell == 0:
        os.execvp("bash", ["bash", "--norc", "--noprofile", "-i"])
    try:
        os.write(terminal, line.encode())
        (child,) = eventually(lambda: Path(f"/proc/{shell}/task/{shell}/children").read_text().split())
        named = Path(f"/proc/{child}/task").glob
        eventually(lambda: [p for p in named("*/comm") if p.read_text().startswith("ssdlab-")])
        time.sleep(0.3)
        os.write(terminal, b"\x1a")
        time.sleep(STOP_S)
        os.write(terminal, b"fg\n")
        eventually(lambda: out.read_text().endswith("}\n"))
        check_stopped(json.loads(out.read_text()))
    finally:
        os.kill(shell, signal.SIGKILL)
        os.close(terminal)
        os.waitpid(shell, 0)


def eventually(found):
    end = time.monotonic() + 60
    while time.monotonic() < end:
        with contextlib.suppress(OSError):
            if value := found():
                return value
        time.sleep(0.05)
    raise AssertionError("it never came")


def test_a_stop_changes_nothing_of_a_drive_in_virtual_time(command: str) -> None:
    undisturbed = told(measuring(command, "sim:tiny-test", seconds=20))
    process = measuring(command, "sim:tiny-test", seconds=20)
    time.sleep(0.5)
    stop(process)
    stopped = told(process)
    assert stopped["pauses"] == [] and "paused" not in codes(stopped)
    assert stopped["iops"] == undisturbed["iops"] and stopped["read"] == undisturbed["read"]


def test_a_server_that_was_stopped_is_no_drive_to_its_clients(command: str, tmp_path: Path) -> None:
    server = Server(command, tmp_path)
    stop(server.process)
    served = server.end()
    assert served["pauses"] and not served["trusted"]


def test_a_run_does_a_stopped_step_again(command: str, written: Path, tmp_path: Path) -> None:
    options = ["--set", "depths=1,2", "--set", "seconds=4", "--set", "ramp_seconds=0"]
    words = [command, "run", "peak-random-read", str(written), *options, "--library", str(tmp_path / "lib")]
    with subprocess.Popen(words, stdout=subprocess.DEVNULL, text=True) as process:
        wait_until_busy(process)
        stop(process)
        assert process.wait(120) == 0
    (folder,) = (tmp_path / "lib").glob("2*")
    run = RunFolder(folder)
    (void,) = run.voided()
    paused = run.rows(void.ordinal, void.attempt)["paused"]
    assert paused.any() and not paused.all(), "the rows of the voided attempt do not show the stop"
    (again,) = [step for step in run.steps() if step.ordinal == void.ordinal]
    assert again.attempt == void.attempt + 1 and not again.result.pauses
    assert not run.rows(again.ordinal)["paused"].any()
    assert "paused" not in {code for each in read_result(run).scalars for code in each.codes}


@contextlib.contextmanager
def group_of(controller: Path) -> Iterator[Path]:
    """A cgroup of a test's own; it freezes or limits nobody else."""
    group = controller / f"ssdlab-test-{uuid4().hex[:12]}"
    group.mkdir()
    try:
        yield group
    finally:
        with contextlib.suppress(OSError):
            (group / "freezer.state").write_text("THAWED")
        for pid in (group / "cgroup.procs").read_text().split():
            (controller / "cgroup.procs").write_text(pid)
        group.rmdir()


@contextlib.contextmanager
def hogs(count: int, *how: str) -> Iterator[list[int]]:
    """Processes that never sleep, started by a command such as `nice`; 20 s of a CPU end each."""
    found = [subprocess.Popen([*how, "sh", "-c", "ulimit -t 20; while :; do :; done"]) for _ in range(count)]
    try:
        yield [each.pid for each in found]
    finally:
        # All of them, before the first is waited for: of two of one real-time priority on a CPU, the one that
        # waits cannot even die before the other one has.
        for each in found:
            each.kill()
        for each in found:
            each.wait()


STARVING = {
    "nice": ("nice", "-n", "-19"),
    "real time": ("chrt", "-f", "50"),
}


@pytest.mark.machine
@pytest.mark.parametrize("how", STARVING)
@pytest.mark.parametrize("engine", ENGINES)
def test_a_process_without_a_cpu_was_not_stopped(command: str, written: Path, engine: str, how: str) -> None:
    sharing.alone("takes all processors")
    need_root()
    process = measuring(command, written, *ENGINES[engine], seconds=4)
    wait_until_busy(process)
    with hogs(2 * (os.cpu_count() or 1), *STARVING[how]):
        time.sleep(2)
    summary = told(process)
    assert summary["pauses"] == [] and "paused" not in codes(summary)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_quota_of_a_cgroup_is_no_stop(command: str, written: Path, engine: str) -> None:
    """A tenth of a CPU in periods of a second: throttled for up to 0.9 s at a time."""
    if not os.access(QUOTA / "cpu.cfs_quota_us", os.R_OK) and not (QUOTA / "cgroup.procs").exists():
        pytest.skip("no cpu cgroup (version 1) is mounted")
    with group_of(QUOTA) as group:
        process = measuring(command, written, *ENGINES[engine], seconds=5)
        wait_until_busy(process)
        (group / "cpu.cfs_period_us").write_text("1000000")
        (group / "cpu.cfs_quota_us").write_text("100000")
        (group / "cgroup.procs").write_text(str(process.pid))
        time.sleep(3)
        throttled = int((group / "cpu.stat").read_text().split("throttled_time ")[1].split()[0])
        (group / "cpu.cfs_quota_us").write_text("-1")
        summary = told(process)
    assert throttled > 5e8, "nothing was throttled, so that nothing was shown"
    assert summary["pauses"] == []
