"""The output of a fio run: JSON, JSON+, and terse output of versions 3 to 5, from fio 2.0 to 3.x.

Units follow from the keys, not from the version. `clat_ns` is in ns, `clat` in us. `io_bytes` is in bytes if
there is also an `io_kbytes`, and otherwise in KiB. Rates are computed from counts and `runtime`, which is in
ms. All latencies are converted to ns.

**Clocks.** slat is the time from preparing an I/O to its submission, clat the time from there to its
completion, and lat the whole. By default fio reports percentiles of clat only, so each clock has its own
values.

**Bins.** JSON+ counts latencies in 64 buckets per octave (stat.h: `FIO_IO_U_PLAT_BITS` 6). The key of a
bucket is the value in its middle; before fio 2.20 it is the bucket's number. Bins of several jobs can be
added. A percentile of the sum is what fio would have reported for all of them. Without bins, percentiles of
several jobs cannot be combined.

Source: fio's stat.c and stat.h in versions 2.0 to 3.42 (`add_ddir_status_json`, `add_ddir_lat_json`,
`plat_idx_to_val`, `calc_clat_percentiles`, `show_ddir_status_terse`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import reduce
from pathlib import Path
from typing import Any, Literal

from ssdlab.host.documents import read_document
from ssdlab.model.errors import UsageError, errno_text, excerpt
from ssdlab.model.limits import RESULT_BYTES
from ssdlab.model.summary import DIRECTIONS, Direction

Clock = Literal["slat", "clat", "lat"]
CLOCKS: tuple[Clock, ...] = ("slat", "clat", "lat")
PLAT_BITS = 6
"""`FIO_IO_U_PLAT_BITS`, which is the same in all versions."""
ALL_CLIENTS = "All clients"
"""fio's name for the sum over its clients."""
NOUN = "result of fio"
_ADVICE = "have fio write JSON+ to a file (output-format=json+), and import that"
_AGAIN = "copy the file again, or have fio write it again: nothing was imported"
_READS = "ssdlab reads fio 2.0 to 3.x"
_OPENS = re.compile(r"^[ \t]*\{", re.MULTILINE)
_NEXT = re.compile(r"\s*\{")
_NO_NUMBER = re.compile(r"(?<=: )-?(?:nan|inf)\b")
"""NaN and infinity as printf writes them; JSON has no such numbers."""
_VERSION = re.compile(r"fio-(\d{1,3})\.(\d{1,3})")
_TERSE = re.compile(r"^(\d);fio-", re.MULTILINE)
_TERSE_2 = re.compile(r"^2;[^;\n]*;\d+;-?\d+;\d+;", re.MULTILINE)
_PLAIN = re.compile(r"^\S.*: \(groupid=\d+, jobs=\d+\): err=", re.MULTILINE)
_MAX = 1 << 63
_HEAD, _WIDTH, _TAIL = 5, {3: 41, 4: 41, 5: 47}, 34
"""Fields of a terse line: before the directions, of each direction by version, and at least after them."""


