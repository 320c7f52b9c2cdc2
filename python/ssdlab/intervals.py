"""The interval rows of a measurement as plain objects, for JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ssdlab.measurement import Columns, Direction, Measurement

_COUNTS = ("ios", "failed", "dropped", "late", "bytes")
_PERCENTILES = {"p50": "p50", "p99": "p99", "p99_9": "p99.9", "max": "max"}
"""Name in the columns, and in the contract's JSON."""


def as_dicts(measurement: Measurement) -> list[dict[str, Any]]:
    """Return one object per interval, in order; `Measurement.report` says what is in it."""
    summary = measurement.summary()
    directions: list[Direction] = [name for name in _directions() if summary[name] is not None]
    whole = _listed(measurement.rows())
    parts = {name: _listed(measurement.rows(direction=name)) for name in directions}
    return [
        _interval(whole, row) | {name: _direction(columns, row) for name, columns in parts.items()}
        for row in range(len(whole["index"]))
    ]


def _directions() -> tuple[Direction, ...]:
    from ssdlab.measurement import DIRECTIONS

    return DIRECTIONS


def _listed(columns: Columns) -> dict[str, list[Any]]:
    return {name: column.tolist() for name, column in columns.items()}


def _interval(columns: dict[str, list[Any]], row: int) -> dict[str, Any]:
    seconds = columns["duration_ns"][row] / 1e9
    return {
        "start_s": columns["start_ns"][row] / 1e9,
        "duration_s": seconds,
        "partial": bool(columns["partial"][row]),
        "ramp": bool(columns["ramp"][row]),
        "iops": columns["ios"][row] / seconds if seconds else 0.0,
        "mb_s": columns["bytes"][row] / seconds / 1e6 if seconds else 0.0,
        "in_flight": columns["in_flight_mean"][row],
        "in_flight_max": columns["in_flight_max"][row],
    }


def _direction(columns: dict[str, list[Any]], row: int) -> dict[str, Any]:
    return {name: columns[name][row] for name in _COUNTS} | {
        f"{clock}_ns": {
            key: columns[f"{clock}_{name}_ns"][row] or None if f"{clock}_{name}_ns" in columns else None
            for name, key in _PERCENTILES.items()
        }
        for clock in ("service", "response")
    }
