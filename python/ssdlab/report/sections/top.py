"""The top of a page: the verdict, small bar charts of the first figures, and a table of all figures."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from ssdlab.lab.folders import top_figures
from ssdlab.lab.presented.points import figure_words
from ssdlab.model.units import counted, ends_text, share_text
from ssdlab.report.chart_links import ChartLink
from ssdlab.report.runs import entries
from ssdlab.report.sections import ratings
from ssdlab.report.sections.conclusion import of_same_steps, title_of
from ssdlab.report.sections.verdict import sentences
from ssdlab.report.standings import all_of, figure_text, names_of, no_order, withheld
from ssdlab.results import cells
from ssdlab.results.metric import labelled, labels

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ssdlab.lab.kinds import RepeatedFigure
    from ssdlab.report.runs import Entry, Shown
    from ssdlab.report.standings import Place, Standing
    from ssdlab.results.metric import Metric

CHARTS = 6
_COUNTED = "I/Os"
_NO_VALUE = "none"
"""Text of a figure that was judged and has no value, such as the score of a drive that held no load."""
_P99 = "p99"


@dataclass(frozen=True)
class Median:
    """The median of a figure over the runs of one drive in one suite."""

    figure: RepeatedFigure
    drive: str


@dataclass(frozen=True)
class Bar:
    """A drive's bar in a figure.

    Attributes
    ----------
    share
        Length as a share of the longest bar; None without a value.
    note
        The line below: its qualifiers, or its depth and other figures of the same steps.
    """

    shown: Shown
    figure: Metric
    share: float | None
    text: str
    note: str
    unranked: bool = False
    """Whether a qualifier forbids ranking, or the measurement differs from the others."""


@dataclass(frozen=True)
class TopChart:
    title: str
    unit: str
    """Unit of all values; empty if each value has its own."""
    names: tuple[str, ...]
    """Names of the figure; empty if no run has a value."""
    better: str
    bars: tuple[Bar, ...]
    foot: str
    """Ties, or why there is no ranking."""
    link: ChartLink


@dataclass(frozen=True)
class Top:
    sentences: tuple[str, ...]
    charts: tuple[TopChart, ...]
    lacking: tuple[str, ...]
    """Figures that the review lists but no run of the page has."""
    every: cells.Table


def top(
    runs: Sequence[Shown],
    standings: Mapping[str, Standing],
    declared: Sequence[str],
    medians: Sequence[Median] = (),
    links: Mapping[str, ChartLink] | None = None,
    reviewed: Shown | None = None,
) -> Top:
    """Return the top of a page.

    Parameters
    ----------
    runs
        Runs of the page.
    standings
        Standings of the page's figures, by name.
    declared
        Names of the review's top figures, in order; empty: the methods' first figures.
    medians
        Medians over the runs of a drive in a suite, which are not ranked.
    links
        Link to the chart of each figure.
    reviewed
        A run of the drive under review; None: no drive is.
    """
    held, links = withheld(runs), links or {}
    names = _chosen(runs, declared, {*standings, *held})
    charts = [
        _chart(
            name,
            standings.get(name),
            held.get(name, ()),
            runs,
            medians,
            links.get(name, ChartLink("")),
            without=len(entries(runs)) - len(_drives_with(name, runs)),
        )
        for name in names
    ]
    return Top(
        sentences(names, standings, runs, reviewed),
        tuple(sorted(charts, key=lambda chart: not chart.names)),
        tuple(name for name in declared if name not in standings),
        every(runs),
    )


def _chosen(runs: Sequence[Shown], declared: Sequence[str], known: set[str]) -> list[str]:
    """Return the figures for the charts: the review's, or else one for each set of steps."""
    if declared:
        return [name for name in declared if name in known][:CHARTS]
    groups = [
        [each.name for each in own if each.unit != _COUNTED]
        for shown in runs
        for own in of_same_steps(shown.run.result.scalars)
    ]
    wanted = [name for name in top_figures() if name in known]
    leading = [next((name for name in wanted if name in own), own[0]) for own in groups if own]
    found = [*(name for name in wanted if name in leading), *leading]
    names = [name for name in dict.fromkeys(found) if name in known]
    shared = [name for name in names if len(_drives_with(name, runs)) > 1]
    return (shared or names)[:CHARTS]


