"""Findings and tables of SNIA's tests of rounds, and the window by which steady state is judged."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, Self

from ssdlab.analysis.steady_state import MAX_RANGE, MAX_RISE, WINDOW, first_steady, judge_window
from ssdlab.plugin import (
    Amount,
    Bound,
    Claim,
    Evidence,
    Table,
    block_text,
    cells,
    clause,
    counted,
    fixed_share_text,
    latency_text,
    numbered_text,
    of_unit,
    share_text,
    slope_text,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from ssdlab.plugin import Quantity

    from .result import (
        FiveNines,
        Judgement,
        PtsBase,
        PtsCell,
        PtsResult,
        PtsRounds,
        PtsSamples,
        TrackedVariable,
    )

NAMES = {"iops": "IOPS", "throughput": "Throughput", "latency": "Latency"}


@dataclass(frozen=True)
class Window:
    """A tracked variable, with the window of rounds or samples that is judged."""

    variable: TrackedVariable
    verdict: str
    first: int
    last: int
    unit: str = "round"
    """What each value stands for: `round` or `sample`."""
    cuts: tuple[int, ...] = ()
    """First round after each interruption; the window follows the last of these."""

    @classmethod
    def each_of(cls, rounds: PtsRounds) -> tuple[Self, ...]:
        return tuple(
            cls(each, rounds.verdict, rounds.first, rounds.last, cuts=rounds.cuts) for each in rounds.tracked
        )

    @classmethod
    def of_rounds(cls, rounds: PtsRounds) -> Self:
        """Return the window of the variable that is nearest to its limit, or furthest beyond it."""
        return max(cls.each_of(rounds), key=lambda each: each.excess)

    @property
    def holds(self) -> bool | None:
        """Whether the values keep both limits; None if they are not judged.

        Steady state also requires that all variables keep them in the same window, after enough writing.
        """
        each = self.variable
        if each.mean is None or each.range_share is None or each.rise_share is None:
            return None
        return each.mean > 0 and each.range_share <= MAX_RANGE and each.rise_share <= MAX_RISE

    @property
    def measures(self) -> tuple[tuple[str, float, float], ...]:
        """Range and slope, each as text, share of the mean, and limit; empty if not judged."""
        each = self.variable
        if each.range_share is None or each.rise_share is None:
            return ()
        sign = "+" if each.slope is not None and each.slope > 0 else "-"
        return (
            ("a range of ", each.range_share, MAX_RANGE),
            (f"a slope of {sign}", each.rise_share, MAX_RISE),
        )

    @property
    def worst(self) -> tuple[str, float, float] | None:
        """The measure nearest to its limit, or furthest beyond it; None if the window is not judged."""
        return max(self.measures, key=lambda one: one[1] / one[2], default=None)

    @property
    def excess(self) -> float:
        """The worst measure as a multiple of its limit; 0 if the window is not judged."""
        return 0.0 if self.worst is None else self.worst[1] / self.worst[2]

    @property
    def failed(self) -> str:
        """A clause on every limit that the values exceed; empty if they exceed none or are not judged."""
        if self.variable.mean is not None and self.variable.mean <= 0:
            return f"{self.variable.name} had no I/O"
        name, its = ("they", "their") if self.unit == "sample" else (self.variable.name, "its")
        broken = [
            clause(
                Claim(
                    f"{what}{{figure}}{'' if at else f' of {its} mean'} ({{bound}})",
                    figure=Amount(100 * share, "%"),
                    bound=Bound("at most", Amount(100 * limit, "%")),
                )
            )
            for at, (what, share, limit) in enumerate(one for one in self.measures if one[1] > one[2])
        ]
        return f"{name} had {' and '.join(broken)}" if broken else ""

    @property
    def span(self) -> str:
        """The window's rounds in words, with any cuts; or the number of values, if there are too few."""
        if self.variable.mean is None:
            return f"none: {len(self.variable.values)} of {WINDOW} {self.unit}s"
        of = f"{numbered_text(self.unit, self.first, self.last)} of {len(self.variable.values)}"
        return f"{of}, {cuts_text(self.cuts)}" if self.cuts else of


