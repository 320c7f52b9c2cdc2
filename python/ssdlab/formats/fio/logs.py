"""The results of a fio run over time: interval logs, histogram logs, and statuses.

A log has a line for each I/O or, with `log_avg_msec`, for each interval and direction. fio writes no line for
a direction without I/O, so empty intervals are added here. Columns are time in ms, value, direction, block
size, and others that are not used. Values are IOPS, KiB/s, or latencies in the unit of the fio version. In a
log of single I/Os, values of bw and iops have no meaning, and the lines are counted instead. A line of a
histogram log has the counts of one interval. Each of its buckets combines 2^`log_hist_coarseness` of fio's.

A job's options name its logs and define their meaning, so a log without a result is refused.

Source: fio's `flush_samples`, `flush_hist_samples` (iolog.c), `__add_samples`, `__add_stat_to_log` (stat.c)
and `gen_log_name` (init.c), 2.0 to 3.42.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from ssdlab.formats.fio.results import PLAT_BITS, Bins, Clock, Times, edges_of_index, load_of, percentiles_of
from ssdlab.formats.fio.sections import US
from ssdlab.model.errors import UsageError, of_os
from ssdlab.model.summary import DIRECTIONS, PERCENTILES, Direction
from ssdlab.model.units import and_listed

if TYPE_CHECKING:
    import numpy.typing as npt

    from ssdlab.formats.fio.results import FioResult, Job, Side

    Column = npt.NDArray[Any]

_Log = Literal["bw", "iops", "lat", "clat", "slat"]
Kind = Literal[_Log, "clat_hist"]
_RATES: tuple[_Log, ...] = ("iops", "bw")
_OPTIONS: dict[str, tuple[Kind, ...]] = {
    "write_bw_log": ("bw",),
    "write_iops_log": ("iops",),
    "write_lat_log": ("lat", "clat", "slat"),
    "write_hist_log": ("clat_hist",),
}
_NAME = re.compile(rf"(.+)_({'|'.join(sorted(get_args(Kind), key=len, reverse=True))})(?:\.(\d+))?\.log")
_SINGLE_MS = 1000
"""Length of the intervals into which single I/Os are grouped."""
_REST = 0.05
"""Tolerance as a share of an interval: a shorter remainder of a run is no row, and a row that is shorter by
less is not partial.
"""
_LAST_GROUP = 64
_AGREES = 0.1
"""How far the I/Os of rows may differ from those of the result, as a share, in addition to one interval. Of
224 published results with averaged logs, 61 differ more: all are in one folder, in which later runs wrote
logs of the same names.
"""
ROW_QUANTILES = ("p50", "p99", "p99.9", "max")


@dataclass(frozen=True)
class Rows:
    """The I/O of one direction of a job in each interval.

    Attributes
    ----------
    partial
        Whether the interval is shorter than the others.
    quantiles
        By clock and by name in `ROW_QUANTILES`, in ns; NaN if unknown.
    """

    direction: Direction
    start_ms: Column
    end_ms: Column
    partial: Column
    ios: Column
    bytes: Column
    quantiles: Mapping[tuple[Clock, str], Column] = field(default_factory=dict)


@dataclass(frozen=True)
class OverTime:
    """A job with its rows, its log files, and notes on them."""

    job: Job
    rows: tuple[Rows, ...]
    files: tuple[Path, ...] = ()
    notes: tuple[str, ...] = ()


def is_log(path: Path) -> bool:
    return _NAME.fullmatch(path.name) is not None


def without_result(path: Path) -> UsageError:
    return UsageError(
        f"{path} is a fio log that no result names: interval, unit and job are unknown",
        "import the JSON of that run: the logs that its options name are read from its folder",
        path=str(path),
    )


def over_time(result: FioResult) -> Iterator[OverTime]:
    """Yield each job of a result with its rows, from the logs beside the result or else from its statuses.

    Raises
    ------
    UsageError, HostError
        A log cannot be read; the error names the line.
    """
    for job in result.jobs:
        files, why = _files_of(result, job)
        if files:
            yield _of_logs(result, job, files)
        else:
            yield OverTime(job, tuple(_of_statuses(result, job)), notes=why)


# --- statuses ---------------------------------------------------------------------------------------------


def _of_statuses(result: FioResult, job: Job) -> Iterator[Rows]:
    """Yield rows of the I/O from each status to the next, for each direction."""
    for name in job.sides:
        states = [
            side
            for jobs in result.statuses
            for each in jobs
            if each.key == job.key and (side := each.sides.get(name)) is not None and side.ios is not None
        ]
        ends = [0, *(side.runtime_ms for side in states)]
        grown = [at for at in range(len(states)) if ends[at + 1] > ends[at]]
        if len(result.statuses) < 2 or len(grown) < 2:
            continue
        pairs = [(states[at - 1] if at else None, states[at]) for at in grown]
        starts_ms, ends_ms = ([ends[at + more] for at in grown] for more in (0, 1))
        lengths = np.subtract(ends_ms, starts_ms)
        quantiles: dict[tuple[Clock, str], list[float]] = {}
        for before, now in pairs:
            for clock, times in now.times.items():
                if times.bins is None:
                    continue
                earlier = None if before is None else before.times.get(clock)
                bins = times.bins
                if earlier is not None and earlier.bins is not None:
                    bins = bins.minus(earlier.bins)
                for key, value in _quantiles_of(bins).items():
                    quantiles.setdefault((clock, key), []).append(value)
        yield Rows(
            name,
            np.array(starts_ms),
            np.array(ends_ms),
            lengths < (1 - _REST) * np.median(lengths),
            np.array([(now.ios or 0) - ((before.ios or 0) if before else 0) for before, now in pairs]),
            np.array([now.bytes - (before.bytes if before else 0) for before, now in pairs]),
            {key: np.array(values) for key, values in quantiles.items() if len(values) == len(pairs)},
        )


def _quantiles_of(bins: Bins) -> dict[str, float]:
    found = percentiles_of(bins, set(ROW_QUANTILES) - {"max"})
    return {name: found.get(name, np.nan) for name in ROW_QUANTILES[:-1]} | {
        "max": bins.max_ns if bins.total else np.nan
    }


# --- logs -------------------------------------------------------------------------------------------------


def _files_of(result: FioResult, job: Job) -> tuple[dict[Kind, list[Path]], tuple[str, ...]]:
    """Return a job's logs beside its result, and why other logs there are left out."""
    folder = result.path.parent
    try:
        names = sorted(each.name for each in folder.iterdir())
    except OSError as error:
        raise of_os(error, f"cannot list {folder}", "check that folder", path=str(folder)) from error
    found: dict[Kind, list[Path]] = {}
    why: list[str] = []
    for option, kinds in _OPTIONS.items():
        if (prefix := _prefix(job, option)) is None:
            continue
        sharing = [each for each in result.jobs if _prefix(each, option) == prefix]
        own = [
            (name, parts)
            for name in names
            if (parts := _NAME.fullmatch(name)) and parts[1] == prefix and parts[2] in kinds
        ]
        last = max((int(parts[3] or 0) for _, parts in own), default=0)
        numbers = None if len(sharing) == 1 else _threads(result, job, last)
        for name, parts in own:
            if numbers is None or (parts[3] is not None and int(parts[3]) in numbers):
                found.setdefault(_kind(parts[2]), []).append(folder / name)
            elif not numbers or parts[3] is None:
                why.append(f"{name} is left out: several jobs write it, and its lines do not name the job")
    if not found and not why:
        beside = [
            name
            for name in names
            if (parts := _NAME.fullmatch(name)) and parts[1] in (result.path.stem, job.name)
        ]
        if beside:
            why.append(
                f"{and_listed(beside[:3])} left out: no option of the result gives the interval of these logs"
            )
    return found, tuple(why)


