"""A whole block device, or a partition, as a drive."""

from __future__ import annotations

import errno
import os
import time
from contextlib import contextmanager
from dataclasses import asdict, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ssdlab.drives.admin.port import KernelPort
from ssdlab.drives.base import RealDrive
from ssdlab.drives.guard.device_facts import device_facts, held_facts
from ssdlab.drives.guard.endurance import EnduranceCap, rating_of
from ssdlab.drives.guard.judge import Intent, in_use, judge_device
from ssdlab.drives.guard.signatures import read_signatures, wipe_signatures
from ssdlab.host.block_queue import IoCounters, read_conditions, read_counters
from ssdlab.host.chain import chain_of, difference
from ssdlab.host.consent import has_own_name
from ssdlab.host.identity import block_identity, changes_of
from ssdlab.host.reach import Pin, diskseq_of, pin_device
from ssdlab.host.sysfs import HostFiles, device_number, text, there
from ssdlab.model.errors import DriveError, LabError, Refused
from ssdlab.model.host_load import Conditions

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    import ssdlab._core as _core
    from ssdlab.drives.base import OnTick, Until
    from ssdlab.drives.guard.judge import DeviceFacts
    from ssdlab.drives.purge import PurgeMethodName, PurgeProgress, PurgeRecord
    from ssdlab.drives.purge.method import Sibling
    from ssdlab.drives.settings import DriveSettings, Setting
    from ssdlab.drives.telemetry.sampler import Telemetry
    from ssdlab.model.measurement import Measurement
    from ssdlab.model.power_features import PowerFeatures
    from ssdlab.model.workload import Workload

_LOOK_S = 1.0
"""Seconds between checks of identity and bytes written during a run."""


