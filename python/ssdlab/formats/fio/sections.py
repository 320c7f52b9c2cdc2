"""fio's job files as text: sections with their options by line, and the meaning of fio's numbers.

Checked against fio 3.33. Values that fio reads in an unexpected way are refused, with their line: `1.5m`
(read as 1), `5min` (5 us), and `4ki` (not as in the manual).
"""

from __future__ import annotations

import ast
import operator
import os
import re
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from ssdlab.formats.fio.options import ALIASES, RULES
from ssdlab.host.documents import read_document, user_path
from ssdlab.model.errors import UsageError, excerpt, unknown
from ssdlab.model.limits import NESTING, NUMBER_CHARACTERS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

_COMMENT = re.compile(r"[;#].*")
_VARIABLE = re.compile(r"\$\{([^}]*)\}")
_KEYWORD = re.compile(r"\$(ncpus|pagesize|mb_memory)\b")
_NUMBER = re.compile(r"(0x[0-9a-f]+|\d+)([a-z]*)", re.IGNORECASE)
US = {"us": 1, "usec": 1, "ms": 1000, "msec": 1000, "s": 10**6, "m": 6 * 10**7}
US |= {"h": 3600 * 10**6, "d": 86400 * 10**6}
_UNIT = re.compile(r"([kmgtp])(ib|b)?|b?")
_POWERS = {letter: power for power, letter in enumerate("kmgtp", start=1)}
_ARITHMETIC: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
}


@dataclass(frozen=True)
class Given:
    """One option in a file."""

    name: str
    """fio's own name, even if an alias was written."""
    text: str
    line: int
    file: str
    kb_base: int = 1024

    def wrong(self, what: str, advice: str) -> NoReturn:
        """Raise an error that names the option's file and line."""
        where = f"{self.file}, line {self.line}"
        raise UsageError(f"{where}: {what}", advice, file=self.file, line=self.line, option=self.name)

    @property
    def flag(self) -> bool:
        """Whether the option is on; without a value it is."""
        if self.text not in ("", "0", "1"):
            self.wrong(f"{self.name} is {excerpt(self.text)!r}", "write 1 or 0")
        return self.text != "0"

    @property
    def number(self) -> int:
        """The value as a whole number, or as a size in bytes."""
        return self.size_of(self.text)

    @property
    def us(self) -> int:
        """The value as a time in microseconds; a number without a unit is in seconds."""
        return self.us_of(10**6)

    def us_of(self, plain_us: int) -> int:
        """Return the value as a time in microseconds; a number without a unit counts `plain_us` each."""
        number, unit = self._parted(self.text)
        if unit and unit not in US:
            self.wrong(
                f"{self.name}={self.text} has a unit that fio takes for us", f"write one of {', '.join(US)}"
            )
        return number * (US[unit] if unit else plain_us)

    @property
    def percent(self) -> int | None:
        """The value as a whole percentage; None if it is not one."""
        if not self.text.endswith("%"):
            return None
        number, _ = self._parted(self.text.removesuffix("%"))
        if number > 100:
            self.wrong(f"{self.name}={self.text} is more than 100 %", "write at most 100%")
        return number

    def bytes_of(self, whole: int) -> int:
        """Return the bytes of a size, or of a percentage of `whole`."""
        return self.number if self.percent is None else whole * self.percent // 100

    def size_of(self, text: str) -> int:
        """Return the bytes of a size, which may be only a part of the value."""
        number, unit = self._parted(text)
        known = _UNIT.fullmatch(unit)
        if known is None:
            what = f"{self.name} has {excerpt(text)!r}, a unit that fio reads differently"
            self.wrong(what, "write k, m, g or t: powers of kb_base, 1024")
        base = {1024: 1000, 1000: 1024}[self.kb_base] if known[2] == "ib" else self.kb_base
        return int(number * base ** _POWERS.get(known[1], 0))

    def real_of(self, text: str) -> Fraction:
        """Return a decimal number exactly."""
        if not re.fullmatch(r"\d{1,9}(\.\d{1,9})?", text):
            self.wrong(f"{self.name} has {excerpt(text)!r}, which is not a number", "write one such as 1.2")
        return Fraction(text)

    def _parted(self, text: str) -> tuple[int, str]:
        text = text.strip()
        if text.startswith("("):
            return self._worked_out(text), ""
        found = _NUMBER.fullmatch(text) if len(text) <= NUMBER_CHARACTERS else None
        if found is None:
            why = ": fio stops reading at the point" if "." in text else ""
            self.wrong(
                f"{self.name} has {excerpt(text)!r}, which is not a whole number{why}",
                "write a whole number, such as 1536k",
            )
        return int(found[1], 16 if found[1][:2].lower() == "0x" else 10), found[2].lower()

    def _worked_out(self, text: str) -> int:
        """Return the value of an expression of whole numbers with + - * and parentheses."""

        def value(node: ast.expr) -> int:
            match node:
                case ast.Constant(value=int() as number):
                    return number
                case ast.BinOp(left=left, op=op, right=right) if type(op) in _ARITHMETIC:
                    return _ARITHMETIC[type(op)](value(left), value(right))
            raise ValueError

        try:
            found = value(ast.parse(text, mode="eval").body) if len(text) <= NUMBER_CHARACTERS else -1
        except (ValueError, SyntaxError):
            found = -1
        if found < 0:
            self.wrong(f"{self.name}={excerpt(text)} cannot be evaluated here", "write the number")
        return found


