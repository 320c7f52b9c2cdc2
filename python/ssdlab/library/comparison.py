"""The comparison of two sets of runs: its data, and its words for output."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from ssdlab.model.printable import plain_drive
from ssdlab.model.units import and_listed, change_text, counted, ends_text, figure_text, share_text
from ssdlab.results.kin import counted_words, meanings, measured_with, more_spare

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ssdlab.analysis.shift import Shift
    from ssdlab.library.index import Line

Outcome = Literal["passed", "failed", "undecidable"]
DRIVE = "drive_name"
TITLES = ("figure", "base", "n", "new", "n", "shift", "98 % interval", "detectable")
_SIGNIFICANT = "*  over 1 % and significant; with fewer than five repeats, larger than the scatter"
_NAMED = 4
"""Maximum number of serial numbers, and of firmware versions, that are listed for a side."""


@dataclass(frozen=True)
class Rule:
    """A rule of the regression gate: it fails if a figure differs from the base by more than `share`.

    `above` is true for a limit to a rise. `share` is negative for a limit to a fall.
    """

    text: str
    figure: str
    above: bool
    share: float

    def beyond(self, share: float) -> bool:
        return share > self.share if self.above else share < self.share


@dataclass(frozen=True)
class Side:
    """One of the two compared sets of runs.

    `text` is the set as the user named it. `figures` has the catalogue's columns of each run with a figure,
    by the figure's name. Serial numbers and firmware are as reported by the drives.
    """

    text: str
    runs: tuple[str, ...]
    figures: dict[str, list[Line]]
    methods: tuple[str, ...]
    drives: tuple[str, ...]
    serials: tuple[str, ...] = ()
    firmwares: tuple[str, ...] = ()
    software: tuple[str, ...] = ()
    """Software of its runs, see `catalogue_row.software_of`."""

    @property
    def entries(self) -> dict[str, float | None]:
        """Requested spare share of each drive, by the drive's name; None: the drive's own."""
        return {line[DRIVE]: line["spare"] for own in self.figures.values() for line in own}

    @property
    def words(self) -> str:
        one = self.runs[0] if len(self.runs) == 1 else counted(len(self.runs), "run")
        given = "" if self.text == one else f"{self.text}, "
        of = ", ".join(self.methods)
        if self.drives == ("",):  # an older run that stored no drive name
            return f"{given}{one}, {of}"
        return f"{given}{one}, {of} on {', '.join(self.drives)}"


@dataclass(frozen=True)
class Compared:
    """One figure of two sets of runs.

    Attributes
    ----------
    figure, part, label, unit, better
        The figure's name and description; `part` is its part of a suite, or its method.
    base, new
        Medians of the runs; None: all values were withheld.
    shift
        Shift from base to new; None: the runs are not comparable, the figure is unusable, or a value is not
        positive.
    unlike
        How the runs differ, in words; empty: they are comparable.
    unfit
        Why the figure is unusable, and in how many runs, in words; empty: it is usable. Nothing is claimed
        about an unusable figure.
    significant
        Whether the shift exceeds 1 % and its confidence interval excludes zero. With too few repeats for an
        interval: whether it exceeds 1 % and the variation of the runs.
    """

    figure: str
    label: str
    unit: str
    better: str
    base: float | None
    new: float | None
    n_base: int
    n_new: int
    shift: Shift | None
    part: str = ""
    significant: bool = False
    unlike: str = ""
    unfit: str = ""
    base_runs: int = 0
    """Number of base runs with the figure, including withheld values."""
    new_runs: int = 0
    base_marks: dict[str, int] = field(default_factory=dict)
    """Number of base runs with each qualifier, by code."""
    new_marks: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Judged:
    """A rule with its outcome for the figure named `figure`."""

    rule: Rule
    outcome: Outcome
    why: str
    figure: str


@dataclass(frozen=True)
class Comparison:
    """Two sets of runs, compared figure by figure. `only` names the figures that one set lacks."""

    base: Side
    new: Side
    figures: tuple[Compared, ...]
    only: tuple[str, ...]
    judged: tuple[Judged, ...] = field(default=())

    @property
    def exit_status(self) -> int:
        """Exit status: 1 if a rule failed, else 2 if a rule could not be decided, else 0."""
        outcomes = {each.outcome for each in self.judged}
        return 1 if "failed" in outcomes else 2 if "undecidable" in outcomes else 0

    def _repr_html_(self) -> str:
        return _html(self)


def firmware_words(found: Comparison) -> str:
    """Return the firmware of both sides in words; empty: the same, or unknown."""
    base, new = found.base.firmwares, found.new.firmwares
    unlike = base and new and set(base) != set(new)
    return f"firmware {', '.join(base)} against {', '.join(new)}" if unlike else ""


def mixed_words(found: Comparison) -> str:
    """Return which sides have runs of several firmware versions; empty: none.

    The gate cannot judge such a side.
    """
    sides = (("base", found.base), ("new", found.new))
    mixed = ((name, each.firmwares) for name, each in sides if len(each.firmwares) > 1)
    return ", ".join(f"{name} mixes firmware {and_listed(firmwares)}" for name, firmwares in mixed)


def identity_words(side: Side) -> str:
    """Return the serial numbers and firmware of a side's drives, at most `_NAMED` of each."""
    named = {"serial": side.serials, "firmware": side.firmwares}
    return ", ".join(
        f"{name} {', '.join(values[:_NAMED])}"
        + (f" and {len(values) - _NAMED} more" if values[_NAMED:] else "")
        for name, values in named.items()
        if values
    )


