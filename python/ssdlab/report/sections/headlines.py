"""What the cards say of one run: figures and what goes with them.

Those of kinds with models of their own stand with their sections: a page loads no kind that it has not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ssdlab.methods.presented.points import OF_POWER
from ssdlab.methods.presented.steady import check_claim
from ssdlab.methods.results.figure_state import state_of
from ssdlab.methods.results.figures import FROM_BELOW
from ssdlab.model.units import latency_text
from ssdlab.report.links import attribution_of
from ssdlab.report.runs import with_result
from ssdlab.report.sections import rates, ratings
from ssdlab.report.sections.measure import sides
from ssdlab.results.claim import sentence
from ssdlab.results.numbers import of_unit
from ssdlab.results.schema import MeasureResult, PeakResult, Qd1Result

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ssdlab.report.runs import Shown
    from ssdlab.results.drive_states import StateCheck
    from ssdlab.results.schema import Latencies, Point, ResultBase, Scalar

_TRIO = ("mean", "p99", "p99.99")


@dataclass(frozen=True)
class Headline:
    """What a card says of one run."""

    run: int
    figure: str
    beside: tuple[str, ...]
    scalar: str = ""
    """Name of the figure in the result; empty: it is none of them."""
    place: str = ""
    """Where it stands among the drives of the page; empty: nothing is compared."""
    stands: bool = True
    """Whether it is what its name says: the state was shown, and it was judged."""


def of_peak(shown: Shown) -> Iterator[tuple[str, Headline]]:
    """Yield the chosen point of a depth sweep."""
    ((_, result),) = with_result([shown], PeakResult)
    if result.moved:
        yield shown.run.manifest.method.title, moved(shown, result.checks)
        return
    chosen = result.points[result.chosen]
    attribution = attribution_of(chosen, shown.style.link_mb_s)
    name = f"{'peak' if result.direction == 'read' else 'steady'}_{result.pattern}_{result.direction}"
    beside = (
        f"at QD {chosen.in_flight_asked}",
        *_latency(chosen.response_ns),
        *_power(chosen),
        *_rated(shown, (f"{name}_iops", f"{name}_mb_s")),
        f"limit: {attribution.limit if attribution else 'unknown'}",
        *(_state(result, result.scalars[0]) if result.scalars else ()),
    )
    unit = "iops" if result.pattern == "random" else "mb_s"
    yield (
        shown.run.manifest.method.title,
        Headline(shown.index, rates.format_rate(chosen), beside, f"{name}_{unit}"),
    )


def of_qd1(shown: Shown) -> Iterator[tuple[str, Headline]]:
    """Yield each corner at one I/O in flight."""
    ((_, result),) = with_result([shown], Qd1Result)
    for point in result.corners:
        label = f"{point.pattern} {point.direction}, QD 1".capitalize().replace("qd", "QD")
        if point.missing is None:
            own = next((each for each in result.scalars if each.label == point.label), None)
            state = () if own is None else _state(result, own)
            beside = (*_latency(point.response_ns), *_power(point), *state)
            name = "" if own is None else own.name
            yield label, Headline(shown.index, rates.format_rate(point), beside, name)
        else:
            yield label, Headline(shown.index, "not measured", (point.missing,))


def of_measure(shown: Shown) -> Iterator[tuple[str, Headline]]:
    """Yield the one workload of `ssdlab measure`."""
    ((_, result),) = with_result([shown], MeasureResult)
    summary = result.summary
    throughput = of_unit(summary.mb_s, "MB/s")
    latencies = tuple(
        f"{name} {line}" for name, side in sides(summary) for line in _latency(side.response_ns)
    )
    yield "One workload", Headline(shown.index, of_unit(summary.iops, "IOPS"), (throughput, *latencies))


def of_scalars(shown: Shown) -> Iterator[tuple[str, Headline]]:
    """Yield a card for each figure; power and efficiency stand next to the figure that they belong to."""
    found: list[tuple[Scalar, dict[str, list[str]]]] = []
    for scalar in shown.run.result.scalars:
        if found and scalar.unit in OF_POWER:
            of_what = scalar.label.removesuffix(" efficiency").removesuffix(" power").rstrip(",")
            found[-1][1].setdefault(of_what, []).append(of_unit(scalar.value, scalar.unit))
        else:
            found.append((scalar, {}))
    for scalar, beside in found:
        lines = (
            (f"{of_what}: " if of_what and of_what != scalar.label else "") + ", ".join(figures)
            for of_what, figures in beside.items()
        )
        texts = [*_state(shown.run.result, scalar)]
        texts += ratings.beside(shown, scalar)
        figure = of_unit(scalar.value, scalar.unit)
        if shown.run.result.unshown(scalar).startswith(FROM_BELOW):
            figure = f"{FROM_BELOW} {figure}"
        headline = Headline(shown.index, figure, (*lines, *texts), scalar.name)
        yield f"{shown.run.manifest.method.title}, {scalar.label}", headline


def moved(shown: Shown, checks: Sequence[StateCheck]) -> Headline:
    """Return that there is no figure, and what shows it."""
    why = tuple(sentence(check_claim(each)) for each in checks if not each.held)
    known = any(not each.held and not each.by_host for each in checks)
    return Headline(shown.index, "state moved" if known else "not judged", why)


def _state(result: ResultBase, figure: Scalar) -> tuple[str, ...]:
    """Return the state that a figure is of, where that was not written and shown as it should be."""
    state = state_of(result, figure)
    return (state,) if state else ()


def _power(point: Point) -> tuple[str, ...]:
    """Return efficiency and mean power in one line; nothing without a meter."""
    if point.efficiency is None or point.mean_w is None:
        return ()
    return (f"{of_unit(point.efficiency.value, point.efficiency.unit)}, {of_unit(point.mean_w, 'W')}",)


def _rated(shown: Shown, names: Sequence[str]) -> tuple[str, ...]:
    """Return what is said of some of the figures of a run beside their ratings."""
    own = (each for each in shown.run.result.scalars if each.name in names)
    return tuple(text for each in own for text in ratings.beside(shown, each))


def _latency(stored: Latencies | None) -> tuple[str, ...]:
    """Return mean and tail in one line; nothing where no latency is known."""
    texts = [
        f"{name} {latency_text(value)}" for name in _TRIO if (value := (stored or {}).get(name)) is not None
    ]
    return (", ".join(texts),) if texts else ()
