"""Loads in records: what the recovery, write saturation and demand tests share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from statistics import fmean
from typing import TYPE_CHECKING, Any

import numpy as np

from ssdlab.analysis.records import FIVE_NINES, Buckets, by_record, merged
from ssdlab.analysis.steady_state import MIN_CAPACITIES, WINDOW, first_steady
from ssdlab.plugin import (
    NS_PER_S,
    PAUSED_SHARE,
    Bands,
    Block,
    Closed,
    Metric,
    Mix,
    Sequential,
    Stop,
    Stream,
    Uniform,
    Workload,
    block_text,
    counted,
    doubts,
    evidence_of,
    not_proven,
    numbered_text,
    span_text,
)

from .findings import found_text
from .result import (
    SPECIFICATION,
    BlockShare,
    PtsHistogram,
    PtsRecords,
    PtsSamples,
    PtsWait,
    RangeShare,
    Stimulus,
    TrackedVariable,
)
from .specification import SETTINGS, PtsParams, engine_of, written_until
from .window import judged, was_purged

if TYPE_CHECKING:
    import numpy.typing as npt

    from ssdlab.plugin import AnyArrival, Columns, RunData, Step


TAIL = ("99.9", "99.99", "99.999")
Shape = tuple[int, int]
"""Thread count (TC), and I/Os in flight of each thread (QD)."""


def load(
    p: PtsParams,
    read_pct: int,
    block_bytes: int,
    seconds: float,
    *,
    record_s: float,
    random: bool = True,
    arrival: AnyArrival | None = None,
) -> Workload:
    """Return a load with the test's threads and depth, which lasts `seconds` rounded to whole records."""
    threads, depth = p.shape
    record_ns = round(min(record_s, seconds) * NS_PER_S)
    stream = Stream(
        ops=Mix(read_pct=read_pct),
        block=(Block(bytes=block_bytes),),
        pattern=Uniform() if random else Sequential(),
        workers=threads,
        depth=depth,
        engine=engine_of(depth),
        arrival=arrival or Closed(),
        stop=Stop(time_ns=round(seconds * NS_PER_S / record_ns) * record_ns),
    )
    return Workload.of(stream, interval_ns=record_ns)


def load_name(read_pct: int, block_bytes: int, *, random: bool = True) -> str:
    """Return the specification's name of a load: ``RND 4 KiB 0/100``."""
    return f"{'RND' if random else 'SEQ'} {block_text(block_bytes)} {read_pct}/{100 - read_pct}"


def common(data: RunData, p: PtsParams) -> dict[str, Any]:
    """Return the fields that all results of tests with one long load share."""
    threads, depth = p.shape
    return {
        "quick": data.quick,
        "specification": SPECIFICATION,
        "setting": SETTINGS[p.setting],
        "threads": threads,
        "depth": depth,
        "active_range_pct": p.range_pct,
        "active_range_bytes": p.range_bytes(data.capacity_bytes),
        "open_points": p.open_points,
        "purged": was_purged(data),
        "capacity_bytes": data.capacity_bytes,
        "fills": data.written_bytes / data.capacity_bytes,
    }


def headline(name: str, label: str, values: Sequence[float], unit: str) -> Metric:
    """Return the mean of some values as a headline figure."""
    return Metric.more(name, label, fmean(values) if values else None, unit)


def records_of(data: RunData, step: Step) -> PtsRecords:
    """Return the complete records of a step, with all directions together."""
    rows = data.rows(step)
    kept = ~rows["partial"]
    count = int(rows["row"][kept].max()) + 1 if kept.any() else 0
    lengths_ns = rows["end_ns"] - rows["start_ns"]
    seconds = float(lengths_ns[kept][0]) / NS_PER_S if count else 0.0
    writes = kept & (rows["direction"] == "write")
    worst = np.zeros(count)
    np.maximum.at(worst, rows["row"][kept], np.nan_to_num(rows["response_max_ns"][kept]))
    found = by_record(data.row_buckets(step), worst.tolist())
    nines = [each.estimate(FIVE_NINES) for each in found]
    return PtsRecords(
        ordinal=step.ordinal,
        seconds=seconds,
        iops=tuple((_sums(rows, "ios", kept, count) / seconds).tolist()) if count else (),
        mb_s=tuple((_sums(rows, "bytes", kept, count) / seconds / 1e6).tolist()) if count else (),
        mean_ns=tuple(each.mean_ns for each in found),
        five_nines_ns=tuple(None if each is None else each.value_ns for each in nines),
        five_nines_low_ns=tuple(None if each is None else each.low_ns for each in nines),
        five_nines_high_ns=tuple(None if each is None else each.high_ns for each in nines),
        ios=tuple(each.samples for each in found),
        max_ns=tuple(float(each) or None for each in worst),
        written_bytes=tuple(int(each) for each in _sums(rows, "bytes", writes, count)),
    )