def _kind(text: str) -> Kind:
    return next(each for each in get_args(Kind) if each == text)


def _prefix(job: Job, option: str) -> str | None:
    """Return how the names of a job's logs begin, by default with its own name; None without the option."""
    given = job.options.get(option)
    return None if given is None else Path(given).name or job.name


def _threads(result: FioResult, job: Job, last: int) -> set[int]:
    """Return the numbers of a job's threads, which its logs carry in their names; empty if unknown.

    An entry of a result is a thread or, with `group_reporting`, a group. A group of several sections has the
    options of only one of them. Its size is therefore known only if the threads of all groups add up to the
    number of the `last` log.
    """
    grouped = any("group_reporting" in each.options for each in result.entries)
    sizes = [load_of(each.options).jobs or 0 if grouped else 1 for each in result.entries]
    if job.host or (grouped and sum(sizes) != last):
        return set()
    ends = accumulate(sizes)
    return {
        number
        for each, size, end in zip(result.entries, sizes, ends, strict=True)
        if each.key == job.key
        for number in range(end - size + 1, end + 1)
    }


@dataclass(frozen=True)
class _Lines:
    """The lines of all logs of one kind, with those of all threads concatenated."""

    time_ms: Column
    value: Column
    max: Column | None
    direction: Column
    block: Column
    thread: Column


