"""Shows the progress of a run or suite: live lines on a terminal, plain lines elsewhere.

Everything goes to stderr, so that stdout has only data. On a terminal (and not `TERM=dumb`) two lines are
redrawn; colours are left out under `NO_COLOR`. Elsewhere there is one line for each change of phase and one
a minute.
"""

from __future__ import annotations

import sys
import time
from math import ceil, floor, sqrt
from typing import TYPE_CHECKING, NamedTuple, Protocol

from ssdlab.cli.output import on_terminal, one_line, say
from ssdlab.lab.verbs.verb import describe_step
from ssdlab.model import units
from ssdlab.model.printable import styled
from ssdlab.model.units import fixed_share_text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from rich.console import Console

    from ssdlab.results.progress import Progress
    from ssdlab.results.run_folder import Step
    from ssdlab.results.schema import Status

_REDRAWS_A_SECOND = 4
_PLAIN_EVERY_S = 60.0
_SAME_SHARE = 0.05
"""Ends of a range that differ by a smaller share than this are printed as one figure."""


class Display(Protocol):
    """Shows progress."""

    def update(self, lines: tuple[str, ...]) -> None:
        """Show the present state in place of the previous one."""

    def say(self, text: str) -> None:
        """Print a permanent line."""

    def close(self) -> None:
        """Remove the live lines."""


class LiveDisplay:
    """Redraws a few lines on a terminal.

    Parameters
    ----------
    console
        The terminal [default: stderr].
    """

    def __init__(self, console: Console | None = None) -> None:
        from rich.console import Console
        from rich.live import Live

        console = console or Console(stderr=True, highlight=False)
        self._live = Live(console=console, refresh_per_second=_REDRAWS_A_SECOND, transient=True)
        self._live.start()

    def update(self, lines: tuple[str, ...]) -> None:
        from rich.text import Text

        self._live.update(
            Text("\n".join(one_line(styled(line)) for line in lines), no_wrap=True, overflow="ellipsis")
        )

    def say(self, text: str) -> None:
        """Print a permanent line above the live lines."""
        self._live.console.print(styled(text), markup=False, soft_wrap=True)

    def close(self) -> None:
        self._live.stop()


class PlainDisplay:
    """Prints a line a minute; with `at_once`, the first line at the first update."""

    def __init__(self, every_s: float = _PLAIN_EVERY_S, *, at_once: bool = False) -> None:
        self._every_s = every_s
        self._next = time.monotonic() + (0 if at_once else every_s)

    def update(self, lines: tuple[str, ...]) -> None:
        """Print the present state if the last line is a minute old."""
        moment = time.monotonic()
        if moment >= self._next:
            self._next = moment + self._every_s
            say("  ".join(line.strip() for line in lines if line.strip()))

    def say(self, text: str) -> None:
        say(text)
        self._next = time.monotonic() + self._every_s

    def close(self) -> None: ...


def display(*, at_once: bool = False) -> Display:
    """Return the display that fits stderr; with `at_once`, it shows the first state immediately."""
    return LiveDisplay() if on_terminal(sys.stderr) else PlainDisplay(at_once=at_once)


class RunProgress:
    """Shows a run: phases, the time left as a range, live throughput and percentiles.

    Use it as a context manager.

    Parameters
    ----------
    shown
        The display [default: one that fits stderr].
    keep
        Leave the display open at the end of a run, for the next one.
    lines
        Makes the live lines [default: `status_lines`].
    """

    def __init__(
        self,
        shown: Display | None = None,
        *,
        keep: bool = False,
        lines: Callable[[Progress], tuple[str, ...]] | None = None,
    ) -> None:
        self._display = shown or display()
        self._keep = keep
        self._lines = lines or status_lines
        self._outlook = ""
        self._left = 0
        """Steps of the plan after the one that started last."""

    def began(self, progress: Progress) -> None:
        """Print that a step starts; before it, print the outlook if it has changed."""
        if progress.outlook not in ("", self._outlook):
            self._display.say(f"{_place(progress)} {progress.outlook}")
        self._outlook = progress.outlook
        self._left = progress.steps - progress.ordinal - 1
        self._display.say(f"{_place(progress)} {progress.label}: {_expected(progress)}")
        self._display.update(self._lines(progress))

    def tick(self, progress: Progress) -> None:
        self._display.update(self._lines(progress))

    def finished(self, step: Step, progress: Progress, *, read_back: bool) -> None:
        """Print a step's result."""
        if read_back:
            self._display.say(f"{_place(progress)} {step.label}: finished before")
        elif (text := outcome(step)) is not None:
            self._display.say(f"{_place(progress)} {step.label}: {text}")

    def ended(self, status: Status) -> None:
        """Print how many optional steps were skipped, and remove the live lines."""
        if status == "finished" and self._left > 0:
            step = "step" if self._left == 1 else "steps"
            self._display.say(f"finished early ({self._left} optional {step} skipped)")
        if not self._keep:
            self._display.close()

    def __enter__(self) -> RunProgress:
        return self

    def __exit__(self, *exception: object) -> None:
        self._display.close()


