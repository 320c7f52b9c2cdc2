"""A simulated drive: created from a profile, with its own clock and the same methods as a real drive.

`text` parses the text that names it, and `profiles` lists the profiles.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ssdlab.drives.base import HeldDrive
from ssdlab.drives.simulated.profiles import (
    check_profile,
    is_path,
    naming,
    profile_id,
    profile_text,
    profiles,
)
from ssdlab.drives.simulated.state import KeepableState, StateFile
from ssdlab.drives.simulated.telemetry import Heat, Power, SimulatedTelemetry, samples_of
from ssdlab.drives.simulated.text import SimulatedText
from ssdlab.host.cpus import check_cpus
from ssdlab.host.identity import Identity
from ssdlab.model.capabilities import SIMULATED_PREFIX as PREFIX
from ssdlab.model.errors import LabError, Refused, Unsupported

if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from pathlib import Path

    import ssdlab._core as _core
    from ssdlab.drives.base import OnTick, Until
    from ssdlab.drives.purge import PurgeMethodName, PurgeProgress, PurgeRecord
    from ssdlab.drives.settings import Setting
    from ssdlab.drives.trim.trimming import OnShare, TrimRecord
    from ssdlab.host.block_queue import IoCounters
    from ssdlab.model.host_load import Conditions
    from ssdlab.model.measurement import Measurement
    from ssdlab.model.power_features import PowerFeatures
    from ssdlab.model.workload import Workload

SLOTS_OF_AHCI = 32
"""Command slots of a port (AHCI 1.3.1, 3.1.1), and tags of native command queuing (Serial ATA 3.1, 13.6)."""


def commands_held(profile: Mapping[str, Any]) -> int | None:
    """Return how many commands a drive of this profile holds at once; None if there is no limit."""
    if (own := profile["controller"].get("commands")) is not None:
        return int(own["value"])
    return None if profile["link"]["protocol"]["value"] == "nvme" else SLOTS_OF_AHCI


__all__ = ["ENGINE", "PREFIX", "SimulatedDrive", "SimulatedText", "identity_of", "profile_text", "profiles"]

ENGINE = "sim"
"""Name of the engine in measurements of simulated drives."""

MODEL_VERSION = 1
"""Raised with every change of simulator or profiles that may change a figure.

Figures of different versions are not ranked together."""
_UNIT_BYTES = 4096
_FILL_SEED = 1
_SPARE_IN_USE = 0.9
"""Share of a full drive's effective spare; while less is in use, caches still have the difference."""
_REST_S = 120.0
"""Rest after the layout, in which the drive finishes its own work, such as emptying its cache."""


