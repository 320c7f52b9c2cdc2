"""A simulated drive: made of a profile, in its own time, with the same verbs as a real one.

Its text is ``sim:PROFILE[,scale=S][,spare=SHARE][,seed=N]``. PROFILE is the name of a profile that ssdlab
brings along (see `profiles`), or the path of one. ``scale`` makes the drive so many times smaller with
everything that decides its steady state kept; ``spare`` is the share of its flash that the user cannot
address; ``seed`` decides what chance decides in the drive.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from ssdlab.drives.base import SIMULATED_PREFIX as PREFIX
from ssdlab.drives.identity import Identity
from ssdlab.errors import DriveError, LabError, Refused, UsageError, unknown

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

    from ssdlab import _core
    from ssdlab.drives.base import OnTick, Until
    from ssdlab.drives.conditions import Conditions
    from ssdlab.drives.counters import IoCounters
    from ssdlab.drives.purge import PurgeMethod, PurgeProgress, PurgeRecord
    from ssdlab.measurement import Measurement
    from ssdlab.workload import Workload

ENGINE = "sim"
"""What a measurement on a simulated drive says of its engine."""

_OPTIONS = ("scale", "spare", "seed")
_UNIT_BYTES = 4096
_FILL_SEED = 1


@dataclass(frozen=True, slots=True)
class SimulatedText:
    """What the text of a simulated drive says.

    Attributes
    ----------
    profile
        Name of a profile, or the path of one.
    scale
        So many times smaller than the drive it stands for.
    spare
        Share of the flash that the user cannot address; None for the profile's own.
    seed
        Seed of what chance decides in the drive.
    """

    profile: str
    scale: int = 1
    spare: float | None = None
    seed: int = 1

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read ``sim:PROFILE[,scale=S][,spare=SHARE][,seed=N]``.

        >>> SimulatedText.parse("sim:tiny-test,spare=25%,seed=7")
        SimulatedText(profile='tiny-test', scale=1, spare=0.25, seed=7)

        Raises
        ------
        UsageError
            It says something else.
        """
        profile, *words = text.removeprefix(PREFIX).split(",")
        if not profile:
            raise UsageError(
                f"{text} names no profile", "see `ssdlab sim list`, and write sim:NAME", target=text
            )
        given: dict[str, str] = {}
        for word in words:
            name, equals, value = word.partition("=")
            if not equals or name not in _OPTIONS:
                raise unknown("option of a simulated drive", name, _OPTIONS)
            if name in given:
                raise UsageError(f"{text} says {name} twice", "say it once", target=text)
            given[name] = value
        spare = given.get("spare")
        return cls(
            profile,
            scale=_whole("scale", given.get("scale", "1")),
            spare=None if spare is None else _share(spare),
            seed=_whole("seed", given.get("seed", "1")),
        )

    def __str__(self) -> str:
        own = SimulatedText(self.profile)
        changed = {
            name: getattr(self, name) for name in _OPTIONS if getattr(self, name) != getattr(own, name)
        }
        return ",".join([PREFIX + self.profile, *(f"{name}={value}" for name, value in changed.items())])


