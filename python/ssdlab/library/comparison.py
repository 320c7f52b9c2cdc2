"""A comparison of two sets of runs, with sides, marks and what is left out."""

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
"""Serial numbers of a side that are named."""


@dataclass(frozen=True)
class Rule:
    """A gate's rule: it fails if a figure is above or below the base by more than `share`."""

    text: str
    figure: str
    above: bool
    share: float

    def beyond(self, share: float) -> bool:
        """Whether a shift is beyond the bound."""
        return share > self.share if self.above else share < self.share


@dataclass(frozen=True)
class Side:
    """One set: its name, its runs, and each figure's values and run properties.

    Serial numbers and firmware are as reported by the drives.
    """

    text: str
    runs: tuple[str, ...]
    figures: dict[str, list[Line]]
    methods: tuple[str, ...]
    drives: tuple[str, ...]
    serials: tuple[str, ...] = ()
    firmwares: tuple[str, ...] = ()
    software: tuple[str, ...] = ()
    """Software of its runs, as `catalogue_row.software_of`."""

    @property
    def entries(self) -> dict[str, float | None]:
        """Its drives, each with the requested spare share."""
        return {line[DRIVE]: line["spare"] for own in self.figures.values() for line in own}

    @property
    def words(self) -> str:
        """Its description: the run or number of runs, with methods and drives."""
        one = self.runs[0] if len(self.runs) == 1 else counted(len(self.runs), "run")
        given = "" if self.text == one else f"{self.text}, "
        of = ", ".join(self.methods)
        if self.drives == ("",):  # an older run of which no name is known
            return f"{given}{one}, {of}"
        return f"{given}{one}, {of} on {', '.join(self.drives)}"


@dataclass(frozen=True)
class Compared:
    """One figure of two sets.

    Attributes
    ----------
    figure, part, label, unit, better
        The figure; `part`: of its suite, or its method.
    base, new
        Medians; None if all values were withheld.
    shift
        Of the new against the base; None if the runs are not comparable, a figure is unusable, or a value is
        not positive.
    unlike
        What differs between the runs, in words; empty if comparable.
    unfit
        Why the figure is unusable, and in how many runs, in words; empty: usable. If unusable, nothing is
        claimed.
    significant
        Whether the shift is beyond chance by the repeats; with few repeats, beyond the variation of runs and
        figures, and beyond a tie.
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
    """Number of these runs with each qualifier, by code."""
    new_marks: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Judged:
    """A rule and its outcome; `figure` is the name of the figure."""

    rule: Rule
    outcome: Outcome
    why: str
    figure: str


@dataclass(frozen=True)
class Comparison:
    """Two sets of runs, figure by figure; `only` are figures that one of the two lacks."""

    base: Side
    new: Side
    figures: tuple[Compared, ...]
    only: tuple[str, ...]
    judged: tuple[Judged, ...] = field(default=())

    @property
    def exit_status(self) -> int:
        """1 if a rule failed, else 2 if one could not be decided, else 0."""
        outcomes = {each.outcome for each in self.judged}
        return 1 if "failed" in outcomes else 2 if "undecidable" in outcomes else 0

    def _repr_html_(self) -> str:
        return _html(self)


def firmware_words(found: Comparison) -> str:
    """Return the firmware of each side, if the drives reported different ones."""
    base, new = found.base.firmwares, found.new.firmwares
    unlike = base and new and set(base) != set(new)
    return f"firmware {', '.join(base)} against {', '.join(new)}" if unlike else ""


def mixed_words(found: Comparison) -> str:
    """Return which side has runs of several firmwares, which no gate can judge as one; empty: neither."""
    sides = (("base", found.base), ("new", found.new))
    mixed = ((name, each.firmwares) for name, each in sides if len(each.firmwares) > 1)
    return ", ".join(f"{name} mixes firmware {and_listed(firmwares)}" for name, firmwares in mixed)


def identity_words(side: Side) -> str:
    """Return the reported identity of a side's drives; of many, the first ones."""
    named = {"serial": side.serials, "firmware": side.firmwares}
    return ", ".join(
        f"{name} {', '.join(values[:_NAMED])}"
        + (f" and {len(values) - _NAMED} more" if values[_NAMED:] else "")
        for name, values in named.items()
        if values
    )


