"""The notebook of the library is run, cell by cell, and what it shows is what the manifests hold."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from ssdlab.drives.simulated.profiles import check_profile
from ssdlab.results.run_folder import RunFolder
from ssdlab.results.store import run_folders

pytestmark = pytest.mark.long

NOTEBOOK = Path(__file__).parents[2] / "docs" / "library.ipynb"


def cells() -> list[dict[str, Any]]:
    notebook = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    return notebook["cells"]


def executed() -> dict[str, Any]:
    """What is defined after all cells have run in one namespace, as a notebook's kernel runs them."""
    namespace: dict[str, Any] = {"__name__": "__main__"}
    for cell in cells():
        if cell["cell_type"] == "code":
            exec(compile("".join(cell["source"]), f"{NOTEBOOK.name}:{cell['id']}", "exec"), namespace)
    return namespace


def test_the_notebook_is_stored_without_outputs() -> None:
    code = [cell for cell in cells() if cell["cell_type"] == "code"]
    assert len(code) >= 4 and len({cell["id"] for cell in cells()}) == len(cells())
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in code)


def test_twenty_drives_five_figures_one_picture(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    found = executed()
    manifests = [RunFolder(folder).manifest for folder in run_folders(tmp_path / "twenty-drives")]
    assert len({manifest.drive.id for manifest in manifests}) == len(manifests) == 20
    names = found["FIGURES"]
    assert len(names) == 5
    stated = {
        (manifest.drive.name, figure["name"]): figure["value"]
        for manifest in manifests
        for figure in (manifest.result or {})["scalars"]  # type: ignore[union-attr,index]
        if figure["name"] in names
    }
    table = found["table"]
    assert table.shape == (20, 5) and len(stated) == 100
    assert {(drive, name): table.at[drive, name] for drive in table.index for name in table} == stated
    for line in found["best"].itertuples():
        values = sorted(value for (_, name), value in stated.items() if name == line.name)
        best = values[0] if line.name.endswith("_ns") else values[-1]
        assert (line.best, line.middle) == (best, (values[9] + values[10]) / 2)
        assert stated[line.drive, line.name] == best
    values = sorted((value for (_, name), value in stated.items() if name == names[0]), reverse=True)
    ranking, sides = found["ranking"], found["measured"].summary().sides
    assert [line.value for line in ranking.lines] == values[:5]
    assert all(line.drive_name in ranking._repr_html_() for line in ranking.lines)
    counted = {line.direction: (line.ios, line.max_ns) for line in found["intervals"].itertuples()}
    assert counted == {name: (side.ios, side.service_ns["max"]) for name, side in sides.items()}
    (picture,) = (tmp_path / "pictures").iterdir()
    words = "".join(ElementTree.parse(picture).getroot().itertext())
    names = {check_profile(each)["profile"]["name"] for each in found["PROFILES"]}
    assert all(name in words for name in names)
