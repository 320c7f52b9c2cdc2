"""What draws pictures, in a process that was forked."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

from ssdlab.report.engine import engine
from ssdlab.results.run_folder import RunFolder

HANGS_S = 120


def test_a_fork_draws_with_an_engine_of_its_own() -> None:
    ours = engine()
    asked = ours.draw("{}")  # its thread waits for the answer, and holds the lock of the pipe
    time.sleep(0.05)
    child = os.fork()
    if child == 0:
        signal.alarm(HANGS_S)
        theirs = engine()
        answered = theirs.draw("{}").exception(HANGS_S)  # that is no picture, and the answer says so
        ours.close()
        theirs.close()
        os._exit(0 if theirs is not ours and isinstance(answered, RuntimeError) else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert isinstance(asked.exception(HANGS_S), RuntimeError)
    assert not ours.ended


def test_a_fork_reads_tables_through_a_database_of_its_own(make_run: Callable[..., Path]) -> None:
    """In its parent's it waited for ever, sooner or later."""
    run = RunFolder(make_run())
    (first, *_) = [step.ordinal for step in run.steps() if step.result.measurement]
    lines = len(run.rows(first)["ios"])
    for _ in range(5):
        child = os.fork()
        if child == 0:
            signal.alarm(HANGS_S)
            os._exit(0 if len(run.rows(first)["ios"]) == lines else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
