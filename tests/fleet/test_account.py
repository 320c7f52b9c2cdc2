"""The page accounts for every drive of a plan."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fleet.unlike_drives import MODEL, make_drives
from ssdlab.library.index import Index

pytestmark = pytest.mark.long

SELECTION = """
[[drives]]
model = "unlike"
[[work]]
run = "steady-random-write"
quick = true
precondition = "analytic"
set = { depths = "32", seconds = "300ms", least_seconds = "500ms", most_seconds = "2s" }
"""


def test_every_drive_of_a_plan_has_its_row(ssdlab: Callable[..., Any], library: Path, tmp_path: Path) -> None:
    texts = make_drives(tmp_path, 6)
    place = ("--library", str(library))
    words = [word for text in texts for word in ("--simulated", text)]
    assert ssdlab("fleet", "inventory", *place, "--rack", "r4", *words).returncode == 0
    (tmp_path / "selection.toml").write_text(SELECTION)
    assert ssdlab("fleet", "plan", "selection.toml", *place, "-o", "plan.json").returncode == 0
    plan = json.loads((tmp_path / "plan.json").read_text())
    refused = plan["jobs"][0]
    (library / refused["run_id"]).mkdir()  # in the way of one
    done = ssdlab("fleet", "run", "plan.json", "--backend", "local", "--destroy-all", "6")
    assert done.returncode == 3, done.stderr
    (library / refused["run_id"]).rmdir()
    # Where they hang now says nothing of where they were measured.
    assert ssdlab("fleet", "inventory", *place, "--rack", "r9").returncode == 0
    made = ssdlab("fleet", "report", "-o", "page.html", "--plan", "last", *place, "--json")
    assert made.returncode == 0, made.stderr
    document = json.loads(made.stdout)
    assert MODEL in document["model"]
    counts = document["plan"]
    assert counts["refused"] == 1 and counts["with a figure"] >= 3 and sum(counts.values()) == 6
    page = (tmp_path / "page.html").read_text()
    assert all(f">{job['serial']}<" in page for job in plan["jobs"])
    rows = re.findall(r"<tr>(.*?)</tr>", page[page.index('id="plan"') :], re.DOTALL)
    without = [row for row in rows if ">without a figure<" in row]
    assert all(re.search(r"steady|state|fresh", row.rpartition("<td")[2]) for row in without), without
    assert "already exists" in page, "why it has no figure"
    with Index(library) as index:
        assert index.ask("SELECT DISTINCT rack, host FROM runs") == [("r4", "n1")]
