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
        """Whether a file keeps it, so that opening the drive does not recreate it."""

    def digest(self) -> str:
        """Return a short text that identifies it."""

    def save(self, path: Path) -> None:
        """Save it to a file, replacing it durably and atomically."""

    def load(self, path: Path) -> None:
        """Load the drive's state from a file; `Refused` if the file is damaged or of another drive."""

    def settle(self) -> None:
        """Update its file, if any, as closing the drive does."""

    def place_steady(self) -> None:
        """Replace the erased state by the computed steady state of random writes.

        Raises
        ------
        Refused
            The drive is not erased, or theory does not cover its mapping.
        """

    def copy(self, mark: object) -> Drive:
        """Return a separate drive in the state that `mark` keeps."""

    def adopt(self, copy: Drive) -> None:
        """Take over the state of a copy, which must not be used afterwards."""

    def mark(self) -> object:
        """Keep the state in memory."""

    def back(self, mark: object) -> None:
        """Return the drive to the state kept by `mark`."""


class Drive(Protocol):
    """A drive under test, held from opening to `close`."""

    deadline: _core.Deadline | None
    """Until when I/O may be issued (`results.lease`); None without end. The engine's workers look at it."""
    on_error: OnError
    """Whether a workload ends if too many of its I/Os fail (`model.failed_ios`)."""

    @property
    def identity(self) -> Identity:
        """Its identity; fixed while the drive is held."""

    @property
    def capabilities(self) -> Capabilities:
        """What it can do; callers ask this, not which kind of drive it is."""

    @property
    def attached(self) -> bool:
        """False if the device was unplugged: its settings were lost with its power."""

    @property
    def unseen(self) -> tuple[str, ...]:
        """What could not be checked when it was judged: another process may be using it."""

    @property
    def capacity_bytes(self) -> int:
        """Bytes that can be addressed."""

    @property
    def logical_block_bytes(self) -> int:
        """Unit that offsets and lengths must be multiples of."""

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
        workload
            What to do.
        log_path
            Where the append log goes, with the single I/Os of streams that log them; must not exist yet.
        on_tick
            Called with a snapshot about every 50 ms.
        until
            Asked at each closed row, in order, with all rows so far; True ends the result with that row.
        header
            JSON that the append log begins with.

        Raises
        ------
        UsageError
            The workload does not fit this drive.
        Refused
            It would write to a drive opened for reading or since changed, or read never-written blocks.
        DriveError, HostError
            The drive or the host failed; `measurement` has the figures until then.
        Interrupted
            Stopped by a signal; `measurement` likewise.
        """

    def trim(self, start: int, length: int, *, on_share: OnShare | None = None) -> TrimRecord:
        """Discard a range of bytes; check whether that reached the device, and what the range reads as.

        Parameters
        ----------
        start, length
            The range, in multiples of the logical block.
        on_share
            Called regularly with the share done; an exception ends the trim.

        Raises
        ------
        UsageError
            The range is outside the drive.
        Refused
            The drive was opened for reading, or is no longer the same.
        DriveError
            It rejects discards.
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
            The one to use; by default the strongest that the drive supports.
        consents
            Identifiers of other namespaces that may lose their data too.
        limit_s
            How long it may take, in place of the drive's own estimate.
        on_progress
            Called about once a second while it goes on; what it raises stops the waiting, not the drive.

        Raises
        ------
        Unsupported
            The drive does not have the method named; `offers` has those that it has.
        Refused
            It cannot be done without harm to what consent does not cover, or the drive was opened for
            reading.
        DriveError
            The drive cannot be purged, failed, hung, or was proven not purged; `reason` says which.
        """

    def flush(self) -> None:
        """Make all written data durable, including the drive's cache."""

    def idle(self, seconds: float, *, on_look: Callable[[], object] | None = None) -> None:
        """Leave the drive idle for a time on its own clock.

        Parameters
        ----------
        seconds
            How long.
        on_look
            Called about every 50 ms of waiting; what it raises ends it.
        """

    def conditions(self) -> Conditions | None:
        """Read the settings that affect figures; None without a block device."""

    def setting(self, name: str) -> Setting:
        """Return a setting that can be read and perhaps changed (see `ssdlab.drives.settings`).

        Raises
        ------
        UsageError
            There is no such setting.
        Unsupported
            This drive lacks it, or it is not ours to change.
        """

    def power_features(self) -> PowerFeatures:
        """Query its power-saving features; raises `Unsupported` if it has no power states."""

    @property
    def state(self) -> DriveState | None:
        """Its state, if it can be kept; None for a real drive."""

    def health(self) -> dict[str, JsonValue]:
        """Read the drive's own counters; raises `Unsupported` if unreadable."""

    @property
    def telemetry(self) -> Telemetry:
        """What it reports while it works."""

    def counters(self) -> IoCounters | None:
        """Read the kernel's counters of the block device; None if it has none."""

    def written(self, start: int, length: int) -> bool | None:
        """Return whether every byte of a range was written; None if unknown."""

    def close(self) -> None:
        """Close it."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


class HeldDrive(Closing):
    """The common part of all drives: what their identity tells."""

    deadline: _core.Deadline | None = None
    on_error: OnError = "stop"
    _identity: Identity

    @property
    def identity(self) -> Identity:
        """Who it is."""
        return self._identity

    @property
    def capabilities(self) -> Capabilities:
        """What it can do."""
        return self._identity.capabilities

    @property
    def attached(self) -> bool:
        """True: only a block device can be unplugged."""
        return True

    @property
    def unseen(self) -> tuple[str, ...]:
        """Nothing: only other users of a file's disk may be hidden; such a block device is refused."""
        return ()

    @property
    def capacity_bytes(self) -> int:
        """Bytes that can be addressed."""
        return self._identity.capacity_bytes

    @property
    def logical_block_bytes(self) -> int:
        """Unit of offsets and lengths."""
        return self._identity.logical_block_bytes


