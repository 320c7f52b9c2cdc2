"""Compares two sets of runs, figure by figure, and applies the regression gate (`--fail-if`).

A set is a run, a suite with its runs (as `run --repeat` makes), or all runs with a tag. In a review of
several drives, each drive is a set. A figure is compared only if all its runs are comparable (`results.kin`)
and no qualifier forbids it. Any other figure is listed with the difference of its runs or with its
qualifiers. The two sets may be different entries, such as a drive with more spare area; the comparison then
has a remark.
"""

from __future__ import annotations

import math
import re
import statistics
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ssdlab.analysis.places import LEVEL, level
from ssdlab.library.comparison import (
    DRIVE,
    Compared,
    Comparison,
    Judged,
    Outcome,
    Rule,
    Side,
    mixed_words,
    too_few_words,
)
from ssdlab.library.index import Index, Line, figure_among
from ssdlab.model.errors import UsageError, excerpt
from ssdlab.model.units import share_text
from ssdlab.results.catalogue_row import FIGURE_COLUMNS, row_of, software_of
from ssdlab.results.kin import (
    CHOSEN_UNIT,
    MARKS,
    OF_AN_ENTRY,
    OF_RUNS,
    UNFIT,
    VARIES,
    codes_of,
    counted_codes,
    labels_of,
    set_apart,
    unfit_of,
)
from ssdlab.results.metric import spread_of
from ssdlab.results.run_folder import MANIFEST, RunFolder, read_manifest
from ssdlab.results.store import find_run, require_finished, short_id

if TYPE_CHECKING:
    from pathlib import Path

    from ssdlab.analysis.shift import Shift
    from ssdlab.results.schema import Child

TAG = "tag:"
PART = "part"
_RULE = re.compile(r"\s*([\w.-]+)\s*([<>])\s*([+-]?\d{1,4}(?:\.\d{1,6})?)\s*%\s*")


def rule_of(text: str) -> Rule:
    """Parse a rule such as ``p99 > +5%``.

    Raises
    ------
    UsageError
        The text is not a rule, or the rule would fail without a change, or can never fail.
    """
    found = _RULE.fullmatch(text)
    if found is None:
        raise UsageError(
            f"--fail-if {excerpt(text)!r} is not a rule", "write FIGURE > +5% or FIGURE < -5%, in quotes"
        )
    above, share = found[2] == ">", float(found[3]) / 100
    if (share < 0) is above and share:
        raise UsageError(
            f"--fail-if {excerpt(text)!r} would fail without a change",
            "give > with a rise such as +5%, < with a fall such as -5%",
        )
    if share <= -1:
        raise UsageError(f"--fail-if {excerpt(text)!r} can never fail", "give a fall smaller than 100 %")
    return Rule(text.strip(), found[1], above, share)


def compare(library: Path, base: str, new: str, rules: Sequence[Rule] = ()) -> Comparison:
    """Compare two sets of runs.

    Raises
    ------
    UsageError
        There is no such run, tag or figure, or the sets have no figure in common.
    Refused
        A run is damaged or not finished.
    """
    one, other = side_of(base, library), side_of(new, library)
    shared = [name for name in one.figures if name in other.figures]
    if not shared:
        for side in (one, other):
            lines = [line for own in side.figures.values() for line in own]
            if not any(map(_has_value, lines)):
                raise _without_figures(side.text, lines)
        raise UsageError(
            f"{base} and {new} have no figure in common", "compare runs of one method; see ssdlab show"
        )
    figures = tuple(_compared(name, one.figures[name], other.figures[name]) for name in shared)
    only = tuple(sorted(set(one.figures) ^ set(other.figures)))
    found = Comparison(one, other, figures, only)
    return replace(found, judged=tuple(_judged(rule, found) for rule in rules))


def _judged(rule: Rule, found: Comparison) -> Judged:
    by_name = {each.figure: each for each in found.figures}
    named = [name for name in (*by_name, *found.only) if rule.figure in name]
    among = tuple(by_name) if not named or any(name in by_name for name in named) else found.only
    name = figure_among(rule.figure, among, elsewhere="the comparison without --fail-if")
    if name in found.only:
        lacking = "base" if name in found.new.figures else "new"
        return Judged(rule, "undecidable", f"{lacking} has no such figure", name)
    if mixed := mixed_words(found):
        return Judged(rule, "undecidable", mixed, name)
    return judge(rule, by_name[name])