class SimulatedDrive(HeldDrive):
    """A simulated drive, laid out when it is created: written once from end to end, as a file is.

    It begins rested and at ambient temperature.

    Parameters
    ----------
    writing
        Whether it may be written. No real data can be lost, but an unintended write is a mistake here too.
    allow_unwritten
        Leave it as from the factory: nothing is written, and reads that touch no flash are allowed.
    on_tick
        Called about every 50 ms while it is laid out.

    Raises
    ------
    UsageError
        There is no such profile, or it does not allow these options.
    """

    def __init__(
        self,
        text: SimulatedText,
        *,
        writing: bool = False,
        allow_unwritten: bool = False,
        on_tick: OnTick | None = None,
    ) -> None:
        self._native = _make(text)
        self._identity = identity_of(text)
        self._allow_unwritten = allow_unwritten
        self._state = KeepableState(
            self._native,
            text.identity(),
            lasting=text.state is not None,
            settle=self._put_back,
            like=self._like,
        )
        self._file = None if text.state is None else StateFile(text.state, text.identity())
        self._kept = ""
        try:
            self._begin(writing, on_tick)
        except BaseException:
            if self._file is not None:
                self._file.release()
            raise

    def _like(self, native: _core.SimulatedDrive) -> SimulatedDrive:
        """Return an independent drive around a native one like this drive's; no file keeps its state."""
        made = object.__new__(type(self))
        made._native, made._identity, made._allow_unwritten = native, self._identity, self._allow_unwritten
        made._writing, made._file, made._kept = self._writing, None, ""
        made._state = KeepableState(native, {}, lasting=False, settle=lambda: None, like=made._like)
        return made

    def _begin(self, writing: bool, on_tick: OnTick | None) -> None:
        """Load the saved state, or lay the drive out."""
        if self._file is not None and self._file.exists:
            self._file.take_up(self._native)
            self._kept = self._native.digest()
        elif not self._allow_unwritten:
            from ssdlab.model.workload import fill_workloads

            self._writing = True
            for fill in fill_workloads(self.capacity_bytes, _FILL_SEED):
                self.run(fill, on_tick=on_tick)
            self._rest()
        self._writing = writing

    def _rest(self) -> None:
        """Remove all effects of the layout but the data: pending work and heat."""
        self.flush()
        self.idle(_REST_S)
        self._native.cool()

    @property
    def native(self) -> _core.SimulatedDrive:
        """The native drive, with its clock, counters, snapshots and forks."""
        return self._native

    @property
    def state(self) -> KeepableState:
        return self._state

    def run(
        self,
        workload: Workload,
        *,
        log_path: Path | None = None,
        on_tick: OnTick | None = None,
        until: Until | None = None,
        header: str | None = None,
    ) -> Measurement:
        """Run a workload on the drive's own clock; see `Drive.run`."""
        resolved = workload.resolve(self.capacity_bytes, self.logical_block_bytes)
        check_cpus(workload)
        if workload.changes_data:
            self._before_writing()
        for stream in workload.streams:
            if stream.reads:
                for place in stream.places(self.capacity_bytes, self.logical_block_bytes):
                    self._before_reading(*place)
        before = self._native.counters()
        heat = self._native.power_state()
        start_ns = self._native.now_ns
        from_ns = start_ns + workload.ramp_ns
        try:
            native = self._native.run(
                resolved, log_path=log_path, on_tick=on_tick, until=until, header=header
            )
        except LabError as error:
            if error.measurement is not None:
                error.measurement = self._measurement(error.measurement, before, heat, start_ns, from_ns)
            raise
        return self._measurement(native, before, heat, start_ns, from_ns)

    def trim(self, start: int, length: int, *, on_share: OnShare | None = None) -> TrimRecord:
        """Discard a range of bytes; see `Drive.trim`. What its blocks read as is known without reading."""
        from ssdlab.drives.trim.trimming import TrimRecord, check_range

        self._before_writing()
        check_range(start, length, self.capacity_bytes, self.logical_block_bytes)
        held, began_ns = self._native.written(start, length), self._native.now_ns
        self._native.trim(start, length)
        if on_share is not None:
            on_share(1.0)
        return TrimRecord(
            start=start,
            length=length,
            seconds=(self._native.now_ns - began_ns) / 1e9,
            reached_device=True,
            evidence="simulated",
            discards=1,
            discarded_bytes=length,
            # With `trim=ignored` the drive gets the trim but keeps its data.
            reads=None if not held else "unchanged" if self._native.written(start, length) else "zeroes",
        )

    def flush(self) -> None:
        """Make all written data durable; this takes time on the drive's clock only."""
        self._native.flush()

    def purge(
        self,
        *,
        method: PurgeMethodName | None = None,
        consents: Collection[str] = (),
        limit_s: float | None = None,
        on_progress: Callable[[PurgeProgress], object] | None = None,
    ) -> PurgeRecord:
        """Erase all flash; the state is then known, so nothing needs to be read back."""
        from ssdlab.drives.purge import PurgeProgress, PurgeRecord

        del consents, limit_s  # it has no siblings, and takes no wall-clock time
        self._before_writing()
        if method not in (None, "simulated"):
            raise Unsupported(
                f"{self.identity.path} cannot be purged by {method}: the method is for other kinds of drive",
                "leave --method out: it offers only simulated",
                reason="no-such-way",
                target=self.identity.path,
                method=method,
                offers=["simulated"],
            )
        started_ns = self._native.now_ns
        self._native.purge()
        elapsed_s = (self._native.now_ns - started_ns) / 1e9
        if on_progress is not None:
            on_progress(PurgeProgress("simulated", elapsed_s, 1.0, "erased"))
        return PurgeRecord("simulated", False, (), None, None, elapsed_s)

    def health(self) -> dict[str, Any]:
        """Return the drive's counters since it was created, and its own time as ``clock_s``.

        Write amplification is None before the first write. Effective spare is None while there are free
        blocks that were never written.
        """
        counted = self._native.counters()
        spare = self._effective_spare(counted)
        return {**counted, "effective_spare": spare, "clock_s": self._native.now_ns / 1e9}

    @property
    def _made(self) -> dict[str, Any]:
        return _made_of(SimulatedText.parse(self._identity.path))

    def _effective_spare(self, counted: dict[str, Any]) -> float | None:
        """Return the effective spare once nearly all that a full drive can have is in use; else None."""
        found = counted["effective_spare"]
        known = found is not None and found >= _SPARE_IN_USE * self._made["effective_spare"]
        return float(found) if known else None

    @property
    def telemetry(self) -> SimulatedTelemetry:
        return SimulatedTelemetry(self._native)

    def idle(self, seconds: float, *, on_look: Callable[[], object] | None = None) -> None:
        """Let the drive rest on its own clock, which takes no wall-clock time."""
        del on_look
        self._native.idle(round(seconds * 1e9))

    def power(self, start_ns: int, end_ns: int) -> Power | None:
        """Return the drive's power between two times of its clock (`native.now_ns`).

        None if its profile has no power model.
        """
        drawn = self._native.power(start_ns, end_ns)
        return None if drawn is None else Power(**drawn)

    @property
    def temperature_c(self) -> float | None:
        """Temperature now in degrees Celsius; None if its profile has no thermal model."""
        state = self._native.power_state()
        return None if state is None else state["temperature_c"]

    def conditions(self) -> Conditions | None:
        """Return None, because no kernel is between ssdlab and the drive."""
        return None

    def setting(self, name: str) -> Setting:
        """Return the write cache, which is fixed at creation, or a power-saving setting.

        There are no other settings.
        """
        from ssdlab.drives.settings.setting import Fixed, no_such
        from ssdlab.drives.simulated.saving import SETTINGS, saving_setting

        if name in SETTINGS:
            return saving_setting(self._native, self._made["profile"], name)
        if name != "write_cache":
            raise no_such(name, "a simulated drive", "it has none", "leave it out")
        cache = "on" if self._made["write_cache"] else "off"
        return Fixed(name, cache, "set it in the drive's name: write-cache=on or write-cache=off")

    def power_features(self) -> PowerFeatures:
        from ssdlab.drives.simulated.saving import simulated_features

        return simulated_features(self._native, self._made["profile"])

    def counters(self) -> IoCounters | None:
        """Return None, because no kernel counts the I/O; `native.counters()` has the drive's own."""
        return None

    def written(self, start: int, length: int) -> bool:
        return self._native.written(start, length)

    def close(self) -> None:
        """Close the drive, after saving its state if a file keeps it.

        Raises
        ------
        HostError
            The state could not be written; the file is unchanged.
        """
        if self._file is None:
            return
        try:
            self._put_back()
        finally:
            self._file.release()

    def _put_back(self) -> None:
        """Save the state, if it has changed since the file was written."""
        if self._file is not None and (now := self._native.digest()) != self._kept:
            self._file.put_back(self._native)
            self._kept = now

    def _before_writing(self) -> None:
        if not self._writing:
            raise Refused(
                f"{self._identity.path} was opened for reading, but this would write to it",
                "open it for writing: open_drive(..., writing=True)",
                reason="read-only",
                target=self._identity.path,
            )

    def _before_reading(self, start: int, length: int) -> None:
        if not self._allow_unwritten and not self._native.written(start, length):
            raise Refused(
                f"this would read parts of {self._identity.path} that were never written",
                "fill it first: reads of never-written blocks do not touch the flash",
                reason="unwritten",
                target=self._identity.path,
            )

    def _measurement(
        self,
        native: Any,  # noqa: ANN401 - native
        before: dict[str, Any],
        heat: dict[str, Any] | None,
        start_ns: int,
        from_ns: int,
    ) -> Measurement:
        """Wrap a native measurement, and add the flash writes and erases of the run, including its ramp."""
        from dataclasses import asdict

        from ssdlab.model.measurement import Measurement

        now = self._native.counters()
        host = now["host_bytes_written"] - before["host_bytes_written"]
        flash = now["nand_bytes_written"] - before["nand_bytes_written"]
        drive = {
            **asdict(self._identity),
            "scale": self._native.scale,
            "seed": self._native.seed,
            "effective_spare": self._effective_spare(now),
            "host_bytes_written": host,
            "nand_bytes_written": flash,
            "write_amplification": flash / host if host else None,
            "erases": now["erases"] - before["erases"],
        }
        if self._native.scale > 1:
            drive["unscaled"] = self._native.unscaled
        profile = self._made["profile"]
        if (held := commands_held(profile)) is not None:
            drive["commands_held"] = held
        if (profile.get("mapping") or {}).get("parity_dies") is not None:
            drive["parity_bytes"] = now["parity_bytes"] - before["parity_bytes"]
        if self._native.blocks_cut > 1:
            drive["blocks_cut"] = self._native.blocks_cut
        asked_w = self._made["power_cap_w"]
        if heat is not None and (hot := self._native.power_state()) is not None:
            drive |= asdict(Heat.between(heat, hot, asked_w))
        power = self.power(from_ns, from_ns + round(native.summary()["elapsed_s"] * 1e9))
        samples = samples_of(self._native, native, before, start_ns, asked_w)
        drawn = None if power is None else asdict(power)
        return Measurement.of(native, drive, engine=ENGINE, power=drawn, samples=samples)


