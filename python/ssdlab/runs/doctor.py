"""What a host can and cannot measure: checks facts about the host and gives advice.

`gather` collects the facts; `examine` judges them and is pure. A check is `ok`, `limited` (figures are
possible, with the stated caveat) or `missing` (something is impossible).
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ssdlab.host.programs import find_program
from ssdlab.host.sysfs import there
from ssdlab.model.errors import LabError
from ssdlab.model.units import capacity_text, latency_text

if TYPE_CHECKING:
    from ssdlab.host.environment import Environment

State = Literal["ok", "limited", "missing"]

THREADS = 512
"""Threads of the deepest sweep; each needs one open file at most."""

LOCKED_BYTES = 512 * 128 * 1024
"""Memory for registered buffers in that sweep, with 128 KiB blocks."""

WAKE_UP_NS = 50_000
"""A median wake-up delay this long is comparable to an SSD's read latency."""

CALIBRATION_S = 0.5


@dataclass(frozen=True, slots=True)
class Tool:
    name: str
    package: str
    loss: str


TOOLS = (
    Tool("fio", "fio", "no comparison with fio (make bench and the tests of agreement)"),
    Tool("bpftrace", "bpftrace", "no check of ssdlab's counts against the kernel's tracepoints (tests)"),
    Tool(
        "smartctl",
        "smartmontools",
        "no second source for a drive's health besides ssdlab's readings",
    ),
    Tool("lsblk", "util-linux", "no list of mounts, to which the guard's advice refers"),
    Tool("cpupower", "linux-cpupower", "no easy way to set the CPU frequency governor"),
)


@dataclass(frozen=True, slots=True)
class Facts:
    """Facts about the host that the checks judge.

    Attributes
    ----------
    capabilities, calibration
        As reported by `ssdlab._core`.
    schedulers
        I/O scheduler of each disk that offers a choice.
    root
        Whether this process is root.
    attributes
        Whether files can carry an extended attribute that marks them as made by ssdlab.
    library, library_free_bytes
        Folder for results, None if its setting is wrong; free space there, None if it is not writable.
    missing_tools
        The `TOOLS` that are not installed.
    left
        Settings left by crashed runs, each with its remedy: ``(what, advice)``.
    traces
        Kernel traces that dead ssdlab processes left, now removed.
    config
        The user's configuration file and the settings in it; empty if there are none.
    config_fault
        What is wrong with that file or with the variable that overrides it.
    """

    environment: Environment
    capabilities: Mapping[str, Any]
    calibration: Mapping[str, Any]
    schedulers: Mapping[str, str]
    root: bool
    attributes: bool
    library: Path | None
    library_free_bytes: int | None
    missing_tools: tuple[Tool, ...]
    left: tuple[tuple[str, str], ...] = ()
    traces: tuple[str, ...] = ()
    config: str = ""
    config_fault: LabError | None = None


@dataclass(frozen=True, slots=True)
class Check:
    name: str
    state: State
    what: str
    advice: str = ""


def gather() -> Facts:
    """Collect facts about this host; takes about `CALIBRATION_S` seconds and touches no drive."""
    import ssdlab._core as _core
    from ssdlab.host.defaults import config_path, default_library, read_defaults
    from ssdlab.host.environment import read_environment
    from ssdlab.host.tracefs import remove_dead

    library, config, fault = None, "", None
    try:
        library = default_library()
        if named := read_defaults().model_fields_set:
            config = f"{config_path()} names {', '.join(sorted(named))}"
    except LabError as error:
        fault = error
    return Facts(
        environment=read_environment(),
        capabilities=_core.capabilities(),
        calibration=_core.calibrate(CALIBRATION_S),
        schedulers=_schedulers_here(),
        root=os.geteuid() == 0,
        attributes=_takes_attributes(),
        library=library,
        library_free_bytes=None if library is None else _free_bytes(library),
        missing_tools=tuple(tool for tool in TOOLS if find_program(tool.name) is None),
        left=_left(),
        traces=remove_dead(),
        config=config,
        config_fault=fault,
    )


def examine(facts: Facts) -> list[Check]:
    """Return all checks in their printed order."""
    parts = (
        _privileges,
        _engines,
        _limits,
        _clock,
        _processors,
        _groups,
        _schedulers,
        _settings,
        _storage,
        _tools,
    )
    return [check for part in parts for check in part(facts)]