class SimulatedDrive:
    """A simulated drive, laid out when it is made: written once from end to end, as a file is.

    Parameters
    ----------
    text
        Which drive.
    writing
        Whether it may be written; nothing real can be lost, but a mistake is one here too.
    allow_unwritten
        Leave it as it comes from the factory: nothing written, and reads that touch no flash allowed.
    on_tick
        Called about every 50 ms while it is laid out.

    Raises
    ------
    UsageError
        There is no such profile, or it cannot have that size.
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
        self._writing = True
        if not allow_unwritten:
            from ssdlab.measuring import fill_workload

            self.run(fill_workload(self.capacity_bytes, _FILL_SEED), on_tick=on_tick)
        self._writing = writing

    @property
    def identity(self) -> Identity:
        """Who it is."""
        return self._identity

    @property
    def native(self) -> _core.SimulatedDrive:
        """The drive itself: its clock, counters, snapshots and forks."""
        return self._native

    @property
    def capacity_bytes(self) -> int:
        """Bytes that can be addressed."""
        return self._native.capacity_bytes

    @property
    def logical_block_bytes(self) -> int:
        """Unit of offsets and lengths."""
        return self._native.logical_block_bytes

    def run(
        self,
        workload: Workload,
        *,
        log_path: Path | None = None,
        on_tick: OnTick | None = None,
        until: Until | None = None,
        header: str | None = None,
    ) -> Measurement:
        """Run a workload in the drive's own time; see `Drive.run`. Seconds are the drive's."""
        resolved = workload.resolve(self.capacity_bytes, self.logical_block_bytes)
        if workload.changes_data:
            self._before_writing()
        for stream in workload.streams:
            if stream.reads:
                self._before_reading(*stream.span_bytes(self.capacity_bytes, self.logical_block_bytes))
        before = self._native.counters()
        try:
            native = self._native.run(
                resolved, log_path=log_path, on_tick=on_tick, until=until, header=header
            )
        except LabError as error:
            if error.measurement is not None:
                error.measurement = self._measurement(error.measurement, before)
            raise
        return self._measurement(native, before)

    def trim(self, start: int, length: int) -> None:
        """Discard a range of bytes."""
        self._before_writing()
        self._native.trim(start, length)

    def flush(self) -> None:
        """Make all written data durable; takes the drive's time, not ours."""
        self._native.flush()

    def purge(
        self,
        *,
        method: PurgeMethod | None = None,
        on_progress: Callable[[PurgeProgress], object] | None = None,
    ) -> PurgeRecord:
        """Erase all flash and forget all data; the state is known, so nothing needs to be read back."""
        from ssdlab.drives.purge import PurgeProgress, PurgeRecord

        self._before_writing()
        if method not in (None, "simulated"):
            raise DriveError(
                f"{self.identity.path} has no purge by {method}",
                "leave the method out",
                reason="no-purge",
                target=self.identity.path,
            )
        started_ns = self._native.now_ns
        self._native.purge()
        elapsed_s = (self._native.now_ns - started_ns) / 1e9
        if on_progress is not None:
            on_progress(PurgeProgress("simulated", elapsed_s, 1.0, "erased"))
        return PurgeRecord("simulated", False, (), None, None, elapsed_s)

    def idle(self, seconds: float) -> None:
        """Let the drive rest, which takes no time of ours."""
        self._native.idle(round(seconds * 1e9))

    def conditions(self) -> Conditions | None:
        """Return None: no kernel stands between ssdlab and the drive."""
        return None

    def counters(self) -> IoCounters | None:
        """Return None: no kernel counts its I/O; `native.counters()` are the drive's own."""
        return None

    def written(self, start: int, length: int) -> bool:
        """Say whether every byte of a range was written."""
        return self._native.written(start, length)

    def close(self) -> None:
        """Let go of it."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _before_writing(self) -> None:
        if not self._writing:
            raise Refused(
                f"{self._identity.path} was opened for reading, and this would write it",
                "Open it for writing: open_drive(..., writing=True)",
                reason="read-only",
                target=self._identity.path,
            )

    def _before_reading(self, start: int, length: int) -> None:
        if not self._allow_unwritten and not self._native.written(start, length):
            raise Refused(
                f"parts of {self._identity.path} were never written, and this would read them",
                "Fill it first: a read of what was never written touches no flash",
                reason="unwritten",
                target=self._identity.path,
            )

    def _measurement(self, native: Any, before: dict[str, Any]) -> Measurement:  # noqa: ANN401 - native
        """Wrap what was measured; beside the identity stands what the run cost the flash."""
        from dataclasses import asdict

        from ssdlab.measurement import Measurement

        now = self._native.counters()
        host = now["host_bytes_written"] - before["host_bytes_written"]
        flash = now["nand_bytes_written"] - before["nand_bytes_written"]
        drive = {
            **asdict(self._identity),
            "scale": self._native.scale,
            "seed": self._native.seed,
            "effective_spare": now["effective_spare"],
            "host_bytes_written": host,
            "nand_bytes_written": flash,
            "write_amplification": flash / host if host else None,
            "erases": now["erases"] - before["erases"],
        }
        return Measurement.of(native, drive, engine=ENGINE)


def _make(text: SimulatedText) -> _core.SimulatedDrive:
    """Make the native drive that a text names, empty."""
    from ssdlab import _core

    return _core.SimulatedDrive(
        profile_text(text.profile), scale=text.scale, spare=text.spare, seed=text.seed
    )


def identity_of(text: SimulatedText) -> Identity:
    """Return who a simulated drive is, without making it; the same text is the same drive."""
    from ssdlab import _core

    made = _core.check_profile(profile_text(text.profile), scale=text.scale, spare=text.spare)
    name = made["profile"]["name"]
    scaled = f", 1/{text.scale} of its size" if text.scale > 1 else ""
    return Identity(
        path=str(text),
        name=name,
        kind="sim",
        consent_id=str(text),
        capacity_bytes=made["capacity_bytes"],
        logical_block_bytes=made["logical_block_bytes"],
        physical_block_bytes=_UNIT_BYTES,
        model=f"simulated {name}{scaled}",
        rotational=False,
    )


def profiles() -> dict[str, str]:
    """Return the profiles that ssdlab brings along: name to TOML, in the order of names."""
    folder = resources.files("ssdlab") / "profiles"
    found = {
        entry.name.removesuffix(".toml"): entry.read_text(encoding="utf-8")
        for entry in folder.iterdir()
        if entry.name.endswith(".toml")
    }
    return dict(sorted(found.items()))


def profile_text(name: str) -> str:
    """Return the TOML of a profile: one of ours by name or alias, or a file.

    Raises
    ------
    UsageError
        There is none of that name, or it cannot be read.
    """
    if "/" in name or name.endswith(".toml"):
        try:
            return Path(name).expanduser().read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(
                f"{name} cannot be read as a profile: {error}", "name a TOML file, or see `ssdlab sim list`"
            ) from error
    known = profiles()
    if name not in known:
        by_alias = _aliases(known)
        if name not in by_alias:
            raise unknown("profile", name, known, elsewhere="see `ssdlab sim list`")
        name = by_alias[name]
    return known[name]


def _aliases(known: dict[str, str]) -> dict[str, str]:
    import tomllib

    return {
        str(alias): name for name, text in known.items() for alias in tomllib.loads(text).get("aliases", ())
    }


def _whole(name: str, value: str) -> int:
    if not value.isascii() or not value.isdecimal():
        raise UsageError(f"{name}={value} is no whole number", f"write it so: {name}=16")
    return int(value)


def _share(value: str) -> float:
    from ssdlab.units import parse_percent

    try:
        return float(parse_percent(value)) if value.endswith("%") else float(value)
    except ValueError as error:
        raise UsageError(f"spare={value} is no share", "write it so: spare=25% or spare=0.25") from error
