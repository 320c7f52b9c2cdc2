"""What a verb of the lab hands on: one step, asked for, and who does it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from pydantic import JsonValue

    from ssdlab.model.workload import Workload
    from ssdlab.results.records import Policy
    from ssdlab.results.run_folder import Step
    from ssdlab.results.tables import Columns


@dataclass(frozen=True)
class Until:
    """A condition judged on the closed interval rows, in order; name and arguments are part of the step."""

    name: str
    args: dict[str, JsonValue]
    holds: Callable[[Sequence[Any]], bool] = field(compare=False)


class Tables(Protocol):
    """What the steps so far have measured, row by row; `methods.method.RunData` is one too."""

    @property
    def rows(self) -> Callable[[Step], Columns]:
        """Gives the interval rows of a finished step, as `results.tables.SERIES_COLUMNS`."""

    @property
    def row_buckets(self) -> Callable[[Step], Columns]:
        """Gives the histogram buckets of each of its rows, as `results.tables.HIST_COLUMNS`."""


@dataclass(frozen=True)
class Finding:
    """What is worked out from tables in mid-run; it is journalled, so that a procedure may branch on it."""

    name: str
    args: dict[str, JsonValue]
    value: Callable[[Tables], dict[str, JsonValue]] = field(compare=False)


@dataclass(frozen=True)
class Request:
    """One step, asked for: what a verb hands to the executor.

    `outlook` says, for whoever looks on, what the procedure expects beyond the step; it is no part of it.
    """

    ordinal: int
    verb: str
    label: str
    args: dict[str, JsonValue]
    policy: Policy
    workload: Workload | None = None
    until: Until | None = None
    finding: Finding | None = None
    outlook: str = ""


class Executor(Protocol):
    """Who does the steps."""

    def perform(self, request: Request) -> Step:
        """Do a step, read it back, or only count it."""
