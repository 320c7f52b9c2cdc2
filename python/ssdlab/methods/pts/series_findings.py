"""Findings and tables of SNIA's tests of one long load."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from ssdlab.analysis.write_saturation import REASONS
from ssdlab.plugin import Amount, Bound, Claim, Evidence, Table, cells, share_text, significant

from .findings import NINES_HEAD, Window, found_text, nines_cells, open_points, window_claim, window_table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .result import (
        PtsCrossStimulusResult,
        PtsIdleRecoveryResult,
        PtsRecords,
        PtsSamples,
        PtsSaturationResult,
        PtsWait,
    )


def window_of(samples: PtsSamples) -> Window:
    return Window(samples.variable, samples.verdict, samples.first, samples.last, "sample")


def fills_of(result: PtsSaturationResult) -> list[float]:
    """Return how many times the user capacity was written by the end of each record."""
    return [total / result.capacity_bytes for total in result.records.total_bytes()]


def saturation_findings(result: PtsSaturationResult) -> Iterator[Claim]:
    records, ended = result.records, result.ended
    shown = Evidence((records.ordinal,), (0, ended - 1) if ended else None)
    if not ended:
        yield Claim(
            "{load}: cut short before the first record",
            evidence=shown,
            others={"load": result.stimulus},
        )
        return
    samples = result.samples
    why = _ended(result)
    others: dict[str, Amount | str] = {
        "load": result.stimulus,
        "of": f"{result.setting} of {result.specification}",
        "why": why,
        "time": Amount(ended * records.seconds, "s"),
        "fills": f"{significant(fills_of(result)[ended - 1])} drive writes",
        "first": Amount(records.iops[0], "IOPS"),
        "last": Amount(records.iops[ended - 1], "IOPS"),
    }
    speeds = "{first} in the first record, {last} in the last" if ended > 1 else "{last} in its one record"
    says = f"{{load}} by {{of}}: {{why}} after {{time}} and {{fills}}; {speeds}"
    yield window_claim(says, window_of(samples), shown, others)


def _ended(result: PtsSaturationResult) -> str:
    """Return what ended the test; with too little writing, a steady window is not called steady state."""
    if result.reason is None:
        return "cut short"
    if result.reason == "steady" and not result.samples.steady:
        return f"ended by the steady-state criterion (steady state {found_text(result.samples)})"
    return f"ended by {REASONS[result.reason]}"


def ends(result: PtsSaturationResult) -> Table:
    """Return a table with one row on why the test stopped."""
    head = ("Stimulus", "Ended by", "After", "Drive fills", "Samples", "Steady", "Drive fills at the window")
    row = (
        cells.words(result.stimulus),
        cells.words("cut short" if result.reason is None else REASONS[result.reason]),
        cells.seconds(result.ended * result.records.seconds),
        cells.plain(fills_of(result)[result.ended - 1] if result.ended else None),
        cells.count(len(result.samples.variable.values)),
        cells.words(result.samples.verdict),
        cells.plain(result.samples.fills),
    )
    return Table("Reason for the stop", head, (row,))


def course_table(result: PtsSaturationResult) -> Table:
    """Return a table of the load at every half drive fill."""
    records, fills = result.records, fills_of(result)
    rows = tuple(
        (
            cells.plain(fills[at]),
            cells.seconds((at + 1) * records.seconds),
            cells.iops(records.iops[at]),
            cells.throughput(records.mb_s[at]),
            cells.latency(records.mean_ns[at]),
            *nines_cells(records.five_nines(at)),
            cells.latency(records.max_ns[at]),
        )
        for at in course(fills[: result.ended])
    )
    head = ("Drive fills", "Time", "IOPS", "MB/s", "ART", *NINES_HEAD, "MRT")
    caption = "Every half drive fill, and the last record; bounds of the five nines at 95 %"
    return Table(caption, head, rows, brief=tuple(each for each in head if each != "Drive fills"))


def course(fills: Sequence[float]) -> list[int]:
    """Return the indices of the first record in each half drive fill, and of the last record."""
    halves = [int(2 * each) for each in fills]
    found = [at for at, (before, now) in enumerate(pairwise([0, *halves])) if now > before]
    return list(dict.fromkeys([*found, *range(len(fills))[-1:]]))


def saturation_tables(result: PtsSaturationResult) -> tuple[Table, ...]:
    return (
        ends(result),
        window_table([window_of(result.samples)]),
        course_table(result),
        *open_points(result),
    )


def first_after_cut(waits: Sequence[PtsWait]) -> PtsWait | None:
    """Return the first bursts after the last interruption; None without an interruption."""
    return next((wait for wait in reversed(waits) if wait.cut), None)


def idle_findings(result: PtsIdleRecoveryResult) -> Iterator[Claim]:
    gains = ", ".join(
        f"{share_text(wait.of_baseline)} after {Amount(wait.idle_s, 's')}" for wait in result.waits
    )
    steady = "" if result.samples.steady else "; steady state {verdict}"
    yield Claim(
        f"By {{of}}, bursts reach {{gains}} of rest (baseline {{figure}}){steady}",
        figure=Amount(result.baseline_iops, "IOPS"),
        evidence=Evidence((result.writes.ordinal, *(wait.bursts.ordinal for wait in result.waits))),
        others={
            "of": f"{result.setting} of {result.specification}",
            "gains": gains,
            "verdict": found_text(result.samples),
        },
    )
    if (first := first_after_cut(result.waits)) is not None:
        before = ", ".join(
            str(Amount(wait.idle_s, "s")) for wait in result.waits[: result.waits.index(first)]
        )
        yield Claim(
            "Interrupted before rests of {cut}, then preconditioned again: the baseline is from after the "
            "interruption, bursts with rests of {before} from before it",
            others={"cut": Amount(first.idle_s, "s"), "before": before},
        )


def waits(result: PtsIdleRecoveryResult) -> Table:
    head = (
        "Wait state",
        "Bursts after a rest",
        "Mean IOPS",
        "Of baseline",
        "ART",
        "MRT",
        "IOPS without rests",
    )
    name = f"baseline{'' if result.samples.steady else f', steady state {result.samples.verdict}'}"
    nothing = [cells.words("")] * 3
    baseline = (
        cells.words(name),
        cells.words(""),
        cells.iops(result.baseline_iops),
        cells.share(1.0),
        *nothing,
    )
    return Table(
        "Mean of each wait state against the baseline",
        head,
        (baseline, *(_row(wait) for wait in result.waits)),
    )


def _row(wait: PtsWait) -> tuple[cells.Cell, ...]:
    return (
        cells.seconds(wait.idle_s),
        cells.count(len(wait.bursts.iops) - 1),
        cells.iops(wait.mean_iops),
        cells.share(wait.of_baseline),
        cells.latency(wait.mean_ns),
        cells.latency(wait.max_ns),
        cells.iops(wait.back_iops),
    )


def idle_tables(result: PtsIdleRecoveryResult) -> tuple[Table, ...]:
    return (window_table([window_of(result.samples)]), waits(result), *open_points(result))


def _later(records: PtsRecords, level: float, reached_s: float) -> str:
    """Return a note on how many records fell below a level again after the first one that reached it."""
    ends_s = records.ends_s()
    after = [value for end_s, value in zip(ends_s, records.mb_s, strict=True) if end_s > reached_s]
    below = sum(value < level for value in after)
    return f" (first such record; {below} of the {len(after)} later ones were slower again)"


def cross_findings(result: PtsCrossStimulusResult) -> Iterator[Claim]:
    """Yield whether, and after what time, the third load became as fast as the first."""
    first, between, last = result.groups
    reached = result.recovery_s
    back = "not recovered after {time}" if reached is None else "recovered after {time}{later}"
    time_s = last.records.ends_s()[-1] if reached is None else reached
    yield Claim(
        f"By {{of}}: {{load}} averaged {{mean}}, {{other}} ended at {{end}}; {back}",
        figure=Amount(max(last.records.mb_s, default=None), "MB/s"),
        bound=Bound("at least", Amount(first.mean_mb_s, "MB/s")),
        evidence=Evidence(tuple(group.records.ordinal for group in result.groups)),
        others={
            "of": f"{result.setting} of {result.specification}",
            "mean": Amount(first.mean_mb_s, "MB/s"),
            "load": first.name,
            "end": Amount(between.end_mb_s, "MB/s"),
            "other": between.name,
            "later": "" if reached is None else _later(last.records, first.mean_mb_s, reached),
            "time": Amount(time_s, "s"),
        },
    )


def groups(result: PtsCrossStimulusResult) -> Table:
    """Return a table of the three loads, and of when the third became as fast as the first."""
    head = (
        "Group",
        "Stimulus",
        "Lasted",
        "Mean MB/s",
        "End MB/s",
        "Peak ART",
        "Peak MRT",
        "Recovered after",
    )
    rows = tuple(
        (
            cells.count(number),
            cells.words(group.name),
            cells.seconds(group.records.ends_s()[-1] if group.records.iops else None),
            cells.throughput(group.mean_mb_s),
            cells.throughput(group.end_mb_s),
            cells.latency(group.peak_mean_ns),
            cells.latency(group.peak_max_ns),
            _recovered(result) if number == len(result.groups) else cells.words(""),
        )
        for number, group in enumerate(result.groups, 1)
    )
    return Table("Each group; recovered when a record reaches the mean of group 1", head, rows)


def _recovered(result: PtsCrossStimulusResult) -> cells.Cell:
    return cells.words("not yet") if result.recovery_s is None else cells.seconds(result.recovery_s)


def cross_tables(result: PtsCrossStimulusResult) -> tuple[Table, ...]:
    return (groups(result), *open_points(result))
