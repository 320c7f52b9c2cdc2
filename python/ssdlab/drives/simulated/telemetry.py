"""Telemetry of a simulated drive: samples on its own clock, power and thermal throttling."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from ssdlab.model.telemetry import DriveHealth, Mark, Sample

if TYPE_CHECKING:
    from collections.abc import Sequence

    import ssdlab._core as _core
    from ssdlab.drives.telemetry.sampler import Keep


@dataclass(frozen=True, slots=True)
class Power:
    """Power over a period.

    Attributes
    ----------
    source
        Name of the meter; ``model`` is a simulated drive's own account.
    """

    mean_w: float
    energy_j: float
    source: str


@dataclass(frozen=True, slots=True)
class Heat:
    """Power limit and temperature of a drive around a measurement.

    Attributes
    ----------
    power_cap_w
        Limit in force at the end, in W; None if there is none.
    temperature_c
        Temperature at the end, in degrees Celsius; None if not modelled.
    throttle_events
        How often a throttle point came into force during the measurement.
    throttled_to_w
        Lowest limit due to heat, at the beginning or the end, in W; None if there was none.
    """

    power_cap_w: float | None
    temperature_c: float | None
    throttle_events: int
    throttled_to_w: float | None

    @classmethod
    def between(cls, before: Mapping[str, Any], after: Mapping[str, Any], asked_w: float | None) -> Self:
        """Return limit and temperature from two power states (`_core.SimulatedDrive.power_state`).

        `asked_w` is the limit that the drive was given: a lower limit is due to heat.
        """
        limits = (before["power_cap_w"], after["power_cap_w"])
        hot = [each for each in limits if each is not None and (asked_w is None or each < asked_w)]
        return cls(
            power_cap_w=after["power_cap_w"],
            temperature_c=after["temperature_c"],
            throttle_events=after["throttle_events"] - before["throttle_events"],
            throttled_to_w=min(hot, default=None),
        )


_MC_PER_C = 1e3
_MW_PER_W = 1e3


class SimulatedTelemetry:
    """Telemetry of a simulated drive; implements `drives.telemetry.sampler.Telemetry`."""

    sources = ("the simulated drive's model",)

    def __init__(self, native: _core.SimulatedDrive) -> None:
        self._native = native

    def clock_ns(self) -> int:
        return self._native.now_ns

    def reading(self) -> DriveHealth:
        counters, state = self._native.counters(), self._native.power_state()
        return DriveHealth(
            source="model",
            temperature_c=None if state is None else state["temperature_c"],
            host_read_bytes=counters["host_bytes_read"],
            host_written_bytes=counters["host_bytes_written"],
            nand_written_bytes=counters["nand_bytes_written"],
            throttle_events=None if state is None else state["throttle_events"],
        )

    def begin(self, keep: Keep | None = None) -> SimulatedTelemetry:
        """Do nothing, because a measurement contains its samples."""
        del keep
        return self

    def end(self, measured: object) -> tuple[Sequence[Sample], Sequence[Mark]]:
        """Return the samples of a measurement."""
        return getattr(measured, "samples", ()), ()


def samples_of(
    native: _core.SimulatedDrive,
    measured: Any,  # noqa: ANN401 - native
    before: dict[str, Any],
    start_ns: int,
    asked_w: float | None,
) -> tuple[Sample, ...]:
    """Return the samples that a drive reported during the run that has just ended.

    Parameters
    ----------
    native, measured
        The drive, and its measurement.
    before
        The drive's counters before the run.
    start_ns
        Start of the run on the drive's clock.
    asked_w
        The limit that the drive was given: a lower limit is due to heat.
    """
    found = []
    last_ns = 0
    for reported in measured.samples():
        at_ns = reported["at_ns"]
        drawn = native.power(start_ns + last_ns, start_ns + at_ns) if at_ns > last_ns else None
        last_ns = at_ns
        heat, cap = reported["temperature_mc"], reported["cap_mw"]
        hot = cap is not None and (asked_w is None or cap / _MW_PER_W < asked_w)
        found.append(
            Sample(
                at_ns,
                temperature_c=None if heat is None else heat / _MC_PER_C,
                drawn_w=None if drawn is None else drawn["mean_w"],
                limit_w=cap / _MW_PER_W if hot else None,
                throttle_events=None if heat is None else reported["throttle_events"],
                host_read_bytes=before["host_bytes_read"] + reported["host_read_bytes"],
                host_written_bytes=before["host_bytes_written"] + reported["host_written_bytes"],
                nand_written_bytes=reported["nand_written_bytes"],
            )
        )
    return tuple(found)