def _drives_with(name: str, runs: Sequence[Shown]) -> list[Entry]:
    """Return the drives with this figure; a figure of one drive compares nothing."""
    return [
        each
        for each in entries(runs)
        if any(scalar.name == name for shown in each.runs for scalar in shown.run.result.scalars)
    ]


def _valueless(name: str, runs: Sequence[Shown]) -> Iterator[tuple[Shown, Metric]]:
    """Yield each drive's first run in which the figure has no value."""
    for entry in entries(runs):
        own = ((shown, figure) for shown in entry.runs for figure in shown.run.result.scalars)
        yield from islice((each for each in own if each[1].name == name and each[1].value is None), 1)


def _chart(
    name: str,
    standing: Standing | None,
    held: Sequence[tuple[Shown, Metric]],
    runs: Sequence[Shown],
    medians: Sequence[Median],
    link: ChartLink,
    without: int = 0,
) -> TopChart:
    places = () if standing is None else (*standing.places, *standing.further)
    higher = standing is None or standing.better == "higher"
    if standing is not None and len(standing.places) > 1 and no_order(standing):
        places = tuple(sorted(places, key=lambda place: place.shown.index))
    else:
        places = tuple(sorted(places, key=lambda place: -place.value if higher else place.value))
    longest = max((abs(place.value) for place in places), default=0.0)
    units = {cells.of_unit(place.value, place.figure.unit).partition(" ")[2] for place in places}
    (unit,) = units if len(units) == 1 else ("",)
    shared = _shared(places)
    bars = [
        Bar(
            place.shown,
            place.figure,
            abs(place.value) / longest if longest else 0.0,
            figure_words(place.figure).removesuffix(f" {unit}") if unit else figure_words(place.figure),
            ", ".join(
                filter(
                    None,
                    (
                        place.unlike,
                        _note(place.shown, place.figure, medians, shared, alone=len(places) + len(held) == 1),
                    ),
                )
            ),
            unranked=bool(place.unfit),
        )
        for place in places
    ]
    placed = {id(place.shown) for place in places}
    lacking = [each for each in held if id(each[0]) not in placed]
    bars += [
        Bar(shown, figure, None, cells.NOTHING, figure.state, unranked=True) for shown, figure in lacking
    ]
    drawn = [bar.shown.style for bar in bars]
    bars += [
        Bar(shown, figure, None, _NO_VALUE, "", unranked=True)
        for shown, figure in _valueless(name, runs)
        if shown.style not in drawn
    ]
    one = bars[0]
    return TopChart(
        title_of(one.shown.run.manifest.method.title, one.figure),
        unit,
        (name,) if places else (),
        "higher" if higher else "lower",
        tuple(bars),
        ". ".join(
            filter(
                None,
                (
                    "" if standing is None else _foot(standing, runs),
                    _of_all(shared, every=not any(place.unfit for place in places)),
                    f"{counted(without, 'drive')} without this figure" if without else "",
                ),
            )
        ),
        link,
    )


def _shared(places: Sequence[Place]) -> tuple[str, ...]:
    """Return the labels that all ranked figures, or all their p99s, share, to be stated once below them."""
    places = [place for place in places if not place.unfit]
    if len(places) < 2:
        return ()
    first, *others = ([each.label for each in place.figure.qualifiers] for place in places)
    p99s = {_more_of(each, place.figure) for place in places for each in _p99s(place.shown, place.figure)}
    return (
        *(label for label in first if all(label in own for own in others)),
        *(f"{_P99} {more}" for more in p99s if more and len(p99s) == 1),
    )


def _of_all(shared: Sequence[str], *, every: bool) -> str:
    return f"{'All' if every else 'Ranked ones'}: {', '.join(shared)}" if shared else ""


