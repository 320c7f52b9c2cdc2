"""`lab.run`: a workload, measured."""

from __future__ import annotations

from typing import ClassVar

from ssdlab.lab.verbs.workload_verb import WorkloadVerb


class Run(WorkloadVerb):
    """Runs a workload and measures it."""

    verb: ClassVar[str] = "run"

    overload: bool = False
    """More may be asked for than the drive can do, and that is the finding: no warning about it."""

    @property
    def overloads(self) -> bool:
        """Whether more may be asked for than the drive can do."""
        return self.overload
