"""Makes command options from the fields of models, with their help, and names the option in errors."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import GenericAlias
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, get_args

from cyclopts import Group, Parameter

from ssdlab.model.errors import UsageError, excerpt
from ssdlab.model.frozen import FioName, Metavar, marks

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from cyclopts import Token
    from pydantic.fields import FieldInfo

    from ssdlab.model.frozen import Frozen


@contextmanager
def of_option(*options: str) -> Iterator[None]:
    """Name the option in an error about its value.

    Parameters
    ----------
    options
        The options as typed: ``--seconds``. If there are several, the error's fact `field` selects one.
    """
    try:
        yield
    except UsageError as error:
        option = options[0] if len(options) == 1 else _option_of(error, options)
        if option is not None:
            _name(error, option)
        raise


def _option_of(error: UsageError, options: Iterable[str]) -> str | None:
    """Return the option that an error is about, found by the error's fact `field`."""
    field = str(error.facts.get("field", "")).rpartition(" of ")[2]
    option = f"--{field.replace('_', '-')}"
    return option if field and option in options else None


def _name(error: UsageError, option: str) -> None:
    """Replace the field's name in an error by the option, or put the option before the sentence."""
    field = str(error.facts.get("field", ""))
    if option in error.what.split():
        return
    if field and error.what.startswith(f"{field} is "):
        whole = field.rpartition(" of ")[0]
        named = f"{whole} of {option}" if whole else option
        error.what = named + error.what.removeprefix(field)
        if error.advice.startswith(f"{field}: "):
            error.advice = option + error.advice.removeprefix(field)
    else:
        error.what = f"{option}: {error.what.removeprefix(f'{field}: ') if field else error.what}"


def whole_number(minimum: int, maximum: int) -> Callable[[object, Sequence[Token]], int]:
    """Return a converter to whole numbers. The parser's own would round 1.5 to 2 and accept 0x10."""

    def read(_: object, tokens: Sequence[Token]) -> int:
        given = tokens[0].value
        try:
            number = int(given) if given.isascii() and given.lstrip("-").isdigit() else None
        except ValueError:  # more digits than int() accepts
            number = None
        option = tokens[0].keyword or "the number"
        if number is None:
            raise UsageError(
                f"{option} is {excerpt(given)!r}, not a whole number",
                f"give {minimum} to {maximum}",
                given=excerpt(given),
            )
        if not minimum <= number <= maximum:
            raise UsageError(
                f"{option} is {excerpt(given)}, out of range",
                f"give {minimum} to {maximum}",
                given=excerpt(given),
            )
        return number

    return read


def _times(_: object, tokens: Sequence[Token]) -> float:
    """Convert a load factor, the N of Nx."""
    given = tokens[0].value
    number = float(given) if re.fullmatch(r"[0-9]{1,9}([.][0-9]{1,9})?", given) else 0.0
    if not 0 < number <= _MAX_TIMES:
        raise UsageError(
            f"{tokens[0].keyword or 'the number'} is {excerpt(given)!r}, not a load factor",
            f"give a number above 0, up to {_MAX_TIMES}: 30, or 0.5",
            given=excerpt(given),
        )
    return int(number) if number.is_integer() else number


_MAX_TIMES = 1_000_000
Times = Annotated[float, Parameter(metavar="N", converter=_times, n_tokens=1)]
Count = Annotated[int, Parameter(metavar="N", converter=whole_number(1, 1_000_000), n_tokens=1)]
Amount = Annotated[int | None, Parameter(metavar="COUNT", converter=whole_number(0, 1_000_000), n_tokens=1)]
Port = Annotated[int | None, Parameter(metavar="PORT", converter=whole_number(0, 65_535), n_tokens=1)]
Share = Annotated[str | None, Parameter(metavar="CAP")]
Time = Annotated[str | None, Parameter(metavar="TIME")]
DriveText = Annotated[str | None, Parameter(metavar="DRIVE")]
RunText = Annotated[str | None, Parameter(metavar="RUN")]
Identifier = Annotated[str | None, Parameter(metavar="ID")]
Serials = Annotated[tuple[str, ...], Parameter(metavar="SERIAL")]
Identifiers = Annotated[tuple[str, ...], Parameter(metavar="ID")]
Rack = Annotated[str | None, Parameter(metavar="RACK")]
Host = Annotated[str | None, Parameter(metavar="HOST")]
DriveTexts = Annotated[tuple[str, ...], Parameter(metavar="DRIVE")]
Name = Annotated[str, Parameter(metavar="NAME")]
Settings = Annotated[tuple[str, ...], Parameter(name="--set", metavar="NAME=VALUE")]
Library = Annotated[
    Path | None,
    Parameter(
        metavar="FOLDER",
        help="Folder of runs. [default: $SSDLAB_LIBRARY, else library in config.toml, else "
        "~/.local/share/ssdlab/runs]",
    ),
]
Rig = Annotated[
    Path | None,
    Parameter(
        metavar="FILE",
        help="File that describes the test platform. [default: that of config.toml, or rig.toml beside it]",
    ),
]

