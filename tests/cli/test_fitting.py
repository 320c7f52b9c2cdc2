"""Tables on terminals narrower than they are."""

from __future__ import annotations

import pytest

from ssdlab.cli.fitting import fitted
from ssdlab.cli.output import table

TITLES = ("run", "begun", "drive", "identifier", "tags")
ROWS = [
    ("20261125-1659-qd1-y20vh9", "2026-11-25 16:59", "simulated drive of a long name", "sim:long", ""),
    ("20261124-0800-qd1-a1b2c3", "2026-11-24 08:00", "short", "sim:short", ""),
]


@pytest.mark.parametrize(
    ("width", "titles", "drives"),
    [
        (92, TITLES, ["simulated drive of a long name", "short"]),
        (91, TITLES[:4], ["simulated drive of a long name", "short"]),
        (70, ("run", "drive", "identifier"), ["simulated drive of a long name", "short"]),
        (56, ("run", "drive"), ["simulated drive of a long name", "short"]),
        (40, ("run", "drive"), ["simulated dri…", "short"]),
        (37, ("run", "drive"), ["simulated…", "short"]),
        (10, ("run", "drive"), ["simulat…", "short"]),
    ],
)
def test_what_is_said_twice_goes_first_and_then_the_ends(
    width: int, titles: tuple[str, ...], drives: list[str]
) -> None:
    rows, kept = fitted(ROWS, TITLES, width, spared=("begun", "identifier"), shortened=("drive", "tags"))
    assert kept == titles
    assert [row[kept.index("drive")] for row in rows] == drives
    if width >= 37:
        assert max(map(len, table(rows, kept))) <= width


def test_the_longest_is_shortened_first_and_all_alike() -> None:
    rows, _ = fitted([("a" * 20, "b" * 30)], ("one", "two"), 26, spared=(), shortened=("one", "two"))
    assert [len(cell) for cell in rows[0]] == [12, 12]
