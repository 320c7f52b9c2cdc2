"""The combined outcome of the runs of a suite; only reads their folders."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median, median_high
from typing import TYPE_CHECKING, Any, Literal

from ssdlab.drives.simulated.text import SimulatedText
from ssdlab.lab.kinds import ChildOutcome, RepeatedFigure, SuiteResult
from ssdlab.lab.outcome import read_result
from ssdlab.results.catalogue_row import figure_of, kinship
from ssdlab.results.kin import CHOSEN_UNIT, OF_FIGURES, UNFIT, set_apart, taken_apart
from ssdlab.results.metered import ENERGY, MeterRecord, drawn_by_all, meter_of
from ssdlab.results.remarks import first_bytes, span_within
from ssdlab.results.run_folder import RunFolder
from ssdlab.results.schema import NOT_ASKED_FOR, Departure

if TYPE_CHECKING:
    from pathlib import Path

    from pydantic import JsonValue

    from ssdlab.results.schema import Child, Manifest, Metric


def finished_children(library: Path, children: Sequence[Child]) -> list[RunFolder]:
    """Return the runs of a suite that were not left out, in its order."""
    return [RunFolder(library / child.run_id) for child in children if child.left_out is None]


def conclude(library: Path, suite: Manifest) -> SuiteResult:
    """Return the combined result of the finished runs of a suite."""
    folders = {run.manifest.run_id: run for run in finished_children(library, suite.children)}
    runs = {run_id: run.manifest for run_id, run in folders.items()}
    outcomes = []
    for child in suite.children:
        member = runs[child.run_id].member if child.run_id in runs else None
        result = read_result(folders[child.run_id]) if child.run_id in runs else None
        outcomes.append(
            ChildOutcome(
                part=child.part,
                run_id=child.run_id,
                method=child.method,
                title=child.title,
                state=child.state,
                prepared_by=None if member is None else member.prepared_by,
                left_out=child.left_out,
                verdict=None if result is None else result.passed,
            )
        )
    return SuiteResult(
        quick=suite.quick,
        outcomes=tuple(outcomes),
        repeats=max((_number(child) for child in suite.children), default=1),
        repeated=tuple(_repeated(suite.children, folders)),
    )


def spans_of_parts(children: Sequence[Child], runs: Mapping[str, Manifest]) -> Iterator[Departure]:
    """Report if the suite used only the first bytes of the drive: nothing is known about the others."""
    used = {
        span_within(child.span_bytes, runs[child.run_id].drive.capacity_bytes)
        for child in children
        if child.run_id in runs
    }
    for span_bytes in sorted(each for each in used if each is not None):
        yield from first_bytes(span_bytes)


def not_asked_for(children: Sequence[Child]) -> Iterator[Departure]:
    """Report, in one departure, the parts that were left out because the user asked for others."""
    parts = dict.fromkeys(child.label for child in children if child.left_out == NOT_ASKED_FOR)
    if parts:
        yield Departure(code="not-asked-for", what=f"parts left out: {', '.join(parts)}", why=NOT_ASKED_FOR)


_LOSSES = ("lost_samples", "gone")


def environment(runs: Sequence[RunFolder]) -> Mapping[str, JsonValue]:
    """Return the first run's environment, with energy and losses of all runs if they share one meter."""
    first = runs[0].manifest.environment
    meters = [found for run in runs if isinstance(found := run.manifest.environment.get("meter"), Mapping)]
    if not meters:
        return first
    kept = {name: value for name, value in meters[0].items() if name not in (*ENERGY, *_LOSSES)}
    whole = len(meters) == len(runs) and all(each.get("use") == meters[0].get("use") for each in meters)
    kept_of_each = [MeterRecord.model_validate(each) for each in meters]
    drawn = drawn_by_all(kept_of_each) if whole else {}
    lost = sum(each.lost_samples for each in kept_of_each)
    gone = next((each.gone for each in kept_of_each if each.gone), None)
    losses = {name: value for name, value in zip(_LOSSES, (lost, gone), strict=True) if value}
    return {**first, "meter": {**kept, **losses, **drawn}}


def departures(library: Path, suite: Manifest) -> tuple[Departure, ...]:
    """Return the departures of a suite as a whole: parts left out, part of the drive, unequal drive sizes."""
    runs = {run.manifest.run_id: run.manifest for run in finished_children(library, suite.children)}
    return (
        *not_asked_for(suite.children),
        *(
            Departure(code="left-out", what=f"{child.part} was left out", why=child.left_out)
            for child in suite.children
            if child.left_out not in (None, NOT_ASKED_FOR)
        ),
        *spans_of_parts(suite.children, runs),
        *sizes_of_parts(suite.children, runs),
    )


def sizes_of_parts(children: Sequence[Child], runs: Mapping[str, Manifest]) -> Iterator[Departure]:
    """Report which parts used which size of a simulated drive, if the sizes differ."""
    sizes: dict[int, dict[str, None]] = {}
    for child in children:
        run = runs.get(child.run_id)
        if run is not None and not child.suite and run.drive.capabilities.made_to_order:
            sizes.setdefault(SimulatedText.parse(run.drive.text).scale, {})[base_name(child.part)] = None
    if len(sizes) > 1:
        phrases = (
            f"{'in full size' if scale == 1 else f'at 1/{scale} of it'} in {', '.join(parts)}"
            for scale, parts in sorted(sizes.items())
        )
        yield Departure(
            code="sizes",
            what=f"the parts used different drive sizes: {'; '.join(phrases)}",
            why="cache and spare area scale with them",
        )


def base_name(part: str) -> str:
    """Return the name of a part without the number of its repeat."""
    return part.partition(" #")[0]


