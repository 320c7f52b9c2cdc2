"""The `Drive` protocol for methods, and the part shared by real drives.

Methods do not know the kind of drive. An unsupported operation raises an error.
"""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Protocol, Self

from ssdlab.model.closing import Closing
from ssdlab.model.errors import DriveError, Refused, Unsupported

if TYPE_CHECKING:
    from pydantic import JsonValue

    import ssdlab._core as _core
    from ssdlab.drives.purge import PurgeMethodName, PurgeProgress, PurgeRecord
    from ssdlab.drives.settings import Setting
    from ssdlab.drives.telemetry.sampler import Telemetry
    from ssdlab.drives.trim.trimming import OnShare, TrimRecord
    from ssdlab.host.block_queue import IoCounters
    from ssdlab.host.identity import Identity
    from ssdlab.host.sysfs import HostFiles
    from ssdlab.model.capabilities import Capabilities
    from ssdlab.model.failed_ios import OnError
    from ssdlab.model.host_load import Conditions
    from ssdlab.model.measurement import Measurement
    from ssdlab.model.power_features import PowerFeatures
    from ssdlab.model.workload import Workload

    OnTick = Callable[["_core.Snapshot"], object]
    Until = Callable[[Sequence["_core.Row"]], bool]

_IDLE_LOOK_S = 0.05


class DriveState(Protocol):
    """The state of a simulated drive, which can be saved, restored and compared."""

    @property
    def lasting(self) -> bool:
        """Whether a file keeps the state, so that opening the drive does not create a new one."""

    def digest(self) -> str:
        """Return a short text that identifies the state."""

    def save(self, path: Path) -> None:
        """Write the state to a file, replacing the file durably and atomically."""

    def load(self, path: Path) -> None:
        """Restore the state from a file; raises `Refused` if the file is damaged or of another drive."""

    def settle(self) -> None:
        """Write the state to the file that keeps it, if there is one, as closing the drive does."""

    def place_steady(self) -> None:
        """Replace the erased state by the computed steady state of random writes.

        Raises
        ------
        Refused
            The drive is not erased, or no theory covers its mapping.
        """

    def copy(self, mark: object) -> Drive:
        """Return an independent drive in the state that `mark` keeps."""

    def adopt(self, copy: Drive) -> None:
        """Take over the state of a copy, which must not be used afterwards."""

    def mark(self) -> object:
        """Keep the state in memory, and return a handle to it for `copy` and `back`."""

    def back(self, mark: object) -> None:
        """Return the drive to the state kept by `mark`."""


