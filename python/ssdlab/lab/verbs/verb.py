"""The base class of verbs, what a verb can use, and all verbs by name.

A verb's fields are its arguments. The journal stores them, and `conclude` reads them back (`Step.asked`). Its
methods plan a step (`plan`), describe its effects on the drive (`effects`), execute it (`do`), repeat it for
its drive state (`redo`), and restore it in a later session (`read_back`). `policy`, `keeps_parts` and `state`
say how an interruption is handled.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, ClassVar, Literal, Protocol

from pydantic import BaseModel, ConfigDict, JsonValue, ValidationError

from ssdlab.analysis.pace import ANY_DRIVE
from ssdlab.model.fitting import Unfit, misfit
from ssdlab.model.frozen import Frozen
from ssdlab.results.records import StepResult
from ssdlab.results.schema import Departure

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path

    from ssdlab.analysis.pace import Pace
    from ssdlab.drives.base import Drive
    from ssdlab.drives.base import Until as Ends
    from ssdlab.model.measurement import Measurement
    from ssdlab.model.pattern import Span
    from ssdlab.model.power_features import PowerFeatures
    from ssdlab.model.workload import Workload
    from ssdlab.results.records import PartRecord, Policy
    from ssdlab.results.run_folder import Step
    from ssdlab.results.tables import Columns

STEP_MAX_S = 4.0
"""Maximum seconds of a step beyond its workload: threads start, I/O is drained, records reach the disk."""
RECORD_MAX_S = 2.0
"""Maximum time, in seconds, of a step that only reads a setting or writes a record."""


@dataclass(frozen=True)
class Bounds:
    """Lower and upper bound of a figure."""

    lower: float
    upper: float

    def __add__(self, other: Bounds) -> Bounds:
        return Bounds(self.lower + other.lower, self.upper + other.upper)


NOTHING = Bounds(0.0, 0.0)


@dataclass(frozen=True)
class Planned:
    """The planned time and writes of a step.

    Attributes
    ----------
    seconds, bytes_written
        Bounds of its time, and of the bytes it writes to the drive.
    target_bytes
        Bytes at which it stops, if any.
    settled_bytes
        Upper bound of the bytes written on a long-written drive; None: as `bytes_written`.
    overhead_s
        The host's share of the upper time bound.
    simulating
        CPU seconds that the host needs to simulate it.
    facts
        Facts that are known before the step is done, so that the procedure can branch on them in a plan.
    """

    seconds: Bounds = Bounds(0.0, RECORD_MAX_S)
    bytes_written: Bounds = NOTHING
    target_bytes: int | None = None
    settled_bytes: float | None = None
    overhead_s: float = RECORD_MAX_S
    simulating: Bounds = NOTHING
    facts: dict[str, JsonValue] = field(default_factory=dict)


@dataclass(frozen=True)
class Planning:
    """What is known when a step is planned.

    Attributes
    ----------
    purges_at_once
        Whether a purge takes no time on this kind of drive, or is not possible; see `Capabilities`.
    purge_max_s
        Returns the maximum seconds of a purge by a method (None: the drive's strongest); None: unknown.
    pace
        What is known about the drive's speed.
    known
        The step's result, in a continued run.
    power_features
        Returns the drive's power-saving features; None: known only when the drive is opened.
    """

    purges_at_once: bool = False
    purge_max_s: Callable[[str | None], float | None] = lambda method: None
    pace: Pace = ANY_DRIVE
    known: StepResult | None = None
    power_features: Callable[[], PowerFeatures | None] = lambda: None


class Outcome(BaseModel):
    """The outcome of a setting: `value` is what `wanted` means here, `after` the last value read."""

    model_config = ConfigDict(frozen=True, extra="allow")

    name: str
    wanted: str
    value: str
    before: str
    after: str
    remark: str | None = None

    @property
    def met(self) -> bool:
        return self.after == self.value


class Tables(Protocol):
    """Tables of the steps so far; `lab.method.RunData` provides them too."""

    @property
    def rows(self) -> Callable[[Step], Columns]:
        """Function that reads a step's interval rows, with columns `results.tables.SERIES_COLUMNS`."""

    @property
    def row_buckets(self) -> Callable[[Step], Columns]:
        """Function that reads the buckets of a step's rows, with columns `results.tables.HIST_COLUMNS`."""


class Settings(Protocol):
    """Makes the settings that a step requires, and restores them when the run ends."""

    def bring_about(self, required: Mapping[str, str], *, firm: bool = False) -> StepResult:
        """Set conditions and read them back; see `runs.conditions.keeper`."""

    def again(self, outcomes: Iterable[Outcome], *, firm: bool) -> None:
        """Make the settings of a finished step again, in a later session."""


class Forks(Protocol):
    """Keeps states of the drive, and returns the drive to them."""

    def fork(self, ordinal: int) -> None: ...

    def back(self, ordinal: int, *, end: bool) -> None:
        """Return the drive to a fork's state; `end` is True for the last return."""


class StepContext(Protocol):
    """What a step can use while it is executed."""

    @property
    def drive(self) -> Drive:
        """The drive under test."""

    @property
    def span(self) -> Span:
        """The part of the drive in use: all whole MiB of it, or as set by `--usable` and `lab.limit`."""

    @property
    def ordinal(self) -> int:
        """Number of the step in its run."""

    @property
    def seed(self) -> int:
        """Seed of the step."""

    @property
    def parts(self) -> Sequence[PartRecord]:
        """Interrupted attempts at this step whose work counts."""

    @property
    def written_by(self) -> str | None:
        """Id of the earlier run that wrote the whole span; a device cannot report that itself."""

    @property
    def epoch(self) -> int:
        """Number of the epoch: 1, plus the interruptions that let the drive's state change.

        Always 1 if the drive's state is kept with the run.
        """

    @property
    def settings(self) -> Settings:
        """Changes settings of drive and host."""

    @property
    def forks(self) -> Forks | None:
        """Keeps states of the drive; None if that is impossible."""

    def look(self, phase: str = "") -> None:
        """Report the step's progress. Call it about every 50 ms; it raises if the step must stop."""

    def tables(self) -> Tables:
        """Return the tables of the steps so far."""

    def new_file(self, name: str) -> AbstractContextManager[Path]:
        """Create a file in the run folder; after the block it is complete or does not exist."""

    def run(self, workload: Workload, until: Ends | None) -> Measurement:
        """Run a workload for its effect on the drive's state, without keeping figures.

        `span` and the step's seed are the workload's defaults, here and in `measure`.
        """

    def rest(self, seconds: float) -> StepResult:
        """Leave the drive idle for a time on its clock, and return its power."""

    def measure(self, workload: Workload, until: Ends | None, *, overload: bool) -> StepResult:
        """Run what earlier parts left of a workload, and keep the measurement.

        Parameters
        ----------
        workload
            The workload to run.
        until
            Called at each closed row; True ends the step.
        overload
            Whether overload is intended; it then raises no warning.
        """


StateRole = Literal["uses", "prepares", "amends", "freshens", "begins"]
"""A step's role for the drive's state.

The step uses the state, prepares it, amends a preparation, makes the drive fresh, or starts a group of steps.
"""


class Facts(BaseModel):
    """What a step found or set, apart from measurements, as stored in the journal.

    Any step may have departures. Unknown fields of a newer ssdlab are kept.
    """

    model_config = ConfigDict(frozen=True, extra="allow")

    departures: tuple[Departure, ...] = ()


class Verb(Frozen):
    """A step that a procedure requests: its arguments and its behaviour."""

    model_config = ConfigDict(extra="ignore")

    verb: ClassVar[str]
    """Name of the verb in journals and plans."""
    policy: ClassVar[Policy] = "restart"
    """Interruption policy, unless the procedure declares one."""
    state: ClassVar[StateRole] = "uses"
    planned_once: ClassVar[bool] = False
    """Whether planning it costs as much as doing it, so that a later plan uses the known result."""
    omitted: ClassVar[frozenset[str]] = frozenset()
    """Arguments that the journal omits if they are the default."""

    @property
    def work(self) -> Workload | None:
        """Workload of the step; None if it has none."""
        return None

    @property
    def keeps_parts(self) -> bool:
        """Whether the step can continue an interrupted attempt."""
        return self.work is not None

    @property
    def marks(self) -> bool:
        """Whether the step keeps the drive's state for a step that `returns_to` it."""
        return False

    @property
    def returns_to(self) -> int | None:
        """Ordinal of the step whose state it restores."""
        return None

    def stored(self) -> dict[str, JsonValue]:
        """Return the arguments as stored in the journal."""
        plain: dict[str, JsonValue] = self.model_dump(mode="json")
        fields = type(self).model_fields
        return {
            name: value
            for name, value in plain.items()
            if name not in self.omitted or getattr(self, name) != fields[name].default
        }

    def check(self, policy: Policy) -> None:
        """Refuse an interruption policy that the step cannot meet."""

    def plan(self, planning: Planning) -> Planned:
        """Return the planned time and writes; the default suits a step that only reads or writes a record."""
        del planning
        return Planned()

    def effects(self) -> tuple[str, ...]:
        """Return the effects on the drive as phrases, such as ``flushes the drive's cache``."""
        return ()

    def do(self, at: StepContext) -> StepResult:
        """Execute the step. The caller sets `seconds` of the result."""
        del at
        return StepResult(seconds=0.0)

    def redo(self, at: StepContext) -> None:
        """Repeat a finished step for its effect on the drive's state."""
        self.do(at)

    def read_back(self, at: StepContext, result: StepResult) -> None:
        """Restore, in a later session, an effect that ended with its own session, such as a setting."""

    @classmethod
    def describe(cls, step: Step) -> str | None:
        """Return what a finished step found, in words; None for nothing."""
        del step
        return None


VERBS = {
    "run": "ssdlab.lab.verbs.workload:Run",
    "fill": "ssdlab.lab.verbs.workload:Fill",
    "precondition": "ssdlab.lab.verbs.workload:Precondition",
    "one-pass": "ssdlab.lab.verbs.workload:OnePass",
    "place": "ssdlab.lab.verbs.workload:Place",
    "power-features": "ssdlab.lab.verbs.resting:AskPower",
    "rest": "ssdlab.lab.verbs.resting:Rest",
    "idle": "ssdlab.lab.verbs.resting:Idle",
    "trim": "ssdlab.lab.verbs.drive_state:Trim",
    "flush": "ssdlab.lab.verbs.drive_state:Flush",
    "purge": "ssdlab.lab.verbs.drive_state:Purge",
    "health": "ssdlab.lab.verbs.record:Health",
    "conditions": "ssdlab.lab.verbs.drive_state:Conditions",
    "variant": "ssdlab.lab.verbs.drive_state:Variant",
    "limit": "ssdlab.lab.verbs.record:Limit",
    "note": "ssdlab.lab.verbs.record:Note",
    "find": "ssdlab.lab.verbs.record:Find",
    "trace": "ssdlab.lab.verbs.trace:Trace",
    "stretch": "ssdlab.lab.verbs.drive_state:StepGroup",
    "fork": "ssdlab.lab.verbs.drive_state:Fork",
    "marks": "ssdlab.lab.verbs.resting:PowerMarks",
    "back": "ssdlab.lab.verbs.drive_state:Back",
}
"""Module and class of each verb, by name."""
_MEASURING = frozenset({"run", "fill", "precondition", "one-pass"})
"""Verbs that describe nothing beyond their measurement; they need not be imported to show a run."""


def verb_named(name: str) -> type[Verb] | None:
    """Return the class of a verb; None for a verb of another package."""
    if name not in VERBS:
        return None
    module, kind = VERBS[name].split(":")
    found: type[Verb] = getattr(import_module(module), kind)
    return found


def describe_step(step: Step) -> str | None:
    """Return what a finished step found apart from measurements, in words; None for nothing.

    A verb of another package gives None: its facts say what it found.
    """
    verb = None if step.verb in _MEASURING else verb_named(step.verb)
    return None if verb is None else verb.describe(step)


_NAME = re.compile(r"[a-z0-9]{1,40}([-_][a-z0-9]{1,40}){0,9}")
_OURS = "ssdlab."


def check_verb(asked: Verb) -> None:
    """Refuse an object that is not a verb, or that cannot be journalled or shown.

    Raises
    ------
    Unfit
        The object is not a verb; the error says why.
    """
    if type(asked).__module__.startswith(_OURS):
        return
    if not isinstance(asked, Verb):
        raise Unfit(f"lab.do was given a {type(asked).__name__}, not a Verb")
    name = getattr(asked, "verb", None)
    kind = type(asked).__name__
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise Unfit(f"{kind} calls its verb {name!r}: a name is lower-case words and digits with hyphens")
    if name in VERBS and verb_named(name) is not type(asked):
        raise Unfit(f"{kind} calls its verb {name}, which is one of ssdlab's own: give it another name")
    effects = asked.effects()
    if fault := misfit(effects, tuple[str, ...], "effects"):
        raise Unfit(f"{kind}.{fault}", asked.effects)
    _check_json(asked.stored(), f"the arguments of {kind}", None)


def plan_of(asked: Verb, planning: Planning) -> Planned:
    """Return the planned time and writes of a step, by its verb.

    Raises
    ------
    Unfit
        Its plan is invalid.
    """
    planned = asked.plan(planning)
    if type(asked).__module__.startswith(_OURS):
        return planned
    kind = f"{type(asked).__name__}.plan"
    fault = misfit(planned, Planned)
    if fault is None:
        named = {name: getattr(planned, name) for name in ("seconds", "bytes_written", "simulating")}
        wrong = (name for name, each in named.items() if not _rising(each))
        fault = next((f"{name} is {named[name]}, not from low to high" for name in wrong), None)
    if fault is not None:
        raise Unfit(f"{kind}: {fault}", asked.plan)
    return planned


def do_checked(asked: Verb, at: StepContext) -> StepResult:
    """Execute a step, and return its result.

    Raises
    ------
    Unfit
        The result is of another type, or cannot be journalled.
    """
    result = asked.do(at)
    if type(asked).__module__.startswith(_OURS):
        return result
    kind = f"{type(asked).__name__}.do"
    if not isinstance(result, StepResult):
        raise Unfit(f"{kind} returned a {type(result).__name__}, not a StepResult", asked.do)
    _check_json(result.facts, f"the facts of {kind}", asked)
    try:
        Facts.model_validate(result.facts)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise Unfit(f"the facts of {kind}: departures: {first['msg']}", asked.do) from None
    return result


def _rising(bounds: Bounds) -> bool:
    return 0 <= bounds.lower <= bounds.upper


def _check_json(value: object, noun: str, asked: Verb | None) -> None:
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise Unfit(f"{noun} cannot be kept as JSON: {error}", None if asked is None else asked.do) from None