def outcome(step: Step) -> str | None:
    """Return a step's result as one line; None if there is nothing to report."""
    summary = step.summary
    if summary is None:
        return (
            "already written, nothing to do"
            if step.result.facts.get("already_written")
            else describe_step(step)
        )
    tails = {name: side.response_ns for name, side in summary.sides.items() if side.ios}
    parts = [
        f"{units.count_text(float(summary.iops))} IOPS",
        units.throughput_text(float(summary.mb_s)),
    ]
    for key in ("mean", "p99"):
        values = [(value, name) for name, tail in tails.items() if (value := tail.get(key)) is not None]
        if values:
            value, slowest = max(values)
            parts.append(f"{key} {units.latency_text(value)}{_of(slowest, len(values), len(tails))}")
    failed = sum(side.failed for side in summary.sides.values())
    if failed:
        parts.append(f"{failed} failed")
    return ", ".join(parts)


def _of(slowest: str, known: int, directions: int) -> str:
    """Return which direction a latency is from, if there are several directions.

    A direction with too few I/Os has no latency.
    """
    if directions == 1:
        return ""
    if known < directions:
        return f" ({slowest}s only)" if known == 1 else f" ({slowest}s)"
    return f" ({slowest}s, the {'slower' if directions == 2 else 'slowest'})"


def status_lines(progress: Progress) -> tuple[str, ...]:
    """Return the live lines: place and time left, then throughput and latency of the last interval."""
    phase = f", {progress.phase}" if progress.phase else ""
    first = (
        f"{_place(progress)} {progress.label}{phase} {units.span_text(round(progress.step_elapsed_s, 1))}; "
        f"{range_text(progress.remaining_least_s, progress.remaining_most_s)} left in total"
    )
    if progress.outlook:
        first += f"; {progress.outlook}"
    if progress.iops is None or progress.mb_s is None:
        return (first,)
    parts = [f"{units.count_text(progress.iops)} IOPS", units.throughput_text(progress.mb_s)]
    tails = (("p50", progress.p50_ns), ("p99", progress.p99_ns), ("p99.9", progress.p999_ns))
    parts += [f"{name} {units.latency_text(value)}" for name, value in tails if value is not None]
    if progress.slowest_of > 1:
        parts.append(f"(of the slowest of {progress.slowest_of} kinds of I/O each)")
    if progress.failed:
        parts.append(f"{progress.failed} failed")
    return first, "      " + "  ".join(parts)


def range_text(min_s: float, max_s: float) -> str:
    """Return a range of time: `4 min 10 s to 6 min 00 s`, or one figure if the ends are close."""
    # Rounded outward: a run that ends within its bounds ends within the printed ones.
    lower, upper = units.span_text(_whole(min_s, floor)), units.span_text(_whole(max_s, ceil))
    if max_s - min_s <= _SAME_SHARE * max_s:
        return upper
    return f"at most {upper}" if min_s < 1 else units.ends_text(lower, upper)


def _whole(seconds: float, rounded: Callable[[float], int]) -> float:
    """Round as `units.span_text` does for such a time: to tenths of seconds, seconds or minutes."""
    if seconds < 10:
        return rounded(10 * seconds) / 10
    return rounded(seconds) if seconds < units.MINUTES_FROM_S else 60 * rounded(seconds / 60)


