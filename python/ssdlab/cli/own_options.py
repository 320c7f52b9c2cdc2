"""Advice in the words of the command that is running: options by its own definition, or by who has them.

An error is raised far below and names the option that is usual: `--rate` of `measure`. The same error may end
another command, which says it otherwise (a job's step has the key `rate`, a method the parameter `--set
rate=`) or not at all; then the commands that have the option are named. So they are where a command has the
option and not the value: `--precondition full` is of methods, `--precondition fill` of `measure`.
"""

from __future__ import annotations

import inspect
import re
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Literal, get_args, get_origin

from ssdlab.cli.commands import COMMANDS
from ssdlab.model.units import and_listed

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

_OPTION = re.compile(r"(?<![\w-])--(?P<name>[a-z][a-z0-9_-]*)(?: (?P<set>[a-z_]+)=(?P<space> ?))?")
_VALUE = re.compile(r" (?P<value>[a-z][a-z-]*)")
_ELSEWHERE = re.compile(r"ssdlab (?P<command>[a-z]+(?: [a-z]+)?)[^;:`]*$")


@cache
def options_of(command: str) -> frozenset[str]:
    """Return the options of a command without their hyphens in front, from its definition."""
    module, _, function = COMMANDS[command].place.partition(":")
    parameters = inspect.signature(getattr(import_module(module), function)).parameters.values()
    own = {each.name.replace("_", "-") for each in parameters if each.kind is inspect.Parameter.KEYWORD_ONLY}
    return frozenset({*own, "help"})


@cache
def choices_of(command: str, option: str) -> frozenset[str]:
    """Return the values that an option of a command takes, where they are a list; else nothing."""
    module, _, function = COMMANDS[command].place.partition(":")
    found = inspect.signature(getattr(import_module(module), function), eval_str=True)
    annotation: object = found.parameters[option.replace("-", "_")].annotation
    if command == "measure":  # its options are the fields of a model
        from ssdlab.model.options import MeasureOptions

        field = MeasureOptions.model_fields.get(option.replace("-", "_"))
        annotation = None if field is None else field.annotation
    return frozenset(_literals(annotation))


def _literals(annotation: object) -> Iterator[str]:
    """Yield the texts of every Literal in an annotation."""
    if get_origin(annotation) is Literal:
        yield from (each for each in get_args(annotation) if isinstance(each, str))
    else:
        for part in get_args(annotation):
            yield from _literals(part)


def command_of(words: Sequence[str]) -> str | None:
    """Return the command that the words of a command line call; None where they call none."""
    known = (name for name in COMMANDS if tuple(words[: name.count(" ") + 1]) == tuple(name.split()))
    return next(known, None)


def in_own_words(words: Sequence[str], advice: str) -> str:
    """Return advice as the command that was called can take it.

    Parameters
    ----------
    words
        Of the command line.
    advice
        May name options, and other commands with theirs: those stay.
    """
    command = command_of(words)
    if command is None or "--" not in advice:
        return advice
    lacking: list[str] = []

    def own(found: re.Match[str]) -> str:
        name, parameter = found["name"], found["set"]
        if _elsewhere(advice[: found.start()]):
            return found.group()
        if name in options_of(command):
            value = _VALUE.match(advice, found.end())
            if value is not None and not _takes(command, name, value["value"]):
                lacking.append(f"{name} {value['value']}")
            return found.group()
        if name == "set" and parameter is not None and parameter in options_of(command):
            return f"--{parameter} "
        if name == "set" and parameter is not None and command == "job":
            return f"{parameter}="
        if name.replace("-", "_") in _parameters(command, words):
            key = name.replace("-", "_")
            return key if command == "job" else f"--set {key}"
        if name not in lacking and any(name in options_of(other) for other in COMMANDS):
            lacking.append(name)
        return found.group()

    text = _OPTION.sub(own, advice)
    having: dict[str, list[str]] = {}
    for name in lacking:
        having.setdefault(_who_has(name), []).append(f"--{name}")
    return "; ".join([text, *(_options_of(names, who) for who, names in having.items())])


def _elsewhere(before: str) -> bool:
    """Whether what stands before an option names the command that it is of."""
    named = _ELSEWHERE.search(before)
    return named is not None and command_of(named["command"].split()) is not None


def _parameters(command: str, words: Sequence[str]) -> Collection[str]:
    """Return what is set by name: keys of a job's steps, parameters of the method that is run."""
    from ssdlab.model.errors import LabError

    if command == "job":
        from ssdlab.lab.job import step_keys

        return step_keys()
    if "set" not in options_of(command) or len(words) < 2:
        return ()
    from ssdlab.lab.found import find_method

    try:
        return find_method(words[1]).params.model_fields
    except LabError:
        return ()  # a suite, or no method at all


def _takes(command: str, name: str, value: str) -> bool:
    """Whether a command takes a word behind an option: any, or one of its list; a word of no list is none."""
    listed = choices_of(command, name)
    of_others = any(value in choices_of(each, name) for each in COMMANDS if name in options_of(each))
    return not listed or value in listed or not of_others


def _who_has(text: str) -> str:
    name, _, value = text.partition(" ")
    having = [command for command in COMMANDS if name in options_of(command)]
    having = [command for command in having if not value or value in choices_of(command, name)]
    return and_listed([f"ssdlab {command}" for command in having])


def _options_of(names: Sequence[str], who: str) -> str:
    are = "is an option" if len(names) == 1 else "are options"
    return f"{and_listed(names)} {are} of {who}"
