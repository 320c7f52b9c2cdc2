"""What a verb is, what it says before it is done, what it has at hand then; and all verbs by name.

Its fields are the arguments, as the journal keeps them and as `conclude` reads them back
(`Step.asked`). Its methods say what a step will take (`plan`), what of it reaches the drive (`effects`), how
it is done (`do`), how it is done once more for the state that it leaves (`redo`), what a later session owes
to it (`read_back`), and what an interruption of it means (`policy`, `keeps_parts`, `state`).
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
"""A step may take so much longer than its workload: threads start, I/O is drained, records reach the disk."""
RECORD_MAX_S = 2.0
"""A step that only reads a setting or writes a record."""


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
    """What a step will take, as far as that is known before.

    Attributes
    ----------
    seconds, bytes_written
        Bounds of its time, and of the bytes that it writes to the drive.
    target_bytes
        Where it stops by bytes: how many.
    settled_bytes
        Upper bound of the bytes written on a drive that was written for long; None: that of `bytes_written`.
    overhead_s
        What of the upper bound of its time is the host's, and no part of the drive's time.
    simulating
        Seconds that a simulation of it takes of the host.
    facts
        What of its facts the plan can know, so that the procedure may go on.
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
        The drive's capability of that name.
    purge_max_s
        A purge by a method (None: the strongest of the drive) takes no longer; None: nobody knows.
    pace
        How fast the drive is, as far as that is known.
    known
        Of a run that goes on: the result of the step, where it is finished.
    power_features
        What the drive has for saving power; None: only the opened drive says it.
    """

    purges_at_once: bool = False
    purge_max_s: Callable[[str | None], float | None] = lambda method: None
    pace: Pace = ANY_DRIVE
    known: StepResult | None = None
    power_features: Callable[[], PowerFeatures | None] = lambda: None


class Outcome(BaseModel):
    """What came of one setting: `value` is what `wanted` means here, `after` what was read at the end."""

    model_config = ConfigDict(frozen=True, extra="allow")

    name: str
    wanted: str
    value: str
    before: str
    after: str
    remark: str | None = None

    @property
    def met(self) -> bool:
        """Whether it is as it should be."""
        return self.after == self.value


class Tables(Protocol):
    """What the steps so far have measured, row by row; `lab.method.RunData` is one too."""

    @property
    def rows(self) -> Callable[[Step], Columns]:
        """Gives the interval rows of a finished step, as `results.tables.SERIES_COLUMNS`."""

    @property
    def row_buckets(self) -> Callable[[Step], Columns]:
        """Gives the histogram buckets of each of its rows, as `results.tables.HIST_COLUMNS`."""


class Settings(Protocol):
    """Sets what a step requires, and puts it back when the run ends."""

    def bring_about(self, required: Mapping[str, str], *, firm: bool = False) -> StepResult:
        """Set what is required and read it back; see `runs.conditions.keeper`."""

    def again(self, outcomes: Iterable[Outcome], *, firm: bool) -> None:
        """Bring about, in a later session, what a finished step had brought about."""


class Forks(Protocol):
    """Keeps states of the drive to go back to."""

    def fork(self, ordinal: int) -> None:
        """Keep the state for `back`."""

    def back(self, ordinal: int, *, end: bool) -> None:
        """Bring the drive back to the state of a fork; with `end` for the last time."""


class StepContext(Protocol):
    """One step that is being done."""

    @property
    def drive(self) -> Drive:
        """The drive under test, held by the run."""

    @property
    def span(self) -> Span:
        """The part of the drive in use: all of it, in whole MiB, or what `--usable` and `lab.limit` left."""

    @property
    def ordinal(self) -> int:
        """Number of the step in its run."""

    @property
    def seed(self) -> int:
        """Seed of the step, of its own."""

    @property
    def parts(self) -> Sequence[PartRecord]:
        """Attempts at the step that were cut short and count."""

    @property
    def written_by(self) -> str | None:
        """Run that has written the whole span before, which a device cannot tell."""

    @property
    def sitting(self) -> int:
        """How often the drive's state was at the mercy of an interruption: 1, and 1 more after each.

        Always 1 of a drive whose state is kept with the run: it goes on as if nothing had been.
        """

    @property
    def settings(self) -> Settings:
        """What sets the drive and its host."""

    @property
    def forks(self) -> Forks | None:
        """What keeps the drive's state; None where it cannot be kept."""

    def look(self, phase: str = "") -> None:
        """Report how far the step is.

        To be called about every 50 ms; it ends the step, by an exception, if that was asked for.
        """

    def tables(self) -> Tables:
        """Return what the steps so far have measured."""

    def new_file(self, name: str) -> AbstractContextManager[Path]:
        """Make a file of the run folder: whole at the end of the block, or not at all."""

    def run(self, workload: Workload, until: Ends | None) -> Measurement:
        """Run a workload for the state that it leaves, and keep nothing of it but what the verb keeps.

        Streams without a span of their own get `span`; without a seed of its own it gets the step's. So too
        `measure`.
        """

    def rest(self, seconds: float) -> StepResult:
        """Leave the drive alone for that time of its own clock, and return what it drew meanwhile."""

    def measure(self, workload: Workload, until: Ends | None, *, overload: bool) -> StepResult:
        """Run a workload, with the parts before it left out, and keep what was measured.

        Parameters
        ----------
        workload
            What is left to do.
        until
            Asked at each closed row; True ends the step.
        overload
            More may be asked for than the drive can do: no warning about that.
        """


