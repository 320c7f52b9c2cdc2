"""The documents of runs and methods: their commands are run, their tables compared with the code."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import pytest

from machine import forked
from ssdlab.cli.methods import _value
from ssdlab.lab.folders import REGISTRY
from ssdlab.lab.found import all_methods
from ssdlab.lab.job import VERBS

DOCS = Path(__file__).parents[2] / "docs"


def fenced(text: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("name", ["runs.md", "methods.md"])
@pytest.mark.long
def test_every_command_shown_works(scratch: Path, name: str) -> None:
    text = (DOCS / name).read_text(encoding="utf-8")
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


def test_the_methods_are_told_as_they_are() -> None:
    text = (DOCS / "methods.md").read_text(encoding="utf-8")
    assert re.findall(r"^## (\S+)$", text, re.MULTILINE) == list(REGISTRY)
    plain = " ".join(text.replace("**", "").split())
    for method in all_methods():
        section = text.partition(f"\n## {method.name}\n")[2].partition("\n## ")[0]
        rows = re.findall(r"^\| `(\w+)` \| (.*?) \| (.*?) \| (.*?) \|$", section, re.MULTILINE)
        expected = []
        for each in method.info().parameters:
            unit = f" {each.unit}" if each.unit else ""
            quick = f"{_value(each.quick)}{unit}" if each.quick != each.default else ""
            expected.append((each.name, f"{_value(each.default)}{unit}", quick, each.reason))
        assert rows == expected
        for paragraph in method.prose.split("\n\n")[1:]:
            first, *rest = paragraph.splitlines()
            assert f"{first}. {' '.join(' '.join(rest).split())}" in plain


def test_every_step_of_a_job_is_told() -> None:
    text = (DOCS / "runs.md").read_text(encoding="utf-8")
    told = re.findall(r"^\| `(\w+)` \| ", text.partition("| step | options |")[2], re.MULTILINE)
    assert sorted(told) == sorted(VERBS)
