"""ACT's configuration file, in both directions: `name: value` a line, `#` begins a comment.

What is left out has ACT's default; of the two rates that is 0. A file that was written reads back as the same
options, and is then written the same again, to the byte: every option in ACT's own order, without comments.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, TypeVar

from ssdlab.formats.act.config import ActConfig, IndexConfig, StorageConfig, bad, option_name
from ssdlab.host.documents import read_document, user_path
from ssdlab.model.errors import UsageError, excerpt, unknown
from ssdlab.model.limits import NUMBER_CHARACTERS

AnyConfig = TypeVar("AnyConfig", bound=StorageConfig | IndexConfig)

REMOVED = {
    "num-queues": "6.0",
    "threads-per-queue": "6.0",
    "max-reqs-queued": "6.0",
    "commit-min-bytes": "6.4",
    "scheduler-mode": "6.5",
}
"""Options of older versions, and the version that dropped them."""

_YES_NO = {"yes": True, "no": False, "true": True, "false": False}


def read_config(text: str, where: str, program: type[AnyConfig]) -> AnyConfig:
    """Read a configuration file.

    Parameters
    ----------
    text
        The file.
    where
        What to call it in errors.
    program
        Whose file it is: the class of its options.

    Raises
    ------
    UsageError
        An unknown name (with the nearest), a name given twice, a line that is no option, or a value out of
        its bounds.
    """
    values: dict[str, Any] = {"read_reqs_per_sec": 0, "write_reqs_per_sec": 0}
    defined = {option_name(each.name): each for each in fields(program)}
    seen: dict[str, int] = {}
    for number, line in _lines(text):
        name, colon, value = (part.strip() for part in line.partition(":"))
        place = f"line {number} of {where}"
        if not colon:
            raise UsageError(f"{place} is no option: {excerpt(line)!r}", "write `name: value`", line=number)
        if name not in defined:
            raise _unknown(name, place, list(defined))
        if name in seen:
            raise UsageError(f"{place} gives {name} again, after line {seen[name]}", "give it once")
        seen[name] = number
        values[defined[name].name] = _value(defined[name].name, defined[name].default, value)
    return program(**values)


def config_of(path: Path, program: type[AnyConfig]) -> AnyConfig:
    """Read a configuration file by its path; the parameters and errors are those of `read_config`."""
    advice = "give a configuration file of ACT"
    return read_config(read_document(user_path(path), "ACT configuration", advice), str(path), program)


def changed(
    config: ActConfig, settings: Mapping[str, str], *, load: int = 1, devices: tuple[str, ...] = ()
) -> ActConfig:
    """Return the configuration with options set as a file would, then its rates times `load`.

    Raises
    ------
    UsageError
        An unknown name, or a value out of its bounds.
    """
    defined = {option_name(each.name): each for each in fields(config)}
    values: dict[str, Any] = {}
    for name, text in settings.items():
        if name not in defined:
            raise _unknown(name, "--set", list(defined))
        values[defined[name].name] = _value(defined[name].name, defined[name].default, text)
    if devices:
        values["device_names"] = devices
    made = replace(config, **values)
    return replace(
        made,
        read_reqs_per_sec=load * made.read_reqs_per_sec,
        write_reqs_per_sec=load * made.write_reqs_per_sec,
    )


def write_config(config: ActConfig) -> str:
    """Return the configuration as a file, with every option written out that is set."""
    lines = [f"{option_name(name)}: {text}" for name, text in told(config)]
    return "\n".join(lines) + "\n"


def told(config: ActConfig) -> Iterator[tuple[str, str]]:
    """Yield each option that a file states, by field name, with its value as ACT writes it."""
    for each in fields(config):
        value = getattr(config, each.name)
        # Neither is in a file unless it was meant: no drive, and the size that makes files of drives.
        if value is None or (not value and each.name in ("device_names", "file_size_mbytes")):
            continue
        if isinstance(value, tuple):
            yield each.name, ",".join(value)
        elif isinstance(value, bool):
            yield each.name, "yes" if value else "no"
        else:
            yield each.name, str(value)


def _lines(text: str) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(text.splitlines(), 1):
        kept = line.partition("#")[0].strip()
        if kept:
            yield number, kept


def _value(key: str, default: object, text: str) -> object:
    """Read a value of the kind that the default is; a number may be left out by default."""
    if isinstance(default, tuple):
        names = tuple(part.strip() for part in text.split(","))
        if not all(names):
            raise bad(key, repr(excerpt(text)), "it is a list of drives with commas between")
        return names
    if isinstance(default, bool):
        if text not in _YES_NO:
            raise bad(key, repr(excerpt(text)), "it is yes or no")
        return _YES_NO[text]
    if not (text.isascii() and text.isdecimal() and len(text) <= NUMBER_CHARACTERS):
        raise bad(key, repr(excerpt(text)), "it is a whole number")
    return int(text)


def _unknown(name: str, place: str, known: list[str]) -> UsageError:
    if name in REMOVED:
        return UsageError(
            f"{place}: {name} is an option of ACT before {REMOVED[name]}",
            "take the line out; arrivals=act2019 has the queues of those versions",
            option=name,
            line=place,
        )
    return unknown("ACT option", name, known, elsewhere=place)
