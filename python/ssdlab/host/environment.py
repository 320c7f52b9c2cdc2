"""The machine of a measurement, with its control group limits, so that figures can be compared.

It has only facts from `/proc` and `/sys`. If the kernel does not report a fact, it is None, never guessed.
Sources: proc(5), Documentation/ABI/testing/sysfs-devices-system-cpu, Documentation/admin-guide/cgroup-v1 and
cgroup-v2.
"""

from __future__ import annotations

import platform
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ssdlab.host.attributes import disk_of
from ssdlab.host.block_queue import read_conditions
from ssdlab.host.mounts import devices_of, mount_of, mounts
from ssdlab.host.sysfs import HostFiles, flag, is_folder, link_name, names, number, text, there, within
from ssdlab.model.host_load import Conditions

if TYPE_CHECKING:
    from ssdlab.host.identity import Identity

# Limits that control groups put on this process: CPU time, memory, and I/O on single devices.
#
# A limit applies wherever it is set between the process's group and the root, so the tightest of them is
# taken. Both versions are read, as a host may have controllers in either. A throttle on the drive under test
# would explain a suspiciously steady result.

_V1_NO_LIMIT_BYTES = 1 << 60
"""Version 1 writes "none" as the largest multiple of the page size, which is above this value."""

_V1_THROTTLES = ("read_iops", "write_iops", "read_bps", "write_bps")


@dataclass(frozen=True, slots=True)
class IoLimit:
    """A throttle on one device: `device` is `major:minor`, `rule` such as `read_iops 2000`."""

    device: str
    rule: str


@dataclass(frozen=True, slots=True)
class CgroupLimits:
    """Limits of this process's control groups; None: no limit."""

    cpus: float | None
    memory_bytes: int | None
    tasks: int | None
    io: tuple[IoLimit, ...]


def read_limits(files: HostFiles) -> CgroupLimits:
    """Read the tightest limits of the control groups that this process is in."""
    unified = list(_groups(files, ""))
    cpus = [*map(_cpus_v2, unified), *map(_cpus_v1, _groups(files, "cpu"))]
    memory = [number(group / "memory.max") for group in unified]
    memory += [_memory_v1(group) for group in _groups(files, "memory")]
    tasks = [number(group / "pids.max") for group in [*unified, *_groups(files, "pids")]]
    io = [limit for group in unified for limit in _io_v2(group)]
    io += [limit for group in _groups(files, "blkio") for limit in _io_v1(group)]
    return CgroupLimits(
        cpus=min((value for value in cpus if value is not None), default=None),
        memory_bytes=min((value for value in memory if value is not None), default=None),
        tasks=min((value for value in tasks if value is not None), default=None),
        io=tuple(dict.fromkeys(io)),
    )


def _groups(files: HostFiles, controller: str) -> Iterator[Path]:
    """Yield the folders from this process's group up to the root; an empty controller means version 2."""
    path = _path_in(files, controller)
    if path is None:
        return
    for mount in mounts(files):
        if mount.kind != ("cgroup" if controller else "cgroup2"):
            continue
        if controller and controller not in mount.options:
            continue
        # A container mounts only its own part of the tree; groups above it cannot be seen.
        inside = path.removeprefix(mount.root.rstrip("/")).strip("/")
        top = files.root / mount.point.strip("/")
        here = top / inside
        yield from (
            folder for folder in (here, *here.parents) if folder.is_relative_to(top) and is_folder(folder)
        )
        return


def _path_in(files: HostFiles, controller: str) -> str | None:
    for line in (text(files.proc / "self/cgroup") or "").splitlines():
        _, controllers, path = line.split(":", 2)
        if controllers == controller or controller in filter(None, controllers.split(",")):
            return path
    return None


def _cpus_v2(group: Path) -> float | None:
    quota, _, period = (text(group / "cpu.max") or "max").partition(" ")
    return int(quota) / int(period) if quota.isdigit() and period.isdigit() else None


def _cpus_v1(group: Path) -> float | None:
    quota, period = number(group / "cpu.cfs_quota_us"), number(group / "cpu.cfs_period_us")
    return quota / period if quota is not None and quota > 0 and period else None


