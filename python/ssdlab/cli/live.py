"""The live view of one measurement: a bar with IOPS and p99 on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import TYPE_CHECKING

from ssdlab.cli.output import on_terminal, say
from ssdlab.model.units import NS_PER_S, count_text, latency_text, span_text, throughput_text

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

    import ssdlab._core as _core
    from ssdlab.runs.preparing import Watcher

_LINE_EVERY_NS = 10 * NS_PER_S
_SHOW_AFTER_NS = 300_000_000
"""The bar's library is loaded only in a phase that lasts."""


def watcher(*, quiet: bool) -> Watcher:
    """Return who shows the progress of a measurement: on stderr, so that stdout is data only."""
    from ssdlab.runs.preparing import Silent

    if on_terminal(sys.stderr):
        return TerminalWatcher()
    return Silent() if quiet else PlainWatcher()


class PlainWatcher:
    """A line at the beginning of each phase that lasts, and one every ten seconds."""

    def __init__(self) -> None:
        self._phase = ""
        self._announced = False
        self._next_ns = _LINE_EVERY_NS

    def phase(self, name: str, *, duration_ns: int | None, size_bytes: int | None) -> None:
        """Take note of a phase; it is announced when it is still there at the first look."""
        length = f" for {span_text(duration_ns / NS_PER_S)}" if duration_ns else ""
        self._phase = f"{name}{length}"
        self._announced = False
        self._next_ns = _LINE_EVERY_NS

    def tick(self, snapshot: _core.Snapshot) -> None:
        """Show a line if it is time for one."""
        with suppress(OSError):
            if not self._announced:
                self._announced = True
                say(f"{self._phase} ...")
            if snapshot.elapsed_ns >= self._next_ns:
                # A phase that begins in mid-run finds its clock well on.
                self._next_ns = (snapshot.elapsed_ns // _LINE_EVERY_NS + 1) * _LINE_EVERY_NS
                say(f"{snapshot.elapsed_ns // NS_PER_S:>5} s  {rates_text(snapshot)}")


class TerminalWatcher:
    """A bar that goes away when its phase is over."""

    def __init__(self) -> None:
        self._phase = ""
        self._total = 0
        self._by_time = True
        self._progress: Progress | None = None
        self._task: TaskID | None = None

    def phase(self, name: str, *, duration_ns: int | None, size_bytes: int | None) -> None:
        """Take away the bar of the phase before."""
        self.close()
        self._phase = name
        self._by_time = duration_ns is not None
        self._total = duration_ns or size_bytes or 0

    def tick(self, snapshot: _core.Snapshot) -> None:
        """Move the bar."""
        if snapshot.elapsed_ns < _SHOW_AFTER_NS:
            return
        with suppress(OSError):
            if self._progress is None:
                self._open()
            assert self._progress is not None
            assert self._task is not None
            done = snapshot.elapsed_ns if self._by_time else snapshot.bytes
            phase = self._phase if snapshot.phase == "measuring" else f"{self._phase} ({snapshot.phase})"
            self._progress.update(self._task, completed=done, description=phase, rates=rates_text(snapshot))

    def close(self) -> None:
        """Take the bar away."""
        if self._progress is not None:
            with suppress(OSError):
                self._progress.stop()
        self._progress = self._task = None

    def _open(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

        columns = (
            TextColumn("{task.description}"),
            BarColumn(bar_width=30),
            TextColumn("{task.fields[rates]}"),
            TimeRemainingColumn(),
        )
        self._progress = Progress(*columns, console=Console(stderr=True), transient=True)
        self._task = self._progress.add_task(self._phase, total=self._total or None, rates="")
        self._progress.start()


def rates_text(snapshot: _core.Snapshot) -> str:
    """Return what the last interval row did: IOPS, throughput, p99 of its response times."""
    row = snapshot.latest
    if row is None:
        seconds = snapshot.elapsed_ns / NS_PER_S or 1.0
        rates = (snapshot.ios / seconds, snapshot.bytes / seconds / 1e6)
        return f"{count_text(rates[0])} IOPS  {throughput_text(rates[1])}"
    tail_ns = max((cell.latency("response")["p99_ns"] for cell in row.cells), default=0)
    p99 = f"  p99 {latency_text(tail_ns)}" if tail_ns else ""
    failed = f"  {snapshot.failed} failed" if snapshot.failed else ""
    return f"{count_text(row.iops)} IOPS  {throughput_text(row.mb_s)}{p99}{failed}"
