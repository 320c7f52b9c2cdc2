"""Failed I/O: no figure, state or verdict of a step with any is ranked, rated or called good."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from methods.failing_drive import failing
from methods.on_simulated import parts_of, proofs_of, quick_run
from ssdlab.cli import main
from ssdlab.lab.folders import REGISTRY
from ssdlab.lab.outcome import read_result
from ssdlab.model.errors import LabError
from ssdlab.results.evidence import PREPARING
from ssdlab.results.run_folder import RunFolder

pytestmark = pytest.mark.long

SHARES = (0.5, 1e-2, 1e-3, 1e-4, 1e-5)
TEN = [(direction, share) for share in SHARES for direction in ("write", "read")]
PROVEN = ("n steady state after", "steady from", "steady in round", "ended by steady state", "meets SNIA")
"""What is said of a state that was shown."""
FAILED = {"failed-io", "state-unproven"}


def spoilt_steps(run: RunFolder) -> tuple[set[int], set[int]]:
    """Return by the journal alone which steps had failed I/O, and which came after a preparation that had."""
    faulty: set[int] = set()
    after: set[int] = set()
    unproven = False
    for step in run.steps():
        measured = step.result.measurement or {}
        failed = sum((measured.get(each) or {}).get("failed", 0) for each in ("read", "write", "trim"))
        failed += int(step.result.facts.get("failed", 0))  # of reads that wake it
        if failed:
            faulty.add(step.ordinal)
        elif unproven:
            after.add(step.ordinal)
        if step.verb == "purge":
            unproven = False
        elif step.verb in PREPARING and failed:
            unproven = True
    return faulty, after


def check_nothing_good(run: RunFolder, capsys: pytest.CaptureFixture[str]) -> int:
    """Check what is said of a finished run; returns how many of its figures rest on failed I/O."""
    result: Any = read_result(run)
    faulty, after = spoilt_steps(run)
    every = {step.ordinal for step in run.steps() if step.verb not in PREPARING}
    marked = 0
    for figure in result.scalars:
        own = set(figure.steps) or every
        if own & faulty:
            marked += 1
            assert figure.codes[0] == "failed-io", figure.name
        if own & (faulty | after):
            assert figure.unfit("ranking") and figure.unfit("ratings"), figure.name
            assert FAILED.intersection(figure.codes), figure.name
    for part in parts_of(result.model_dump(mode="json")):
        if part.get("ordinal") in faulty:
            assert True not in (part.get("held"), part.get("passed"), part.get("reached")), part
    for proof in proofs_of(result):
        assert not (proof.reached and proof.ordinal in faulty | after)
    capsys.readouterr()
    assert main(["show", str(run.path), "--all"]) == 0
    shown = capsys.readouterr().out
    if marked:
        assert "failed I/O" in shown
    elif faulty:
        assert "I/O failed (" in shown or "I/Os failed (" in shown, "no figure is of it, and it is warned of"
    judged = {step.ordinal for step in run.steps() if step.result.measurement is not None}
    if judged <= faulty | after:
        assert result.passed is not True
        assert [each for each in PROVEN if each in shown] == []
    assert main(["show", str(run.path), "--json"]) == 0
    told, ranked = json.loads(capsys.readouterr().out), ""
    for figure in result.scalars:
        if (set(figure.steps) or every) & faulty:
            assert figure.name in told["qualifiers"]["failed-io"]["figures"]
            ranked = ranked or ("" if figure.value is None else figure.name)
    if ranked:
        assert main(["rank", ranked, "--library", str(run.path.parent)]) == 2
        assert "failed I/O" in capsys.readouterr().err
    return marked


@pytest.mark.parametrize(
    "name",
    ["peak-random-read", "rate-limit", "act", "pts-throughput", "idle-power", "read-under-writes"],
)
def test_half_of_its_reads(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    drive = failing(monkeypatch, "read", 0.5)
    check_nothing_good(quick_run(name, tmp_path), capsys)
    assert drive.failed


@pytest.mark.slow
@pytest.mark.parametrize("name", REGISTRY)
@pytest.mark.parametrize(("direction", "share"), TEN)
def test_ten_drives_through_all_methods(
    name: str,
    direction: str,
    share: float,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    drive = failing(monkeypatch, direction, share)
    try:
        run = quick_run(name, tmp_path)
    except LabError as error:  # where none of the reads that wake it went well
        assert error.facts.get("reason") == "no-reads", error
        return
    marked = check_nothing_good(run, capsys)
    assert marked == 0 or drive.failed, "figures are marked for I/Os that did not fail"
