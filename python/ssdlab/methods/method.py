"""What a method is: prose, parameters, a procedure over the lab's verbs, and a pure conclusion."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field, JsonValue

from ssdlab import units
from ssdlab.errors import unknown
from ssdlab.methods.remarks import Remarks, RunFacts, no_remarks
from ssdlab.model import Frozen
from ssdlab.results.schema import MethodInfo, ParameterInfo

if TYPE_CHECKING:
    from ssdlab.lab import Lab
    from ssdlab.results.run_folder import Step
    from ssdlab.results.schema import ResultBase
    from ssdlab.results.tables import Columns


def _seconds(value: object) -> object:
    return units.parse_duration(value) / units.NS_PER_S if isinstance(value, str) else value


Seconds = Annotated[float, BeforeValidator(_seconds)]
"""A time in seconds; text such as `90s` or `2min` is understood."""


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
    **bounds: Any,  # noqa: ANN401 - those of pydantic's Field
) -> Any:  # noqa: ANN401 - as Field itself
    """Define one parameter: default, reason, unit, the value under `--quick` if it differs, bounds."""
    extra: dict[str, JsonValue] = {"unit": unit, "quick": default if quick is None else quick}
    return Field(default, description=reason, json_schema_extra=extra, **bounds)


class Params(Frozen):
    """Base of every method's parameters."""

    noun: ClassVar[str] = "parameter"

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
    )


def _plain(value: Any) -> JsonValue:  # noqa: ANN401 - of the field's own type
    return list(value) if isinstance(value, tuple) else value


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
    """

    steps: tuple[Step, ...]
    capacity_bytes: int
    logical_block_bytes: int
    quick: bool = False
    rows: Callable[[Step], Columns] = field(default=_not_given, compare=False)
    buckets: Callable[[Step], Columns] = field(default=_not_given, compare=False)
    row_buckets: Callable[[Step], Columns] = field(default=_not_given, compare=False)
    ios: Callable[[Step], Columns] = field(default=_not_given, compare=False)

    def step(self, label: str) -> Step | None:
        """Return the measured step of that label, if there is one."""
        return next((s for s in self.steps if s.label == label and s.result.measurement is not None), None)


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
