"""SSD review lab: published review methods on real and simulated drives, each number with its proof.

    >>> import ssdlab
    >>> result = ssdlab.measure("/tmp/scratch.bin", rw="randread", bs="4k", threads=4, seconds=2, size="1GiB")
    >>> result.summary()["iops"]

Names are loaded when they are first used, so that ``import ssdlab`` is fast. Methods in other packages import
what they need from `ssdlab.plugin`; all other paths may change.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ssdlab.drives import open_drive
    from ssdlab.model.arrival import Open
    from ssdlab.model.errors import (
        DriveError,
        HostError,
        Interrupted,
        LabError,
        Refused,
        UsageError,
        VerdictFailed,
    )
    from ssdlab.model.measurement import Measurement, read_ios
    from ssdlab.model.workload import Stop, Stream, Workload
    from ssdlab.runs.measure import measure

    __version__: str

__all__ = [
    "DriveError",
    "HostError",
    "Interrupted",
    "LabError",
    "Measurement",
    "Open",
    "Refused",
    "Stop",
    "Stream",
    "UsageError",
    "VerdictFailed",
    "Workload",
    "__version__",
    "library",
    "measure",
    "open_drive",
    "read_ios",
]

_HOME = {
    "Measurement": "ssdlab.model.measurement",
    "Open": "ssdlab.model.arrival",
    "Stop": "ssdlab.model.workload",
    "Stream": "ssdlab.model.workload",
    "Workload": "ssdlab.model.workload",
    "measure": "ssdlab.runs.measure",
    "open_drive": "ssdlab.drives",
    "read_ios": "ssdlab.model.measurement",
}


def __getattr__(name: str) -> object:
    """Import a public name on first use."""
    if name not in __all__:
        raise AttributeError(f"module 'ssdlab' has no attribute {name!r}")
    from importlib import import_module

    if name == "__version__":
        value = import_module("ssdlab._core").build_info()["version"]
    elif name == "library":
        value = import_module("ssdlab.library")
    else:
        value = getattr(import_module(_HOME.get(name, "ssdlab.model.errors")), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
