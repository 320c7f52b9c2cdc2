"""The examples of the documentation are run, and its tables compared with the code they are about.

In ``console`` blocks each line that begins with ``$`` is run as by a shell; errors shown there must be said
word for word, and the exit status is 0 unless an error is shown. ``python`` blocks of a file run one after
the other in one namespace. ``sh`` blocks need a drive and are not run.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from machine import forked
from ssdlab.model import limits

DOCS = Path(__file__).parents[2] / "docs"
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)


class Block(NamedTuple):
    """A fenced block of a file."""

    language: str
    text: str


def blocks(name: str) -> list[Block]:
    return [Block(*match.groups()) for match in BLOCK.finditer((DOCS / name).read_text(encoding="utf-8"))]


@pytest.fixture
def place(scratch: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to run examples in, with the command on the path and a library of its own."""
    monkeypatch.chdir(scratch)
    monkeypatch.setenv("XDG_DATA_HOME", str(scratch / "data"))
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    return scratch


@pytest.mark.long
@pytest.mark.usefixtures("wide")
def test_the_commands_of_measure(place: Path) -> None:
    ran = 0
    for block in blocks("measure.md"):
        if block.language != "console":
            continue
        for example in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
            command, _, shown = example.partition("\n")
            done = forked.run_line(command, cwd=place, timeout=60)
            ran += 1
            if shown.startswith("ssdlab: "):
                assert done.returncode == 2, command
                assert done.stderr == shown
            else:
                assert done.returncode == 0, f"{command}\n{done.stderr}"
                assert shape(done.stdout).startswith(shape(shown)), command
    assert ran >= 8
    assert (place / "result.json").stat().st_size > 0


def shape(output: str) -> str:
    """The words of an output without paths, numbers and units: what does not vary from run to run."""
    never_late = re.sub(r",\s+\S+ late\b", "", output)
    without_paths = re.sub(r"/\S+", "PATH", never_late)
    lines = [
        re.sub(r"(?<![\w.])[\d.]+k?M?( [nµm]?s| [kMG]B(/s)?)?|(?<= )-(?= |$)", "", line)
        for line in without_paths.splitlines()
    ]
    return "\n".join(" ".join(line.split()) for line in lines)


def test_the_examples_of_python(place: Path) -> None:
    texts = [block.text for block in blocks("python.md") if block.language == "python"]
    assert len(texts) >= 7
    script = place / "examples.py"
    script.write_text("\n".join(texts), encoding="utf-8")
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=110, check=False)
    assert done.returncode == 0, done.stderr
    assert "engine sync has one I/O in flight per thread, not 8" in done.stdout


def rows_of(name: str, heading: str) -> list[str]:
    section = (DOCS / name).read_text(encoding="utf-8").split(f"\n## {heading}\n")[1].split("\n## ")[0]
    return [line for line in section.splitlines() if line.startswith("| `")]


def test_the_limits_of_the_document_are_those_that_hold() -> None:
    page = " ".join((DOCS / "measure.md").read_text(encoding="utf-8").split())
    for value in (
        f"more than {limits.STEPS:,} steps",
        f"over {limits.DOCUMENT_BYTES >> 20} MiB",
        f"over {limits.SIZE_BYTES >> 60} EiB",
        f"over {limits.DURATION_NS // 10**9 // 86400} days",
        f"over {limits.RATE_A_SECOND:,} a second",
    ):
        assert value in page


def test_the_errors_of_the_document_are_those_of_the_package() -> None:
    import ssdlab

    rows = [re.findall(r"`(\w+)` \| (\d+)", row) for row in rows_of("python.md", "Errors")]
    told = {name: int(status) for ((name, status),) in rows}
    errors = {name: getattr(ssdlab, name) for name in ssdlab.__all__}
    ours = {
        name: value.exit_status
        for name, value in errors.items()
        if isinstance(value, type) and issubclass(value, ssdlab.LabError) and value is not ssdlab.LabError
    }
    assert told == ours


@pytest.mark.parametrize(("page", "at_least"), [("simulated.md", 3), ("library.md", 10), ("fio-jobs.md", 3)])
@pytest.mark.long
def test_the_commands_of_pages_that_need_no_drive(place: Path, page: str, at_least: int) -> None:
    examples = [
        line[2:]
        for block in blocks(page)
        if block.language == "console"
        for line in block.text.splitlines()
        if line.startswith("$ ")
    ]
    assert len(examples) >= at_least
    for block in blocks(page):
        if block.language == "ini":  # its first line names the file
            (place / block.text.partition("\n")[0].removeprefix("; ")).write_text(block.text)
    for command in examples:
        done = forked.run_line(command, cwd=place, timeout=60)
        assert done.returncode == 0, f"{command}\n{done.stderr}"


@pytest.mark.long
def test_the_commands_of_power(place: Path) -> None:
    examples = [
        example.partition("\n")
        for block in blocks("power.md")
        if block.language == "console"
        for example in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]
    ]
    assert len(examples) >= 3
    for command, _, shown in examples:
        done = forked.run_line(command, cwd=place, timeout=60)
        assert done.returncode == 0, f"{command}\n{done.stderr}"
        assert done.stdout == shown, command
    assert "efficiency" in (place / "result.txt").read_text()
    assert "mean_w" in (place / "watts.txt").read_text()


@pytest.mark.long
def test_the_examples_of_telemetry(place: Path) -> None:
    commands = [
        line[2:]
        for block in blocks("telemetry.md")
        if block.language == "console"
        for line in block.text.splitlines()
    ]
    assert len(commands) == 3
    for command in commands:
        done = forked.run_line(command, cwd=place, timeout=60)
        assert done.returncode == 0, f"{command}\n{done.stderr}"
    (script,) = (block.text for block in blocks("telemetry.md") if block.language == "python")
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) >= 1
    assert (place / "page.html").exists()


def test_every_mark_is_told() -> None:
    from typing import get_args

    from ssdlab.model.telemetry import MarkCode

    told = (DOCS / "telemetry.md").read_text(encoding="utf-8").split("\n## Marks\n")[1].split("\n## ")[0]
    codes = set(get_args(MarkCode))
    assert codes & set(re.findall(r"`([a-z-]+)`", told)) == codes
