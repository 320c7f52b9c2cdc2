"""The text of a picture saved from a page: title, measurement, drives and qualifiers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from ssdlab.lab.presented.points import OF_POWER
from ssdlab.lab.presented.steady import check_claim
from ssdlab.model.units import block_text, ends_text
from ssdlab.report.charts import (
    BarsChart,
    Head,
    HeadNote,
    HeadPart,
    HeatChart,
    MarksChart,
    SeriesChart,
    TimelineChart,
    XyChart,
)
from ssdlab.report.source import is_unended
from ssdlab.results.claim import sentence
from ssdlab.results.drive_states import moved
from ssdlab.results.evidence import qualified
from ssdlab.results.metric import Metric, united
from ssdlab.results.schema import ResultBase

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ssdlab.report.charts import Axis, Chart
    from ssdlab.report.runs import Shown
    from ssdlab.report.view import Figure, Section
    from ssdlab.results.drive_states import StateCheck
    from ssdlab.results.metric import Qualifier

_OF_QUANTITY: dict[str, tuple[str, ...]] = {
    "iops": ("IOPS", "MB/s"),
    "mb_s": ("IOPS", "MB/s"),
    "ns": ("ns",),
}
"""Units of the figures that an axis may show, by the quantity of the axis."""
_NAMED_FIGURES = 2
"""Maximum number of qualified figures of a run that are named; if there are more, they are counted."""


def notes_of(
    chart: Chart, runs: Sequence[Shown], *, all_drawn: bool, steps: Sequence[tuple[int, int]] = ()
) -> tuple[HeadNote, ...]:
    """Return notes on the runs that a chart draws, each text once, then on the runs that it leaves out.

    Parameters
    ----------
    runs
        Runs of the chart's section.
    all_drawn
        Whether the chart should have every run, so that a missing one is noted.
    steps
        The steps that the chart draws, by run and ordinal; empty: all.
    """
    units = _units(chart)
    drawn = _drawn(chart)
    of: dict[str, list[int]] = {}
    for one in runs:
        if one.index in drawn and (text := _minded(one, _figures(one, units, steps))):
            of.setdefault(text, []).append(one.index)
    notes = [HeadNote(tuple(at), text) for text, at in of.items()]
    if all_drawn:
        notes += [
            HeadNote(
                (),
                f"Not shown: {one.label}: {_minded(one, one.run.result.scalars) or 'no such figure'}",
            )
            for one in runs
            if one.index not in drawn
        ]
    return tuple(notes)


def _units(chart: Chart) -> frozenset[str]:
    """Return the units of the figures that a chart draws; empty if it may draw any unit."""
    match chart:
        case XyChart(views):
            axes = [axis for view in views for axis in (view.x, view.y)]
        case BarsChart(views):
            axes = [view.axis for view in views]
        case MarksChart(axis=axis):
            axes = [axis]
        case _:
            axes = []
    return frozenset(unit for axis in axes for unit in _OF_QUANTITY.get(axis.quantity, _of_title(axis)))


def _of_title(axis: Axis) -> tuple[str, ...]:
    unit = axis.title.rpartition(", ")[2]
    return (unit,) if unit in OF_POWER else ()


def _figures(one: Shown, units: frozenset[str], steps: Sequence[tuple[int, int]]) -> Sequence[Metric]:
    """Return the figures of a run that a chart draws, judged by its axes and steps; all if none match."""
    figures = one.run.result.scalars
    own = {ordinal for run, ordinal in steps if run == one.index}
    if own:
        figures = tuple(each for each in figures if own.intersection((*each.steps, *each.chosen_among)))
    of_unit = tuple(each for each in figures if each.unit in units)
    return of_unit or figures or one.run.result.scalars


def _minded(one: Shown, figures: Sequence[Metric]) -> str:
    """Return the qualifiers of a run's figures in words, each with its figures unless all have it."""
    if not figures:
        return "; ".join(_words(one, each) for each in _without_figures(one))
    found = united(each for figure in figures for each in figure.qualifiers)
    of = {each.code: [figure.label for figure in figures if each.code in figure.codes] for each in found}
    return "; ".join(_words(one, each, _which(of[each.code], len(figures))) for each in found)


def _which(named: Sequence[str], of: int) -> str:
    if len(named) == of:
        return ""
    return f" ({', '.join(named) if len(named) <= _NAMED_FIGURES else f'{len(named)} of {of} figures'})"


def _words(one: Shown, found: Qualifier, which: str = "") -> str:
    """Return a qualifier's label with its reason, as a picture has no other place for the reason."""
    why = (found.why or next(iter(_what_shows(one, (found,))), "")).rstrip(".")
    return f"{found.label}{which}{f': {why}' if why else ''}"


def _what_shows(shown: Shown, found: Sequence[Qualifier]) -> tuple[str, ...]:
    """Return the failed checks of the drive's state to which these qualifiers refer, as sentences."""
    steps = {ordinal for each in found for ordinal in each.steps}
    checks: tuple[StateCheck, ...] = getattr(shown.run.result, "checks", ())
    if not {each.code for each in found} & {each.code for each in moved(checks)}:
        return ()  # failed checks explain no other qualifier
    unheld = (each for each in checks if not each.held and steps.intersection(each.ordinals))
    return tuple(sentence(check_claim(each)) for each in unheld)


