"""What a simulated drive tells of itself: samples on its own clock, taken by the simulator as it runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ssdlab.model.telemetry import DriveHealth, Mark, Sample

if TYPE_CHECKING:
    from collections.abc import Sequence

    import ssdlab._core as _core
    from ssdlab.drives.telemetry.protocol import Keep

_MC_PER_C = 1e3
_MW_PER_W = 1e3


class SimulatedTelemetry:
    """Implements `drives.telemetry.protocol.Telemetry` for the drive of the simulator."""

    sources = ("the simulated drive's own account",)

    def __init__(self, native: _core.SimulatedDrive) -> None:
        self._native = native

    def clock_ns(self) -> int:
        """Return the drive's own time."""
        return self._native.now_ns

    def reading(self) -> DriveHealth:
        """Return its counters and heat."""
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
        """Do nothing: a measurement brings its samples along."""
        del keep
        return self

    def end(self, measured: object) -> tuple[Sequence[Sample], Sequence[Mark]]:
        """Return the samples that a measurement has brought along."""
        return getattr(measured, "samples", ()), ()


def samples_of(
    native: _core.SimulatedDrive,
    measured: Any,  # noqa: ANN401 - native
    before: dict[str, Any],
    start_ns: int,
    asked_w: float | None,
) -> tuple[Sample, ...]:
    """Return what a drive told during a run that has just ended.

    Parameters
    ----------
    native, measured
        The drive, and what it measured.
    before
        Its counters before the run.
    start_ns
        Start of the run on its clock.
    asked_w
        The limit that it was given: a lower one is the work of heat.
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