class Drive(Protocol):
    """A drive under test, held from opening to `close`."""

    deadline: _core.Deadline | None
    """Time after which no I/O may be issued (`results.lease`), or None; the engine's workers check it."""
    on_error: OnError
    """Whether a workload ends when too many of its I/Os fail (`model.failed_ios`)."""

    @property
    def identity(self) -> Identity:
        """The drive's identity, which does not change while the drive is held."""

    @property
    def capabilities(self) -> Capabilities:
        """What the drive can do; callers check this instead of the kind of drive."""

    @property
    def attached(self) -> bool:
        """Whether the device is still plugged in; if not, its settings were lost with its power."""

    @property
    def unseen(self) -> tuple[str, ...]:
        """Phrases for what the guard could not check: another process may be using the drive."""

    @property
    def capacity_bytes(self) -> int: ...

    @property
    def logical_block_bytes(self) -> int:
        """Bytes of a logical block; offsets and lengths must be multiples of it."""

    def run(
        self,
        workload: Workload,
        *,
        log_path: Path | None = None,
        on_tick: OnTick | None = None,
        until: Until | None = None,
        header: str | None = None,
    ) -> Measurement:
        """Run a workload to its end and return the measurement.

        Parameters
        ----------
        log_path
            File for the append log, which also has the single I/Os of streams that log them. It must not
            exist yet.
        on_tick
            Called with a snapshot about every 50 ms.
        until
            Called for each closed row, in order, with all rows so far. If it returns True, the result ends
            with that row.
        header
            JSON at the beginning of the append log.

        Raises
        ------
        UsageError
            The workload does not fit this drive.
        Refused
            The workload would write to a drive that was opened for reading or has changed since, or it would
            read blocks that were never written.
        DriveError, HostError
            The drive or the host failed; the error's `measurement` has the figures until then.
        Interrupted
            A signal stopped the run; `measurement` has the figures until then.
        """

    def trim(self, start: int, length: int, *, on_share: OnShare | None = None) -> TrimRecord:
        """Discard a range of bytes; check whether it reached the device, and what the range reads as.

        Parameters
        ----------
        start, length
            The range in bytes, in multiples of the logical block.
        on_share
            Called regularly with the share done, 0 to 1. An exception from it ends the trim.

        Raises
        ------
        UsageError
            The range is empty, exceeds the drive, or is not whole logical blocks.
        Refused
            The drive was opened for reading, or is no longer the same.
        DriveError
            The drive rejects discards.
        """

    def purge(
        self,
        *,
        method: PurgeMethodName | None = None,
        consents: Collection[str] = (),
        limit_s: float | None = None,
        on_progress: Callable[[PurgeProgress], object] | None = None,
    ) -> PurgeRecord:
        """Purge the drive to its fresh state and verify it.

        Parameters
        ----------
        method
            By default the strongest that the drive supports.
        consents
            Identifiers of other namespaces that may lose their data too.
        limit_s
            Time limit in place of the one from the drive's own estimate.
        on_progress
            Called about once a second. An exception from it ends the wait, but the drive goes on.

        Raises
        ------
        Unsupported
            The drive does not support the named method; `offers` lists those that it supports.
        Refused
            The purge would erase data without consent, or the drive was opened for reading.
        DriveError
            The drive cannot be purged, failed, hung, or was proven not purged; `reason` says which.
        """

    def flush(self) -> None:
        """Make all written data durable, including data in the drive's cache."""

    def idle(self, seconds: float, *, on_look: Callable[[], object] | None = None) -> None:
        """Leave the drive idle for a time on its own clock.

        Parameters
        ----------
        on_look
            Called about every 50 ms of waiting. An exception from it ends the wait.
        """

    def conditions(self) -> Conditions | None:
        """Read the block device's settings that affect figures; None without a block device."""

    def setting(self, name: str) -> Setting:
        """Return a setting that can be read and perhaps changed (see `ssdlab.drives.settings`).

        Raises
        ------
        UsageError
            There is no setting of that name.
        Unsupported
            This drive lacks the setting, or ssdlab may not change it.
        """

    def power_features(self) -> PowerFeatures:
        """Query the drive's power-saving features; raises `Unsupported` if it has no power states."""

    @property
    def state(self) -> DriveState | None:
        """The drive's state, which can be saved and restored; None for a real drive."""

    def health(self) -> dict[str, JsonValue]:
        """Read the drive's own counters; raises `Unsupported` if they cannot be read."""

    @property
    def telemetry(self) -> Telemetry:
        """Source of what the drive reports while it works."""

    def counters(self) -> IoCounters | None:
        """Read the kernel's I/O counters of the block device; None if there are none."""

    def written(self, start: int, length: int) -> bool | None:
        """Return whether every byte of a range was written; None if unknown."""

    def close(self) -> None: ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


class HeldDrive(Closing):
    """Base of all drives: answers that follow from the identity."""

    deadline: _core.Deadline | None = None
    on_error: OnError = "stop"
    _identity: Identity

    @property
    def identity(self) -> Identity:
        return self._identity

    @property
    def capabilities(self) -> Capabilities:
        return self._identity.capabilities

    @property
    def attached(self) -> bool:
        """True, because only a block device can be unplugged."""
        return True

    @property
    def unseen(self) -> tuple[str, ...]:
        """Nothing: a block device that may have hidden users is refused. Only a file may have any."""
        return ()

    @property
    def capacity_bytes(self) -> int:
        return self._identity.capacity_bytes

    @property
    def logical_block_bytes(self) -> int:
        return self._identity.logical_block_bytes


