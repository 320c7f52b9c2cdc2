"""Errors in a command line as usage errors, with advice for fio's option names and for misspelt options."""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import Enum
from functools import cache
from importlib import import_module
from inspect import Parameter, signature
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin

import cyclopts
from cyclopts import exceptions

from ssdlab.cli.commands import COMMANDS
from ssdlab.model.capabilities import SIMULATED_PREFIX
from ssdlab.model.errors import UsageError, excerpt, nearest, unknown
from ssdlab.model.printable import shell_word
from ssdlab.model.units import and_listed

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

_USE = {
    "blocksize": "--bs",
    "bsrange": "--bs with weights, such as 4k:1,8k:1",
    "bssplit": "--bs with weights, such as 4k:70,128k:30",
    "iodepth_batch": "--batch, with --engine uring",
    "iodepth_batch_submit": "--batch, with --engine uring",
    "rwmixwrite": "--read-pct, the share of reads: 100 minus rwmixwrite",
    "timeout": "--seconds",
    "ramp_time": "--ramp",
    "io_size": "--bytes",
    "number_ios": "--bytes, the number of I/Os times the block size",
    "offset": "--span, such as 25%..50%",
    "random_distribution": "--pattern",
    "percentage_random": "--write-pattern, with --rw randrw: sequential is fio's 100,0",
    "rate_iops": "--rate, the total: fio's is per job and direction",
    "rate_process": "--arrival, with --rate",
    "thinktime": "--think, with a unit: fio's 100 is 100us",
    "randseed": "--seed",
    "sync": "--dsync",
    "hipri": "--poll, with --engine uring",
    "cpus_allowed": "--cpus",
    "numa_cpu_nodes": "--numa",
    "buffer_compress_percentage": "--compressible",
    "filesize": "--size, to create a file",
    "output_format": "--json",
}
_LEAVE_OUT = {
    "direct": "I/O is direct unless --buffered is given",
    "invalidate": "only writes can go through the page cache, with --buffered",
    "norandommap": "random I/O keeps a map of visited blocks only with --pattern shuffled",
    "randrepeat": "each run on a device or file has a new seed; --seed repeats one",
    "group_reporting": "threads are always reported as a group",
    "name": "a single workload needs no name",
    "refill_buffers": "written data never repeats; --compressible makes part of it compressible",
    "kb_base": "4k and 4KiB are 4096 bytes here, and 4kB is 4000",
}
_FIO_ELSEWHERE = {
    "filename": "give the drive or file as an argument: ssdlab measure DRIVE",
    "directory": "give the file as an argument: ssdlab measure FILE --size 4GiB",
    "verify": "measure does not verify data; ssdlab run trim-validation reads back trimmed blocks",
    "write_lat_log": "--log-ios keeps a record of every I/O",
    "write_iops_log": "--json has the intervals, and --log-ios keeps a record of every I/O",
    "write_bw_log": "--json has the intervals, and --log-ios keeps a record of every I/O",
}


def of_fio(option: str) -> str | None:
    """Return advice for a fio option such as ``--numjobs``; None if there is none."""
    name = option.lstrip("-").replace("-", "_")
    if name in _USE:
        use, _, more = _USE[name].partition(",")
        return f"use {use} (fio's {name}){',' + more if more else ''}"
    if name in _LEAVE_OUT:
        return f"leave it out: {_LEAVE_OUT[name]}"
    return _FIO_ELSEWHERE.get(name) or _in_job_files(name)


def _in_job_files(name: str) -> str | None:
    """Return how fio job files treat an option, as advice; None if they do not know it."""
    from ssdlab.formats.fio.options import ALIASES, RULES  # needed only after an error

    rule = RULES.get(ALIASES.get(name, name))
    if rule is None:
        return None
    if rule.fate == "honoured":
        return "job files of fio have it: ssdlab job FILE.fio"
    return f"leave it out: {rule.why}"


# Advice for the command that is running.
#
# Library code that raises an error names the usual option, such as `--rate` of `measure`. The same error may
# end another command, where the option has another name: a job's step has the key `rate`, and a method has
# the parameter `--set rate=`. If the command lacks the option, the advice names the commands that have it.
# It also names them if the command has the option but not the value: methods take `--precondition full`, and
# `measure` takes `--precondition fill`.

_OPTION = re.compile(r"(?<![\w-])--(?P<name>[a-z][a-z0-9_-]*)(?: (?P<set>[a-z_]+)=(?P<space> ?))?")
_VALUE = re.compile(r" (?P<value>[a-z][a-z-]*)")
_ELSEWHERE = re.compile(r"ssdlab (?P<command>[a-z]+(?: [a-z]+)?)[^;:`]*$")


@cache
def _flags(command: str) -> dict[str, Parameter]:
    """Return the options of a command by all their names, without leading hyphens."""
    module, _, function = COMMANDS[command].place.partition(":")
    found = signature(getattr(import_module(module), function), eval_str=True).parameters.values()
    return {name: each for each in found if each.kind is Parameter.KEYWORD_ONLY for name in _names_of(each)}