def picked(found: PtsRecords, numbers: Sequence[int]) -> PtsRecords:
    """Return the records at these indices."""
    columns = {
        name: values for name in type(found).model_fields if isinstance(values := getattr(found, name), tuple)
    }
    return found.model_copy(
        update={name: tuple(values[at] for at in numbers) for name, values in columns.items() if values}
    )


def weighted_mean_ns(found: PtsRecords) -> float | None:
    known = [(rate, mean) for rate, mean in zip(found.iops, found.mean_ns, strict=True) if mean is not None]
    done = sum(rate for rate, _ in known)
    return sum(rate * mean for rate, mean in known) / done if done else None


def samples_of(
    data: RunData, step: Step, found: PtsRecords, cycle: int, *, at: int | None = None
) -> PtsSamples:
    """Judge steady state by one record of each cycle, which is the last one by default.

    `found` holds the records of the step. `at` is the index of the judged record in its cycle.
    """
    at = cycle - 1 if at is None else at
    values = found.iops[at::cycle]
    first = first_steady([values])  # records after the first steady window do not count
    begins = max(0, len(values) - WINDOW) if first is None else first
    last = min(len(values), begins + WINDOW)
    before = written_until(data, step.ordinal) - step.written_bytes
    fills = (before + sum(found.written_bytes[: last * cycle])) / data.capacity_bytes
    begins_s = (begins * cycle + at) * found.seconds
    length_s = max(0, (last - begins - 1) * cycle + 1) * found.seconds
    host, failed = _disturbed(step, begins_s, length_s), not_proven(data.steps, step)
    doubted = doubts([step.ordinal], host=host, failed=failed)
    return PtsSamples(
        steady=first is not None and fills >= MIN_CAPACITIES and not doubted,
        doubts=doubted,
        first=begins + 1,
        last=last,
        every=cycle,
        at=at,
        variable=judged(TrackedVariable(name="samples", unit="IOPS", values=values), begins),
        fills=fills,
    )


def _disturbed(step: Step, begins_s: float, length_s: float) -> str:
    """Return why a part of a step cannot show whether the drive is steady; empty if it can.

    The reasons are that the host was the limit, or that ssdlab was paused for too long within the part.
    """
    begins_ns = step.measured.zero_ns + round(begins_s * NS_PER_S)
    ends_ns = begins_ns + round(length_s * NS_PER_S)
    within = (each for each in step.result.pauses if each.end_ns > begins_ns and each.start_ns < ends_ns)
    paused_s = sum(each.length_ns for each in within) / NS_PER_S
    still = f"ssdlab was paused for {span_text(paused_s)}" if paused_s > PAUSED_SHARE * length_s else ""
    return "; ".join(filter(None, (evidence_of(step).by_host, still)))


def samples_text(samples: PtsSamples) -> str:
    """Return the verdict on the samples, as printed in the header of a page."""
    if samples.steady:
        return f"steady state in {numbered_text('sample', samples.first, samples.last)}"
    return found_text(samples)


def histogram_of(data: RunData, step: Step, found: PtsRecords, first: int) -> PtsHistogram | None:
    """Return all response times from the record at index `first` on; None without I/O."""
    columns = data.row_buckets(step)
    stretch = picked(found, range(first, len(found.iops)))
    max_ns = max((each for each in stretch.max_ns if each is not None), default=0.0)
    kept = (columns["clock"] == "service") & (columns["row"] >= first) & (columns["row"] < len(found.iops))
    total = merged(columns, kept, max_ns)
    if not total.samples:
        return None
    return PtsHistogram(
        seconds=len(stretch.iops) * found.seconds,
        iops=fmean(stretch.iops),
        mb_s=fmean(stretch.mb_s),
        mean_ns=total.mean_ns,
        **tail_of(total),
        max_ns=max_ns,
        low_ns=tuple(total.low_ns.tolist()),
        high_ns=tuple(total.high_ns.tolist()),
        count=tuple(total.count.tolist()),
    )


