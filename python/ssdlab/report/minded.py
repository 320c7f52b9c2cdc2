"""What a picture that leaves its page says of the runs that it draws, and of those that it leaves out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ssdlab.methods.results.figure_state import states_of
from ssdlab.report.charts import (
    BarsChart,
    HeadNote,
    HeatChart,
    MarksChart,
    SeriesChart,
    TimelineChart,
    XyChart,
)
from ssdlab.report.sections.headlines import moved
from ssdlab.results.host_part import HOST_LIMITED, host_part
from ssdlab.results.warned_steps import THROTTLED, warned_steps

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ssdlab.report.charts import Chart
    from ssdlab.report.runs import Shown

_NAMED_FIGURES = 2
"""So many figures of a run are named of which the state was not shown; of more their count."""


def notes_of(chart: Chart, runs: Sequence[Shown], *, all_drawn: bool) -> tuple[HeadNote, ...]:
    """Return what is to be minded of the runs that a chart draws, each text once, then whom it leaves out.

    Parameters
    ----------
    chart
        What is drawn.
    runs
        Those of its section.
    all_drawn
        Whether each of them belongs into the chart, so that one that is not there is missed.
    """
    drawn = _drawn(chart)
    of: dict[str, list[int]] = {}
    for one in runs:
        if one.index in drawn and (text := _minded(one)):
            of.setdefault(text, []).append(one.index)
    notes = [HeadNote(tuple(at), text) for text, at in of.items()]
    if all_drawn:
        notes += [
            HeadNote((), f"Not shown: {one.label}: {_minded(one) or 'it has no such figure'}")
            for one in runs
            if one.index not in drawn
        ]
    return tuple(notes)


def _minded(one: Shown) -> str:
    """Return what the page says beside the figures of a run: its state, heat and the host's part."""
    states = [each for each in _state(one) if not each.startswith((THROTTLED, HOST_LIMITED))]
    return "; ".join((*states, *_throttled(one), *_by_host(one)))


def _state(one: Shown) -> Iterator[str]:
    result = one.run.result
    if getattr(result, "moved", False):
        headline = moved(one, getattr(result, "checks", ()))
        yield ": ".join((headline.figure, *headline.beside[:1]))
        return
    # Beside a page's figures the reason stands under its heading; a picture has no other place for it.
    why = getattr(result, "why_unjudged", "")
    of: dict[str, list[str]] = {}
    labels = {each.name: each.label for each in result.scalars}
    for name, state in states_of(result).items():
        of.setdefault(state, []).append(labels[name])
    for state, figures in of.items():
        few = len(figures) <= _NAMED_FIGURES
        which = ", ".join(figures) if few else f"{len(figures)} of {len(labels)} figures"
        whole = state if len(figures) == len(labels) else f"{state} ({which})"
        yield f"{whole}: {why}" if why else whole


def _throttled(one: Shown) -> Iterator[str]:
    for each in warned_steps(one.run.warnings, one.run.steps):
        if each.code == "throttled":
            yield f"{THROTTLED} {each.share}".strip()


def _by_host(one: Shown) -> Iterator[str]:
    part = host_part(one.run.steps)
    if part is not None:
        yield part.words


def _drawn(chart: Chart) -> set[int]:
    """Return the runs that any view of a chart draws."""
    return set().union(*runs_of_views(chart))


def runs_of_views(chart: Chart) -> list[set[int]]:
    """Return the runs that each view of a chart draws."""
    match chart:
        case XyChart(views):
            return [{line.run for line in view.lines if line.points} for view in views]
        case BarsChart(views):
            return [{bar.run for group in view.groups for bar in group.bars} for view in views]
        case MarksChart(views=views):
            return [{row.run for row in view.rows} for view in views]
        case HeatChart(views=views):
            return [{view.run} for view in views]
        case TimelineChart(views=views):
            return [{track.run for track in view.tracks} for view in views]
        case SeriesChart(choices=choices):
            return [{track.run for track in choice.tracks} for choice in choices]