def _memory_v1(group: Path) -> int | None:
    limit = number(group / "memory.limit_in_bytes")
    return limit if limit is not None and limit < _V1_NO_LIMIT_BYTES else None


def _io_v2(group: Path) -> Iterator[IoLimit]:
    for line in (text(group / "io.max") or "").splitlines():
        device, *rules = line.split()
        for name, _, value in (rule.partition("=") for rule in rules):
            if value != "max":
                yield IoLimit(device, f"{name} {value}")


def _io_v1(group: Path) -> Iterator[IoLimit]:
    for name in _V1_THROTTLES:
        for line in (text(group / f"blkio.throttle.{name}_device") or "").splitlines():
            device, _, value = line.partition(" ")
            yield IoLimit(device, f"{name} {value}")


SCHEMA = "ssdlab.environment/1"


@dataclass(frozen=True, slots=True)
class Kernel:
    """The running kernel.

    Attributes
    ----------
    release, version, architecture
        As `uname` gives them.
    clocksource
        Clock that the kernel reads the time from; on x86, any other than `tsc` makes time stamps slower.
    preemption
        Preemption model in force; None if the kernel does not show it.
    mitigations
        State of each CPU vulnerability, by its name; mitigations slow down every system call.
    """

    release: str
    version: str
    architecture: str
    clocksource: str | None
    preemption: str | None
    mitigations: dict[str, str]


@dataclass(frozen=True, slots=True)
class Cpu:
    """The processors.

    Attributes
    ----------
    model_name
        As in `/proc/cpuinfo`.
    sockets, cores, cpus
        Packages, physical cores, and logical CPUs that are online.
    allowed
        Logical CPUs that this process may run on.
    isolated
        Logical CPUs taken out of general scheduling at boot, as the kernel lists them.
    governors
        Frequency governors in force; empty if the kernel does not control the frequency (most virtual
        machines).
    boost
        Whether frequencies above the nominal one are allowed.
    deepest_idle
        Deepest idle state that is enabled; waking from it delays each completion that finds the CPU asleep.
    """

    model_name: str | None
    sockets: int | None
    cores: int | None
    cpus: int | None
    allowed: int | None
    isolated: str | None
    governors: tuple[str, ...]
    boost: bool | None
    deepest_idle: str | None


@dataclass(frozen=True, slots=True)
class NumaNode:
    """One NUMA node and its CPUs, as the kernel lists them."""

    node: int
    cpus: str
    memory_bytes: int | None


@dataclass(frozen=True, slots=True)
class Machine:
    """The system's environment and its load before the run.

    Attributes
    ----------
    hostname
        Host name.
    hypervisor
        Name of the hypervisor; `unknown` if the CPU reports one that has no name; None on bare metal.
    container
        Kind of container; None outside of one.
    memory_bytes, available_bytes
        Total memory, and memory available without swapping.
    load_average
        Load averages over 1, 5 and 15 minutes.
    """

    hostname: str | None
    hypervisor: str | None
    container: str | None
    memory_bytes: int | None
    available_bytes: int | None
    load_average: tuple[float, float, float] | None


@dataclass(frozen=True, slots=True)
class Queues:
    """Hardware queues of a block device.

    Attributes
    ----------
    present
        Queues that the driver set up; 0 for a device without queues (bio-based: zram, device mapper).
    used
        Queues to which the CPUs allowed to this process submit.
    of_cpu
        Queue of each CPU, by its number.
    """

    present: int
    used: int
    of_cpu: dict[int, int]


@dataclass(frozen=True, slots=True)
class FileSystem:
    """The file system of a file, and the block devices beneath it (kernel names)."""

    fstype: str
    mount_point: str
    options: tuple[str, ...]
    source: str
    devices: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Storage:
    """How a drive is attached to this host; `file_system` only for a file.

    `drivers` are the kernel's drivers from the disk to its bus, such as `sd` and `ahci`.
    """

    identity: Identity
    conditions: Conditions | None
    queues: Queues | None
    drivers: tuple[str, ...]
    file_system: FileSystem | None


@dataclass(frozen=True, slots=True)
class Environment:
    """Everything about host and drive that is stored with a result."""

    kernel: Kernel
    cpu: Cpu
    numa: tuple[NumaNode, ...]
    machine: Machine
    limits: CgroupLimits
    storage: Storage | None
    tool: dict[str, str]

    def as_dict(self) -> dict[str, Any]:
        return {"schema": SCHEMA, **_plain(asdict(self))}