@dataclass(frozen=True)
class Section:
    """A job: its name, its options, and those of every [global] section before it."""

    name: str
    line: int
    file: str
    options: Mapping[str, Given]

    def get(self, name: str) -> Given | None:
        return self.options.get(name)

    def text(self, name: str, default: str) -> str:
        given = self.options.get(name)
        return default if given is None else given.text

    def flag(self, name: str, default: bool = False) -> bool:
        given = self.options.get(name)
        return default if given is None else given.flag

    def number(self, name: str, default: int) -> int:
        given = self.options.get(name)
        return default if given is None else given.number

    def at(self, *names: str) -> Given:
        """Return the first given option of these names, or else the section, to name a line in an error."""
        found = (self.options[name] for name in names if name in self.options)
        return next(found, Given(f"[{self.name}]", "", self.line, self.file))


@dataclass(frozen=True)
class _Line:
    text: str
    number: int
    file: str
    nested: bool

    def wrong(self, what: str, advice: str) -> NoReturn:
        Given("", "", self.number, self.file).wrong(what, advice)


def read_sections(
    text: str, name: str, folder: Path, environment: Mapping[str, str] = os.environ
) -> tuple[Section, ...]:
    """Return the jobs of a job file, in order.

    Parameters
    ----------
    text, name
        Content and name of the file; the name is for messages.
    folder
        Folder of the file, in which included files are also searched.
    environment
        Values of `${NAME}`.

    Raises
    ------
    UsageError
        An option that fio does not have, a variable that is not set, or a file that cannot be included; the
        error names file and line.
    """
    found: list[Section] = []
    shared: dict[str, Given] = {}
    own: dict[str, Given] | None = None
    for line in _lines(text, name, folder, environment):
        if (title := re.fullmatch(r"\[(.+)\]", line.text)) is None:
            if own is None:
                line.wrong(
                    f"{excerpt(line.text)!r} comes before the first section", "begin with [global] or a job"
                )
            given = _option(line)
            own[given.name] = given
        elif line.nested:
            line.wrong("an included file has no sections, only options", "move the section to the job file")
        elif title[1] == "global":
            own = shared
        elif title[1].startswith("global"):
            line.wrong(f"fio takes [{title[1]}] for [global]", "rename the job")
        else:
            own = dict(shared)
            found.append(Section(title[1], line.number, line.file, own))
    if not found:
        raise UsageError(f"{name} has no job", "add a section such as [job1] after [global]", file=name)
    return tuple(_settled(each) for each in found)


def _settled(section: Section) -> Section:
    """Apply a section's `kb_base` and `name` to the whole section, wherever they are in it."""
    base = section.number("kb_base", 1024)
    if base not in (1000, 1024):
        section.at("kb_base").wrong(f"kb_base is {base}", "write 1024 or 1000")
    options = {name: replace(given, kb_base=base) for name, given in section.options.items()}
    return replace(section, name=section.text("name", section.name), options=options)


def _option(line: _Line) -> Given:
    word, _, value = line.text.partition("=")
    word = word.rstrip()
    if value != value.lstrip():
        line.wrong(
            f"fio drops the unit of a value after a space: {excerpt(line.text)}",
            f"write {word}={value.lstrip()}",
        )
    name = ALIASES.get(word, word)
    if name not in RULES:
        error = unknown("option of fio", word, (*RULES, *ALIASES), elsewhere="see fio --cmdhelp=all")
        line.wrong(error.what, error.advice)
    return Given(name, value, line.number, line.file)


def _lines(
    text: str, name: str, folder: Path, environment: Mapping[str, str], depth: int = 0
) -> Iterator[_Line]:
    """Yield the lines of a file and of those it includes, without comments and with variables filled in."""
    for number, written in enumerate(text.split("\n"), start=1):  # as in fio: a form feed does not end a line
        line = _Line(_COMMENT.sub("", written).strip(), number, name, depth > 0)
        if not line.text:
            continue
        line = replace(line, text=_filled(line, environment))
        if (included := re.fullmatch(r"include\s+(.+)", line.text)) is None:
            yield line
            continue
        if depth == NESTING:
            line.wrong(f"included files are nested more than {NESTING} deep", "nest fewer files")
        path = user_path(included[1])
        path = path if path.exists() else folder / path
        inner = read_document(path, "job", f"it is included by {name}, line {number}")
        yield from _lines(inner, path.name, path.parent, environment, depth + 1)


def _filled(line: _Line, environment: Mapping[str, str]) -> str:
    def value(match: re.Match[str]) -> str:
        if match[1] not in environment:
            line.wrong(f"the variable {match[0]} is not set", f"set it: {match[1]}=... ssdlab job ...")
        return environment[match[1]]

    text = _VARIABLE.sub(value, line.text)
    if keyword := _KEYWORD.search(text):
        line.wrong(f"{keyword[0]} differs on every host", "write the number")
    return text
