"""Base classes of all models: frozen and strict, with errors that say what to do."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Self, TypeVar, get_args

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError, field_validator, model_validator

from ssdlab.model import units
from ssdlab.model.errors import UsageError, excerpt, unknown

if TYPE_CHECKING:
    from pydantic import ModelWrapValidatorHandler, ValidationInfo, ValidatorFunctionWrapHandler
    from pydantic.fields import FieldInfo
    from pydantic_core import ErrorDetails


def _nanoseconds(value: object) -> object:
    return units.parse_duration(value) if isinstance(value, str) else value


_SINGLE_VALUES = ("str", "int", "float", "bool")
"""Types that pydantic appends to the location of an error if a field accepts several types."""
_ITEM = re.compile(r"^(item \d+ of )+")
_NOT_OF_KIND = {
    "bool_": "not true or false",
    "dict_": "not a table",
    "float_": "not a number",
    "int_": "not a whole number",
    "list_": "not a list",
    "model_": "not a table",
    "string_type": "not text",
    "string_pattern": "not in the required form",
    "tuple_": "not a list",
}
"""Words for pydantic's error types, by the beginning of their names."""


@dataclass(frozen=True)
class Metavar:
    """Placeholder for a value of this type in help texts."""

    word: str


@dataclass(frozen=True)
class FioName:
    """fio's name of an equivalent option, accepted as an alias."""

    word: str


Bytes = Annotated[int, BeforeValidator(units.parse_bytes), Metavar("SIZE")]
"""A size in bytes, or text such as ``"4k"``."""
Nanoseconds = Annotated[int, BeforeValidator(_nanoseconds), Metavar("TIME")]
"""A time in nanoseconds, or text such as ``"90s"``."""


class Frozen(BaseModel):
    """An immutable model. A wrong value raises `UsageError` with the field's name, value and bound."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, defer_build=True)

    noun: ClassVar[str] = ""
    """Name of a field in errors; by default "field of a" and the class's name."""

    @model_validator(mode="wrap")
    @classmethod
    def _typed(cls, value: Any, handler: ModelWrapValidatorHandler[Self]) -> Self:  # noqa: ANN401 - anything comes
        try:
            return handler(value)
        except ValidationError as error:
            raise usage_error(error, cls) from None


def usage_error(error: ValidationError, model: type[Frozen]) -> UsageError:
    """Return the first fault of a validation as an error that says what is wrong, and what to do."""
    fault = error.errors(include_url=False)[0]
    several = [tag for tag in fault["loc"][-1:] if tag in _SINGLE_VALUES]  # the field accepts several types
    place = _place(fault["loc"][: -1 if several else None])
    noun = model.noun or model.__name__.lower()
    fields = {field.alias or name: field for name, field in model.model_fields.items()}
    if fault["type"] == "extra_forbidden":
        return unknown(noun if model.noun else f"field of a {noun}", str(fault["loc"][-1]), fields)
    field = fields.get(str(fault["loc"][0])) if fault["loc"] else None
    meaning = f": {field.description}" if field is not None and field.description else ""
    if fault["type"] == "missing":
        whole = noun.removeprefix("entry of ")
        return UsageError(f"{whole} needs {place}", f"give {place}{meaning}", field=place)
    if fault["type"] == "literal_error" and isinstance(fault["input"], str):
        choices = re.findall(r"'([^']*)'", fault["ctx"]["expected"])
        wrong_choice = unknown(_ITEM.sub("", place), fault["input"], choices)
        wrong_choice.facts["field"] = place
        return wrong_choice
    if fault["type"] == "too_long":
        has, most = fault["ctx"]["actual_length"], fault["ctx"]["max_length"]
        what = f"{place} has {has} entries, more than {most}"
        return UsageError(what, f"{place}{meaning}", field=place)
    wrong = "not text, a number, true or false" if several else _fault_text(fault, field)
    return UsageError(
        f"{place or noun} is {_shown(fault['input'], field)}, {wrong}",
        f"{place or noun}{meaning}",
        field=place,
        given=units.shown(fault["input"]),
    )


_Mark = TypeVar("_Mark")


def marks(field: FieldInfo, kind: type[_Mark]) -> Iterator[_Mark]:
    """Return the marks of one kind, such as `Metavar`, in a field's annotation and metadata."""
    return _marks(field.annotation, field.metadata, kind)


def _marks(annotation: object, metadata: Iterable[object], kind: type[_Mark]) -> Iterator[_Mark]:
    yield from (mark for mark in metadata if isinstance(mark, kind))
    for part in get_args(annotation):
        yield from _marks(part, getattr(part, "__metadata__", ()), kind)


def _place(location: tuple[int | str, ...]) -> str:
    """Return a location within a model in words: ``item 2 of depths``, ``stop.ios``."""
    place = ""
    for part in location:
        if isinstance(part, int):
            place = f"item {part + 1} of {place}"
        else:
            place = f"{part} of {place}" if place.startswith("item ") else f"{place}.{part}".lstrip(".")
    return place


def _shown(value: object, field: FieldInfo | None) -> str:
    """Return a value as a user writes it, with the unit of its field."""
    if isinstance(value, str):
        return f"'{excerpt(value)}'"
    if isinstance(value, tuple) and all(isinstance(each, str | int | float) for each in value):
        return f"'{excerpt(','.join(map(str, value)))}'"
    words = {mark.word for mark in marks(field, Metavar)} if field is not None else set()
    if isinstance(value, int) and "TIME" in words:
        return units.duration_text(value)
    if isinstance(value, int) and "SIZE" in words:
        return units.block_text(value)
    return units.shown(value)


def _fault_text(fault: ErrorDetails, field: FieldInfo | None) -> str:
    """Return what is wrong with a value, as the end of a sentence."""
    context = fault.get("ctx", {})
    if fault["type"].endswith("too_short") and context.get("min_length") == 1:
        return "which is empty"
    if fault["type"] == "string_too_long":
        return f"longer than {context['max_length']} characters"
    for kind, words in _NOT_OF_KIND.items():
        if fault["type"].startswith(kind):
            return words
    bounds = {
        "greater_than_equal": ("ge", "below {}"),
        "greater_than": ("gt", "not above {}"),
        "less_than_equal": ("le", "above {}"),
        "less_than": ("lt", "not below {}"),
    }
    if fault["type"] in bounds:
        name, words = bounds[fault["type"]]
        return words.format(_shown(context[name], field))
    message = fault["msg"].removeprefix("Value error, ")
    return f"which is not valid: {message[0].lower()}{message[1:]}"


class Stored(BaseModel):
    """A frozen record; unknown fields are an error."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True, defer_build=True)


def absent(value: object) -> bool:
    """Return whether to omit a field from a stored record, since older records lack it when it is None."""
    return value is None


class NamedOptions(Frozen):
    """Options that add their names to errors of text parsers."""

    @field_validator("*", mode="wrap")
    @classmethod
    def _named(cls, value: object, handler: ValidatorFunctionWrapHandler, info: ValidationInfo) -> object:
        try:
            return handler(value)
        except UsageError as error:
            name = info.field_name or ""
            word = cls.model_fields[name].alias or name
            within = error.facts.get("field")
            if within is None or isinstance(value, str):  # users do not know the fields within a text
                error.what = f"{word}: {error.what}"
                error.advice = error.advice.removeprefix(f"{within}: ")
                error.facts["field"] = word
            raise