def read_environment(identity: Identity | None = None, *, files: HostFiles | None = None) -> Environment:
    """Read the facts of this host, and of a drive.

    Parameters
    ----------
    identity
        The drive under test; None for the host alone.
    files
        Files of the host; tests give another root.
    """
    files = files or HostFiles()
    allowed = parse_cpu_list(_status(files).get("Cpus_allowed_list"))
    return Environment(
        kernel=_kernel(files),
        cpu=_cpu(files, allowed),
        numa=_numa(files),
        machine=_machine(files),
        limits=read_limits(files),
        storage=None if identity is None else _storage(files, identity, allowed),
        tool=tool_facts(),
    )


def tool_facts() -> dict[str, str]:
    """Return version and build profile of ssdlab, and the version of Python."""
    import ssdlab._core as _core

    return {**_core.build_info(), "python": platform.python_version()}


def parse_cpu_list(listed: str | None) -> tuple[int, ...]:
    """Return the CPUs of a list as the kernel writes it.

    >>> parse_cpu_list("0-2,8")
    (0, 1, 2, 8)
    """
    found: list[int] = []
    for part in re.split(r"[,\s]+", listed or ""):
        first, _, last = part.partition("-")
        if first.isdigit():
            found.extend(range(int(first), int(last or first) + 1))
    return tuple(found)


def _kernel(files: HostFiles) -> Kernel:
    system = platform.uname()
    weak = files.sys / "devices/system/cpu/vulnerabilities"
    preemption = re.search(r"\((\w+)\)", text(files.sys / "kernel/debug/sched/preempt") or "")
    return Kernel(
        release=text(files.proc / "sys/kernel/osrelease") or system.release,
        version=text(files.proc / "sys/kernel/version") or system.version,
        architecture=system.machine,
        clocksource=text(files.sys / "devices/system/clocksource/clocksource0/current_clocksource"),
        preemption=preemption.group(1) if preemption else None,
        mitigations={name: state for name in names(weak) if (state := text(weak / name)) is not None},
    )


def _cpu(files: HostFiles, allowed: tuple[int, ...]) -> Cpu:
    root = files.sys / "devices/system/cpu"
    model = re.search(r"^(?:model name|cpu model|Processor)\s*:\s*(.+)$", _cpuinfo(files), re.MULTILINE)
    online = parse_cpu_list(text(root / "online"))
    packages, cores = set(), set()
    for cpu in online:
        topology = root / f"cpu{cpu}" / "topology"
        package, core = number(topology / "physical_package_id"), number(topology / "core_id")
        if package is not None and core is not None:
            packages.add(package)
            cores.add((package, number(topology / "die_id"), core))
    policies = within(root / "cpufreq", "policy*")
    governors = {text(policy / "scaling_governor") for policy in policies} - {None}
    return Cpu(
        model_name=model.group(1).strip() if model else None,
        sockets=len(packages) or None,
        cores=len(cores) or None,
        cpus=len(online) or None,
        allowed=len(allowed) or None,
        isolated=text(root / "isolated"),
        governors=tuple(sorted(name for name in governors if name is not None)),
        boost=_boost(root),
        deepest_idle=_deepest_idle(root),
    )


def _boost(root: Path) -> bool | None:
    no_turbo = flag(root / "intel_pstate/no_turbo")
    return flag(root / "cpufreq/boost") if no_turbo is None else not no_turbo


def _deepest_idle(root: Path) -> str | None:
    folder = root / "cpu0/cpuidle"
    states = [folder / name for name in names(folder) if text(folder / name / "disable") != "1"]
    return text(max(states, key=lambda state: number(state / "latency") or 0) / "name") if states else None


def _numa(files: HostFiles) -> tuple[NumaNode, ...]:
    root = files.sys / "devices/system/node"
    found = []
    for name in names(root):
        if re.fullmatch(r"node\d+", name):
            memory = re.search(r"MemTotal:\s*(\d+) kB", text(root / name / "meminfo") or "")
            memory_bytes = int(memory.group(1)) * 1024 if memory else None
            found.append(NumaNode(int(name[4:]), text(root / name / "cpulist") or "", memory_bytes))
    return tuple(sorted(found, key=lambda node: node.node))


