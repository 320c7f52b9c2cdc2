"""A signal ends a command with its sentence, whenever it comes and whatever it interrupts."""

from __future__ import annotations

import abc
import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ssdlab.cli import failures
from ssdlab.cli.output import ReaderGone
from ssdlab.host.ending_signals import TAKEN, EndingSignals
from ssdlab.model.errors import UsageError

WITHIN = """
import os, signal, sys
from ssdlab.__main__ import main

class Here:
    '''Sends a signal when a module of this name is looked for, once.'''
    def find_spec(self, name, path=None, target=None):
        if name == {module!r} and not getattr(self, "sent", False):
            self.sent = True
            os.kill(os.getpid(), {number})

sys.meta_path.insert(0, Here())
sys.argv = ["ssdlab", "run", "qd1", "sim:tiny-test", "--quick", "--library", {library!r}]
sys.exit(main())
"""


MODULES = ("ssdlab.cli", "ssdlab.cli.failures", "cyclopts", "ssdlab.results.schema", "ssdlab.runs.session")


@pytest.mark.parametrize(
    ("module", "number"), [*((each, signal.SIGTERM) for each in MODULES), (MODULES[3], signal.SIGINT)]
)
@pytest.mark.long
def test_a_signal_while_a_module_is_loaded(module: str, number: int, tmp_path: Path) -> None:
    code = WITHIN.format(module=module, number=int(number), library=str(tmp_path))
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert ended.returncode == 130, ended
    # A signal that waited for its module may find the run begun, which drains its I/O and says so.
    said = ("ssdlab: stopped by a signal", "ssdlab: stopped by a signal; I/O in flight was drained")
    assert ended.stderr.splitlines()[0] in said, ended.stderr
    assert "internal error" not in ended.stderr and "ignored" not in ended.stderr


WHILE_MADE = """
import os, signal, time
from pydantic import create_model
from pydantic_core import core_schema
from ssdlab.host.ending_signals import EndingSignals

class Late:
    # A type that sends a signal while a model of it is made.
    @classmethod
    def __get_pydantic_core_schema__(cls, source, handler):
        os.kill(os.getpid(), signal.SIGTERM)
        print("asked")
        return core_schema.any_schema()

EndingSignals().take().release()
try:
    create_model("Model", late=(Late, ...))
    print("made")
    time.sleep(60)
except KeyboardInterrupt:
    print("stopped")
"""


WHILE_NATIVE = """
import os, signal, sys, time
from ssdlab.host import ending_signals

calls = 0

def look(frame, event, arg):
    # Counts calls of Python while the native module is loaded, and sends a signal at one of them.
    global calls
    if calls or (event == "c_call" and arg.__name__ == "exec_dynamic"):
        calls += event == "call" or not calls
        if calls == {call}:
            sys.setprofile(None)
            os.kill(os.getpid(), signal.SIGTERM)

ending_signals.LONGEST_WAIT_S = 0  # as on a host on which it takes longer
ending_signals.EndingSignals().take().release()
try:
    sys.setprofile(look)
    import _duckdb
    time.sleep(60)
except KeyboardInterrupt:
    # Told here, since the interrupt may come between two words of a print.
    print("loaded" if hasattr(sys.modules.get("_duckdb"), "connect") else "missing", calls, "stopped")
"""


@pytest.mark.parametrize("call", [40, 120, 300, 600])
def test_a_signal_while_a_native_module_is_loaded_waits_however_long(call: int) -> None:
    """Calls of duckdb's initialisation: its C++ has no way to go on with an exception, and aborts."""
    code = WHILE_NATIVE.format(call=call)
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert ended.returncode == 0, ended
    assert ended.stdout.split() == ["loaded", str(call), "stopped"], ended


def test_a_signal_while_a_model_is_made_waits_for_that() -> None:
    """Pydantic would print the interrupt and go on, in some places of it."""
    ended = subprocess.run([sys.executable, "-c", WHILE_MADE], capture_output=True, text=True, timeout=120)
    # The interrupt may come between a word and the end of its line.
    assert "".join(ended.stdout.split()) == "askedmadestopped", ended


class LateSignal(EndingSignals):
    """One comes when the command has ended, before anything else is done."""

    def hold(self) -> None:
        os.kill(os.getpid(), signal.SIGTERM)
        super().hold()


