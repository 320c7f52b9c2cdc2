"""The result of idle power: watts in each kind of rest, and the wake-up from it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from statistics import median
from typing import TYPE_CHECKING, Literal, Self

from pydantic import Field

from ssdlab.plugin import (
    Amount,
    Claim,
    Evidence,
    Metric,
    PowerFeatures,
    PowerState,
    Rest,
    RestFacts,
    ResultBase,
    Stored,
    Table,
    absent,
    cells,
    saving_words,
)

if TYPE_CHECKING:
    from ssdlab.plugin import Step


class Rested(Stored):
    """One kind of rest; times are in ns, from submission to completion."""

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
        """Latency that the wake-up adds, by medians; None: indistinguishable from chance."""
        from ssdlab.analysis.shift import SIGNIFICANCE  # not needed to read a stored result

        distinct = self.first_ns > self.awake_ns and (self.p is None or self.p <= SIGNIFICANCE)
        return self.first_ns - self.awake_ns if distinct else None

    @classmethod
    def of(cls, step: Step) -> Self:
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
    """A drive's power-saving features and power at rest; the first entry of `rests` is awake."""

    kind: Literal["idle-power"] = "idle-power"
    protocol: Literal["nvme", "sata"]
    saving: str | None
    states: tuple[PowerState, ...]
    lacks: tuple[str, ...]
    block_bytes: int
    rests: tuple[Rested, ...]

    @property
    def lowest(self) -> Rested | None:
        """The kind of rest with the lowest power; None: not metered."""
        metered = [each for each in self.rests if each.mean_w is not None]
        return min(metered, key=lambda each: each.mean_w or 0.0, default=None)

    @property
    def slowest(self) -> Rested | None:
        """The kind of rest with the longest wake-up; None: no wake-up was detected."""
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
        """Return the result; `steps` has one step for each kind of rest, awake first."""
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
        """Yield the ranked figures: idle power awake, lowest idle power, and longest wake-up."""
        if not self.rests:
            return
        lowest, slowest = self.lowest, self.slowest
        awake = self.rests[0]
        yield Metric.less("idle_w", "at rest, awake", awake.mean_w, "W", steps=(awake.ordinal,))
        # A drive without rest states has no lowest figure: its awake power would rank among real rests.
        if len(self.rests) > 1:
            among = tuple(each.ordinal for each in self.rests)
            wake_ns = None if slowest is None else slowest.wake_ns
            for name, label, rest, value, unit in (
                (
                    "least_idle_w",
                    "at rest, lowest",
                    lowest,
                    None if lowest is None else lowest.mean_w,
                    "W",
                ),
                ("wake_up_us", "longest wake-up", slowest, None if wake_ns is None else wake_ns / 1e3, "us"),
            ):
                steps = among if rest is None else (rest.ordinal,)
                yield Metric.less(name, label, value, unit, steps=steps, chosen_among=among)


IN_THE_NOISE = "indistinguishable"
"""Shown for a wake-up that is within the spread of the reads."""


def findings(result: IdlePowerResult) -> Iterator[Claim]:
    """Yield idle power awake and at its lowest, the wake-up time, and missing features."""
    for lack in result.lacks:
        yield Claim("{lack}", others={"lack": lack})
    if not result.rests:
        return
    if all(each.mean_w is None for each in result.rests):
        rests = tuple(each.ordinal for each in result.rests)
        yield Claim("no power figures: the drive was not metered", evidence=Evidence(rests))
    awake, lowest = result.rests[0], result.lowest
    if lowest is not None:
        yield Claim(
            "{figure} at rest while awake, {least} in the lowest state ({label})",
            figure=Amount(awake.mean_w, "W"),
            evidence=Evidence((awake.ordinal, lowest.ordinal)),
            others={"least": Amount(lowest.mean_w, "W"), "label": lowest.label},
        )
    if len(result.rests) < 2:
        return
    slowest = result.slowest
    if slowest is None:
        yield Claim(
            "Wake-up latency is indistinguishable from chance: first reads after a rest took no longer than "
            "those right after them",
            evidence=Evidence(tuple(each.ordinal for each in result.rests)),
        )
        return
    yield Claim(
        "Waking from {label} adds {time} to a read of {read}: the longest wake-up (medians of {reads})",
        evidence=Evidence((slowest.ordinal,)),
        others={
            "label": slowest.label,
            "time": Amount(slowest.wake_ns, "ns"),
            "read": Amount(slowest.awake_ns, "ns"),
            "reads": f"{slowest.reads} read{'' if slowest.reads == 1 else 's'}",
        },
    )


def rests(result: IdlePowerResult) -> Table:
    head = ("At rest", "W", "Error, W", "Wake-up", "First read", "Least", "Most", "Awake", "Reads")
    rows = tuple(
        (
            cells.words(each.label),
            cells.plain(each.mean_w),
            cells.plain(each.error_w),
            cells.latency(each.wake_ns) if each.wake_ns is not None else cells.words(IN_THE_NOISE),
            cells.latency(each.first_ns),
            cells.latency(each.first_min_ns),
            cells.latency(each.first_max_ns),
            cells.latency(each.awake_ns),
            cells.count(each.reads),
        )
        for each in result.rests
    )
    brief = ("At rest", "W", "Wake-up", "First read", "Least", "Most", "Awake")
    return Table("Power at rest, and the first read after it", head, rows, brief=brief)


def states(result: IdlePowerResult) -> Table:
    head = ("State", "I/O", "Most, W", "Idle, W", "Active, W", "Entry", "Exit", "Autonomous after")
    rows = tuple(map(_state, result.states))
    return Table("Power states, as the drive reports them", head, rows)


def _state(state: PowerState) -> tuple[cells.Cell, ...]:
    return (
        cells.words(state.name),
        cells.words("yes" if state.operational else "no"),
        cells.plain(state.max_w),
        cells.plain(state.idle_w),
        cells.plain(state.active_w),
        cells.latency(None if state.entry_us is None else state.entry_us * 1e3),
        cells.latency(None if state.exit_us is None else state.exit_us * 1e3),
        cells.latency(None if state.after_ms is None else state.after_ms * 1e6),
    )


def features(result: IdlePowerResult) -> Table:
    resting = [state.name for state in result.states if not state.operational]
    working = [state.name for state in result.states if state.operational]
    rows = [
        ("Protocol", {"nvme": "NVMe", "sata": "SATA"}[result.protocol]),
        ("Operational states", ", ".join(working) or "none"),
        ("Non-operational states", ", ".join(resting) or "none"),
        ("Autonomous power saving", "no" if result.saving is None else saving_words(result.saving)),
        *(("Lacks", lack) for lack in result.lacks),
    ]
    lines = tuple((cells.words(name), cells.words(value)) for name, value in rows)
    return Table("Power features", ("Feature", ""), lines)


def tables(result: IdlePowerResult) -> tuple[Table, ...]:
    return (features(result), states(result), rests(result))
