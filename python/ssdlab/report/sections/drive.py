"""The drive during the run: IOPS, p99, power and temperature on one time line, with marked events."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ssdlab.model.units import and_listed, capacity_text, counted
from ssdlab.report.charts import (
    Axis,
    Measure,
    PackedColumn,
    Part,
    Spell,
    TimelineChart,
    TimelineView,
    Track,
    pack,
)
from ssdlab.report.sections.over_time import spell_of
from ssdlab.report.together import alike, with_numbers, words_of
from ssdlab.report.view import Buttons, Exhibit, Figure, Finding, Section
from ssdlab.results import cells
from ssdlab.results.cells import Table
from ssdlab.results.claim import sentence
from ssdlab.results.time_line import Placed, changes_of, counted_of, drive_findings, place_steps

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy.typing as npt

    from ssdlab.report.charts import RunStyle
    from ssdlab.report.runs import Shown
    from ssdlab.results.claim import Claim
    from ssdlab.results.metric import Metric

    Column = npt.NDArray[np.float64]

_FINEST = {"end_s": 0.001, "iops": 0.001, "p99_ns": 1.0, "watts": 0.0001, "temperature_c": 0.01}
_HIGHEST = frozenset({"p99_ns", "temperature_c"})
"""Figures of which merged rows keep the highest value; other figures keep the mean over time."""
_COUNTERS = {
    "host_read_bytes": "Read by the host",
    "host_written_bytes": "Written by the host",
    "nand_written_bytes": "Written to the medium",
    "media_errors": "Media errors",
    "error_log_entries": "Error log entries",
    "link_errors": "Link errors",
    "link_retrains": "Link retrained",
    "throttle_events": "Times throttled",
    "throttled_s": "Throttled, s",
    "energy_wh": "Energy, Wh",
    "unsafe_shutdowns": "Unsafe shutdowns",
    "slow_commands": "Slow commands",
}
"""Names of counters; "medium" because not every drive has NAND."""
_MAX_ROWS = 1000
"""Maximum rows of a run on the page, apart from some for each step: as many as the chart has pixels."""
_JOINED_S = 2.0
"""Maximum gap between two periods drawn as one: samples are a second apart, and steps a little more."""
_PANELS = (
    Measure("iops", "IOPS", Axis("IOPS", "iops"), pauses=True),
    Measure("p99_ns", "p99", Axis("p99 response time, log", "ns", "log"), pauses=True),
    Measure("watts", "W", Axis("W", "plain"), pauses=True),
    Measure("temperature_c", "°C", Axis("temperature, °C", "plain"), pauses=True),
)


def section(runs: Sequence[Shown]) -> Section | None:
    """Return the section; None if no drive reports temperature or power, and there are no events."""
    shown = [each for each in runs if _worth_showing(each)]
    if not shown:
        return None
    several = len({each.style for each in shown}) < len(shown)
    return Section(
        id="drive",
        title="What happened to the drive",
        lead=tuple(_leads(shown, several=several, many=len(runs) > 1)),
        runs=tuple(each.index for each in shown),
        figures=tuple(filter(None, (_figure(shown),))),
        exhibits=(
            Exhibit(
                "Drive counters",
                "Increase over the steps of the run; empty if the drive does not report a counter.",
                (_table(shown).filled,),
            ),
        ),
    )


def _worth_showing(shown: Shown) -> bool:
    samples = shown.run.telemetry
    known = any(np.isfinite(samples[name]).any() for name in ("temperature_c", "drawn_w"))
    known |= len(shown.run.power["end_ns"]) > 0
    return known or any(
        step.result.telemetry is not None and step.result.telemetry.marks for step in shown.run.steps
    )


def _leads(runs: Sequence[Shown], *, several: bool, many: bool) -> Iterator[str]:
    """Yield the findings of the runs; texts of several methods that differ only in numbers are merged."""
    same: dict[tuple[RunStyle, tuple[str, ...]], list[tuple[Shown, str]]] = {}
    for shown in runs:
        sentences = [
            sentence(claim) for claim in drive_findings(shown.run.steps, _figures_of(shown), beside=many)
        ]
        if not many:
            yield from sentences
        elif sentences:
            joint = " ".join(sentences)
            same.setdefault((shown.style, words_of(joint)), []).append((shown, joint))
    for (style, _), own in same.items():
        of = f"{and_listed([each.run.manifest.method.title for each, _ in own])}: " if several else ""
        ((words, numbers),) = alike(text for _, text in own).items()
        yield Finding(own[0][0].index, style.label, of + with_numbers(words, numbers, each_own=True))


def _figure(shown: Sequence[Shown]) -> Figure | None:
    found = (_view(each, name) for each, name in zip(shown, _names(shown), strict=True))
    views = tuple(view for view in found if view.tracks or view.spells)
    if not views:
        return None
    keys = {column.key for view in views for track in view.tracks for column in track.columns}
    panels = tuple(panel for panel in _PANELS if panel.key in keys)
    happened = sum(len(view.spells) for view in views)
    marked = (
        "No throttling or errors reported."
        if not happened
        else f"Shaded: throttling. Lines: other events. {counted(happened, 'event')} in all."
    )
    drawn = ", ".join(panel.label for panel in panels)
    return Figure(
        id="drive-time-line",
        title="Time line of the run",
        lead=marked,
        described=f"Time line of {drawn}. {marked}",
        chart=TimelineChart(panels, views),
        tables=tuple(table for each in shown if (table := _marks(each)).rows),
        measured=(
            "Steps in the order of the run, with the pauses between them.",
            "The drive is polled once a second, except in idle steps.",
            f"Above {_MAX_ROWS} rows, neighbours are merged: mean of IOPS and watts, highest p99 and °C.",
        ),
        buttons=_buttons(views),
        zoom=True,
        wide=True,
    )


def _buttons(views: Sequence[TimelineView]) -> tuple[Buttons, ...]:
    """Return the buttons that choose the run, with the first run that has events pressed."""
    if len(views) < 2:
        return ()
    pressed = next((at for at, view in enumerate(views) if view.spells), 0)
    return (Buttons("view", "Run", tuple(view.label for view in views), pressed=pressed),)


def _figures_of(shown: Shown) -> Sequence[Metric]:
    return () if shown.run.result is None else shown.run.result.scalars


def _names(shown: Sequence[Shown]) -> list[str]:
    """Return the text of each run's button; it includes the method if several runs have the same label."""
    labels = [each.style.short for each in shown]
    titles = [each.run.manifest.method.title for each in shown]
    return [
        f"{label}, {title}" if labels.count(label) > 1 else label
        for label, title in zip(labels, titles, strict=True)
    ]


