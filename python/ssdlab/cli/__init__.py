"""The command line, `ssdlab COMMAND ...`. Each subject has its module, imported only when it is used.

To add a command, write a function in its subject's module or in a new one, and add it to
`commands.COMMANDS`. Type and document its parameters, begin its docstring with what it does, and raise
`LabError` on failure. It prints through `ssdlab.cli.output`, takes ``json: bool = False`` if it returns data,
and returns None or an exit status.

Exit statuses: 0 done (and passed), 1 verdict failed, 2 bad usage or refused, 3 drive or host failed, 70
internal error, 130 stopped by a signal. An error prints two lines on stderr: what is wrong, and what to do.
With ``--json`` it is also an object on stdout.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ssdlab.cli.commands import COMMANDS, build_app
from ssdlab.model.errors import UsageError
from ssdlab.model.limits import WORD_CHARACTERS

if TYPE_CHECKING:
    from cyclopts import App

    from ssdlab.host.ending_signals import EndingSignals


def main(arguments: Sequence[str] | None = None, *, signals: EndingSignals | None = None) -> int:
    """Run a command line and return its exit status.

    Parameters
    ----------
    arguments
        The words after the program's name [default: those of this process].
    signals
        Signal handlers that are already installed; by default they are installed now.
    """
    # Start-up and the report of one run make little garbage to collect. Pydantic's search for plug-ins reads
    # the metadata of every installed package. Both took a quarter of the time until the first I/O.
    gc.set_threshold(250_000)
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    # numpy's linear algebra starts a thread per processor, and idle threads spin for 0.1 s. One is enough.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from ssdlab.cli.failures import guarded

    words = list(sys.argv[1:] if arguments is None else arguments)
    return guarded(lambda: dispatch(words), as_json="--json" in words, words=words, signals=signals)


def _check(words: Sequence[str]) -> None:
    """Refuse words that are too long or not valid UTF-8."""
    for number, word in enumerate(words, start=1):
        if len(word) > WORD_CHARACTERS:
            raise UsageError(
                f"word {number} of the command line has {len(word)} characters, over {WORD_CHARACTERS}",
                "pass long text in a file if the option takes one",
            )
        try:
            word.encode()
        except UnicodeEncodeError as error:
            raise UsageError(
                f"word {number} of the command line is not valid UTF-8: {word!r}",
                "rename the file, or use a link to it",
            ) from error


def _as_options(words: list[str]) -> list[str]:
    """Replace `help COMMAND` and `version`, which are commands in other programs, by the options."""
    while words[:1] == ["help"]:
        words = [*words[1:], "--help"]
    return ["--version", *words[1:]] if words[:1] == ["version"] else words


def _name_arguments(app: App, asked: str) -> None:
    """Show the name of a command's optional arguments in its usage line, instead of `ARGS`."""
    from inspect import Parameter, signature

    from cyclopts.help import format_usage

    command = app
    for word in asked.split():
        command = command[word]
    assert command.default_command is not None
    positional = (Parameter.POSITIONAL_ONLY, Parameter.VAR_POSITIONAL)
    given = signature(command.default_command).parameters.values()
    names = [each.name.upper() for each in given if each.kind in positional]
    if names:
        usage = str(format_usage(app, asked.split())).rstrip()
        command.usage = f"Usage: {usage.replace('[ARGS', f'[{names[-1]}')}"


def dispatch(words: list[str]) -> int:
    """Run a command and return its exit status; errors are raised."""
    from ssdlab.cli.leftovers import name_leftovers

    _check(words)
    words = _as_options(words)
    if words[:1] in (["run"], ["plan"]) and not {"--help", "-h"}.isdisjoint(words[2:]):
        from ssdlab.cli.methods import method_help

        if method_help(*words[:2]):
            return 0
    name_leftovers(words)
    asked = next((name for name in COMMANDS if words[: name.count(" ") + 1] == name.split()), "")
    app = build_app(asked)
    if asked and not {"--help", "-h"}.isdisjoint(words):
        _name_arguments(app, asked)
    result = app(words, exit_on_error=False, print_error=False)
    return result if isinstance(result, int) else 0