def _without_figures(shown: Shown) -> tuple[Qualifier, ...]:
    """Return the qualifiers of a run without figures: those of an imaginary figure of all its steps."""
    checks: tuple[StateCheck, ...] = getattr(shown.run.result, "checks", ())
    whole = Metric.more("", "", None, "", qualifiers=moved(checks))
    found = qualified(ResultBase(kind="", quick=False, scalars=(whole,)), shown.run.steps)
    return found.scalars[0].qualifiers


def _drawn(chart: Chart) -> set[int]:
    return set().union(*runs_of_views(chart))


def runs_of_views(chart: Chart) -> list[set[int]]:
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
            return [{track.run for track in chart.tracks_of(choice)} for choice in choices]


_NAMED_RUNS = 3
"""Maximum number of runs whose ids a footer gives in full. With more, it gives the end of each id, by which
the run can be found as well."""
_FOOTER_RUNS = 16
"""Maximum number of runs that a footer names."""
_NAMED_SIZES = 3


def heads_of(sections: Sequence[Section], placed: Sequence[Shown]) -> dict[str, Head]:
    found: dict[str, Head] = {}
    for section in sections:
        chosen = [placed[at] for at in section.runs] or list(placed)
        found |= {each.id: _head(section, each, chosen) for each in section.figures}
    return found


def _head(section: Section, figure: Figure, chosen: Sequence[Shown]) -> Head:
    """Return the text of a picture for the runs that it draws; if it draws none, for the section's runs."""
    views = runs_of_views(figure.chart)
    drawn = set().union(*views)
    runs = [one for one in chosen if one.index in drawn] or chosen
    fewer = {tuple(sorted(each)) for each in views if each and each != drawn}
    of = {each: [one for one in runs if one.index in each] for each in sorted(fewer)}
    return Head(
        title_of(section, figure),
        _facts(runs),
        _footer(runs),
        (
            *(HeadNote((), text) for text in figure.beside),
            *notes_of(figure.chart, chosen, all_drawn=bool(section.runs), steps=figure.steps),
        ),
        tuple(HeadPart(each, _facts(some), _footer(some)) for each, some in of.items() if some),
    )


def title_of(section: Section, figure: Figure) -> str:
    """Return the title of a chart, on the page and in its picture: method and figure, each word once."""
    above, title = section.title, figure.title
    if above.lower() in title.lower():
        return title
    repeated = f"{above.rpartition(': ')[2]}: "
    if title.lower().startswith(repeated.lower()):
        title = title[len(repeated) :]
    lowered = title[:1].lower() + title[1:] if title[1:2].islower() else title
    return f"{above}{', ' if ': ' in above else ': '}{lowered}"


def _facts(runs: Sequence[Shown]) -> tuple[str, ...]:
    manifests = [one.run.manifest for one in runs]
    methods = dict.fromkeys(f"{each.method.name} v{each.method.version}" for each in manifests)
    quick = {each.quick for each in manifests}
    words = ["quick run" if len(quick) == 1 else "some quick runs"] if any(quick) else []
    ended = {is_unended(each) for each in manifests}
    words += ["unfinished run" if len(ended) == 1 else "some unfinished runs"] if any(ended) else []
    return (
        ", ".join(methods) if len(methods) <= _NAMED_SIZES else f"{len(methods)} methods",
        *_asked(runs),
        *words,
        *dict.fromkeys(each.drive.words for each in manifests),
    )


def _asked(runs: Sequence[Shown]) -> Iterator[str]:
    sizes: set[int] = set()
    depths: set[int] = set()
    for stream in _streams(runs):
        sizes |= {each["bytes"] for each in stream.get("block") or ()}
        depths.add(stream.get("workers", 1) * stream.get("depth", 1))
    if sizes:
        yield _span([block_text(size) for size in sorted(sizes)])
    if depths:
        yield f"QD {_span([str(depth) for depth in sorted(depths)])}"


def _span(texts: Sequence[str]) -> str:
    return ", ".join(texts) if len(texts) <= _NAMED_SIZES else ends_text(texts[0], texts[-1])


def _streams(runs: Iterable[Shown]) -> Iterator[dict[str, Any]]:
    for one in runs:
        for step in one.run.steps:
            workload = step.args.get("workload")
            if step.verb == "run" and isinstance(workload, dict):
                yield from cast("Any", workload).get("streams") or ()


def _footer(runs: Sequence[Shown]) -> str:
    manifests = [one.run.manifest for one in runs]
    versions = dict.fromkeys(f"ssdlab {each.tool.get('version', 'of unknown version')}" for each in manifests)
    days = sorted({each.created[:10] for each in manifests})
    when = ends_text(days[0], days[-1])
    return f"{', '.join(versions)}; {when}; {_named([each.run_id for each in manifests])}"


def _named(runs: Sequence[str]) -> str:
    if len(runs) <= _NAMED_RUNS:
        return f"run {', '.join(runs)}"
    short = [each.rpartition("-")[2] for each in runs[:_FOOTER_RUNS]]
    more = [f"+{len(runs) - _FOOTER_RUNS} more"] if len(runs) > _FOOTER_RUNS else []
    return f"{len(runs)} runs: {', '.join((*short, *more))}"