def _names_of(option: Parameter) -> list[str]:
    marks = (mark for mark in get_args(option.annotation) if isinstance(mark, cyclopts.Parameter))
    named = [name.removeprefix("--") for mark in marks for name in mark.name or () if name.startswith("--")]
    return named or [option.name.replace("_", "-")]


@cache
def options_of(command: str) -> frozenset[str]:
    """Return the options of a command, without leading hyphens, from its definition."""
    return frozenset({*_flags(command), "help"})


@cache
def choices_of(command: str, option: str) -> frozenset[str]:
    """Return the values that an option accepts; empty if the option has no list of values."""
    parameter = _flags(command)[option]
    annotation: object = parameter.annotation
    if command == "measure":  # its options are the fields of a model
        from ssdlab.model.options import MeasureOptions

        field = MeasureOptions.model_fields.get(parameter.name)
        annotation = None if field is None else field.annotation
    return frozenset(_literals(annotation))


def _literals(annotation: object) -> Iterator[str]:
    if get_origin(annotation) is Literal:
        yield from (each for each in get_args(annotation) if isinstance(each, str))
    else:
        for part in get_args(annotation):
            yield from _literals(part)


def command_of(words: Sequence[str]) -> str | None:
    """Return the command that a command line calls; None if it calls none."""
    known = (name for name in COMMANDS if tuple(words[: name.count(" ") + 1]) == tuple(name.split()))
    return next(known, None)


def in_own_words(words: Sequence[str], advice: str) -> str:
    """Reword advice for the command that was called.

    Parameters
    ----------
    words
        The command line.
    advice
        Text that may name options. An option after the name of another command is kept as it is.
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
    """Return whether the text before an option names the command of this option."""
    named = _ELSEWHERE.search(before)
    return named is not None and command_of(named["command"].split()) is not None


def _parameters(command: str, words: Sequence[str]) -> Collection[str]:
    """Return the names that a user can set: keys of a job's steps, or parameters of the method."""
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
    """Return False if the option's list lacks the value, but the same option of another command has it."""
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


_OTHER_WORDS = {"ls": "runs", "list": "runs", "delete": "rm", "remove": "rm", "diff": "compare", "fio": "job"}
"""Commands of other programs, and ssdlab's equivalents."""
_NEVER_GUESSED = ("-destroy", "-wipe-signatures")
"""Ends of options that are never suggested for a misspelt option, because they allow the loss of data."""
_NEARLY = 0.7
"""Similarity for a suggestion: one letter in three may differ. At 0.5, fio's --numjobs resembles --numa."""
_A_LETTER_OFF = 0.9
"""Similarity from which a word counts as a misspelt option of ssdlab, not as an option of fio."""
_KINDS: dict[Any, str] = {int: "whole number", float: "number", bool: "yes or no"}


def usage_error(error: exceptions.CycloptsError) -> UsageError:
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
            return UsageError(f"unexpected argument {word!r}", see, given=word)
        case exceptions.CoercionError():
            return _not_of_its_kind(error, see)
    text = " ".join(str(error).split()).rstrip(".") or "the command line cannot be parsed"
    return UsageError(text[:1].lower() + text[1:], see)


def _unknown_command(error: exceptions.UnknownCommandError, chain: list[str], see: str) -> UsageError:
    """Return the error for an unknown command; the parser's own text would import every command."""
    word = next(iter(error.unused_tokens or ()), "")
    if word.startswith("-"):
        return UsageError(f"there is no option {excerpt(word)}", see, given=word, nearest=None)
    if (meant := _meant(chain, list(error.unused_tokens or ()))) is not None:
        return UsageError(f"there is no command {excerpt(word)!r}", meant, given=word, nearest=None)
    group = "".join(f"{name} " for name in chain)
    known = [name.removeprefix(group) for name in COMMANDS if name.startswith(group)]
    return unknown("command", word, dict.fromkeys(name.split()[0] for name in known), elsewhere=see)


def _meant(chain: list[str], words: list[str]) -> str | None:
    """Return what to type for another program's command, or for a method in place of a command."""
    from ssdlab.lab.folders import REGISTRY
    from ssdlab.lab.found import SUITES, methods_of_others

    word, *rest = words or [""]
    if not chain and word in _OTHER_WORDS:
        return f"use {_line(_OTHER_WORDS[word], *rest)}"
    # A method may have the name of a group: `ssdlab act /dev/nvme0n1`.
    name, drives = (word, rest) if not chain else (chain[0], words)
    if chain and not word.startswith(("/dev/", SIMULATED_PREFIX)):
        return None
    if name in {**REGISTRY, **SUITES, **methods_of_others().methods}:
        if any(not each.startswith("-") for each in drives):
            return f"run it: {_line('run', name, *drives)}"
        return f"run it: {_line('run', name, 'DRIVE', *drives)}; or read about it: ssdlab methods {name}"
    return None


