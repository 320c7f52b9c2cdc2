"""Records of OCP Test & Validation: what a run holds, in the order and form of the specification."""

from __future__ import annotations

import json
import tarfile
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from imports import made
from methods.quick_runs import QuickRun
from ssdlab.cli import main
from ssdlab.report import sheet_files, source
from ssdlab.report.ocp import CONCLUSION, records_of
from ssdlab.results.run_folder import RunFolder

pytestmark = pytest.mark.long

PLANTED = Path(__file__).parents[1] / "planted" / "library.tar.xz"
ARTIFACTS = {
    "schemaVersion": set(),
    "testRunArtifact": {"testRunStart", "testRunEnd", "log", "error"},
    "testStepArtifact": {"testStepStart", "testStepEnd", "measurement", "log", "error", "diagnosis"},
}
REQUIRED = {
    "testRunStart": {"name", "version", "commandLine", "parameters", "dutInfo"},
    "testRunEnd": {"status", "result"},
    "testStepStart": {"name"},
    "testStepEnd": {"status"},
    "measurement": {"name", "value"},
    "log": {"severity", "message"},
    "error": {"symptom"},
    "diagnosis": {"verdict", "type"},
}
ENDS = {("COMPLETE", "PASS"), ("COMPLETE", "FAIL"), ("SKIP", "NOT_APPLICABLE"), ("ERROR", "NOT_APPLICABLE")}
"""Of the specification: what may stand within what, what must, and how a test run may end."""


def read(text: str) -> list[list[tuple[str, str, dict[str, Any]]]]:
    """The records of a file, each a list of what it says: step, kind, content."""
    records: list[list[tuple[str, str, dict[str, Any]]]] = []
    for line in map(json.loads, text.splitlines()):
        number, at = line.pop("sequenceNumber"), line.pop("timestamp")
        assert datetime.fromisoformat(at).tzinfo is not None
        ((outer, content),) = line.items()
        if outer == "schemaVersion":
            assert content == {"major": 2, "minor": 0}
            records.append([])
            assert number == 0
            continue
        assert number == len(records[-1]) + 1
        step = content.pop("testStepId", "")
        ((kind, said),) = content.items()
        assert kind in ARTIFACTS[outer] and said.keys() >= REQUIRED[kind], line
        assert None not in said.values()
        records[-1].append((step, kind, said))
    for record in records:
        check(record)
    return records


def check(record: list[tuple[str, str, dict[str, Any]]]) -> None:
    """A test run begins and ends once, and so does each of its steps; hardware that is named is there."""
    kinds = [kind for _, kind, _ in record]
    assert kinds[0] == "testRunStart" and kinds[-1] == "testRunEnd"
    assert kinds.count("testRunStart") == kinds.count("testRunEnd") == 1
    assert (record[-1][2]["status"], record[-1][2]["result"]) in ENDS
    known = {each["hardwareInfoId"] for each in record[0][2]["dutInfo"]["hardwareInfos"]}
    within: list[str] = []
    for step, kind, said in record:
        if kind == "testStepStart":
            assert not within
            within.append(step)
        elif step:
            assert within == [step]
        if kind == "testStepEnd":
            within.pop()
        assert {said.get("hardwareInfoId", *known)} <= known
        for limit in said.get("validators", ()):
            assert limit["type"] in ("GREATER_THAN_OR_EQUAL", "LESS_THAN_OR_EQUAL", "LESS_THAN")
            assert isinstance(limit["value"], int | float)
    ids = [step for step, kind, _ in record if kind == "testStepStart"]
    assert len(ids) == len(set(ids))


def measured(record: list[tuple[str, str, dict[str, Any]]], step: str) -> dict[str, dict[str, Any]]:
    """What a step measured, by name; `step` is its name."""
    (number,) = [number for number, kind, said in record if kind == "testStepStart" and said["name"] == step]
    return {said["name"]: said for own, kind, said in record if own == number and kind == "measurement"}


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("planted")
    with tarfile.open(PLANTED) as archive:
        archive.extractall(folder, filter="data")
    return folder / "library"


def scenes(planted: Path, name: str) -> Iterator[Path]:
    yield from sorted(planted.glob(f"2*-{name}-??????"))


def test_a_run_is_told_as_it_was(quick_run: QuickRun, tmp_path: Path) -> None:
    run = quick_run("mixed-random")
    file = tmp_path / "run.jsonl"
    assert main(["export", str(run.path), "-o", str(file)]) == 0
    (record,) = read(file.read_text())
    start = record[0][2]
    assert (
        start["name"] == "ssdlab mixed-random" and start["parameters"].items() >= run.manifest.params.items()
    )
    assert start["dutInfo"]["dutInfoId"] == run.manifest.drive.id
    names = [said["name"] for _, kind, said in record if kind == "testStepStart"]
    assert names == [*(step.label or step.verb for step in run.steps()), CONCLUSION]
    scalars = run.manifest.result["scalars"] if run.manifest.result else []
    found = measured(record, CONCLUSION)
    for each in scalars:
        if each["value"] is None:
            assert each["name"] not in found
            assert any(each["name"] in said["message"] for _, kind, said in record if kind == "log")
        else:
            assert (found[each["name"]]["value"], found[each["name"]]["unit"]) == (
                each["value"],
                each["unit"],
            )
            codes = [own["code"] for own in each.get("qualifiers", ())]
            assert found[each["name"]]["metadata"]["qualifiers"] == codes
    assert scalars and record[-1][2] == {"status": "COMPLETE", "result": "PASS"}