def bytes_text(lower: float, upper: float) -> str:
    """Return a range of bytes written; empty for none."""
    if upper == 0:
        return ""
    if lower == upper:
        return units.capacity_text(int(upper))
    beginning = f"{units.capacity_text(int(lower))} to " if lower else "at most "
    return beginning + units.capacity_text(int(upper))


def _expected(progress: Progress) -> str:
    return range_text(progress.step_least_s, progress.step_most_s)


def _place(progress: Progress) -> str:
    number, steps = (each - progress.own_steps for each in (progress.ordinal + 1, progress.steps))
    if not progress.steps or number < 1:
        return "[before]"
    # A resumed run may repeat steps, and then has more steps than its plan.
    return f"[{number}/{steps}]" if number <= steps else f"[{number}]"


_ALIKE = (0.5, 2.0)
"""Bounds of a part's time, as multiples of the mean time of the same part on other drives."""
_OTHERS = (0.2, 5.0)
"""Bounds of a part's time, as multiples of the mean time of other parts: reads take less, writes more."""


class Place(NamedTuple):
    """A part of a suite: its drive (empty if there is only one), its number, the total, and its name."""

    drive: str
    number: int
    total: int
    part: str

    @property
    def words(self) -> str:
        """The start of a line: ``DC500M 3.84 TB, 3 of 6: steady-random-write``."""
        return f"{self.drive}{', ' if self.drive else ''}{self.number} of {self.total}: {self.part}"


class Left(NamedTuple):
    """Seconds left for a suite: the best estimate, and its range."""

    best_s: float
    min_s: float
    max_s: float


def left_of(
    running: Sequence[Progress], waiting: Sequence[int], took: Mapping[int, Sequence[float]]
) -> Left | None:
    """Return the time left for a suite; None if it cannot be estimated.

    Parameters
    ----------
    running
        Progress of the running parts.
    waiting
        Numbers of the waiting parts, counted within each drive.
    took
        Seconds that finished parts took, by their numbers: the same part on other drives predicts best.
    """
    at_once = max(len(running), 1)
    own = [Left(_middle(each), each.remaining_least_s, each.remaining_most_s) for each in running]
    known = [seconds for each in took.values() for seconds in each]
    known += [each.run_elapsed_s + left.best_s for each, left in zip(running, own, strict=True)]
    if not known:
        return None
    for number in waiting:
        alike = took.get(number, ())
        typical = _mean(alike or known)
        low, high = _ALIKE if alike else _OTHERS
        own.append(Left(typical, low * typical, high * typical))
    longest = [max((each[at] for each in own[: len(running)]), default=0.0) for at in range(3)]
    return Left(*(max(longest[at], sum(each[at] for each in own) / at_once) for at in range(3)))


def live_lines(
    running: Mapping[Place, Progress], waiting: Sequence[int], took: Mapping[int, Sequence[float]]
) -> tuple[str, ...]:
    """Return a line for each running part, and one for the suite."""
    lines = [f"{place.words}: {_of_part(progress)}" for place, progress in running.items()]
    left = left_of([*running.values()], waiting, took)
    if left is not None:
        span = units.span_text(round(left.best_s))
        lines.append(f"total: about {span} left ({range_text(left.min_s, left.max_s)})")
    return tuple(lines)


def _of_part(progress: Progress) -> str:
    """Return a part's progress, and the rates of its last interval."""
    whole_s = progress.run_elapsed_s + _middle(progress)
    parts = [fixed_share_text(round(progress.run_elapsed_s / whole_s, 2)) if whole_s else "", progress.label]
    if progress.iops is not None:
        parts.append(f"{units.count_text(progress.iops)} IOPS")
    if progress.p99_ns is not None:
        parts.append(f"p99 {units.latency_text(progress.p99_ns)}")
    if progress.failed:
        parts.append(f"{progress.failed} failed")
    return ", ".join(filter(None, parts))


def _middle(progress: Progress) -> float:
    """Return the geometric mean of the bounds on the time left, but at least a tenth of the upper bound."""
    max_s = progress.remaining_most_s
    return max(sqrt(progress.remaining_least_s * max_s), max_s / 10)


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