StateRole = Literal["uses", "prepares", "amends", "freshens", "begins"]
"""What a step is to the drive's state: it prepares it, amends what was prepared, makes the drive fresh, or
begins a stretch of steps that belong together."""


class Facts(BaseModel):
    """What a step found or set, beside what it measured, as it is read back from the journal.

    Any step may depart from what was asked. Fields that only a newer ssdlab has are kept.
    """

    model_config = ConfigDict(frozen=True, extra="allow")

    departures: tuple[Departure, ...] = ()


class Verb(Frozen):
    """A step, asked for: its arguments, and all that follows from what it does."""

    model_config = ConfigDict(extra="ignore")

    verb: ClassVar[str]
    """Its name, in journals and plans."""
    policy: ClassVar[Policy] = "restart"
    """What an interruption means, unless the procedure says otherwise."""
    state: ClassVar[StateRole] = "uses"
    planned_once: ClassVar[bool] = False
    """What it takes is only known by doing it: what the plan found out holds while the run goes on."""
    omitted: ClassVar[frozenset[str]] = frozenset()
    """Arguments that the journal leaves out where they are the default."""

    @property
    def work(self) -> Workload | None:
        """The workload that it runs; None of a step without."""
        return None

    @property
    def keeps_parts(self) -> bool:
        """Whether what an attempt cut short has done can be continued."""
        return self.work is not None

    @property
    def marks(self) -> bool:
        """Whether it keeps the drive's state for a step that `returns_to` it."""
        return False

    @property
    def returns_to(self) -> int | None:
        """Ordinal of the step whose state it brings the drive back to."""
        return None

    def stored(self) -> dict[str, JsonValue]:
        """Return the arguments as the journal keeps them."""
        plain: dict[str, JsonValue] = self.model_dump(mode="json")
        fields = type(self).model_fields
        return {
            name: value
            for name, value in plain.items()
            if name not in self.omitted or getattr(self, name) != fields[name].default
        }

    def check(self, policy: Policy) -> None:
        """Refuse a policy that could not be kept."""

    def plan(self, planning: Planning) -> Planned:
        """Return what the step will take; by default it only reads or writes a record."""
        del planning
        return Planned()

    def effects(self) -> tuple[str, ...]:
        """Return what reaches the drive, in phrases: ``flushes the drive's cache``."""
        return ()

    def do(self, at: StepContext) -> StepResult:
        """Do the step. Its `seconds` are set by who calls."""
        del at
        return StepResult(seconds=0.0)

    def redo(self, at: StepContext) -> None:
        """Do a finished step once more, for the state that it leaves."""
        self.do(at)

    def read_back(self, at: StepContext, result: StepResult) -> None:
        """Bring about, in a later session, what does not outlive the one that did the step."""

    @classmethod
    def describe(cls, step: Step) -> str | None:
        """Return in words what a finished step found; None where there is nothing to say."""
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
    "stretch": "ssdlab.lab.verbs.drive_state:Stretch",
    "fork": "ssdlab.lab.verbs.drive_state:Fork",
    "marks": "ssdlab.lab.verbs.resting:PowerMarks",
    "back": "ssdlab.lab.verbs.drive_state:Back",
}
"""By name: module and class."""
_MEASURING = frozenset({"run", "fill", "precondition", "one-pass"})
"""They say nothing beside what they measured: to show a run, none of them is loaded."""


def verb_named(name: str) -> type[Verb] | None:
    """Return the class of a verb; None of one that another package brings."""
    if name not in VERBS:
        return None
    module, kind = VERBS[name].split(":")
    found: type[Verb] = getattr(import_module(module), kind)
    return found


def describe_step(step: Step) -> str | None:
    """Return in words what a finished step yielded, beside what it measured; None where there is nothing.

    What a verb of another package has to say is in its facts.
    """
    verb = None if step.verb in _MEASURING else verb_named(step.verb)
    return None if verb is None else verb.describe(step)


_NAME = re.compile(r"[a-z0-9]{1,40}([-_][a-z0-9]{1,40}){0,9}")
_OURS = "ssdlab."


def check_verb(asked: Verb) -> None:
    """Refuse what is no verb, or cannot be journalled or shown.

    Raises
    ------
    Unfit
        With what is wrong.
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
    """Return what a step will take, by its verb.

    Raises
    ------
    Unfit
        It says something else.
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
    """Do a step, and return what it yielded.

    Raises
    ------
    Unfit
        That is something else, or cannot be journalled.
    """
    result = asked.do(at)
    if type(asked).__module__.startswith(_OURS):
        return result
    kind = f"{type(asked).__name__}.do"
    if not isinstance(result, StepResult):
        raise Unfit(f"{kind} gave a {type(result).__name__}, not a StepResult", asked.do)
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
