"""What a method is: prose, parameters, a procedure over the lab's verbs, and a pure conclusion.

Beside its result it may say where a finished run departs from its source, and what to be warned of.
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
"""A time in seconds, no longer than any may be; text such as `90s` or `2min` is understood."""


def rising(values: tuple[int, ...]) -> tuple[int, ...]:
    """Check that values rise; for lists of depths and sizes."""
    if any(later <= earlier for earlier, later in pairwise(values)):
        raise ValueError("the values must rise, each only once")
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
    """Define one parameter: default, reason, unit, the value under `--quick` if it differs, bounds.

    `points`: it lists points, of which a run may have more than are wanted; see `ParameterInfo`.
    """
    extra: dict[str, JsonValue] = {
        "unit": unit,
        "quick": default if quick is None else quick,
        "points": points,
    }
    return Field(default, description=reason, json_schema_extra=extra, **bounds)


class Params(NamedOptions):
    """Base of every method's parameters."""

    noun: ClassVar[str] = "parameter"
    absolute: ClassVar[frozenset[str]] = frozenset()
    """Times that mean the drive's own, such as a rest: where others go with the scale of a simulated drive,
    they stay."""

    @property
    def write_cache(self) -> str | None:
        """What the method asks of the drive's write cache: on or off; None: it takes it as it is."""
        return None

    @classmethod
    def build(cls, settings: Mapping[str, str] | None = None, *, quick: bool = False) -> Params:
        """Return the parameters of a run: defaults or quick presets, then what was set by `--set`.

        Raises
        ------
        UsageError
            A name that does not exist (with the nearest), or a value that does not fit.
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


INTERFACE = 2
"""Of `ssdlab.plugin`: rises with what a package would have to change for."""


__all__ = ["Method", "Params", "RunData", "Seconds", "param", "rising"]


def _not_given(step: Step) -> Columns:
    raise ValueError(f"the tables of {step.label!r} were not given to the conclusion")


@dataclass(frozen=True)
class RunData:
    """What a conclusion may look at: the finished steps, and the facts of the drive that bear on them.

    Attributes
    ----------
    rows
        Gives the interval rows of a finished step, as `tables.SERIES_COLUMNS`; read when asked for.
    buckets
        Likewise its histogram buckets, as `tables.HIST_COLUMNS`.
    row_buckets
        Likewise those of each interval row: many, of a long step.
    ios
        Likewise its single I/Os, of streams that log them, as `tables.IO_COLUMNS`.
    voided
        What attempts that do not count have written. None of a drive whose state goes back with them.
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
        """Return the measured step of that label, if there is one."""
        return next((s for s in self.steps if s.label == label and s.result.measurement is not None), None)

    def tried(self, search: str) -> list[Step]:
        """Return the steps in which a search tried a value, in their order."""
        return [step for step in self.steps if step.tried is not None and step.tried.search == search]

    @property
    def written_bytes(self) -> int:
        """What the run has written, by attempts that do not count too."""
        done = sum(step.written_bytes for step in self.steps)
        return done + sum(each.written_bytes for each in self.voided)

    def written_before(self, step: Step) -> int:
        """Return what the run had written when a step began, by attempts that do not count too."""
        at = (step.place, step.ordinal)
        done = [each.written_bytes for each in self.steps if (each.place, each.ordinal) < at]
        return sum(done) + sum(each.written_bytes for each in self.voided if each.place < step.place)


@dataclass(frozen=True)
class RunFacts:
    """A finished run as its journal and manifest tell it.

    Attributes
    ----------
    manifest
        With drive, environment, variant and sessions; its result, departures and warnings are still to come.
    data
        The finished steps that count, and the drive as it was at the end.
    voided
        Attempts that were cut short, and preparations done again.
    result
        What the method concluded.
    """

    manifest: Manifest
    data: RunData
    voided: tuple[VoidedAttempt, ...]
    result: ResultBase


@dataclass(frozen=True)
class Remarks:
    """Where a run departs from its method, and what should be known before its figures are used."""

    departures: tuple[Departure, ...] = ()
    warnings: tuple[Warned, ...] = ()


def no_remarks(facts: RunFacts, params: Any) -> Remarks:  # noqa: ANN401 - the method's own Params
    """Remark nothing: what the steps recorded is all there is to say."""
    del facts, params
    return Remarks()


def _never(params: Any) -> bool:  # noqa: ANN401 - the method's own Params
    del params
    return False


@dataclass(frozen=True)
class Method:
    """One review method.

    Attributes
    ----------
    name, version
        The version rises with every change that could change a number.
    title
        For headings.
    params
        Its parameters.
    procedure
        What is done to the drive, by the lab's verbs only.
    conclude
        The Result from the finished steps; pure, so that an old run can be concluded again.
    writes
        Whether a run with these parameters writes to the drive.
    needs
        The state the drive must be in.
    conditions
        The settings it requires; what is otherwise becomes a departure.
    engine
        What issues most of its I/O on a real drive, where that is no parameter.
    remarks
        Departures and warnings that only the whole run shows; pure. Those that steps record need none.
    asks_drive
        Whether it asks the drive for what files and devices in memory do not have: they are refused.
    reads_unwritten
        Whether its source has it read before every block was written; a simulated drive refuses that else.
    own_steps
        Steps at its beginning that are the run's and not the user's: who wrote the others counts from there.
    result
        The kind of its Result: who reads and shows it. None: one of ssdlab's own kinds.
    interface
        Version of `ssdlab.plugin` that it was written for.
    package
        Name and version of the package that brings it along, set as it is loaded; empty: ssdlab itself.
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
        """The method in prose: the docstring of the file that defines its parameters."""
        return inspect.cleandoc(sys.modules[self.params.__module__].__doc__ or "")

    def info(self, params: Params | None = None) -> MethodInfo:
        """Return the method as the manifest keeps it; `destructive` is that of the given parameters."""
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
