"""Methods: prose, parameters, a procedure that uses the lab's verbs, and a pure conclusion.

A method may also return warnings, and departures from its source.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, cast

from pydantic import BeforeValidator, Field, JsonValue

from ssdlab.model import units
from ssdlab.model.errors import unknown
from ssdlab.model.frozen import NamedOptions
from ssdlab.model.limits import DURATION_NS
from ssdlab.results.schema import MethodInfo, ParameterInfo

if TYPE_CHECKING:
    from ssdlab.lab.lab import Lab
    from ssdlab.results.kind import ResultKind
    from ssdlab.results.records import VoidedWrites
    from ssdlab.results.run_folder import Step, VoidedAttempt
    from ssdlab.results.schema import Departure, Manifest, ResultBase, Warned
    from ssdlab.results.tables import Columns


def _seconds(value: object) -> object:
    return units.parse_duration(value) / units.NS_PER_S if isinstance(value, str) else value


Seconds = Annotated[float, BeforeValidator(_seconds), Field(le=DURATION_NS / units.NS_PER_S)]
"""A time in seconds, up to the maximum duration of ssdlab; text such as `90s` or `2min` is also accepted."""


def rising(values: tuple[int, ...]) -> tuple[int, ...]:
    """Return values such as depths or sizes; raise ValueError unless they increase."""
    if any(later <= earlier for earlier, later in pairwise(values)):
        raise ValueError("the values must increase, without repeats")
    return values


def param(
    default: Any,  # noqa: ANN401 - of the field's own type
    reason: str,
    *,
    unit: str = "",
    quick: Any = None,  # noqa: ANN401
    points: Literal["each", "all"] | None = None,
    **bounds: Any,  # noqa: ANN401 - those of pydantic's Field
) -> Any:  # noqa: ANN401 - as Field itself
    """Define a parameter: default, reason, unit, bounds, and a quick preset if it differs.

    Set `points` if the parameter lists the points of a sweep; `ParameterInfo.points` explains the values.
    """
    extra: dict[str, JsonValue] = {
        "unit": unit,
        "quick": default if quick is None else quick,
        "points": points,
    }
    return Field(default, description=reason, json_schema_extra=extra, **bounds)


class Params(NamedOptions):
    """Base class of method parameters."""

    noun: ClassVar[str] = "parameter"
    absolute: ClassVar[frozenset[str]] = frozenset()
    """Parameters that are times of the drive itself, such as a rest. A scaled-down drive keeps them."""

    @property
    def write_cache(self) -> str | None:
        """The write cache setting that the method requires: on or off; None: any."""
        return None

    @classmethod
    def build(cls, settings: Mapping[str, str] | None = None, *, quick: bool = False) -> Params:
        """Return a run's parameters: the defaults or quick presets, as changed by `--set`.

        Raises
        ------
        UsageError
            A name is unknown (the error suggests the nearest), or a value is invalid.
        """
        values: dict[str, Any] = {name: _info(cls, name).quick for name in cls.model_fields} if quick else {}
        for name, text in (settings or {}).items():
            if name not in cls.model_fields:
                raise unknown("parameter", name, cls.model_fields)
            listed = isinstance(cls.model_fields[name].default, tuple)
            values[name] = tuple(part.strip() for part in text.split(",") if part.strip()) if listed else text
        return cls.model_validate(values)

    @classmethod
    def table(cls) -> tuple[ParameterInfo, ...]:
        """Return every parameter with unit, reason, default and quick preset."""
        return tuple(_info(cls, name) for name in cls.model_fields)


def _info(model: type[Params], name: str) -> ParameterInfo:
    definition = model.model_fields[name]
    extra = definition.json_schema_extra
    assert isinstance(extra, dict)  # made by `param`
    return ParameterInfo(
        name=name,
        unit=str(extra["unit"]),
        reason=definition.description or "",
        default=_plain(definition.default),
        quick=_plain(extra["quick"]),
        points=cast("Any", extra["points"]),
    )


def _plain(value: Any) -> JsonValue:  # noqa: ANN401 - of the field's own type
    return list(value) if isinstance(value, tuple) else value


INTERFACE = 3
"""Version of `ssdlab.plugin`. It increases with each change that packages must follow."""


__all__ = ["Method", "Params", "RunData", "Seconds", "param", "rising"]


def _not_given(step: Step) -> Columns:
    raise ValueError(f"the tables of {step.label!r} were not given to the conclusion")


@dataclass(frozen=True)
class RunData:
    """The input of a conclusion: the finished steps, and facts about the drive.

    Attributes
    ----------
    voided
        Bytes written by voided attempts; empty if the drive's state was restored after them.
    rows
        Function that reads a step's interval rows, with the columns `tables.SERIES_COLUMNS`.
    buckets
        Function that reads a step's histogram buckets, with the columns `tables.HIST_COLUMNS`.
    row_buckets
        Function that reads the buckets of each interval row; a long step has many.
    ios
        Function that reads a step's single I/Os, for streams that log them, with the columns
        `tables.IO_COLUMNS`.
    """

    steps: tuple[Step, ...]
    capacity_bytes: int
    logical_block_bytes: int
    quick: bool = False
    voided: tuple[VoidedWrites, ...] = ()
    rows: Callable[[Step], Columns] = field(default=_not_given, compare=False)
    buckets: Callable[[Step], Columns] = field(default=_not_given, compare=False)
    row_buckets: Callable[[Step], Columns] = field(default=_not_given, compare=False)
    ios: Callable[[Step], Columns] = field(default=_not_given, compare=False)

    def step(self, label: str) -> Step | None:
        """Return the measured step with a label; None if there is none."""
        return next((s for s in self.steps if s.label == label and s.result.measurement is not None), None)

    def tried(self, search: str) -> list[Step]:
        """Return the steps in which the named search tried a value, in order."""
        return [step for step in self.steps if step.tried is not None and step.tried.search == search]

    @property
    def written_bytes(self) -> int:
        """Bytes written by the run, including voided attempts."""
        done = sum(step.written_bytes for step in self.steps)
        return done + sum(each.written_bytes for each in self.voided)

    def written_before(self, step: Step) -> int:
        """Return the bytes that the run wrote before a step, including voided attempts."""
        at = (step.place, step.ordinal)
        done = [each.written_bytes for each in self.steps if (each.place, each.ordinal) < at]
        return sum(done) + sum(each.written_bytes for each in self.voided if each.place < step.place)


@dataclass(frozen=True)
class RunFacts:
    """A finished run, from its journal and manifest.

    Attributes
    ----------
    manifest
        Manifest with drive, environment, variant and sessions, but without result, departures and warnings.
    data
        The finished steps that count, and the drive's properties at the end of the run.
    voided
        Interrupted attempts, and repeated preparations.
    result
        The result that the method concluded.
    """

    manifest: Manifest
    data: RunData
    voided: tuple[VoidedAttempt, ...]
    result: ResultBase


@dataclass(frozen=True)
class Remarks:
    """A run's departures from its method, and warnings about its figures."""

    departures: tuple[Departure, ...] = ()
    warnings: tuple[Warned, ...] = ()