def _view(shown: Shown, name: str) -> TimelineView:
    placed = place_steps(shown.run.steps)
    tracks = tuple(_joint(shown, placed))
    spells = [
        spell_of(mark, each.start_s)
        for each in placed
        for mark in (each.step.result.telemetry.marks if each.step.result.telemetry else ())
    ]
    return TimelineView(name, tracks, tuple(_joined(spells)))


def _joined(spells: Sequence[Spell]) -> Iterator[Spell]:
    """Yield the events; a period that continues in the next step is joined, under its first text."""
    last: Spell | None = None
    for spell in spells:
        if last is not None and last.until_s is not None and spell.until_s is not None:
            near = spell.from_s - last.until_s <= _JOINED_S
        else:
            near = False
        if last is not None and near:
            last = replace(last, until_s=spell.until_s)
            continue
        if last is not None:
            yield last
        last = spell
    if last is not None:
        yield last


def _joint(shown: Shown, placed: Sequence[Placed]) -> Iterator[Track]:
    """Yield each figure as one track over all steps; a line for each of a thousand steps is too slow."""
    by_key: dict[str, list[tuple[str, float, Column, Column]]] = {}
    for each in placed:
        for key, times_s, values in _figures(shown, each):
            if len(values):
                by_key.setdefault(key, []).append((each.step.label, each.start_s, times_s, values))
    for key, found in by_key.items():
        lasting_s = sum(float(times_s[-1]) for _, _, times_s, _ in found)
        steps = [
            (label, start_s, *_joined_rows(key, times_s, values, lasting_s / _MAX_ROWS))
            for label, start_s, times_s, values in found
        ]
        begins = np.cumsum([0, *(len(values) for *_, values in steps)]).tolist()
        columns = (
            PackedColumn(
                "end_s",
                *pack(
                    np.concatenate([start_s + times_s for _, start_s, times_s, _ in steps]), _FINEST["end_s"]
                ),
            ),
            PackedColumn(key, *pack(np.concatenate([values for *_, values in steps]), _FINEST[key])),
        )
        parts = tuple(Part(row, label) for row, (label, *_) in zip(begins[:-1], steps, strict=True))
        yield Track(shown.index, "", False, columns, parts)


