"""A headline figure with its evidence: its steps, its load, its variation and its qualifiers.

This suffices to show, rank or compare a figure.
"""

from __future__ import annotations

from operator import not_
from typing import TYPE_CHECKING, Any, Literal, Self

from pydantic import Field

from ssdlab.model.frozen import Stored, absent
from ssdlab.model.units import figure_text
from ssdlab.results.points import Point, Spread
from ssdlab.results.qualifiers import CATALOGUE, ORDER, UNKNOWN, Kind, Use, kind_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_OF = {
    "rows": "standard deviation {share} within a run",
    "rounds": "rounds vary by up to {share}",
    "writing": "preconditioning rounds vary by up to {share}",
    "search": "search steps of {share}",
    "meter": "meter error {share}",
    "repeats": "repeats vary by up to {share}",
    "interval": "95 % confidence interval within {share}",
}


class Qualifier(Stored):
    """A qualifier of a figure: a fault, or a caveat."""

    code: str
    steps: tuple[int, ...] = Field(default=(), description="ordinals of its steps; empty: the whole run")
    why: str = Field(default="", description="the finding, as a clause; empty: the catalogue suffices")

    @property
    def kind(self) -> Kind:
        return kind_of(self.code)

    @property
    def label(self) -> str:
        return self.kind.label


def united(found: Iterable[Qualifier]) -> tuple[Qualifier, ...]:
    """Merge qualifiers by code, with all their steps and the first reason; the gravest come first."""
    by_code: dict[str, Qualifier] = {}
    for each in found:
        code = each.code if each.code in CATALOGUE else UNKNOWN
        known = by_code.get(code)
        if known is None:
            by_code[code] = each
            continue
        steps = tuple(sorted({*known.steps, *each.steps})) if known.steps and each.steps else ()
        by_code[code] = known.model_copy(update={"steps": steps, "why": known.why or each.why})
    return tuple(sorted(by_code.values(), key=lambda each: ORDER.get(each.code, ORDER[UNKNOWN])))


def forbidding(found: Iterable[Qualifier], use: Use) -> tuple[Qualifier, ...]:
    return tuple(each for each in found if use in each.kind.forbids)


def labels(found: Iterable[Qualifier]) -> str:
    """Return the labels of qualifiers in one line; empty: there are none."""
    return ", ".join(dict.fromkeys(each.label for each in found))


class Load(Stored):
    """The load that a run chose itself; figures at different loads are not ranked together."""

    threads: int | None = Field(default=None, ge=1, exclude_if=absent)
    depth: int = Field(ge=1, description="I/Os in flight; with several threads, of each")
    options: str = Field(
        "", exclude_if=not_, description="for an imported job: its options that define the load"
    )

    @property
    def words(self) -> str:
        """The load in words: ``depth 4``, SNIA's ``TC4 QD8``, or the options of an imported job."""
        if self.options:
            return self.options
        return f"depth {self.depth}" if self.threads is None else f"TC{self.threads} QD{self.depth}"


class Variation(Stored):
    """The variation of a figure, and the evidence that shows it."""

    amount: float = Field(ge=0, description="in the unit of the figure")
    of: Literal["rows", "rounds", "writing", "search", "meter", "repeats", "interval"]

    def words(self, share: str) -> str:
        """Return the variation and its source in words; `share` is its text, relative to the figure."""
        return _OF[self.of].format(share=share)


