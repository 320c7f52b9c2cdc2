"""A whole block device, or a partition, as a drive."""

from __future__ import annotations

import time
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ssdlab.drives.base import RealDrive
from ssdlab.drives.guard.device_facts import device_facts, device_tables
from ssdlab.drives.guard.endurance import EnduranceCap, rating_of
from ssdlab.drives.guard.judge import Intent, in_use, judge_device
from ssdlab.drives.guard.signatures import read_signatures, wipe_signatures
from ssdlab.host.counters import IoCounters, read_counters
from ssdlab.host.identity import block_identity, changes_of
from ssdlab.host.queue_settings import read_conditions
from ssdlab.host.sysfs import HostFiles, text
from ssdlab.model.errors import DriveError, Refused
from ssdlab.model.queue_settings import Conditions

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    import ssdlab._core as _core
    from ssdlab.drives.base import OnTick, Until
    from ssdlab.drives.purge import PurgeMethod, PurgeProgress, PurgeRecord
    from ssdlab.drives.purge.way import Sibling
    from ssdlab.drives.settings import Setting
    from ssdlab.model.measurement import Measurement
    from ssdlab.model.workload import Workload

_LOOK_S = 1.0
"""How often identity and bytes written are looked at while a workload runs."""


class BlockDrive(RealDrive):
    """A block device, claimed exclusively while it is held: nothing can mount it or build on it meanwhile.

    Before each write the consent is judged again, from what the kernel says then: the name may lead to
    another drive, or the drive may have come back from a reset as another one.

    Parameters
    ----------
    path
        A path that leads to the device node, links allowed.
    node
        Its folder in sysfs.
    intent
        What is to be done with it.
    files
        The host.
    cap
        How much of its rated endurance may be written.

    Raises
    ------
    Refused
        The guard objects; `reason` says why.
    DriveError
        The device cannot be opened.
    """

    def __init__(
        self, path: Path, node: Path, intent: Intent, files: HostFiles, cap: EnduranceCap | None = None
    ) -> None:
        identity = block_identity(files, node)
        facts = device_facts(files, str(path), node, intent)
        refusal = judge_device(facts, intent)
        if refusal is not None:
            raise refusal.error(str(path))
        import ssdlab._core as _core

        self._node = node
        self._files = files
        self._intent = intent
        self._device = text(node / "dev")
        self._wiped = not facts.signatures
        self._rating = rating_of(identity, cap) if intent.writing else None
        self._began = read_counters(node)
        self._counted = 0
        self._purged = False
        super().__init__(identity, _core.Target(path, write=intent.writing, exclusive=True))
        try:
            self._check_same()  # between the look and the claim another drive may have taken the name
        except Refused:
            self.close()
            raise

    def purge(
        self,
        *,
        method: PurgeMethod | None = None,
        consents: Collection[str] = (),
        limit_s: float | None = None,
        on_progress: Callable[[PurgeProgress], object] | None = None,
    ) -> PurgeRecord:
        """Purge the drive; see `Drive.purge`."""
        from ssdlab.drives.purge.of_device import purge_device, subject_of

        self._before_writing()
        self._purged = True
        return purge_device(
            self._target,
            subject_of(self._identity, self._files, self._node),
            hold=self._claimed,
            method=method,
            consents=consents,
            limit_s=limit_s,
            on_progress=on_progress,
        )

    def close(self) -> None:
        """Let go of it; the partitions of a drive that was purged are gone, and the kernel is told so."""
        super().close()
        if self._purged:
            from ssdlab.drives.purge.of_device import read_partitions_again

            self._purged = False
            read_partitions_again(Path(self._target.path))

    @contextmanager
    def _claimed(self, sibling: Sibling) -> Iterator[None]:
        """Hold another namespace, which is going to be erased along with this one, behind the same guard."""
        if sibling.node is None:
            yield
            return
        intent = replace(self._intent, destroy=sibling.consent_id)
        with BlockDrive(self._files.dev / sibling.name, sibling.node, intent, self._files):
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
        """Run a workload; see `Drive.run`. What ends it because the device is gone has the reason `gone`."""
        try:
            return super().run(workload, log_path=log_path, on_tick=on_tick, until=until, header=header)
        except DriveError as error:
            if error.facts.get("reason") == "gone" or self._node.exists():
                raise
            raise self._gone(error) from error

    def conditions(self) -> Conditions:
        """Read its queue and cache settings."""
        return read_conditions(self._node)

    def setting(self, name: str) -> Setting:
        """Return a setting of the disk; of a partition, that of its whole disk."""
        from ssdlab.drives.admin.port import KernelPort
        from ssdlab.drives.settings import DriveSettings

        port = KernelPort(Path(self._target.path))
        found = DriveSettings(
            self._identity, self._node, port, self._files, self._before_writing, self._take_anew
        )
        return found.find(name)

    def counters(self) -> IoCounters | None:
        """Read the kernel's account of the disk (all of it, also for a partition)."""
        return read_counters(self._node)

    def written(self, start: int, length: int) -> bool | None:
        """Return None: a device does not tell which of its blocks were written."""
        del start, length
        return None

    def _take_anew(self) -> None:
        """Hold the drive anew after a format: its blocks have another size now, and it is still the same."""
        import ssdlab._core as _core

        path, writing = Path(self._target.path), self._target.writable
        then = self._identity
        self._target.close()
        now = block_identity(self._files, self._node)
        self._identity = replace(
            then,
            capacity_bytes=now.capacity_bytes,
            logical_block_bytes=now.logical_block_bytes,
            physical_block_bytes=now.physical_block_bytes,
        )
        self._target = _core.Target(path, write=writing, exclusive=True)
        self._check_same()

    def _place(self) -> tuple[HostFiles, Path | None]:
        return self._files, self._node

    def _before_writing(self) -> None:
        super()._before_writing()
        self._check_consent()
        if self._rating is not None:
            self._rating.check(self._identity.path, self._written_bytes(None))
        if not self._wiped:
            path = Path(self._target.path)
            wipe_signatures(path, read_signatures(path))
            self._wiped = True

    def _watched(self, on_tick: OnTick | None, *, writing: bool) -> OnTick:
        """Return a tick that ends the run when the drive becomes another one, and at its endurance cap."""
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
        changed = changes_of(self._identity, self._node)
        if not self._node.exists():
            raise self._gone(None)
        # A fact that is missing now may have been read while the device went: the next look tells.
        if any(now for _, now in changed.values()):
            raise DriveError(
                f"{self._identity.path} became another drive in mid-run: {_changes(changed)}",
                "look at `ssdlab drives` for what it is now; what was measured until then is kept",
                reason="changed",
                device=self._identity.path,
            )
        if writing and self._rating is not None:
            self._rating.check(self._identity.path, self._written_bytes(self.counters()))

    def _gone(self, cause: DriveError | None) -> DriveError:
        """Say that the kernel has no such device any more; facts are those of the I/O that found it out."""
        facts = {} if cause is None else {**cause.facts}
        return DriveError(
            f"{self._identity.path} is gone: it was unplugged, or its driver has given it up",
            "what was measured until then is kept; see the kernel's log, and go on when the drive is back",
            measurement=None if cause is None else cause.measurement,
            **{**facts, "reason": "gone", "device": self._identity.path},
        )

    def _written_bytes(self, now: IoCounters | None) -> int:
        now = now or self.counters()
        if now is None or self._began is None:
            return self._counted
        return now.written_bytes - self._began.written_bytes

    def _check_consent(self) -> None:
        """Refuse if the drive has come into use, or does not bear the name that consent was given to."""
        path = self._identity.path
        facts = device_tables(self._files, path, self._node, self._intent)
        refusal = in_use(facts)
        if refusal is not None:
            raise refusal.error(path)
        if facts.consent_id != self._intent.destroy:
            raise Refused(
                f"{path} has another identifier than the one that consent was given to: {facts.consent_id}",
                "look at `ssdlab drives`, and start again with the right one",
                reason="replaced",
                target=path,
            )

    def _check_same(self) -> None:
        """Refuse if the name now belongs to another attachment, or the drive behind it is another one."""
        changed = changes_of(self._identity, self._node)
        device = self._files.number_of(self._target.path)
        if not changed and device == self._device:
            return
        told = f": {_changes(changed)}" if changed else ""
        raise Refused(
            f"{self._identity.path} is not the drive any more that was checked, it was replaced{told}",
            "look at `ssdlab drives`, and start again with the right one",
            reason="replaced",
            target=self._identity.path,
        )


def _changes(changed: dict[str, tuple[object, object]]) -> str:
    return "; ".join(f"its {name} is {now}, it was {then}" for name, (then, now) in changed.items())
