"""Result of a job whose energy was metered."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal, Self

from pydantic import Field

from ssdlab.plugin import (
    EXAMPLE,
    Amount,
    AnyProof,
    Claim,
    Evidence,
    Metric,
    ResultBase,
    Table,
    TraceLaid,
    TraceSource,
    absent,
    capacity_text,
    cells,
    changes_of,
    proven,
    state_claims,
)

if TYPE_CHECKING:
    from ssdlab.plugin import SteadyProof, Step


_GB = 1e9


class EnergyJobResult(ResultBase):
    """Energy and time for a fixed amount of work."""

    kind: Literal["energy-job"] = "energy-job"
    job: str
    ordinal: int
    asked_bytes: int | None = Field(default=None, description="amount of the job; None: it has its own")
    bytes: int = Field(description="read and written")
    seconds: float = Field(description="from its first I/O to the end of the last")
    energy_j: float | None = Field(default=None, description="None: not metered")
    mean_w: float | None = None
    error_j: float | None = Field(default=None, description="the meter's; None: not known")
    steady: AnyProof | None = Field(default=None, description="the state that it began in")
    source: TraceSource | None = Field(None, exclude_if=absent, description="of a trace: where it came from")
    laid: TraceLaid | None = Field(None, exclude_if=absent, description="and what was made of it")

    @property
    def done(self) -> bool:
        return self.asked_bytes is None or self.bytes >= self.asked_bytes

    @property
    def j_per_gb(self) -> float | None:
        return self.energy_j / (self.bytes / _GB) if self.energy_j is not None and self.bytes else None

    @property
    def in_steady_state(self) -> bool:
        """Whether the job was to run in steady state."""
        return self.job.startswith("steady")

    @property
    def words(self) -> str:
        amount = capacity_text(self.bytes if self.asked_bytes is None else self.asked_bytes)
        return {
            "fill": "the whole drive written",
            "trace": "the trace",
            "reads": f"{amount} of random reads",
        }.get(self.job, f"{amount} of {self.job.removeprefix('steady-').replace('-', ' ')}")

    @classmethod
    def of(
        cls,
        step: Step,
        job: str,
        asked_bytes: int | None,
        steady: SteadyProof | None,
        *,
        trace: Step | None = None,
        made_up: bool = False,
        quick: bool,
    ) -> Self:
        """Return the result of a job.

        `trace` is the step that read the job's trace; `made_up` means that this is the synthetic example.
        """
        summary = step.measured
        power = summary.power
        error_w = None if power is None else power.error_w
        seconds = float(summary.elapsed_s)
        result = cls(
            quick=quick,
            job=job,
            ordinal=step.ordinal,
            asked_bytes=asked_bytes,
            bytes=int(summary.moved_bytes),
            seconds=seconds,
            energy_j=None if power is None else power.energy_j,
            mean_w=summary.mean_w,
            error_j=None if error_w is None else error_w * seconds,
            steady=steady,
            source=None if trace is None else TraceSource.model_validate(trace.result.facts["source"]),
            laid=None if trace is None else TraceLaid.model_validate(trace.result.facts["laid"]),
        )
        own = (*(proven(steady) if result.in_steady_state else ()), *([EXAMPLE] if made_up else []))
        figures = (each.resting(steps=(step.ordinal,)).qualified(own) for each in result.figures())
        return result.model_copy(update={"scalars": tuple(figures)})

    def figures(self) -> Iterator[Metric]:
        """Yield the ranked figures of the whole job; none if it did not finish within its time limit."""
        if not self.done:
            return
        name = self.job.replace("-", "_")
        if self.energy_j is not None:
            yield Metric.less(f"{name}_j", f"{self.words}, energy", self.energy_j, "J")
            yield Metric.less(f"{name}_j_per_gb", f"{self.words}, energy per GB", self.j_per_gb, "J/GB")
            yield Metric.less(f"{name}_w", f"{self.words}, power", self.mean_w, "W")
        yield Metric.less(f"{name}_s", f"{self.words}, time", self.seconds, "s")


def findings(result: EnergyJobResult) -> Iterator[Claim]:
    """Yield the job's energy (if metered) and time, and changes to its trace."""
    shown = Evidence((result.ordinal,))
    others: dict[str, Amount | str] = {"job": result.words, "time": Amount(result.seconds, "s")}
    if result.source is not None and result.laid is not None:
        yield from changes_of(result.source, result.laid)
    if not result.done:
        yield Claim(
            "the job stopped at its time limit, after {done} of {asked}",
            evidence=shown,
            others={"done": capacity_text(result.bytes), "asked": capacity_text(result.asked_bytes or 0)},
        )
        return
    if result.energy_j is None:
        yield Claim("{job} took {time}; not metered", evidence=shown, others=others)
    else:
        yield Claim(
            "{job} took {figure} in {time}, {power} on average",
            figure=Amount(result.energy_j, "J"),
            evidence=shown,
            others={**others, "power": Amount(result.mean_w, "W")},
        )
    if result.in_steady_state:
        yield from state_claims(result.steady)


def jobs(result: EnergyJobResult) -> Table:
    head = ("Job", "J", "Error, J", "J/GB", "GB", "Time", "W")
    known = result.done
    row = (
        cells.words(result.words),
        cells.plain(result.energy_j if known else None),
        cells.plain(result.error_j if known else None),
        cells.plain(result.j_per_gb if known else None),
        cells.plain(result.bytes / 1e9),
        cells.seconds(result.seconds),
        cells.plain(result.mean_w),
    )
    return Table("Energy of the job", head, (row,))


def tables(result: EnergyJobResult) -> tuple[Table, ...]:
    return (jobs(result),)
