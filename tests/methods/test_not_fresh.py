"""Figures that begin with a purged drive say where it was not purged, each for itself."""

from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import Path

import pytest

from methods.on_simulated import quick_run
from ssdlab.lab.outcome import read_result
from ssdlab.results.earlier import as_of_now
from ssdlab.results.records import StepResult
from ssdlab.results.schema import ResultBase
from ssdlab.runs.step_executor import StepExecutor

Unpurged = Callable[..., ResultBase]
METERED = "sim:nvme-tlc-client,scale=128"
"""It accounts for its power: a quick trim-validation judges nothing, and has figures of that alone."""
BEGIN_FRESH = {"whole-drive-fill": "fill", "consistency": "consistency", "trim-validation": "trim"}


@pytest.fixture
def unpurged(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Unpurged:
    """A quick run whose purges, of these numbers among them, were none, as on a drive that has no purge."""
    act = StepExecutor.act

    def run(name: str, missed: Collection[int]) -> ResultBase:
        count = 0

        def acted(self: StepExecutor, request: object, *more: object) -> StepResult:
            nonlocal count
            result = act(self, request, *more)
            if request.verb != "purge":
                return result
            count += 1
            facts = {**result.facts, "purged": False}
            return result.model_copy(update={"facts": facts}) if count in missed else result

        monkeypatch.setattr(StepExecutor, "act", acted)
        found = read_result(quick_run(name, tmp_path / f"{name}-{len(missed)}", METERED))
        assert found is not None and found.scalars
        return found

    return run


def marked(result: ResultBase) -> list[str]:
    return [each.name for each in result.scalars if "not-fresh" in each.codes]


@pytest.mark.parametrize("name", BEGIN_FRESH)
def test_all_figures_of_a_drive_that_was_never_purged_are_marked(unpurged: Unpurged, name: str) -> None:
    result = unpurged(name, range(9))
    assert marked(result) == [each.name for each in result.scalars]
    assert all(figure.unfit("ratings") for figure in result.scalars)
    assert marked(unpurged(name, ())) == []


def test_of_several_amounts_of_spare_only_those_that_were_not_purged(unpurged: Unpurged) -> None:
    names = marked(unpurged("consistency", [2]))
    assert names and all("_spare_" in name for name in names)
    names = marked(unpurged("consistency", [1]))
    assert names and all("_stock_" in name for name in names)


@pytest.mark.parametrize("kind", BEGIN_FRESH.values())
@pytest.mark.parametrize("purged", [True, False])
def test_results_of_an_earlier_version_are_marked_likewise(kind: str, purged: bool) -> None:
    figure = {"name": "a", "label": "a", "value": 1.0, "unit": "%", "better": "higher"}
    read = as_of_now({"kind": kind, "purged": purged, "scalars": [figure]})
    assert read is not None
    ((found,),) = [read["scalars"]]
    assert [each["code"] for each in found.get("qualifiers", [])] == ([] if purged else ["not-fresh"])
