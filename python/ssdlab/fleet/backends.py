"""The back ends that there are, by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ssdlab.fleet.local import Local
from ssdlab.fleet.slurm import Slurm, is_set_up
from ssdlab.model.errors import unknown

if TYPE_CHECKING:
    from collections.abc import Callable

    from ssdlab.fleet.backend import Backend
    from ssdlab.fleet.fields import BackendName

BACKENDS: dict[str, Callable[[], Backend]] = {"local": Local, "slurm": Slurm}


def find_backend(name: str) -> Backend:
    """Return a back end by its name.

    Raises
    ------
    UsageError
        There is none of that name.
    """
    if name not in BACKENDS:
        raise unknown("back end", name, BACKENDS)
    return BACKENDS[name]()


def usual_backend() -> BackendName:
    """Return the back end that is used when none is named: Slurm where this host is part of one."""
    return "slurm" if is_set_up() else "local"
