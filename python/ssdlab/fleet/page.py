"""The fleet's page: the drives of one model compared, the outliers, and likely reasons.

The page is made from the library's catalogue and inventories. Runs are opened only for outliers and a few
typical drives, so that the cost does not depend on the library's size. Series are read on request.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from markupsafe import Markup

from ssdlab.analysis.outliers import VALUES_MIN
from ssdlab.fleet.drawing import Line, Strip, lines, rate_over_time, strips
from ssdlab.fleet.facts import Facts, facts_of, likely_reasons
from ssdlab.fleet.inventory import inventories_in
from ssdlab.fleet.population import FALSE_ALARMS, MIN_SIGMA, drifts, model_of, populations, without_figures
from ssdlab.fleet.status import status_of
from ssdlab.model.errors import UsageError, unknown
from ssdlab.model.units import (
    change_text,
    counted,
    figure_text,
    fixed_share_text,
    share_text,
    span_text,
)
from ssdlab.report.engine import static
from ssdlab.report.templating import template
from ssdlab.results.cells import Cell, Table, words
from ssdlab.results.kin import MARKS, UNFIT, labels_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from ssdlab.fleet.fleet_folder import FleetFolder
    from ssdlab.fleet.population import Drift, Population, Sample, Without
    from ssdlab.library.choosing import Choice
    from ssdlab.library.index import Index

TYPICAL = 15
"""Number of drives nearest the median whose runs are opened for typical values."""
ROWS_MAX = 24
"""Maximum hosts in a chart; the table has all."""
_MINUS = "\u2212"
NO_REASON = "no reason found in the records"


@dataclass(frozen=True)
class Drawn:
    """A chart of the page with its text and numbers."""

    id: str
    title: str
    lead: str
    drawing: Markup
    table: Table | None = None


@dataclass(frozen=True)
class Part:
    id: str
    title: str
    lead: str
    figures: tuple[Drawn, ...]


@dataclass(frozen=True)
class Named:
    """An outlier: in which figures it differs, and the likely reasons."""

    drive_id: str
    name: str
    host: str
    unlike: tuple[str, ...]
    reasons: tuple[str, ...]


@dataclass(frozen=True)
class Account:
    """The outcome of every job of a plan: counts in words, and a row for each job.

    `golden` says how the golden drive, which each plan measures, has changed.
    """

    words: str
    golden: tuple[str, ...]
    table: Table
    counts: Mapping[str, int]


@dataclass(frozen=True)
class FleetPage:
    """The content of the page.

    `named` are the outliers. Of the `figures`, `judged` have enough drives to find outliers.
    """

    model: str
    count: int
    figures: int
    judged: int
    badges: tuple[str, ...]
    named: tuple[Named, ...]
    rule: str
    parts: tuple[Part, ...]
    account: Account | None = None

    @property
    def drives(self) -> str:
        """The number of drives, in words."""
        return f"{self.count} drive{'' if self.count == 1 else 's'}"

    @property
    def verdict(self) -> str:
        """The result in a sentence, and a second sentence if some figures were not assessed."""
        too_few = f"fewer than the {VALUES_MIN} drives needed for a judgement"
        if not self.judged and not self.named:
            figures = "the only figure is" if self.figures == 1 else f"all {self.figures} figures are"
            return f"Outliers not assessed among {self.drives}: {figures} of {too_few}."
        rest = self.figures - self.judged
        be = "is" if rest == 1 else "are"
        left = f" {rest} of {self.figures} figures {be} of {too_few}." if rest else ""
        return self._found + left

    @property
    def _found(self) -> str:
        if not self.named:
            return f"No outliers among {self.drives}."
        names = ", ".join(each.name for each in self.named)
        be = "is an outlier" if len(self.named) == 1 else "are outliers"
        return f"{len(self.named)} of {self.drives} {be}: {names}."

    @property
    def outliers(self) -> Table:
        rows = [
            (
                words(e.name),
                words(e.host),
                words("; ".join(e.unlike)),
                words("; ".join(e.reasons) or NO_REASON),
            )
            for e in self.named
        ]
        return Table("Outliers", ("Drive", "Host", "In what", "Likely reason"), tuple(rows))

    def html(self) -> str:
        style = Markup(static("report.css").replace("</", "<\\/"))
        footer = "ssdlab. From the library's catalogue: each drive's median over its comparable runs."
        text: str = template("fleet.html.j2").render(page=self, style=style, footer=footer)
        return text


class _Places:
    """Host, rack and firmware of each drive from its newest run, and its serial from the inventories."""

    def __init__(self, index: Index, model: str) -> None:
        found = index.ask(
            "SELECT drive_id, arg_max(host, created), arg_max(rack, created), arg_max(firmware, created) "
            "FROM runs WHERE drive_name = ? GROUP BY drive_id",
            [model],
        )
        self._known: dict[str, tuple[str, str]] = {each[0]: (each[1], each[2]) for each in found if each[1]}
        self._firmwares: dict[str, str] = {each[0]: each[3] for each in found}
        self._serials: dict[str, str] = {}
        for each in inventories_in(index.library):
            for drive in each.drives:
                drive_id = str(drive.identity.get("consent_id"))
                self._serials[drive_id] = drive.serial
                self._known.setdefault(drive_id, (each.host, each.rack))  # old runs have no place

    def name(self, drive_id: str) -> str:
        return self._serials.get(drive_id, drive_id)

    def host(self, drive_id: str) -> str:
        return self._known.get(drive_id, ("", ""))[0]

    def firmware(self, drive_id: str) -> str:
        found = self._firmwares.get(drive_id)
        return f"firmware {found}" if found else ""

    def rack(self, drive_id: str) -> str:
        return self._known.get(drive_id, ("", ""))[1]


def fleet_page(
    index: Index,
    choice: Choice,
    model: str | None = None,
    series: Sequence[str] = (),
    plan: FleetFolder | None = None,
) -> FleetPage:
    """Assemble the page of a model.

    Parameters
    ----------
    choice
        The runs to consider.
    model
        Name of the model or a part of it; None: the only model in the library.
    series
        Serials of drives whose interval rows are drawn beside those of the most typical drive.
    plan
        Plan whose jobs are all listed on the page.

    Raises
    ------
    UsageError
        No run matches, several models match, or there is no drive with such a serial.
    Refused
        The catalogue, or a run that has to be opened, is damaged.
    """
    models = set() if plan is None else {job.model for job in plan.plan.jobs}
    meant = model_of(index, choice, model or (min(models) if len(models) == 1 else None))
    found = populations(index, meant, choice)
    if not found:
        raise UsageError(f"no run of {meant} has a figure", "list the library's runs: ssdlab runs")
    places, drifting = _Places(index, meant), drifts(found)
    without = without_figures(index, meant, choice, found)
    named = _named(index.library, found, drifting, without, places)
    names = {each.drive_id: each.name for each in named}
    parts = [
        Part(
            f"method-{method}",
            method,
            "Box: the middle half of the drives; dashed: limits beyond which a drive is an outlier.",
            tuple(_distribution(each, names, places) for each in found if each.method == method),
        )
        for method in dict.fromkeys(each.method for each in found)
    ]
    if drifting:
        lead = "Each drive relative to its own first run: median of the drives, and their middle half."
        parts.append(Part("drift", "Over repeats", lead, tuple(_drift(each, names) for each in drifting)))
    if series:
        parts.append(_series(index.library, found[0], without, series, places))
    drives = {sample.drive_id for each in found for sample in each.samples}
    drives |= {each.drive_id for each in without}
    judged = sum(each.spread.judged for each in found)
    return FleetPage(
        meant,
        len(drives),
        len(found),
        judged,
        _badges(found),
        named,
        _rule(found),
        tuple(parts),
        None if plan is None else _account(index, plan, found, places),
    )


WITH_FIGURE, WITHOUT = "with a figure", "without a figure"


def _golden(plan: FleetFolder, found: Sequence[Population], places: _Places) -> tuple[str, ...]:
    """Return a sentence on how the golden drive has changed since its first run."""
    if plan.plan.golden is None:
        return ()
    parts = []
    for each in found:
        for sample in each.samples:
            if places.name(sample.drive_id) == plan.plan.golden and len(sample.values) > 1:
                change = _percent(sample.values[-1] / sample.values[0] - 1)
                parts.append(f"{each.label} {change} in {counted(len(sample.values), 'run')}")
    changes = "; ".join(parts) or "not yet measured twice"
    return (f"Golden drive {plan.plan.golden}: {changes}. A change of it is the lab's own.",)


def _account(index: Index, plan: FleetFolder, found: Sequence[Population], places: _Places) -> Account:
    """Return the outcome of every job of a plan: its figure with qualifiers, or why it has none."""
    leading: dict[str, Population] = {}
    for each in found:
        leading.setdefault(each.method, each)
    figures = {each.name: each for each in leading.values()}
    of_run: dict[str, tuple[str, str]] = {}
    lines = index.ask(
        "SELECT coalesce(nullif(suite, ''), folder) AS run, name, median(value), "
        f"string_agg(DISTINCT {UNFIT}, ', '), string_agg(DISTINCT {MARKS}, ', ') FROM entries "
        "WHERE list_contains(?, name) AND list_contains(?, run) GROUP BY run, name ORDER BY run, name",
        [list(figures), [job.run_id for job in plan.plan.jobs]],
    )
    for run, name, value, unfit, marks in lines:
        each = figures[name]
        text = "" if value is None else figure_text(value, each.unit)
        shown = text if not text or text.endswith(each.label) else f"{each.label} {text}"
        of_run.setdefault(run, (shown, ", ".join(filter(None, map(labels_of, (unfit, marks))))))
    rows, counts = [], Counter[str]()
    for status in status_of(plan, strict=False):
        shown, qualifiers = of_run.get(status.job.run_id, ("", ""))
        what: str = status.state
        if status.state == "finished":
            what = WITH_FIGURE if shown else WITHOUT
        counts[what] += 1
        job = status.job
        cells = (job.name, job.serial, status.host, job.task.run, what, shown, qualifiers or status.reason)
        rows.append(tuple(map(words, cells)))
    summary = ", ".join(f"{count} {what}" for what, count in counts.most_common())
    head = ("Job", "Drive", "Host", "Work", "State", "Figure", "Qualifiers, or reason")
    table = Table("Every job", head, tuple(rows))
    return Account(
        f"{counted(len(rows), 'job')} of plan {plan.plan.plan_id}: {summary}.",
        _golden(plan, found, places),
        table,
        counts,
    )


def _named(
    library: Path,
    found: Sequence[Population],
    drifting: Sequence[Drift],
    without: Sequence[Without],
    places: _Places,
) -> tuple[Named, ...]:
    unlike: dict[str, list[str]] = {}
    runs: dict[str, tuple[str, Population]] = {}
    for each in found:
        for sample in each.outliers:
            phrase = f"{each.label} {figure_text(sample.value, each.unit)}, {_percent(each.off(sample))}"
            phrase += f" ({sample.marked})" if sample.marked else ""
            unlike.setdefault(sample.drive_id, []).append(phrase)
            runs.setdefault(sample.drive_id, (sample.typical_folder, each))
    for drift in drifting:
        for sample, growth in drift.outliers:
            phrase = f"{drift.population.label} changes by {_percent(math.expm1(growth))} a repeat"
            unlike.setdefault(sample.drive_id, []).append(phrase)
            runs.setdefault(sample.drive_id, (sample.folders[-1], drift.population))
    for lacking in without:
        first = next(each for each in found if each.method == lacking.method)
        unlike.setdefault(lacking.drive_id, []).append(f"{lacking.method} gave no figure in a verified state")
        runs.setdefault(lacking.drive_id, (lacking.folder, first))
    typical: dict[str, list[Facts]] = {}
    named = []
    for drive_id, ways in unlike.items():
        folder, population = runs[drive_id]
        if population.name not in typical:
            typical[population.name] = [
                facts_of(library / each.typical_folder) for each in _typical(population)
            ]
        own = facts_of(library / folder)
        name = places.name(drive_id)
        name = own.serial or name if name == drive_id else name
        reasons = likely_reasons(own, typical[population.name])
        named.append(Named(drive_id, name, places.host(drive_id), tuple(ways), reasons))
    return tuple(named)


def _typical(population: Population) -> list[Sample]:
    near = sorted(population.samples, key=lambda each: abs(math.log(each.value) - population.spread.middle))
    return near[:TYPICAL]


def _distribution(each: Population, names: Mapping[str, str], places: _Places) -> Drawn:
    limit = each.spread.limit
    limits = (
        (each.middle * math.exp(-limit), each.middle * math.exp(limit)) if limit < 700 else (math.inf,) * 2
    )
    far = {sample.drive_id for sample in each.outliers}
    groups = [("all drives", each.samples)]
    for of in (places.rack, places.host, places.firmware):
        by: dict[str, list[Sample]] = {}
        for sample in each.samples:
            by.setdefault(of(sample.drive_id), []).append(sample)
        if len(by) > 1:
            groups += [(name or "not known", tuple(members)) for name, members in sorted(by.items())]
    drawn = [
        Strip(
            f"{name} ({len(members)})",
            tuple(sample.value for sample in members if sample.drive_id not in far),
            tuple((sample.value, names[sample.drive_id]) for sample in members if sample.drive_id in far),
        )
        for name, members in groups
    ]
    lead = f"Median {figure_text(each.middle, each.unit)}{_spread_words(each)}; {each.better} is better."
    lead += _too_few_words(len(each.samples))
    if each.unfit:
        lead += f" For all of them: {each.unfit}."
    if each.marks:
        lead += f" Notes: {each.marks}."
    if each.left_out:
        lead += f" Left out: {counted(each.left_out, 'drive')} whose runs are not comparable with these."
    described = f"{each.label} of {len(each.samples)} drives; {len(far)} outliers."
    drawing = strips(
        drawn[:ROWS_MAX], lambda value, digits: figure_text(value, each.unit, digits), limits, described
    )
    return Drawn(each.name, each.label, lead, drawing, _table(each, groups))


def _spread_words(each: Population) -> str:
    """Return the measured spread, and the spread used to judge drives if it is another."""
    if len(each.samples) < 2:
        return ""
    measured = f", spread (robust) {share_text(math.expm1(each.spread.sigma))}"
    if not each.spread.judged or each.spread.judged_sigma == each.spread.sigma:
        return measured
    return f"{measured} (judged as if it were {fixed_share_text(MIN_SIGMA)}, the minimum)"


def _too_few_words(drives: int) -> str:
    if drives >= VALUES_MIN:
        return ""
    return f" Not assessed: {counted(drives, 'drive')} of the {VALUES_MIN} needed."


def _table(each: Population, groups: Sequence[tuple[str, Sequence[Sample]]]) -> Table:
    def cells(name: str, members: Sequence[Sample]) -> tuple[Cell, ...]:
        values = sorted(sample.value for sample in members)
        at = [values[round(share * (len(values) - 1))] for share in (0, 0.25, 0.5, 0.75, 1)]
        shown = [Cell(figure_text(value, each.unit), repr(value)) for value in at]
        return (words(name), Cell(str(len(values))), *shown)

    head = ("Drives", "Number", "Least", "25 %", "Median", "75 %", "Greatest")
    return Table("By rack, host and firmware", head, tuple(cells(*group) for group in groups))


def _drift(each: Drift, names: Mapping[str, str]) -> Drawn:
    levels = [level for level in each.levels if level.drives > 1] or list(each.levels)
    middle = Line(
        "all drives",
        tuple((level.repeat, level.middle) for level in levels),
        tuple((level.repeat, level.low, level.high) for level in levels),
    )
    own = [
        Line(
            names[sample.drive_id],
            tuple((n, value / sample.values[0]) for n, value in enumerate(sample.values, start=1)),
            alert=True,
        )
        for sample, _ in each.outliers
    ]
    figure = each.population
    change = levels[-1].middle - 1
    described = f"{figure.label}: {_percent(change)} from the first repeat to number {levels[-1].repeat}."
    drawing = lines([middle, *own], _percent_of, lambda value, _: f"{value:g}", described, counted=True)
    lead = f"{figure.method}. {described}{_too_few_words(len(each.slopes))}"
    return Drawn(f"drift-{figure.name}", figure.label, lead, drawing)


def _series(
    library: Path,
    first: Population,
    without: Sequence[Without],
    serials: Sequence[str],
    places: _Places,
) -> Part:
    folders = {places.name(each.drive_id): each.folder for each in without}
    folders |= {places.name(each.drive_id): each.typical_folder for each in first.samples}
    for serial in serials:
        if serial not in folders:
            raise unknown("drive of the page with serial", serial, sorted(folders)[:8])
    usual = places.name(_typical(first)[0].drive_id)
    found = [
        Line(name, tuple(rate_over_time(library / folders[name])), alert=name in serials)
        for name in dict.fromkeys((usual, *serials))
    ]
    described = f"I/Os a second over time of {', '.join(line.name for line in found)}."
    drawing = lines(found, lambda value, digits: figure_text(value, "IOPS", digits), span_text, described)
    lead = f"The run nearest each drive's median; {usual} is the most typical drive."
    drawn = Drawn("series-iops", "IOPS over the measured time", lead, drawing)
    return Part(
        "series",
        f"Series of {first.method}",
        "All steps in order, without the pauses between them.",
        (drawn,),
    )


def _badges(found: Sequence[Population]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(each.method for each in found))


def _rule(found: Sequence[Population]) -> str:
    chance, lowest = fixed_share_text(FALSE_ALARMS), fixed_share_text(MIN_SIGMA)
    return (
        "A drive is an outlier if the logarithm of a figure is far from the median, in median absolute "
        "deviations, or if its runs gave no figure. If drives vary only by chance (lognormally), "
        f"at most {chance} of pages name an outlier, over all {len(found)} figures. "
        "Drift over repeats has the same chance. "
        f"At least {VALUES_MIN} drives are needed; a spread below {lowest} counts as {lowest}. "
        "Reasons are differences from typical drives: a hint, not proof."
    )


def _percent(share: float) -> str:
    return change_text(share).replace("-", _MINUS)


def _percent_of(share: float, _: int) -> str:
    return _percent(share - 1) if abs(share - 1) > 1e-9 else "0 %"