def _line(*words: str) -> str:
    """Return a command line to type, quoted for the shell."""
    return " ".join(["ssdlab", *map(shell_word, words)])


def _unknown_option(error: exceptions.UnknownOptionError, chain: list[str], see: str) -> UsageError:
    word = error.token.keyword or error.token.value
    named = word.partition("=")[0]
    options = [name for each in error.argument_collection if each.parse for name in each.names]
    mistyped = _option_like(named, options, _A_LETTER_OFF)
    if chain == ["measure"] and not mistyped and (instead := of_fio(named)) is not None:
        return _words_of_fio(named, instead, error.root_input_tokens or (), see)
    from ssdlab.drives.simulated.text import EXAMPLES  # needed only after an error

    if (part := named.removeprefix("--")) in EXAMPLES:
        drive = f"it is an option of a simulated drive: sim:PROFILE,{part}={EXAMPLES[part]}"
        return UsageError(
            f"there is no option {excerpt(named)}", f"{drive} ({see})", given=named, nearest=None
        )
    guess = _option_like(named, [name for name in options if not name.endswith(_NEVER_GUESSED)])
    shares = guess == "--read-pct" or named.endswith("pct")
    if shares and "writ" in named.casefold():  # similar in letters, opposite in meaning
        return UsageError(
            f"there is no option {excerpt(named)}",
            f"use --read-pct, the share of reads: 100 minus that of writes ({see})",
            given=named,
            nearest=None,
        )
    advice = f"did you mean {guess}? ({see})" if guess else see
    return UsageError(f"there is no option {excerpt(named)}", advice, given=named, nearest=guess)


def _words_of_fio(named: str, instead: str, words: Sequence[str], see: str) -> UsageError:
    """Return one error for an option of fio and all other fio options in the same line."""
    others = (word.partition("=")[0] for word in words if word.startswith("--"))
    known = {name: advice for name in others if not _has(name) and (advice := of_fio(name)) is not None}
    if len(known) < 2:
        return UsageError(
            f"there is no option {excerpt(named)}", f"{instead} ({see})", given=named, nearest=None
        )
    each = "; ".join(f"{name.lstrip('-')}: {advice}" for name, advice in known.items())
    whole = "; or make a job file of the line: ssdlab job FILE.fio" if "--name" in known else ""
    what = f"there are no options {and_listed(list(known))}"
    return UsageError(what, f"{each}{whole}", given=named, nearest=None)


def _has(option: str) -> bool:
    return option.removeprefix("--") in options_of("measure")


def _option_like(word: str, options: list[str], at_least: float = _NEARLY) -> str | None:
    """Return the long option closest to a word, ignoring the dashes."""
    names = {name.lstrip("-"): name for name in options if name.startswith("--")}
    guess = nearest(word.lstrip("-"), names, at_least=at_least) if len(word) > 2 else None
    return None if guess is None else names[guess]


def _missing(error: exceptions.MissingArgumentError, see: str) -> UsageError:
    name = _name(error.argument, error.keyword)
    if error.keyword:
        if (given := _number_after(error.keyword, error.root_input_tokens or ())) is not None:
            return UsageError(f"{name}: {given!r} is negative", see, parameter=name, given=given)
        if (error.keyword, "-") in pairwise(error.root_input_tokens or ()):
            return UsageError(f"{name} does not accept -", f"name a file; {see}", parameter=name, given="-")
        return UsageError(f"{name} needs a value", see, parameter=name)
    names = _needed(error) or [name]
    are = "is" if len(names) == 1 else "are"
    return UsageError(f"{and_listed(names)} {are} missing", see, parameter=name)


def _number_after(option: str, words: Sequence[str]) -> str | None:
    """Return the negative number after an option, such as ``-4k``, which the parser takes for an option."""
    after = [word for before, word in pairwise(words) if before == option]
    return next((excerpt(word) for word in after if re.match(r"-\.?\d", word)), None)


def _needed(error: exceptions.MissingArgumentError) -> list[str]:
    """Return all required arguments of a command that was given none; else nothing."""
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
    kind = _KINDS.get(error.target_type, "valid value")
    what = f"{name} is {excerpt(given)!r}, not a {kind}".replace("not a yes or no", "neither yes nor no")
    return UsageError(what, see, parameter=name, given=given)


def _choices(kind: object) -> list[str]:
    if get_origin(kind) is Literal:
        return [str(each) for each in get_args(kind)]
    return [each.name for each in kind] if isinstance(kind, type) and issubclass(kind, Enum) else []


def _name(argument: object, keyword: str | None) -> str:
    """Return the user's name for an argument: the option as typed, or its metavar."""
    return keyword or str(getattr(argument, "name", "an argument"))
