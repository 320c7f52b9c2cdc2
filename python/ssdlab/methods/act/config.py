"""ACT's configuration file: its options, their bounds, and the file in both directions.

A line is `name: value`, `#` begins a comment. Names, defaults and bounds are those of act_storage 6.6. What
the original accepts and then divides by zero, runs unthrottled or crashes on is refused here with the reason:
a record larger than the large block, no load at all, huge records.

Source: Aerospike ACT 6.6, README and src/storage/cfg_storage.c (options and their defaults).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any

from ssdlab.errors import UsageError, unknown

RECORD_UNIT_BYTES = 16
MOST_RECORD_BYTES = 8 << 20
MOST_LARGE_BLOCK_KBYTES = 8192


@dataclass(frozen=True, slots=True)
class ActConfig:
    """The options of act_storage that shape its load, under its own names (`-` becomes `_`).

    Attributes
    ----------
    read_reqs_per_sec, write_reqs_per_sec
        Client requests a second.
    record_bytes, record_bytes_range_max
        Size of a record; with a range, sizes lie evenly between the two. 0: no range.
    large_block_op_kbytes
        Size of the large I/Os that move records between memory and drive.
    replication_factor, update_pct, defrag_lwm_pct
        Copies of each write; reads that updates cost; fill at which a block is collected.
    compress_pct
        What written data compresses to; 100: not at all.
    service_threads
        Threads that do the small I/Os; None where the file leaves it to the host's CPUs.
    """

    test_duration_sec: int = 86_400
    read_reqs_per_sec: int = 2000
    write_reqs_per_sec: int = 1000
    service_threads: int | None = None
    report_interval_sec: int = 1
    record_bytes: int = 1536
    record_bytes_range_max: int = 0
    large_block_op_kbytes: int = 128
    replication_factor: int = 1
    update_pct: int = 0
    defrag_lwm_pct: int = 50
    no_defrag_reads: bool = False
    compress_pct: int = 100
    disable_odsync: bool = False
    commit_to_device: bool = False
    tomb_raider: bool = False
    tomb_raider_sleep_usec: int = 0
    max_lag_sec: int = 10

    def __post_init__(self) -> None:
        for name, least, most in _BOUNDS:
            value = getattr(self, name)
            if value is not None and not least <= value <= most:
                raise _bad(name, value, f"it lies between {least} and {most}")
        self._check_sizes()
        if self.read_reqs_per_sec == 0 and self.write_reqs_per_sec == 0:
            raise _bad("read_reqs_per_sec", 0, "with no writes either there is no load")
        if self.disable_odsync and self.commit_to_device:
            raise _bad("disable_odsync", "yes", "with commit-to-device each write is synchronous")

    def _check_sizes(self) -> None:
        kbytes = self.large_block_op_kbytes
        if kbytes & (kbytes - 1):
            raise _bad("large_block_op_kbytes", kbytes, "it is a power of two")
        if 0 < self.record_bytes_range_max < self.record_bytes:
            raise _bad("record_bytes_range_max", self.record_bytes_range_max, "it is at least record-bytes")
        largest = max(self.record_bytes, self.record_bytes_range_max)
        if -(-largest // RECORD_UNIT_BYTES) * RECORD_UNIT_BYTES > kbytes * 1024:
            name = "record_bytes_range_max" if self.record_bytes_range_max else "record_bytes"
            raise _bad(name, largest, f"no record fits into a large block of {kbytes} KiB")


_BOUNDS = (
    ("test_duration_sec", 1, 31_536_000),
    ("read_reqs_per_sec", 0, 100_000_000),
    ("write_reqs_per_sec", 0, 100_000_000),
    ("service_threads", 1, 4096),
    ("report_interval_sec", 1, 3600),
    ("record_bytes", 1, MOST_RECORD_BYTES),
    ("record_bytes_range_max", 0, MOST_RECORD_BYTES),
    ("large_block_op_kbytes", 1, MOST_LARGE_BLOCK_KBYTES),
    ("replication_factor", 1, 128),
    ("update_pct", 0, 100),
    ("defrag_lwm_pct", 1, 99),
    ("compress_pct", 0, 100),
    ("tomb_raider_sleep_usec", 0, 10_000_000),
    ("max_lag_sec", 0, 86_400),
)
_YES_NO = {"yes": True, "no": False, "true": True, "false": False}
_PASSED_OVER = ("device-names", "microsecond-histograms", "file-size-mbytes")
"""Options that say where the original's load goes and how it prints, and nothing about the load."""


def read_config(text: str, where: str = "the configuration") -> ActConfig:
    """Read a configuration file of act_storage.

    Raises
    ------
    UsageError
        An unknown name (with the nearest), a line that is no option, or a value out of its bounds.
    """
    values: dict[str, Any] = {}
    for number, line in _lines(text):
        name, colon, value = (part.strip() for part in line.partition(":"))
        if not colon:
            raise UsageError(
                f"line {number} of {where} is no option: {line!r}", "write `name: value`", line=number
            )
        if name in _PASSED_OVER:
            continue
        if (key := name.replace("-", "_")) not in _NAMES:
            raise unknown("ACT option", name, [*(each.replace("_", "-") for each in _NAMES), *_PASSED_OVER])
        values[key] = _value(key, value)
    return ActConfig(**values)


def write_config(config: ActConfig, device: str) -> str:
    """Return the configuration as a file of act_storage, with every option written out."""
    lines = [f"device-names: {device}"]
    for each in fields(config):
        value = getattr(config, each.name)
        if value is not None:
            told = ("yes" if value else "no") if isinstance(value, bool) else str(value)
            lines.append(f"{each.name.replace('_', '-')}: {told}")
    return "\n".join(lines) + "\n"


def option_values(config: ActConfig) -> Mapping[str, Any]:
    """Return the options by name, those left to the host not among them."""
    found = {each.name: getattr(config, each.name) for each in fields(config)}
    return {name: value for name, value in found.items() if value is not None}


_NAMES = tuple(each.name for each in fields(ActConfig))
_SWITCHES = tuple(each.name for each in fields(ActConfig) if each.type in ("bool", bool))


def _lines(text: str) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(text.splitlines(), 1):
        kept = line.partition("#")[0].strip()
        if kept:
            yield number, kept


def _value(key: str, text: str) -> int | bool:
    if key in _SWITCHES:
        if text not in _YES_NO:
            raise _bad(key, text, "it is yes or no")
        return _YES_NO[text]
    if not text.isdecimal():
        raise _bad(key, text, "it is a whole number")
    return int(text)


def _bad(key: str, value: object, why: str) -> UsageError:
    name = key.replace("_", "-")
    return UsageError(f"{name} cannot be {value}: {why}", f"change {name}", option=name, given=value)