def _joined_rows(key: str, times_s: Column, values: Column, width_s: float) -> tuple[Column, Column]:
    """Return rows merged over stretches of `width_s`; a merged row ends with the last one in its stretch."""
    _, begins = np.unique(np.ceil(times_s / width_s) if width_s > 0 else times_s, return_index=True)
    if len(begins) == len(values):
        return times_s, values
    ends = np.append(begins[1:], len(values)) - 1
    if key in _HIGHEST:
        return times_s[ends], np.maximum.reduceat(values, begins)
    lasted_s = np.maximum(np.diff(times_s, prepend=0.0), 1e-9)
    weights = np.add.reduceat(lasted_s, begins)
    return times_s[ends], np.add.reduceat(values * lasted_s, begins) / weights


def _figures(shown: Shown, placed: Placed) -> Iterator[tuple[str, Column, Column]]:
    """Yield the figures of one step, each with its own times in s since the step began."""
    ends_s, iops, p99_ns = _rows(shown, placed.step.ordinal)
    yield "iops", ends_s, iops
    yield "p99_ns", ends_s[p99_ns > 0], p99_ns[p99_ns > 0]
    samples = shown.run.samples(placed.step.ordinal)
    figures = {
        "watts": _watts(shown, placed.step.ordinal),
        "temperature_c": (samples["at_ns"] / 1e9, samples["temperature_c"]),
    }
    for key, (times_s, values) in figures.items():
        known = np.isfinite(values) & (values >= 0) & (times_s >= 0)
        yield key, times_s[known], values[known]


def _watts(shown: Shown, ordinal: int) -> tuple[Column, Column]:
    """Return times in s and watts of a step, from its meter or else from the drive's own reports."""
    metered = shown.run.watts(ordinal)
    if len(metered["end_ns"]):
        return metered["end_ns"] / 1e9, metered["mean_w"]
    samples = shown.run.samples(ordinal)
    return samples["at_ns"] / 1e9, samples["drawn_w"]


def _rows(shown: Shown, ordinal: int) -> tuple[Column, Column, Column]:
    """Return for each interval its end in s, the IOPS of all streams, and their highest p99 in ns."""
    lines = shown.run.rows(ordinal)
    lines = {name: column[~lines["partial"]] for name, column in lines.items()}
    ends_ns, place = np.unique(lines["end_ns"], return_inverse=True)
    ios, slowest, length = (np.zeros(len(ends_ns)) for _ in range(3))
    np.add.at(ios, place, lines["ios"])
    np.maximum.at(slowest, place, np.nan_to_num(lines["response_p99_ns"].astype(np.float64)))
    np.maximum.at(length, place, (lines["end_ns"] - lines["start_ns"]) / 1e9)
    kept = length > 0
    return ends_ns[kept] / 1e9, ios[kept] / length[kept], slowest[kept]


def _marks(shown: Shown) -> Table:
    rows = tuple(
        (
            cells.words(f"{(each.start_s + mark.at_ns / 1e9) / 60:.1f}"),
            cells.words(each.step.label),
            cells.words(mark.what),
        )
        for each in place_steps(shown.run.steps)
        for mark in (each.step.result.telemetry.marks if each.step.result.telemetry else ())
    )
    return Table(f"What happened, {shown.label}", ("Minute", "Step", "What"), rows)


def _table(shown: Sequence[Shown]) -> Table:
    several = len({each.style for each in shown}) < len(shown)
    changes = [changes_of(each.run.steps) for each in shown]
    names = list(dict.fromkeys(name for found in changes for name in found))
    rows = tuple(
        (
            cells.of_run(each.label, each.index),
            *([cells.words(each.run.manifest.method.title)] if several else []),
            *(_counted(name, found.get(name)) for name in names),
            *map(_amount, counted_of(place_steps(each.run.steps))[::-1]),
        )
        for each, found in zip(shown, changes, strict=True)
    )
    return Table(
        "Changes of the drive's counters",
        (
            "Run",
            *(["Method"] if several else []),
            *(_COUNTERS.get(name, name.replace("_", " ")) for name in names),
            "Write amplification",
            "Highest °C",
        ),
        rows,
    )


def _amount(claim: Claim | None) -> cells.Cell:
    return cells.plain(None if claim is None or claim.figure is None else claim.figure.value)


def _counted(name: str, value: float | None) -> cells.Cell:
    if value is None:
        return cells.words(cells.NOTHING)
    if name.endswith("bytes"):
        return cells.Cell(capacity_text(int(value)), str(int(value)))
    return cells.count(int(value)) if float(value).is_integer() else cells.plain(value)
