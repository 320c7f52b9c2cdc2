"""Headline figures in the terminal: a line for each, marks for their qualifiers, and a legend."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from ssdlab.cli.fitting import GAP, NAME, by_columns, cut, line_width, print_facts, print_lines, print_text
from ssdlab.cli.marks import Letters, known
from ssdlab.cli.output import one_line, paint, print_line, table
from ssdlab.lab.kinds import SUITE
from ssdlab.lab.outcome import read_result
from ssdlab.lab.presented.points import figure_words
from ssdlab.lab.rated_shares import OtherRating, other_ratings, rated_shares
from ssdlab.model.units import ends_text, figure_text, share_text
from ssdlab.results.cells import NOTHING
from ssdlab.results.metric import united

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from ssdlab.cli.printed import QualifiedParts, QualifierEntry, RatedFigure
    from ssdlab.lab.kinds import RepeatedFigure, SuiteResult
    from ssdlab.lab.rated_shares import RatedShare
    from ssdlab.results.metric import Metric, Qualifier
    from ssdlab.results.run_folder import RunFolder


class Shown(NamedTuple):
    """A headline figure of a part; for repeats the median, with its interval and qualifiers."""

    part: str
    name: str
    label: str
    unit: str
    value: float | None
    text: str
    state: str
    qualified: Mapping[str, int]
    """Number of `runs` that have each qualifier, by code."""
    runs: int = 1
    more: tuple[str, ...] = ()
    apart: str = ""
    """How the repeats differ, if that prevents a median."""


class Marks(Letters):
    """Letters for the qualifiers of figures, with the reasons."""

    def __init__(self, found: Iterable[Qualifier]) -> None:
        whys: dict[str, dict[str, None]] = {}
        for each in found:
            own = whys.setdefault(known(each.code), {})
            if each.why:
                own[each.why] = None
        super().__init__(whys, {code: list(own) for code, own in whys.items()})


class Figures:
    """Headline figures in a table, a column for each drive.

    Parameters
    ----------
    columns
        The figures of each column, by the column's name.
    marks
        Marks for the qualifiers of all figures.
    headings
        Headings above the figures of a part, by the part's name; other parts have none.
    """

    def __init__(
        self,
        columns: Mapping[str, Sequence[Shown]],
        marks: Marks,
        headings: Mapping[str, Sequence[str]] | None = None,
    ) -> None:
        self._headings = headings or {}
        parts: dict[str, dict[str, dict[str, Shown]]] = {part: {} for part in self._headings}
        for column, figures in columns.items():
            for each in figures:
                parts.setdefault(each.part, {}).setdefault(each.name, {})[column] = each
        self._parts = {part: list(found.values()) for part, found in parts.items()}
        labels = [
            cut(("  " if part in self._headings else "") + label, line_width() - NAME - GAP)
            for part, found in self._parts.items()
            for label in nested([one_line(next(iter(own.values())).label) for own in found])
        ]
        rows = [own for found in self._parts.values() for own in found]
        cells = [marked_cells([own.get(column) for own in rows], marks) for column in columns]
        more = [next(iter(own.values())).more for own in rows]
        width = max(map(len, more), default=0)
        self._rows = [
            (*each, *last, *[""] * (width - len(last)))
            for *each, last in zip(labels, *cells, more, strict=True)
        ]

    def tables(self, titles: Sequence[str]) -> list[list[int]]:
        """Return the column indexes of each table, so that each table fits the line width."""
        return by_columns(self._rows, titles, line_width())

    def print(self, titles: Sequence[str]) -> None:
        for columns in self.tables(titles):
            lines = table(
                [[row[at] for at in columns] for row in self._rows],
                [titles[at] for at in columns],
                right=range(1, len(columns)),
            )
            print_line()
            print_lines(lines[:1] if self._rows else ())
            rest = iter(lines[1:])
            for part, found in self._parts.items():
                for heading in self._headings.get(part, ()):
                    print_text(heading, "accent", "  ")
                for _ in found:
                    print_text(next(rest), indent="    ")


def nested(labels: Sequence[str]) -> Iterator[str]:
    """Yield labels; below ``random read``, ``random read, mean latency`` becomes ``mean latency``."""
    above = None
    for label in labels:
        if above is not None and label.startswith(above):
            yield f"  {label.removeprefix(above)}"
        else:
            above = f"{label}, "
            yield label


def marked_cells(figures: Sequence[Shown | None], marks: Letters) -> list[str]:
    """Return a column of values followed by their marks; a missing figure is a dash."""
    found = [
        ("", NOTHING) if each is None else (marks.of(each.qualified, each.runs), each.text)
        for each in figures
    ]
    width = max((len(mark) for mark, text in found if text != NOTHING), default=0)
    return [
        text + (f" {paint(mark, 'warn')}{'':{max(width - len(mark), 0)}}" if mark or width else "")
        for mark, text in found
    ]


def parts_of(suite: RunFolder) -> dict[str, RunFolder]:
    """Return the finished runs of a suite that still exist, by part."""
    from ssdlab.runs.suites.outcome import finished_children

    names = {child.run_id: child.part for child in suite.manifest.children}
    found = finished_children(suite.path.parent, suite.manifest.children)
    return {names[each.path.name]: each for each in found if each.path.exists()}


def metrics_of(run: RunFolder) -> Iterator[Metric]:
    """Yield the headline figures of a run, or of a suite's parts."""
    if run.manifest.children:
        for each in parts_of(run).values():
            yield from metrics_of(each)
    elif (result := read_result(run)) is not None:
        yield from result.scalars


