"""The help of every command at usual widths: wrapped once, and options that say what they take."""

from __future__ import annotations

import itertools
import re
import subprocess
import sys
from collections.abc import Iterator

import pytest

from ssdlab.cli import flags, main
from ssdlab.cli.commands import COMMANDS, GROUPS

EVERY = ["", *GROUPS, *COMMANDS]
BORDER = "│"
DEEPEST_NAME = 5
"""Column in which a name of a table stands at the furthest: behind the mark of what is required."""


def help_of(
    name: str, width: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> str:
    monkeypatch.setenv("COLUMNS", str(width))
    assert main([*name.split(), "--help"]) == 0
    return capsys.readouterr().out


def pairs_of_lines(text: str) -> Iterator[tuple[str, str, int]]:
    """Each line of running text with the line that goes on with it, and the room that it had."""
    width = max(map(len, text.splitlines()))
    for line, after in itertools.pairwise(text.splitlines()):
        if line.startswith(BORDER) and after.startswith(BORDER):
            column = len(after) - len(after[1:].lstrip())
            if column > DEEPEST_NAME:  # a description that goes on
                yield line[column:-1].strip(), after[1:-1].strip(), width - column - len(" │")
        elif line.strip() and after.strip() and not {line[0], after[0]} & set("╭╰│"):
            yield line.strip(), after.strip(), width


@pytest.mark.parametrize("width", [80, 120])
@pytest.mark.parametrize("name", EVERY)
@pytest.mark.long
def test_text_is_wrapped_once(
    name: str, width: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = help_of(name, width, monkeypatch, capsys)
    assert max(map(len, text.splitlines())) <= width
    for line, after, room in pairs_of_lines(text):
        first = after.split()[0]
        assert len(line) + 1 + len(first) > room, f"{first!r} would have fitted after {line!r}"


@pytest.mark.parametrize("name", EVERY)
def test_options_say_what_they_take(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = help_of(name, 120, monkeypatch, capsys)
    assert re.findall(r"--[a-z-]+(?: -\w)? (?:STR|INT|FLOAT)\b", text) == []
    assert "[default: ]" not in text
    assert "`" not in text or name in ("", *GROUPS)


@pytest.mark.parametrize("name", ["run", "plan", "measure", "job"])
def test_every_option_of_a_long_help_stands_under_a_heading(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    headings = re.findall(r"^╭─ (.+?) ─", help_of(name, 120, monkeypatch, capsys), re.MULTILINE)
    assert "Parameters" not in headings and len(headings) == len(set(headings)) > 3
    assert headings[1:] == [each for each in flags._HEADINGS if each in headings]


def test_an_option_has_one_heading() -> None:
    words = " ".join(flags._HEADINGS.values()).split()
    assert len(words) == len(set(words))


def test_the_list_of_commands_costs_no_reader_of_markup() -> None:
    code = "import sys; from ssdlab.cli import main; main(['--help']); print('markdown_it' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "False"


@pytest.mark.parametrize("command", ["run", "plan"])
def test_help_behind_a_method_is_of_the_method(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    for words in (["--help"], ["sim:tiny-test", "--quick", "-h"]):
        assert main(["methods", "qd1"]) == 0
        own = capsys.readouterr().out
        assert main([command, "qd1", *words]) == 0
        shown = capsys.readouterr().out
        assert shown.startswith(own) and f"All options: ssdlab {command} --help" in shown
    assert main([command, "qd2", "--help"]) == 2
    assert "there is no method 'qd2'" in capsys.readouterr().err
    assert main([command, "--help"]) == 0
    assert f"Usage: ssdlab {command}" in capsys.readouterr().out
