"""What stands with the figures of a window that is not steady."""

from __future__ import annotations

from ssdlab.methods.pts.result import SteadyWindow, unproven
from ssdlab.results.drive_states import doubts

HELD = SteadyWindow(what="a", steady=True, fills=2.0)
SHORT = SteadyWindow(what="b", steady=False, fills=0.3)
FAILED = SteadyWindow(what="c", steady=False, fills=2.0)


def test_both_reasons_why_it_could_not_be_judged_are_named() -> None:
    doubted = doubts([1], host="the CPU")
    both = SteadyWindow(what="d", steady=False, fills=0.3, doubts=doubted)
    assert "0.300 drive writes" in both.verdict and "host" in both.verdict
    host = SteadyWindow(what="e", steady=False, fills=2.0, doubts=doubted)
    assert "capacities" not in host.verdict and "host" in host.verdict


def test_a_figure_of_a_window_has_its_verdict_and_its_steps() -> None:
    assert unproven(HELD, [3]) == ()
    (failed,), (short,) = unproven(FAILED, [5, 3]), unproven(SHORT, [3])
    assert failed.code == short.code == "state-unproven" and failed.steps == (3, 5)
    assert failed.why == "steady state NOT ACHIEVED"
    assert short.why == "steady state not assessed: only 0.300 drive writes"
