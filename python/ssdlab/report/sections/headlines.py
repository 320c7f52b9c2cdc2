"""What the cards say of one run: figures and what goes with them.

Those of kinds with models of their own stand with their sections: a page loads no kind that it has not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ssdlab.methods.presented.points import OF_POWER
from ssdlab.methods.presented.steady import check_claim
from ssdlab.model.units import latency_text
from ssdlab.report.links import attribution_of
from ssdlab.report.runs import with_result
from ssdlab.report.sections import rates, ratings
from ssdlab.report.sections.measure import sides
from ssdlab.results.claim import sentence
from ssdlab.results.drive_states import moved
from ssdlab.results.evidence import qualified
from ssdlab.results.metric import Metric, labelled
from ssdlab.results.numbers import of_unit
from ssdlab.results.schema import MeasureResult, PeakResult, Qd1Result, ResultBase

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ssdlab.report.runs import Shown
    from ssdlab.results.drive_states import StateCheck
    from ssdlab.results.metric import Qualifier
    from ssdlab.results.schema import Latencies, Point

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
    """Whether no qualifier of the figure forbids a rank of it."""


def of_peak(shown: Shown) -> Iterator[tuple[str, Headline]]:
    """Yield the chosen point of a depth sweep."""
    ((_, result),) = with_result([shown], PeakResult)
    of = f"{'peak' if result.direction == 'read' else 'steady'}_{result.pattern}_{result.direction}"
    name = f"{of}_{'iops' if result.pattern == 'random' else 'mb_s'}"
    own = [found for each in result.scalars if each.name == name for found in each.qualifiers]
    if result.moved:
        yield shown.run.manifest.method.title, without_value(shown, own or without_figures(shown))
        return
    chosen = result.points[result.chosen]
    attribution = attribution_of(chosen, shown.style.link_mb_s)
    beside = (
        f"at QD {chosen.in_flight_asked}",
        *_latency(chosen.response_ns),
        *_power(chosen),
        *_rated(shown, (f"{of}_iops", f"{of}_mb_s")),
        f"limit: {attribution.limit if attribution else 'unknown'}",
        *label_lines(own),
    )
    yield (
        shown.run.manifest.method.title,
        Headline(shown.index, rates.format_rate(chosen), beside, name),
    )


def of_qd1(shown: Shown) -> Iterator[tuple[str, Headline]]:
    """Yield each corner at one I/O in flight."""
    ((_, result),) = with_result([shown], Qd1Result)
    for point in result.corners:
        label = f"{point.pattern} {point.direction}, QD 1".capitalize().replace("qd", "QD")
        if point.missing is None:
            own = next((each for each in result.scalars if each.label == point.label), None)
            state = () if own is None else label_lines(own.qualifiers)
            beside = (*_latency(point.response_ns), *_power(point), *state)
            name = "" if own is None else own.name
            yield label, Headline(shown.index, rates.format_rate(point), beside, name)
        else:
            yield label, Headline(shown.index, "not measured", (point.missing,))


def of_measure(shown: Shown) -> Iterator[tuple[str, Headline]]:
    """Yield the one workload of `ssdlab measure`, which has no headline figure to say what its step shows."""
    ((_, result),) = with_result([shown], MeasureResult)
    summary = result.summary
    throughput = of_unit(summary.mb_s, "MB/s")
    latencies = tuple(
        f"{name} {line}" for name, side in sides(summary) for line in _latency(side.response_ns)
    )
    beside = (throughput, *latencies, *label_lines(without_figures(shown)))
    yield "One workload", Headline(shown.index, of_unit(summary.iops, "IOPS"), beside)


def of_scalars(shown: Shown) -> Iterator[tuple[str, Headline]]:
    """Yield a card for each figure; power and efficiency stand next to the figure that they belong to."""
    title = shown.run.manifest.method.title
    found: list[tuple[Metric, dict[str, list[str]]]] = []
    for scalar in shown.run.result.scalars:
        if found and scalar.unit in OF_POWER:
            own, beside = found[-1]
            of_what = scalar.label.removesuffix(" efficiency").removesuffix(" power").rstrip(",")
            further = "" if scalar.state == own.state else scalar.state
            text = labelled(of_unit(scalar.value, scalar.unit), further)
            beside.setdefault(of_what, []).append(text)
        else:
            found.append((scalar, {}))
    for scalar, beside in found:
        label = f"{title}, {scalar.label}"
        if scalar.value is None and scalar.unfit("ranking"):
            yield label, without_value(shown, scalar.qualifiers)
            continue
        lines = (
            (f"{of_what}: " if of_what and of_what != scalar.label else "") + ", ".join(figures)
            for of_what, figures in beside.items()
        )
        figure = of_unit(scalar.value, scalar.unit)
        if scalar.bound is not None:
            figure = f"{scalar.bound} {figure}"
        texts = (*label_lines(scalar.qualifiers), *ratings.beside(shown, scalar))
        yield label, Headline(shown.index, figure, (*lines, *texts), scalar.name)


def without_value(shown: Shown, found: Sequence[Qualifier]) -> Headline:
    """Return the gravest of why there is no figure, in its place; and what shows it, and the others."""
    gravest, *others = label_lines(found)
    return Headline(shown.index, gravest, (*what_shows(shown, found), *others))


def what_shows(shown: Shown, found: Iterable[Qualifier]) -> tuple[str, ...]:
    """Return the checks of a drive's state that did not hold, of those that qualifiers are of."""
    steps = {ordinal for each in found for ordinal in each.steps}
    checks: tuple[StateCheck, ...] = getattr(shown.run.result, "checks", ())
    unheld = (each for each in checks if not each.held and steps.intersection(each.ordinals))
    return tuple(sentence(check_claim(each)) for each in unheld)


def without_figures(shown: Shown) -> tuple[Qualifier, ...]:
    """Return what is the matter with a run that has no figure to say it: as with one of all its steps."""
    checks: tuple[StateCheck, ...] = getattr(shown.run.result, "checks", ())
    whole = Metric.more("", "", None, "", qualifiers=moved(checks))
    found = qualified(ResultBase(kind="", quick=False, scalars=(whole,)), shown.run.steps)
    return found.scalars[0].qualifiers


def label_lines(found: Iterable[Qualifier]) -> tuple[str, ...]:
    """Return the labels of qualifiers, each a line of its own."""
    return tuple(dict.fromkeys(each.label for each in found))


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
