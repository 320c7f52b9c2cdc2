"""ACT's files: its configuration, its log, and the table that act_latency.py makes of it.

**Configuration**, in both directions, read as ACT does: a `#` begins a comment; the name ends at a colon or a
blank, and the value is the next word, whatever stands behind it. Drives are parted by commas, semicolons and
blanks, and add up. Yes is what begins with `y`, and no all else. Where the original takes a colon, a 0
or a part of a number, the file is refused. What is left out has ACT's default; of the two rates that is 0. A
file that was written reads back as the same options, and is then written the same again, to the byte: every
option in ACT's own order, without comments.

**Log**: what act_storage or act_index would have printed of a run. Each report counts since the start, in
buckets of powers of two: bucket 0 is below 1 ms, bucket b from 2^(b-1) ms to below 2^b ms. Those that are
empty are left out, four stand on a line. Our own buckets are a 64th of an octave: one that a power of two
cuts counts by its parts, so that a count can be off by the I/Os of half such a bucket.

Source: Aerospike ACT 6.6, src/common/cfg.c and src/storage/cfg_storage.c (words), src/common/histogram.c
(dump) and analysis/act_latency.py (what is read of it).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from ssdlab.formats.act import ActConfig, IndexConfig, StorageConfig, bad, derived, option_name, rate_at
from ssdlab.host.documents import read_document, user_path
from ssdlab.model.errors import UsageError, excerpt, unknown
from ssdlab.model.limits import NUMBER_CHARACTERS

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


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
NS_PER_MS = 1_000_000
BLANKS = " \t\n\r"
LONGEST_LINE = 4094
LONGEST_NAME = 127
MAX_DRIVES = 128
COLON = "write `name: value`"
BUCKETS = 65
ON_A_LINE = 4


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
    for number, name, rest in _lines(text, where):
        place = f"line {number} of {where}"
        if name not in defined:
            raise _unknown(name, place, list(defined))
        key, default = defined[name].name, defined[name].default
        if isinstance(default, tuple):
            values[key] = values.get(key, ()) + _drives(rest, place)
            if len(values[key]) > MAX_DRIVES:
                raise UsageError(f"{place} names more than {MAX_DRIVES} drives", "ACT takes no more")
            continue
        if name in seen:
            raise UsageError(f"{place} gives {name} again, after line {seen[name]}", "give it once")
        seen[name] = number
        word = next(iter(_words(rest)), "")
        if word.startswith(":"):
            raise UsageError(f"{place}: ACT takes the colon itself for the value of {name}", COLON)
        values[key] = word.startswith("y") if isinstance(default, bool) else _number(key, word)
    return program(**values)


def config_of(path: Path, program: type[AnyConfig]) -> AnyConfig:
    """Read a configuration file by its path; the parameters and errors are those of `read_config`."""
    advice = "give a configuration file of ACT"
    return read_config(read_document(user_path(path), "ACT configuration", advice), str(path), program)


def changed(
    config: ActConfig, settings: Mapping[str, str], *, load: float = 1, devices: tuple[str, ...] = ()
) -> ActConfig:
    """Return the configuration with options set as a file would, then its rates times `load`.

    Raises
    ------
    UsageError
        An unknown name, a value out of its bounds, or a load that makes no whole rates.
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
        read_reqs_per_sec=rate_at("read_reqs_per_sec", made.read_reqs_per_sec, load),
        write_reqs_per_sec=rate_at("write_reqs_per_sec", made.write_reqs_per_sec, load),
    )


def write_config(config: ActConfig) -> str:
    """Return the configuration as a file, with every option written out that is set."""
    lines = [f"{option_name(name)}: {text}" for name, text in config_lines(config)]
    return "\n".join(lines) + "\n"


def config_lines(config: ActConfig) -> Iterator[tuple[str, str]]:
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


def echo(config: ActConfig) -> str:
    """Return the original's initial output: its options, and what it derives from them."""
    lines = [f"{config.program.upper().replace('_', '-')} CONFIGURATION"]
    for key, text in config_lines(config):
        if key == "device_names":
            lines += [
                f"device-names: {' '.join(config.device_names)}",
                f"num-devices: {len(config.device_names)}",
            ]
        else:
            lines.append(f"{option_name(key)}: {text}")
    lines += ["", "DERIVED CONFIGURATION", *(f"{name}: {text}" for name, text in derived(config).items())]
    return "\n".join(lines) + "\n"


