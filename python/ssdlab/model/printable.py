"""Safe display of names chosen by others: they cannot forge a line, or control a terminal or shell."""

from __future__ import annotations

import os
import re
import unicodedata

_PLAIN_WORD = re.compile(r"[\w@%+=:,./-]+", re.ASCII)
_KEY = os.urandom(8).hex()
"""Random key of this process; it marks ssdlab's own colours, so that colours in foreign text are escaped."""
_OWN_STYLE = re.compile(rf"\x1b\[{_KEY};([0-9]+)m")
_MARKDOWN = re.compile(
    r"[\\`*\[\]<>|~&$]"
    r"|(?<![^\W_])_|_(?![^\W_])"  # within a word it is a letter
    r"|/(?=/)|(?<=www)\."  # addresses become links
    r"|^[#+-]|(?<=\d)[.)](?=\s|$)"  # a heading or a list
)
_LAYOUT = frozenset("\n\t\u00a0\u2009\u202f")
"""Line ends, tabs, and the special spaces within figures."""
_KEPT = re.compile(rf"(\x1b\[{_KEY};[0-9]+m|[{''.join(sorted(_LAYOUT))}])")


def printable(text: str) -> str:
    r"""Return text with every character that is not visible written as an escape.

    >>> printable("a\nb\x1b[2J")
    'a\\nb\\x1b[2J'
    """
    return text if text.isprintable() else "".join(map(_visible, text))


_MIRRORING = dict.fromkeys(map(ord, "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"))


def unmirrored(text: str) -> str:
    r"""Return text without controls that change the text direction (UAX 9).

    >>> unmirrored("Samsung \u202e883")
    'Samsung 883'
    """
    return text.translate(_MIRRORING)


def in_style(text: str, code: int) -> str:
    """Return text in one of ssdlab's styles (ECMA-48, SGR), which `styled` keeps."""
    return f"\x1b[{_KEY};{code}m{text}\x1b[{_KEY};0m"


def visible_length(text: str) -> int:
    """Return a text's width in terminal columns: styles take none, wide characters two."""
    seen = _OWN_STYLE.sub("", text)
    return len(seen) if seen.isascii() else sum(map(_columns, seen))


def _columns(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def styled(text: str) -> str:
    r"""Return lines of output with all controls escaped, except ssdlab's styles and line ends.

    Printed text may contain words from foreign jobs or run folders.

    >>> styled(in_style("bold", 1) + "\n\x1b[31m\x1b[2J")
    '\x1b[1mbold\x1b[0m\n\\x1b[31m\\x1b[2J'
    """
    if text.isprintable():
        return text
    return "".join(
        part
        if part in _LAYOUT
        else f"\x1b[{own[1]}m"
        if (own := _OWN_STYLE.fullmatch(part))
        else printable(part)
        for part in _KEPT.split(text)
    )


def plain_drive(name: str) -> str:
    """Return a drive's name; for a simulated drive, only its profile and variant."""
    profile = name.removeprefix("simulated ")
    parts = (part for part in profile.split(", ") if not part.endswith(" of its size"))
    return name if profile == name else ", ".join(parts)


def quoted(name: str) -> str:
    r"""Return a name quoted as one shell word.

    >>> quoted("it's")
    "'it'\\''s'"
    """
    if name.isprintable():
        return "'" + name.replace("'", "'\\''") + "'"
    return "$'" + "".join(map(_in_shell, name)) + "'"


def shell_word(name: str) -> str:
    """Return a name for a shell, quoted if needed."""
    return name if _PLAIN_WORD.fullmatch(name) else quoted(name)


def in_markdown(text: str) -> str:
    r"""Return text on one line, escaped for Markdown, also in tables.

    >>> in_markdown("qd1_iops of [a|b](//c) <i> *x*")
    'qd1_iops of \\[a\\|b\\](\\//c) \\<i\\> \\*x\\*'
    """
    return _MARKDOWN.sub(r"\\\g<0>", re.sub("[ \t\n]+", " ", styled(text)).strip())


def _visible(character: str) -> str:
    if character.isprintable():
        return character
    if "\udc80" <= character <= "\udcff":  # a byte that is not UTF-8 (surrogateescape)
        return f"\\x{ord(character) - 0xDC00:02x}"
    return character.encode("unicode_escape").decode("ascii")


def _in_shell(character: str) -> str:
    if character in "'\\":
        return "\\" + character
    if character.isprintable():
        return character
    return "".join(f"\\x{byte:02x}" for byte in os.fsencode(character))


def advice_text(advice: str) -> str:
    """Return advice as a sentence with a capital, except for a leading command name."""
    return advice if advice.startswith("ssdlab ") else f"{advice[:1].upper()}{advice[1:]}"