def by_part(figures: Sequence[Compared]) -> dict[str, list[Compared]]:
    """Return figures by part. If all are of one part, its name is empty."""
    found: dict[str, list[Compared]] = {}
    for each in figures:
        found.setdefault(each.part, []).append(each)
    return {"": [*figures]} if len(found) == 1 else found


def _names(found: Comparison, chosen: Sequence[Compared]) -> str:
    """Return the figures' names by part; a part whose figures are all chosen is named alone."""
    if len(chosen) == len(found.figures) > 1:
        return f"all {len(chosen)} figures"
    whole = by_part(found.figures)
    names = []
    for part, every in whole.items():
        own = [each.label for each in every if each in chosen]
        if own:
            of_part = f"all of {part}" if part and len(own) == len(every) else f"{part}: {'; '.join(own)}"
            names.append(of_part.removeprefix(": "))
    return "; ".join(names)


def on_one_side(found: Comparison) -> str:
    figures = {**found.base.figures, **found.new.figures}
    firsts = [figures[name][0] for name in found.only]
    return "; ".join(dict.fromkeys(f"{each['part']}, {each['label']}" for each in firsts))


def remarks_on(found: Comparison) -> list[str]:
    """Return remarks: what the mark of significance means, and which figures are not compared and why."""
    return [
        *([_SIGNIFICANT] if any(each.significant for each in found.figures) else ()),
        *_not_compared(found, "unlike", "not compared, the runs are not comparable: "),
        *_apart(found),
        *_on_both(found),
        *_not_compared(found, "unfit", "not compared: "),
        *_too_few(found),
    ]


def _apart(found: Comparison) -> list[str]:
    """Return remarks on drives with more spare area, and on different software of the sides."""
    sides = (("base", found.base), ("new", found.new))
    spares = [(plain_drive(name), spare) for _, side in sides for name, spare in side.entries.items()]
    software = [(name, each) for name, side in sides for each in side.software]
    return [each for each in (more_spare(spares), measured_with(software)) if each]


def _not_compared(found: Comparison, reason: Literal["unlike", "unfit"], words: str) -> list[str]:
    """Return a remark for each reason, with the figures that are not compared because of it."""
    left: dict[str, list[Compared]] = {}
    for each in found.figures:
        if why := getattr(each, reason):
            left.setdefault(why, []).append(each)
    return [f"{words}{why} ({_names(found, own)})" for why, own in left.items()]


def _on_both(found: Comparison) -> list[str]:
    """Return a remark if some runs are on both sides, as they reduce the difference."""
    both = set(found.base.runs) & set(found.new.runs)
    if both == set(found.base.runs) == set(found.new.runs):
        return [f"base and new are the same {'run' if len(both) == 1 else 'runs'}: no difference is possible"]
    are = "is" if len(both) == 1 else "are"
    return [f"{counted(len(both), 'run')} {are} on both sides"] if both else []


def _too_few(found: Comparison) -> list[str]:
    from ssdlab.analysis.shift import REPEATS_MIN

    fewest = [min(each.n_base, each.n_new) for each in found.figures if each.shift is not None]
    if not fewest or min(fewest) >= REPEATS_MIN:
        return []
    return [too_few_words(min(fewest))]


def too_few_words(runs: int) -> str:
    from ssdlab.analysis.shift import REPEATS_MIN

    return f"significance needs {REPEATS_MIN} runs per side, and one side has {runs}"


def titles_of(found: Comparison) -> tuple[str, ...]:
    shifts = [each.shift for each in found.figures if each.shift is not None]
    if not shifts:
        return TITLES[:5]
    if all(each.low is None and each.detectable is None for each in shifts):
        return TITLES[:6]
    return TITLES


def interval_words(shift: Shift) -> str:
    """Return the confidence interval of a shift; empty: a side has too few runs."""
    if shift.low is None or shift.high is None:
        return ""
    return ends_text(change_text(shift.low), change_text(shift.high))


def cells_of(each: Compared, base_marks: str, new_marks: str) -> tuple[str, ...]:
    """Return the cells of a figure's row after its name; marks are appended to the values."""
    base, new = figure_text(each.base, each.unit) + base_marks, figure_text(each.new, each.unit) + new_marks
    values, shift = (base, str(each.n_base), new, str(each.n_new)), each.shift
    if shift is None:
        return (*values, "", "", "")
    could = "" if shift.detectable is None else share_text(shift.detectable)
    marked = f"{change_text(shift.share)} {'*' if each.significant else ' '}"
    return (*values, marked, interval_words(shift), could)


def _html(found: Comparison) -> str:
    """Return a comparison as HTML for a notebook, with qualifiers after the values."""
    from ssdlab.model.notebook import table_html

    titles, rows = titles_of(found), []
    for part, own in by_part(found.figures).items():
        for each in own:
            marks = (
                f" ({words})" if (words := counted_words(counts, runs)) else ""
                for counts, runs in ((each.base_marks, each.base_runs), (each.new_marks, each.new_runs))
            )
            label = ", ".join(filter(None, (part, each.label)))
            rows.append((label, *cells_of(each, *marks))[: len(titles)])
    sides = (("base", found.base), ("new", found.new))
    above = [f"{name}: {', '.join(filter(None, (side.words, identity_words(side))))}" for name, side in sides]
    codes = [code for each in found.figures for code in (*each.base_marks, *each.new_marks)]
    below = [*meanings(codes), *remarks_on(found)]
    below += [f"on one side only: {on_one_side(found)}"] if found.only else []
    below += [f"{each.rule.text}: {each.outcome}: {each.why}" for each in found.judged]
    return table_html(firmware_words(found), above, titles, rows, below)