def test_times_are_those_of_the_run(quick_run: QuickRun) -> None:
    run = quick_run("qd1")
    lines = [json.loads(line) for line in records_of([source.read_run(run.path)]).splitlines()]
    session = run.manifest.sessions[0]
    stamps = [line["timestamp"] for line in lines]
    assert stamps[0] == session.started and stamps[-1] == session.ended and stamps == sorted(stamps)
    assert records_of([source.read_run(run.path)]) == records_of([source.read_run(run.path)])


@pytest.mark.parametrize(("passed", "ends"), [(True, "PASS"), (False, "FAIL")])
def test_the_verdict_is_the_methods(quick_run: QuickRun, passed: bool, ends: str) -> None:
    run = source.read_run(quick_run("qd1").path)
    kind = type(run.result)
    judged = type(kind.__name__, (kind,), {"passed": property(lambda _: passed)})
    ((*_, end),) = read(records_of([replace(run, result=judged.model_construct(**dict(run.result)))]))
    assert end[2] == {"status": "COMPLETE", "result": ends}
    ((*record,),) = read(records_of([run]))
    (diagnosis,) = [said for _, what, said in record if what == "diagnosis"]
    assert diagnosis["type"] == "UNKNOWN"


def test_ratings_are_validators_and_qualifiers_are_told(planted: Path) -> None:
    found = 0
    for folder in scenes(planted, "rated*"):
        rated = {f"rated {one.metric}": one.value for one in RunFolder(folder).manifest.ratings}
        (record,) = read(records_of([source.read_run(folder)]))
        limits = [limit for each in measured(record, CONCLUSION).values() for limit in each["validators"]]
        for limit in limits:
            if limit["name"] in rated:  # the others are bounds of findings
                factor = limit["value"] / rated[limit["name"]]
                assert any(abs(factor / unit - 1) < 1e-9 for unit in (1e-3, 1, 1e3)), limit
                found += 1
    assert found >= 2
    (folder,) = scenes(planted, "hot-reads")
    (record,) = read(records_of([source.read_run(folder)]))
    warned = [said["message"] for _, kind, said in record if kind == "log" and said["severity"] == "WARNING"]
    assert any("throttled" in message for message in warned)


def test_a_suite_brings_a_record_of_each_run(planted: Path, tmp_path: Path) -> None:
    (suite,) = scenes(planted, "suite")
    file = tmp_path / "suite.jsonl"
    assert main(["export", str(suite), "-o", str(file)]) == 0
    children = RunFolder(suite).manifest.children
    assert len(read(file.read_text())) == len([each for each in children if each.left_out is None])
    assert main(["export", str(suite), "-o", str(file)]) == 0, "an older export is replaced"
    file.write_text('{"schemaVersion": {"major": 2, "minor": 0}, "of": "another"}\n')
    assert main(["export", str(suite), "-o", str(file)]) == 2


@pytest.mark.parametrize(("scene", "status"), [("killed", "SKIP"), ("lost", "ERROR")])
def test_a_run_without_an_end_judges_nothing(planted: Path, scene: str, status: str) -> None:
    (folder,) = scenes(planted, scene)
    (record,) = read(records_of([source.read_run(folder)]))
    assert record[-1][2] == {"status": status, "result": "NOT_APPLICABLE"}
    assert not [kind for _, kind, _ in record if kind == "diagnosis"]
    assert bool([kind for _, kind, _ in record if kind == "error"]) == (status == "ERROR")


def test_a_table_of_it_is_refused_and_so_is_it_without_the_extra(
    quick_run: QuickRun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["export", str(quick_run("qd1").path), "-o", str(tmp_path / "x.jsonl")]
    assert main([*words, "--table", "steps"]) == 2
    monkeypatch.setattr(sheet_files, "find_spec", lambda _: None)
    capsys.readouterr()
    assert main(words) == 2 and "ssdlab[ocp]" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_an_import_has_no_size_or_seed_of_ours(tmp_path: Path) -> None:
    made.put(tmp_path / "fio.json", made.document("3.33", made.job("3.33", made.samples(100))))
    assert main(["import", str(tmp_path / "fio.json"), "--library", str(tmp_path / "runs")]) == 0
    (folder,) = (each for each in (tmp_path / "runs").iterdir() if (each / "manifest.json").exists())
    (record,) = read(records_of([source.read_run(folder)]))
    start = record[0][2]
    assert not start["parameters"].keys() & {"seed", "quick"}
    device = start["dutInfo"]
    assert not device["metadata"].keys() & {"capacity_bytes", "logical_block_bytes"}
    assert "fio-3.33" in [each["version"] for each in device["softwareInfos"]]