def _machine(files: HostFiles) -> Machine:
    memory = text(files.proc / "meminfo") or ""
    load = (text(files.proc / "loadavg") or "").split()
    return Machine(
        hostname=text(files.proc / "sys/kernel/hostname"),
        hypervisor=_hypervisor(files),
        container=_container(files),
        memory_bytes=_kibibytes(memory, "MemTotal"),
        available_bytes=_kibibytes(memory, "MemAvailable"),
        load_average=(float(load[0]), float(load[1]), float(load[2])) if len(load) > 2 else None,
    )


def _hypervisor(files: HostFiles) -> str | None:
    """Return the hypervisor's name from the DMI product, where bare metal has the name of its board."""
    named = text(files.sys / "hypervisor/type")
    if named is not None:
        return named
    if not re.search(r"^flags\s*:.*\bhypervisor\b", _cpuinfo(files), re.MULTILINE):
        return None
    dmi = files.sys / "class/dmi/id"
    return " ".join(filter(None, (text(dmi / "sys_vendor"), text(dmi / "product_name")))) or "unknown"


def _container(files: HostFiles) -> str | None:
    declared = text(files.root / "run/systemd/container")
    if declared is not None:
        return declared
    for marker, kind in (("run/.containerenv", "podman"), (".dockerenv", "docker")):
        if there(files.root / marker):
            return kind
    paths = text(files.proc / "self/cgroup") or ""
    match = re.search(r"/(docker|kubepods|lxc|libpod|crio)", paths)
    return match.group(1) if match else None


def _storage(files: HostFiles, identity: Identity, allowed: tuple[int, ...]) -> Storage:
    file_system = _file_system(files, Path(identity.path)) if identity.capabilities.on_file_system else None
    beneath = (identity.name,) if file_system is None else file_system.devices[:1]
    node = files.node_named(beneath[0]) if beneath else None
    return Storage(
        identity=identity,
        conditions=None if node is None else read_conditions(node),
        queues=None if node is None else read_queues(node, allowed),
        drivers=() if node is None else drivers_of(node),
        file_system=file_system,
    )


def drivers_of(node: Path) -> tuple[str, ...]:
    """Return the kernel's drivers of a block device, from the disk to the device on the PCI bus."""
    found = []
    for folder in disk_of(node).parents:
        if (driver := link_name(folder / "driver")) is not None:
            found.append(driver)
        if link_name(folder / "subsystem") == "pci":
            break
    return tuple(found)


def read_queues(node: Path, allowed: tuple[int, ...]) -> Queues:
    """Read the hardware queues of a disk, and how many of them the allowed CPUs use."""
    folder = disk_of(node) / "mq"
    queues = [name for name in names(folder) if name.isdigit()]
    of_cpu = {
        cpu: int(queue) for queue in queues for cpu in parse_cpu_list(text(folder / queue / "cpu_list"))
    }
    used = {queue for cpu, queue in of_cpu.items() if cpu in allowed}
    return Queues(present=len(queues), used=len(used), of_cpu=dict(sorted(of_cpu.items())))


def _file_system(files: HostFiles, path: Path) -> FileSystem | None:
    mount = mount_of(mounts(files), path)
    if mount is None:
        return None
    nodes = [files.node(device) for device in devices_of(files, mount)]
    return FileSystem(
        fstype=mount.kind,
        mount_point=mount.point,
        options=mount.options,
        source=mount.source,
        devices=tuple(node.name for node in nodes if node is not None),
    )


def _cpuinfo(files: HostFiles) -> str:
    return text(files.proc / "cpuinfo") or ""


def _status(files: HostFiles) -> dict[str, str]:
    lines = (text(files.proc / "self/status") or "").splitlines()
    return {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}


def _kibibytes(table: str, name: str) -> int | None:
    match = re.search(rf"^{name}:\s*(\d+) kB", table, re.MULTILINE)
    return int(match.group(1)) * 1024 if match else None


def _plain(value: Any) -> Any:  # noqa: ANN401 - the leaves of a dataclass
    if isinstance(value, dict):
        return {str(name): _plain(item) for name, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list | tuple) else value