def found_text(samples: PtsSamples) -> str:
    """Return the verdict on samples, with their number and the limits that they exceed."""
    if samples.variable.mean is None:
        return samples.verdict
    window = Window(samples.variable, samples.verdict, samples.first, samples.last, "sample")
    within = counted(len(samples.variable.values), "sample")
    return f"{samples.verdict} in {within}{failed_text([window], samples)}"


def failed_text(windows: Sequence[Window], judgement: Judgement) -> str:
    """Return the limits that a judgement's windows exceed: ``: in rounds 1 to 5 A had a slope of ...``.

    Empty if the state is steady, or could not be assessed.
    """
    failed = [window.failed for window in windows if window.failed]
    if not failed or judgement.steady or not judgement.judged:
        return ""
    window = windows[0]
    return f": in {numbered_text(window.unit, window.first, window.last)} {'; '.join(failed)}"


def window_claim(
    says: str,
    window: Window,
    evidence: Evidence | None = None,
    others: Mapping[str, Amount | str] | None = None,
) -> Claim:
    """Return a claim on steady state; its figure is the measure nearest to, or furthest past, its limit."""
    worst = window.worst
    _, share, limit = worst or ("", None, MAX_RANGE)
    return Claim(
        says,
        figure=None if share is None else Amount(100 * share, "%"),
        bound=Bound("at most", Amount(100 * limit, "%")),
        evidence=Evidence() if evidence is None else evidence,
        others={} if others is None else others,
    )


def findings(result: PtsResult) -> Iterator[Claim]:
    own = "" if result.standard else " (not SNIA's figures)"
    others: dict[str, Amount | str] = {"of": result.specification}
    yield Claim(f"{NAMES[result.test]} by {result.setting} of {{of}}{own}", others=others)
    for group in result.groups:
        name = f"{group.group}: " if group.group else ""
        verdict = (
            f"steady in {numbered_text('round', group.first, group.last)}"
            if group.steady
            else f"steady state {group.verdict} in {rounds_since_cut(group)}"
        ) + failed_text(Window.each_of(group), group)
        values = ", ".join(
            f"{each.name} {mean_text(mean, each.unit)}"
            for each in group.tracked
            if each.mean is not None and (mean := group.of_window(each.values)) is not None
        )
        window = Window.of_rounds(group)
        steps = tuple(ordinal for cell in group.cells for ordinal in cell.ordinals)
        shown = Evidence(steps, (group.first - 1, group.last - 1))
        others = {"name": name, "verdict": verdict, "values": values}
        heading = group.group or "Steady state"
        if group.reports_window:
            says = "{name}{verdict} ({values})"
            columns = {heading: "{verdict}", f"{heading}, means": "{values}"}
        else:
            says = "{name}{verdict} (mean of {reported}: {values})"
            others["reported"] = numbered_text("round", *group.reported)
            of = f"{group.group}, reported" if group.group else "Reported"
            columns = {heading: "{verdict}", f"{of} rounds": "{reported}", f"{of} means": "{values}"}
        yield replace(window_claim(says, window, shown, others), columns=columns)
        if (moving := moving_cells(group)) is not None:
            yield moving
        if (passed := passed_over(group)) is not None:
            yield passed
        if group.cuts:
            yield cut_claim(group)


