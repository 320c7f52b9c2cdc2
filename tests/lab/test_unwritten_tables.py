"""A run that was stopped while its tables were written: every command says so and how to go on, and none
takes what lies there for its tables."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lab import damaged
from ssdlab.cli import main
from ssdlab.model.errors import HostError, Interrupted, Refused
from ssdlab.results import catalogue, compaction, finishing
from ssdlab.results.compaction import compact
from ssdlab.results.lease import RunLock
from ssdlab.results.run_folder import STEPS, RunFolder, read_manifest
from ssdlab.results.store import actual_status, write_manifest
from ssdlab.results.tables import SERIES
from ssdlab.results.verifying import verify_run
from ssdlab.runs.session import RunEnvironment, resume, start

REFUSED = 2


@pytest.fixture(scope="module")
def stopped_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of which the finishing never began: so a kill before the first table leaves it."""
    return start(
        damaged.sweep(),
        tmp_path_factory.mktemp("made") / "library",
        environment=RunEnvironment(finish=lambda folder, manifest, lock: manifest),
    )


@pytest.fixture
def stopped(stopped_once: Path, tmp_path: Path) -> Path:
    """Another copy of it, in a library of its own, with tables that nobody has sealed, of another run."""
    folder = Path(shutil.copytree(stopped_once, tmp_path / "library" / stopped_once.name))
    compact(folder)
    data = bytearray((folder / SERIES).read_bytes())
    data[len(data) // 2] ^= 1
    (folder / SERIES).write_bytes(bytes(data))
    catalogue.begun(folder.parent, folder.name)
    return folder


def said(capfd: pytest.CaptureFixture[str], *words: object) -> tuple[int, str]:
    status = main([str(word) for word in words])
    captured = capfd.readouterr()
    return status, captured.out + captured.err


def test_commands_name_the_state_and_how_to_go_on(
    stopped: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    library, page = stopped.parent, tmp_path / "page.html"
    go_on = f"ontinue with: ssdlab resume {stopped}"
    for words in (
        ["runs", "--library", library],
        ["show", stopped],
        ["library", "verify", "--library", library],
    ):
        status, text = said(capfd, *words)
        assert status == 0 and "tables not written" in text and go_on in text, text
    for words in (
        ["report", stopped, "-o", page],
        ["figures", stopped, "-o", tmp_path / "figures"],
        ["library", "pack", stopped, "-o", tmp_path / "a.tar.gz", "--redact"],
    ):
        status, text = said(capfd, *words)
        assert status == REFUSED and "are not written" in text and go_on in text, text
    assert not page.exists() and not (tmp_path / "a.tar.gz").exists()
    chosen = ["--status", "tables not written"]
    listed = json.loads(said(capfd, "runs", "--library", library, *chosen, "--json")[1])["runs"]
    assert [each["status"] for each in listed] == ["tables not written"]
    shown = json.loads(said(capfd, "show", stopped, "--json")[1])
    assert (shown["status"], shown["seal"]) == ("tables not written", "unfinished")


def test_tables_that_the_manifest_does_not_name_are_not_taken(stopped: Path) -> None:
    run = RunFolder(stopped)
    measured = next(step for step in run.steps() if step.result.measurement is not None)
    for read in (run.rows, run.histograms, run.telemetry):
        with pytest.raises(Refused, match="are not written"):
            read(measured.ordinal)
    whole = resume(stopped)
    assert (whole / SERIES).exists() and len(RunFolder(whole).rows(measured.ordinal)["ios"])


def test_the_run_is_entered_with_its_tables_alone(stopped: Path) -> None:
    assert catalogue.rebuild(stopped.parent).figures == 0
    resume(stopped)
    assert catalogue.rebuild(stopped.parent).figures > 0
    assert actual_status(stopped, read_manifest(stopped)) == "finished"
    assert verify_run(stopped).tables_written and verify_run(stopped).unknown == ()


def flip(log: Path) -> None:
    data = bytearray(log.read_bytes())
    data[len(data) // 2] ^= 1
    log.write_bytes(bytes(data))


def cut(log: Path) -> None:
    log.write_bytes(log.read_bytes()[:-9])


def all_away(log: Path) -> None:
    shutil.rmtree(log.parent)


@pytest.mark.parametrize("harm", [flip, cut, Path.unlink, all_away])
@pytest.mark.long
def test_damage_to_the_logs_is_seen(stopped: Path, harm: Callable[[Path], None]) -> None:
    assert verify_run(stopped).seal == "unfinished"
    harm(sorted((stopped / STEPS).glob("*.log"))[-1])
    found = verify_run(stopped)
    assert found.seal is None and found.damage
    with pytest.raises((Refused, HostError)) as error:
        resume(stopped)
    assert "rows are kept" not in error.value.advice and "restore" in error.value.advice


def interrupted(*_: object, **__: object) -> Any:
    raise KeyboardInterrupt("SIGTERM")


def test_a_signal_meanwhile_says_how_to_go_on(stopped: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(finishing.subprocess, "run", interrupted)
        with pytest.raises(Interrupted, match="all rows are kept") as error:
            resume(stopped)
    assert error.value.advice == f"continue with: ssdlab resume {stopped}"
    resume(stopped)


def test_a_signal_before_the_first_table_says_so_too(tmp_path: Path) -> None:
    with pytest.raises(Interrupted, match="all rows are kept") as error:
        start(damaged.sweep(), tmp_path, environment=RunEnvironment(finish=interrupted))
    folder = Path(error.value.facts["folder"])
    assert error.value.advice == f"continue with: ssdlab resume {folder}"
    assert actual_status(folder, read_manifest(folder)) == "tables not written"


def test_a_kill_between_manifest_and_logs_is_made_good(stopped: Path) -> None:
    """Some logs may be gone by then: the tables that the manifest names are not written again."""
    manifest = read_manifest(stopped)
    tables = tuple(compact(stopped))
    write_manifest(stopped, manifest.model_copy(update={"tables": tables}))
    sorted((stopped / STEPS).glob("*.log"))[0].unlink()
    resume(stopped)
    assert read_manifest(stopped).tables == tables and not (stopped / STEPS).exists()
    with pytest.raises(Refused, match="nothing to resume"):
        resume(stopped)


def test_a_parent_that_is_killed_leaves_a_run_that_is_whole(stopped: Path) -> None:
    """The child does all that must be done together."""
    lock = RunLock(stopped)
    assert compaction.main(os.dup(lock.folder.fileno()), stopped) == 0
    lock.release()
    assert {each.name for each in read_manifest(stopped).tables} >= {SERIES}
    assert actual_status(stopped, read_manifest(stopped)) == "finished"
