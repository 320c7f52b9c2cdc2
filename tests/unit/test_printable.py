"""Names that others chose, on a terminal and in a shell."""

from __future__ import annotations

import re
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from ssdlab.drives.guard.judge import DeviceFacts, Intent, Use, judge_device
from ssdlab.host.openers import Opener
from ssdlab.model.errors import LabError
from ssdlab.model.printable import in_markdown, printable, quoted, shell_word, styled

HOSTILE = [
    "plain",
    "two words",
    "it's",
    "a\nssdlab: all is well",
    "\x1b[2J\x1b]0;title\x07",
    "$(touch /tmp/forged)`id`",
    "back\\slash'\nand 'more",
    "left\u202eright",
    "-rf",
    "wide\u2003blank\u2028line",
    b"\xff\xfe".decode("utf-8", "surrogateescape"),
    "€ ünï",
]


@pytest.mark.parametrize("name", HOSTILE)
def test_shown_on_one_line_without_control_characters(name: str) -> None:
    shown = printable(name)
    assert shown.isprintable()
    shown.encode()
    assert printable("a name of 30 € per copy") == "a name of 30 € per copy"


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("words", [quoted, shell_word])
def test_a_shell_takes_it_for_that_one_word(name: str, words) -> None:
    script = f"printf '%s\\0' {words(name)}"
    assert script.isprintable()
    done = subprocess.run(["bash", "-c", script], capture_output=True, check=True)
    assert done.stdout == name.encode("utf-8", "surrogateescape") + b"\0"


@pytest.mark.parametrize("name", HOSTILE)
def test_errors_and_refusals_show_it_so(name: str) -> None:
    error = LabError(f"{name} is wrong", f"mend {name}")
    assert error.what.isprintable()
    assert error.advice.isprintable()
    facts = DeviceFacts("/dev/sda", "sda", "sda", "ID", openers=(Opener(7, name, True),))
    refusal = judge_device(facts, Intent())
    mounted = judge_device(DeviceFacts("/dev/sda", "sda", "sda", "ID", mounts=(Use("sda", name),)), Intent())
    assert refusal is not None
    assert refusal.what.isprintable()
    assert mounted is not None
    assert mounted.advice == f"unmount it first: umount {shell_word(name)}"


def test_runs_of_blanks_stay_in_a_name() -> None:
    error = LabError("what", "--destroy 'two  blanks'")
    assert error.advice == "--destroy 'two  blanks'"
    assert LabError("one\n  line\tmore", "").what == "one line more"


MARKED = [
    "# a",
    "+ a",
    "1. a",
    "12) a",
    "- a",
    "*a* _a_ ~~a~~ `a`",
    "a_b_c",
    "![a](b)",
    "<a href='b'>",
    "&lt;",
]
MARKED += [
    "https://a.example",
    "www.a.example",
    "a | b",
    "||",
    "\\",
    "a\\",
    "\n\n# a",
    "    a",
    "---",
    "=",
    "> a",
]


@given(st.one_of(st.text(), st.sampled_from(MARKED), st.text(alphabet="#+-=*_`[]()<>|~&$!:/\\.aw1 \n")))
def test_markdown_shows_what_is_said_and_nothing_else(said: str) -> None:
    """Held against a parser of CommonMark with GitHub's tables."""
    parser = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    written, shown = in_markdown(said), re.sub("[ \t\n]+", " ", styled(said)).strip()
    for line in (f"* {written}", written, f"| a | b |\n| --- | --- |\n| {written} | 1 |"):
        tokens = parser.parse(line)
        inline = [token.children or [] for token in tokens if token.type == "inline"]
        texts = ["".join(each.content for each in children) for children in inline]
        assert texts == (["a", "b", shown, "1"] if line.startswith("| a") else [shown] * bool(shown))
        assert {each.type for children in inline for each in children} <= {"text", "text_special"}
        blocks = {token.type.partition("_")[0] for token in tokens} - {"inline"}
        assert blocks <= {"bullet", "list", "paragraph", "table", "thead", "tbody", "tr", "th", "td"}
    assert not re.search(r"(?<!\\)//|www\.", written), "GitHub makes it a link"