def _of_logs(result: FioResult, job: Job, files: Mapping[Kind, Sequence[Path]]) -> OverTime:
    listed = tuple(path for own in files.values() for path in own)
    if any(job.options.get(name, "0") != "0" for name in ("log_unix_epoch", "log_alternate_epoch")):
        why = "its logs are left out: they count from 1970, and the start of the job is not stated"
        return OverTime(job, (), (), (why,))
    average_ms = _ms(job.options, "log_avg_msec")
    asked = job.options.get("log_max_value", job.options.get("log_window_value", "0")) or "1"
    columns = 5 if asked in ("both", "2") else 4
    ramp_ms = _seconds_ms(job.options.get("ramp_time", "0"))
    lines: dict[_Log, _Lines] = {
        kind: _read(own, columns, ramp_ms) for kind, own in files.items() if kind != "clat_hist"
    }
    unit = result.latency_unit_ns
    notes = []
    histograms: dict[Direction, dict[int, Bins]] = {}
    hist_ms = _ms(job.options, "log_hist_msec")
    if "clat_hist" in files and hist_ms:
        histograms = _histograms(files["clat_hist"], hist_ms, ramp_ms, unit)
    width_ms = average_ms or _SINGLE_MS
    if not lines:
        width_ms = hist_ms
    elif histograms and hist_ms != width_ms:
        notes.append(
            f"its histogram log has intervals of {hist_ms} ms, others of {width_ms} ms: not shown over time"
        )
    if average_ms and asked in ("0", "avg", "average") and {"lat", "clat"} & set(lines):
        notes.append("its latency logs hold means, not percentiles: not shown over time")
    whole_ms = _whole_ms(lines, histograms, width_ms) if average_ms or not lines else None
    sides = dict(job.sides)
    rows = []
    for name, side in job.sides.items():
        made = _Windows(side.runtime_ms, width_ms, whole_ms)
        own = {kind: _of_direction(each, name) for kind, each in lines.items()}
        counted = made.rates(own) if average_ms else made.counts(own)
        quantiles: dict[tuple[Clock, str], Column] = {}
        clocks: list[tuple[_Log, Clock]] = [("lat", "lat"), ("clat", "clat"), ("slat", "slat")]
        for kind, clock in clocks:
            if kind not in own:
                continue
            if average_ms:
                if (longest := own[kind].max) is None and asked in ("1", "max"):
                    longest = own[kind].value
                if longest is not None:
                    quantiles[clock, "max"] = made.largest(own[kind].time_ms, longest * unit)
            else:
                quantiles |= made.quantiles(clock, own[kind], unit)
                whole = _binned(own[kind].value, unit)
                if whole.total == side.ios:
                    sides[name] = replace(side, times=_with_bins(sides[name].times, clock, whole))
        found = histograms.get(name, {})
        if found and hist_ms == width_ms:
            quantiles |= made.of_histograms(found)
            if counted is None:
                counted = made.counted_in(found, side.bytes / side.ios if side.ios else None)
        if found and (whole := _all(found.values())).total == side.ios:
            sides[name] = replace(side, times=_with_bins(sides[name].times, "clat", whole))
        if counted is not None:
            rows.append(Rows(name, made.start_ms, made.end_ms, made.partial, *counted, quantiles))
        else:
            notes.append("its logs are left out: they do not give both IOPS and bytes")
    if not all(_agrees(each, job.sides[each.direction]) for each in rows):
        why = "its logs are left out: their I/Os are not those of the result; perhaps a later run wrote them"
        return OverTime(job, tuple(_of_statuses(result, job)), (), (why,))
    return OverTime(replace(job, sides=sides), tuple(rows), listed, tuple(dict.fromkeys(notes)))


