"""Evidence of steps, and the qualifiers of figures that follow from it.

`evidence_of` collects heat, the host's influence, failed I/O and pauses of a step. `qualified` gives the
figures of a concluded run the resulting qualifiers; a method adds its own. A failed I/O is missing from
latencies and rates, so the remaining figures look healthy. An error that the kernel or drive repaired delays
other I/Os.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ssdlab.model.summary import BLOCK_TIMES_FACT, BlockTimes
from ssdlab.model.units import NS_PER_S, counted, span_text
from ssdlab.results.claim import Claim, Evidence
from ssdlab.results.metric import Qualifier
from ssdlab.results.points import attribute

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from ssdlab.results.metric import Metric
    from ssdlab.results.run_folder import Step
    from ssdlab.results.schema import ResultBase


PREPARING = ("fill", "one-pass", "precondition")
"""Verbs of steps that prepare a drive state and measure no figure of the method."""
PAUSED_SHARE = 0.01
"""Tolerated share of pauses in the judged time: SNIA's rule lets rounds differ by twenty times that."""
HIDDEN = frozenset({"drive-reset", "drive-error", "media-errors", "link-errors", "link-changed"})
"""Codes of telemetry marks for faults that need not fail an I/O."""
BUFFERED = "buffered"
"""Code of the warning about I/O through the page cache, and of the qualifier for it."""
_NAMED = 2
"""Maximum number of hidden faults that are quoted."""
_PERCENTILE = re.compile(r"_p\d+")
"""Matches the name of a percentile figure."""


@dataclass(frozen=True)
class IoFaults:
    """The I/O faults of one step.

    Attributes
    ----------
    failed, asked
        Failed I/Os, and all I/Os done or failed.
    first
        The first failure in words: operation, place, reason; empty: not recorded.
    hidden
        Further faults that the kernel or drive reported.
    """

    failed: int
    asked: int
    first: str
    hidden: tuple[str, ...]

    @property
    def words(self) -> str:
        failed = f"{self.failed} of {counted(self.asked, 'I/O')} failed" if self.failed else ""
        more = len(self.hidden) - _NAMED
        others = "; ".join((*self.hidden[:_NAMED], *((f"and {more} more",) if more > 0 else ())))
        return "; ".join(filter(None, (failed + (f", first {self.first}" if self.first else ""), others)))


@dataclass(frozen=True)
class StepEvidence:
    """Facts about a step that qualify its figures.

    Attributes
    ----------
    hot
        Whether the drive throttled thermally, as measured or by its counters.
    by_host
        Why the host, not the drive, was the limit; empty: it was not.
    faults
        Faults of the step's I/O, including ramp and earlier attempts; None: none.
    paused_s
        How long ssdlab was paused during the step.
    buffered
        Whether the I/O went through the page cache.
    """

    step: Step
    hot: bool
    by_host: str
    faults: IoFaults | None
    paused_s: float
    buffered: bool

    @property
    def prepares(self) -> bool:
        """Whether the step prepares a drive state; it gives figures only if they name it."""
        return self.step.verb in PREPARING

    @property
    def measures(self) -> bool:
        return self.step.result.measurement is not None and not self.prepares

    @property
    def simulated(self) -> bool:
        summary = self.step.summary
        return summary is not None and summary.drive is not None and summary.drive.scale is not None

    @property
    def failed_writes(self) -> bool:
        """Whether preparing writes failed, so that blocks kept old data."""
        return self.prepares and self.faults is not None and self.faults.failed > 0

    @property
    def why_faulty(self) -> str:
        """The step's label with its I/O faults; empty: none."""
        return "" if self.faults is None else f"{self.step.label}: {self.faults.words}"

    @property
    def disturbance(self) -> str:
        """Why the step proves nothing about the drive: failed I/O, or a pause of ssdlab; empty: neither."""
        if self.faults is not None:
            return self.faults.words
        return f"ssdlab was paused for {span_text(self.paused_s)}" if self.paused_s else ""

    @property
    def disturbed(self) -> Claim | None:
        why = self.disturbance
        return Claim("{why}", evidence=Evidence((self.step.ordinal,)), others={"why": why}) if why else None

    def hot_by(self, at_ns: int | None) -> bool:
        """Whether the drive had throttled by a time in the step; `at_ns` None: at any time."""
        telemetry = self.step.result.telemetry
        marks = () if telemetry is None else telemetry.marks
        times = [mark.at_ns for mark in marks if mark.code == "throttled"]
        return self.hot if at_ns is None or not times else any(time <= at_ns for time in times)

    def not_the_drive(self, last_s: float = math.inf) -> str:
        """Return why steady state cannot be judged by the step's last seconds; empty if it can be.

        Either the host was the limit, or ssdlab was paused for long. Shorter pauses are within the tolerance
        of the steady-state rule, but still qualify the step's figures.
        """
        summary = self.step.summary
        if summary is None or not self.paused_s:
            return self.by_host
        counted_s = min(last_s, float(summary.elapsed_s))
        whole_s = float(summary.total_s or summary.elapsed_s)
        begins_ns = summary.zero_ns + round((whole_s - counted_s) * NS_PER_S)
        pauses = self.step.result.pauses
        paused_s = sum(each.length_ns for each in pauses if each.end_ns > begins_ns) / NS_PER_S
        still = f"ssdlab was paused for {span_text(paused_s)}" if paused_s > PAUSED_SHARE * counted_s else ""
        return "; ".join(filter(None, (self.by_host, still)))


