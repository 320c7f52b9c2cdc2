"""`ssdlab resume`: resume a run."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from ssdlab.cli.completers import RunName
from ssdlab.cli.flags import Identifier, Library, Share
from ssdlab.cli.ordering import library_of, print_run
from ssdlab.cli.output import warn
from ssdlab.cli.progress import RunProgress
from ssdlab.model.errors import UsageError

Redo = Annotated[tuple[str, ...], Parameter(metavar="PART")]


def resume(
    run: RunName,
    /,
    *,
    redo: Redo = (),
    destroy: Identifier = None,
    wipe_signatures: bool = False,
    endurance_cap: Share = None,
    require_steady: bool = False,
    library: Library = None,
    json: bool = False,
) -> int:
    """Resume an interrupted run where it stopped, or repeat parts of a finished review.

    The drive must be the one that the run started on. Consent given on this host for that drive still holds;
    otherwise it is needed again, for example for a copied folder.

    Parameters
    ----------
    run
        The run: its folder, its id, a prefix of the id or of its last letters, or `last`.
    redo
        A part of a finished suite or review to repeat with its parameters and seed, on each drive that has
        it. The new run replaces the old one, and both are kept. Writes need --destroy as in a new run. May be
        given several times.
    destroy
        Renewed consent: identifier of the drive whose data may all be lost (see `ssdlab drives`).
    wipe_signatures
        Consent to losing a file system, partition table or array member on the drive as well.
    endurance_cap
        With renewed consent: share of the rated endurance, or bytes, that may be written: 50%.
    require_steady
        Exit with status 1 if steady state was asked for but not shown; by default this is only reported.
    json
        Print the result as JSON, schema ssdlab.show/1.
    """
    from ssdlab.cli.suites import SuiteProgress
    from ssdlab.model.options import endurance_cap as cap_in
    from ssdlab.results.run_folder import RunFolder
    from ssdlab.results.store import find_run
    from ssdlab.runs.consent_record import Renewal
    from ssdlab.runs.session import resume as go_on
    from ssdlab.runs.suites.redo import ask_again, is_asked_again
    from ssdlab.runs.suites.redo import go_on as go_on_again
    from ssdlab.runs.suites.session import resume_suite

    if destroy is None and (wipe_signatures or endurance_cap is not None):
        raise UsageError(
            "--wipe-signatures and --endurance-cap need renewed consent",
            "add --destroy and the drive's identifier (see ssdlab drives), or leave them out",
        )
    cap = None if endurance_cap is None else cap_in(endurance_cap)
    renewal = None if destroy is None else Renewal(destroy, wipe_signatures, cap)
    folder = find_run(run, library_of(library))
    kept = RunFolder(folder)
    if torn := kept.read_journal().torn_bytes:
        warn(f"the last {torn} bytes of the journal are incomplete (a kill or power cut) and are removed")
    if redo:
        ask_again(folder, redo, renewal=renewal, on_wait=warn)
        renewal = None  # it is on record
    if kept.manifest.children and is_asked_again(folder):
        with SuiteProgress() as shown:
            go_on_again(folder, shown, renewal=renewal, on_wait=warn)
    elif kept.manifest.several_drives:
        from ssdlab.runs.suites.several import resume_several

        with SuiteProgress() as shown:
            resume_several(folder, shown, renewal=renewal)
    elif kept.manifest.children:
        with SuiteProgress() as shown:
            resume_suite(folder, shown, renewal=renewal, on_wait=warn)
    else:
        with RunProgress() as progress:
            go_on(folder, [progress], renewal=renewal, on_wait=warn)
    return print_run(folder, json=json, require_steady=require_steady)