def qualifiers_of(run: RunFolder) -> Iterator[Qualifier]:
    for figure in metrics_of(run):
        yield from figure.qualifiers


def runs_of(run: RunFolder) -> Iterator[tuple[dict[str, str], RunFolder]]:
    """Yield the single runs of a run or suite, each with its part and, for several drives, its drive."""
    if not run.manifest.children:
        yield {}, run
        return
    for name, each in parts_of(run).items():
        own = "drive" if run.manifest.several_drives else "part"
        for whose, found in runs_of(each):
            yield {own: name, **whose}, found


def qualifiers_json(run: RunFolder) -> dict[str, QualifierEntry]:
    """Return a run's qualifiers by code, with their meaning and figures; for a suite, also by part."""
    figures = [(whose, one) for whose, each in runs_of(run) for one in metrics_of(each)]
    found = united(own for _, figure in figures for own in figure.qualifiers)
    return {
        each.code: {
            "label": each.kind.label,
            "sentence": each.kind.sentence,
            "advice": each.kind.advice,
            "forbids": sorted(each.kind.forbids),
            "figures": list(dict.fromkeys(one.name for _, one in figures if each.code in one.codes)),
            **_having(each.code, figures),
        }
        for each in found
    }


def _having(code: str, figures: Sequence[tuple[dict[str, str], Metric]]) -> QualifiedParts:
    """Return the parts and drives that have a qualifier, with their figures; empty for a single run."""
    found: dict[tuple[tuple[str, str], ...], list[str]] = {}
    for whose, one in figures:
        if whose and code in one.codes:
            found.setdefault(tuple(whose.items()), []).append(one.name)
    return {"of": [{**dict(whose), "figures": names} for whose, names in found.items()]} if found else {}


def shown_of(suite: RunFolder) -> list[Shown]:
    """Return the headline figures of a suite by part; medians for repeats."""
    result = read_result(suite)
    if result is not None and SUITE.holds(result) and result.repeated:
        return shown_repeated(suite, result)
    return [each for part, run in parts_of(suite).items() for each in shown_metrics(part, metrics_of(run))]