def passed_over(group: PtsRounds) -> Claim | None:
    """Return a claim on the first window that kept both limits but did not last; None without such a window.

    A window counts only if no later round is further from its mean than two values in it may be.
    """
    begins = group.cuts[-1] - 1 if group.cuts else 0
    found = first_steady([each.values[begins:] for each in group.tracked])
    if found is None or begins + found + 1 >= group.first:
        return None
    first = begins + found
    after = first + WINDOW
    later = [
        ((value - mean) / mean, at, each)
        for each in group.tracked
        for mean in (judge_window(each.values[first:after]).mean,)
        for at, value in enumerate(each.values[after:], start=after)
    ]
    off, at, variable = max(later, key=lambda each: abs(each[0]))
    if abs(off) <= MAX_RANGE:  # by the rule of an earlier version
        return None
    return Claim(
        "{name}{earlier} kept both limits, but did not last: {variable} of round {round} was {figure} "
        "{side} their mean",
        figure=Amount(100 * abs(off), "%"),
        bound=Bound("at most", Amount(100 * MAX_RANGE, "%")),
        evidence=Evidence(rows=(first, at)),
        others={
            "name": f"{group.group}: " if group.group else "",
            "earlier": numbered_text("round", first + 1, after),
            "variable": variable.name,
            "round": str(at + 1),
            "side": "above" if off > 0 else "below",
        },
    )


def moving_cells(group: PtsRounds) -> Claim | None:
    """Return a claim on cells that are not steady in a window where the tracked cells are.

    The specification judges only tracked cells, but a mean over drifting rounds is less certain. None if all
    cells are steady, or the tracked cells are not.
    """
    if not group.steady:
        return None
    first, last = group.first - 1, group.last
    found = []
    for cell in group.cells:
        values = cell.iops[first:last]
        if len(values) < last - first or not all(values):
            continue
        window = judge_window(values, first)
        if not window.steady:
            found.append((window, cell))
    if not found:
        return None
    worst, cell = max(found, key=lambda each: max(each[0].range_share, abs(each[0].rise_share)))
    name = f"{group.group}: " if group.group else ""
    return Claim(
        "{name}the tracked cells are steady, but in the same rounds {count} of {all} cells {were} not; "
        "worst: {cell} (range {figure}, slope {slope})",
        figure=Amount(100 * worst.range_share, "%"),
        bound=Bound("at most", Amount(100 * MAX_RANGE, "%")),
        evidence=Evidence(cell.ordinals[first:last], (first, last - 1)),
        others={
            "name": name,
            "count": str(len(found)),
            "were": "was" if len(found) == 1 else "were",
            "all": str(len(group.cells)),
            "cell": f"{block_text(cell.block_bytes)} {cell.read_pct}/{100 - cell.read_pct}",
            "slope": slope_text(worst.slope, worst.rise_share),
        },
    )


def cuts_text(cuts: Sequence[int]) -> str:
    """Return a note on where interruptions changed the drive's state: ``cut before round 4``."""
    return f"cut before round {' and '.join(map(str, cuts))}"


def rounds_since_cut(group: PtsRounds) -> str:
    """Return in words how many rounds were judged: those since the last interruption."""
    if not group.cuts:
        return counted(group.rounds, "round")
    since = group.rounds - group.cuts[-1] + 1
    return f"{counted(since, 'round')} since the cut before round {group.cuts[-1]}"


def cut_claim(group: PtsRounds) -> Claim:
    """Return a claim on how interruptions affected the rounds of a group of cells."""
    name = f"{group.group}: " if group.group else ""
    return Claim(
        "{name}interrupted, {cut}: the drive rested and was preconditioned again; only rounds from {from} "
        "on are judged and reported",
        evidence=Evidence(rows=(group.first - 1, group.last - 1)),
        others={"name": name, "cut": cuts_text(group.cuts), "from": str(group.cuts[-1])},
    )


def mean_text(mean: float, unit: str) -> str:
    return latency_text(mean) if unit == "ns" else of_unit(mean, unit)


def window_table(found: Sequence[Window]) -> Table:
    head = (
        "Variable",
        "Window",
        "Within both limits",
        "Mean",
        "Data excursion",
        f"Allowed, {fixed_share_text(MAX_RANGE)}",
        "Slope excursion",
        f"Allowed, {fixed_share_text(MAX_RISE)}",
        "Fitted line",
        "Correlation",
        "Steady state, all variables",
    )
    return Table(
        "Steady-state window: range, slope and their limits; unrounded in the CSV",
        head,
        tuple(_window_row(window) for window in found),
        brief=head[:8],
    )


