"""How long the interval rows of a measurement are."""

from __future__ import annotations

from ssdlab.model.units import NS_PER_S

_ROWS_WANTED = 20
_SHORTEST_ROW_NS = 100_000_000


def row_ns(time_ns: int) -> int:
    """Return the length of a row for a measurement of so long: short enough to see it vary."""
    return min(NS_PER_S, max(_SHORTEST_ROW_NS, time_ns // _ROWS_WANTED))