def _agrees(rows: Rows, side: Side) -> bool:
    """Return whether rows hold about as many I/Os as the result counts in the same time."""
    expected = side.iops * rows.end_ms[-1:].sum() / 1e3
    interval = expected / max(len(rows.ios), 1)
    return bool(abs(rows.ios.sum() - expected) <= _AGREES * expected + interval)


def _whole_ms(
    lines: Mapping[_Log, _Lines], histograms: Mapping[Any, Mapping[int, Bins]], width_ms: float
) -> float:
    """Return the time up to which all threads have lines; fio may write none for the last interval."""
    rated = [each for kind, each in lines.items() if kind in _RATES]
    slots = [int(slot) for found in histograms.values() for slot in found]
    last = [max(slots)] if slots and not rated else []
    for each in rated:
        own = _ended(each.time_ms, width_ms)
        last += [int(own[each.thread == thread].max()) for thread in np.unique(each.thread)]
    return (min(last, default=-1) + 1) * width_ms


def _with_bins(times: Mapping[Clock, Times], clock: Clock, bins: Bins) -> dict[Clock, Times]:
    """Return a direction's times with the bins of a log of every I/O; values reported by fio stay."""
    found = dict(times)
    stated = found.get(clock)
    if stated is not None and stated.bins is None:
        percentiles = stated.percentiles or percentiles_of(bins, set(PERCENTILES))
        found[clock] = replace(stated, bins=bins, percentiles=percentiles)
    return found


def _ms(options: Mapping[str, str], name: str) -> int:
    text = options.get(name, "0").removesuffix("ms")
    return int(text) if text.isdecimal() else 0


_TIME = re.compile(r"(\d+)([a-z]*)", re.IGNORECASE)


def _seconds_ms(text: str) -> float:
    """Return a time of fio in ms; without a unit it is in seconds."""
    found = _TIME.fullmatch(text)
    unit = None if found is None else US.get(found[2].lower() or "s")
    return 0.0 if found is None or unit is None else int(found[1]) * unit / 1000


def _read(paths: Sequence[Path], columns: int, ramp_ms: float) -> _Lines:
    tables = [_table(path, range(columns)) for path in paths]
    threads = np.concatenate([np.full(len(each), at) for at, each in enumerate(tables)])
    whole = np.concatenate(tables)
    return _Lines(
        time_ms=whole[:, 0] - ramp_ms,
        value=whole[:, 1],
        max=whole[:, 2] if columns == 5 else None,
        direction=whole[:, columns - 2],
        block=whole[:, columns - 1],
        thread=threads,
    )


def _table(path: Path, columns: Sequence[int] | None) -> Column:
    """Return the columns of a log as numbers, with a row for each line.

    Raises
    ------
    UsageError, HostError
        The file cannot be read, or a line is invalid; the error names the line.
    """
    wanted = None if columns is None else list(columns)
    try:
        with path.open("rb") as file:
            if not file.read(1):
                return np.zeros((0, len(wanted or range(4))))
        return np.loadtxt(path, delimiter=",", usecols=wanted, ndmin=2, encoding="utf-8")
    except OSError as error:
        raise of_os(error, f"cannot read the log {path}", "check that file", path=str(path)) from error
    except ValueError as error:
        found = re.search(r"at row (\d+)", str(error))
        line = _first_bad(path, wanted) or (int(found[1]) + 1 if found else 1)
        raise UsageError(
            f"line {line} of {path} is not a line of a fio log: its columns differ",
            "remove the line if fio was stopped there, or move the log away from the result",
            path=str(path),
            line=line,
        ) from error


def _first_bad(path: Path, wanted: Sequence[int] | None) -> int | None:
    """Return the number of the first line that lacks a column, or has something else than a number."""
    width = None
    with path.open(encoding="utf-8", errors="replace") as file:
        for number, line in enumerate(file, 1):
            parts = [each.strip() for each in line.split(",")]
            width = width or len(parts)
            needed = parts if wanted is None else parts[: len(wanted)]
            short = len(parts) != width if wanted is None else len(parts) < len(wanted)
            if short or not all(each.isdecimal() for each in needed):
                return number
    return None


def _of_direction(lines: _Lines, name: Direction) -> _Lines:
    kept = lines.direction == DIRECTIONS.index(name)
    return _Lines(*(None if each is None else each[kept] for each in vars(lines).values()))  # type: ignore[arg-type]