def _privileges(facts: Facts) -> Iterator[Check]:
    if facts.root:
        yield Check("privileges", "ok", "running as root: block devices can be opened")
    else:
        advice = "run as root, or join the group that owns the device (ls -l /dev/nvme0n1 shows it)"
        yield Check("privileges", "limited", "not root: files can be measured, devices perhaps not", advice)


def _engines(facts: Facts) -> Iterator[Check]:
    yield Check("sync", "ok", "blocking calls, one thread per I/O in flight")
    ring = facts.capabilities["io_uring"]
    if not ring["available"]:
        reason = "" if ring["errno"] is None else f" ({os.strerror(ring['errno'])})"
        advice = (
            "use --engine sync, or allow io_uring: sysctl kernel.io_uring_disabled=0, and the container's "
            "seccomp"
        )
        yield Check("io_uring", "missing", f"not available{reason}: no --engine uring", advice)
        return
    words = {"single_issuer": "single issuer", "fixed_buffers": "registered buffers", "commands": "trim"}
    lacking = [text for name, text in words.items() if not ring[name]]
    if lacking:
        advice = "use a newer kernel, or --engine sync, which does not need them"
        yield Check("io_uring", "limited", f"available without {', '.join(lacking)}", advice)
    else:
        yield Check("io_uring", "ok", "available, with registered buffers and trim")


def _limits(facts: Facts) -> Iterator[Check]:
    locked = facts.capabilities["locked_memory_bytes"]
    if locked is None or facts.root or locked >= LOCKED_BYTES:
        yield Check("locked memory", "ok", "enough for registered buffers")
    else:
        advice = "raise it with ulimit -l, or use fewer threads, less depth or smaller blocks"
        what = f"{capacity_text(locked)} for registered buffers, less than {THREADS} x 128 KiB"
        yield Check("locked memory", "limited", what, advice)
    for name, key, flag in (("open files", "open_files", "-n"), ("threads", "threads", "-u")):
        limit = facts.capabilities[key]
        if limit is None or limit > THREADS:
            yield Check(name, "ok", "no limit" if limit is None else f"up to {limit}")
        else:
            advice = f"raise it with ulimit {flag}"
            yield Check(name, "limited", f"up to {limit}: no sweep to {THREADS} threads", advice)
    if facts.capabilities["schedstat"]:
        yield Check("schedstat", "ok", "the kernel reports how long threads waited for a CPU")
    else:
        advice = "use a kernel with CONFIG_SCHED_INFO"
        yield Check(
            "schedstat", "limited", "waits for a CPU are unknown: tail latencies cannot be attributed", advice
        )


def _clock(facts: Facts) -> Iterator[Check]:
    source = facts.environment.kernel.clocksource
    dear = facts.environment.kernel.architecture == "x86_64" and source not in (None, "tsc", "kvm-clock")
    if dear:
        advice = "boot with clocksource=tsc if the CPU's is stable"
        yield Check(
            "clock", "limited", f"clocksource {source}: each timestamp is a slow device access", advice
        )
    else:
        yield Check("clock", "ok", f"clocksource {source or 'unknown'}")
    wake_ns = facts.calibration["wake_up_ns"]["p50"]
    if wake_ns is not None and wake_ns > WAKE_UP_NS:
        advice = (
            "limit idle states (cpupower idle-set -D 10), stop other work, or use --engine uring with depth"
        )
        what = f"a sleeping thread wakes {latency_text(wake_ns)} late (median)"
        yield Check("wake-up", "limited", f"{what}: as long as an SSD read", advice)


def _processors(facts: Facts) -> Iterator[Check]:
    cpu, machine = facts.environment.cpu, facts.environment.machine
    governors = cpu.governors
    if not governors:
        yield Check("governor", "ok", "none visible: the host or firmware controls the CPU frequency")
    elif governors == ("performance",):
        yield Check("governor", "ok", "performance")
    else:
        advice = "set it: cpupower frequency-set -g performance"
        yield Check(
            "governor", "limited", f"{', '.join(governors)}: a CPU may clock down while it waits", advice
        )
    if machine.hypervisor is not None:
        advice = "measure drives on bare metal; here, compare only runs on this machine"
        yield Check(
            "machine", "limited", "virtual: other guests and the hypervisor affect each figure", advice
        )
    else:
        yield Check("machine", "ok", "bare metal")
    load, cpus = machine.load_average, cpu.allowed or 1
    if load is not None and load[0] > cpus / 2:
        what = f"load average {load[0]:.1f} on {cpus} CPUs: other work affects the figures"
        yield Check("load", "limited", what, "stop other work before measuring")
    else:
        yield Check("load", "ok", f"{cpus} CPUs, idle enough")


