"""What an average over several windows is called."""

from __future__ import annotations

from ssdlab.methods.results.pts_verdict import SteadyWindow, gravest

HELD = SteadyWindow(what="a", steady=True, fills=2.0)
SHORT = SteadyWindow(what="b", steady=False, fills=0.3)
FAILED = SteadyWindow(what="c", steady=False, fills=2.0)


def test_both_reasons_why_it_could_not_be_judged_are_named() -> None:
    both = SteadyWindow(what="d", steady=False, fills=0.3, by_host="the CPU")
    assert "0.300 user capacities" in both.verdict and "host" in both.verdict
    host = SteadyWindow(what="e", steady=False, fills=2.0, by_host="the CPU")
    assert "capacities" not in host.verdict and "host" in host.verdict


def test_a_failed_window_is_not_hidden_by_one_that_could_not_be_judged() -> None:
    assert gravest([HELD, SHORT, FAILED]) == gravest([FAILED, SHORT]) == "steady state NOT ACHIEVED"
    assert gravest([SHORT, HELD]) == "steady state not judged after 0.300 user capacities"
    assert gravest([HELD]) == gravest([]) == ""