class RealDrive(HeldDrive):
    """Base of block devices and files: a native target, and a check before each run."""

    def __init__(self, identity: Identity, target: _core.Target) -> None:
        self._identity = identity
        self._target = target

    def run(
        self,
        workload: Workload,
        *,
        log_path: Path | None = None,
        on_tick: OnTick | None = None,
        until: Until | None = None,
        header: str | None = None,
    ) -> Measurement:
        from ssdlab.model import failed_ios, measurement

        resolved = workload.resolve(self.capacity_bytes, self.logical_block_bytes)
        self._check_same()
        for stream in workload.streams:
            if stream.reads:
                for place in stream.places(self.capacity_bytes, self.logical_block_bytes):
                    self._before_reading(*place)
        writing = workload.changes_data
        how = {"log_path": log_path, "until": until, "header": header, "deadline": self.deadline}
        run = partial(measurement.run, self._target, resolved, self._identity, **how)
        with self._writing(trims=workload.trims) if writing else nullcontext():
            watch = self._watched(on_tick, writing=writing)
            return failed_ios.heeding(run, watch, self.on_error, self._identity.path)

    def trim(self, start: int, length: int, *, on_share: OnShare | None = None) -> TrimRecord:
        """Discard a range of a device, or punch a hole into a file; see `Drive.trim`."""
        from ssdlab.drives.trim import trimming
        from ssdlab.drives.trim.medium import DeviceMedium

        trimming.check_range(start, length, self.capacity_bytes, self.logical_block_bytes)
        files, node = self._place()
        with self._writing(trims=True), DeviceMedium(self._target) as medium:
            return trimming.trim(medium, start, length, files=files, node=node, on_share=on_share)

    def purge(
        self,
        *,
        method: PurgeMethodName | None = None,
        consents: Collection[str] = (),
        limit_s: float | None = None,
        on_progress: Callable[[PurgeProgress], object] | None = None,
    ) -> PurgeRecord:
        """Refuse to purge a file, because its blocks belong to its disk."""
        del method, consents, limit_s, on_progress
        raise DriveError(
            f"{self._identity.path} cannot be purged: it is not a whole drive",
            "purge needs a whole block device; a method that needs a purged drive cannot run on a file",
            reason="no-purge",
            target=self._identity.path,
        )

    @property
    def state(self) -> None:
        """None, because the state of a real drive cannot be saved."""
        return

    def setting(self, name: str) -> Setting:
        """Return a host setting; refuse settings of a file's disk, because others share the disk."""
        from ssdlab.drives.settings.finding import setting_of_file

        return setting_of_file(name, self._identity.path, self._place()[0])

    def power_features(self) -> PowerFeatures:
        """Raise `Unsupported`, because others share a file's disk."""
        from ssdlab.drives.power_features import no_features

        raise no_features(self._identity.path, "a file is not a drive")

    def health(self) -> dict[str, JsonValue]:
        """Return the drive's health (`model.telemetry.DriveHealth`) as JSON.

        Raises
        ------
        Unsupported
            The drive cannot be queried, or not by this user.
        """
        found = self.telemetry.reading()
        if found is None:
            raise Unsupported(
                f"{self._identity.path} does not report its health to this user",
                "leave the step out, or run as root with an NVMe or SATA drive",
                verb="health",
            )
        return found.model_dump(mode="json")

    @property
    def telemetry(self) -> Telemetry:
        """Telemetry of the host alone: a file's disk is shared, so the disk is not queried."""
        from ssdlab.drives.telemetry.sampler import HostTelemetry

        return HostTelemetry(())

    def flush(self) -> None:
        self._target.flush()

    def idle(self, seconds: float, *, on_look: Callable[[], object] | None = None) -> None:
        """Sleep, because the clock of a real drive is the host's."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            if on_look is not None:
                on_look()
            time.sleep(min(left, _IDLE_LOOK_S))

    def close(self) -> None:
        self._target.close()

    @contextmanager
    def _writing(self, *, trims: bool) -> Iterator[None]:
        """Check the drive before a write operation, and clean up afterwards."""
        self._before_writing(trims=trims)
        try:
            yield
        finally:
            self._after_writing()

    def _before_writing(self, *, trims: bool) -> None:
        del trims
        if not self._target.writable:
            raise Refused(
                f"{self._identity.path} was opened for reading, but this would write to it",
                "open it for writing, with consent: open_drive(..., writing=True, destroy=ID)",
                reason="read-only",
                target=self._identity.path,
            )
        self._check_same()

    def _after_writing(self) -> None:
        """Clean up after a step that wrote, however it ended."""

    def _watched(self, on_tick: OnTick | None, *, writing: bool) -> OnTick | None:
        """Return the tick of a run: the given one, to which subclasses add checks of the drive."""
        del writing
        return on_tick

    def _before_reading(self, start: int, length: int) -> None:
        """Refuse reads of blocks that were never written, where that is known."""

    @abstractmethod
    def _place(self) -> tuple[HostFiles, Path | None]:
        """Return the host, and the sysfs folder of the block device or of the device under the file."""

    @abstractmethod
    def _check_same(self) -> None:
        """Refuse if the path no longer leads to the target that was opened and judged."""