class Metric(Stored):
    """A headline figure, which the catalogue ranks."""

    name: str = Field(description="stable key, e.g. random_read_iops")
    label: str
    value: float | None
    unit: str
    better: Literal["higher", "lower"]
    error: float | None = Field(None, exclude_if=absent, description="error of the meter, in the unit")
    bound: Literal["at least"] | None = Field(
        None, exclude_if=absent, description="bound of a search without failures"
    )
    steps: tuple[int, ...] = Field((), exclude_if=not_, description="ordinals of its steps")
    ends_ns: int | None = Field(
        None,
        exclude_if=absent,
        description="end within its step, on that step's clock; absent: the step's end",
    )
    chosen_among: tuple[int, ...] = Field(
        (), exclude_if=not_, description="ordinals of the steps that selected these"
    )
    load: Load | None = Field(
        None, exclude_if=absent, description="load that the run chose; absent: the method sets it"
    )
    varies: Variation | None = Field(None, exclude_if=absent, description="absent: unknown")
    qualifiers: tuple[Qualifier, ...] = Field((), exclude_if=not_, description="its qualifiers")

    @classmethod
    def more(cls, name: str, label: str, value: float | None, unit: str, **evidence: Any) -> Self:  # noqa: ANN401
        """Return a figure of which higher values are better; `evidence` sets further fields."""
        return cls(name=name, label=label, value=value, unit=unit, better="higher", **evidence)

    @classmethod
    def less(cls, name: str, label: str, value: float | None, unit: str, **evidence: Any) -> Self:  # noqa: ANN401
        """Return a figure of which lower values are better; `evidence` sets further fields."""
        return cls(name=name, label=label, value=value, unit=unit, better="lower", **evidence)

    def resting(self, **evidence: Any) -> Self:  # noqa: ANN401
        """Return the figure with these fields of evidence set."""
        return self.model_copy(update=evidence)

    def qualified(self, found: Iterable[Qualifier]) -> Self:
        """Return the figure with further qualifiers."""
        own = united((*self.qualifiers, *found))
        return self if own == self.qualifiers else self.model_copy(update={"qualifiers": own})

    def withheld(self, found: Iterable[Qualifier]) -> Self:
        """Return the figure with these qualifiers and without its value; unchanged if there are none."""
        why = tuple(found)
        return self.model_copy(update={"value": None, "error": None}).qualified(why) if why else self

    def sampled(self) -> Self:
        """Return a percentile figure; if it has no value, it is qualified as having too few samples."""
        few = [] if self.value is not None else [Qualifier(code="few-samples", steps=self.steps)]
        return self.qualified(few)

    def unfit(self, use: Use) -> tuple[Qualifier, ...]:
        return forbidding(self.qualifiers, use)

    @property
    def codes(self) -> tuple[str, ...]:
        return tuple(each.code for each in self.qualifiers)

    @property
    def state(self) -> str:
        """The labels of its qualifiers, in one line; empty: none."""
        return labels(self.qualifiers)

    @property
    def words(self) -> str:
        """The value with its unit, after ``at least`` if it is a bound."""
        text = figure_text(self.value, self.unit)
        return text if self.bound is None or self.value is None else f"{self.bound} {text}"

    @property
    def marked(self) -> str:
        return labelled(self.label, self.state)


def labelled(label: str, state: str) -> str:
    """Return a figure's label, followed by its state in brackets if there is any."""
    return f"{label} ({state})" if state else label


def largest(found: Iterable[Variation | None]) -> Variation | None:
    """Return the largest of the known variations; None: none is known."""
    return max((each for each in found if each is not None), key=lambda each: each.amount, default=None)


def of_rows(value: float | None, spread: Spread | None) -> Variation | None:
    """Return a figure's variation by the standard deviation of its interval rows."""
    return None if spread is None else of_deviation(value, spread.mean, spread.sd)


def of_deviation(value: float | None, mean: float, deviation: float) -> Variation | None:
    """Return a figure's variation, from the mean and standard deviation of its interval rows."""
    if value is None or not mean:
        return None
    return Variation(amount=deviation / mean * abs(value), of="rows")


def of_rounds(value: float | None, rounds: Sequence[float]) -> Variation | None:
    """Return a figure's variation by the full range of its rounds."""
    mean = sum(rounds) / len(rounds) if rounds else 0.0
    if value is None or not mean:
        return None
    return Variation(amount=spread_of(rounds) / mean * abs(value), of="rounds")


def of_writing(value: float | None, range_share: float | None) -> Variation | None:
    """Return a figure's variation by the range of the preconditioning window, as a share of its mean."""
    if value is None or range_share is None:
        return None
    return Variation(amount=range_share * abs(value), of="writing")


def of_search(held: float | None, failed: float | None) -> Variation | None:
    """Return the variation of a search's result: from the highest pass to the lowest failure."""
    return None if held is None or failed is None else Variation(amount=abs(failed - held), of="search")


def of_meter(figure: Metric) -> Variation | None:
    return None if figure.error is None else Variation(amount=figure.error, of="meter")


def varies_by(figure: Metric, repeats: Sequence[float] = ()) -> Variation | None:
    """Return the largest variation of a figure: its own, its meter's error, or its repeats' range."""
    between = Variation(amount=spread_of(repeats), of="repeats") if repeats else None
    return largest((figure.varies, of_meter(figure), between))


def spread_of(values: Sequence[float]) -> float:
    return max(values) - min(values)


def of_points(
    figure: Metric,
    points: Sequence[Point],
    range_share: float | None = None,
    **evidence: Any,  # noqa: ANN401
) -> Metric:
    """Return a figure with the steps of its points, and with their variation.

    Figures of power and depth get no variation, as the points only have that of throughput.
    """
    steps = tuple(each.ordinal for each in points if each.ordinal is not None)
    if figure.unit in ("W", "I/Os"):
        return figure.resting(steps=steps, **evidence)
    rows = [of_rows(figure.value, each.spread_iops) for each in points]
    return figure.resting(
        steps=steps, varies=largest((*rows, of_writing(figure.value, range_share))), **evidence
    )
