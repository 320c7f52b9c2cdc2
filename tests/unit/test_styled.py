"""What a command prints can hold words of somebody else: they steer no terminal and forge no line."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ssdlab.cli import output
from ssdlab.model.printable import styled

HOSTILE = "\x1b[2J\x1b]0;title\x07\x9b31m\u202e"


def test_our_own_colours_and_spaces_stay() -> None:
    text = "\x1b[33mwarning:\x1b[0m 1\u202f000 \u2009µs\n\tnext"
    assert styled(text) == text


@given(st.text())
def test_nothing_else_that_is_no_visible_character_stays(text: str) -> None:
    shown = styled(text.replace("\x1b[", ""))
    assert all(each.isprintable() or each in "\n\t\u00a0\u2009\u202f" for each in shown)


@pytest.mark.parametrize("show", [output.print_line, output.say, output.warn])
def test_each_way_of_printing_escapes(show: object, capsys: pytest.CaptureFixture[str]) -> None:
    assert callable(show)
    show(HOSTILE)
    printed = "".join(capsys.readouterr())
    assert "\\x1b[2J\\x1b]0;title\\x07\\x9b31m\\u202e" in printed
    assert not set(HOSTILE) & set(printed) & set("\x1b\x07\x9b\u202e")


def test_a_value_or_a_cell_begins_no_line_of_its_own(capsys: pytest.CaptureFixture[str]) -> None:
    output.print_fields([("drive", "x\nseal  checked")])
    output.print_table([["x\nseal  checked", 1]])
    assert capsys.readouterr().out == "drive  x\\nseal  checked\nx\\nseal  checked  1\n"