def shown_metrics(part: str, figures: Iterable[Metric]) -> list[Shown]:
    """Return figures of a part that have a value or a reason for having none."""
    return [
        Shown(
            part,
            each.name,
            each.label,
            each.unit,
            each.value,
            figure_words(each),
            each.state,
            Counter(set(each.codes)),
        )
        for each in figures
        if each.value is not None or each.qualifiers
    ]


def shown_repeated(suite: RunFolder, result: SuiteResult) -> list[Shown]:
    """Return the medians of a suite, and the figures with a reason for having none."""
    shown = (each for each in result.repeated if each.median is not None or each.apart or each.qualified)
    found = [_median(each) for each in shown]
    known = {(each.part, each.name) for each in found}
    lacking: dict[tuple[str, str], list[Shown]] = {}
    for part, run in parts_of(suite).items():
        for each in shown_metrics(part.partition(" #")[0], metrics_of(run)):
            if (each.part, each.name) not in known:
                lacking.setdefault((each.part, each.name), []).append(each)
    for every in lacking.values():
        counts = Counter(code for each in every for code in each.qualified)
        if len(every) == 1:
            found += every
        elif counts:
            found.append(every[0]._replace(value=None, text=NOTHING, qualified=counts, runs=len(every)))
    return found


def _median(each: RepeatedFigure) -> Shown:
    more = ("", "", str(len(each.values)))
    if each.low is not None and each.high is not None and each.confidence is not None:
        ends = (figure_text(each.low, each.unit), figure_text(each.high, each.unit))
        more = (ends_text(*ends), share_text(each.confidence), str(len(each.values)))
    text = figure_text(each.median, each.unit)
    return Shown(
        each.part,
        each.name,
        each.label,
        each.unit,
        each.median,
        text if each.bound is None else f"{each.bound} {text}",
        each.state,
        each.qualified,
        each.runs,
        more,
        each.apart,
    )


def print_apart(columns: Mapping[str, Sequence[Shown]]) -> None:
    """Print which figures have no median because their repeats differ, and how."""
    found: dict[str, list[str]] = {}
    for column, figures in columns.items():
        for each in figures:
            if each.apart:
                found.setdefault(each.apart, []).append(", ".join(filter(None, (column, each.label))))
    for why, whose in found.items():
        print_text(f"no median, {why}: {'; '.join(whose)}", "warn", "  ")


def ratings_of(run: RunFolder) -> tuple[RatedShare | OtherRating, ...]:
    """Return the headline figures of a run that have a rating, with a share or a reason for having none."""
    result = read_result(run)
    if result is None:
        return ()
    against = result.scalars, run.manifest.ratings
    return (*rated_shares(*against), *other_ratings(*against))


def rating_text(each: RatedShare | OtherRating) -> str:
    """Return a figure as a share of its rating, or why it has no share."""
    figure, source = figure_text(each.in_unit, each.unit), each.rated.source
    if isinstance(each, OtherRating):
        return f"{figure}, {each.words} ({source})"
    share, rated = share_text(each.share), figure_text(each.rated.value, each.unit)
    state = each.rated.state or "state not given"
    return f"{figure}, {share} of the rated {rated}{each.direction} ({state}, {source})"


def rating_json(each: RatedShare | OtherRating) -> RatedFigure:
    return {
        "figure": each.figure.name,
        "value": each.figure.value,
        "unit": each.figure.unit,
        "metric": each.rated.metric,
        "rated": each.rated.value,
        "state": each.rated.state,
        "source": each.rated.source,
        "share": None if isinstance(each, OtherRating) else each.share,
    }


def print_ratings(parts: Mapping[str, RunFolder], marks: Marks) -> None:
    """Print each rated figure as a share of its rating, by part."""
    fields = []
    for part, run in parts.items():
        for each in ratings_of(run):
            of = f"{part}, {each.figure.label}" if part else each.figure.label
            mark = marks.of(Counter(set(each.figure.codes)))
            fields.append((f"{of} {mark}".rstrip(), rating_text(each)))
    if fields:
        print_line()
        print_line("rated", "dim")
        print_facts(fields)