class RealDrive(HeldDrive):
    """The common part of block devices and files: a native target, and a check before each run."""

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
        """Run a workload; see `Drive.run`."""
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
        """Discard a range of bytes of a device, or punch it out of a file; see `Drive.trim`."""
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
        """Purge the drive; see `Drive.purge`. A file has nothing to purge: its blocks are its disk's."""
        del method, consents, limit_s, on_progress
        raise DriveError(
            f"{self._identity.path} cannot be purged: it is not a whole drive",
            "purge needs a whole block device; a method that needs a purged drive cannot run on a file",
            reason="no-purge",
            target=self._identity.path,
        )

    @property
    def state(self) -> None:
        """Return None, as a real drive's state cannot be kept."""
        return

    def setting(self, name: str) -> Setting:
        """Refuse, as a file's disk is shared; only host settings are available."""
        from ssdlab.drives.settings.finding import setting_of_file

        return setting_of_file(name, self._identity.path, self._place()[0])

    def power_features(self) -> PowerFeatures:
        """Refuse, as a file's disk is shared."""
        from ssdlab.drives.power_features import no_features

        raise no_features(self._identity.path, "a file is not a drive")

    def health(self) -> dict[str, JsonValue]:
        """Return the drive's health (`model.telemetry.DriveHealth`), if it can be queried."""
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
        """What the host reports during the run: a file's disk is shared, so the disk is not queried."""
        from ssdlab.drives.telemetry.sampler import HostTelemetry

        return HostTelemetry(())

    def flush(self) -> None:
        """Make all written data durable, including the drive's cache."""
        self._target.flush()

    def idle(self, seconds: float, *, on_look: Callable[[], object] | None = None) -> None:
        """Wait: a real drive's clock is the host's."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            if on_look is not None:
                on_look()
            time.sleep(min(left, _IDLE_LOOK_S))

    def close(self) -> None:
        """Close it."""
        self._target.close()

    @contextmanager
    def _writing(self, *, trims: bool) -> Iterator[None]:
        """Judge the drive again before each write operation, and finish afterwards."""
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
        """Return a tick that checks the drive during a measurement, then calls the given one."""
        del writing
        return on_tick

    def _before_reading(self, start: int, length: int) -> None:
        """Refuse reads of never-written blocks; no refusal if that cannot be known."""

    @abstractmethod
    def _place(self) -> tuple[HostFiles, Path | None]:
        """Return the host, and the sysfs folder of the block device that this is or lies on."""

    @abstractmethod
    def _check_same(self) -> None:
        """Refuse if the path no longer leads to what was opened and judged."""
