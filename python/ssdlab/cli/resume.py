"""`ssdlab resume`: go on with a run."""

from __future__ import annotations

from pathlib import Path

from ssdlab.cli.ordering import library_of, print_run
from ssdlab.cli.progress import RunProgress


def resume(
    run: str,
    /,
    *,
    require_steady: bool = False,
    library: Path | None = None,
    json: bool = False,
) -> int:
    """Go on with a run that was interrupted, where it stopped.

    The drive must be the one that the run began on; consent that was given for it still holds for it.

    Parameters
    ----------
    run
        The run: its folder, its id, or the beginning of its id or of its last letters.
    require_steady
        Exit with status 1 where steady state is judged and was not achieved; by default that is a result.
    library
        Folder of runs; by default ssdlab/runs in the XDG data folder.
    json
        Print the result as JSON, schema ssdlab.show/1.
    """
    from ssdlab.cli.suites import SuiteProgress
    from ssdlab.results.run_folder import read_manifest
    from ssdlab.results.store import find_run
    from ssdlab.runs.session import resume as go_on
    from ssdlab.runs.suites.session import resume_suite

    folder = find_run(run, library_of(library))
    if read_manifest(folder).children:
        with SuiteProgress() as shown:
            resume_suite(folder, shown)
    else:
        with RunProgress() as progress:
            go_on(folder, [progress])
    return print_run(folder, json=json, require_steady=require_steady)
