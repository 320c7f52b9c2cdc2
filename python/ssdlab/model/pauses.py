"""Whether the whole process stood still for a time: stopped, frozen, or suspended with its host.

No thread of a process that is stopped sees it: what waits meanwhile seems to wait for the drive. A thread
that does nothing but sleep to given times (`_core.Heartbeat`) wakes late after it. It wakes late also where
it finds no free CPU, and that is another matter, the host's limit (`results.attribution`). The two are told
apart by what the kernel counts of that thread:

starved
    It was ready, and waited: the scheduler's run delay grows (schedstat), also where a quota of a cgroup
    throttles it; or a hypervisor had the CPU, whose time then counts as stolen.
stopped
    It was not ready: a stop (Ctrl-Z, SIGSTOP, a debugger) or a frozen cgroup. Nothing grows but the time.
suspended
    CLOCK_MONOTONIC stands still, and CLOCK_BOOTTIME goes on (clock_gettime(2)).

A virtual machine that is paused looks like a stop where its clock goes on. Where its clock stands still too,
no latency holds the pause, and nothing in the machine can tell.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from pydantic import Field

from ssdlab.model.stored import Stored
from ssdlab.model.units import NS_PER_S

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

PERIOD_S = 0.05
"""Between two beats, which cost about a thousandth of a CPU; up to so much of a stop is sleep."""
MIN_PAUSE_S = 0.05
"""Unexplained lateness that is a stop, so that one of a tenth of a second shows wherever it begins.

Below it lies what a kernel does without counting it, and the 0.01 s in which stolen time is counted: 0.006 s
at most in 16 minutes on a virtual machine with ten threads ready for each CPU.
"""


class Gap(NamedTuple):
    """A sleep that lasted too long, as `_core.Heartbeat.gaps` has it."""

    began_ns: int
    due_ns: int
    ended_ns: int
    suspended_ns: int
    ready_ns: int | None
    stolen_ns: int


class Pause(Stored):
    """A time in which the process stood still, on CLOCK_MONOTONIC."""

    start_ns: int = Field(description="it began no sooner")
    end_ns: int = Field(description="it had ended")
    length_ns: int = Field(description="at least so long, a suspend included, which the clock leaves out")

    def lasts_to(self, end_ns: int) -> bool:
        """Whether it may have made a wait that ended then longer: else the wait had its time all the same."""
        return self.end_ns + PERIOD_S * NS_PER_S > end_ns


def pauses_in(gaps: Iterable[Gap]) -> tuple[Pause, ...]:
    """Return the pauses among the late beats; that a thread was starved is none."""
    found = []
    for gap in gaps:
        late_ns = gap.ended_ns - gap.due_ns
        # Without the scheduler's account a late beat proves nothing.
        ready_ns = late_ns if gap.ready_ns is None else gap.ready_ns
        stopped_ns = late_ns - ready_ns - gap.stolen_ns
        if stopped_ns < MIN_PAUSE_S * NS_PER_S:
            stopped_ns = 0
        if length_ns := stopped_ns + gap.suspended_ns:
            found.append(Pause(start_ns=gap.began_ns, end_ns=gap.ended_ns, length_ns=length_ns))
    return tuple(found)


def paused_rows(
    pauses: Sequence[Pause], zero_ns: int, rows_ns: Iterable[tuple[int, int]]
) -> tuple[bool, ...]:
    """Return whether a pause was in each interval row, given its beginning and end since `zero_ns`."""
    spans = [(each.start_ns - zero_ns, each.end_ns - zero_ns) for each in pauses]
    return tuple(
        any(start < end_ns and end > start_ns for start, end in spans) for start_ns, end_ns in rows_ns
    )
