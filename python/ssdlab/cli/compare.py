"""`ssdlab compare`: two sets of runs, with a gate; and `ssdlab run --beside`, which alternates both sets."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

from cyclopts import Parameter

from ssdlab.cli.completion import RunName
from ssdlab.cli.fitting import print_facts, print_parted, print_text
from ssdlab.cli.flags import Library
from ssdlab.cli.marks import Letters
from ssdlab.cli.ordering import library_of
from ssdlab.cli.output import one_line, paint, print_json, print_line, say
from ssdlab.cli.progress import RunProgress
from ssdlab.cli.showing_figures import nested
from ssdlab.library.comparison import (
    TITLES,
    by_part,
    cells_of,
    firmware_words,
    identity_words,
    interval_words,
    on_one_side,
    remarks_on,
    titles_of,
)
from ssdlab.model.errors import UsageError
from ssdlab.model.printable import in_markdown
from ssdlab.model.units import change_text, counted, figure_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ssdlab.cli.printed import ComparedSide, ComparisonDocument
    from ssdlab.library.comparison import Compared, Comparison, Side
    from ssdlab.results.progress import Observer
    from ssdlab.runs.order import Order

SCHEMA: Final = "ssdlab.compare/1"
_STYLES = {"passed": "good", "failed": "bad", "undecidable": "warn"}

Rules = Annotated[tuple[str, ...], Parameter(metavar="RULE")]


def compare(
    base: RunName,
    new: RunName,
    /,
    *,
    fail_if: Rules = (),
    markdown: bool = False,
    junit: Annotated[Path | None, Parameter(metavar="FILE")] = None,
    library: Library = None,
    json: bool = False,
) -> int:
    """Compare the figures of two sets of runs; with --fail-if, as a gate.

    A rule fails if a figure shifts by more than the bound, and not by chance (Mann-Whitney test at 0.01). The
    shift is the Hodges-Lehmann estimate on logarithms of the figure. A rule is undecidable with fewer than
    five repeats per side, incomparable runs, or unusable figures, such as throttled ones. Exit status 1 if a
    rule fails, else 2 if one is undecidable.

    Parameters
    ----------
    base
        A run, a suite (such as from `run --repeat`), or tag:WORD for all runs with a tag. If a review has
        several drives, name the suite of one of them.
    new
        Runs to compare with BASE, named in the same way.
    fail_if
        Fail if a figure rises or falls by more than this: 'qd1_random_read_p99 > +5%'. Part of a name is
        enough if it fits only one figure (`ssdlab rank` lists them). May be given several times.
    markdown
        Print tables in Markdown.
    junit
        With --fail-if: also write the verdicts to this JUnit XML file, a test case per rule. An older report
        is replaced.
    json
        Print the comparison as JSON, schema ssdlab.compare/1.
    """
    from ssdlab.library.comparing import compare as compared
    from ssdlab.library.comparing import rule_of

    rules = [rule_of(text) for text in fail_if]
    if junit is None:
        found = compared(library_of(library), base, new, rules)
    else:
        if not rules:
            raise UsageError("--junit needs a gate", "add --fail-if")
        from ssdlab.formats import junit as reports

        with reports.place(junit) as file:  # fail now if the file cannot be written
            found = compared(library_of(library), base, new, rules)
            file.replace(_as_junit(found))
    print_comparison(found, markdown=markdown, json=json)
    return found.exit_status


def print_comparison(found: Comparison, *, markdown: bool = False, json: bool = False) -> None:
    if json:
        print_json(_as_json(found))
    elif markdown:
        _print_markdown(found)
    else:
        _print(found)


def _as_json(found: Comparison) -> ComparisonDocument:
    return {
        "schema": SCHEMA,
        "base": _side_as_json(found.base),
        "new": _side_as_json(found.new),
        "figures": [asdict(each) for each in found.figures],
        "only_on_one_side": found.only,
        "rules": [asdict(each) for each in found.judged],
        "exit_status": found.exit_status,
    }


def _side_as_json(side: Side) -> ComparedSide:
    return {
        "given": side.text,
        "runs": side.runs,
        "methods": side.methods,
        "drives": side.drives,
        "serials": side.serials,
        "firmwares": side.firmwares,
        "software": side.software,
    }


def _as_junit(found: Comparison) -> bytes:
    from ssdlab.formats.junit import Case, report

    figures = {each.figure: each for each in found.figures}
    cases = [
        Case(
            of=figures[one.figure].part if one.figure in figures else "",
            name=f"{one.figure} {'>' if one.rule.above else '<'} {change_text(one.rule.share)}",
            outcome="skipped" if one.outcome == "undecidable" else one.outcome,
            why=one.why,
            figures=_moved(figures[one.figure]) if one.figure in figures else [],
        )
        for one in found.judged
    ]
    properties = {
        f"{name}.{what}": ", ".join(value) if isinstance(value, tuple) else str(value)
        for name, side in (("base", found.base), ("new", found.new))
        for what, value in _side_as_json(side).items()
    }
    return report("ssdlab compare", cases, properties)


def _moved(each: Compared) -> list[str]:
    """Return a line for the figure on each side, and a line for the shift between the sides."""
    lines = [
        f"{name}: {figure_text(value, each.unit)}, {counted(runs, 'run')}"
        for name, value, runs in (("base", each.base, each.n_base), ("new", each.new, each.n_new))
    ]
    if each.shift is None:
        return lines
    interval = interval_words(each.shift)
    return [*lines, f"shift: {change_text(each.shift.share)}{interval and f' ({interval})'}"]


def _print(found: Comparison) -> None:
    firmware = firmware_words(found)
    if firmware:
        print_text(firmware, "bold")
    sides = (("base", found.base), ("new", found.new))
    print_facts(fact for name, side in sides for fact in ((name, side.words), ("", identity_words(side))))
    print_line()
    titles, letters = titles_of(found), _letters(found)
    rows = []
    for part, own in by_part(found.figures).items():
        if part:
            rows.append((paint(part, "accent"), *[""] * (len(titles) - 1)))
        for each, label in zip(own, nested([one_line(each.label) for each in own]), strict=True):
            cells = [f"{'  ' if part else ''}{label}", *map(str, _cells(each, letters))][: len(titles)]
            rows.append(tuple(cells if each.significant else [paint(cell, "dim") for cell in cells]))
    print_parted(rows, titles, right=(1, 2, 3, 4, 5))
    letters.print()
    remarks = remarks_on(found)
    if remarks:
        print_line()
    for remark in remarks:
        print_text(remark, "warn", "  ")
    if found.only:
        print_text(f"on one side only: {on_one_side(found)}", "dim", "  ")
    for one in found.judged:
        print_text(f"{one.rule.text}: {one.outcome}: {one.why}", _STYLES[one.outcome], "  ")


def _print_markdown(found: Comparison) -> None:
    firmware = firmware_words(found)
    for line in [firmware] if firmware else []:
        print_line(f"* {in_markdown(line)}")
    for name, side in (("base", found.base), ("new", found.new)):
        print_line(f"* {name}: {in_markdown(', '.join(filter(None, (side.words, identity_words(side)))))}")
    print_line()
    rows: list[tuple[str, ...]] = [TITLES, ("---", "---:", "---:", "---:", "---:", "---:", "---", "---")]
    letters, width = _letters(found), len(titles_of(found))
    for part, own in by_part(found.figures).items():
        for each in own:
            label = ", ".join(filter(None, (part, each.label)))
            rows.append(tuple(in_markdown(str(cell).strip()) for cell in (label, *_cells(each, letters))))
    for row in rows:
        print_line(f"| {' | '.join(row[:width])} |")
    legend = [": ".join((f"{letter}, {label}", meaning)) for letter, label, meaning in letters.entries()]
    legend += [letters.partly] if letters.partly else []
    remarks = [f"* {in_markdown(each)}" for each in (*legend, *remarks_on(found))]
    remarks += [f"* `{each.rule.text}`: **{each.outcome}**: {in_markdown(each.why)}" for each in found.judged]
    if remarks:
        print_line()
    for line in remarks:
        print_line(line)


def _letters(found: Comparison) -> Letters:
    return Letters(code for each in found.figures for code in (*each.base_marks, *each.new_marks))


def _cells(each: Compared, letters: Letters) -> tuple[str, ...]:
    base = letters.of(each.base_marks, each.base_runs)
    return cells_of(each, f" {base}".rstrip(), f" {letters.of(each.new_marks, each.new_runs)}".rstrip())


Beside = Annotated[
    str | None,
    Parameter(
        metavar="RUN",
        help="Alternate with repeats of an earlier run, and compare both: a run, a suite of repeats, "
        "or tag:WORD. A verdict needs at least five repeats.",
    ),
]
FailIf = Annotated[
    tuple[str, ...],
    Parameter(
        metavar="RULE",
        help="With --beside, the gate of `ssdlab compare`: 'p99 > +5%'. May be given several times.",
    ),
]


def run_beside(
    text: str, new: Order, repeats: int, library: Path, rules: Sequence[str], *, json: bool
) -> int:
    """Alternate new runs with repeats of an earlier run, print the comparison, and return the exit status."""
    from ssdlab.library.comparing import compare, rule_of
    from ssdlab.runs.beside import in_turn, run_in_turn
    from ssdlab.runs.suites.ordering import check_repeat

    check_repeat(repeats)
    judged_by = [rule_of(rule) for rule in rules]
    asked = in_turn(text, library, new, repeats)
    say(f"runs of {text} get the tag {asked.base_tag}, new ones {asked.new_tag}")

    def begins(side: str, number: int) -> Sequence[Observer]:
        say(f"({number}/{repeats}) {side} begins")
        return [progress]

    with RunProgress() as progress:
        run_in_turn(asked, library, begins)
    found = compare(library, f"tag:{asked.base_tag}", f"tag:{asked.new_tag}", judged_by)
    print_comparison(found, json=json)
    return found.exit_status


def check_beside(beside: str | None, rules: Sequence[str], *, dry_run: bool, suite: bool) -> None:
    """Refuse --fail-if without --beside, and --beside with --dry-run or with a suite."""
    if rules and beside is None:
        raise UsageError("--fail-if needs a run to compare with", "add --beside RUN, or use ssdlab compare")
    if beside is not None and dry_run:
        raise UsageError(
            "--beside cannot be combined with --dry-run",
            "leave out --beside, and dry-run each side separately",
        )
    if beside is not None and suite:
        raise UsageError("--beside runs a method, not a suite", "name a method: see ssdlab methods")
