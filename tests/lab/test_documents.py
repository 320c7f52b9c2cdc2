"""The document of runs: its commands are run, its table of steps compared with the code."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import pytest

from machine import forked
from ssdlab.lab.job import VERBS

DOCS = Path(__file__).parents[2] / "docs"


def fenced(text: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


@pytest.mark.long
def test_every_command_shown_works(scratch: Path) -> None:
    text = (DOCS / "runs.md").read_text(encoding="utf-8")
    jobs = fenced(text, "toml")
    if jobs:
        (scratch / "job.toml").write_text(jobs[0])
    environment = {**os.environ, "XDG_DATA_HOME": str(scratch / "data")}
    environment["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{environment['PATH']}"
    commands = [
        line[2:] for block in fenced(text, "console") for line in block.splitlines() if line[:2] == "$ "
    ]
    assert len(commands) >= 3
    for command in commands:
        done = forked.run_line(command, cwd=scratch, env=environment)
        assert done.returncode == 0 and done.stdout, f"{command}\n{done.stderr}"


def test_every_step_of_a_job_is_told() -> None:
    text = (DOCS / "runs.md").read_text(encoding="utf-8")
    told = re.findall(r"^\| `(\w+)` \| ", text.partition("| step | options |")[2], re.MULTILINE)
    assert sorted(told) == sorted(VERBS)
