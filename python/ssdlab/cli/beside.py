"""`ssdlab run --beside`: both sides in turn, then the comparison."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from ssdlab.cli.compare import print_comparison
from ssdlab.cli.output import say
from ssdlab.cli.progress import RunProgress
from ssdlab.model.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from ssdlab.results.progress import Observer
    from ssdlab.runs.order import Order

Beside = Annotated[
    str | None,
    Parameter(
        metavar="RUN",
        help="Run in turn with it the method and drive of an earlier run, as often, and compare the two: a "
        "run, a suite of repeats, or tag:WORD. Five repeats at least can be judged.",
    ),
]
FailIf = Annotated[
    tuple[str, ...],
    Parameter(
        metavar="RULE",
        negative=(),
        help="With --beside, the gate of `ssdlab compare`: 'p99 > +5%'. May be given several times.",
    ),
]


def run_beside(
    text: str, new: Order, repeats: int, library: Path, rules: Sequence[str], *, json: bool
) -> int:
    """Run a method in turn with an earlier run's, print how they compare, and return the exit status."""
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
    """Refuse options that say nothing together.

    Raises
    ------
    UsageError
        With the ones that do not fit.
    """
    if rules and beside is None:
        raise UsageError("--fail-if needs a run to compare with", "add --beside RUN, or use ssdlab compare")
    if beside is not None and dry_run:
        raise UsageError("--beside cannot be a dry run", "see each side by itself: leave --beside out")
    if beside is not None and suite:
        raise UsageError("--beside runs a method, not a suite", "name a method: see ssdlab methods")
