"""A measurement's summary as a model: what `Measurement.summary()` says, with a side for each direction.

The JSON of `ssdlab.measurement/1` is the contract; this reads it back. Numbers keep the type that the JSON
has, so that nothing computed from them depends on whether a whole number was written with a point.
"""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict

Number = int | float
Times = dict[str, int | float | None]
"""`min mean max p50 p90 p99 p99.9 p99.99 p99.999` in ns; None where fewer than 10 samples lie beyond."""
NO_TIMES: Times = {}


class _Read(BaseModel):
    """What is read of a summary; what a newer ssdlab adds is kept."""

    model_config = ConfigDict(frozen=True, extra="allow")


class Side(_Read):
    """What was done in one direction."""

    requested: int = 0
    ios: int = 0
    failed: int = 0
    dropped: int = 0
    late: int = 0
    bytes: int = 0
    errors: dict[str, int] = {}
    service_ns: Times = NO_TIMES
    response_ns: Times = NO_TIMES

    @property
    def service_mean_ns(self) -> Number:
        """Mean service time; 0 where nothing was done."""
        return self.service_ns.get("mean") or 0.0

    @property
    def response_mean_ns(self) -> Number:
        """Mean response time; 0 where nothing was done."""
        return self.response_ns.get("mean") or 0.0


NO_SIDE = Side()
"""A direction in which nothing was asked for."""


class Cpu(_Read):
    """CPU time of the run."""

    user_s: Number = 0.0
    sys_s: Number = 0.0
    per_io_ns: Number | None = None


class MeanPower(_Read):
    """Power over the time that the totals cover."""

    mean_w: Number
    energy_j: Number | None = None


class Workers(_Read):
    """What the threads did."""

    busy_ns: int = 0
    """Time with at least one I/O in flight."""


class DriveCost(_Read):
    """What a simulated drive says of its inside."""

    write_amplification: Number | None = None


class Summary(_Read):
    """The totals of a measurement; a direction without I/O is None."""

    iops: Number = 0.0
    mb_s: Number = 0.0
    elapsed_s: Number = 0.0
    total_s: Number | None = None
    read: Side | None = None
    write: Side | None = None
    trim: Side | None = None
    in_flight: Number | None = None
    cpu: Cpu | None = None
    power: MeanPower | None = None
    engine: str | None = None
    drive: DriveCost | None = None
    workers: Workers | None = None
    lateness_ns: Times = NO_TIMES

    def side(self, direction: Literal["read", "write", "trim"]) -> Side | None:
        """Return what was done in a direction; None where nothing was asked for."""
        return {"read": self.read, "write": self.write, "trim": self.trim}[direction]

    @property
    def transfers(self) -> tuple[Side, ...]:
        """The sides that move data, reads first; those alone that there are."""
        return tuple(side for side in (self.read, self.write) if side is not None)

    @property
    def moved_bytes(self) -> int:
        """Bytes read and written."""
        return sum(side.bytes for side in self.transfers)

    @property
    def written_bytes(self) -> int:
        """Bytes written."""
        return 0 if self.write is None else self.write.bytes

    @property
    def mean_w(self) -> float | None:
        """Mean power over the measured window; None where nobody metered it."""
        return None if self.power is None else float(self.power.mean_w)
