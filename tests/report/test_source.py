"""Runs that cannot be reported: each says what it is and what to do."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from ssdlab.lab.outcome import UnknownResult
from ssdlab.model.errors import HostError, Refused
from ssdlab.report import engine, page, source
from ssdlab.results import tables
from ssdlab.results.lease import RunLock
from ssdlab.results.run_folder import RunFolder
from ssdlab.results.schema import TableInfo


@pytest.mark.parametrize(("status", "advice"), [("interrupted", "ssdlab resume"), ("failed", "ssdlab show")])
def test_an_unfinished_run(make_run: Callable[..., Path], status: str, advice: str) -> None:
    folder = make_run(status=status, result=None)
    with pytest.raises(Refused, match=f"it is {status}") as caught:
        source.read_run(folder)
    assert advice in caught.value.advice
    assert caught.value.facts["status"] == status


def test_a_run_that_goes_on_is_waited_for_and_a_killed_one_resumed(make_run: Callable[..., Path]) -> None:
    folder = make_run(status="running", result=None)
    lock = RunLock(folder)
    with pytest.raises(Refused, match="it is running") as caught:
        source.read_run(folder)
    assert "ssdlab watch" in caught.value.advice
    lock.release()
    with pytest.raises(Refused, match="it is interrupted") as caught:
        source.read_run(folder)
    assert "ssdlab resume" in caught.value.advice


def test_a_journal_that_is_no_text_is_damage(make_run: Callable[..., Path]) -> None:
    folder = make_run()
    with (folder / "journal.jsonl").open("r+b") as file:
        file.write(b"\xff\xfe")
    with pytest.raises(Refused, match="damaged at line 1"):
        source.read_run(folder)


@pytest.mark.parametrize("table", ["series.parquet", "hist.parquet"])
def test_a_run_without_its_tables(make_run: Callable[..., Path], table: str) -> None:
    folder = make_run()
    (folder / table).unlink()
    with pytest.raises(Refused, match=f"has no {table}"):
        source.read_run(folder)


def test_a_table_that_is_damaged(make_run: Callable[..., Path]) -> None:
    folder = make_run()
    (folder / "series.parquet").write_bytes(b"PAR1 and then nothing")
    with pytest.raises(Refused, match=r"series\.parquet is damaged") as refused:
        source.read_run(folder)
    assert "SELECT" not in str(refused.value) and "/proc/" not in str(refused.value)


@pytest.mark.parametrize("table", [tables.POWER, tables.TELEMETRY])
def test_a_table_of_a_meter_or_drive_that_is_damaged(make_run: Callable[..., Path], table: str) -> None:
    """One that its seal does not show: it was written so."""
    folder, content = make_run(), b"PAR1 and then nothing"
    (folder / table).write_bytes(content)
    found = RunFolder(folder)
    info = TableInfo(name=table, rows=1, sha256=hashlib.sha256(content).hexdigest())
    found.manifest = found.manifest.model_copy(update={"tables": (*found.manifest.tables, info)})
    with pytest.raises(Refused, match=f"{table} of run .* is damaged"):
        source._samples(found) if table == tables.TELEMETRY else source._power(found)


def test_a_run_of_a_newer_ssdlab(make_run: Callable[..., Path]) -> None:
    folder = make_run(schema="ssdlab.run/99")
    with pytest.raises(Refused, match="newer ssdlab"):
        source.read_run(folder)


def test_a_result_of_an_unknown_kind_has_its_figures_left(make_run: Callable[..., Path]) -> None:
    figure = {"name": "ghosts", "label": "ghosts seen", "value": 3.0, "unit": "", "better": "lower"}
    run = source.read_run(
        make_run(result={"kind": "seance", "quick": False, "table": [1], "scalars": [figure]})
    )
    assert isinstance(run.result, UnknownResult) and run.result.kind == "seance"
    assert [(each.label, each.value) for each in run.result.scalars] == [("ghosts seen", 3.0)]


@pytest.mark.parametrize("result", [{"kind": "peak", "quick": False}, {"kind": "seance"}, {"quick": False}])
def test_a_result_that_does_not_fit_its_kind(
    make_run: Callable[..., Path], result: dict[str, object]
) -> None:
    folder = make_run(result=result)
    with pytest.raises(Refused, match="cannot read") as caught:
        source.read_run(folder)
    assert caught.value.facts["kind"] == str(result.get("kind"))


def test_a_folder_that_is_no_run(tmp_path: Path) -> None:
    with pytest.raises(Refused, match="not a run folder"):
        source.read_run(tmp_path)


def test_voided_attempts_are_not_drawn(make_run: Callable[..., Path]) -> None:
    folder = make_run()
    run = source.read_run(folder)
    assert run.rows(0)["attempt"].tolist() == [1] * len(run.rows(0)["row"])
    assert run.voided == ("step 1 (depth 1), attempt 0: interrupted at the first attempt",)
    assert run.step(0) is not None
    assert run.step(None) is None
    assert run.rows(None)["row"].size == 0


def test_a_page_that_cannot_be_written_leaves_nothing_behind(
    make_run: Callable[..., Path], tmp_path: Path
) -> None:
    folder = tmp_path / "place"
    (folder / "page.html").mkdir(parents=True)
    with pytest.raises(Refused, match="must be a file"):
        page.write([source.read_run(make_run())], folder / "page.html")
    assert [path.name for path in folder.iterdir()] == ["page.html"]


def test_a_front_end_that_was_not_built(
    make_run: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine.resources, "files", lambda _: tmp_path)
    with pytest.raises(HostError, match="not built") as caught:
        page.render([source.read_run(make_run())])
    assert "make build" in caught.value.advice


def test_manifest_stays_as_it_was(make_run: Callable[..., Path], tmp_path: Path) -> None:
    folder = make_run()
    before = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    page.write([source.read_run(folder)], tmp_path / "page.html")
    assert {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()} == before
    assert json.loads(before["manifest.json"])["status"] == "finished"
