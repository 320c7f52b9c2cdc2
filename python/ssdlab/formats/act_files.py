"""ACT's files: configuration files, read and written, and logs as act_latency.py reads them.

**Configuration.** Files are read as ACT reads them. A `#` begins a comment. The name ends at a colon or a
blank. The value is the next word; anything after it is ignored. Drives are separated by commas, semicolons
and blanks, and several lines add up. A value that begins with `y` is yes; any other is no. A file is refused
if the original would take a colon, 0 or a part of a number for a value. A missing option has ACT's default,
but a missing rate is 0. A written file has every option in ACT's own order, without comments. Reading it
gives the same options, and writing these gives the same bytes.

**Log.** This is what act_storage or act_index would have printed of a run. Each report counts since the
start, in buckets of powers of two. Bucket 0 is below 1 ms; bucket b is from 2^(b-1) ms to below 2^b ms. Empty
buckets are left out, and a line has four. ssdlab's own buckets are a 64th of an octave. A bucket that
contains a power of two is divided in proportion, so a count can be off by half the I/Os of such a bucket.

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
"""Options of older versions, each with the version that removed it."""

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
        Content of the file.
    where
        Name of the file in error messages.
    program
        Class of the options to read: those of act_storage or of act_index.

    Raises
    ------
    UsageError
        An unknown name (the error gives the nearest), a repeated name, a line that is no option, or a value
        out of its bounds.
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
    """Read a configuration file by its path; see `read_config` for parameters and errors."""
    advice = "give a configuration file of ACT"
    return read_config(read_document(user_path(path), "ACT configuration", advice), str(path), program)


def changed(
    config: ActConfig, settings: Mapping[str, str], *, load: float = 1, devices: tuple[str, ...] = ()
) -> ActConfig:
    """Return the configuration with `settings` applied as in a file, then with its rates times `load`.

    Raises
    ------
    UsageError
        An unknown name, a value out of its bounds, or a load at which the rates are not whole.
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
    """Return the configuration as a file, with every option that has a value."""
    lines = [f"{option_name(name)}: {text}" for name, text in config_lines(config)]
    return "\n".join(lines) + "\n"


def config_lines(config: ActConfig) -> Iterator[tuple[str, str]]:
    """Yield each option of a configuration file: its field name, and its value as ACT writes it."""
    for each in fields(config):
        value = getattr(config, each.name)
        # Files omit missing drives, and a file size of 0: any other size would make the test use files.
        if value is None or (not value and each.name in ("device_names", "file_size_mbytes")):
            continue
        if isinstance(value, tuple):
            yield each.name, ",".join(value)
        elif isinstance(value, bool):
            yield each.name, "yes" if value else "no"
        else:
            yield each.name, str(value)


def echo(config: ActConfig) -> str:
    """Return the initial output of the original: its options, and the configuration derived from them."""
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
    """Yield line number, option name and remaining text of each line that has a name."""
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
    """Read a whole number; the original accepts leading digits of a word, or takes the word for 0."""
    digits = word.removeprefix("+")
    if not (digits.isascii() and digits.isdecimal() and len(digits) <= NUMBER_CHARACTERS):
        raise bad(key, repr(excerpt(word)), "it must be a whole number")
    return int(digits)


def _value(key: str, default: object, text: str) -> object:
    """Read the text of `--set` as the type of the option's default; a default of None means a number."""
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
        Interval row of each of ssdlab's buckets, from 0.
    edges
        Lower edges and upper edges of the buckets in ns, and their counts.
    rows
        Number of rows of the test.
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
        Options with the drive's name and the interval of reports in seconds.
    title
        Program and version: "ACT version 6.6".
    found
        The line on the drive's size.
    histograms
        Counts from `power_counts` by histogram name; each report has all histograms.
    remark
        First line, which readers of logs ignore: who wrote the log.
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