def _window_row(window: Window) -> tuple[cells.Cell, ...]:
    each = window.variable
    return (
        cells.words(each.name),
        cells.words(window.span),
        cells.words(_HOLDS[window.holds]),
        _window_value(each, 1.0 if each.mean is not None else None, percent=False),
        _window_value(each, each.range_share),
        _window_value(each, MAX_RANGE, percent=False),
        _window_rise(each),
        _window_value(each, MAX_RISE, percent=False),
        cells.words(_window_line(window)),
        cells.plain(each.correlation),
        cells.words(window.verdict),
    )


_HOLDS = {True: "yes", False: "no", None: cells.NOTHING}


def _window_value(each: TrackedVariable, share: float | None, *, percent: bool = True) -> cells.Cell:
    """Return a cell with a share of the mean, in the variable's own unit and in percent."""
    if share is None or each.mean is None:
        return cells.words(cells.NOTHING)
    value = share * each.mean
    text = mean_text(value, each.unit) + (f" = {share_text(share)}" if percent else "")
    return cells.Cell(text, repr(value))


def _window_rise(each: TrackedVariable) -> cells.Cell:
    cell = _window_value(each, each.rise_share)
    if not each.slope or not each.rise_share:
        return cell
    return cells.Cell(f"{cell.text}, {'rising' if each.slope > 0 else 'falling'}", cell.value)


def _window_line(window: Window) -> str:
    each = window.variable
    if each.slope is None or each.intercept is None:
        return "—"
    sign = "+" if each.slope >= 0 else "-"
    begins, slope = (mean_text(value, each.unit) for value in (each.intercept, abs(each.slope)))
    return f"{begins} {sign} {slope} · ({window.unit} - {window.first})"


@dataclass(frozen=True)
class Measure:
    """One figure of a cell over the reported rounds: how it is computed and printed."""

    title: str
    short: str
    quantity: Quantity
    better: Literal["higher", "lower"]
    of: Callable[[PtsRounds, PtsCell], float | None]
    cell: Callable[[float | None], cells.Cell]
    over: str = "mean"
    """What it is of the reported rounds."""
    bound: Callable[[PtsCell], bool] = lambda cell: False
    """Whether the figure of a cell is only a lower bound."""

    def cell_of(self, group: PtsRounds, cell: PtsCell) -> cells.Cell:
        found = self.cell(self.of(group, cell))
        return bound_cell(found) if self.bound(cell) else found


IOPS = Measure("IOPS", "IOPS", "iops", "higher", lambda g, c: g.of_window(c.iops), cells.iops)
MB_S = Measure("MB/s (decimal)", "MB/s", "mb_s", "higher", lambda g, c: g.of_window(c.mb_s), cells.throughput)
ART = Measure(
    "average response time", "ART", "ns", "lower", lambda g, c: g.of_window(c.mean_ns), cells.latency
)
NINES = Measure(
    "99.999 % response time",
    "99.999 %",
    "ns",
    "lower",
    lambda g, c: _nines_of(g, c),
    cells.latency,
    over="all I/Os",
    bound=lambda c: c.pooled is not None and not c.pooled.is_exceeded,
)
MRT = Measure(
    "maximum response time",
    "MRT",
    "ns",
    "lower",
    lambda g, c: g.max_of_window(c.max_ns),
    cells.latency,
    over="greatest",
)
MEASURES: dict[str, tuple[Measure, ...]] = {
    "iops": (IOPS,),
    "throughput": (MB_S,),
    "latency": (ART, MRT, IOPS),
}
"""Measures that each test reports for its cells."""
LOWER_BOUND = "≥: a lower bound, from too few I/Os."
NINES_HEAD = ("5 9s", "I/Os", "true value from", "true value to")


