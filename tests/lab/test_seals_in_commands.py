"""What commands, suites and `library verify` tell of damage."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from lab.damaged import REFUSED, UNSEALED, DamagedRun
from lab.fake_drive import FakeDrive
from lab.synthetic import edited
from ssdlab.cli import main
from ssdlab.lab.suites.suite import Part
from ssdlab.results.run_folder import (
    CONDITIONS,
    CONDITIONS_SCHEMA,
    JOURNAL,
    MANIFEST,
    NOTES,
    STEPS,
    RunFolder,
)
from ssdlab.results.seal import seal_document
from ssdlab.results.step_log import log_name
from ssdlab.results.tables import HIST, SERIES
from ssdlab.results.verifying import verify_run
from ssdlab.runs.suites.session import start_suite
from suites import made as suites

# --- every command, and suites ---


@pytest.mark.parametrize("name", [MANIFEST, JOURNAL])
def test_every_command_refuses_a_damaged_run(
    make_damaged: Callable[[str], DamagedRun], capfd: pytest.CaptureFixture[str], name: str
) -> None:
    damaged = make_damaged("killed")
    folder, data = damaged.folder, damaged.whole[name]
    at = len(data) // 2
    damaged.put(name, data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    commands = [["show"], ["report", "-o", str(folder.parent / "page.html")], ["resume"]]
    for first, *rest in [*commands, *([["watch", "--json"], ["act", "log"]] if name == MANIFEST else [])]:
        words = [*rest[:1], str(folder), *rest[1:]] if first == "act" else [str(folder), *rest]
        assert main([first, *words]) == REFUSED
        err = capfd.readouterr().err
        assert f"{name} is damaged" in err and ("line" in err or name == MANIFEST), err
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize("name", [MANIFEST, JOURNAL, SERIES, HIST, NOTES, CONDITIONS])
def test_what_only_reads_refuses_a_damaged_run(make_damaged: Callable[[str], DamagedRun], name: str) -> None:
    """A bit of each file; nothing is appended either."""
    damaged = make_damaged("finished")
    folder = damaged.folder
    assert damaged.command("note", str(folder), "whole")[0] == 0
    if name == CONDITIONS:
        text = json.dumps({"schema": CONDITIONS_SCHEMA, "settings": []})
        damaged.put(CONDITIONS, seal_document(text).encode())
    for words in (["show", str(folder)], ["watch", str(folder)], ["watch", str(folder), "--json"]):
        assert damaged.command(*words)[0] == 0
    data = bytearray((folder / name).read_bytes())
    data[len(data) // 2] ^= 1
    damaged.put(name, bytes(data))
    before = (folder / NOTES).read_bytes()
    for first, *rest in (["show"], ["watch"], ["watch", "--json"], ["note", "more"]):
        assert damaged.command(first, str(folder), *rest)[0] == REFUSED, first
    assert (folder / NOTES).read_bytes() == before


def test_the_logs_of_a_killed_run_are_held_against_their_checksums(
    make_damaged: Callable[[str], DamagedRun],
) -> None:
    damaged = make_damaged("killed")
    folder = damaged.folder
    assert verify_run(folder).seal == "unfinished"
    step = next(each for each in RunFolder(folder).steps() if each.result.measurement is not None)
    log = folder / STEPS / log_name(step.ordinal, step.attempt)
    data = bytearray(log.read_bytes())
    data[len(data) // 2] ^= 1
    log.write_bytes(bytes(data))
    assert "damaged" in str(verify_run(folder).damage)
    for words in (["show"], ["watch"], ["note", "more"]):
        assert damaged.command(words[0], str(folder), *words[1:])[0] == REFUSED


@pytest.mark.parametrize("name", ["live.json", "consent.json"])
def test_verify_tells_of_damage_to_what_a_killed_run_keeps_beside_its_record(
    make_damaged: Callable[[str], DamagedRun], name: str
) -> None:
    damaged = make_damaged("killed")
    schema = {"live.json": "ssdlab.live/2", "consent.json": "ssdlab.consent/2"}[name]
    whole = seal_document(json.dumps({"schema": schema, "given": []})).encode()
    for data, seal in ((whole, "unfinished"), (b"", "unfinished"), (whole.replace(b"given", b"gived"), None)):
        damaged.put(name, data)
        assert verify_run(damaged.folder).seal == seal


def test_verify_tells_what_does_not_belong_to_a_run(make_damaged: Callable[[str], DamagedRun]) -> None:
    damaged = make_damaged("finished")
    assert verify_run(damaged.folder).unknown == ()
    damaged.put("more.parquet", b"x")
    (damaged.folder / "more").mkdir()
    found = verify_run(damaged.folder)
    assert found.seal == "sealed" and found.unknown == ("more", "more.parquet")
    told = damaged.command("library", "verify", "--library", str(damaged.folder.parent))[1]
    assert "unsealed files: more, more.parquet" in told
    os.mkfifo(damaged.folder / "pipe")
    assert "is a named pipe" in str(verify_run(damaged.folder).damage)


def test_a_suite_names_the_seals_of_its_runs(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    made = suites.suite(Part("peak-random-read", "any"), Part("peak-sequential-read", "any"))
    order = suites.suite_order(made, "/dev/fake0", {"depths": "1", "seconds": "1", "ramp_seconds": "0"})
    folder = start_suite(order, tmp_path, suites.Watcher(), suites.environment(FakeDrive()))
    suite = RunFolder(folder)
    assert suite.verify() == "sealed"
    first, second = (tmp_path / run_id for run_id in suite.manifest.sealed.runs)
    assert {first.name, second.name} == {child.run_id for child in suite.manifest.children}
    edited(first, seed=1)
    assert RunFolder(first).manifest.seed == 1, "an edit that was sealed anew shows in nothing but the suite"
    for words in (["show"], ["report", "-o", str(tmp_path / "page.html")]):
        assert main([words[0], str(folder), *words[1:]]) == REFUSED
        assert f"{first} is not the run that" in capfd.readouterr().err
    shutil.rmtree(first)
    assert main(["show", str(folder)]) == REFUSED


# --- the whole library ---


def test_library_verify_names_what_is_damaged(
    made: dict[str, Path], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    library = tmp_path / "library"
    sealed, killed = (Path(shutil.copytree(made[which], library / which)) for which in ("finished", "killed"))
    shutil.copytree(UNSEALED / "measured", library / "old")
    for count in (0, 1):
        status = main(["library", "verify", "--library", str(library), "--json"])
        told = json.loads(capfd.readouterr().out)
        states = {each["run"]: each["seal"] for each in told["runs"]}
        assert status == (REFUSED if count else 0) and told["damaged"] == count
        assert states == {
            "finished": None if count else "sealed",
            "killed": "unfinished",
            "old": "not sealed",
        }
        (sealed / HIST).chmod(0o644)
        (sealed / HIST).write_bytes((made["measured"] / HIST).read_bytes())
    assert main(["library", "verify", "--library", str(library)]) == REFUSED
    out = capfd.readouterr().out
    assert f"finished: damaged: {sealed / HIST} is damaged" in out and "runs: 3, damaged: 1" in out
    (killed / MANIFEST).unlink()
    assert verify_run(killed).damage == f"{killed} is not a run folder: it has no manifest.json"
    assert main(["library", "verify", "--library", str(library)]) == REFUSED
