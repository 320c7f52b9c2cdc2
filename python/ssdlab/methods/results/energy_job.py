"""The Result of a job whose energy was metered."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Literal, Self

from pydantic import Field

from ssdlab.methods.results.replay import MADE_UP
from ssdlab.methods.results.steady import caveats_of
from ssdlab.model.units import capacity_text
from ssdlab.results.basis import Basis
from ssdlab.results.claim import Claim, Evidence, clause, clauses
from ssdlab.results.drive_states import AnyProof, SteadyProof
from ssdlab.results.schema import ResultBase, Scalar

if TYPE_CHECKING:
    from ssdlab.results.run_folder import Step

_GB = 1e9


class EnergyJobResult(ResultBase):
    """Joules for a fixed amount of work, and the time that it took."""

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

    @property
    def done(self) -> bool:
        """Whether all of the job was done."""
        return self.asked_bytes is None or self.bytes >= self.asked_bytes

    @property
    def j_per_gb(self) -> float | None:
        """Joules for each GB."""
        return self.energy_j / (self.bytes / _GB) if self.energy_j is not None and self.bytes else None

    @property
    def proofs(self) -> tuple[SteadyProof, ...]:
        """That of the writing before."""
        return () if self.steady is None else (self.steady,)

    @property
    def words(self) -> str:
        """What the job was."""
        amount = capacity_text(self.bytes if self.asked_bytes is None else self.asked_bytes)
        return {
            "fill": "the whole drive written",
            "trace": "the trace",
            "reads": f"{amount} of random reads",
        }.get(self.job, f"{amount} of {self.job.removeprefix('steady-').replace('-', ' ')}")

    def shows(self, figure: Scalar) -> bool:
        """Return whether steady state was shown, where the job asks for it."""
        del figure
        return not self.job.startswith("steady") or (self.steady is not None and self.steady.reached)

    def basis_of(self, figure: Scalar) -> Basis:
        """Return the step of the job."""
        del figure
        return Basis((self.ordinal,), example=clause(MADE_UP) in self.caveats)

    @classmethod
    def of(
        cls,
        step: Step,
        job: str,
        asked_bytes: int | None,
        steady: SteadyProof | None,
        *,
        notes: Iterable[Claim] = (),
        quick: bool,
    ) -> Self:
        """Return the Result of a job that was done; `notes` are caveats of what it was made of."""
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
        )
        return result.model_copy(
            update={"scalars": tuple(result.figures()), "caveats": clauses((*result.limits(), *notes))}
        )

    def figures(self) -> Iterator[Scalar]:
        """Yield the energy of the whole job; none of one that was given up."""
        if not self.done:
            return
        name = self.job.replace("-", "_")
        if self.energy_j is not None:
            yield Scalar.less(f"{name}_j", f"{self.words}, energy", self.energy_j, "J")
            yield Scalar.less(f"{name}_j_per_gb", f"{self.words}, energy a GB", self.j_per_gb, "J/GB")
            yield Scalar.less(f"{name}_w", f"{self.words}, power", self.mean_w, "W")
        yield Scalar.less(f"{name}_s", f"{self.words}, time", self.seconds, "s")

    def limits(self) -> Iterator[Claim]:
        """Yield what stands between the figures and the question."""
        shown = Evidence((self.ordinal,))
        if not self.done:
            yield Claim(
                "the job was given up at its time limit, after {done} of {asked}",
                evidence=shown,
                judged=False,
                others={
                    "done": capacity_text(self.bytes),
                    "asked": capacity_text(self.asked_bytes or 0),
                },
            )
        if self.energy_j is None:
            yield Claim("nothing metered the job: its energy is not known", evidence=shown, judged=False)
        if self.steady is not None:
            yield from caveats_of(self.steady)