def _nines_of(group: PtsRounds, cell: PtsCell) -> float | None:
    """Return the 99.999 % response time of a cell, or its lower bound if the I/Os are too few."""
    if cell.pooled is None:
        return group.max_of_window(cell.five_nines_ns)
    return cell.pooled.value_ns if cell.pooled.is_exceeded else cell.pooled.low_ns


def bound_cell(bound: cells.Cell) -> cells.Cell:
    """Return a cell with a lower bound in place of a value, which an export leaves empty."""
    return bound if bound.text == cells.NOTHING else cells.Cell(f"≥ {bound.text}", "")


def grid(result: PtsResult, measure: Measure, group: str | None = None) -> Table:
    """Return a table with a row for each block size and a column for each mix, as in the specification."""
    every = [(each, cell) for each in result.groups if group in (None, each.group) for cell in each.cells]
    mixes = sorted({cell.read_pct for _, cell in every}, reverse=True)
    rows: list[tuple[cells.Cell, ...]] = []
    for size in sorted({cell.block_bytes for _, cell in every}):
        found = {cell.read_pct: (each, cell) for each, cell in every if cell.block_bytes == size}
        missing = next((cell.missing for _, cell in found.values() if cell.missing), None)
        if missing is not None:
            reason = cells.Cell(f"not measured: {missing}", numeric=False, span=len(mixes))
            rows.append((cells.block(size), reason))
            continue
        values = (measure.cell_of(*found[mix]) if mix in found else cells.words("") for mix in mixes)
        rows.append((cells.block(size), *values))
    head = ("Block", *(mix_text(mix) for mix in mixes))
    return Table(f"{measure.title}, by R/W mix", head, tuple(rows))


def nines_cells(found: FiveNines | None) -> tuple[cells.Cell, ...]:
    """Return four cells: the 99.999 % response time, its number of I/Os, and its two bounds."""
    if found is None:
        return tuple(cells.words(cells.NOTHING) for _ in NINES_HEAD)
    too_few = cells.Cell("too few I/Os", "")
    return (
        cells.latency(found.value_ns) if found.is_exceeded else bound_cell(cells.latency(found.low_ns)),
        cells.count(found.ios),
        too_few if found.low_ns is None else cells.latency(found.low_ns),
        too_few if found.high_ns is None else cells.latency(found.high_ns),
    )


def nines_table(result: PtsResult) -> Table:
    """Return a table of each cell's 99.999 % response time, with the number of I/Os and binomial bounds."""
    rows = tuple(
        (cells.words(mix_text(cell.read_pct)), cells.block(cell.block_bytes), *nines_cells(cell.pooled))
        for group in result.groups
        for cell in group.cells
        if not cell.missing
    )
    caption = "99.999 % of the I/Os of the reported rounds together: order statistic and its 95 % bounds"
    return Table(caption, ("R/W mix", "Block", *NINES_HEAD), rows)


def open_points(result: PtsBase) -> tuple[Table, ...]:
    """Return a table of points that the standard leaves open, and how they were decided; empty if none."""
    rows = tuple(tuple(map(cells.words, point.split(": here ", 1))) for point in result.open_points)
    return (
        (Table("Open in the text", ("Point", "Here"), tuple(_filled(row) for row in rows)),) if rows else ()
    )


def _filled(row: tuple[cells.Cell, ...]) -> tuple[cells.Cell, ...]:
    """Fill the second column of a point that needed no decision."""
    return row if len(row) > 1 else (*row, cells.words(cells.NOTHING))


def mix_text(read_pct: int) -> str:
    """Return a mix as the specification writes it: ``65/35``."""
    return f"{read_pct}/{100 - read_pct}"


def tables(result: PtsResult) -> tuple[Table, ...]:
    windows = [
        window
        for each in result.groups
        for window in Window.each_of(each)
        if window.variable.mean is not None
    ]
    tails = (nines_table(result),) if result.test == "latency" else ()
    return (
        window_table(windows),
        *(grid(result, measure) for measure in MEASURES[result.test]),
        *tails,
        *open_points(result),
    )
