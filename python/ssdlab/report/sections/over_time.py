"""Interval rows over time, including intervals without I/O; buttons choose the measured point."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ssdlab.model.units import counted
from ssdlab.report.charts import Axis, Choice, Measure, PackedColumn, SeriesChart, Spell, Track, pack
from ssdlab.report.view import Buttons, Figure
from ssdlab.results import cells
from ssdlab.results.cells import Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from ssdlab.model.summary import Pause
    from ssdlab.model.telemetry import Mark
    from ssdlab.report.runs import Shown

MEASURES = (
    Measure("iops", "IOPS", Axis("IOPS in the interval", "iops")),
    Measure("p99_ns", "p99", Axis("p99 response time in the interval, log", "ns", "log")),
    Measure("max_ns", "longest", Axis("longest response time in the interval, log", "ns", "log")),
)
_FINEST = {"end_s": 0.001, "iops": 0.001, "mb_s": 0.001, "p99_ns": 1.0, "max_ns": 1.0}
_KEYS = ("end_s", *(measure.key for measure in MEASURES))


@dataclass(frozen=True)
class Watched:
    """A step of a run shown over time, with the name of its button."""

    shown: Shown
    ordinal: int
    button: str
    clock: str = "response"
    """Clock of the latencies shown."""


@dataclass(frozen=True)
class Rows:
    """The whole intervals of one step, stream and direction."""

    watched: Watched
    name: str
    dashed: bool
    columns: dict[str, npt.NDArray[Any]]


def figure(
    section: str, watched: Sequence[Watched], first: str, measures: tuple[Measure, ...] = MEASURES
) -> Figure | None:
    """Return the time series of a section; None if no step has rows."""
    found = [rows for one in watched for rows in rows_of(one)]
    if not found:
        return None
    buttons = list(dict.fromkeys(rows.watched.button for rows in found))
    choices = tuple(
        Choice(
            button,
            tuple(track(rows, _KEYS) for rows in found if rows.watched.button == button),
            spells=_spells([rows.watched for rows in found if rows.watched.button == button]),
        )
        for button in buttons
    )
    zeros = sum(int((rows.columns["iops"] == 0).sum()) for rows in found)
    stalls = (
        f"{counted(zeros, 'interval')} completed no I/O; marked."
        if zeros
        else "Every interval completed I/O."
    )
    pressed = buttons.index(first) if first in buttons else 0
    return Figure(
        id=f"{section}-over-time",
        title="Over time",
        lead=stalls,
        described=f"Time series of {counted(len(buttons), 'point')}, one row for each interval. {stalls}",
        chart=SeriesChart(measures, choices),
        tables=(_table(found),),
        measured=(
            "Each dot is an interval; long runs are drawn as a line of medians.",
            "All workers share one clock: a row closes when every worker has passed its end.",
            "I/Os that completed after the stop have their own row: they are counted, but in no rate and "
            "not drawn.",
        ),
        buttons=(
            *((Buttons("view", "Point", tuple(buttons), pressed),) if len(buttons) > 1 else ()),
            Buttons("measure", "Figure", tuple(measure.label for measure in measures)),
        ),
        zoom=True,
        wide=True,
    )


def _spells(watched: Sequence[Watched]) -> tuple[Spell, ...] | None:
    """Return events of drives and pauses of ssdlab during these steps, by the rows' clock; None if none."""
    found = []
    for each in {(one.shown.index, one.ordinal): one for one in watched}.values():
        step = each.shown.run.step(each.ordinal)
        if step is None or step.workload is None or step.summary is None:
            continue
        ramp_ns, telemetry = step.workload.ramp_ns, step.result.telemetry
        found += [spell_of(mark, -ramp_ns / 1e9) for mark in (() if telemetry is None else telemetry.marks)]
        found += [_spell_of(each, step.summary.zero_ns + ramp_ns) for each in step.result.pauses]
    return tuple(found) or None


def _spell_of(pause: Pause, zero_ns: int) -> Spell:
    start_s, end_s = ((at_ns - zero_ns) / 1e9 for at_ns in (pause.start_ns, pause.end_ns))
    return Spell(max(0.0, start_s), "ssdlab paused", max(0.0, end_s))


