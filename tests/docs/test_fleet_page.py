"""docs/fleet.md: its selection is read whole, and its commands carry out a plan."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import pytest

from machine import forked
from ssdlab.cli.commands import COMMANDS
from ssdlab.fleet.selection import Drives, Limits, Selection, Work, parse_selection

PAGE = (Path(__file__).parents[2] / "docs" / "fleet.md").read_text(encoding="utf-8")


def block(language: str, number: int = 0) -> str:
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)[number]


def test_the_selection_shows_every_option() -> None:
    selection = parse_selection(block("toml"), "fleet.md")
    assert selection.name == "nightly"
    words = set(re.findall(r"^([\w-]+) = ", block("toml"), re.MULTILINE))
    for model in (Drives, Work, Limits):
        named = {field.alias or name for name, field in model.model_fields.items()}
        assert named <= words, f"docs/fleet.md does not show {sorted(named - words)}"
    assert words <= {"name", "golden"} | {
        field.alias or name for model in (Drives, Work, Limits) for name, field in model.model_fields.items()
    }
    assert Selection.model_fields.keys() == {"name", "golden", "drives", "work", "limits"}


@pytest.mark.long
def test_the_commands_do_what_the_page_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    (tmp_path / "selection.toml").write_text(block("toml", 1))
    shown = ""
    for command in re.findall(r"^\$ (.+)$", block("console"), re.MULTILINE):
        done = forked.run_line(command, cwd=tmp_path)
        assert done.returncode == 0, f"{command}\n{done.stderr}"
        shown += done.stdout
    assert "destroy: the data of 2 drives will be lost:" in shown
    assert "2 jobs: 2 finished" in shown


def test_the_table_has_every_command() -> None:
    table = PAGE[PAGE.index("| command |") : PAGE.index("## Which drives")]
    for name in COMMANDS:
        group, _, word = name.partition(" ")
        if group == "fleet" and word != "job":
            assert re.search(rf"`(ssdlab fleet )?{word}\b", table), word