def tail_of(total: Buckets) -> dict[str, Any]:
    """Return a histogram's percentiles and their bounds, as fields of `PtsHistogram`."""
    found = {name: total.estimate(Fraction(name)) for name in TAIL}
    return {
        "percentiles_ns": {name: None if each is None else each.value_ns for name, each in found.items()},
        "bounds_ns": {name: (each.low_ns, each.high_ns) for name, each in found.items() if each is not None},
    }


def written_rows(rows: Sequence[Any]) -> tuple[list[float], list[int]]:
    """Return IOPS and bytes written of each row that a running load has completed."""
    iops = [row.ios * NS_PER_S / (row.end_ns - row.start_ns) for row in rows]
    return iops, [sum(cell.bytes for cell in row.cells if cell.direction == "write") for row in rows]


def _sums(rows: Columns, name: str, kept: npt.NDArray[Any], count: int) -> npt.NDArray[Any]:
    return np.bincount(rows["row"][kept], weights=rows[name][kept], minlength=count)


@dataclass(frozen=True, slots=True)
class Load:
    """The I/O of a test: block sizes, LBA ranges, and share of reads (RW1)."""

    name: str
    read_pct: int
    blocks: tuple[Block, ...]
    pattern: Uniform | Sequential | Bands
    left_out_bytes: tuple[int, ...] = ()
    """Block sizes that are left out, because the drive's sectors do not allow them."""

    def workload(
        self, shape: Shape, seconds: float, *, writes: bool = False, record_s: float | None = None
    ) -> Workload:
        """Return the load as a workload with threads and depth, for some seconds.

        With `writes` it has no reads (0/100). A row lasts `record_s` seconds, by default at most one second.
        """
        threads, depth = shape
        stop_ns = round(seconds * NS_PER_S)
        stream = Stream(
            ops=Mix(read_pct=0 if writes else self.read_pct),
            block=self.blocks,
            pattern=self.pattern,
            workers=threads,
            depth=depth,
            engine=engine_of(depth),
            stop=Stop(time_ns=stop_ns),
        )
        row_ns = min(NS_PER_S, stop_ns // 10) if record_s is None else round(record_s * NS_PER_S)
        return Workload.of(stream, interval_ns=max(1_000_000, row_ns))


def blocks_of(load: Load) -> Iterator[BlockShare]:
    total = sum(block.weight for block in load.blocks)
    for block in load.blocks:
        yield BlockShare(block_bytes=block.bytes, share=block.weight / total)


def ranges_of(load: Load) -> Iterator[RangeShare]:
    """Yield the LBA ranges of a load, each with its share of the I/Os; none if access is uniform."""
    if isinstance(load.pattern, Bands):
        bands = load.pattern.bands
        spans, accesses = (
            sum(getattr(band, name) for band in bands) for name in ("span_weight", "access_weight")
        )
        for band in bands:
            yield RangeShare(range_share=band.span_weight / spans, share=band.access_weight / accesses)


def why_left_out(data: RunData, load: Load) -> str:
    if not load.left_out_bytes:
        return ""
    sectors = block_text(data.logical_block_bytes)
    return f"the drive's sectors are of {sectors}; the other sizes keep their proportions"


def rested(every: PtsRecords, returning: PtsRecords, rest: int, burst_s: float, baseline: float) -> PtsWait:
    """Return the result of bursts with rests of one length, and of the writes after them.

    `every` has a record for each burst, and for each burst length of rest. The first burst follows no rest,
    so the figures leave it out.
    """
    cycle = 1 + rest
    bursts = picked(every, range(0, len(every.iops), cycle))
    after_rests = picked(every, range(cycle, len(every.iops), cycle))
    mean_iops = fmean(after_rests.iops)
    return PtsWait(
        idle_s=rest * burst_s,
        bursts=bursts,
        mean_iops=mean_iops,
        mean_ns=weighted_mean_ns(after_rests),
        max_ns=max((each for each in every.max_ns[cycle:] if each is not None), default=None),
        of_baseline=mean_iops / baseline if baseline else 0.0,
        back=returning,
        back_iops=fmean(returning.iops[-max(1, len(returning.iops) // 10) :]),
    )


def preconditioning_of(p: PtsParams, name: str, samples: PtsSamples, round_s: float) -> Stimulus:
    """Return preconditioning in rounds as printed in the header of a page."""
    threads, depth = p.shape
    return Stimulus(
        what=name,
        threads=threads,
        depth=depth,
        lasted=f"{counted(len(samples.variable.values), 'round')} of {span_text(round_s)}",
        outcome=samples_text(samples),
        dependent=True,
    )
