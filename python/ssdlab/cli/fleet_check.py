"""`ssdlab fleet check`: whether the drives of this host are as its inventory says."""

from __future__ import annotations

from pathlib import Path

from ssdlab.cli.kinds import Host, Name
from ssdlab.cli.ordering import library_of
from ssdlab.cli.output import print_line, say


def check(*, host: Host = None, job: Name | None = None, library: Path | None = None) -> int:
    """Look whether this host's drives are as its inventory says: none mounted, missing or in another slot.

    Ends with 3 if one is not. What was found is kept for `ssdlab fleet status`. Touches no drive.

    Parameters
    ----------
    host
        What the host is called [default: the name of its Slurm node, else its own].
    job
        A job of Slurm that is to be ended if it is one of its drives; for the prolog.
    library
        The library that all hosts share; by default ssdlab/runs in the XDG data folder.
    """
    from ssdlab.fleet.drive_faults import host_faults, note_health
    from ssdlab.fleet.slurm_scripts import end_job
    from ssdlab.model.errors import HostError
    from ssdlab.results.lease import host_name

    shared, name = library_of(library), host or host_name()
    faults = host_faults(shared, name)
    for what in faults.values():
        print_line(what, "warn")
    ended = "" if job is None else end_job(shared, job, faults)
    if ended:
        say(f"job {job} was ended: {ended}")
    note_health(shared, name, faults)
    if not faults:
        say(f"{name}: its drives are as its inventory says")
    return HostError.exit_status if faults else 0