def _histograms(
    paths: Sequence[Path], hist_ms: int, ramp_ms: float, unit_ns: int
) -> dict[Direction, dict[int, Bins]]:
    """Return the histogram of each interval by direction and interval number, summed over threads."""
    found: dict[Direction, dict[int, Bins]] = {}
    for path in paths:
        table = _table(path, None)
        if not len(table):
            continue
        edges = _edges(table.shape[1] - 3, path)
        slots = _ended(table[:, 0] - ramp_ms, hist_ms)
        for slot, row in zip(slots.tolist(), table, strict=True):
            if not row[1] < len(DIRECTIONS):
                continue
            filled = np.flatnonzero(row[3:])
            bins = Bins(unit_ns, {edges[at]: int(row[3 + at]) for at in filled.tolist()})
            of_direction = found.setdefault(DIRECTIONS[int(row[1])], {})
            before = of_direction.get(slot)
            of_direction[slot] = bins if before is None else before.plus(bins)
    return found


def _edges(columns: int, path: Path) -> list[tuple[int, int]]:
    """Return the edges of each column of a histogram log: 19 groups (us) or 29 (ns), coarse or not."""
    for groups in (29, 19):
        buckets = groups << PLAT_BITS
        stride = buckets // columns if columns else 0
        if stride and columns * stride == buckets and stride & (stride - 1) == 0 and stride <= _LAST_GROUP:
            return [
                (edges_of_index(at)[0], edges_of_index(at + stride - 1)[1])
                for at in range(0, buckets, stride)
            ]
    raise UsageError(
        f"line 1 of {path} has {columns} counts: not a fio histogram",
        "move the log away from the result, or have fio write it again",
        path=str(path),
        line=1,
    )


def _binned(values: Column, unit_ns: int) -> Bins:
    """Return latencies in fio's buckets."""
    whole = values.astype(np.int64)
    exponent = np.frexp(np.maximum(whole, 1).astype(np.float64))[1]
    bits = np.maximum(exponent - 1 - PLAT_BITS, 0)
    lows, at = np.unique(whole >> bits << bits, return_index=True)
    counts = np.bincount(np.searchsorted(lows, whole >> bits << bits), minlength=len(lows))
    widths = np.left_shift(1, bits[at])
    table = zip(lows.tolist(), widths.tolist(), counts.tolist(), strict=True)
    return Bins(unit_ns, {(low, low + width): count for low, width, count in table})


def _all(found: Sequence[Bins] | Any) -> Bins:  # noqa: ANN401 - values of a mapping
    total: Bins | None = None
    for each in found:
        total = each if total is None else total.plus(each)
    assert total is not None
    return total


def _ended(time_ms: Column, width_ms: float) -> Column:
    """Return the index of each line's interval, at whose end fio wrote the line."""
    return np.maximum(np.rint(time_ms / width_ms).astype(np.int64) - 1, 0)