def _note(
    shown: Shown, figure: Metric, medians: Sequence[Median], shared: Sequence[str], *, alone: bool
) -> str:
    """Return the note below a bar: why it has no rank, or its depth, median, p99, power and labels.

    A single drive's rating is added.
    """
    rated = ratings.beside(shown, figure) if alone else ()
    if unfit := figure.unfit("ranking"):
        whole = labels((*unfit, *(each for each in figure.qualifiers if each not in unfit)))
        return ", ".join((whole, *rated))
    own = _beside(shown, figure)
    return ", ".join(
        (
            *_depth(figure, own),
            *(_repeated(each.figure) for each in medians if _is_of(each, shown, figure)),
            *(
                labelled(f"{_P99} {figure_words(each)}", "" if f"{_P99} {more}" in shared else more)
                for each in _p99s(shown, figure)
                for more in (_more_of(each, figure),)
            ),
            *(figure_words(each) for each in own if figure.unit.endswith("/W") and each.unit == "W"),
            *rated,
            *(each.label for each in figure.qualifiers if each.label not in shared),
        )
    )


def _more_of(other: Metric, figure: Metric) -> str:
    """Return the labels that `other` has in addition to those of `figure`."""
    return labels(each for each in other.qualifiers if each.code not in figure.codes)


def _beside(shown: Shown, figure: Metric) -> Sequence[Metric]:
    groups = of_same_steps(shown.run.result.scalars)
    return next((own for own in groups if any(each.name == figure.name for each in own)), ())


def _p99s(shown: Shown, figure: Metric) -> list[Metric]:
    """Return the p99 figures of the same steps; empty if the figure is not a throughput."""
    of_speed = figure.better == "higher" and not figure.unit.endswith("/W")
    own = _beside(shown, figure) if of_speed else ()
    return [each for each in own if each.name.endswith("_p99_ns") and each.value is not None]


def _depth(figure: Metric, own: Sequence[Metric]) -> Iterator[str]:
    depth = figure.load.depth if figure.load is not None else None
    found = next((each.value for each in own if each.label == "depth" and each.value is not None), depth)
    if found is not None:
        yield f"QD {found:g}"


def _repeated(found: RepeatedFigure) -> str:
    assert found.median is not None
    text = f"median of {counted(len(found.values), 'run')} {cells.of_unit(found.median, found.unit)}"
    if found.low is None or found.high is None or found.confidence is None:
        return text
    ends = ends_text(cells.of_unit(found.low, found.unit), cells.of_unit(found.high, found.unit))
    return f"{text} ({ends} with {share_text(found.confidence)} confidence)"


def _is_of(median: Median, shown: Shown, figure: Metric) -> bool:
    found = median.figure
    return (
        found.name == figure.name and found.median is not None and median.drive == shown.run.manifest.drive.id
    )


def _foot(standing: Standing, runs: Sequence[Shown]) -> str:
    """Return which drives are tied in a figure, or why there is no ranking."""
    if len(standing.places) < 2:
        return ""
    if why := no_order(standing):
        return f"Not ranked: {why}"
    found = []
    for rank in dict.fromkeys(place.rank for place in standing.ranked):
        level = [place for place in standing.ranked if place.rank == rank]
        if len(level) > 1:
            why = standing.why_level(level[0])
            whose = all_of(level, runs) or names_of(level)
            found.append(labelled(f"{whose} {standing.how_level(level[0])}", why))
    text = "; ".join(found)
    return text[:1].upper() + text[1:]


def every(runs: Sequence[Shown]) -> cells.Table:
    groups = entries(runs)
    rows: dict[tuple[str, str], dict[int, list[str]]] = {}
    heads: dict[tuple[str, str], Metric] = {}
    for at, group in enumerate(groups):
        for shown in group.runs:
            for each in shown.run.result.scalars:
                key = shown.run.manifest.method.title, each.name
                heads.setdefault(key, each)
                text = labelled(figure_text(each) if each.value is not None else cells.NOTHING, each.state)
                rows.setdefault(key, {}).setdefault(at, []).append(text)
    return cells.Table(
        "All headline figures",
        ("Method", "Figure", *(group.style.label for group in groups)),
        tuple(
            (
                cells.words(title),
                cells.words(heads[title, name].label),
                *(cells.words("; ".join(own.get(at, [cells.NOTHING]))) for at in range(len(groups))),
            )
            for (title, name), own in rows.items()
        ),
    )
