"""The summary of a suite tells what its figures cannot be read without: heat and the host."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from cli.resolved import legend_of, resolved
from ssdlab.cli import showing_figures, showing_suite
from ssdlab.lab.kinds import ChildOutcome, SuiteResult
from ssdlab.results.claim import Claim
from ssdlab.results.metric import Qualifier
from ssdlab.results.records import StepResult
from ssdlab.results.run_folder import Step
from ssdlab.results.schema import Metric, Warned
from ssdlab.runs.suites.outcome import environment


class _Manifest:
    several_drives = False
    quick = True
    status = "finished"
    warnings = (
        Warned(code="throttled", what="throttled for heat"),
        Warned(code="governor", what="slow"),
    )


class _Part:
    """A run whose every step was throttled in the same words."""

    manifest: Any = _Manifest()

    def steps(self) -> list[Step]:
        warned = (Warned(code="throttled", what="throttled for heat"),)
        result = StepResult(seconds=1.0, measurement={}, warnings=warned)
        return [Step(at, 1, "run", f"depth {at}", {}, result) for at in range(3)]


def test_heat_and_the_host_are_told_of_a_part(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    hosted = (Qualifier(code="host-limited"),)
    scalars = tuple(Metric.more(name, "speed", 1.0, "IOPS", qualifiers=hosted) for name in "abcdef")
    shown = SuiteResult(quick=True, outcomes=(), scalars=scalars)
    monkeypatch.setattr(showing_suite, "read_result", lambda run: shown)
    monkeypatch.setattr(showing_suite, "gathered_departures", lambda manifest: ())
    monkeypatch.setattr("ssdlab.runs.suites.outcome.finished_children", lambda *of: [part])
    monkeypatch.setattr(showing_figures, "ratings_of", lambda run: ())
    monkeypatch.setattr(showing_figures, "read_result", lambda run: shown)
    part: Any = _Part()
    part.manifest.run_id, part.path, part.manifest.children = "r-1", Path("/x"), ()
    outcome = ChildOutcome(part="fill", run_id="r-1", method="m", title="M", state="fresh")
    showing_suite.print_suite(part, SuiteResult(quick=True, outcomes=(outcome,)))
    said = capsys.readouterr().out
    assert "warning: throttled for heat (in 3 of 3 measured steps)" in said
    assert len(re.findall(r"^  speed +1.00 IOPS \(host-limited\)$", resolved(said), re.MULTILINE)) == 6
    assert [each.partition(":")[0] for each in legend_of(said).values()] == ["host-limited"]
    assert "slow" not in said


def test_no_result_cell_is_empty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a mix without the share that is compared the first finding stands there."""
    part: Any = _Part()
    part.manifest.method = type("Method", (), {"name": "mixed-random"})
    lacking = Metric(name="a", label="70/30 mix", value=None, unit="MB/s", better="higher")
    mixes = SuiteResult(quick=True, outcomes=(), scalars=(lacking,))
    monkeypatch.setattr(showing_suite, "read_result", lambda run: mixes)
    kind = type("Kind", (), {"findings": staticmethod(lambda result: [Claim("from 1 to 2 MB/s")])})
    monkeypatch.setattr(showing_suite, "shown_by", lambda result, method: kind)
    assert showing_suite._instead(part) == "From 1 to 2 MB/s."
    kind.findings = staticmethod(lambda result: [])
    assert showing_suite._instead(part) == "no headline figure was measured"


def _metered(**meter: object) -> Any:
    manifest = type("Manifest", (), {"environment": {"meter": meter, "kernel": "6.18"}})()
    return type("Run", (), {"manifest": manifest})()


def test_the_energy_of_a_suite_is_that_of_all_its_parts() -> None:
    one = _metered(use="model", energy_j=45.0, metered_s=22.0, highest_w=3.0)
    other = _metered(use="model", energy_j=547.0, metered_s=261.0, highest_w=2.5, lost_samples=3)
    assert environment([one, other]) == {
        "kernel": "6.18",
        "meter": {
            "use": "model",
            "energy_j": 592.0,
            "metered_s": 283.0,
            "highest_w": 3.0,
            "lost_samples": 3,
        },
    }


def test_the_highest_power_of_a_suite_is_that_over_as_long_as_a_limit() -> None:
    brief = _metered(use="model", energy_j=45.0, metered_s=2.0, highest_w=9.0, highest_over_s=2.0)
    whole = _metered(use="model", energy_j=547.0, metered_s=261.0, highest_w=2.5, highest_over_s=10.0)
    meter = environment([brief, whole])["meter"]
    assert (meter["highest_w"], meter["highest_over_s"]) == (2.5, 10.0)
    shorter = environment([brief, brief])["meter"]
    assert shorter["highest_w"] == 9.0


def test_the_energy_of_a_suite_is_not_told_where_a_part_was_not_metered() -> None:
    one = _metered(use="model", energy_j=45.0, metered_s=22.0, highest_w=3.0)
    assert environment([one, _metered(use="model")])["meter"] == {"use": "model"}
