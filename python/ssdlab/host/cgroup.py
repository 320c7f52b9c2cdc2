"""Limits that control groups put on this process: CPU time, memory, and I/O on single devices.

A limit counts wherever it is set between the process and the root, so the tightest one on the way is taken.
Both versions are read; a host may have controllers in either. A throttle that somebody set on the drive under
test explains a suspiciously steady result better than any theory.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ssdlab.host.mounts import mounts
from ssdlab.host.sysfs import HostFiles, is_folder, number, text

_V1_NO_LIMIT_BYTES = 1 << 60
"""Version 1 writes "none" as the largest multiple of the page size."""

_V1_THROTTLES = ("read_iops", "write_iops", "read_bps", "write_bps")


@dataclass(frozen=True, slots=True)
class IoLimit:
    """A throttle on one device: `device` as `major:minor`, `rule` such as `read_iops 2000`."""

    device: str
    rule: str


@dataclass(frozen=True, slots=True)
class Limits:
    """What the groups of this process allow; None is "no limit"."""

    cpus: float | None
    memory_bytes: int | None
    tasks: int | None
    io: tuple[IoLimit, ...]


def read_limits(files: HostFiles) -> Limits:
    """Read the limits of the groups that this process is in."""
    unified = list(_groups(files, ""))
    cpus = [*map(_cpus_v2, unified), *map(_cpus_v1, _groups(files, "cpu"))]
    memory = [number(group / "memory.max") for group in unified]
    memory += [_memory_v1(group) for group in _groups(files, "memory")]
    tasks = [number(group / "pids.max") for group in [*unified, *_groups(files, "pids")]]
    io = [limit for group in unified for limit in _io_v2(group)]
    io += [limit for group in _groups(files, "blkio") for limit in _io_v1(group)]
    return Limits(
        cpus=min((value for value in cpus if value is not None), default=None),
        memory_bytes=min((value for value in memory if value is not None), default=None),
        tasks=min((value for value in tasks if value is not None), default=None),
        io=tuple(dict.fromkeys(io)),
    )


def _groups(files: HostFiles, controller: str) -> Iterator[Path]:
    """Yield the folders from this process's group up to the root; version 2 for the empty name."""
    path = _path_in(files, controller)
    if path is None:
        return
    for mount in mounts(files):
        if mount.kind != ("cgroup" if controller else "cgroup2"):
            continue
        if controller and controller not in mount.options:
            continue
        # A container mounts its own part of the tree: what is above it cannot be seen.
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
