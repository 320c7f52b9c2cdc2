"""`lab.precondition`: the state that the following steps measure."""

from __future__ import annotations

from typing import ClassVar

from ssdlab.lab.verbs.verb import StateRole
from ssdlab.lab.verbs.workload_verb import WorkloadVerb


class Precondition(WorkloadVerb):
    """Brings the drive into the state that the following steps measure; its own figures are kept too."""

    verb: ClassVar[str] = "precondition"
    state: ClassVar[StateRole] = "prepares"
