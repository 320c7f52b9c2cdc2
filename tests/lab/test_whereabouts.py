"""Steps of a run are found in its plan, which counts the longest way."""

from __future__ import annotations

from ssdlab.lab.verbs.resting import Idle
from ssdlab.lab.verbs.steps import Request
from ssdlab.lab.verbs.verb import Bounds
from ssdlab.results.progress import Progress
from ssdlab.runs.plan import Plan, PlannedStep
from ssdlab.runs.tracking import Tracker, Whereabouts

POINTS = ("depth 1", "depth 2", "depth 1 again", "depth 2 again", "verify")


def planned(*names: str, longest: bool = True) -> list[PlannedStep]:
    """Steps of one second each, of which those that are called "again" or a try may be left out."""
    found: list[PlannedStep] = []
    for name in names:
        least = 0.0 if longest and ("again" in name or "offered" in name) else 1.0
        found.append(
            PlannedStep(len(found), "idle", name, Bounds(least, 1.0), Bounds(0.0, 0.0), None, overhead_s=0.0)
        )
    return found


def request(ordinal: int, label: str) -> Request:
    return Request(ordinal, label, Idle(seconds=1.0), "restart")


def places(steps: list[PlannedStep], *labels: str) -> list[int | None]:
    whereabouts = Whereabouts(steps)
    return [whereabouts.find(request(ordinal, label)) for ordinal, label in enumerate(labels)]


def test_a_step_behind_some_that_were_left_out_is_found() -> None:
    assert places(planned(*POINTS), "depth 1", "depth 2", "verify") == [0, 1, 4]
    assert places(planned(*POINTS), "depth 1", "depth 2", "depth 2 again", "verify") == [0, 1, 3, 4]


def test_nothing_that_is_certain_is_passed_over() -> None:
    assert places(planned("a", "b", "c"), "a", "c", "b", "c") == [0, None, 1, 2]


def test_a_try_of_a_search_stands_for_the_next_of_its_plan() -> None:
    steps = planned("100 offered", "200 offered", "400 offered", "verify")
    assert places(steps, "150 offered", "190 offered", "verify") == [0, 1, 3]


def test_a_step_asked_for_again_keeps_its_place_until_the_procedure_restarts() -> None:
    whereabouts = Whereabouts(planned(*POINTS))
    first, last = request(0, "depth 1"), request(1, "depth 2")
    assert [whereabouts.find(each) for each in (first, last, last, first)] == [0, 1, 1, 0]
    assert whereabouts.past == 2
    whereabouts.restart()
    assert whereabouts.find(first) == 0
    assert whereabouts.past == 1


def test_no_time_is_left_behind_the_last_step_when_points_were_left_out() -> None:
    """The plan's points "again" once stood for the last steps, which were then said to be still to come."""

    class Seen:
        last: Progress

        def began(self, progress: Progress) -> None:
            self.last = progress

        def finished(self, step: object, progress: Progress, *, read_back: bool) -> None: ...

    seen = Seen()
    tracker = Tracker(Plan(tuple(planned(*POINTS))), [seen])  # type: ignore[list-item]
    for ordinal, label in enumerate(("depth 1", "depth 2", "verify")):
        tracker.began(request(ordinal, label))
    assert (seen.last.ordinal, seen.last.steps) == (2, 3), "numbered as its journal and its warnings are"
    assert 0.5 < seen.last.remaining_least_s <= 1.0
