"""How the end of a run in a process of its own comes back to its suite."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from lab.synthetic import edited, make_finished_run
from ssdlab.model.errors import DriveError, HostError, Interrupted, LabError, Refused
from ssdlab.runs.suites import children, side_by_side, worker

ENDS = [
    (DriveError("the drive is gone", "attach it", errno=19), DriveError),
    (Refused("it is mounted", "unmount it"), Refused),
    (MemoryError(), HostError),
    (OSError(28, "No space left on device"), HostError),
    (KeyboardInterrupt(), Interrupted),
    (RuntimeError("a bug"), LabError),
]


@pytest.mark.parametrize(("error", "sort"), ENDS, ids=[type(error).__name__ for error, _ in ENDS])
def test_an_error_comes_back_as_what_it_was(
    error: BaseException,
    sort: type[LabError],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """With the exit status that the same error has in a run alone: 70 only for faults of this program."""

    def fail(*given: Any, **more: Any) -> None:
        raise error

    child = SimpleNamespace(part="reads")
    monkeypatch.setattr(worker, "_stop_with_the_suite", lambda: None)
    monkeypatch.setattr(worker, "read_manifest", lambda folder: SimpleNamespace(children=[child], redoing=()))
    monkeypatch.setattr(worker, "work_on", fail)
    status = worker.main(["/nowhere/suite", "reads"])
    out = capsys.readouterr().out
    back = side_by_side._error_of(_task(status), out, "")
    assert type(back) is sort
    assert back.exit_status == status == sort.exit_status
    assert back.what == f"reads: {json.loads(out)['what']}"
    assert back.facts["part"] == "reads"


def test_a_run_that_finishes_while_it_is_waited_for_is_not_resumed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a suite that was killed: what works on it goes on until its pipe is found closed."""
    folder = make_finished_run(tmp_path / "runs")
    end = (folder / "manifest.json").read_bytes()
    edited(folder, status="running")

    def finish(place: Path) -> None:
        (place / "manifest.json").write_bytes(end)

    monkeypatch.setattr(children, "_wait_until_stopped", finish)
    child: Any = SimpleNamespace(run_id=folder.name)
    suite: Any = None
    assert children.work_on(suite, folder.parent, child) == folder


@pytest.mark.parametrize("out", ["", "{}", "killed", json.dumps({"error": "melted"})])
def test_an_end_without_a_word_is_the_hosts(out: str) -> None:
    error = side_by_side._error_of(_task(-9), out, "")
    assert type(error) is HostError
    assert "status -9" in error.what


def _task(status: int) -> Any:
    process = SimpleNamespace(returncode=status)
    return SimpleNamespace(child=SimpleNamespace(part="reads"), process=process)
