"""SSD review lab: published review methods on real and simulated drives, each number with its proof.

    >>> import ssdlab
    >>> result = ssdlab.measure("/tmp/scratch.bin", rw="randread", bs="4k", threads=4, seconds=2, size="1GiB")
    >>> result.summary()["iops"]

Names are loaded when they are first used, so that ``import ssdlab`` costs next to nothing. What a method of
another package needs is in `ssdlab.plugin`; no other path is promised.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from importlib.machinery import ModuleSpec
    from types import ModuleType

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
_OLD_PATHS = {
    "ssdlab.errors": ("ssdlab.model.errors", "ssdlab"),
    "ssdlab.measurement": ("ssdlab.model.measurement", "ssdlab"),
    "ssdlab.methods.points": ("ssdlab.lab.parts.points", "ssdlab.plugin"),
    "ssdlab.methods.workloads": ("ssdlab.lab.parts.workloads", "ssdlab.plugin"),
    "ssdlab.results.outcome": ("ssdlab.lab.points_result", "ssdlab.plugin"),
    "ssdlab.workload": ("ssdlab.model.workload", "ssdlab or ssdlab.plugin"),
}
"""Modules that the documents of 0.1 named: where each is now, and the public path to import from instead.
They go with the version after this one."""


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


class _OldPath:
    """Finds and loads the modules of `_OLD_PATHS`, where no other finder knows the name, and warns."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        del path, target
        if name not in _OLD_PATHS:
            return None
        from importlib.machinery import ModuleSpec

        return ModuleSpec(name, _OldPath)  # type: ignore[arg-type]  # a class whose functions are static

    @staticmethod
    def create_module(spec: ModuleSpec) -> ModuleType:
        from importlib import import_module
        from warnings import warn

        home, public = _OLD_PATHS[spec.name]
        message = f"{spec.name} goes with the next version of ssdlab: import from {public} instead"
        warn(message, DeprecationWarning, stacklevel=2)
        module = import_module(home)
        spec.loader_state = module.__spec__
        return module

    @staticmethod
    def exec_module(module: ModuleType) -> None:
        spec = module.__spec__
        module.__spec__ = (
            None if spec is None else spec.loader_state
        )  # its own again, not that of the old name


sys.meta_path.append(_OldPath)
