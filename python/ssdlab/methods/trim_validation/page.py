"""Page of TRIM validation: write speed over position, clean, before TRIM and after TRIM."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from ssdlab.plugin import (
    NOTHING,
    Axis,
    Back,
    Bar,
    BarsChart,
    BarsView,
    Buttons,
    Dot,
    Exhibit,
    Figure,
    Line,
    Qualifier,
    Section,
    Table,
    XyChart,
    XyView,
    and_listed,
    block_text,
    cells,
    efficiency,
    leads,
    rates,
    share_text,
    span_text,
    texts_of,
    together,
    with_result,
    words,
)

from . import result as trim
from .result import TrimResult, going_on

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ssdlab.plugin import Metric, Shown

    from .result import LbaPlot

Trimmed = tuple["Shown", TrimResult]
_REACHED = {True: "yes", False: "no", None: "not known"}


def section(runs: Sequence[Shown]) -> Section:
    kept = with_result(runs, TrimResult)
    return Section(
        id="trim-validation",
        title=runs[0].run.manifest.method.title,
        lead=leads(kept, trim.findings),
        runs=tuple(shown.index for shown, _ in kept),
        figures=tuple(
            figure
            for figure in (
                _over_lba(kept),
                _bars(kept),
                efficiency.figure("trim-validation", _worked(kept)),
            )
            if figure is not None
        ),
        exhibits=(
            Exhibit(
                "Verdict and conditions",
                "System and driver matter: a discard that they hold back does not reach the drive.",
                (together(kept, trim.verdict), _conditions(kept)),
            ),
        ),
    )


def _worked(kept: Sequence[Trimmed]) -> list[efficiency.Worked]:
    return [
        efficiency.Worked(shown, plot.name, "", plot.efficiency, plot.mean_w, "", plot.ordinal)
        for shown, result in kept
        for plot in trim.plots(result)
        if plot.efficiency is not None and plot.mean_w is not None
    ]


def _over_lba(kept: Sequence[Trimmed]) -> Figure:
    fastest = max(max(plot.parts_mb_s) for _, result in kept for plot in trim.plots(result))
    views = tuple(
        XyView(
            shown.style.short,
            Axis("position", "capacity"),
            Axis("MB/s (decimal)", "mb_s", range=(0.0, fastest)),
            tuple(_line(shown, result, plot) for plot in trim.plots(result)),
        )
        for shown, result in kept
    )
    first = kept[0][1]
    return Figure(
        id="trim-validation-lba",
        title="Write speed over the position",
        lead="From the first block to the last; higher is better. Text colour: the clean drive.",
        described=" ".join(leads(kept, trim.findings)),
        chart=XyChart(views),
        tables=(together(kept, trim.speeds),),
        measured=(
            f"{block_text(first.block_bytes)} sequential writes, one in flight.",
            *texts_of([(shown, _contrast(shown, result)) for shown, result in kept]),
            "Reads of trimmed blocks do not reach the medium, so none are shown.",
        ),
        buttons=(Buttons("view", "Drive", tuple(view.label for view in views)),) if len(views) > 1 else (),
        wide=True,
    )


def _line(shown: Shown, result: TrimResult, plot: LbaPlot) -> Line:
    dots = tuple(
        Dot((number + 1) * plot.part_bytes, speed, quiet=True) for number, speed in enumerate(plot.parts_mb_s)
    )
    return Line(shown.index, plot.name, True, dots, plain=plot is result.clean or None)


def _bars(kept: Sequence[Trimmed]) -> Figure:
    drawn = []
    for shown, result in kept:
        for plot in trim.plots(result):
            share = plot.sustained_mb_s / result.clean.sustained_mb_s
            note = "" if plot is result.clean else f"{share_text(share)} of clean"
            bar = Bar(shown.index, plot.sustained_mb_s, note)
            drawn.append(rates.Drawn(shown, plot.name, bar, _figure_of(shown, result, plot)))
    view = BarsView(
        "MB/s",
        Axis("MB/s (decimal)", "mb_s"),
        "higher",
        rates.groups(drawn),
    )
    seconds = span_text(kept[0][1].sustained_s)
    return Figure(
        id="trim-validation-sustained",
        title=f"The first {seconds}",
        lead="Higher is better. TRIM works if the drive is then about as fast as when clean.",
        described=" ".join(leads(kept, trim.findings)),
        chart=BarsChart((view,)),
        tables=(together(kept, trim.speeds),),
        measured=(
            f"Mean of the first {seconds} of the same sequential writes.",
            *texts_of([(shown, _written_on(shown, result)) for shown, result in kept]),
        ),
    )


def _figure_of(shown: Shown, result: TrimResult, plot: LbaPlot) -> Metric | None:
    """Return the figure of a bar; after TRIM it also carries the verdict's qualifiers."""
    own = rates.figure_of(shown, plot.ordinal, "MB/s")
    if own is None or plot is result.clean:
        return own
    found = rates.figure_of_unit(shown, "%")
    if found is not None:
        return own.qualified(found.qualifiers)
    unjudged = [Qualifier(code="not-judged", steps=(plot.ordinal,), why=result.why)]
    return own.qualified(unjudged if result.passed is None else ())


def _contrast(shown: Shown, result: TrimResult) -> str:
    """Return how the speed before TRIM was measured: from a saved state, or in a second cycle."""
    kept = any(step.verb == Back.verb for step in shown.run.steps)
    where = "then TRIM from the resulting state" if kept else "in a cycle of its own"
    return f"Before TRIM: after {span_text(result.torture_s)} of random writes, {where}."


def _written_on(shown: Shown, result: TrimResult) -> str:
    """Return a note on passes that ended before the compared time and were restarted; empty if none."""
    done = {step.label for step in shown.run.steps}
    anew = [plot.name for plot in trim.plots(result) if going_on(plot.name) in done]
    return f"Shorter than that, so restarted at the end: {and_listed(anew)}." if anew else ""


def _conditions(kept: Sequence[Trimmed]) -> Table:
    head = (
        "Run",
        "Discard reached the device",
        "Shown by",
        "Trimmed blocks return",
        "TRIM took",
        "System",
        "Driver",
    )
    rows = tuple(
        (
            cells.of_run(shown.label, shown.index),
            words(_REACHED[result.trim.reached_device]),
            words(result.trim.evidence or NOTHING),
            words(result.trim.reads or NOTHING),
            cells.latency(None if result.trim.seconds is None else 1e9 * result.trim.seconds),
            words(_system(shown)),
            words(_drivers(shown)),
        )
        for shown, result in kept
    )
    return Table("Conditions", head, rows)


def _system(shown: Shown) -> str:
    manifest = shown.run.manifest
    release = (cast("Any", manifest.environment).get("kernel") or {}).get("release", "")
    return NOTHING if manifest.drive.capabilities.virtual_time else f"Linux {release}".strip()


def _drivers(shown: Shown) -> str:
    storage = cast("Any", shown.run.manifest.environment).get("storage") or {}
    return ", ".join(storage.get("drivers") or ()) or NOTHING