def _lines(text: str, where: str) -> Iterator[tuple[int, str, str]]:
    """Yield number, name and rest of each line that has a name."""
    for number, line in enumerate(text.split("\n"), 1):
        if len(line.encode()) > LONGEST_LINE or "\0" in line:
            raise UsageError(
                f"line {number} of {where} is longer than {LONGEST_LINE} bytes, or has a byte of 0",
                "correct it: ACT reads only a part of it",
                line=number,
            )
        kept = line.partition("#")[0].lstrip(f":{BLANKS}")
        if kept:
            name = re.split(f"[:{BLANKS}]", kept, maxsplit=1)
            yield number, name[0], "".join(name[1:])


def _words(text: str, also: str = "") -> list[str]:
    return [word for word in re.split(f"[{BLANKS}{also}]", text) if word]


def _drives(text: str, place: str) -> tuple[str, ...]:
    names = tuple(_words(text, ",;"))
    if bad_name := next((name for name in names if len(name.encode()) > LONGEST_NAME), None):
        raise UsageError(
            f"{place} names a drive in more than {LONGEST_NAME} bytes: {excerpt(bad_name)}",
            "use a shorter path",
        )
    if ":" in names:
        raise UsageError(f"{place} has a blank before the colon: ACT takes it for a drive", COLON)
    return names


def _number(key: str, word: str) -> int:
    """Read a number; the original takes the digits that a word begins with, or with 0."""
    digits = word.removeprefix("+")
    if not (digits.isascii() and digits.isdecimal() and len(digits) <= NUMBER_CHARACTERS):
        raise bad(key, repr(excerpt(word)), "it must be a whole number")
    return int(digits)


def _value(key: str, default: object, text: str) -> object:
    """Read what somebody sets, of the kind that the default is; a number may be left out by default."""
    if isinstance(default, tuple):
        return _drives(text, "--set")
    if isinstance(default, bool):
        if text not in _YES_NO:
            raise bad(key, repr(excerpt(text)), "it must be yes or no")
        return _YES_NO[text]
    return _number(key, text)


def _unknown(name: str, place: str, known: list[str]) -> UsageError:
    if name in REMOVED:
        return UsageError(
            f"{place}: {name} is an option of ACT before {REMOVED[name]}",
            "remove the line; arrivals=act2019 has the queues of those versions",
            option=name,
            line=place,
        )
    return unknown("ACT option", name, known, elsewhere=place)


def power_counts(
    row: npt.NDArray[Any], edges: tuple[npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any]], rows: int
) -> npt.NDArray[np.int64]:
    """Return the cumulative counts of ACT's buckets after each row: an array of rows by buckets.

    Parameters
    ----------
    row
        Interval row of each of our buckets, from 0.
    edges
        Their low and high edges in ns, and their counts.
    rows
        Rows of the test.
    """
    import numpy as np

    low, high, count = edges
    at_least = np.zeros((rows, BUCKETS + 1))
    for bucket in range(BUCKETS):
        limit = 0 if bucket == 0 else NS_PER_MS * 2.0 ** (bucket - 1)
        above = np.clip((high - limit) / np.maximum(high - low, 1), 0.0, 1.0) * count
        np.add.at(at_least[:, bucket], row, above)
    whole = np.rint(np.cumsum(at_least, axis=0)).astype(np.int64)
    return whole[:, :-1] - whole[:, 1:]


def act_log(
    config: ActConfig,
    title: str,
    found: str,
    histograms: Mapping[str, npt.NDArray[np.int64]],
    remark: str,
) -> Iterator[str]:
    """Yield the log, line by line.

    Parameters
    ----------
    config
        With the drive's name and the length of a report in seconds.
    title
        The program's own: "ACT version 6.6".
    found
        The line on the drive's size.
    histograms
        By name, what `power_counts` returned; a report has all of them.
    remark
        First line, which no reader of logs looks at: who wrote this.
    """
    yield remark
    yield f"\n{title}\n"
    yield from echo(config).splitlines()
    yield f"\n{found}\n"
    yield "HISTOGRAM NAMES"
    yield from histograms
    yield ""
    for report in range(max((len(counts) for counts in histograms.values()), default=0)):
        yield f"after {(report + 1) * config.report_interval_sec} sec:"
        for name, counts in histograms.items():
            yield from _dump(name, counts[report])
        yield ""


def _dump(name: str, counts: Sequence[int] | npt.NDArray[np.int64]) -> Iterator[str]:
    yield f"{name} ({int(sum(counts))} total)"
    filled = [f"({bucket:02d}: {int(count):010d})" for bucket, count in enumerate(counts) if count]
    for first in range(0, len(filled), ON_A_LINE):
        yield " " + " ".join(filled[first : first + ON_A_LINE])