def by_part(figures: Sequence[Compared]) -> dict[str, list[Compared]]:
    """Return figures by part; a single part needs no name."""
    found: dict[str, list[Compared]] = {}
    for each in figures:
        found.setdefault(each.part, []).append(each)
    return {"": [*figures]} if len(found) == 1 else found


def _names(found: Comparison, chosen: Sequence[Compared]) -> str:
    """Name figures by part and label; all of a part by it alone."""
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
    """Return the figures that one side lacks."""
    figures = {**found.base.figures, **found.new.figures}
    firsts = [figures[name][0] for name in found.only]
    return "; ".join(dict.fromkeys(f"{each['part']}, {each['label']}" for each in firsts))


def remarks_on(found: Comparison) -> list[str]:
    """Return the meaning of a shift's mark, and which figures are not compared, and why."""
    return [
        *([_SIGNIFICANT] if any(each.significant for each in found.figures) else ()),
        *_not_compared(found, "unlike", "not compared, the runs are not comparable: "),
        *_apart(found),
        *_on_both(found),
        *_not_compared(found, "unfit", "not compared: "),
        *_too_few(found),
    ]


def _apart(found: Comparison) -> list[str]:
    """Return which drives have more spare area, and by what unlike software the sides were measured."""
    sides = (("base", found.base), ("new", found.new))
    spares = [(plain_drive(name), spare) for _, side in sides for name, spare in side.entries.items()]
    software = [(name, each) for name, side in sides for each in side.software]
    return [each for each in (more_spare(spares), measured_with(software)) if each]


def _not_compared(found: Comparison, reason: Literal["unlike", "unfit"], words: str) -> list[str]:
    """Return for each reason of a kind which figures are not compared for it."""
    left: dict[str, list[Compared]] = {}
    for each in found.figures:
        if why := getattr(each, reason):
            left.setdefault(why, []).append(each)
    return [f"{words}{why} ({_names(found, own)})" for why, own in left.items()]


def _on_both(found: Comparison) -> list[str]:
    """Return that runs are on both sides, where some are: they pull the two together."""
    both = set(found.base.runs) & set(found.new.runs)
    if both == set(found.base.runs) == set(found.new.runs):
        return [f"base and new are the same {'run' if len(both) == 1 else 'runs'}: no difference is possible"]
    are = "is" if len(both) == 1 else "are"
    return [f"{counted(len(both), 'run')} {are} on both sides"] if both else []


def _too_few(found: Comparison) -> list[str]:
    """Return why there is no interval, where a side has too few runs for one."""
    from ssdlab.analysis.shift import REPEATS_MIN

    fewest = [min(each.n_base, each.n_new) for each in found.figures if each.shift is not None]
    if not fewest or min(fewest) >= REPEATS_MIN:
        return []
    return [too_few_words(min(fewest))]


def too_few_words(runs: int) -> str:
    """Return why nothing is significant with so few runs on a side."""
    from ssdlab.analysis.shift import REPEATS_MIN

    return f"significance needs {REPEATS_MIN} runs per side, and one side has {runs}"


def titles_of(found: Comparison) -> tuple[str, ...]:
    """Return the titles of the non-empty columns."""
    shifts = [each.shift for each in found.figures if each.shift is not None]
    if not shifts:
        return TITLES[:5]
    if all(each.low is None and each.detectable is None for each in shifts):
        return TITLES[:6]
    return TITLES


def interval_words(shift: Shift) -> str:
    """Return the interval of a shift; empty with too few runs on a side."""
    if shift.low is None or shift.high is None:
        return ""
    return ends_text(change_text(shift.low), change_text(shift.high))


def cells_of(each: Compared, base_marks: str, new_marks: str) -> tuple[str, ...]:
    """Return the cells after the figure's name; marks follow the values."""
    base, new = figure_text(each.base, each.unit) + base_marks, figure_text(each.new, each.unit) + new_marks
    values, shift = (base, str(each.n_base), new, str(each.n_new)), each.shift
    if shift is None:
        return (*values, "", "", "")
    could = "" if shift.detectable is None else share_text(shift.detectable)
    marked = f"{change_text(shift.share)} {'*' if each.significant else ' '}"
    return (*values, marked, interval_words(shift), could)


def _html(found: Comparison) -> str:
    """Return a comparison as a notebook shows it; what is the matter with a figure stands behind it."""
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