@pytest.mark.parametrize(
    ("ends_by", "status"),
    [
        (None, 0),
        (ReaderGone(), 0),
        (UsageError("odd", "even"), 2),
        (failures.InDocument(UsageError("odd", "even")), 2),
        (KeyboardInterrupt(), 130),
        (RuntimeError("odd"), 130),
    ],
    ids=repr,
)
def test_a_signal_when_the_command_has_ended_is_only_remembered(
    ends_by: BaseException | None, status: int
) -> None:
    """It went through as an uncaught interrupt: Python ended with threads at work, and aborted."""

    def command() -> int:
        if ends_by is not None:
            raise ends_by
        return 0

    signals = LateSignal().take()
    try:
        assert failures.guarded(command, as_json=False, signals=signals) == status
    finally:
        signals.give_back()
    assert signals.came == signal.SIGTERM


@pytest.mark.parametrize("number", TAKEN)
def test_an_exception_that_swallowed_the_signal(number: int, capsys: pytest.CaptureFixture[str]) -> None:
    def command() -> int:
        try:
            os.kill(os.getpid(), number)
            signal.pause()
        except KeyboardInterrupt as interrupt:
            raise RuntimeError(f"building the schema: {interrupt!r}") from None  # as pydantic does
        return 0

    assert failures.guarded(command, as_json=False) == 130
    assert capsys.readouterr().err.startswith("ssdlab: stopped by a signal\n")


def test_a_signal_while_an_abstract_class_is_asked_waits_for_that(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """C code that asks, as pydantic's does while it writes a model, drops an interrupt and goes on."""

    class Asked(abc.ABC):  # noqa: B024 - what it is asked is all it does
        @classmethod
        def __subclasshook__(cls, other: type) -> bool:
            os.kill(os.getpid(), signal.SIGTERM)
            return False

    def command() -> int:
        with contextlib.suppress(KeyboardInterrupt):
            isinstance(object(), Asked)
        time.sleep(60)
        return 0

    handler, left_s = signal.getsignal(signal.SIGALRM), signal.getitimer(signal.ITIMER_REAL)[0]
    assert failures.guarded(command, as_json=False) == 130
    assert capsys.readouterr().err.startswith("ssdlab: stopped by a signal\n")
    # Who had set an alarm has it back.
    assert signal.getsignal(signal.SIGALRM) == handler
    assert (signal.getitimer(signal.ITIMER_REAL)[0] > 0) == (left_s > 0)


def test_an_error_of_ours_is_told_though_a_signal_came(capsys: pytest.CaptureFixture[str]) -> None:
    def command() -> int:
        try:
            os.kill(os.getpid(), signal.SIGTERM)
            signal.pause()
        except KeyboardInterrupt:
            raise UsageError("the settings are not put back", "do so") from None
        return 0

    assert failures.guarded(command, as_json=False) == 2
    assert "not put back" in capsys.readouterr().err


def test_without_a_signal_a_fault_stays_one(capsys: pytest.CaptureFixture[str]) -> None:
    def command() -> int:
        raise RuntimeError("odd")

    assert failures.guarded(command, as_json=False) == 70
    assert "internal error: RuntimeError: odd" in capsys.readouterr().err


def test_what_somebody_ignores_or_takes_stays_so() -> None:
    before = signal.getsignal(signal.SIGHUP)
    try:
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        taken = EndingSignals().take()
        taken.give_back()
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)


@pytest.mark.parametrize(
    ("words", "advice"),
    [
        (["report", "last"], "Run it again"),
        (["figures", "last"], "Run it again"),
        (["library", "verify"], "Run it again"),
        (["run", "qd1"], "Run it again; if it was a run, resume it"),
        (["fleet", "resume"], "Run it again; if it was a run, resume it"),
    ],
)
def test_only_what_makes_runs_is_told_to_resume(
    words: list[str], advice: str, capsys: pytest.CaptureFixture[str]
) -> None:
    def command() -> int:
        os.kill(os.getpid(), signal.SIGINT)
        signal.pause()
        return 0

    assert failures.guarded(command, as_json=False, words=words) == 130
    assert capsys.readouterr().err == f"ssdlab: stopped by a signal\n        {advice}\n"


def test_the_name_of_the_command_begins_a_sentence_as_it_is_typed(capsys: pytest.CaptureFixture[str]) -> None:
    for advice, shown in (("ssdlab runs lists them", "ssdlab runs"), ("see the runs", "See the runs")):
        failures.show(UsageError("there is none", advice), UsageError("", ""), as_json=False)
        assert f"        {shown}" in capsys.readouterr().err
