"""What no two jobs of a host may have at once, of whatever plan or library: a lock for each thing.

Within one plan its command sees to it; two plans know nothing of each other. So each thing that a job has for
itself (a drive, a meter, a link, a CPU) is a file in the state folder of the host, and who has the thing has
the lock of the file (flock(2)). The lock is handed down to the job's process: it lasts as long as the job,
also where the command that began it is killed, and no longer, however the job ends. Locks are those of one
user, as the state folder is.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING

from ssdlab.host.durable import library_errors
from ssdlab.host.held_folder import FOLDER_MODE, HeldFolder
from ssdlab.host.state_folder import state_folder
from ssdlab.model.closing import Closing

if TYPE_CHECKING:
    from collections.abc import Sequence

NO_CPU = "cpu"
"""Said where all CPUs are had by others."""
_FOLDER = "holds"
_HOLDER_BYTES = 4096


class Hold(Closing):
    """Things that are held, until every process that has the descriptors has closed them.

    Attributes
    ----------
    descriptors
        Of the locks; a process that they are handed to holds the things as well.
    """

    def __init__(self, descriptors: Sequence[int]) -> None:
        self.descriptors = tuple(descriptors)

    def close(self) -> None:
        """Let go, as far as this process is concerned."""
        taken, self.descriptors = self.descriptors, ()
        for each in taken:
            os.close(each)


def hold(things: Sequence[str], by: str, *, cpus: int = 0, of_cpus: int = 0) -> Hold | str:
    """Take all of some things, or none; returns the hold, or the thing that somebody else has.

    Parameters
    ----------
    things
        By their names, such as ``meter:scpi:10.0.0.9``.
    by
        Who takes them, for those who wait.
    cpus, of_cpus
        So many CPUs besides, of as many as there are.

    Raises
    ------
    HostError
        The state folder cannot be written.
    """
    folder = state_folder() / _FOLDER
    with ExitStack() as undone, library_errors(folder), HeldFolder(folder, make=FOLDER_MODE) as held:
        taken: list[int] = []
        for thing in things:
            if (descriptor := _lock(held, thing, by)) is None:
                return thing
            taken.append(descriptor)
            undone.callback(os.close, descriptor)
        wanted = len(taken) + min(cpus, of_cpus)
        for number in range(of_cpus):
            if len(taken) < wanted and (descriptor := _lock(held, f"cpu:{number}", by)) is not None:
                taken.append(descriptor)
                undone.callback(os.close, descriptor)
        if len(taken) < wanted:
            return NO_CPU
        undone.pop_all()
        return Hold(taken)


def holder(thing: str) -> str:
    """Return who has a thing on this host now; empty if nobody has."""
    try:
        with (state_folder() / _FOLDER / _file_name(thing)).open("rb") as file:
            with suppress(BlockingIOError):
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
                return ""
            return file.read(_HOLDER_BYTES).decode(errors="replace").partition("\n")[0]
    except OSError:  # nobody ever had it
        return ""


def _lock(folder: HeldFolder, thing: str, by: str) -> int | None:
    descriptor = folder.lock_file(_file_name(thing))
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    os.ftruncate(descriptor, 0)
    os.pwrite(descriptor, f"{by}\n{thing}\n".encode(), 0)
    return descriptor


def _file_name(thing: str) -> str:
    """Return the name of a thing's file: a meter's address may be longer than a name of a file."""
    return hashlib.sha256(thing.encode()).hexdigest()[:32]