def _make(text: SimulatedText) -> _core.SimulatedDrive:
    """Create the native drive that a text names, empty."""
    import ssdlab._core as _core

    with naming(text.profile, text.settings()):
        return _core.SimulatedDrive(profile_text(text.profile), **text.settings(), seed=text.seed)


def simulator(text: str) -> str:
    """Return what determines a simulated drive's figures besides its text.

    This is the model version, and the digest of a user's own profile.
    """
    drive = SimulatedText.parse(text)
    own = f", profile {drive.identity()['profile'][:12]}" if is_path(drive.profile) else ""
    return f"{MODEL_VERSION}{own}"


def identity_of(text: SimulatedText) -> Identity:
    """Return a simulated drive's identity without creating the drive; equal texts are the same drive."""
    made = _made_of(text)
    return Identity(
        path=str(text),
        name=profile_id(text.profile),
        kind="sim",
        consent_id=text.drive,
        capacity_bytes=made["capacity_bytes"],
        logical_block_bytes=made["logical_block_bytes"],
        physical_block_bytes=_UNIT_BYTES,
        serial=text.serial,
        model=", ".join([f"simulated {made['profile']['name']}", *text.variant(made)]),
        firmware=text.firmware,
        rotational=False,
    )


def _made_of(text: SimulatedText) -> dict[str, Any]:
    """Return the properties of the drive that a text names, without creating it."""
    return check_profile(text.profile, **text.settings())
