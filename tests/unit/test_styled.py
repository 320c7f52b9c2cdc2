"""What a command prints can hold words of somebody else: they steer no terminal and forge no line."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ssdlab.cli import output
from ssdlab.cli.progress import LiveDisplay
from ssdlab.model.printable import in_style, styled


class Terminal(io.StringIO):
    encoding = "utf-8"  # type: ignore[assignment]

    def isatty(self) -> bool:
        return True


HOSTILE = "\x1b[2J\x1b]0;title\x07\x9b31m\u202e"


def test_our_own_colours_and_spaces_stay() -> None:
    text = f"{in_style('warning:', 33)} 1\u202f000 \u2009µs\n\tnext"
    assert styled(text) == "\x1b[33mwarning:\x1b[0m 1\u202f000 \u2009µs\n\tnext"


@given(st.text())
def test_nothing_else_that_is_no_visible_character_stays(text: str) -> None:
    shown = styled(text)
    assert all(each.isprintable() or each in "\n\t\u00a0\u2009\u202f" for each in shown)


@pytest.mark.parametrize("code", range(108))
def test_a_colour_in_somebody_else_s_words_is_none_of_ours(code: int) -> None:
    """In the midst of our own as well, and whatever the words are."""
    for theirs in (f"\x1b[{code}mRED", f"\x1b[0;{code}mRED", f"\x1b[{16 * '0'};{code}mRED"):
        assert styled(theirs).count("\x1b") == 0
        assert styled(in_style(theirs, 1)).count("\x1b") == 2


def test_no_way_to_a_terminal_lets_a_label_colour_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Line, table, fields, talk and the live display, on a terminal with colours."""
    from rich.console import Console

    written = Terminal()
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setattr("sys.stdout", written)
    monkeypatch.setattr("sys.stderr", written)
    label = "\x1b[31mRED\x1b[0m\x1b[1m"
    output.print_line(f"{output.paint(label, 'bold')} {label}", "dim")
    output.print_table([[label, output.paint("<", "accent")]], [label, "figure"])
    output.print_fields([(label, label)])
    output.say(label)
    output.warn(label, label)
    display = LiveDisplay(Console(file=written, force_terminal=True, width=200, highlight=False))
    display.update((f"step {label}",))
    display.say(label)
    display.close()
    text = written.getvalue()
    assert text.count("\\x1b[31mRED") >= 9 and "\x1b[31mRED" not in text
    assert "\x1b[0m\x1b[1m" not in text


def test_our_own_styles_take_no_room_in_a_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(output, "on_terminal", lambda stream=None: True)
    monkeypatch.delenv("NO_COLOR", raising=False)
    lines = output.table([["a " + output.paint("<", "accent"), 1], ["bcd", 22]], right=(1,))
    assert [styled(line) for line in lines] == ["a \x1b[36m<\x1b[0m   1", "bcd  22"]


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