def no_remarks(facts: RunFacts, params: Any) -> Remarks:  # noqa: ANN401 - the method's own Params
    """Return no remarks; remarks that steps recorded are kept in any case."""
    del facts, params
    return Remarks()


def _never(params: Any) -> bool:  # noqa: ANN401 - the method's own Params
    del params
    return False


@dataclass(frozen=True)
class Method:
    """A review method.

    Attributes
    ----------
    name, version
        The version increases with every change that could affect a figure.
    title
        Name of the method in headings.
    params
        Class of its parameters.
    procedure
        Function that calls the lab's verbs, its only access to the drive.
    conclude
        Function that returns the Result from the finished steps. It is pure, so that an old run can be
        concluded again.
    writes
        Function that returns whether a run with these parameters writes to the drive.
    needs
        Drive states that it requires, in words, such as ``span written``.
    conditions
        Settings that it requires; a deviation becomes a departure.
    engine
        Engine of most of its I/O on a real drive, unless a parameter sets it.
    remarks
        Pure function that returns departures and warnings that only the whole run shows. Steps record their
        own.
    asks_drive
        Whether it needs features that files and RAM devices lack; a run on these is refused.
    reads_unwritten
        Whether it reads unwritten blocks, as its source does. Otherwise a simulated drive refuses such reads.
    own_steps
        Number of leading steps that the user did not ask for; step numbers shown to the user leave them out.
    result
        Kind of its Result, which reads and shows it; None: one of ssdlab's kinds.
    interface
        Version of `ssdlab.plugin` for which it was written.
    package
        Name and version of its package, set on loading; empty: ssdlab.
    """

    name: str
    version: int
    title: str
    params: type[Params]
    procedure: Callable[[Lab, Any], None]
    conclude: Callable[[RunData, Any], ResultBase]
    writes: Callable[[Any], bool] = _never
    needs: tuple[str, ...] = ()
    conditions: dict[str, str] = field(default_factory=dict)
    engine: Literal["sync", "uring"] = "sync"
    remarks: Callable[[RunFacts, Any], Remarks] = no_remarks
    asks_drive: bool = False
    reads_unwritten: bool = False
    own_steps: int = 0
    result: ResultKind[Any] | None = None
    interface: int = INTERFACE
    package: str = ""

    @property
    def prose(self) -> str:
        """The method's prose: the docstring of the module that defines its parameters."""
        return inspect.cleandoc(sys.modules[self.params.__module__].__doc__ or "")

    def info(self, params: Params | None = None) -> MethodInfo:
        """Return the method's entry in a manifest; `destructive` depends on the parameters."""
        return MethodInfo(
            name=self.name,
            version=self.version,
            title=self.title,
            prose=self.prose,
            destructive=self.writes(params if params is not None else self.params()),
            needs=self.needs,
            conditions=self.conditions,
            parameters=self.params.table(),
        )
