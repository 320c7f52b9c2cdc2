"""What the parser of the command line (cyclopts) finds wrong, in our two lines: by class, not by wording."""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import Enum
from inspect import Parameter, signature
from itertools import pairwise
from typing import Any, Literal, get_args, get_origin

from cyclopts import exceptions

from ssdlab.cli.commands import COMMANDS
from ssdlab.cli.fio_names import of_fio
from ssdlab.model.errors import UsageError, excerpt, nearest, unknown
from ssdlab.model.units import and_listed

_NEVER_GUESSED = ("-destroy", "-wipe-signatures")
"""Ends of options, negative forms among them: who meant another must not be led to the loss of data."""
_NEARLY = 0.7
"""Of `nearest`: one letter in three may be another. At one half fio's --numjobs is like --numa."""
_KINDS: dict[Any, str] = {int: "whole number", float: "number", bool: "yes or no"}


def usage_error(error: exceptions.CycloptsError) -> UsageError:
    """Return what the parser found wrong as an error of ours."""
    chain = [word for word in error.command_chain or () if word != "ssdlab"]
    see = f"see `{' '.join(['ssdlab', *chain, '--help'])}`"
    match error:
        case exceptions.UnknownCommandError():
            return _unknown_command(error, chain, see)
        case exceptions.UnknownOptionError():
            return _unknown_option(error, chain, see)
        case exceptions.ConsumeMultipleError():
            pass
        case exceptions.MissingArgumentError():
            return _missing(error, see)
        case exceptions.RepeatArgumentError():
            option = error.token.keyword or error.token.value
            return UsageError(f"{option} is given more than once", f"give it once; {see}", parameter=option)
        case exceptions.UnusedCliTokensError():
            word = excerpt(" ".join(error.unused_tokens or ()))
            return UsageError(f"there is nothing that {word!r} could mean here", see, given=word)
        case exceptions.CoercionError():
            return _not_of_its_kind(error, see)
    text = " ".join(str(error).split()).rstrip(".") or "the command line cannot be read"
    return UsageError(text[:1].lower() + text[1:], see)


def _unknown_command(error: exceptions.UnknownCommandError, chain: list[str], see: str) -> UsageError:
    """Return the error for a command that is not there; the parser's own text would import every command."""
    word = next(iter(error.unused_tokens or ()), "")
    if word.startswith("-"):
        return UsageError(f"there is no option {excerpt(word)}", see, given=word, nearest=None)
    group = "".join(f"{name} " for name in chain)
    known = [name.removeprefix(group) for name in COMMANDS if name.startswith(group)]
    return unknown("command", word, dict.fromkeys(name.split()[0] for name in known), elsewhere=see)


def _unknown_option(error: exceptions.UnknownOptionError, chain: list[str], see: str) -> UsageError:
    word = error.token.keyword or error.token.value
    named = word.partition("=")[0]
    if chain == ["measure"] and (instead := of_fio(named)) is not None:
        return UsageError(
            f"there is no option {excerpt(named)}", f"{instead} ({see})", given=named, nearest=None
        )
    options = [name for each in error.argument_collection if each.parse for name in each.names]
    guess = _option_like(named, [name for name in options if not name.endswith(_NEVER_GUESSED)])
    if guess == "--read-pct" and "writ" in named.casefold():  # like it by its letters, and the reverse
        return UsageError(
            f"there is no option {excerpt(named)}",
            f"use --read-pct, the share of reads: 100 less that of writes ({see})",
            given=named,
            nearest=None,
        )
    advice = f"did you mean {guess}? ({see})" if guess else see
    return UsageError(f"there is no option {excerpt(named)}", advice, given=named, nearest=guess)


def _option_like(word: str, options: list[str]) -> str | None:
    """Return the long option that a word is nearly; the dashes, which all have, make none of them nearer."""
    names = {name.lstrip("-"): name for name in options if name.startswith("--")}
    guess = nearest(word.lstrip("-"), names, at_least=_NEARLY) if len(word) > 2 else None
    return None if guess is None else names[guess]


def _missing(error: exceptions.MissingArgumentError, see: str) -> UsageError:
    name = _name(error.argument, error.keyword)
    if error.keyword:
        if (given := _number_after(error.keyword, error.root_input_tokens or ())) is not None:
            return UsageError(f"{name}: {given!r} is negative", see, parameter=name, given=given)
        return UsageError(f"{name} needs a value", see, parameter=name)
    names = _needed(error) or [name]
    are = "is" if len(names) == 1 else "are"
    return UsageError(f"{and_listed(names)} {are} missing", see, parameter=name)


def _number_after(option: str, words: Sequence[str]) -> str | None:
    """Return the negative number that follows an option, which the parser takes for an option: ``-4k``."""
    after = [word for before, word in pairwise(words) if before == option]
    return next((excerpt(word) for word in after if re.match(r"-\.?\d", word)), None)


def _needed(error: exceptions.MissingArgumentError) -> list[str]:
    """Return all that a command needs where it was given nothing; else nothing."""
    words = len(error.command_chain or ())
    if error.target is None or len(error.root_input_tokens or ()) > words:
        return []
    names = []
    for each in signature(error.target).parameters.values():
        if each.kind is Parameter.VAR_POSITIONAL:
            names.append(each.name.removesuffix("s").upper())
        elif each.kind is not Parameter.VAR_KEYWORD and each.default is Parameter.empty:
            names.append(f"--{each.name}" if each.kind is Parameter.KEYWORD_ONLY else each.name.upper())
    return names


def _not_of_its_kind(error: exceptions.CoercionError, see: str) -> UsageError:
    token = error.token
    name = _name(error.argument, None if token is None else token.keyword)
    choices = _choices(error.target_type)
    given = "" if token is None else token.value
    if choices and token is not None:
        wrong = unknown(name.lstrip("-").lower(), given, choices)
        if name.startswith("-"):
            wrong.what = f"{name}: {wrong.what}"
        return wrong
    kind = _KINDS.get(error.target_type, "value that fits here")
    what = f"{name} is {excerpt(given)!r}, not a {kind}".replace("not a yes or no", "neither yes nor no")
    return UsageError(what, see, parameter=name, given=given)


def _choices(kind: object) -> list[str]:
    if get_origin(kind) is Literal:
        return [str(each) for each in get_args(kind)]
    return [each.name for each in kind] if isinstance(kind, type) and issubclass(kind, Enum) else []


def _name(argument: object, keyword: str | None) -> str:
    """Return what the user knows an argument by: the option as it was written, or the word in the help."""
    return keyword or str(getattr(argument, "name", "a word of the command"))
