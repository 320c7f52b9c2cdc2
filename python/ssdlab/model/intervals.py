"""The interval rows of a measurement as plain objects, for JSON.

Made without numpy, which takes as long to load as a short measurement takes in all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ssdlab.model.measurement import Direction, Measurement

    Cell = dict[str, list[Any]]
    """One entry per interval under each name: what one stream did in one direction."""

_COUNTS = ("ios", "failed", "dropped", "late", "bytes")
_PERCENTILES = {"p50": "p50", "p99": "p99", "p99_9": "p99.9", "max": "max"}
"""Name in the columns, and in the contract's JSON."""


def as_dicts(measurement: Measurement) -> list[dict[str, Any]]:
    """Return one object per interval, in order; `Measurement.report` says what is in it."""
    summary = measurement.summary()
    directions: list[Direction] = [name for name in _directions() if summary[name] is not None]
    cells = [
        {name: measurement.source.row_lists(stream, name) for name in _directions()}
        for stream in measurement.streams
    ]
    parts = {name: _used([stream[name] for stream in cells]) for name in directions}
    rows = range(len(next(iter(cells[0].values()))["index"]) if cells else 0)
    return [
        _interval(cells, row) | {name: _direction(part, row) for name, part in parts.items()} for row in rows
    ]


def _directions() -> tuple[Direction, ...]:
    from ssdlab.model.measurement import DIRECTIONS

    return DIRECTIONS


def _used(cells: list[Cell]) -> list[Cell]:
    """Return the cells in which anything was asked for, or one of them: what was idle has no percentiles."""
    used = [cell for cell in cells if any(any(cell[name]) for name in ("ios", "failed", "dropped"))]
    return used or cells[:1]


def _interval(streams: list[dict[Direction, Cell]], row: int) -> dict[str, Any]:
    once = [next(iter(stream.values())) for stream in streams]
    cells = [cell for stream in streams for cell in stream.values()]
    seconds = once[0]["duration_ns"][row] / 1e9
    return {
        "start_s": once[0]["start_ns"][row] / 1e9,
        "duration_s": seconds,
        "partial": once[0]["partial"][row],
        "ramp": once[0]["ramp"][row],
        "iops": _total(cells, "ios", row) / seconds if seconds else 0.0,
        "mb_s": _total(cells, "bytes", row) / seconds / 1e6 if seconds else 0.0,
        "in_flight": _total(once, "in_flight_mean", row),
        "in_flight_max": _total(once, "in_flight_max", row),
    }


def _direction(cells: list[Cell], row: int) -> dict[str, Any]:
    return {name: _total(cells, name, row) for name in _COUNTS} | {
        f"{clock}_ns": {key: _figure(cells, f"{clock}_{name}_ns", row) for name, key in _PERCENTILES.items()}
        for clock in ("service", "response")
    }


def _figure(cells: list[Cell], name: str, row: int) -> int | None:
    """Return a percentile or a maximum; of several streams only the latter: percentiles cannot be added."""
    values = [cell[name][row] for cell in cells]
    return None if len(values) > 1 and "_max_" not in name else max(values) or None


def _total(cells: list[Cell], name: str, row: int) -> Any:  # noqa: ANN401 - as the column
    return sum(cell[name][row] for cell in cells)