@dataclass(frozen=True)
class Bins:
    """A histogram of latencies: counts by lower and upper edge, in units of `unit_ns`."""

    unit_ns: int
    counts: Mapping[tuple[int, int], int]

    @property
    def total(self) -> int:
        return sum(self.counts.values())

    def plus(self, other: Bins) -> Bins:
        edges = {*self.counts, *other.counts}
        return self._with({each: self.counts.get(each, 0) + other.counts.get(each, 0) for each in edges})

    def minus(self, earlier: Bins) -> Bins:
        """Return the latencies added since an earlier state of the same histogram."""
        left = {each: count - earlier.counts.get(each, 0) for each, count in self.counts.items()}
        return self._with({each: count for each, count in left.items() if count > 0})

    def percentile_ns(self, share: float) -> float | None:
        """Return the middle of the bucket that reaches a share (0 to 1) of all latencies, as fio does."""
        wanted, reached = share * self.total, 0
        for low, high in sorted(self.counts):
            reached += self.counts[low, high]
            if reached and reached >= wanted:
                return float((low + high) // 2 * self.unit_ns)
        return None

    @property
    def max_ns(self) -> float:
        """Upper edge of the last bucket that is not empty; 0 if all are."""
        return float(max((high for _, high in self.counts), default=0) * self.unit_ns)

    def _with(self, counts: Mapping[tuple[int, int], int]) -> Bins:
        return replace(self, counts=counts)


def edges_of_value(value: int) -> tuple[int, int]:
    """Return the edges of a value's bucket; the upper edge belongs to the next bucket.

    >>> edges_of_value(78336)
    (77824, 78848)
    """
    if value < 2 << PLAT_BITS:
        return value, value + 1
    error_bits = value.bit_length() - 1 - PLAT_BITS
    low = value >> error_bits << error_bits
    return low, low + (1 << error_bits)


def edges_of_index(index: int) -> tuple[int, int]:
    """Return the edges of a bucket by its number, as in fio's `plat_idx_to_val`.

    >>> edges_of_index(127), edges_of_index(128), edges_of_index(192)
    ((127, 128), (128, 130), (256, 260))
    """
    if index < 2 << PLAT_BITS:
        return index, index + 1
    error_bits = (index >> PLAT_BITS) - 1
    low = (1 << error_bits + PLAT_BITS) + (index % (1 << PLAT_BITS) << error_bits)
    return low, low + (1 << error_bits)


@dataclass(frozen=True)
class Times:
    """The reported values of one clock; times in ns.

    Attributes
    ----------
    samples
        Number of latencies; None: unknown.
    percentiles
        By ssdlab's names, such as `p99.9`; empty if fio stated none and there are no bins.
    """

    samples: int | None
    min_ns: float
    max_ns: float
    mean_ns: float
    percentiles: Mapping[str, float]
    bins: Bins | None = None


@dataclass(frozen=True)
class Side:
    """The I/O of a job in one direction.

    Attributes
    ----------
    ios
        Number of I/Os. None: fio does not report it, before 2.1.14 and in terse output.
    runtime_ms
        The longest runtime of the jobs, as fio reports it for a group.
    stated_iops
        IOPS as fio reports them; used only if there is no count.
    """

    ios: int | None
    bytes: int
    runtime_ms: int
    stated_iops: float
    short: int
    dropped: int
    times: Mapping[Clock, Times]

    @property
    def iops(self) -> float:
        return self.stated_iops if self.ios is None else self.ios * 1000 / self.runtime_ms

    @property
    def mb_s(self) -> float:
        return self.bytes / self.runtime_ms / 1e3

    @property
    def counted(self) -> float:
        """Number of I/Os; without a count, estimated from the stated rate."""
        return self.stated_iops * self.runtime_ms / 1e3 if self.ios is None else self.ios


@dataclass(frozen=True)
class Job:
    """One job of a result: all threads with the same client, name, group and load.

    Attributes
    ----------
    threads
        Number of entries of the result that the job combines.
    errors
        I/Os that failed, with ``continue_on_error``.
    mixed
        Whether fio added up reads and writes (`unified_rw_reporting`), so that neither is known.
    """

    name: str
    host: str
    group: int
    error: int
    errors: int
    options: Mapping[str, str]
    sides: Mapping[Direction, Side]
    sync: Times | None
    facts: Mapping[str, Any]
    threads: int = 1
    mixed: bool = False

    @property
    def key(self) -> tuple[str, str, int, str]:
        """Client, name, group and load: entries of a result with the same key are one job."""
        return self.host, self.name, self.group, load_words(self.options)

    @property
    def error_words(self) -> str:
        """The error that ended the job; empty if none did."""
        return errno_text(abs(self.error)) if self.error else ""


@dataclass(frozen=True)
class FioResult:
    """Content of one result file: the jobs as they ended, and at each status before.

    Attributes
    ----------
    version
        fio's own text: ``fio-3.33``.
    at
        Time of writing, UTC; None: not stated.
    statuses
        The jobs of each document in the file; the last one is `jobs`.
    entries
        Entries of the last document, one by one, as fio listed them.
    disks
        Names of the devices whose use fio counted.
    terse
        Version of terse output; 0: JSON.
    """

    path: Path
    version: str
    at: datetime | None
    statuses: tuple[tuple[Job, ...], ...]
    entries: tuple[Job, ...]
    disks: tuple[str, ...]
    terse: int = 0

    @property
    def jobs(self) -> tuple[Job, ...]:
        return self.statuses[-1]

    @property
    def latency_unit_ns(self) -> int:
        """Unit of the latencies in logs: us before fio 2.99, ns since then."""
        found = _VERSION.match(self.version)
        return 1 if found is None or (int(found[1]), int(found[2])) >= (2, 99) else 1000


def read_fio(path: Path) -> FioResult:
    """Read a result of fio; text before, between and after its documents is skipped.

    Raises
    ------
    UsageError, HostError
        The file is not a result, is truncated, or has an invalid figure; the error names line and key.
    """
    text = read_document(path, NOUN, _ADVICE, max_bytes=RESULT_BYTES)
    if found := _documents(text, path):
        return _of_json(found, path)
    if _TERSE.search(text):
        return _of_terse(text, path)
    if _TERSE_2.search(text):
        what = f"{path} is terse output of version 2, which does not name its fio version"
        raise UsageError(what, "have fio write JSON+, or terse output of version 5", path=str(path))
    if _PLAIN.search(text):
        what = f"{path} is fio's normal output, whose figures are rounded"
        raise UsageError(what, _ADVICE, path=str(path))
    raise UsageError(f"{path} is not a {NOUN}: neither JSON nor terse output", _ADVICE, path=str(path))


def _documents(text: str, path: Path) -> list[tuple[int, dict[str, Any]]]:
    """Return the JSON documents in a text, each with its first line."""
    text = _NO_NUMBER.sub("null", text)
    found, at = [], 0
    while opens := _NEXT.match(text, at) or _OPENS.search(text, at):
        line = text.count("\n", 0, opens.end()) + 1
        try:
            document, at = json.JSONDecoder().raw_decode(text, opens.end() - 1)
        except json.JSONDecodeError as error:
            cut = error.msg.startswith("Unterminated") or not text[error.pos :].strip()
            why = "the JSON is incomplete" if cut else f"invalid JSON: {error.msg}"
            raise UsageError(
                f"line {error.lineno} of {path}: {why}", _AGAIN, path=str(path), line=error.lineno
            ) from error
        except (RecursionError, ValueError) as error:
            raise UsageError(f"line {line} of {path}: not a {NOUN}", _ADVICE, path=str(path)) from error
        found.append((line, document))
    return found


@dataclass(frozen=True)
class _Place:
    """A table within a document, with its place for error messages."""

    path: Path
    line: int
    key: str
    table: Mapping[str, Any]

    def number(self, name: str, default: float | None = None) -> float:
        """Return a number of 0 or more; null is the default, or 0."""
        value = self.table.get(name)
        if value is None and (default is not None or name in self.table):
            return default or 0.0
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < _MAX:
            raise self.wrong(name, "not a number of 0 or more" if name in self.table else "missing")
        return value

    def count(self, name: str, default: int | None = None) -> int:
        return int(self.number(name, default))

    def within(self, name: str) -> _Place | None:
        """Return a nested table; None if there is none."""
        if (value := self.table.get(name)) is None:
            return None
        if not isinstance(value, dict):
            raise self.wrong(name, "not an object")
        return _Place(self.path, self.line, f"{self.key}{name}.", value)

    def each(self, name: str) -> list[_Place]:
        value = self.table[name]
        if not isinstance(value, list) or not all(isinstance(each, dict) for each in value):
            raise self.wrong(name, "not a list of objects")
        return [
            _Place(self.path, self.line, f"{self.key}{name}[{at}].", each) for at, each in enumerate(value)
        ]

    def texts(self, name: str) -> dict[str, str]:
        """Return a nested table of texts; empty if there is none."""
        found = self.within(name)
        return {} if found is None else {_text(key): _text(value) for key, value in found.table.items()}

    def wrong(self, name: str, why: str) -> UsageError:
        return UsageError(
            f"{self.path}, document of line {self.line}: {self.key}{name} is {why}",
            "have fio write it again, and do not edit it",
            path=str(self.path),
            line=self.line,
            key=f"{self.key}{name}",
        )


def _text(value: object) -> str:
    """Return a value as text that can be encoded: JSON may contain unpaired surrogates."""
    return str(value).encode(errors="replace").decode()


def _of_json(found: Sequence[tuple[int, dict[str, Any]]], path: Path) -> FioResult:
    statuses, entries = [], []
    for line, document in found:
        place = _Place(path, line, "", document)
        if not isinstance(document.get("fio version"), str):
            raise UsageError(
                f"{path}, document of line {line}: no key 'fio version', so fio did not write it",
                _ADVICE,
                path=str(path),
                line=line,
                key="fio version",
            )
        _check_version(document["fio version"], path)
        shared = place.texts("global options")
        listed = next((name for name in ("jobs", "client_stats") if name in document), None)
        if listed is None:
            raise place.wrong("jobs", "missing")
        entries = [_entry(each, shared) for each in place.each(listed)]
        statuses.append(_joined(entries))
    if not entries:
        raise UsageError(f"{path}: fio ran no job (its list of jobs is empty)", "import a result with jobs")
    statuses = _growing(statuses, [line for line, _ in found], path)
    last = _Place(path, found[-1][0], "", found[-1][1])
    seconds = last.number("timestamp_ms", 0) / 1e3 or last.number("timestamp", 0)
    return FioResult(
        path=path,
        version=_text(last.table["fio version"]),
        at=datetime.fromtimestamp(seconds, UTC) if 0 < seconds < 1 << 35 else None,
        statuses=tuple(statuses),
        entries=tuple(entries),
        disks=tuple(_text(each.table["name"]) for each in last.each("disk_util") if each.table.get("name"))
        if "disk_util" in last.table
        else (),
    )


def _check_version(version: str, path: Path) -> None:
    found = _VERSION.match(version)
    if found is None or int(found[1]) not in (2, 3):
        raise UsageError(
            f"{path} was written by {excerpt(version)!r}, whose output ssdlab does not know",
            f"{_READS}; import it with an ssdlab that reads it",
            path=str(path),
            version=version,
        )


def _growing(statuses: Sequence[tuple[Job, ...]], lines: Sequence[int], path: Path) -> list[tuple[Job, ...]]:
    """Return the statuses of one run, of which each counts at least as much as the one before.

    Statuses of a ramp are left out, because fio resets its counts after it.
    """
    kept: list[tuple[Job, ...]] = []
    counted: dict[object, int] = {}
    for jobs, line in zip(statuses, lines, strict=True):
        now: dict[object, int] = {
            (job.key, name): side.bytes for job in jobs for name, side in job.sides.items()
        }
        if any(now.get(key, 0) < before for key, before in counted.items()):
            if not any(job.options.get("ramp_time", "0") != "0" for job in jobs):
                what = f"{path}: the document of line {line} does not continue the one before it"
                raise UsageError(what, "these are several runs: put each in its own file", line=line)
            kept = []  # fio resets its counts after the ramp
        kept.append(jobs)
        counted = now
    return kept


def _entry(place: _Place, shared: Mapping[str, str]) -> Job:
    table = place.table
    host = _text(table.get("hostname", "")) + (f":{table['port']}" if table.get("port") else "")
    error = table.get("error", 0)
    options = {**shared, **place.texts("job options")}
    sides = {}
    mixed = False
    for name in (*DIRECTIONS, "mixed"):
        stated = place.within(name)
        if stated is None or (side := _side(stated)) is None:
            continue
        if name in DIRECTIONS:
            sides[name] = side
        elif not sides:
            mixed = (only := _only_direction(options)) is None
            sides |= {} if only is None else {only: side}
    sync = place.within("sync")
    facts = {key: table[key] for key in ("job_runtime", "usr_cpu", "sys_cpu", "ctx") if key in table}
    steady = table.get("steadystate")
    if isinstance(steady, dict):
        facts["steadystate"] = {key: steady[key] for key in ("ss", "attained") if key in steady}
    return Job(
        name=_text(table.get("jobname", "")),
        host="" if table.get("jobname") == ALL_CLIENTS else host,
        group=place.count("groupid", 0),
        error=error if isinstance(error, int) else 0,
        errors=place.count("total_err", 0),
        options=options,
        sides=sides,
        sync=None if sync is None else _times(sync, "lat", None),
        facts=facts,
        mixed=mixed,
    )


def _only_direction(options: Mapping[str, str]) -> Direction | None:
    """Return the only direction of a job by its options; None if it has two, or the options do not say."""
    kind = load_of(options).kind
    return kind if kind in DIRECTIONS else None


def _side(place: _Place) -> Side | None:
    """Return a direction; None if it had no I/O, or no runtime."""
    ios = place.count("total_ios") if "total_ios" in place.table else None
    unit = 1 if "io_kbytes" in place.table else 1024
    moved = place.count("io_bytes") * unit
    runtime_ms = place.count("runtime")
    if not runtime_ms or (not moved and not ios):
        return None
    times = {clock: found for clock in CLOCKS if (found := _times(place, clock, ios)) is not None}
    return Side(
        ios=ios,
        bytes=moved,
        runtime_ms=runtime_ms,
        stated_iops=place.number("iops", 0.0),
        short=place.count("short_ios", 0),
        dropped=place.count("drop_ios", 0),
        times=times,
    )


def _times(place: _Place, clock: str, ios: int | None) -> Times | None:
    """Return the values of one clock; None if fio counted nothing."""
    unit = 1 if f"{clock}_ns" in place.table else 1000
    found = place.within(f"{clock}_ns" if unit == 1 else clock)
    if found is None:
        return None
    samples = found.count("N") if "N" in found.table else ios
    mean = found.number("mean", 0.0) * unit
    if (not samples and not mean) or ("N" not in found.table and not mean):
        return None
    stated = found.within("percentile")
    percentiles = {} if stated is None else {name: stated.number(name, 0) for name in stated.table}
    return Times(
        samples=samples,
        min_ns=found.number("min", 0) * unit,
        max_ns=found.number("max", 0) * unit,
        mean_ns=mean,
        percentiles={
            _percentile_name(float(name)): value * unit for name, value in percentiles.items() if float(name)
        },
        bins=None if (bins := found.within("bins")) is None else _bins(bins, unit),
    )


def _percentile_name(percent: float) -> str:
    return f"p{percent:g}" if percent < 99.999 else f"p{percent:.8g}"


def _bins(place: _Place, unit_ns: int) -> Bins:
    """Return bins, whose keys are values or, with three constants beside them, bucket numbers."""
    numbered = "FIO_IO_U_PLAT_BITS" in place.table
    if numbered and place.count("FIO_IO_U_PLAT_BITS") != PLAT_BITS:
        raise place.wrong("FIO_IO_U_PLAT_BITS", f"not {PLAT_BITS}, as in every fio")
    counts: dict[tuple[int, int], int] = {}
    for name in place.table:
        if name.startswith("FIO_"):
            continue
        if not name.isdecimal():
            raise place.wrong(name, "no latency")
        if count := place.count(name):
            counts[edges_of_index(int(name)) if numbered else edges_of_value(int(name))] = count
    return Bins(unit_ns, counts)


def _of_terse(text: str, path: Path) -> FioResult:
    entries = []
    version, terse = "", 0
    for number, line in enumerate(text.split("\n"), 1):
        if not _TERSE.match(line):
            continue
        fields = line.split(";")
        terse, version = int(fields[0]), fields[1]
        if terse not in _WIDTH:
            what = f"line {number} of {path} is terse output of version {terse}"
            raise UsageError(what, "have fio write version 5, or JSON+", path=str(path), line=number)
        _check_version(version, path)
        try:
            entries.append(_terse_entry(fields, _WIDTH[terse]))
        except (ValueError, IndexError) as error:
            what = (
                f"line {number} of {path}: terse output of version {terse} has different or additional fields"
            )
            raise UsageError(what, _AGAIN, path=str(path), line=number) from error
    return FioResult(path, version, None, (_joined(entries),), tuple(entries), (), terse)


def _terse_entry(fields: Sequence[str], width: int) -> Job:
    at, blocks = _HEAD, []
    while not fields[at].endswith("%"):  # the CPU use, in percent, follows the directions
        blocks.append(fields[at : at + width])
        at += width
    if len(fields) < at + _TAIL:
        raise ValueError("too few fields")
    names = DIRECTIONS[: 2 if fields[0] == "3" else 3]
    sides = {name: side for name, block in zip(names, blocks, strict=False) if (side := _terse_side(block))}
    return Job(
        name=fields[2],
        host="",
        group=int(fields[3]),
        error=int(fields[4]),
        errors=0,
        options={},
        sides=sides if len(blocks) >= len(names) else {},
        sync=None,
        facts={},
        mixed=len(blocks) < len(names),
    )


def _terse_side(block: Sequence[str]) -> Side | None:
    kib, _, iops, runtime_ms = map(int, block[:4])
    if not runtime_ms or (not kib and not iops):
        return None
    percentiles = [each.split("%=") for each in block[12:32]]
    found = {_percentile_name(float(share)): int(value) * 1e3 for share, value in percentiles if float(share)}
    clocks: dict[Clock, Sequence[str]] = {"slat": block[4:8], "clat": block[8:12], "lat": block[32:36]}
    times: dict[Clock, Times] = {}
    for clock, stated in clocks.items():
        low, high, mean, _ = (float(each) * 1e3 for each in stated)
        if mean:
            times[clock] = Times(None, low, high, mean, found if clock == "clat" else {})
    return Side(None, kib * 1024, runtime_ms, float(iops), 0, 0, times)


def _joined(entries: Sequence[Job]) -> tuple[Job, ...]:
    """Join entries of the same client, name, group and load, which ran at the same time."""
    groups: dict[tuple[str, str, int, str], list[Job]] = {}
    for each in entries:
        groups.setdefault(each.key, []).append(each)
    return tuple(reduce(_both, own) for own in groups.values())


def _both(one: Job, other: Job) -> Job:
    names = [name for name in DIRECTIONS if name in one.sides or name in other.sides]
    return replace(
        one,
        error=one.error or other.error,
        errors=one.errors + other.errors,
        sides={name: _sum_of(one.sides.get(name), other.sides.get(name)) for name in names},
        sync=_times_of([each for each in (one.sync, other.sync) if each is not None]),
        threads=one.threads + other.threads,
        mixed=one.mixed or other.mixed,
        facts={},
    )


def _sum_of(one: Side | None, other: Side | None) -> Side:
    if one is None or other is None:
        found = one or other
        assert found is not None  # one of the two has it
        return found
    times = {
        clock: joint
        for clock in CLOCKS
        if clock in one.times
        and clock in other.times
        and (joint := _times_of([one.times[clock], other.times[clock]])) is not None
    }
    return Side(
        ios=None if one.ios is None or other.ios is None else one.ios + other.ios,
        bytes=one.bytes + other.bytes,
        runtime_ms=max(one.runtime_ms, other.runtime_ms),
        stated_iops=one.stated_iops + other.stated_iops,
        short=one.short + other.short,
        dropped=one.dropped + other.dropped,
        times=times,
    )


def _times_of(found: Sequence[Times]) -> Times | None:
    """Return the times of up to two jobs together; without bins of all, there are no percentiles."""
    if len(found) < 2:
        return found[0] if found else None
    one, other = found
    if one.samples is None or other.samples is None:
        return None  # without counts, their means cannot be weighted
    samples = one.samples + other.samples
    bins = None if one.bins is None or other.bins is None else one.bins.plus(other.bins)
    return Times(
        samples=samples,
        min_ns=min(one.min_ns, other.min_ns),
        max_ns=max(one.max_ns, other.max_ns),
        mean_ns=(one.mean_ns * one.samples + other.mean_ns * other.samples) / samples,
        percentiles={} if bins is None else percentiles_of(bins, {*one.percentiles, *other.percentiles}),
        bins=bins,
    )


def percentiles_of(bins: Bins, names: set[str]) -> dict[str, float]:
    """Return percentiles of bins by name, such as `p99.9`."""
    found = {name: bins.percentile_ns(float(name[1:]) / 100) for name in sorted(names)}
    return {name: value for name, value in found.items() if value is not None}


@dataclass(frozen=True)
class Load:
    """The workload that a job's options request; None: not known from them.

    Attributes
    ----------
    kind
        `read`, `write`, `trim` or `mixed`.
    paced
        Whether I/Os were due at a rate, so that fio's lat is no response time.
    """

    kind: str | None
    pattern: Literal["random", "sequential"] | None
    block: str | None
    jobs: int | None
    depth: int | None
    engine: str | None
    paced: bool


_ALONE = {"read": "read", "write": "write", "trim": "trim"}
_PACING = ("rate", "rate_iops", "rate_min", "thinktime", "read_iolog", "replay_no_stall")


def load_of(options: Mapping[str, str]) -> Load:
    """Return the workload that options request, with fio's defaults; all unknown if there are no options."""
    if not options:
        return Load(None, None, None, None, None, None, paced=False)
    asked = (options.get("rw") or options.get("readwrite") or "read").partition(":")[0]
    plain = asked.removeprefix("rand")
    block = options.get("bs") or options.get("blocksize") or "4k"
    ranges = ("bsrange", "blocksize_range", "bssplit")
    return Load(
        kind=_ALONE.get(plain, "mixed"),
        pattern="random" if asked.startswith("rand") else "sequential",
        block=next((f"{name} {options[name]}" for name in ranges if name in options), block),
        jobs=_whole(options.get("numjobs", "1")),
        depth=_whole(options.get("iodepth", "1")),
        engine=options.get("ioengine", "psync"),
        paced=any(options.get(name, "0") not in ("0", "") for name in _PACING),
    )


def _whole(text: str) -> int | None:
    return int(text) if text.isdecimal() and int(text) else None


_FIRST = ("rw", "readwrite", "bs", "blocksize", "iodepth", "numjobs", "ioengine", "direct")
_NO_LOAD = re.compile(
    r"name|description|filename.*|directory|output.*|write_\w+_log|log_.*|per_job_logs|group_reporting|"
    r"stonewall|wait_for|new_group|percentile_list|\w*lat_percentiles|unified_rw_reporting|eta.*|"
    r"status-interval|unlink.*|allow_mounted_write|disk_util|\w+_avg_time|bwavgtime|iopsavgtime"
)
"""Options that do not change the load: places, output, and the order of jobs."""


def load_words(options: Mapping[str, str]) -> str:
    """Return the options that define a load, as typed: results of different loads are not repeats.

    >>> load_words({"ioengine": "libaio", "rw": "read", "filename": "f", "time_based": ""})
    'rw=read ioengine=libaio time_based'
    """
    own = {name: value for name, value in options.items() if not _NO_LOAD.fullmatch(name)}
    order = sorted(own, key=lambda name: (_FIRST.index(name) if name in _FIRST else len(_FIRST), name))
    return " ".join(f"{name}={own[name]}" if own[name] else name for name in order)
