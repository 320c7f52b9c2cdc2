"""TRIM validation: its findings and its tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ssdlab.analysis.trim_verdict import too_few_parts
from ssdlab.plugin import (
    Amount,
    Bound,
    Cell,
    Claim,
    Evidence,
    Table,
    and_listed,
    cells,
    fixed_share_text,
    span_text,
    words,
)

from .result import VERDICTS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .result import LbaPlot, TrimResult

HARDLY_ANY = 0.01
ALIKE = 1e-6
"""Half an interval below this is the rounding of the machine: on a simulated drive all may be alike."""
_REACHED = {
    True: "the discard reached the device",
    False: "the discard did not reach the device",
    None: "whether the discard reached the device is not known",
}


def plots(result: TrimResult) -> list[LbaPlot]:
    """Return what there is of clean, before and after."""
    return [plot for plot in (result.clean, result.before, result.after) if plot is not None]


def findings(result: TrimResult) -> Iterator[Claim]:
    """Yield the verdict, and whether the discard reached the device."""
    steps = tuple(plot.ordinal for plot in plots(result))
    regained = _regained(result.regained)
    why = f" ({result.why})".replace("{", "{{").replace("}", "}}") if result.why else ""
    share = f"{{figure}}{_sure(result.uncertainty)} of the clean speed{_where(result)}{regained}"
    yield Claim(
        f"TRIM {VERDICTS[result.verdict]}{why}: {share}",
        figure=Amount(100 * result.recovered, "%"),
        bound=Bound("at least", Amount(100 * result.passes_from, "%")),
        evidence=Evidence(steps),
        others={
            "regained": Amount(None if result.regained is None else 100 * result.regained, "%"),
            "sure": Amount(None if result.uncertainty is None else 100 * result.uncertainty, "%"),
        },
    )
    if result.uncertainty is None and (why := too_few_parts(plots(result))) != result.why:
        yield Claim("How far to trust that share is not known: {why}", others={"why": why})
    if result.verdict == "no contrast" and result.before is not None:
        yield _no_contrast(result, result.before)
    known = result.trim.reached_device
    yield Claim(_REACHED[known], evidence=Evidence(steps[-1:]))


def _no_contrast(result: TrimResult, before: LbaPlot) -> Claim:
    """Say what is left of the contrast, and where there is one that the verdict does not go by."""
    first = before.sustained_mb_s / result.clean.sustained_mb_s
    says = "The random writes left the drive {figure} of its clean speed over all blocks"
    if first < result.passes_from:
        says += " ({first} in the first {span})"
    return Claim(
        f"{says}: hardly anything for TRIM to give back",
        figure=Amount(100 * before.mean_mb_s / result.clean.mean_mb_s, "%"),
        bound=Bound("under", Amount(100 * result.passes_from, "%")),
        evidence=Evidence((result.clean.ordinal, before.ordinal)),
        others={"first": Amount(100 * first, "%"), "span": span_text(result.sustained_s)},
    )


def _sure(uncertainty: float | None) -> str:
    """Return how far the share is to be trusted."""
    if uncertainty is None:
        return ""
    return " (the same in every tenth of the blocks)" if uncertainty < ALIKE else " ± {sure}"


def _regained(share: float | None) -> str:
    """Return how much came back of what was lost; a share below the noise of any two passes has no digits."""
    if share is None:
        return ""
    if share < HARDLY_ANY:
        return f"; over all blocks under {fixed_share_text(HARDLY_ANY)} of what was lost came back"
    return "; over all blocks {regained} of what was lost came back"


def _regained_cell(share: float | None) -> Cell:
    """Return the same as a cell."""
    if share is None or share >= HARDLY_ANY:
        return cells.share(share)
    return Cell(f"under {fixed_share_text(HARDLY_ANY)}", repr(share))


def _where(result: TrimResult) -> str:
    """Return which of the two shares the verdict's figure is: the lesser."""
    whole = result.after.mean_mb_s / result.clean.mean_mb_s
    return (
        " over all blocks" if whole <= result.recovered else f" in the first {span_text(result.sustained_s)}"
    )


def speeds(result: TrimResult) -> Table:
    """Return the speeds in each state."""
    first = f"First {span_text(result.sustained_s)}, MB/s"
    head = ("State", first, "Of clean", "Over all blocks, MB/s", "Slowest part", "Fastest part")
    rows = tuple(
        (
            words(plot.name),
            cells.throughput(plot.sustained_mb_s),
            cells.share(plot.sustained_mb_s / result.clean.sustained_mb_s),
            cells.throughput(plot.mean_mb_s),
            cells.throughput(min(plot.parts_mb_s)),
            cells.throughput(max(plot.parts_mb_s)),
        )
        for plot in plots(result)
    )
    return Table(f"Sequential writes in each state{_again(result)}", head, rows)


def _again(result: TrimResult) -> str:
    """Return of which states the time compared is longer than the pass; empty if it is of none."""
    short = [plot.name for plot in plots(result) if plot.ends_within(result.sustained_s)]
    if not short:
        return ""
    of = f" ({and_listed(short)})" if len(short) < len(plots(result)) else ""
    first = f"the first {span_text(result.sustained_s)}{of}"
    return f"; {first} took in blocks written twice, and may lie outside of all parts"


def verdict(result: TrimResult) -> Table:
    """Return the verdict and what it rests on."""
    head = ("TRIM", "Recovered", "95 % interval, ±", "Of what was lost", "Works from", "Purged before")
    row = (
        words(VERDICTS[result.verdict]),
        cells.share(result.recovered),
        cells.share(result.uncertainty),
        _regained_cell(result.regained),
        cells.share(result.passes_from),
        words("yes" if result.purged else "no"),
    )
    return Table("Verdict", head, (row,))


def tables(result: TrimResult) -> tuple[Table, ...]:
    """Return verdict and speeds."""
    return (verdict(result), speeds(result))