def _number(child: Child) -> int:
    return 1 if child.suite else int(child.part.partition(" #")[2] or 1)


def _repeated(children: Sequence[Child], runs: dict[str, RunFolder]) -> Iterator[RepeatedFigure]:
    parts: dict[str, list[RunFolder]] = {}
    for child in children:
        if child.run_id in runs:
            parts.setdefault(child.part if child.suite else base_name(child.part), []).append(
                runs[child.run_id]
            )
    for part, repeats in parts.items():
        if len(repeats) > 1:
            yield from _figures(part, repeats)


def _figures(part: str, repeats: Sequence[RunFolder]) -> Iterator[RepeatedFigure]:
    found: dict[str, list[tuple[Metric, Mapping[str, Any]]]] = {}
    for run in repeats:
        result = read_result(run)
        if result is None:
            continue
        alike, meter = kinship(run.manifest), meter_of(run.manifest)
        for scalar in result.scalars:
            own = figure_of(scalar, meter)
            kin = {**alike, **{name: getattr(own, name) for name in OF_FIGURES}}
            found.setdefault(scalar.name, []).append((scalar, kin))
    for scalars in found.values():
        valued = [(each, kin) for each, kin in scalars if each.value is not None]
        unlike = set_apart([kin for _, kin in valued], but=(UNFIT,)) or _chosen_apart(valued)
        yield _figure(part, [each for each, _ in scalars], unlike)


def _chosen_apart(figures: Sequence[tuple[Metric, object]]) -> str:
    """Return the reason against a median if the figure is a chosen depth, and runs chose different ones."""
    if any(each.unit != CHOSEN_UNIT for each, _ in figures):
        return ""
    return taken_apart(f"depth {each.value:.0f}" for each, _ in figures)


def _figure(part: str, scalars: Sequence[Metric], unlike: str) -> RepeatedFigure:
    """Return one figure of repeats; `unlike` says why its values are not comparable and have no median."""
    first = scalars[0]
    values = [each.value for each in scalars if each.value is not None]
    loads = {each.load for each in scalars if each.value is not None}
    interval = median_interval(values) if len(values) > 1 and not unlike else None
    return RepeatedFigure(
        part=part,
        name=first.name,
        label=first.label,
        unit=first.unit,
        better=first.better,
        values=tuple(values),
        median=None if interval is None else interval.median,
        low=None if interval is None else interval.low,
        high=None if interval is None else interval.high,
        confidence=None if interval is None else interval.confidence,
        bound=None if interval is None else _bound_of(scalars),
        load=loads.pop() if len(loads) == 1 else None,
        apart=unlike,
        qualified=_qualified(scalars),
        withheld=len(scalars) - len(values),
    )


def _bound_of(figures: Sequence[Metric]) -> Literal["at least"] | None:
    """Return "at least" if the median run's figure, or a lower one, is a lower bound; else None."""
    valued = [(each.value, each.bound) for each in figures if each.value is not None]
    middle = median_high([value for value, _ in valued])
    return next((bound for value, bound in valued if bound is not None and value <= middle), None)


def _qualified(figures: Sequence[Metric]) -> dict[str, int]:
    return dict(
        Counter(code for figure in figures for code in dict.fromkeys(q.code for q in figure.qualifiers))
    )


CONFIDENCE = 0.95


@dataclass(frozen=True)
class MedianInterval:
    """The median of runs, an interval for the true median, and the interval's confidence, 0 to 1."""

    median: float
    low: float
    high: float
    confidence: float


def median_interval(values: Sequence[float], wanted: float = CONFIDENCE) -> MedianInterval:
    """Return the median of runs and its distribution-free confidence interval.

    Whatever the distribution, the number of n independent runs below the true median is binomial with
    probability one half. The interval from the k-th smallest to the k-th largest value holds the median if at
    least k and at most n - k runs lie below it. This gives the interval's confidence. The result is the
    narrowest interval that reaches the wanted confidence. If there are too few runs for that, it is the
    interval from minimum to maximum, with its own confidence: 50 % for two runs, 75 % for three, 93.75 % for
    five.

    Source: H. A. David and H. N. Nagaraja, "Order Statistics", 3rd edition (2003), section 7.1; J.-Y. Le
    Boudec, "Performance Evaluation of Computer and Communication Systems" (2010), theorem 2.1.

    Parameters
    ----------
    values
        One figure of each run, in any order.
    wanted
        Confidence to reach, above 0 and below 1.

    Raises
    ------
    ValueError
            There are no values, or the confidence is out of bounds.

    >>> median_interval([3.0, 1.0, 2.0, 6.0, 5.0, 4.0])
    MedianInterval(median=3.5, low=1.0, high=6.0, confidence=0.96875)
    """
    if not values:
        raise ValueError("no runs have no median")
    if not 0 < wanted < 1:
        raise ValueError(f"a confidence of {wanted} is not between 0 and 1")
    ordered = sorted(values)
    n = len(ordered)
    # The interval from minimum to maximum is the widest, so it is the fallback.
    best, confidence = 1, _confidence(n, 1)
    for k in range(2, n // 2 + 1):
        if _confidence(n, k) >= wanted:
            best, confidence = k, _confidence(n, k)
    return MedianInterval(median(ordered), ordered[best - 1], ordered[n - best], confidence)


def _confidence(n: int, k: int) -> float:
    """Return the chance that the median lies between the k-th smallest and the k-th largest of n values."""
    outside = sum(math.comb(n, below) for below in range(k))
    return max(0.0, 1.0 - math.ldexp(outside, 1 - n))
