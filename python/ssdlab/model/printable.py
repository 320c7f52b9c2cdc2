"""Names that others chose, shown so that they can neither forge a line nor steer a terminal or a shell."""

from __future__ import annotations

import os
import re

_PLAIN_WORD = re.compile(r"[\w@%+=:,./-]+", re.ASCII)
_OWN_STYLE = re.compile(r"\x1b\[(?:0|1|2|31|32|33|36)m")
"""The codes of `cli.output.paint`: they colour words and move nothing."""
_LAYOUT = frozenset("\n\t\u00a0\u2009\u202f")
"""Line ends, and the spaces that figures are set with."""
_KEPT = re.compile(rf"({_OWN_STYLE.pattern}|[{''.join(sorted(_LAYOUT))}])")


def printable(text: str) -> str:
    r"""Return text with everything that is no visible character written as an escape.

    >>> printable("a\nb\x1b[2J")
    'a\\nb\\x1b[2J'
    """
    return text if text.isprintable() else "".join(map(_visible, text))


def styled(text: str) -> str:
    r"""Return lines of output with everything but their own colours and line ends written as an escape.

    What is printed may hold words out of a run folder that somebody else made.

    >>> styled("\x1b[1mbold\x1b[0m\n\x1b[2J")
    '\x1b[1mbold\x1b[0m\n\\x1b[2J'
    """
    if text.isprintable():
        return text
    return "".join(
        part if _OWN_STYLE.fullmatch(part) or part in _LAYOUT else printable(part)
        for part in _KEPT.split(text)
    )


def quoted(name: str) -> str:
    r"""Return a name in quotes, as a shell takes it for one word and nothing else.

    >>> quoted("it's")
    "'it'\\''s'"
    """
    if name.isprintable():
        return "'" + name.replace("'", "'\\''") + "'"
    return "$'" + "".join(map(_in_shell, name)) + "'"


def shell_word(name: str) -> str:
    """Return a name as a shell takes it: in quotes where it needs them."""
    return name if _PLAIN_WORD.fullmatch(name) else quoted(name)


def _visible(character: str) -> str:
    if character.isprintable():
        return character
    if "\udc80" <= character <= "\udcff":  # a byte that is no UTF-8, as Python holds it
        return f"\\x{ord(character) - 0xDC00:02x}"
    return character.encode("unicode_escape").decode("ascii")


def _in_shell(character: str) -> str:
    if character in "'\\":
        return "\\" + character
    if character.isprintable():
        return character
    return "".join(f"\\x{byte:02x}" for byte in os.fsencode(character))