def _groups(facts: Facts) -> Iterator[Check]:
    limits = facts.environment.limits
    found = [f"{limits.cpus:g} CPUs"] if limits.cpus is not None else []
    found += [f"{limit.rule} on {limit.device}" for limit in limits.io]
    if found:
        advice = "leave the group, or lift the limit, unless intended"
        yield Check("control group", "limited", f"limits this process: {', '.join(found)}", advice)
    else:
        yield Check("control group", "ok", "no limit on CPU time or I/O")


def _schedulers(facts: Facts) -> Iterator[Check]:
    others = {device: name for device, name in facts.schedulers.items() if name != "none"}
    for device, name in others.items():
        advice = f"switch it off before measuring: echo none > /sys/block/{device}/queue/scheduler"
        yield Check("scheduler", "limited", f"{device} has {name}: it holds and reorders I/Os", advice)
    if not others:
        yield Check("scheduler", "ok", "none on every drive that has a choice")


def _settings(facts: Facts) -> Iterator[Check]:
    for what, advice in facts.left:
        yield Check("settings", "limited", what, advice)
    if not facts.left:
        yield Check("settings", "ok", "no run left settings changed")
    if facts.traces:
        yield Check("tracing", "ok", f"removed after a killed run: {', '.join(facts.traces)}")


def _storage(facts: Facts) -> Iterator[Check]:
    if facts.attributes:
        yield Check("file marks", "ok", "files can be marked as made by ssdlab")
    else:
        advice = "nothing to do: a record in the state folder is used instead"
        yield Check(
            "file marks", "limited", "the file system of temporary files has no extended attributes", advice
        )
    if facts.config_fault is not None:
        yield Check("configuration", "missing", facts.config_fault.what, facts.config_fault.advice)
    else:
        yield Check("configuration", "ok", facts.config or "no config.toml that names anything")
    if facts.library is None:
        yield Check("library", "missing", "unknown, as its setting is wrong", "correct that setting first")
    elif facts.library_free_bytes is None:
        advice = "name another folder with --library, SSDLAB_LIBRARY or in config.toml"
        yield Check("library", "missing", f"{facts.library} cannot be written", advice)
    else:
        free = capacity_text(facts.library_free_bytes)
        yield Check("library", "ok", f"{facts.library}, {free} free")
    if facts.environment.tool["profile"] != "release":
        advice = "build it with make setup"
        yield Check(
            "build", "limited", "a debug build: the tool costs several times as much CPU time per I/O", advice
        )


def _tools(facts: Facts) -> Iterator[Check]:
    for tool in facts.missing_tools:
        yield Check(
            tool.name, "limited", f"not installed: {tool.loss}", f"install the package {tool.package}"
        )


def _schedulers_here() -> dict[str, str]:
    from ssdlab.drives import list_drives
    from ssdlab.host.block_queue import read_conditions
    from ssdlab.host.sysfs import HostFiles

    found = {}
    for look in list_drives():
        node = None if look.identity is None else HostFiles().node_named(look.identity.name)
        scheduler = None if node is None else read_conditions(node).scheduler
        if node is not None and scheduler is not None:
            found[node.name] = scheduler
    return found


def _left() -> tuple[tuple[str, str], ...]:
    from ssdlab.runs.conditions.leftovers import describe_leftovers, leftovers

    return describe_leftovers(*leftovers())


def _takes_attributes() -> bool:
    try:
        with tempfile.TemporaryFile() as file:
            os.setxattr(file.fileno(), "user.ssdlab.try", b"1")
    except OSError:
        return False
    return True


def _free_bytes(folder: Path) -> int | None:
    """Return the free space at a folder, or where it would be made; None if it cannot be written."""
    place = next(path for path in (folder, *folder.parents) if there(path))
    if not os.access(place, os.W_OK):
        return None
    return shutil.disk_usage(place).free
