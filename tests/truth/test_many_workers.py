"""512 threads begin together: the reviews' greatest depth is one from the first moment on."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from ssdlab import _core
from ssdlab.drives import open_drive
from ssdlab.model.workload import Stop, Stream, Workload

MS = 1_000_000


@pytest.fixture
def ahead() -> Iterator[None]:
    """This process runs before others: what is timed is how we begin, not how busy the host is."""
    before = os.getpriority(os.PRIO_PROCESS, 0)
    os.setpriority(os.PRIO_PROCESS, 0, -15)
    yield
    os.setpriority(os.PRIO_PROCESS, 0, before)


def test_512_workers_have_all_begun_within_a_tenth_of_a_second(
    zram: Path, ahead: None, tmp_path: Path
) -> None:
    stream = Stream(workers=512, log_ios=True, stop=Stop(time_ns="500ms"))
    log = tmp_path / "log"
    with open_drive(zram) as drive:
        summary = drive.run(Workload.of(stream), log_path=log).summary()
    workers = summary["workers"]
    assert workers["never_issued"] == 0
    assert workers["start_skew_ns"] < 20 * MS
    assert workers["first_issue_max_ns"] < 100 * MS
    submits = np.sort(_core.read_log(log).ios()["submit_ns"])
    assert submits[511] < 100 * MS