class _Windows:
    """The intervals of a run from start to end, including those without a line in the log."""

    def __init__(self, runtime_ms: float, width_ms: float, whole_ms: float | None) -> None:
        self.width_ms = width_ms
        # Leave out the last interval if it has no line: it may have had I/O all the same.
        if whole_ms is not None and 0 < runtime_ms - whole_ms < (1 + _REST) * width_ms:
            runtime_ms = whole_ms
        self.full = int((runtime_ms + _REST * width_ms) // width_ms)
        rest_ms = runtime_ms - self.full * width_ms
        partial = rest_ms > _REST * width_ms or not self.full
        ends = [width_ms * (at + 1) for at in range(self.full)] + ([runtime_ms] if partial else [])
        self.end_ms = np.array(ends, dtype=np.float64)
        self.start_ms = np.concatenate([[0.0], self.end_ms[:-1]])
        self.partial = np.arange(len(ends)) >= self.full
        self.seconds = (self.end_ms - self.start_ms) / 1e3

    def rates(self, own: Mapping[_Log, _Lines]) -> tuple[Column, Column] | None:
        """Return I/Os and bytes from logs that hold rates; None if not both are known."""
        rated = [own[kind] for kind in _RATES if kind in own]
        if rated and not any(len(each.value) for each in rated):
            return np.zeros(len(self.seconds), dtype=np.int64), np.zeros(len(self.seconds), dtype=np.int64)
        ios = self._rated(own["iops"]) if "iops" in own else None
        moved = self._rated(own["bw"]) * 1024 if "bw" in own else None
        blocks = {size for each in rated for size in np.unique(each.block).tolist()}
        block = blocks.pop() if len(blocks) == 1 else 0
        if ios is None and moved is not None and block:
            ios = moved / block
        if moved is None and ios is not None and block:
            moved = ios * block
        if ios is None or moved is None:
            return None
        return np.rint(ios).astype(np.int64), np.rint(moved).astype(np.int64)

    def _rated(self, lines: _Lines) -> Column:
        """Return rates times lengths: the mean of a thread's lines in each interval, summed over threads."""
        slots = self._at(_ended(lines.time_ms, self.width_ms))
        total: Column = np.zeros(len(self.seconds))
        for thread in np.unique(lines.thread):
            own = lines.thread == thread
            sums = np.bincount(slots[own], lines.value[own], len(total))
            counts = np.bincount(slots[own], minlength=len(total))
            total += sums / np.maximum(counts, 1) * self.seconds
        return total

    def counts(self, own: Mapping[_Log, _Lines]) -> tuple[Column, Column] | None:
        """Return I/Os and bytes from a log of single I/Os; None without one."""
        kinds: tuple[_Log, ...] = ("iops", "bw", "lat", "clat", "slat")
        lines = next((own[kind] for kind in kinds if kind in own), None)
        if lines is None:
            return None
        slots = self._at((lines.time_ms // self.width_ms).astype(np.int64))
        ios = np.bincount(slots, minlength=len(self.seconds))
        return ios, np.bincount(slots, lines.block, len(self.seconds)).astype(np.int64)

    def largest(self, time_ms: Column, values: Column) -> Column:
        """Return the largest value of each interval; NaN without a line."""
        found = np.full(len(self.seconds), np.nan)
        np.fmax.at(found, self._at(_ended(time_ms, self.width_ms)), values)
        return found

    def quantiles(self, clock: Clock, lines: _Lines, unit_ns: int) -> dict[tuple[Clock, str], Column]:
        """Return quantiles of single I/Os by interval; each is a latency that was measured."""
        slots = self._at((lines.time_ms // self.width_ms).astype(np.int64))
        order = np.lexsort((lines.value, slots))
        values, slots = lines.value[order] * unit_ns, slots[order]
        begins = np.searchsorted(slots, np.arange(len(self.seconds)))
        counts = np.bincount(slots, minlength=len(self.seconds))
        shares = {name: 1.0 if name == "max" else float(name[1:]) / 100 for name in ROW_QUANTILES}
        found = {}
        for name, share in shares.items():
            at = begins + np.maximum(np.ceil(share * counts).astype(np.int64) - 1, 0)
            column = np.full(len(counts), np.nan)
            column[counts > 0] = values[at[counts > 0]]
            found[clock, name] = column
        return found

    def of_histograms(self, found: Mapping[int, Bins]) -> dict[tuple[Clock, str], Column]:
        """Return clat quantiles from the histogram of each interval."""
        columns = {name: np.full(len(self.seconds), np.nan) for name in ROW_QUANTILES}
        for slot, bins in self._joined(found).items():
            for name, value in _quantiles_of(bins).items():
                columns[name][slot] = value
        return {("clat", name): column for name, column in columns.items()}

    def counted_in(self, found: Mapping[int, Bins], block: float | None) -> tuple[Column, Column] | None:
        """Return I/Os and bytes from histograms; None unless all I/Os have one known size."""
        if block is None or not float(block).is_integer():
            return None
        ios = np.zeros(len(self.seconds), dtype=np.int64)
        for slot, bins in self._joined(found).items():
            ios[slot] += bins.total
        return ios, ios * int(block)

    def _joined(self, found: Mapping[int, Bins]) -> dict[int, Bins]:
        joint: dict[int, Bins] = {}
        for slot, bins in found.items():
            at = int(self._at(np.array([slot]))[0])
            joint[at] = bins if at not in joint else joint[at].plus(bins)
        return joint

    def _at(self, slots: Column) -> Column:
        """Clip slots to the run's intervals: what was written at the very end belongs to the last one."""
        clipped: Column = np.clip(slots, 0, len(self.seconds) - 1)
        return clipped