_HEADINGS = {
    "Method": "set only quick repeat beside fail_if require_steady probe",
    "I/O": "rw read_pct bs pattern write_bs write_pattern span compressible dsync fsync fdatasync buffered",
    "Load": "threads depth engine batch arrival rate backlog think poll cpus numa",
    "Time": "seconds time_based bytes ramp interval",
    "Drive": "size precondition spare usable power_limit write_cache lba_format allow_unwritten",
    "Safety": "destroy wipe_signatures endurance_cap on_error dry_run",
    "Record and output": "library save run_id seed rig meter log_ios fio json",
}
"""Groups of options in the help of long commands, in order; other options follow."""
_GROUPS = {
    word: Group(heading, sort_key=place)
    for place, (heading, words) in enumerate(_HEADINGS.items())
    for word in words.split()
}


_Model = TypeVar("_Model", bound="Frozen")


def takes(
    *models: type[Frozen], several: tuple[str, ...] = ()
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Give a command one flag for each field of `models`, in place of its ``**options``.

    The help lists these flags and the command's own options under headings. Flags are passed as the user
    typed them: the model parses units, checks values and reports errors. A flag that was not given is not
    passed. The flags named in `several` may be repeated, and arrive as a tuple.
    """

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        own = inspect.signature(command, eval_str=True)
        kept = [
            _under_heading(each)
            for each in own.parameters.values()
            if each.kind is not inspect.Parameter.VAR_KEYWORD
        ]
        flags = [_flag(name, field, name in several) for model in models for name, field in own_first(model)]

        def with_flags(*args: Any, **given: Any) -> Any:  # noqa: ANN401 - the command's own
            return command(*args, **given)

        with_flags.__name__, with_flags.__doc__ = command.__name__, command.__doc__
        with_flags.__signature__ = inspect.Signature(_ordered(kept, flags))  # type: ignore[attr-defined]
        return with_flags

    return decorate


def chosen(model: type[_Model], options: Mapping[str, Any]) -> _Model:
    """Return `model` with the values of its flags, selected from all options of a command.

    Raises
    ------
    UsageError
        A value is not valid.
    """
    words = {field.alias or name for name, field in model.model_fields.items()}
    given = {word: value for word, value in options.items() if word in words and value not in (None, False)}
    with of_option(*(f"--{word.replace('_', '-')}" for word in words), ""):
        return model(**given)


def _names(name: str, field: FieldInfo) -> tuple[str, ...]:
    """Return the names of a flag: ssdlab's, and fio's if it means the same."""
    return f"--{(field.alias or name).replace('_', '-')}", *(
        f"--{mark.word}" for mark in marks(field, FioName)
    )


def own_first(model: type[Frozen]) -> list[tuple[str, FieldInfo]]:
    """Return the fields of a model; those shared with other models come last."""
    return sorted(model.model_fields.items(), key=lambda item: item[0] not in model.__annotations__)


def _ordered(kept: list[inspect.Parameter], flags: list[inspect.Parameter]) -> list[inspect.Parameter]:
    positional = [each for each in kept if each.kind is not inspect.Parameter.KEYWORD_ONLY]
    return positional + flags + [each for each in kept if each.kind is inspect.Parameter.KEYWORD_ONLY]


def _under_heading(option: inspect.Parameter) -> inspect.Parameter:
    if option.name not in _GROUPS or option.kind is not inspect.Parameter.KEYWORD_ONLY:
        return option
    return option.replace(annotation=Annotated[option.annotation, Parameter(group=_GROUPS[option.name])])


def _flag(name: str, field: FieldInfo, several: bool = False) -> inspect.Parameter:
    word = field.alias or name
    switch = field.annotation is bool
    kind: Any = bool if switch else _text(_metavar(field)) | None
    default: Any = False if switch else None
    if several:
        kind, default = GenericAlias(tuple, (_text(_metavar(field)), ...)), ()
    names = _names(name, field)
    return inspect.Parameter(
        word,
        inspect.Parameter.KEYWORD_ONLY,
        default=default,
        annotation=Annotated[
            kind,
            Parameter(
                name=names,
                converter=_typed if len(names) > 1 else None,
                help=_sentence(_help(field)),
                show_default=False,
                accepts_keys=False,
                group=_GROUPS.get(word),
            ),
        ],
    )


class Typed(str):
    """The value of an option with several names, and the name that the user typed."""

    option: str


def _typed(_: object, tokens: Sequence[Token]) -> Typed:
    text = Typed(tokens[0].value)
    text.option = tokens[0].keyword or ""
    return text


def _help(field: FieldInfo) -> str:
    text = field.description or ""
    plain = isinstance(field.default, str | int) and not isinstance(field.default, bool)
    if plain and "[default" not in text:
        text += f" [default: {field.default}]"
    return text


def _sentence(text: str) -> str:
    """Return a field's description as a help sentence: capitalised, unless it starts with a value."""
    text, bracket, default = text.partition(" [default")
    first, _, rest = text.partition(" ")
    if not first.endswith(":") and not rest.startswith("("):
        text = text[:1].upper() + text[1:]
    return f"{text.rstrip('.')}.{bracket}{default}"


def _metavar(field: FieldInfo) -> str:
    for mark in marks(field, Metavar):
        return mark.word
    inner = {part for part in (field.annotation, *get_args(field.annotation)) if isinstance(part, type)}
    words = {int: "N", float: "NUMBER", Path: "FILE"}
    return next((word for of, word in words.items() if of in inner), "NAME")


def _text(metavar: str) -> Any:  # noqa: ANN401 - a class
    """Return a subclass of `str` named `metavar`: the help prints the class's name."""
    return type(metavar, (str,), {})
