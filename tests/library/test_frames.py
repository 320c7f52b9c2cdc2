"""The library from Python: its tables hold what the manifests do."""

from __future__ import annotations

from pathlib import Path

import pytest

import ssdlab
from lab.synthetic import make_finished_run
from library.made import run
from ssdlab.results import catalogue
from ssdlab.results.run_folder import RunFolder
from ssdlab.results.store import run_folders


@pytest.fixture
def library(tmp_path: Path) -> Path:
    for number in range(20):
        figures = {"a_iops": 100.0 + number, "b_iops": None, "c_p99_ns": 7.5 * number}
        catalogue.add(tmp_path, run(tmp_path, number, figures))
    catalogue.add(tmp_path, make_finished_run(tmp_path, seed=1, seconds=4))
    return tmp_path


def stated(library: Path) -> list[tuple[str, str, float]]:
    """Every figure that the manifests hold."""
    manifests = [RunFolder(folder).manifest for folder in run_folders(library)]
    return sorted(
        (manifest.run_id, figure["name"], figure["value"])
        for manifest in manifests
        for figure in (manifest.result or {})["scalars"]  # type: ignore[union-attr,index]
        if figure["value"] is not None
    )


def test_columns_hold_the_figures_of_the_manifests(library: Path) -> None:
    with ssdlab.library(library, form="numpy") as opened:
        found = opened.figures()
        lines = zip(found["folder"], found["name"], found["value"], strict=True)
        values = found["value"]
        missing = values.mask if hasattr(values, "mask") else [value != value for value in values]
        assert sum(bool(each) for each in missing) == 20
        known = [line for line, gone in zip(lines, missing, strict=True) if not gone]
        assert sorted((str(a), str(b), float(c)) for a, b, c in known) == stated(library)
        assert list(opened.figures("c_p99")["value"]) == [7.5 * number for number in range(20)]
        assert len(opened.runs()["folder"]) == 21
        catalogue.add(library, run(library, 30))
        assert len(opened.runs()["folder"]) == 22, "what is entered meanwhile is there"
        (count,) = opened.sql("SELECT count(*) AS n FROM runs WHERE engine = ?", "sync")["n"]
        assert count == 22


def test_series_are_those_of_the_run(library: Path) -> None:
    folder = next(folder for folder in run_folders(library) if "peak" in folder.name)
    with ssdlab.library(library, form="numpy") as opened:
        found = opened.series(folder.name)
    steps = RunFolder(folder).steps()
    assert len(found["ios"]) == 4 * len(steps)
    first = RunFolder(folder).rows(steps[0].ordinal)
    assert list(found["ios"][:4]) == list(first["ios"])


def test_wrong_names_are_refused(library: Path) -> None:
    with pytest.raises(ssdlab.UsageError, match="no form"):
        ssdlab.library(library, form="excel")
    with ssdlab.library(library, form="numpy") as opened, pytest.raises(ssdlab.UsageError, match="a_iosp"):
        opened.figures("a_iosp")