def judge(rule: Rule, found: Compared) -> Judged:
    """Apply a rule to a figure. The rule fails if the shift is significant and beyond the bound."""
    outcome, why = _outcome(rule, found)
    return Judged(rule, outcome, why, found.figure)


def _outcome(rule: Rule, found: Compared) -> tuple[Outcome, str]:
    from ssdlab.analysis.shift import REPEATS_MIN, SIGNIFICANCE

    fewest = min(found.n_base, found.n_new)
    if found.unlike:
        return "undecidable", f"the runs are not comparable: {found.unlike}"
    if found.unfit:
        return "undecidable", found.unfit
    if fewest < REPEATS_MIN:
        return "undecidable", too_few_words(fewest)
    if found.shift is None:
        return "undecidable", "a value is not positive"
    p = found.shift.p_higher if rule.above else found.shift.p_lower
    direction = "rise" if rule.above else "fall"
    if p > SIGNIFICANCE:
        smallest, why = found.shift.detectable, f"no significant {direction} (p = {p:.2g})"
        if smallest is not None and smallest > abs(rule.share):
            why += f"; with so few runs only {share_text(smallest)} or more is found"
        return "passed", why
    if not rule.beyond(found.shift.share):
        return "passed", f"a significant {direction}, but within the bound (p = {p:.2g})"
    return "failed", f"a significant {direction} beyond the bound (p = {p:.2g})"


def side_of(text: str, library: Path) -> Side:
    """Return the set of runs that a text names: a run, or ``tag:`` and a tag.

    Raises
    ------
    UsageError
        There is no such run or tag, or none of its runs is finished.
    Refused
        A run is damaged.
    """
    lines = _tagged(text.removeprefix(TAG), library) if text.startswith(TAG) else _of_run(text, library)
    figures: dict[str, list[Line]] = {}
    for line in lines:
        if _has_value(line) or (line["value"] is None and line[UNFIT]):  # a withheld figure counts too
            figures.setdefault(line["name"], []).append(line)
    if not figures:
        raise _without_figures(text, lines)
    runs, methods, drives = (
        tuple(dict.fromkeys(line[name] for line in lines)) for name in ("folder", "method", DRIVE)
    )
    manifests = [read_manifest(library / run) for run in runs if (library / run / MANIFEST).is_file()]
    identities = [each.drive.identity for each in manifests]
    serials, firmwares = (
        tuple(dict.fromkeys(str(each[name]) for each in identities if each.get(name)))
        for name in ("serial", "firmware")
    )
    software = tuple(dict.fromkeys(map(software_of, manifests)))
    return Side(text, runs, figures, methods, drives, serials, firmwares, software)


def _without_figures(text: str, lines: Sequence[Line]) -> UsageError:
    if lines:
        what = f"{text} is finished, but none of its {len(lines)} headline figures has a value"
        return UsageError(what, "name another run; ssdlab show says why")
    if text.startswith(TAG):
        return UsageError(
            f"no finished run with the {text} has figures of its own",
            "tag finished runs of a method, or one drive of a review (see ssdlab show)",
        )
    return UsageError(f"{text} is finished, but its method gives no headline figures", "name another run")


def _tagged(tag: str, library: Path) -> list[Line]:
    """Return the figures of all finished runs with a tag.

    A tagged suite stands for its runs: their figures are returned, not the suite's medians.
    """
    columns = ("folder", DRIVE, *OF_RUNS, *FIGURE_COLUMNS)
    with Index(library) as index:
        index.tag(tag)
        found = index.ask(
            f"SELECT {', '.join(columns)} FROM entries WHERE status = 'finished' AND "
            "(list_contains(tags, ?) OR suite IN (SELECT run_id FROM runs WHERE list_contains(tags, ?))) "
            "AND run_id NOT IN (SELECT suite FROM runs) ORDER BY created, folder",
            [tag, tag],
        )
    lines = [dict(zip(columns, line, strict=True)) for line in found]
    return [{**line, PART: line["method"]} for line in lines]


def _of_run(text: str, library: Path) -> list[Line]:
    """Return the figures of a run, or of the finished runs of a suite, read from their folders."""
    folder = find_run(text, library)
    run = RunFolder(folder)
    if run.manifest.several_drives:
        raise _several_drives(text, run)
    runs = _parts(run) or [run]
    finished = [each for each in runs if each.manifest.status == "finished"]
    if not finished:
        require_finished(folder)
    own_names = _own_names(run.manifest.children)
    lines = []
    for each in finished:
        row = row_of(each, each.verify())
        alike = {"folder": row.folder, DRIVE: row.drive_name} | {name: getattr(row, name) for name in OF_RUNS}
        for figure in row.figures:
            columns = {name: getattr(figure, name) for name in FIGURE_COLUMNS}
            own = own_names.get(each.path.name, "")
            named = {"name": own + figure.name, PART: own.removesuffix(".") or row.method}
            lines.append(alike | columns | named)
    return lines


