"""SSD review lab: published review methods on real drives and files, each number with its proof.

    >>> import ssdlab
    >>> result = ssdlab.measure("/tmp/scratch.bin", rw="randread", bs="4k", threads=4, seconds=2, size="1GiB")
    >>> result.summary()["iops"]

Names are loaded when they are first used, so that ``import ssdlab`` costs next to nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ssdlab.drives import open_drive
    from ssdlab.model.errors import (
        DriveError,
        HostError,
        Interrupted,
        LabError,
        Refused,
        UsageError,
        VerdictFailed,
    )
    from ssdlab.model.measurement import Measurement
    from ssdlab.model.workload import Stream, Workload
    from ssdlab.runs.measure import measure

    __version__: str

__all__ = [
    "DriveError",
    "HostError",
    "Interrupted",
    "LabError",
    "Measurement",
    "Refused",
    "Stream",
    "UsageError",
    "VerdictFailed",
    "Workload",
    "__version__",
    "measure",
    "open_drive",
]

_HOME = {
    "Measurement": "ssdlab.model.measurement",
    "Stream": "ssdlab.model.workload",
    "Workload": "ssdlab.model.workload",
    "measure": "ssdlab.runs.measure",
    "open_drive": "ssdlab.drives",
}


def __getattr__(name: str) -> object:
    """Import a public name on first use."""
    if name not in __all__:
        raise AttributeError(f"module 'ssdlab' has no attribute {name!r}")
    from importlib import import_module

    if name == "__version__":
        value = import_module("ssdlab._core").build_info()["version"]
    else:
        value = getattr(import_module(_HOME.get(name, "ssdlab.model.errors")), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
