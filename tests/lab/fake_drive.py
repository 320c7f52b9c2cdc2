"""A drive whose answers are known beforehand, for tests of the lab and the methods. No I/O; no time passes.

With n I/Os in flight of a block it does min(n / latency, ceiling of that block) I/Os a second; each
interval row gets exactly its share, so a method that reads anything else than the drive's own numbers is
found out.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from ssdlab.drives.purge import SUBSTITUTES, PurgeMethodName, PurgeRecord
from ssdlab.drives.telemetry.sampler import Silent
from ssdlab.drives.trim.trimming import TrimRecord
from ssdlab.host.identity import Identity
from ssdlab.model.capabilities import Capabilities
from ssdlab.model.errors import DriveError, Unsupported
from ssdlab.runs.order import Order
from ssdlab.runs.session import RunEnvironment, resume, start

GIB = 1 << 30
Curve = Callable[[int, int, bool], float]
"""I/Os in flight, block bytes, whether it writes: I/Os a second."""


def knee(latency_s: float = 100e-6, ceiling_iops: float = 80_000.0) -> Curve:
    """A drive that rises linearly to its ceiling; large blocks take proportionally longer beyond 4 KiB."""

    def iops(in_flight: int, block_bytes: int, writes: bool) -> float:
        weight = max(1.0, block_bytes / 4096 / 4)
        return min(in_flight / latency_s, ceiling_iops) / weight / (2 if writes else 1)

    return iops


class FakeMeasurement:
    """What the fake drive "measured"."""

    def __init__(self, workload: Any, iops: float) -> None:
        self.streams = [stream.name for stream in workload.streams]
        (stream,) = workload.streams
        self._stream, self._iops = stream, iops
        self._interval_s = workload.interval_ns / 1e9
        block = stream.block[0].bytes
        if stream.stop.time_ns is not None:
            self.seconds = (stream.stop.time_ns - workload.ramp_ns) / 1e9
        else:
            total = stream.stop.bytes if stream.stop.bytes is not None else stream.stop.ios * block
            self.seconds = total / block / iops
        self.ios = round(iops * self.seconds)
        self._seed = workload.seed

    def as_dict(self) -> dict[str, Any]:
        block = self._stream.block[0].bytes
        mean = self._stream.in_flight / self._iops * 1e9
        tail = {"min": mean, "mean": mean, "max": mean * 4, "p50": mean, "p90": mean, "p99": mean * 2}
        tail |= {"p99.9": mean * 3, "p99.99": None, "p99.999": None}
        side = {"requested": self.ios, "ios": self.ios, "failed": 0, "dropped": 0, "late": 0}
        side |= {"bytes": self.ios * block, "errors": {}, "service_ns": tail, "response_ns": tail}
        name = "write" if self._stream.writes else "read"
        cpu = {"user_s": 0.0, "sys_s": 0.0, "per_io_ns": 1.0}
        return {
            "schema": "ssdlab.measurement/1",
            "iops": self._iops,
            "mb_s": self._iops * block / 1e6,
            "elapsed_s": self.seconds,
            "read": None,
            "write": None,
            "trim": None,
            name: side,
            "in_flight": float(self._stream.in_flight),
            "cpu": cpu,
            "seed": self._seed,
            "engine": self._stream.engine,
            "warnings": [],
            "drive": {"path": "fake"},
        }

    def rows(self, stream: str | None = None, direction: str | None = None) -> dict[str, np.ndarray]:
        n = max(1, int(self.seconds / self._interval_s))
        ours = direction in (None, "write" if self._stream.writes else "read")
        length = np.full(n, round(self._interval_s * 1e9), dtype=np.uint64)
        ios = np.full(n, round(self._iops * self._interval_s) if ours else 0, dtype=np.uint64)
        flags = {"partial": np.zeros(n, dtype=bool), "ramp": np.zeros(n, dtype=bool)}
        start = np.arange(n, dtype=np.uint64) * length
        moved = ios * np.uint64(self._stream.block[0].bytes)
        return {"start_ns": start, "duration_ns": length, "ios": ios, "bytes": moved, **flags}


@dataclass
class FakeDrive:
    """Implements `ssdlab.drives.base.Drive`."""

    curve: Curve = field(default_factory=knee)
    capacity_bytes: int = GIB
    logical_block_bytes: int = 512
    known_written: bool | None = True
    settings: Any = None
    controls: dict[str, Any] = field(default_factory=dict)
    """What can be set on it, by name."""
    before_run: Callable[[int], None] = lambda count: None
    """Called with the number of the run, from 1; may raise."""
    done: list[tuple[str, Any]] = field(default_factory=list)
    """Everything that was done to it, in order."""
    purgeable: bool = True
    trims_reach: bool = True
    purge_method: PurgeMethodName = "nvme-format-user-data"
    identity_changes: dict[str, Any] = field(default_factory=dict)
    tells: Any = field(default_factory=Silent)
    """Its telemetry."""

    @property
    def identity(self) -> Identity:
        known = {"path": "/dev/fake0", "name": "fake0", "kind": "block", "consent_id": "FAKE-1"}
        sizes = {"capacity_bytes": self.capacity_bytes, "logical_block_bytes": self.logical_block_bytes}
        return Identity(**{**known, **sizes, **self.identity_changes})

    def run(
        self, workload: Any, *, log_path: Path | None = None, on_tick: Any = None, until: Any = None
    ) -> FakeMeasurement:
        self.done.append(("run", workload))
        resolved = json.loads(workload.resolve(self.capacity_bytes, self.logical_block_bytes))
        assert resolved["streams"]
        stream = workload.streams[0]
        if log_path is not None:
            log_path.touch()
        self.before_run(sum(name == "run" for name, _ in self.done))
        if on_tick is not None:
            on_tick(SimpleNamespace(latest=None, phase="measuring", bytes=0, failed=0))
        iops = self.curve(stream.in_flight, stream.block[0].bytes, stream.writes)
        return FakeMeasurement(workload, iops)

    def trim(self, start: int, length: int, *, on_share: Any = None) -> TrimRecord:
        self.done.append(("trim", (start, length)))
        reads = "zeroes" if self.trims_reach else "unchanged"
        size = length if self.trims_reach else 0
        return TrimRecord(start, length, 0.0, self.trims_reach, "tracepoint", 1, size, reads)

    def purge(self, *, method: Any = None, on_progress: Any = None, **_: Any) -> PurgeRecord:
        self.done.append(("purge", None))
        if not self.purgeable:
            raise DriveError("/dev/fake0 cannot be purged", "use another", reason="no-purge")
        substitute = self.purge_method in SUBSTITUTES
        return PurgeRecord(self.purge_method, substitute, (), None, "completed", 1.0)

    def flush(self) -> None:
        self.done.append(("flush", None))

    def conditions(self) -> Any:
        return self.settings

    def setting(self, name: str) -> Any:
        if name in self.controls:
            return self.controls[name]
        raise Unsupported(f"no {name} can be set", "leave it out", setting=name)

    @property
    def telemetry(self) -> Any:
        return self.tells

    def counters(self) -> None:
        return None

    def written(self, start: int, length: int) -> bool | None:
        return self.known_written

    def idle(self, seconds: float, *, on_look: Any = None) -> None:
        self.done.append(("idle", seconds))
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            if on_look is not None:
                on_look()
            time.sleep(min(left, 0.05))

    @property
    def capabilities(self) -> Capabilities:
        return self.identity.capabilities

    @property
    def attached(self) -> bool:
        return True

    @property
    def unseen(self) -> tuple[str, ...]:
        return ()

    @property
    def state(self) -> None:
        return None

    def health(self) -> dict[str, Any]:
        raise Unsupported("no counters are read", "leave the step out", verb="health")

    def close(self) -> None:
        pass

    def __enter__(self) -> FakeDrive:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    @property
    def runs(self) -> list[Any]:
        """The workloads that were run, in order."""
        return [what for name, what in self.done if name == "run"]


def environment(drive: FakeDrive, **options: Any) -> RunEnvironment:
    """An environment that opens this drive; runs are left uncompacted."""
    return RunEnvironment(lambda text, **opened: drive, lambda folder, manifest, lock: manifest, **options)


def run_on(drive: FakeDrive, method: Any, params: Any, library: Path, **options: Any) -> Path:
    """Run a method on a fake drive and return the run folder."""
    quick = options.pop("quick", False)
    seed = options.pop("seed", 7)
    return start(
        Order(method, params, "/dev/fake0", quick, seed=seed),
        library,
        environment=environment(drive, **options),
    )


def resume_on(drive: FakeDrive, folder: Path, **options: Any) -> Path:
    """Resume a run on a fake drive."""
    return resume(folder, options.pop("observers", ()), environment=environment(drive, **options))