def _several_drives(text: str, run: RunFolder) -> UsageError:
    drives = [
        f"{short_id(child.run_id)} ({RunFolder(folder).manifest.drive.name})"
        for child in run.manifest.children
        if ((folder := run.path.parent / child.run_id) / MANIFEST).is_file()
    ]
    return UsageError(
        f"{text} covers {len(run.manifest.children)} drives, whose figures are not one set",
        f"name one of its drives: {', '.join(drives)}",
    )


def _parts(run: RunFolder) -> list[RunFolder]:
    folders = (run.path.parent / child.run_id for child in run.manifest.children if child.left_out is None)
    return [RunFolder(folder) for folder in folders if (folder / MANIFEST).is_file()]


def _own_names(children: Sequence[Child]) -> dict[str, str]:
    """Return a prefix for figures' names, by run id, where several parts of a suite use one method.

    Such parts measure a variant of the drive, or use other settings, so their figures must not be mixed. The
    part that has its method's name needs no prefix.
    """
    parts = {child.run_id: (child.label, child.method) for child in children}
    several = Counter(method for _, method in set(parts.values()))
    return {
        run_id: f"{part}."
        for run_id, (part, method) in parts.items()
        if several[method] > 1 and part != method
    }


def _compared(name: str, base: list[Line], new: list[Line]) -> Compared:
    from ssdlab.analysis.shift import shift_of

    first = base[0]
    unlike = _unlike(base, new)
    one, other = ([line["value"] for line in lines if _has_value(line)] for lines in (base, new))
    unfit = _unfit([*base, *new])
    alike = not unlike and not unfit and min(*one, *other) > 0
    shift = shift_of(one, other) if alike else None
    varied = [line[VARIES] or 0.0 for line in (*base, *new)]
    return Compared(
        figure=name,
        part=first[PART],
        label=first["label"],
        unit=first["unit"],
        better=first["better"],
        base=statistics.median(one) if one else None,
        new=statistics.median(other) if other else None,
        n_base=len(one),
        n_new=len(other),
        shift=shift,
        significant=shift is not None
        and first["unit"] != CHOSEN_UNIT
        and _differs(shift, one, other, max(varied)),
        unlike=unlike,
        unfit=unfit,
        base_runs=len(base),
        new_runs=len(new),
        base_marks=_marks(base),
        new_marks=_marks(new),
    )


def _unlike(base: list[Line], new: list[Line]) -> str:
    """Return how the compared runs differ, in words; empty: they are comparable.

    If each side is one entry, the two entries may differ.
    """
    one_each = all(
        len({tuple(line[name] for name in OF_AN_ENTRY) for line in side}) == 1 for side in (base, new)
    )
    return set_apart([*base, *new], but=(UNFIT, *(OF_AN_ENTRY if one_each else ())))


def _differs(shift: Shift, base: Sequence[float], new: Sequence[float], varies: float) -> bool:
    """Whether a shift is significant: by its confidence interval, or else by the figures' variation."""
    if shift.low is not None and shift.high is not None:
        return not shift.low <= 0 <= shift.high and abs(shift.share) >= LEVEL
    spread = max(varies, *(spread_of(values) for values in (base, new)))
    if len(base) == len(new) == 1 and not spread:  # the variation of neither is known
        return False
    return not level(statistics.median(new), statistics.median(base), spread)


def _marks(lines: Sequence[Line]) -> dict[str, int]:
    """Return the number of runs with each qualifier of a figure, by code, the gravest first."""
    return counted_codes(", ".join(filter(None, (line[UNFIT], line[MARKS]))) for line in lines)


def _has_value(line: Line) -> bool:
    return line["value"] is not None and math.isfinite(line["value"])


def _unfit(lines: Sequence[Line]) -> str:
    """Return the qualifiers that forbid comparing a figure, and in how many runs; empty: none."""
    found = [codes_of(line[UNFIT]) for line in lines if line[UNFIT]]
    labels = labels_of(unfit_of(code for each in found for code in each))
    return labels if len(found) in (0, len(lines)) else f"{labels} in {len(found)} of {len(lines)} runs"
