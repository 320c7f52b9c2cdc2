"""Command-line flags from the fields of a model, so that each option is defined once."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from pathlib import Path
from types import GenericAlias
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, get_args

from cyclopts import Parameter

from ssdlab.cli.naming import of_option
from ssdlab.model.frozen import marks

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo

    from ssdlab.model.frozen import Frozen

_Model = TypeVar("_Model", bound="Frozen")


def takes(
    *models: type[Frozen], several: tuple[str, ...] = ()
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Give a command one flag for each field of `models`, in place of its ``**options``.

    Flags are handed over as the user wrote them: the model reads text with units, checks it and says what
    is wrong. A flag that was not given is not handed over. Those named in `several` may be given several
    times, and come as a tuple.
    """

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        own = inspect.signature(command, eval_str=True)
        kept = [each for each in own.parameters.values() if each.kind is not inspect.Parameter.VAR_KEYWORD]
        flags = [_flag(name, field, name in several) for model in models for name, field in own_first(model)]

        def with_flags(*args: Any, **given: Any) -> Any:  # noqa: ANN401 - the command's own
            return command(*args, **given)

        with_flags.__name__, with_flags.__doc__ = command.__name__, command.__doc__
        with_flags.__signature__ = inspect.Signature(_ordered(kept, flags))  # type: ignore[attr-defined]
        return with_flags

    return decorate


def chosen(model: type[_Model], options: Mapping[str, Any]) -> _Model:
    """Return what the flags of `model` say among all that a command was given.

    Raises
    ------
    UsageError
        A value does not fit.
    """
    words = {field.alias or name for name, field in model.model_fields.items()}
    given = {word: value for word, value in options.items() if word in words and value not in (None, False)}
    with of_option(*(f"--{word.replace('_', '-')}" for word in words), ""):
        return model(**given)


def flag_line(name: str, field: FieldInfo) -> tuple[str, str]:
    """Return a field as a flag with what it takes, and its line of help: ``--size SIZE``."""
    word = (field.alias or name).replace("_", "-")
    takes_value = "" if field.annotation is bool else f" {_metavar(field)}"
    return f"--{word}{takes_value}", _help(field)


def own_first(model: type[Frozen]) -> list[tuple[str, FieldInfo]]:
    """Return the fields of a model; those that others have too come last."""
    return sorted(model.model_fields.items(), key=lambda item: item[0] not in model.__annotations__)


def _ordered(kept: list[inspect.Parameter], flags: list[inspect.Parameter]) -> list[inspect.Parameter]:
    positional = [each for each in kept if each.kind is not inspect.Parameter.KEYWORD_ONLY]
    return positional + flags + [each for each in kept if each.kind is inspect.Parameter.KEYWORD_ONLY]


def _flag(name: str, field: FieldInfo, several: bool = False) -> inspect.Parameter:
    word = field.alias or name
    switch = field.annotation is bool
    kind: Any = bool if switch else _text(_metavar(field)) | None
    default: Any = False if switch else None
    if several:
        kind, default = GenericAlias(tuple, (_text(_metavar(field)), ...)), ()
    return inspect.Parameter(
        word,
        inspect.Parameter.KEYWORD_ONLY,
        default=default,
        annotation=Annotated[
            kind,
            Parameter(
                name=f"--{word.replace('_', '-')}",
                help=_sentence(_help(field)),
                show_default=False,
                accepts_keys=False,
                negative=() if several else None,
            ),
        ],
    )


def _help(field: FieldInfo) -> str:
    text = field.description or ""
    plain = isinstance(field.default, str | int) and not isinstance(field.default, bool)
    if plain and "[default" not in text:
        text += f" [default: {field.default}]"
    return text


def _sentence(text: str) -> str:
    """Return a description as the help has it, beside those of docstrings; a value it begins with stays."""
    text, bracket, default = text.partition(" [default")
    first, _, rest = text.partition(" ")
    if not first.endswith(":") and not rest.startswith("("):
        text = text[:1].upper() + text[1:]
    return f"{text.rstrip('.')}.{bracket}{default}"


def _metavar(field: FieldInfo) -> str:
    for mark in marks(field.annotation, field.metadata):
        return mark.word
    inner = {part for part in (field.annotation, *get_args(field.annotation)) if isinstance(part, type)}
    words = {int: "N", float: "NUMBER", Path: "FILE"}
    return next((word for of, word in words.items() if of in inner), "NAME")


def _text(metavar: str) -> Any:  # noqa: ANN401 - a class
    """Return a kind of text that the help calls `metavar`: it prints the class's name."""
    return type(metavar, (str,), {})
