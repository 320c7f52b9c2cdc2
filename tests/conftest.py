"""Fixtures for everybody: scratch folders, devices of our own, throttles, tracers.

What this machine lacks is skipped, with the reason. With ``SSDLAB_NO_SKIP=1`` a skip is a failure: that is
how CI makes sure that nothing was left out.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import hypothesis
import pytest

from machine import blkio, memory_disk, mounts, orphans, sharing, tables_here, tracing, workers_here

pytest_plugins = ["methods.quick_runs"]
# Whatever PYTHONDONTWRITEBYTECODE says: each process of a part would compile all tests anew, for ten seconds.
sys.dont_write_bytecode = False

MIB = 1 << 20
GIB = 1 << 30

# How long it takes to think of an example, or to try it, says how busy the host is.
hypothesis.settings.register_profile(
    "any-host", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("any-host")


def pytest_configure(config: pytest.Config) -> None:
    # Nothing of the user's own is touched, and tests beside each other do not meet in the state folder.
    homes = tempfile.TemporaryDirectory(prefix="ssdlab-homes-")
    config.add_cleanup(homes.cleanup)
    for kind in ("CONFIG", "DATA", "STATE"):
        os.environ[f"XDG_{kind}_HOME"] = str(Path(homes.name) / kind.lower())
    os.environ.pop("SSDLAB_LIBRARY", None)
    sharing.watch_programs_here()
    tables_here.install()
    workers_here.install()
    # A shell without job control starts what it puts in the background with SIGINT ignored, nohup with SIGHUP
    # ignored, and children inherit that: a test of such a signal would wait for ever.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
        signal.signal(signal.SIGHUP, signal.SIG_DFL)


CAMPAIGN_TIMEOUT_S = 3600
"""What a slow test takes depends on the host and on what runs beside it: only one that hangs is stopped."""


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    config.stash[sharing.COLLECTED] = list(items)
    for item in items:
        if sharing.shares(item):
            item.add_marker(sharing.MARKER)
        if sharing.wants_outside(item):
            item.add_marker(sharing.OUTSIDE)
        if item.get_closest_marker("slow") and not item.get_closest_marker("timeout"):
            item.add_marker(pytest.mark.timeout(CAMPAIGN_TIMEOUT_S))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    report: pytest.TestReport = yield
    if report.failed:
        orphans.end_orphans()
    if report.skipped and not hasattr(report, "wasxfail") and os.environ.get("SSDLAB_NO_SKIP") == "1":
        reason = report.longrepr[-1] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        report.outcome = "failed"
        report.longrepr = f"{item.nodeid}: skipped although no skip is allowed: {reason}"
    return report


def tool(name: str, package: str) -> str:
    """Path of a program, or a skip that says which package has it."""
    sharing.outside(f"needs {name}")
    path = shutil.which(name)
    if path is None:
        pytest.skip(f"{name} is not installed (apt install {package})")
    return path


def need_root() -> None:
    sharing.outside("needs root")
    if os.geteuid() != 0:
        pytest.skip("needs root")


@pytest.fixture(autouse=True)
def _quiet_host(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the process of a test that runs beside others, nobody says how busy they keep the processors."""
    if request.node.get_closest_marker(sharing.MARKER) is None:
        monkeypatch.setattr("ssdlab.host.cpus.read_cpu_times", lambda: None)


@contextmanager
def scratch_folder(place: Path) -> Iterator[Path]:
    """An empty folder for files that stand for drives; removed afterwards.

    Its file system has real extents. A container may have none such: what a built tree is enough for makes do
    with direct I/O there.
    """
    candidates = [os.environ.get("SSDLAB_SCRATCH"), str(place), "/var/tmp", str(Path.home())]
    folders = [Path(folder) for folder in candidates if folder]
    fit = [folder for folder in folders if mounts.file_system_type(folder) in {"ext4", "xfs", "btrfs"}]
    if not fit and sharing.QUICK:
        fit = [folder for folder in folders if mounts.takes_direct_io(folder)]
    if not fit:
        pytest.skip("no folder on ext4, xfs or btrfs (name one in SSDLAB_SCRATCH)")
    with tempfile.TemporaryDirectory(prefix="ssdlab-test-", dir=fit[0]) as made:
        yield Path(made)


@pytest.fixture
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lines wide enough that no sentence is wrapped."""
    monkeypatch.setenv("COLUMNS", "1000")


@pytest.fixture
def scratch(tmp_path: Path) -> Iterator[Path]:
    """An empty folder for files that stand for drives: `scratch_folder`."""
    with scratch_folder(tmp_path) as made:
        yield made


@pytest.fixture
def make_zram() -> Iterator[Callable[..., Path]]:
    """Makes block devices in memory: ``make_zram(size_bytes) -> /dev/zramN``; removed afterwards."""
    need_root()
    if not memory_disk.available():
        pytest.skip("no zram in this kernel (/sys/class/zram-control)")
    made: list[Path] = []

    def make(size_bytes: int = GIB) -> Path:
        made.append(memory_disk.add(size_bytes))
        return made[-1]

    yield make
    for device in made:
        memory_disk.remove(device)


@pytest.fixture
def zram(make_zram: Callable[..., Path]) -> Path:
    """A block device in memory of 1 GiB."""
    return make_zram(GIB)


@pytest.fixture
def throttled() -> Iterator[Callable[..., blkio.Throttle]]:
    """Limits a device to a known speed: ``throttled(device, read_iops=2000)`` gives a `blkio.Throttle`."""
    need_root()
    if not blkio.available():
        pytest.skip("no blkio cgroup (version 1) with throttling is mounted")
    made: list[blkio.Throttle] = []

    def make(device: Path, **limits: int) -> blkio.Throttle:
        made.append(blkio.Throttle(device, **limits))
        return made[-1]

    yield make
    for throttle in made:
        throttle.remove()


@pytest.fixture
def bpf() -> Callable[[str], AbstractContextManager[tracing.Trace]]:
    """Runs a bpftrace program beside the test: ``with bpf(program) as trace: ...``, then ``trace.maps``."""
    need_root()
    tool("bpftrace", "bpftrace")
    if not Path("/sys/kernel/btf/vmlinux").exists():
        pytest.skip("this kernel has no BTF")
    tracing.mount_tracefs()
    return tracing.Trace


@pytest.fixture
def block_trace(
    bpf: Callable[[str], AbstractContextManager[tracing.Trace]],
) -> Callable[[Path], tracing.BlockTrace]:
    """Counts what really reaches a device: ``with block_trace(device) as trace``, then ``trace.requests``."""
    return tracing.BlockTrace


@pytest.fixture
def fio() -> str:
    return tool("fio", "fio")


@pytest.fixture
def need_tool() -> Callable[[str], str]:
    """Finds a program, or skips: ``need_tool("lvs")``."""

    def find(name: str) -> str:
        path = shutil.which(name) or shutil.which(name, path="/usr/sbin:/sbin")
        if path is None:
            pytest.skip(f"{name} is not installed")
        return path

    return find


@pytest.fixture
def chromium() -> str:
    return shutil.which("chromium") or shutil.which("chromium-browser") or tool("google-chrome", "chromium")


@pytest.fixture
def command() -> str:
    """The installed ``ssdlab`` command, as a user runs it."""
    path = Path(sys.executable).with_name("ssdlab")
    assert path.exists(), "the command is not installed: make setup"
    return str(path)
