"""Whether the drive or the host caused the tail of a point.

Published reviews use one thread per I/O in flight. With more threads than cores, a completion that finds no
free core looks like a slow drive. Each of three signs alone makes a tail doubtful:

threads over cores
    More runnable threads than cores. Threads waiting for the drive need no core, so this counts only on a
    busy host.
CPU near saturation
    Above 90 % busy, waits for the CPU grow without bound: they follow rho / (1 - rho), ten times the service
    time at 0.91.
run-queue delay
    The kernel's count (schedstat) of time runnable but not running, as a share of the CPU time needed. At 10
    % submissions and completions are that much late on average, and far more in the tail.

Sources: AnandTech, review of the Kingston DC500 series (2019), on software overhead at high thread counts;
L. Kleinrock, "Queueing Systems" vol. 1 (1975), M/M/1; kernel Documentation/scheduler/sched-stats.rst.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ssdlab.model.host_load import HostLoad
from ssdlab.model.units import fixed_share_text, share_text
from ssdlab.results.schema import Attribution

if TYPE_CHECKING:
    pass

BUSY_SHARE = 0.90


RUN_QUEUE_DELAY_SHARE = 0.10


CROWDED_BUSY_SHARE = 0.70
"""With more threads than cores, a host this busy makes some of them wait."""


def attribute(load: HostLoad | None) -> Attribution:
    """Judge the host's influence on a point; `unknown` if nothing was recorded."""
    if load is None:
        return Attribution(limit="unknown", reasons=("the host's load was not recorded",))
    reasons = []
    busy, delay = load.cpu_busy_share, load.run_queue_delay_share
    if busy is not None and busy >= BUSY_SHARE:
        reasons.append(
            f"the CPUs were {share_text(busy)} busy ({fixed_share_text(BUSY_SHARE)} is near saturation)"
        )
    elif busy is not None and load.threads > load.cores and busy >= CROWDED_BUSY_SHARE:
        reasons.append(f"{load.threads} threads shared {load.cores} cores that were {share_text(busy)} busy")
    if delay is not None and delay >= RUN_QUEUE_DELAY_SHARE:
        reasons.append(f"threads waited for a CPU for {share_text(delay)} of their runnable time")
    if reasons:
        return Attribution(limit="host", reasons=tuple(reasons))
    if busy is None and delay is None:
        return Attribution(limit="unknown", reasons=("neither CPU load nor run-queue delay could be read",))
    return Attribution(limit="drive")
