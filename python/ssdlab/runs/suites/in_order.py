"""The runs of a suite one after another, in this process: what a real drive needs."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ssdlab.runs.consent_record import standing_consent
from ssdlab.runs.suites.children import Before, after, is_finished, last_given, work_on

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ssdlab.host.held_folder import HeldFolder
    from ssdlab.results.schema import Child, Manifest
    from ssdlab.runs.consent_record import Renewal
    from ssdlab.runs.session import RunEnvironment
    from ssdlab.runs.suites.watching import SuiteObserver


def one_after_another(
    suite: Manifest,
    folder: HeldFolder,
    children: Sequence[Child],
    observer: SuiteObserver,
    environment: RunEnvironment | None = None,
    renewal: Renewal | None = None,
) -> None:
    """Do each run that is not finished, in order, and tell each whether the span was written before it.

    Raises
    ------
    LabError
        Of the run that stopped; those after it are not begun.
    """
    library, before = folder.path.parent, Before()
    begun_on = standing_consent(folder, suite).given
    for number, child in enumerate(children, start=1):
        run = library / child.run_id
        found = is_finished(run)
        if not found:
            observers = observer.began(child, number, len(children))
            work_on(
                suite,
                library,
                child,
                observers,
                environment,
                before=replace(before, written_by=None) if child.variant else before,
                begun_on=begun_on,
                renewal=renewal,
            )
        observer.ended(child, number, len(children), already_finished=found)
        if child.standing:
            continue  # done at another time: nothing of it is known of the drive as it is now
        before = after(run, before)
        if child.variant:
            before = replace(before, written_by=None)  # perhaps of less than the whole drive
        begun_on = last_given(begun_on, run)
