"""Every kind of Result that a method can come to, and how a stored one is read.

Units are in the names, as in `schema`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal, get_args

from pydantic import ConfigDict, Field, JsonValue, TypeAdapter, ValidationError

from ssdlab.methods.results.act import ActResult, ActSearchResult
from ssdlab.methods.results.consistency import ConsistencyResult
from ssdlab.methods.results.mixed import MixedResult
from ssdlab.methods.results.paced import PacedBurstResult
from ssdlab.methods.results.pts import (
    DemandResult,
    PtsCrossStimulusResult,
    PtsIdleRecoveryResult,
    PtsResult,
    PtsSaturationResult,
)
from ssdlab.methods.results.rate_limit import RateLimitResult
from ssdlab.methods.results.replay import TraceResult
from ssdlab.methods.results.trim import TrimResult
from ssdlab.model.errors import Refused
from ssdlab.model.stored import Stored
from ssdlab.results.schema import JobResult, MeasureResult, PeakResult, Point, Qd1Result, ResultBase

if TYPE_CHECKING:
    from ssdlab.results.run_folder import RunFolder


class FillResult(ResultBase):
    """Speed of the first write over the whole drive, cut into parts of equal bytes."""

    kind: Literal["fill"] = "fill"
    block_bytes: int
    depth: int
    ordinal: int
    part_bytes: float
    parts_mb_s: tuple[float, ...]
    mean_mb_s: float
    last_mb_s: float = Field(description="of the last 16 GB, or the last part")
    cache_bytes: int | None = Field(
        description="bytes after which the speed drops for good; None: it does not"
    )
    before_mb_s: float | None
    after_mb_s: float | None
    mean_w: float | None = Field(default=None, description="mean power over the fill; None: no meter")

    @property
    def mb_s_per_w(self) -> float | None:
        """Efficiency."""
        return self.mean_mb_s / self.mean_w if self.mean_w else None


class PointsResult(ResultBase):
    """Measured points and the figures drawn from them: of methods that need no Result of their own."""

    kind: Literal["points"] = "points"
    points: tuple[Point, ...]


class ChildOutcome(Stored):
    """How one part of a suite ended."""

    part: str
    run_id: str
    method: str
    title: str
    state: str = Field(description="drive state that it began in")
    prepared_by: str | None = Field(
        default=None, description="run that brought the drive into it, where it was forked"
    )
    left_out: str | None = Field(default=None, description="why it was not done: there is no run of it")
    verdict: bool | None = Field(
        default=None, description="whether it passed; None: its method gives no verdict"
    )


class RepeatedFigure(Stored):
    """One headline figure over several runs of a part."""

    part: str
    name: str
    label: str
    unit: str
    better: Literal["higher", "lower"]
    values: tuple[float, ...] = Field(description="of the runs that have it, in their order")
    median: float
    low: float = Field(description="lower end of the median's confidence interval")
    high: float
    confidence: float = Field(description="of that interval, 0 to 1: 0.95 or more from six runs on")


class SuiteResult(ResultBase):
    """The runs of a suite; each holds its own result. Of repeated parts, what their figures say together."""

    kind: Literal["suite"] = "suite"
    outcomes: tuple[ChildOutcome, ...]
    repeats: int = 1
    repeated: tuple[RepeatedFigure, ...] = Field(default=(), description="empty unless parts were repeated")

    @property
    def passed(self) -> bool | None:
        """Whether every part that gives a verdict passed; None where none gives one."""
        verdicts = [each.verdict for each in self.outcomes if each.verdict is not None]
        return all(verdicts) if verdicts else None


class UnknownResult(ResultBase):
    """A Result of a kind that nobody here knows: only its headline figures and caveats can be shown."""

    model_config = ConfigDict(extra="ignore")

    @property
    def unknown(self) -> str:
        """What is to be said in the place of everything else."""
        return (
            f"This ssdlab knows no results of the kind {self.kind}: the package that brings the method is "
            "not installed. These are its headline figures."
        )


_Known = (
    PeakResult
    | Qd1Result
    | MixedResult
    | ConsistencyResult
    | FillResult
    | RateLimitResult
    | TrimResult
    | PacedBurstResult
    | PtsResult
    | DemandResult
    | PtsSaturationResult
    | PtsIdleRecoveryResult
    | PtsCrossStimulusResult
    | ActResult
    | ActSearchResult
    | TraceResult
    | MeasureResult
    | JobResult
    | PointsResult
    | SuiteResult
)

AnyResult = _Known | UnknownResult

_RESULT: TypeAdapter[_Known] = TypeAdapter(Annotated[_Known, Field(discriminator="kind")])
_KINDS = frozenset(str(each.model_fields["kind"].default) for each in get_args(_Known))


def parse_result(stored: dict[str, JsonValue]) -> AnyResult:
    """Give back the typed Result of a manifest's `result`.

    Raises
    ------
    pydantic.ValidationError
        When the stored object does not fit its kind.
    """
    if stored.get("kind") not in _KINDS:
        return UnknownResult.model_validate(stored)
    return _RESULT.validate_python(stored)


def read_result(run: RunFolder) -> AnyResult | None:
    """Return the method's typed Result of a run; None until it is finished.

    Raises
    ------
    Refused
        This ssdlab cannot read it.
    """
    if run.manifest.result is None:
        return None
    try:
        return parse_result(run.manifest.result)
    except ValidationError as error:
        kind = run.manifest.result.get("kind")
        raise Refused(
            f"run {run.manifest.run_id} holds a result that this ssdlab cannot read: {kind!r}",
            "use the ssdlab that wrote it, or a newer one",
            run=run.manifest.run_id,
            kind=str(kind),
        ) from error
