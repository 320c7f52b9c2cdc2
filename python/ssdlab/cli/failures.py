"""Shows errors and turns them into exit statuses."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ssdlab.cli.output import ReaderGone, prepare, print_json
from ssdlab.host.ending_signals import EndingSignals
from ssdlab.model.errors import STOPPED_ADVICE, TRACEBACK_VARIABLE, HostError, LabError, of_python, stopped
from ssdlab.model.printable import advice_text, styled

if TYPE_CHECKING:
    from ssdlab.model.errors import UsageError


_MAKES_RUNS = {"demo", "run", "resume", "job", "fleet run", "fleet resume", "fleet job", None}
"""Commands whose run can be resumed after a stop; None stands for an unknown command."""


class InDocument(Exception):
    """Ends a command whose printed JSON already holds the error, so that stdout stays one document."""

    def __init__(self, error: LabError) -> None:
        super().__init__(error.what)
        self.error = error


def guarded(
    command: Callable[[], int],
    *,
    as_json: bool,
    words: Sequence[str] = (),
    signals: EndingSignals | None = None,
) -> int:
    """Run a command; show its error, if any, and return the exit status.

    Parameters
    ----------
    command
        Returns the exit status when nothing is raised.
    as_json
        Print an error also as a JSON object on stdout.
    words
        The command line. Advice in errors names the options of this command.
    signals
        Handlers of the signals that act as Ctrl-C does: I/O in flight is drained, and results are kept. By
        default they are installed now.
    """
    if signals is None:
        signals = EndingSignals().take()
        try:
            return guarded(command, as_json=as_json, words=words, signals=signals)
        finally:
            signals.give_back()
    prepare()
    try:
        signals.release()
        status = command()
        sys.stdout.flush()
    except ReaderGone:
        return 0
    except InDocument as printed:
        return _end_with(printed.error, printed, as_json=False, words=words)
    except BaseException as error:
        signals.held = True
        signals.hold()
        failure = as_lab_error(error)
        if failure is None:
            raise
        if signals.came is not None and type(failure) is LabError:
            # A library such as pydantic turned the interrupt into another exception: no internal error.
            failure = stopped()
        return _end_with(failure, error, as_json=as_json, words=words)
    finally:
        # Must come first: an uncaught signal in this block would end the process, and Python would shut
        # down while threads still work.
        signals.held = True
        signals.hold()
    return status


def _end_with(failure: LabError, cause: BaseException, *, as_json: bool, words: Sequence[str]) -> int:
    """Show an error, with its advice adapted to the command, and return its exit status."""
    if failure.advice == STOPPED_ADVICE:
        from ssdlab.cli.parser_errors import command_of

        if command_of(words) not in _MAKES_RUNS:
            failure.advice = "run it again"
    if "--" in failure.advice:
        from ssdlab.cli.parser_errors import in_own_words

        failure.advice = in_own_words(words, failure.advice)
    return show(failure, cause, as_json=as_json)


def as_lab_error(error: BaseException) -> LabError | None:
    """Return the ssdlab error for any exception; None for an exception that ends the process."""
    return _of_parser(error) or of_python(error)


def _of_parser(error: BaseException) -> UsageError | None:
    """Return the usage error for an exception of cyclopts, else None."""
    parser = sys.modules.get("cyclopts")
    if parser is None or not isinstance(error, parser.CycloptsError):
        return None
    from ssdlab.cli.parser_errors import usage_error

    return usage_error(error)


def show(failure: LabError, cause: BaseException, *, as_json: bool) -> int:
    if os.environ.get(TRACEBACK_VARIABLE):
        import traceback

        traceback.print_exception(cause)
    print(styled(f"ssdlab: {failure.what}"), file=sys.stderr)
    if failure.advice:
        print(styled(f"        {advice_text(failure.advice)}"), file=sys.stderr)
    if as_json:
        print_error_object(failure)
    return failure.exit_status


def print_error_object(failure: LabError) -> None:
    """Print an error as JSON. If stdout itself has failed, do nothing: stderr already has the error."""
    try:
        print_json(failure.as_dict())
        sys.stdout.flush()
    except (HostError, ReaderGone):
        pass
