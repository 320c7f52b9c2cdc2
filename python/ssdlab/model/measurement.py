"""A measurement in Python: totals, interval rows, histograms and warnings.

The figures stay in native memory or in a step's append log; this module gives them their documented shape.
`as_dict()` is what ``ssdlab measure --json`` prints: schema ``ssdlab.measurement/1``, latencies in ns, null
for a percentile with fewer than 10 samples beyond it.

Interval rows as plain objects are made without numpy, which is slow to load.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

from ssdlab.model.errors import LabError, unknown
from ssdlab.model.notebook import ArrowColumns
from ssdlab.model.summary import COMMANDS, DIRECTIONS, FLUSH, Direction

if TYPE_CHECKING:
    import ssdlab._core as _core
    from ssdlab.model.summary import Command, Summary
    from ssdlab.model.telemetry import Sample
    from ssdlab.model.warnings import Warning

    Cell = dict[str, list[Any]]
    """One entry per interval for each name: the I/O of one stream in one direction."""


SCHEMA = "ssdlab.measurement/1"

Clock = Literal["service", "response"]
"""Start of a latency: *service* at submission, *response* at the intended start."""

_KEYS = (
    "schema",
    "iops",
    "mb_s",
    "elapsed_s",
    "read",
    "write",
    "trim",
    "intervals",
    "requested_iops",
    "in_flight",
    "cpu",
    "power",
    "seed",
    "engine",
    "warnings",
    "drive",
)
"""The documented keys, in the order they are printed; other keys follow."""


class Measurement:
    """The result of a measurement. Immutable; made by `ssdlab.measure`, `Drive.run` or `from_journal`."""

    def __init__(self, summary: Mapping[str, Any], source: Callable[[], _core.Measurement]) -> None:
        known = {"schema": SCHEMA, **summary}
        self._summary = {name: known.pop(name, None) for name in _KEYS} | known
        self._load = source
        self._source: _core.Measurement | None = None
        self.samples: tuple[Sample, ...] = ()
        """Telemetry samples of a simulated drive; see `drives.telemetry`."""

    @classmethod
    def of(
        cls,
        native: _core.Measurement,
        drive: object,
        *,
        engine: str | None = None,
        power: Mapping[str, Any] | None = None,
        samples: Sequence[Sample] = (),
    ) -> Self:
        """Wrap a result of the native runner.

        Parameters
        ----------
        drive
            The drive's identity: a dataclass or a mapping.
        engine
            Engine of the I/O, if not the workload's.
        power
            ``mean_w energy_j source`` over the time that the totals cover, if metered.
        samples
            Telemetry samples, if part of the run's result.
        """
        identity = asdict(drive) if is_dataclass(drive) and not isinstance(drive, type) else drive
        summary = {**native.summary(), "drive": identity, "warnings": [], "power": power}
        if engine is not None:
            streams = [{**stream, "engine": engine} for stream in summary["streams"]]
            summary |= {"engine": engine, "streams": streams}
        made = cls(summary, lambda: native)
        made.samples = tuple(samples)
        return made

    @classmethod
    def from_journal(cls, record: Mapping[str, Any], log_path: Path | str) -> Self:
        """Return the measurement of a finished step.

        The summary comes from the journal. Rows and histograms come from the append log, which is read on
        their first use.
        """

        def read() -> _core.Measurement:
            import ssdlab._core as _core

            return _core.read_log(log_path).measurement

        return cls(record, read)

    def summary(self) -> Summary:
        """Return the totals as a frozen model, with a side for each direction.

        Its fields are keys of the JSON; other keys are accessed as ``summary["key"]``.
        """
        from ssdlab.model.summary import Summary

        return Summary.model_validate(self._summary)

    def as_dict(self) -> dict[str, Any]:
        """Return the totals as `measure --json` prints them, in a shallow copy."""
        return dict(self._summary)

    def report(self) -> dict[str, Any]:
        """Return what `measure --json` prints: the summary and the list `intervals`.

        Each interval has ``start_s duration_s partial ramp paused iops mb_s in_flight in_flight_max``
        and an object for each direction that the run used. The object has the counts, and the p50, p99, p99.9
        and max of both clocks in ns. A percentile is null if the interval has no I/O, or if several streams
        share the direction (percentiles cannot be added up). If flushes were requested, ``flush`` has their
        count and latency.
        """
        return {**self._summary, "intervals": as_dicts(self)}

    @property
    def iops(self) -> float:
        """Completed I/Os a second, over all streams and directions."""
        return float(self._summary["iops"])

    @property
    def mb_s(self) -> float:
        """Decimal megabytes a second."""
        return float(self._summary["mb_s"])

    @property
    def elapsed_s(self) -> float:
        """Seconds that the rates refer to: without ramp, and without the drain after a stop by time."""
        return float(self._summary["elapsed_s"])

    @property
    def warnings(self) -> tuple[Warning, ...]:
        """Warnings about misleading figures."""
        from ssdlab.model.warnings import Warning

        return tuple(Warning.from_dict(warning) for warning in self._summary["warnings"] or ())

    def with_warnings(self, warnings: Iterable[Warning]) -> Measurement:
        """Return the same measurement with these warnings in its summary."""
        return self._with(warnings=[warning.as_dict() for warning in warnings])

    def with_facts(self, **facts: object) -> Measurement:
        """Return the same measurement with further facts in its summary, besides the contract's keys."""
        if taken := sorted(facts.keys() & set(_KEYS)):
            raise ValueError(f"{taken[0]} is measured, not added")
        return self._with(**facts)

    def with_power(self, power: Mapping[str, object] | None) -> Measurement:
        """Return the same measurement with a meter's reading, `mean_w energy_j source`; None removes it."""
        return self._with(power=None if power is None else dict(power))

    @property
    def streams(self) -> list[str]:
        """Names of the streams, in the order of the workload."""
        return self.source.streams

    @property
    def source(self) -> _core.Measurement:
        """The native measurement with rows and histograms, loaded on first use."""
        if self._source is None:
            self._source = self._load()
        return self._source

    def rows(self, stream: str | None = None, direction: Command | None = None) -> ArrowColumns:
        """Return numpy columns with one entry per interval, including intervals without I/O.

        Parameters
        ----------
        stream, direction
            Stream and direction to select; None combines all. ``flush`` is never part of a combination; its
            ``ios`` counts flushes.

        Returns
        -------
        dict
            ``index start_ns duration_ns partial ramp ios failed dropped late bytes lateness_max_ns
            in_flight_mean in_flight_max`` and, for each clock, ``{clock}_p50_ns {clock}_p99_ns
            {clock}_p99_9_ns {clock}_max_ns``. A latency is 0 if an interval has no sample. Percentiles cannot
            be added up, so several streams or directions have only maxima. Their ``in_flight_max`` is the sum
            over the streams, an upper bound.
        """
        streams = self.streams if stream is None else [self._known_stream(stream)]
        directions = DIRECTIONS if direction is None else (direction,)
        per_stream = [[self.source.rows(name, each) for each in directions] for name in streams]
        used = [[cell for cell in cells if _used(cell)] or cells[:1] for cells in per_stream]
        if len(used) == 1 and len(used[0]) == 1:
            return ArrowColumns(used[0][0])
        return _combined(used)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Return the interval rows of each stream and direction as an Arrow stream (PyCapsule interface).

        The columns are ``stream direction`` and those of `rows`; a latency without a sample is null.
        """
        return _series(self).__arrow_c_stream__(requested_schema)

    def histogram(self, direction: Command, clock: Clock, stream: str | None = None) -> _core.Histogram:
        """Return the latency histogram of one direction, or of ``flush``; by default over all streams."""
        if stream is not None:
            self._known_stream(stream)
        return self.source.histogram(direction, clock, stream)

    def histograms(self) -> ArrowColumns:
        """Return all latencies as columns, a row for each bucket that is not empty.

        Returns
        -------
        ArrowColumns
            ``stream direction clock low_ns count``: for each stream, direction (or ``flush``) and clock, the
            lower bound and count of each bucket.
        """
        return _buckets(self)

    def __repr__(self) -> str:
        return f"<Measurement {self.iops:.0f} IOPS, {self.mb_s:.1f} MB/s, {self.elapsed_s:.2f} s>"

    def _repr_html_(self) -> str:
        from ssdlab.model.measurement_words import measurement_html

        return measurement_html(self.summary())

    def _known_stream(self, stream: str) -> str:
        if stream not in self.streams:
            raise unknown("stream", stream, self.streams)
        return stream

    def _with(self, **changes: object) -> Measurement:
        changed = Measurement({**self._summary, **changes}, self._load)
        changed._source, changed.samples = self._source, self.samples
        return changed


def run(target: _core.Target, resolved: str, drive: object, **options: Any) -> Measurement:  # noqa: ANN401
    """Run a resolved workload natively and wrap the result, also the result that an error carries.

    Parameters
    ----------
    target, resolved
        The open drive, and the JSON from `Workload.resolve`.
    drive
        The drive's identity, for the summary.
    options
        Passed on to the native ``run``.
    """
    import ssdlab._core as _core

    try:
        return Measurement.of(_core.run(target, resolved, **options), drive)
    except LabError as error:
        if isinstance(error.measurement, _core.Measurement):
            error.measurement = Measurement.of(error.measurement, drive)
        raise


def read_ios(path: Path | str) -> ArrowColumns:
    """Return the single I/Os of a log made with ``--log-ios``, in numpy columns of equal length.

    The columns are ``stream direction intended_ns submit_ns latency_ns offset length``. Stream and direction
    (read, write, trim) are positions in their lists. Times are in ns since the start of the run, offset and
    length in bytes.
    """
    import ssdlab._core as _core

    return ArrowColumns(_core.read_log(path).ios())


_CLOCK = ("index", "start_ns", "duration_ns", "partial", "ramp")
_SUMS = ("ios", "failed", "dropped", "late", "bytes")
_MAXIMA = ("lateness_max_ns", "service_max_ns", "response_max_ns")


def _used(cell: Mapping[str, Any]) -> bool:
    return any(cell[name].any() for name in ("ios", "failed", "dropped"))


def _combined(per_stream: Sequence[Sequence[Mapping[str, Any]]]) -> ArrowColumns:
    """Combine cells: sum counts over all cells and I/Os in flight once per stream; keep the maxima."""
    import numpy as np

    cells = [cell for cells in per_stream for cell in cells]
    once = [cells[0] for cells in per_stream]
    columns = ArrowColumns({name: cells[0][name] for name in _CLOCK})
    columns |= {name: np.stack([cell[name] for cell in cells]).sum(axis=0) for name in _SUMS}
    columns |= {
        name: np.stack([cell[name] for cell in once]).sum(axis=0)
        for name in ("in_flight_mean", "in_flight_max")
    }
    columns |= {name: np.stack([cell[name] for cell in cells]).max(axis=0) for name in _MAXIMA}
    return columns


def _series(measurement: Measurement) -> ArrowColumns:
    """Return the rows of all streams and directions in one table."""
    import numpy as np

    parts = []
    for stream in measurement.streams:
        found = {name: measurement.source.rows(stream, name) for name in DIRECTIONS}
        used = {name: cell for name, cell in found.items() if _used(cell)} or {"read": found["read"]}
        parts += [_named(cell, len(cell["index"]), stream, name) for name, cell in used.items()]
    columns = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    clocks = ("service_", "response_")
    return ArrowColumns(
        {
            name: np.ma.masked_equal(column, 0) if name.startswith(clocks) else column
            for name, column in columns.items()
        }
    )


def _buckets(measurement: Measurement) -> ArrowColumns:
    import numpy as np

    parts = []
    for stream in measurement.streams:
        for direction in COMMANDS:
            clocks: tuple[Clock, ...] = ("service",) if direction == FLUSH else ("service", "response")
            for clock in clocks:
                low, count = measurement.histogram(direction, clock, stream).buckets()
                filled = {"clock": np.full(len(low), clock, object), "low_ns": low, "count": count}
                parts.append(_named(filled, len(low), stream, direction))
    return ArrowColumns({name: np.concatenate([part[name] for part in parts]) for name in parts[0]})


def _named(columns: Mapping[str, Any], rows: int, stream: str, direction: Command) -> ArrowColumns:
    """Return columns with two more in front: the stream and the direction."""
    import numpy as np

    of = {"stream": np.full(rows, stream, object), "direction": np.full(rows, direction, object)}
    return ArrowColumns({**of, **columns})


_COUNTS = ("ios", "failed", "dropped", "late", "bytes")
_PERCENTILES = {"p50": "p50", "p99": "p99", "p99_9": "p99.9", "max": "max"}
"""Names of latencies in the columns, and in the documented JSON."""


def as_dicts(measurement: Measurement) -> list[dict[str, Any]]:
    """Return one object per interval, in order, with the keys of `Measurement.report`."""
    totals = measurement.as_dict()
    directions: list[Direction] = [name for name in DIRECTIONS if totals[name] is not None]
    cells = [
        {name: measurement.source.row_lists(stream, name) for name in DIRECTIONS}
        for stream in measurement.streams
    ]
    parts = {name: _used_cells([stream[name] for stream in cells]) for name in directions}
    flushes = []
    if totals.get(FLUSH) is not None:
        flushes = _used_cells([measurement.source.row_lists(name, FLUSH) for name in measurement.streams])
    rows = range(len(next(iter(cells[0].values()))["index"]) if cells else 0)
    paused = _paused(measurement, cells)
    return [
        _one_interval(cells, row, paused=paused[row])
        | {name: _one_direction(part, row) for name, part in parts.items()}
        | ({FLUSH: _flushed(flushes, row)} if flushes else {})
        for row in rows
    ]


def _used_cells(cells: list[Cell]) -> list[Cell]:
    """Return the cells with requested I/O, or else the first cell.

    Idle cells are left out because percentiles cannot be added up over cells.
    """
    used = [cell for cell in cells if any(any(cell[name]) for name in ("ios", "failed", "dropped"))]
    return used or cells[:1]


def _paused(measurement: Measurement, streams: list[dict[Direction, Cell]]) -> tuple[bool, ...]:
    """Return for each interval whether ssdlab was paused in it."""
    from ssdlab.model.summary import paused_rows

    if not streams:
        return ()
    once, summary = next(iter(streams[0].values())), measurement.summary()
    ends = [start + length for start, length in zip(once["start_ns"], once["duration_ns"], strict=True)]
    return paused_rows(summary.pauses, summary.zero_ns, zip(once["start_ns"], ends, strict=True))


def _one_interval(streams: list[dict[Direction, Cell]], row: int, *, paused: bool) -> dict[str, Any]:
    once = [next(iter(stream.values())) for stream in streams]
    cells = [cell for stream in streams for cell in stream.values()]
    seconds = once[0]["duration_ns"][row] / 1e9
    return {
        "start_s": once[0]["start_ns"][row] / 1e9,
        "duration_s": seconds,
        "partial": once[0]["partial"][row],
        "ramp": once[0]["ramp"][row],
        "paused": paused,
        "iops": _total(cells, "ios", row) / seconds if seconds else 0.0,
        "mb_s": _total(cells, "bytes", row) / seconds / 1e6 if seconds else 0.0,
        "in_flight": _total(once, "in_flight_mean", row),
        "in_flight_max": _total(once, "in_flight_max", row),
    }


def _one_direction(cells: list[Cell], row: int) -> dict[str, Any]:
    return {name: _total(cells, name, row) for name in _COUNTS} | {
        f"{clock}_ns": {key: _figure(cells, f"{clock}_{name}_ns", row) for name, key in _PERCENTILES.items()}
        for clock in ("service", "response")
    }


def _flushed(cells: list[Cell], row: int) -> dict[str, Any]:
    latency = {key: _figure(cells, f"service_{name}_ns", row) for name, key in _PERCENTILES.items()}
    return {
        "flushes": _total(cells, "ios", row),
        "failed": _total(cells, "failed", row),
        "latency_ns": latency,
    }


def _figure(cells: list[Cell], name: str, row: int) -> int | None:
    """Return a percentile or a maximum; of several streams only a maximum, as percentiles cannot be added."""
    values = [cell[name][row] for cell in cells]
    return None if len(values) > 1 and "_max_" not in name else max(values) or None


def _total(cells: list[Cell], name: str, row: int) -> Any:  # noqa: ANN401 - as the column
    return sum(cell[name][row] for cell in cells)