class BlockDrive(RealDrive):
    """A block device, claimed exclusively while it is held: nothing can mount it or build on it.

    It is opened once, and all access uses that descriptor. Before each write the guard checks the device
    again. By then it may be another drive (after a reset), be in use, or be a volume that moved to another
    disk.

    Parameters
    ----------
    pin
        The device node; the caller closes it.
    node
        The device's folder in sysfs.
    cap
        Cap on the bytes written.

    Raises
    ------
    Refused
        The guard objects; `reason` says why.
    DriveError
        The device cannot be opened.
    """

    def __init__(
        self, pin: Pin, node: Path, intent: Intent, files: HostFiles, cap: EnduranceCap | None = None
    ) -> None:
        self._as_seen = block_identity(files, node)
        self._chain = chain_of(files, node)
        facts = device_facts(files, str(pin.path), node, intent)
        refusal = judge_device(facts, intent)
        if refusal is not None:
            raise refusal.error(str(pin.path))

        identity = self._as_seen
        if intent.formats:
            from ssdlab.drives.settings.lba_format import sized

            identity = sized(identity, KernelPort.of(pin.path, node))
        self._node = node
        self._files = files
        self._intent = intent
        self._wiped = not facts.signatures
        self._rating = rating_of(identity, cap) if intent.writing else None
        self._began = read_counters(node)
        self._counted = 0
        self._purged = False
        super().__init__(identity, self._hold(pin))
        try:
            # Since the first check another drive may have taken the name, or a process the drive.
            self._check_same()
            self._judge()
            if intent.writing:
                self._check_carried(facts)
        except BaseException:
            self.close()
            raise

    def _hold(self, pin: Pin) -> _core.Target:
        """Claim the device, and keep the only descriptor used from now on."""
        import ssdlab._core as _core

        writing = self._intent.writing
        try:
            self._descriptor = pin.open((os.O_RDWR if writing else os.O_RDONLY) | os.O_EXCL)
        except OSError as error:
            raise _not_opened(pin.path, error) from error
        try:
            return _core.Target.from_descriptor(
                self._descriptor, path=pin.path, write=writing, exclusive=True
            )
        except BaseException:
            os.close(self._descriptor)
            raise

    def purge(
        self,
        *,
        method: PurgeMethodName | None = None,
        consents: Collection[str] = (),
        limit_s: float | None = None,
        on_progress: Callable[[PurgeProgress], object] | None = None,
    ) -> PurgeRecord:
        from ssdlab.drives.purge.purging import purge_device, subject_of

        self._before_writing(trims=True)
        self._purged = True
        return purge_device(
            self._target,
            subject_of(self._identity, self._files, self._node, self._port()),
            hold=self._claimed,
            method=method,
            consents=consents,
            limit_s=limit_s,
            on_progress=on_progress,
        )

    def close(self) -> None:
        """Close the device; after a purge, tell the kernel that the partitions are gone."""
        if self._target.closed:
            return
        if self._purged:
            from ssdlab.drives.purge.purging import read_partitions_again

            self._purged = False
            read_partitions_again(self._descriptor)
        self._let_go()

    def _let_go(self) -> None:
        super().close()
        os.close(self._descriptor)
        self._descriptor = -1

    @contextmanager
    def _claimed(self, sibling: Sibling) -> Iterator[None]:
        """Hold another namespace that will be erased too, after the same guard has checked it."""
        if sibling.node is None:
            yield
            return
        intent = replace(self._intent, destroy=sibling.consent_id)
        with (
            pin_device(self._files.dev / sibling.name, text(sibling.node / "dev")) as pin,
            BlockDrive(pin, sibling.node, intent, self._files),
        ):
            yield

    def run(
        self,
        workload: Workload,
        *,
        log_path: Path | None = None,
        on_tick: OnTick | None = None,
        until: Until | None = None,
        header: str | None = None,
    ) -> Measurement:
        """Run a workload; if the device has disappeared, the error has the reason `gone`."""
        try:
            return super().run(workload, log_path=log_path, on_tick=on_tick, until=until, header=header)
        except DriveError as error:
            if error.facts.get("reason") == "gone" or there(self._node):
                raise
            raise self._gone(error) from error

    @property
    def attached(self) -> bool:
        return Path(self._identity.path).exists()

    def conditions(self) -> Conditions:
        return read_conditions(self._node)

    def setting(self, name: str) -> Setting:
        """Return a setting of the disk; for a partition, of its whole disk."""
        return self._settings().find(name)

    def power_features(self) -> PowerFeatures:
        from ssdlab.drives.power_features import features_of

        return features_of(self._settings())

    def _settings(self) -> DriveSettings:
        from ssdlab.drives.settings import DriveSettings

        return DriveSettings(
            self._identity,
            self._node,
            self._port(),
            self._files,
            before_change=self._check_same,
            before_format=lambda: self._before_writing(trims=True),
            after_format=self._take_anew,
        )

    def _port(self) -> KernelPort:
        """Return access to the held drive, by whichever descriptor holds it at the time."""
        return KernelPort(Path(self._identity.path), held=lambda: self._descriptor)

    @cached_property
    def telemetry(self) -> Telemetry:
        """Telemetry of the drive and its host; for a partition, of its whole disk."""
        from ssdlab.drives.telemetry.of_device import telemetry_of

        return telemetry_of(self._identity, self._files, self._node, self._port())

    def counters(self) -> IoCounters | None:
        """Read the kernel's I/O counters; for a partition, those of its whole disk."""
        return read_counters(self._node)

    def written(self, start: int, length: int) -> bool | None:
        """Return None, as a device does not report which blocks were written."""
        del start, length
        return None

    def _take_anew(self) -> None:
        """Hold the drive again after a format, which changed its block size.

        The kernel may count the format as a new attachment. If the drive reports its own name and has the
        same path, it is still the same drive.
        """
        path, then = Path(self._target.path), self._identity
        self._let_go()
        number = text(self._node / "dev")
        with pin_device(path, number) as pin:
            target = self._hold(pin)
        now = block_identity(self._files, self._node)
        self._target = target
        again = has_own_name(now.consent_id, asdict(now)) and now.path == then.path
        self._identity = replace(
            then,
            capacity_bytes=now.capacity_bytes,
            logical_block_bytes=now.logical_block_bytes,
            physical_block_bytes=now.physical_block_bytes,
            diskseq=now.diskseq if again else then.diskseq,
        )
        self._as_seen = self._identity
        self._chain = replace(self._chain, number=number, diskseq=self._identity.diskseq)
        self._check_same()

    def _place(self) -> tuple[HostFiles, Path | None]:
        return self._files, self._node

    def _before_writing(self, *, trims: bool) -> None:
        super()._before_writing(trims=trims)
        self._judge()
        if self._rating is not None:
            self._rating.check(self._identity.path, self._written_bytes(None))
        if not self._wiped:
            path = Path(self._identity.path)
            wipe_signatures(self._descriptor, path, read_signatures(path, self._port()))
            self._wiped = True

    def _watched(self, on_tick: OnTick | None, *, writing: bool) -> OnTick:
        """Return a tick that ends the run at the endurance cap, or if the device becomes another drive."""
        next_look = time.monotonic() + _LOOK_S
        before = self._counted

        def tick(snapshot: _core.Snapshot) -> None:
            nonlocal next_look
            if writing:
                self._counted = before + snapshot.bytes
            if (moment := time.monotonic()) >= next_look:
                next_look = moment + _LOOK_S
                self._look_after(writing=writing)
            if on_tick is not None:
                on_tick(snapshot)

        return tick

    def _look_after(self, *, writing: bool) -> None:
        changed = changes_of(self._as_seen, self._node)
        if not there(self._node):
            raise self._gone(None)
        # A missing fact may have been read while the device disappeared; the next check decides.
        if any(now for _, now in changed.values()):
            raise DriveError(
                f"{self._identity.path} is no longer the same drive: {_changes(changed)}",
                "see `ssdlab drives` for the present drive; earlier measurements are kept",
                reason="changed",
                device=self._identity.path,
            )
        if writing and self._rating is not None:
            self._rating.check(self._identity.path, self._written_bytes(self.counters()))

    def _gone(self, cause: DriveError | None) -> DriveError:
        """Return the error for a device that the kernel no longer has, with the facts of the failed I/O."""
        facts = {} if cause is None else {**cause.facts}
        return DriveError(
            f"{self._identity.path} is gone: it was unplugged, or its driver dropped it",
            "check the kernel log, and resume when the drive is back; earlier measurements are kept",
            measurement=None if cause is None else cause.measurement,
            **{**facts, "reason": "gone", "device": self._identity.path},
        )

    def _written_bytes(self, now: IoCounters | None) -> int:
        now = now or self.counters()
        if now is None or self._began is None:
            return self._counted
        return now.written_bytes - self._began.written_bytes

    def _judge(self) -> None:
        """Refuse if the drive is now in use, or consent was given for another identifier."""
        path, intent = self._identity.path, self._intent
        facts = held_facts(self._files, path, self._node, intent)
        if (refusal := in_use(facts)) is not None:
            raise refusal.error(path)
        if intent.writing and facts.consent_id != intent.destroy:
            raise self._replaced(f"has the identifier {facts.consent_id}; consent was given for another")
        if (refusal := judge_device(facts, intent)) is not None:
            raise refusal.error(path)

    def _check_carried(self, judged: DeviceFacts) -> None:
        """Refuse if the claimed device carries signatures that were not there when it was judged."""
        if self._intent.wipe_signatures or not judged.capacity_bytes:
            return
        path = Path(self._identity.path)
        facts = replace(judged, signatures=read_signatures(path, self._port()))
        if (refusal := judge_device(facts, self._intent)) is not None:
            raise refusal.error(str(path))

    def _check_same(self) -> None:
        """Refuse if the held device is another attachment, or on another disk, than the judged one."""
        changed = changes_of(self._as_seen, self._node)
        # Facts that are only missing mean that the sysfs folder is disappearing, file by file.
        if not there(self._node) or (changed and not any(now for _, now in changed.values())):
            raise self._gone(None)
        if changed:
            raise self._replaced(f"is no longer the drive that was checked: {_changes(changed)}")
        held = (device_number(os.fstat(self._descriptor).st_rdev), diskseq_of(self._descriptor))
        named = self._files.number_of(self._target.path)
        if held != (self._chain.number, self._chain.diskseq) or named != self._chain.number:
            raise self._replaced("is no longer the drive that was checked: the name points elsewhere")
        exchanged = difference(self._chain, chain_of(self._files, self._node))
        if exchanged is not None:
            raise self._replaced(f"is no longer what was checked: {exchanged}")

    def _replaced(self, how: str) -> Refused:
        return Refused(
            f"{self._identity.path} {how}",
            "see `ssdlab drives`, and start again with the right drive",
            reason="replaced",
            target=self._identity.path,
        )


def _changes(changed: dict[str, tuple[object, object]]) -> str:
    return "; ".join(f"its {name} is {now}, was {then}" for name, (then, now) in changed.items())


def _not_opened(path: Path, error: OSError) -> LabError:
    """Return the error for a device that the guard accepts but the kernel does not open."""
    facts: dict[str, Any] = {"target": str(path), "errno": error.errno}
    if error.errno == errno.EBUSY:
        advice = "unmount it, and close what holds it (see lsblk and fuser)"
        return Refused(
            f"{path} is claimed by the kernel: another process took it just now",
            advice,
            reason="claimed",
            **facts,
        )
    if error.errno in {errno.EACCES, errno.EPERM, errno.EROFS}:
        advice = "run as root, or as a user who may open it; a write-protected drive cannot be written"
        return Refused(f"{path} cannot be opened: {error.strerror}", advice, reason="permission", **facts)
    advice = "check that it is present and healthy (see the kernel log)"
    return DriveError(f"{path} cannot be opened: {error.strerror}", advice, **facts)
