"""The host's part in a run: at how many of its measured steps the host, not the drive, was the limit.

One sentence for all methods, first among their caveats, and the words that stand on cards. Steps that only
prepare the drive do not count: no figure comes from them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ssdlab.model.units import NS_PER_S, span_text
from ssdlab.results.attribution import attribute
from ssdlab.results.claim import Claim, Evidence, clause

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ssdlab.results.basis import Basis
    from ssdlab.results.run_folder import Step
    from ssdlab.results.schema import ResultBase

HOST_LIMITED = "limited by the host"
"""What is said of a figure that the host limited: it is the host's too."""
PAUSED_SHARE = 0.01
"""Of the time that is judged: SNIA's rule lets rounds differ by twenty times that."""
PREPARING = ("fill", "one-pass", "precondition")
"""Verbs whose steps measure what is no figure of the method."""


@dataclass(frozen=True)
class HostPart:
    """The steps that the host limited, and of how many that measured figures."""

    limited: tuple[Step, ...]
    measured: int

    @property
    def share(self) -> str:
        """In how many of them; of the only one nothing need be said."""
        return f"in {len(self.limited)} of {self.measured} measured steps" if self.measured > 1 else ""

    @property
    def words(self) -> str:
        """What is said beside a figure."""
        return f"host-limited {self.share}".strip()

    @property
    def claim(self) -> Claim:
        """What is said of the run, with the reasons at the step that loaded the host most."""
        most = max(
            self.limited, key=lambda step: step.result.host.cpu_busy_share or 0.0 if step.result.host else 0.0
        )
        where = f"at step {most.ordinal + 1}, {most.label}, " if self.measured > 1 else ""
        return Claim(
            "the host, not the drive, was the limit{share}: {where}{reasons}",
            evidence=Evidence(tuple(step.ordinal for step in self.limited)),
            judged=False,
            others={
                "share": f" {self.share}".rstrip(),
                "where": where,
                "reasons": by_the_host(most),
            },
        )


def by_the_host(step: Step) -> str:
    """Return why the host, not the drive, was the limit of a step, so that it says nothing of the drive."""
    judged = attribute(step.result.host)
    return "; ".join(judged.reasons) if judged.limit == "host" else ""


def not_the_drive(step: Step, last_s: float = math.inf) -> str:
    """Return why a step, of which the last seconds count, says nothing of how steady the drive is.

    The host was the limit, or ssdlab stood still for long beside them. A shorter pause is no matter to a rule
    of steady state, which allows more, though figures of the step are marked for it.
    """
    summary = step.summary
    if summary is None or not step.result.pauses:
        return by_the_host(step)
    counted_s = min(last_s, float(summary.elapsed_s))
    begins_ns = summary.zero_ns + round((float(summary.total_s or summary.elapsed_s) - counted_s) * NS_PER_S)
    paused_s = sum(each.length_ns for each in step.result.pauses if each.end_ns > begins_ns) / NS_PER_S
    still = f"ssdlab stood still for {span_text(paused_s)}" if paused_s > PAUSED_SHARE * counted_s else ""
    return "; ".join(filter(None, (by_the_host(step), still)))


def host_part(steps: Iterable[Step]) -> HostPart | None:
    """Return the host's part in the measured steps of a run; None where it had none."""
    measured = [step for step in steps if step.result.measurement is not None and step.verb not in PREPARING]
    limited = tuple(step for step in measured if by_the_host(step))
    return HostPart(limited, len(measured)) if limited else None


def host_made(basis: Basis, steps: Sequence[Step]) -> str:
    """Say that the host limited a figure; of one whose steps are not known, in how many of the run.

    Parameters
    ----------
    basis
        What the figure rests on.
    steps
        Those of its run.
    """
    if basis.by_host is not None:
        return HOST_LIMITED if basis.by_host else ""
    if basis.steps:
        own = (step for step in steps if step.ordinal in basis.steps)
        return HOST_LIMITED if any(map(by_the_host, own)) else ""
    part = host_part(steps)
    return "" if part is None else f"{HOST_LIMITED} {part.share}".strip()


def with_host_part(result: ResultBase, steps: Iterable[Step]) -> ResultBase:
    """Return a Result with the host's part in its steps as the first of its caveats, if it had one."""
    part = host_part(steps)
    if part is None:
        return result
    return result.model_copy(update={"caveats": (clause(part.claim), *result.caveats)})
