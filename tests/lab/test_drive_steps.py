"""Purge and trim as steps of a run: what the journal keeps of their proof."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from lab.fake_drive import FakeDrive
from lab.test_verbs import run_procedure
from ssdlab.drives.purge import PurgeRecord
from ssdlab.model.errors import DriveError, UsageError
from ssdlab.results.run_folder import RunFolder


@dataclass
class Liar(FakeDrive):
    """A drive that says it was purged and was not."""

    def purge(self, *, method: Any = None, **_: Any) -> PurgeRecord:
        raise DriveError("nothing was erased", "use another", reason="not-purged", record={"method": method})


def test_a_trim_records_whether_it_reached_the_device(tmp_path: Path) -> None:
    run = run_procedure(lambda lab: lab.trim(start=4096, length=8192), FakeDrive(), tmp_path)
    (step,) = run.steps()
    assert step.args == {"start": 4096, "length": 8192}
    trim = step.result.facts["trim"]
    assert (trim["reached_device"], trim["evidence"], trim["reads"]) == (True, "tracepoint", "zeroes")
    assert run.manifest.departures == ()


def test_a_trim_that_reaches_no_device_is_a_departure(tmp_path: Path) -> None:
    run = run_procedure(lambda lab: lab.trim(), FakeDrive(trims_reach=False), tmp_path)
    (departure,) = run.manifest.departures
    assert departure.code == "trim-not-passed-on"
    assert departure.what.startswith("it did not reach the device: 0 B of ")


def test_a_span_beyond_the_drive_is_refused_before_anything_is_done(tmp_path: Path) -> None:
    drive = FakeDrive()
    with pytest.raises(UsageError, match="not a range"):
        run_procedure(lambda lab: lab.trim(start=drive.capacity_bytes), drive, tmp_path)
    assert drive.done == []


def test_a_purge_that_failed_leaves_its_record_in_the_run(tmp_path: Path) -> None:
    with pytest.raises(DriveError) as caught:
        run_procedure(lambda lab: lab.purge(method="nvme-format-crypto", if_able=True), Liar(), tmp_path)
    manifest = RunFolder(Path(caught.value.facts["folder"])).manifest
    assert manifest.status == "failed"
    assert manifest.failure is not None
    assert manifest.failure.facts["record"] == {"method": "nvme-format-crypto"}
