"""A run without an end: its finished steps can be shown and put on a page, and both say what they are."""

from __future__ import annotations

import json
from pathlib import Path

import openpyxl
import pytest

from library.made import run as made_run
from ssdlab.cli import main
from ssdlab.lab.found import find_method
from ssdlab.lab.job import read_job
from ssdlab.model.errors import DriveError, Refused
from ssdlab.report import page, source
from ssdlab.results.schema import Child, JobResult, Member
from ssdlab.runs.order import Order
from ssdlab.runs.session import start

JOB = """
[[step]]
do = "run"
label = "before it"
rw = "randread"
seconds = "200ms"
interval = "100ms"
[[step]]
do = "run"
label = "in the middle of it"
rw = "randread"
seconds = 30
"""


class Pull:
    """Looks on, and lets the drive go away in the second step."""

    def __init__(self) -> None:
        self.finished_steps = 0

    def began(self, progress: object) -> None: ...

    def tick(self, progress: object) -> None:
        if self.finished_steps == 2:
            raise DriveError("/dev/x is gone: it was unplugged", "put it back", reason="gone")

    def finished(self, step: object, progress: object, *, read_back: bool) -> None:
        self.finished_steps += 1

    def ended(self, status: str) -> None: ...


@pytest.fixture
def failed(scratch: Path) -> Path:
    order = Order(
        find_method("job"), read_job(JOB, "job"), str(scratch / "x.img"), size_bytes=8 << 20, seed=1
    )
    with pytest.raises(DriveError, match="gone"):
        start(order, scratch / "library", [Pull()])
    (folder,) = (scratch / "library").glob("2*")
    return folder


def test_a_failed_run_is_shown_and_reported(failed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", str(failed), "--all"]) == 0
    told = capsys.readouterr().out
    assert "failed" in told and "Stopped: /dev/x is gone" in told and "before it" in told
    run = source.read_run(failed)
    assert isinstance(run.result, JobResult)
    (point,) = run.result.points
    rows = run.rows(point.ordinal)
    assert rows["ios"][~rows["ramp"]].sum() == point.ios and len(rows["ios"]) >= 2
    assert len(run.buckets(point.ordinal)["count"])
    assert any("/dev/x is gone" in each.what for each in run.manifest.departures)
    target = failed.parent / "page.html"
    page.write([run], target)
    text = target.read_text()
    assert "is unfinished" in text and "before it" in text


def test_its_rows_are_exported_without_figures(failed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = failed.parent / "x.xlsx"
    assert main(["export", str(failed), "-o", str(file)]) == 0
    assert f"note: run {failed.name} did not finish" in capsys.readouterr().out
    sheets = {each.title: list(each.values) for each in openpyxl.load_workbook(file)}
    run = dict(zip(*sheets["runs"], strict=True))
    assert run["status"] == "not finished" and len(sheets["figures"]) == 1
    at = sheets["series"][0].index("step_label")
    assert {row[at] for row in sheets["series"][1:]} == {"before it"}
    assert len(sheets["histograms"]) > 1


def test_report_says_which_runs_ended_early(failed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target, run_id = failed.parent / "page.html", failed.name
    assert main(["report", str(failed), "-o", str(target)]) == 0
    assert f"note: run {run_id} did not finish" in capsys.readouterr().out
    assert main(["report", str(failed), "-o", str(target), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["unfinished"] == [run_id]


def test_the_manifest_keeps_the_reason(failed: Path) -> None:
    manifest = json.loads((failed / "manifest.json").read_text())
    assert (manifest["status"], manifest["result"]) == ("failed", None)
    assert manifest["failure"]["facts"]["reason"] == "gone"
    assert manifest["sessions"][0]["status"] == "failed"


def test_the_finished_parts_of_a_stopped_suite_are_named(tmp_path: Path) -> None:
    begun = [
        made_run(tmp_path, 1, member=Member(suite="s", part="a", preparation_seed=1)),
        made_run(tmp_path, 2, status="running", member=Member(suite="s", part="b", preparation_seed=1)),
    ]
    children = _children(*(each.name for each in begun), "20261121-0900-qd1-000003")
    suite = made_run(tmp_path, 9, children=children, status="running", result=None)
    with pytest.raises(Refused, match="no result to report: it is interrupted") as refused:
        source.read(suite)
    assert refused.value.advice.endswith(f"; or report its finished parts: ssdlab report {begun[0]}")
    review = made_run(tmp_path, 10, children=_children(suite.name), status="running", result=None)
    with pytest.raises(Refused) as refused:
        source.read(review)
    assert refused.value.advice.endswith(f": ssdlab report {begun[0]}"), "of a drive's parts too"


def _children(*names: str) -> tuple[Child, ...]:
    return tuple(
        Child(
            part=part,
            run_id=name,
            method="qd1",
            version=2,
            title="",
            params={},
            quick=False,
            seed=1,
            preparation_seed=1,
            drive="x",
            state="any",
        )
        for part, name in zip("abc", names, strict=False)
    )
