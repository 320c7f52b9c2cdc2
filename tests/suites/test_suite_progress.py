"""How far a suite is told to be: which drive, which part, its live figures, and how long the whole takes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ssdlab.cli import suites
from ssdlab.cli.progress import Left, Place, left_of, live_lines
from ssdlab.cli.watch import _suite_lines
from ssdlab.results.progress import Progress
from ssdlab.results.schema import Child

AT = Progress(
    ordinal=2,
    steps=11,
    verb="run",
    label="depth 4",
    phase="measuring",
    step_elapsed_s=12.0,
    step_least_s=62.0,
    step_most_s=66.0,
    run_elapsed_s=100.0,
    remaining_least_s=300.0,
    remaining_most_s=300.0,
    iops=51_234.0,
    mb_s=209.9,
    p99_ns=140_000,
)
SECONDS = st.just(0.0) | st.floats(1e-9, 1e6)


def test_a_line_names_drive_part_share_and_live_figures() -> None:
    part, whole = live_lines({Place("DC500M 3.84 TB", 3, 6, "steady-random-write"): AT}, [], {})
    assert part.startswith("DC500M 3.84 TB, 3 of 6: steady-random-write: 25 %, depth 4")
    assert "51.2k IOPS" in part and "p99 140 µs" in part
    assert whole.count("left") == 1 and "5 min 00 s" in whole
    assert Place("", 1, 2, "qd1").words == "1 of 2: qd1"
    (bare, _) = live_lines({Place("", 1, 2, "qd1"): replace(AT, iops=None, p99_ns=None, failed=3)}, [], {})
    assert "IOPS" not in bare and "p99" not in bare and "3 failed" in bare
    assert live_lines({}, [1, 2], {}) == (), "nothing tells"


def test_the_same_part_of_another_drive_says_most() -> None:
    took = {1: [10.0], 3: [90.0, 110.0]}
    assert left_of([], [3], took) == Left(100.0, 50.0, 200.0)
    other = left_of([], [2], took)
    assert other is not None and other.best_s == 70.0 and other.max_s > 4 * other.best_s
    assert left_of([AT], [], took) == Left(300.0, 300.0, 300.0)
    assert left_of([AT, AT], [3], took) == Left(350.0, 325.0, 400.0), "two at a time"


@given(
    st.lists(st.tuples(SECONDS, SECONDS, SECONDS), max_size=3),
    st.lists(st.integers(1, 5), max_size=8),
    st.dictionaries(st.integers(1, 5), st.lists(SECONDS, min_size=1, max_size=3)),
)
def test_the_estimate_lies_in_its_range(
    running: list[tuple[float, float, float]], waiting: list[int], took: dict[int, list[float]]
) -> None:
    going = [
        replace(AT, run_elapsed_s=run, remaining_least_s=min(ends), remaining_most_s=max(ends))
        for run, *ends in running
    ]
    left = left_of(going, waiting, took)
    assert (left is None) is not (going or took)
    if left is not None:
        slack = 1 + 1e-9
        assert 0 <= left.min_s <= left.best_s * slack and left.best_s <= left.max_s * slack


class Shown:
    """What a display was given."""

    def __init__(self) -> None:
        self.said: list[str] = []
        self.lines: tuple[str, ...] = ()

    def update(self, lines: tuple[str, ...]) -> None:
        self.lines = lines

    def say(self, text: str) -> None:
        self.said.append(text)

    def close(self) -> None:
        pass


def child(part: str, title: str = "", *, suite: bool = False) -> Child:
    fields: dict[str, Any] = {"version": 1, "params": {}, "quick": True, "seed": 1, "preparation_seed": 1}
    return Child(part=part, run_id=part, method="m", title=title, suite=suite, drive="", state="", **fields)


def test_drives_are_named_and_those_to_come_count(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = Shown()
    monkeypatch.setattr(suites, "display", lambda: shown)
    with suites.SuiteProgress() as progress:
        progress.began(child("drive 1", "simulated Elm E8, 1/64 of its size", suite=True), 1, 2)
        progress.ended(child("a"), 1, 2, already_finished=True)
        progress.began(child("b"), 2, 2)
        progress.look({"b": AT})
        assert shown.lines[0].startswith("Elm E8, 2 of 2: b: ")
        # One that goes on for 400 s in all, and two of another drive that take as long, as far as is known.
        assert left_of([AT], [1, 2], {}) == Left(1100.0, 460.0, 4300.0) and "18 min" in shown.lines[1]
        progress.ended(child("b"), 2, 2, already_finished=False)
    assert not any("drive 1:" in each for each in shown.said)
    assert [each.partition(":")[0] for each in shown.said] == [
        "drive 1 of 2",
        "Elm E8, 1 of 2",
        "Elm E8, 2 of 2",
        "Elm E8, 2 of 2",
    ]


def test_watch_tells_the_same_of_what_lies_in_the_library() -> None:
    def part(status: str, **more: object) -> dict[str, object]:
        return {"run": "", "status": status, "live": None, **more}

    live = AT.as_dict() | {"schema": "any"}
    parts = {
        "Elm E8": part("finished"),
        "Elm E8, a": part("finished", took_s=100.0),
        "Hazel H2": part("running"),
        "Hazel H2, a": part("running", live=live),
        "Hazel H2, b": part("not begun"),
    }
    count, line, whole = _suite_lines(parts)
    assert count == "1 of 3 parts finished"
    assert (line, whole) == live_lines({Place("Hazel H2", 1, 2, "a"): AT}, [2], {1: [100.0]})
