"""The same error ends a run and a suite alike: with the same status, and on record with the same failure."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lab.fake_drive import FakeDrive, resume_on, run_on
from ssdlab.lab.found import find_method
from ssdlab.lab.suites.suite import Part
from ssdlab.model.errors import DriveError, HostError, Interrupted, LabError, Refused, Unsupported, UsageError
from ssdlab.results.run_folder import RunFolder
from ssdlab.results.schema import Manifest
from ssdlab.results.store import run_folders
from ssdlab.runs.suites.session import resume_suite, start_suite
from suites.made import Watcher, environment, suite, suite_order

PEAK = find_method("peak-random-read")
SETTINGS = {"depths": "1,2", "seconds": "1", "ramp_seconds": "0"}
ENDS = [
    (DriveError("the drive is gone", "attach it", errno=19), "failed"),
    (HostError("no memory", "get some"), "interrupted"),
    (Interrupted("stopped by a signal", "go on"), "interrupted"),
    (KeyboardInterrupt("SIGTERM"), "interrupted"),
    (Refused("it is mounted by now", "unmount it"), "interrupted"),
    (Unsupported("it cannot do that", "take another"), "interrupted"),
    (UsageError("the span is past the end", "ask for less"), "failed"),
    (LabError("two counts differ", "report it"), "failed"),
    (RuntimeError("a bug"), "failed"),
]


def failing(error: BaseException) -> FakeDrive:
    def fails(count: int) -> None:
        if count == 1:
            raise error

    return FakeDrive(before_run=fails)


def run_ended(error: BaseException, library: Path, *, resumed: bool) -> Manifest:
    settings = PEAK.params.build(SETTINGS)
    with pytest.raises(type(error) if not resumed else RuntimeError):
        run_on(failing(RuntimeError("first") if resumed else error), PEAK, settings, library)
    (folder,) = run_folders(library)
    if resumed:
        with pytest.raises(type(error)):
            resume_on(failing(error), folder)
    return RunFolder(folder).manifest


def suite_ended(error: BaseException, library: Path, *, resumed: bool) -> Manifest:
    order = suite_order(suite(Part("peak-random-read", "as-is", SETTINGS)), "/dev/fake0", {})
    first: BaseException = RuntimeError("first") if resumed else error
    with pytest.raises(type(first)):
        start_suite(order, library, Watcher(), environment(failing(first)))
    (folder,) = (each for each in run_folders(library) if RunFolder(each).manifest.children)
    if resumed:
        with pytest.raises(type(error)):
            resume_suite(folder, Watcher(), environment(failing(error)))
    return RunFolder(folder).manifest


@pytest.mark.parametrize("resumed", [False, True])
@pytest.mark.parametrize(("error", "status"), ENDS, ids=[type(error).__name__ for error, _ in ENDS])
def test_the_same_error_has_the_same_status(
    error: BaseException, status: str, resumed: bool, tmp_path: Path
) -> None:
    ends: list[Any] = [
        ended(error, tmp_path / name, resumed=resumed)
        for name, ended in (("run", run_ended), ("suite", suite_ended))
    ]
    assert [each.status for each in ends] == [status, status]
    assert [each.sessions[-1].status for each in ends] == [status, status]
    assert ends[0].failure.kind == ends[1].failure.kind
    assert ends[0].failure.what == ends[1].failure.what == getattr(error, "what", str(error))
