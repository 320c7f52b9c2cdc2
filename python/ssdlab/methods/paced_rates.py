"""The highest rate of paced writes that a drive sustains: its p99 stays near that of an unloaded drive."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, cast

from ssdlab.methods.results.paced import PacedRate
from ssdlab.model.units import NS_PER_S, latency_text
from ssdlab.model.workload import Workload

if TYPE_CHECKING:
    from ssdlab.methods.desktop_load import Layout
    from ssdlab.results.run_folder import Step

FACTOR = 2.0
"""Times the p99 of the lowest rate that a p99 may reach."""
_SUFFIX = " MB/s paced"


def rate_label(rate: int) -> str:
    """Return what the step of a rate is called."""
    return f"{rate}{_SUFFIX}"


def rate_steps(steps: Iterable[Step]) -> list[Step]:
    """Return the steps that tried rates, in their order."""
    return [step for step in steps if step.label.endswith(_SUFFIX)]


def rate_workload(layout: Layout, rate: int, seconds: float) -> Workload:
    """Return the writes alone, in bursts that follow so closely that they come to a rate in MB/s."""
    every_ns = layout.burst_bytes * NS_PER_S // (rate * 10**6)
    return Workload.of(layout.writes(every_ns=every_ns, time_ns=round(seconds * NS_PER_S)))


def judge_rates(steps: Iterable[Step], most: int) -> list[PacedRate]:
    """Judge every rate tried, against the first of them, which is the lowest."""
    found: list[PacedRate] = []
    for step in steps:
        unloaded = found[0].p99_ns if found else None
        found.append(_judge(step, unloaded, most))
    return found


def _judge(step: Step, unloaded_ns: float | None, most: int) -> PacedRate:
    rate = int(step.label.removesuffix(_SUFFIX))
    summary = cast("dict[str, Any] | None", step.result.measurement)
    if summary is None:  # a plan measures nothing: it takes the longest way, where only the most fails
        return PacedRate(rate=rate, ordinal=step.ordinal, held=rate < most, why="not measured")
    side = summary["write"]
    service = side["service_ns"]
    # Of too few I/Os for a p99 the longest stands for it: it cannot be shorter.
    p99_ns = service["max"] if service["p99"] is None else service["p99"]
    why = ""
    if side["dropped"]:
        why = f"{side['dropped']} writes could not be done in time"
    elif unloaded_ns is not None and p99_ns > FACTOR * unloaded_ns:
        why = f"p99 was {latency_text(p99_ns)}, over {FACTOR:g} times {latency_text(unloaded_ns)}"
    return PacedRate(
        rate=rate,
        ordinal=step.ordinal,
        written_bytes=side["bytes"],
        p99_ns=p99_ns,
        max_ns=service["max"],
        held=not why,
        why=why,
    )
