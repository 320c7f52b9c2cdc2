"""The Result of a drive at rest: watts in each way to rest, and the wake-up from it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from statistics import median
from typing import TYPE_CHECKING, Literal, Self

from pydantic import Field

from ssdlab.plugin import Metric, PowerFeatures, PowerState, Rest, RestFacts, ResultBase, Stored, absent

if TYPE_CHECKING:
    from ssdlab.plugin import Step


class Rested(Stored):
    """One way to rest; times in ns, from submission to completion."""

    label: str
    ordinal: int
    state: str | None = Field(default=None, description="the state that the drive was sent into")
    mean_w: float | None = Field(default=None, description="at rest; None: not metered")
    error_w: float | None = None
    first_ns: float = Field(description="median of the reads that ended a rest")
    first_min_ns: float
    first_max_ns: float
    awake_ns: float = Field(description="median of the reads right behind them")
    reads: int
    p: float | None = Field(
        default=None,
        exclude_if=absent,
        description="chance of first reads so much longer if there were no wake-up; absent: not recorded",
    )

    @property
    def wake_ns(self) -> float | None:
        """What the wake-up adds to a read, by the medians; None: it was not told apart from chance."""
        from ssdlab.analysis.shift import SIGNIFICANCE  # a stored one without it is read without it

        distinct = self.first_ns > self.awake_ns and (self.p is None or self.p <= SIGNIFICANCE)
        return self.first_ns - self.awake_ns if distinct else None

    @classmethod
    def of(cls, step: Step) -> Self:
        """Return what a step found."""
        from ssdlab.analysis.shift import p_of_higher

        facts, rest = step.found(RestFacts), step.result.rest
        error = None if rest is None or rest.power is None else rest.power.get("error_w")
        return cls(
            label=step.label,
            ordinal=step.ordinal,
            state=step.asked(Rest).sent_to,
            mean_w=None if rest is None else rest.mean_w,
            error_w=float(error) if isinstance(error, int | float) else None,
            first_ns=median(facts.wake_ns),
            first_min_ns=min(facts.wake_ns),
            first_max_ns=max(facts.wake_ns),
            awake_ns=median(facts.awake_ns),
            reads=len(facts.wake_ns),
            p=p_of_higher(facts.awake_ns, facts.wake_ns),
        )


class IdlePowerResult(ResultBase):
    """What a drive has for saving power, and what it draws at rest; the first of `rests` is awake."""

    kind: Literal["idle-power"] = "idle-power"
    protocol: Literal["nvme", "sata"]
    saving: str | None
    states: tuple[PowerState, ...]
    lacks: tuple[str, ...]
    block_bytes: int
    rests: tuple[Rested, ...]

    @property
    def lowest(self) -> Rested | None:
        """The way to rest in which it drew lowest."""
        metered = [each for each in self.rests if each.mean_w is not None]
        return min(metered, key=lambda each: each.mean_w or 0.0, default=None)

    @property
    def slowest(self) -> Rested | None:
        """The way to rest that it takes longest to wake from; None: no wake-up was told apart."""
        distinct = [each for each in self.rests if each.wake_ns is not None]
        return max(distinct, key=lambda each: each.wake_ns or 0.0, default=None)

    @classmethod
    def of(
        cls,
        features: PowerFeatures,
        states: Sequence[PowerState],
        steps: Iterable[Step],
        *,
        quick: bool,
        block_bytes: int,
    ) -> Self:
        """Return the Result of the ways that were rested in."""
        result = cls(
            quick=quick,
            protocol=features.protocol,
            saving=features.saving,
            states=tuple(states),
            lacks=features.lacks,
            block_bytes=block_bytes,
            rests=tuple(map(Rested.of, steps)),
        )
        return result.model_copy(update={"scalars": tuple(result.figures())})

    def figures(self) -> Iterator[Metric]:
        """Yield what drives are ranked by: watts awake at rest, the least, and the longest wake-up."""
        if not self.rests:
            return
        lowest, slowest = self.lowest, self.slowest
        awake = self.rests[0]
        yield Metric.less("idle_w", "at rest, awake", awake.mean_w, "W", steps=(awake.ordinal,))
        # A drive without a state of rest has no least: awake, it would rank among those that do rest.
        if len(self.rests) > 1:
            among = tuple(each.ordinal for each in self.rests)
            wake_ns = None if slowest is None else slowest.wake_ns
            for name, label, rest, value, unit in (
                (
                    "least_idle_w",
                    "at rest, the least",
                    lowest,
                    None if lowest is None else lowest.mean_w,
                    "W",
                ),
                ("wake_up_us", "longest wake-up", slowest, None if wake_ns is None else wake_ns / 1e3, "us"),
            ):
                steps = among if rest is None else (rest.ordinal,)
                yield Metric.less(name, label, value, unit, steps=steps, chosen_among=among)
