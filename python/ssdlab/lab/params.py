"""What the parameters of a method are made of: each with its default, unit, reason and quick preset."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Annotated, Any, ClassVar

from pydantic import BeforeValidator, Field, JsonValue

from ssdlab.model import units
from ssdlab.model.errors import unknown
from ssdlab.model.frozen import NamedOptions
from ssdlab.model.limits import DURATION_NS
from ssdlab.results.schema import ParameterInfo


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
    **bounds: Any,  # noqa: ANN401 - those of pydantic's Field
) -> Any:  # noqa: ANN401 - as Field itself
    """Define one parameter: default, reason, unit, the value under `--quick` if it differs, bounds."""
    extra: dict[str, JsonValue] = {"unit": unit, "quick": default if quick is None else quick}
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
    )


def _plain(value: Any) -> JsonValue:  # noqa: ANN401 - of the field's own type
    return list(value) if isinstance(value, tuple) else value
