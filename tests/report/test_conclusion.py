"""By how much a drive is ahead, whose ratings are no finding, and who does most for its watts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from report.test_ranks import swept
from ssdlab.drives.ratings import Rated
from ssdlab.report.runs import shown
from ssdlab.report.sections import conclusion, efficiency
from ssdlab.report.sections.conclusion import CIRCULAR

Make = Callable[..., Path]


@pytest.mark.parametrize(
    ("better", "values", "text"),
    [
        ("higher", (200.0, 100.0), "2.00 times as much"),
        ("higher", (110.0, 100.0), "10.0 % more"),
        ("lower", (80.0, 100.0), "20.0 % less"),
    ],
)
def test_a_lead_is_told_against_the_next(better: str, values: tuple[float, ...], text: str) -> None:
    places = tuple(SimpleNamespace(value=each) for each in values)
    standing: Any = SimpleNamespace(better=better, ranked=places)
    assert conclusion._lead(standing, places[:1]) == text  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", ["sim", "block"])
def test_ratings_of_a_simulated_drive_are_called_circular_once_and_compared_nowhere(
    make_run: Make, kind: str
) -> None:
    rated = (Rated(metric="random_read_iops", value=99e3, source="x"),)
    runs = []
    for at in range(2):
        run = swept(make_run, at, iops=100_000.0 * (at + 1))
        identity = {**run.manifest.drive.identity, "kind": kind}
        drive = run.manifest.drive.model_copy(update={"kind": kind, "identity": identity})
        runs.append(replace(run, manifest=run.manifest.model_copy(update={"ratings": rated, "drive": drive})))
    section = conclusion.section(shown(runs))
    assert section is not None
    circular = kind == "sim"
    assert section.lead.count(CIRCULAR) == int(circular)
    captions = [table.caption for each in section.exhibits for table in each.tables]
    assert ("Results and ratings" in captions) is not circular
    assert any(" met within" in str(each) for each in section.lead) is not circular


def worked(name: str, value: float, group: str = "random read", figure: Any = None) -> Any:
    return SimpleNamespace(
        shown=SimpleNamespace(style=SimpleNamespace(short=name)),
        group=group,
        view="",
        found=SimpleNamespace(value=value, unit="kIOPS/W"),
        both=(SimpleNamespace(figure=figure),),
    )


def test_efficiency_names_best_and_last_of_each_workload(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(efficiency, "error_share", lambda each: 0.02)
    unfit = SimpleNamespace(value=1.0, unfit=lambda use: ("state-unproven",))
    drives = [worked("A", 5.0), worked("B", 9.0), worked("C", 9.1), worked("D", 1.0, figure=unfit)]
    (text,) = efficiency._ends(drives)
    best, last = text.split("last")
    assert "C and B" in best and "9.10 kIOPS/W" in best
    assert "A (5.00 kIOPS/W)" in last and "D" not in text
    assert not list(efficiency._ends(drives[1:3])), "level to what their meters may be off by"