def spell_of(mark: Mark, offset_s: float) -> Spell:
    """Return a mark as an event of a chart, with its time shifted by `offset_s`."""
    until_s = None if mark.until_ns is None else max(0.0, mark.until_ns / 1e9 + offset_s)
    return Spell(max(0.0, mark.at_ns / 1e9 + offset_s), mark.what, until_s)


def rows_of(watched: Watched) -> list[Rows]:
    """Return the whole intervals of a step, by stream and direction."""
    lines = watched.shown.run.rows(watched.ordinal)
    kinds = list(dict.fromkeys(zip(lines["stream"].tolist(), lines["direction"].tolist(), strict=True)))
    streams = {stream for stream, _ in kinds}
    result = []
    for stream, direction in kinds:
        kept = (lines["stream"] == stream) & (lines["direction"] == direction)
        columns = _full({name: column[kept] for name, column in lines.items()}, watched.clock)
        if columns is None:
            continue
        name = " ".join(
            ([str(stream)] if len(streams) > 1 else [])
            + ([str(direction)] if len(kinds) > len(streams) else [])
        )
        result.append(Rows(watched, name, direction != "read", columns))
    return result


def _full(lines: dict[str, npt.NDArray[Any]], clock: str) -> dict[str, npt.NDArray[Any]] | None:
    """Return the rows of whole, counted intervals; None if none.

    Attempts of a continued step follow one another without a gap.
    """
    lines = {name: column[~(lines["ramp"] | lines["partial"])] for name, column in lines.items()}
    lengths_ns = (lines["end_ns"] - lines["start_ns"]).astype(np.float64)
    if lengths_ns.size == 0:
        return None
    return {
        "end_s": np.cumsum(lengths_ns) / 1e9,
        "iops": lines["ios"] * 1e9 / lengths_ns,
        "mb_s": lines["bytes"] * 1e3 / lengths_ns,
        "p99_ns": np.nan_to_num(lines[f"{clock}_p99_ns"].astype(np.float64)),
        "max_ns": np.nan_to_num(lines[f"{clock}_max_ns"].astype(np.float64)),
    }


def track(rows: Rows, keys: Sequence[str], *, from_s: float = 0.0) -> Track:
    """Pack these columns, without the rows that end by `from_s`."""
    kept = rows.columns["end_s"] > from_s
    columns = tuple(PackedColumn(key, *pack(rows.columns[key][kept], _FINEST[key])) for key in keys)
    return Track(rows.watched.shown.index, rows.name, rows.dashed, columns)


def _quantiles(values: npt.NDArray[np.float64], shares: Sequence[float]) -> list[float]:
    """Return quantiles as `numpy.quantile` does, without its slow import of masked arrays."""
    last = len(values) - 1
    found: list[float] = np.interp(np.multiply(shares, last), np.arange(last + 1), np.sort(values)).tolist()
    return found


def _table(found: Sequence[Rows]) -> Table:
    many = len({rows.watched.shown.index for rows in found}) > 1
    head = (
        "Point",
        "Intervals",
        "Slowest",
        "1 % slowest",
        "Median",
        "Mean",
        "Fastest",
        "Variation",
        "Without I/O",
        "Longest latency",
    )
    body = []
    for rows in found:
        iops = rows.columns["iops"]
        label = " ".join((rows.watched.button, rows.name)).strip()
        named = (cells.words(label),)
        mean = float(iops.mean())
        figures = (
            cells.count(int(iops.size)),
            cells.iops(float(iops.min())),
            *(cells.iops(value) for value in _quantiles(iops, (0.01, 0.5))),
            cells.iops(mean),
            cells.iops(float(iops.max())),
            cells.share(float(iops.std()) / mean if mean else None),
            cells.count(int((iops == 0).sum())),
            cells.latency(float(rows.columns["max_ns"].max()) or None),
        )
        body.append(
            ((cells.of_run(rows.watched.shown.label, rows.watched.shown.index), *named) if many else named)
            + figures
        )
    return Table(
        "IOPS of the whole intervals; every interval is in the CSV",
        (("Run", *head) if many else head),
        tuple(body),
    )
