"""The runs of a suite one after another, in this process: what a real drive needs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ssdlab.runs.suites.children import Before, after, is_finished, work_on

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from ssdlab.results.schema import Child, Manifest
    from ssdlab.runs.session import Bench
    from ssdlab.runs.suites.watching import SuiteObserver


def one_after_another(
    suite: Manifest,
    library: Path,
    children: Sequence[Child],
    observer: SuiteObserver,
    bench: Bench | None = None,
) -> None:
    """Do each run that is not finished, in order, and tell each whether the span was written before it.

    Raises
    ------
    LabError
        Of the run that stopped; those after it are not begun.
    """
    before = Before()
    for number, child in enumerate(children, start=1):
        folder = library / child.run_id
        found = is_finished(folder)
        if not found:
            observers = observer.began(child, number, len(children))
            work_on(suite, library, child, observers, bench, before=before)
        observer.ended(child, number, len(children), found_finished=found)
        before = after(folder, before)