def evidence_of(step: Step) -> StepEvidence:
    """Return the evidence of a step besides its figures: heat, host, failed I/O, pauses."""
    return StepEvidence(
        step=step,
        hot=any(each.code == "throttled" for each in step.result.warnings),
        by_host=_by_host(step),
        faults=_faults(step),
        paused_s=sum(each.length_ns for each in step.result.pauses) / NS_PER_S,
        buffered=any(each.code == BUFFERED for each in step.result.warnings),
    )


def _by_host(step: Step) -> str:
    if BlockTimes.model_validate(step.result.facts.get(BLOCK_TIMES_FACT, {})).used:
        return ""  # these times are stamped in the kernel, so waits of this program do not matter
    judged = attribute(step.result.host)
    return "; ".join(judged.reasons) if judged.limit == "host" else ""


def _faults(step: Step) -> IoFaults | None:
    summary, telemetry, facts = step.summary, step.result.telemetry, step.result.facts
    failed = asked = 0
    first = ""
    if summary is not None:
        failed = summary.failed
        asked = summary.ios + failed
        if summary.first_failure is not None:
            first = summary.first_failure.words
            if not failed:  # it was in the ramp, which the counts leave out
                failed, asked = 1, asked + 1
    if isinstance(before := facts.get("failed"), int):  # of continued earlier attempts, or of a rest
        failed += before
        done, of = facts.get("ios"), facts.get("asked")
        asked = of if isinstance(of, int) else failed + (done if isinstance(done, int) else asked)
    marks = () if telemetry is None else telemetry.marks
    telling = HIDDEN - {"drive-error"} if failed else HIDDEN  # the kernel logs each failed I/O
    hidden = tuple(dict.fromkeys(mark.what for mark in marks if mark.code in telling))
    return IoFaults(failed, asked, first, hidden) if failed or hidden else None


def why_faulty(steps: Iterable[Step]) -> str:
    """Return the faults of the first faulty step; empty: none."""
    return next((why for step in steps if (why := evidence_of(step).why_faulty)), "")


def unprepared(steps: Iterable[Step], before: int) -> str:
    """Return why the drive was not prepared before the step with ordinal `before`; empty: it was."""
    own = [evidence_of(step) for step in steps if step.ordinal < before]
    return (list(_unprepared(own)) or [""])[-1]


def _unprepared(found: Iterable[StepEvidence]) -> Iterator[str]:
    """Yield after each step which preparing writes have failed since the last purge; empty: none.

    Blocks of a failed write keep their old data until a purge.
    """
    why = ""
    for each in found:
        if each.step.verb == "purge":
            why = ""
        elif each.failed_writes:
            why = why or each.why_faulty
        yield why


def not_proven(steps: Sequence[Step], step: Step) -> str:
    """Return why a step proves no drive state: failures in it or in its preparation; empty: none."""
    return why_faulty([step]) or unprepared(steps, step.ordinal)


def qualified(result: ResultBase, steps: Sequence[Step]) -> ResultBase:
    """Return a result whose figures have the qualifiers that follow from their steps."""
    found = [evidence_of(step) for step in steps]
    unready = dict(zip([each.step.ordinal for each in found[1:]], _unprepared(found), strict=False))
    figures = (each.qualified(_qualifiers(each, found, unready)) for each in result.scalars)
    return result.model_copy(update={"scalars": tuple(figures)})


def _qualifiers(
    figure: Metric, found: Sequence[StepEvidence], unready: Mapping[int, str]
) -> Iterator[Qualifier]:
    """Yield the qualifiers of a figure from its steps, and from the steps it was chosen among.

    `unready` has, by ordinal of a step, the failed writes that should have prepared the drive for it.
    """
    deciding = _those(found, {*figure.steps, *figure.chosen_among})
    if faulty := [each for each in deciding if each.faults is not None]:
        yield Qualifier(code="failed-io", steps=_ordinals(faulty), why=faulty[0].why_faulty)
    if unproven := [each for each in deciding if unready.get(each.step.ordinal)]:
        why = f"preparing writes failed: {unready[unproven[0].step.ordinal]}"
        yield Qualifier(code="state-unproven", steps=_ordinals(unproven), why=why)
    if hot := [each for each in deciding if _hot(each, figure)]:
        yield Qualifier(code="throttled", steps=_ordinals(hot))
    if still := [each for each in deciding if each.paused_s]:
        why = f"ssdlab was paused for {span_text(sum(each.paused_s for each in still))}"
        yield Qualifier(code="paused", steps=_ordinals(still), why=why)
    if hosted := [each for each in deciding if each.by_host]:
        yield Qualifier(code="host-limited", steps=_ordinals(hosted), why=max(hosted, key=_busy).by_host)
    if buffered := [each for each in deciding if each.buffered]:
        yield Qualifier(code=BUFFERED, steps=_ordinals(buffered))
    if _PERCENTILE.search(figure.name) and any(each.simulated for each in deciding):
        yield Qualifier(code="modelled")


def _hot(found: StepEvidence, figure: Metric) -> bool:
    """Whether heat affects a figure: in the figure's own steps, only heat before the figure ends."""
    return found.hot_by(figure.ends_ns if found.step.ordinal in figure.steps else None)


def _busy(found: StepEvidence) -> float:
    host = found.step.result.host
    return 0.0 if host is None else host.cpu_busy_share or 0.0


def _those(found: Sequence[StepEvidence], ordinals: Collection[int]) -> list[StepEvidence]:
    """Return the steps with these ordinals; without ordinals, all steps that measure."""
    if not ordinals:
        return [each for each in found if each.measures]
    return [each for each in found if each.step.ordinal in ordinals]


def _ordinals(found: Iterable[StepEvidence]) -> tuple[int, ...]:
    return tuple(each.step.ordinal for each in found)
