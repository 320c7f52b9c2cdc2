"""What a run was allowed counts only on this host, in this folder, with this manifest, on this drive."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from conftest import need_root
from safety import run_folders as made
from ssdlab.cli import main
from ssdlab.host.consent import host_key, is_sealed, seal
from ssdlab.host.user_folders import state_folder
from ssdlab.lab.found import find_method
from ssdlab.lab.job import read_job
from ssdlab.lab.suites.suite import Part
from ssdlab.model.errors import Interrupted, Refused
from ssdlab.results import journal
from ssdlab.results.run_folder import read_manifest
from ssdlab.results.store import run_folders, write_manifest
from ssdlab.runs import consent_record, resume_checks
from ssdlab.runs.consent_record import CONSENT, Renewal
from ssdlab.runs.runner import Paused
from ssdlab.runs.session import Order, RunEnvironment, resume, start
from ssdlab.runs.suites.session import resume_suite, start_suite
from suites.made import Watcher, suite, suite_order


@pytest.fixture(autouse=True)
def host(scratch: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(scratch / "state"))


@pytest.fixture
def foreign(scratch: Path) -> Path:
    """A file that ssdlab did not make."""
    path = scratch / "foreign.img"
    path.write_bytes(os.urandom(made.SIZE_BYTES))
    return path


@pytest.fixture
def run(scratch: Path, foreign: Path) -> Path:
    """An interrupted run that was allowed to overwrite that file."""
    return made.interrupted(scratch / "library", str(foreign), destroy="foreign.img")


def given(folder: Path) -> list[dict]:
    return json.loads((folder / CONSENT).read_text())["given"]


def another_boot(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (journal, consent_record, resume_checks):
        monkeypatch.setattr(module, "boot_id", lambda: "another boot")


def asks_again(folder: Path, foreign: Path, words: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A plain resume is refused and writes nothing; with the drive's name it goes on to the end."""
    before = foreign.read_bytes()
    assert main(["resume", str(folder)]) == 2
    said = capsys.readouterr().err
    assert words in said and said.rstrip().endswith("--destroy foreign.img")
    assert main(["resume", str(folder), "--destroy", "other.img"]) == 2
    assert foreign.read_bytes() == before
    assert main(["resume", str(folder), "--destroy", "foreign.img"]) == 0
    assert foreign.read_bytes() != before
    assert read_manifest(folder).open_options["destroy"] == "foreign.img"


def test_here_it_still_counts(run: Path) -> None:
    assert resume(run) == run
    assert len(given(run)) == 1


def test_it_counts_after_a_reboot_and_in_a_folder_that_was_moved(
    run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    another_boot(monkeypatch)
    moved = run.rename(run.with_name("moved"))
    assert resume(moved) == moved


def test_a_copy_of_the_folder_asks_again(
    run: Path, foreign: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    copy = Path(shutil.copytree(run, run.with_name("copy")))
    asks_again(copy, foreign, "is a copy", capsys)
    first, second = given(copy)
    assert (first["session"], second["session"]) == (0, 1)
    assert second["folder_inode"] == copy.stat().st_ino


def test_another_host_asks_again(
    run: Path, foreign: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(run.parent.parent / "other host"))
    asks_again(run, foreign, "was not sealed by this user on this host", capsys)
    assert state_folder().is_relative_to(run.parent.parent / "other host")


def test_a_folder_of_an_earlier_version_asks_once(
    run: Path, foreign: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (run / CONSENT).unlink()
    asks_again(run, foreign, "has no record of consent", capsys)


def test_consent_given_again_stays_given(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (run / CONSENT).unlink()
    with pytest.raises(Paused):
        resume(run, environment=RunEnvironment(pause_after=2), renewal=Renewal("foreign.img"))
    assert resume(run) == run


def test_a_run_that_only_reads_needs_none(scratch: Path) -> None:
    job = find_method("job")
    params = read_job('[[step]]\ndo = "run"\nseconds = "50ms"\n[[step]]\ndo = "idle"\nseconds = "1ms"', "j")
    with pytest.raises(Paused):
        order = Order(job, params, str(scratch / "s.img"), size_bytes=made.SIZE_BYTES)
        start(order, scratch / "library", environment=RunEnvironment(pause_after=1))
    (folder,) = run_folders(scratch / "library")
    (folder / CONSENT).unlink()
    assert resume(folder) == folder


def test_even_a_file_that_ssdlab_made_is_not_written_because_a_folder_says_so(scratch: Path) -> None:
    own, other = scratch / "own.img", scratch / "other.img"
    folder = made.interrupted(scratch / "library", str(own), size_bytes=made.SIZE_BYTES)
    assert main(["measure", str(other), "--size", "1MiB", "--seconds", "20ms"]) == 0
    manifest = read_manifest(folder)
    options = {**manifest.open_options, "text": str(other)}
    drive = manifest.drive.model_copy(update={"id": str(other), "text": str(other), "identity": {}})
    write_manifest(folder, manifest.model_copy(update={"open_options": options, "drive": drive}))
    before = other.read_bytes()
    with pytest.raises(Refused, match="has changed since consent"):
        resume(folder)
    assert other.read_bytes() == before


def test_nothing_is_made_in_the_place_of_a_file_that_is_gone(run: Path, foreign: Path) -> None:
    foreign.unlink()
    manifest = read_manifest(run)
    drive = manifest.drive.model_copy(update={"kind": "block"})
    options = {**manifest.open_options, "size_bytes": made.SIZE_BYTES}
    write_manifest(run, manifest.model_copy(update={"drive": drive, "open_options": options}))
    for words in ([], ["--destroy", "foreign.img"]):
        assert main(["resume", str(run), *words]) == 2
    assert not foreign.exists()


def test_what_the_folder_allows_counts_for_nothing_beside_consent_given_again(run: Path) -> None:
    manifest = read_manifest(run)
    options = {**manifest.open_options, "wipe_signatures": True, "endurance_cap": 50.0}
    write_manifest(run, manifest.model_copy(update={"open_options": options}))
    resume(run, renewal=Renewal("foreign.img"))
    kept = read_manifest(run).open_options
    assert (kept["wipe_signatures"], kept["endurance_cap"]) == (False, None)


def test_other_consent_goes_with_the_name_of_the_drive(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["resume", str(run), "--wipe-signatures"]) == 2
    assert "--destroy" in capsys.readouterr().err


def test_the_state_of_a_simulated_drive_is_kept_only_with_consent(scratch: Path) -> None:
    kept = scratch / "kept.state"
    text = f"sim:tiny-test,scale=4,state={kept}"
    folder = made.interrupted(scratch / "library", text, destroy=text)
    content = kept.read_bytes()
    copy = Path(shutil.copytree(folder, folder.with_name("copy")))
    kept.unlink()
    with pytest.raises(Refused, match="is a copy"):
        resume(copy)
    with pytest.raises(Refused, match="not the identifier"):
        resume(copy, renewal=Renewal("kept.state"))
    assert not kept.exists(), "and so is nothing made where a folder says"
    kept.write_bytes(content)
    assert resume(folder) == folder


# --- suites ---


def stopped_suite(library: Path, drive: Path) -> Path:
    """A suite that writes, stopped after the first steps of its first run."""
    settings = {"seconds": "40ms", "ramp_seconds": "0", "size_seconds": "20ms", "sizes": "4k"}
    settings |= {"steady": "false", "depths": "1"}
    parts = (Part("qd1", "written"), Part("peak-random-read", "written"))
    order = suite_order(suite(*parts), str(drive), settings, destroy=drive.name)
    with pytest.raises(Interrupted):
        start_suite(order, library, Watcher(), environment=RunEnvironment(pause_after=1))
    return next(each for each in run_folders(library) if read_manifest(each).children)


def test_a_suite_goes_on_where_it_stopped(scratch: Path, foreign: Path) -> None:
    folder = stopped_suite(scratch / "library", foreign)
    assert resume_suite(folder, Watcher()) == folder


def test_a_library_that_was_copied_asks_again_for_all_runs_of_a_suite(
    scratch: Path, foreign: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = stopped_suite(scratch / "library", foreign)
    copy = Path(shutil.copytree(folder.parent, scratch / "copy")) / folder.name
    before = foreign.read_bytes()
    assert main(["resume", str(copy)]) == 2
    assert "is a copy" in capsys.readouterr().err
    assert main(["resume", str(copy), "--destroy", "other.img"]) == 2
    assert foreign.read_bytes() == before
    assert main(["resume", str(copy), "--destroy", "foreign.img"]) == 0
    runs = [copy.parent / child.run_id for child in read_manifest(copy).children]
    assert [read_manifest(run).status for run in runs] == ["finished", "finished"]


def test_a_suite_does_not_begin_a_run_on_another_drive_than_it_says(scratch: Path, foreign: Path) -> None:
    folder = stopped_suite(scratch / "library", foreign)
    victim = scratch / "victim.img"
    victim.write_bytes(os.urandom(made.SIZE_BYTES))
    manifest = read_manifest(folder)
    children = tuple(child.model_copy(update={"drive": str(victim)}) for child in manifest.children)
    options = {**manifest.open_options, "destroy": victim.name}
    write_manifest(folder, manifest.model_copy(update={"children": children, "open_options": options}))
    before = victim.read_bytes()
    with pytest.raises(Refused, match="has changed since consent"):
        resume_suite(folder, Watcher())
    assert victim.read_bytes() == before


# --- the key ---


def key_file() -> Path:
    return state_folder() / f"key-{os.geteuid()}"


def test_a_key_is_made_once_and_for_this_user_alone() -> None:
    first = host_key()
    assert first is not None and len(first) == 32 and host_key() == first
    assert key_file().stat().st_mode & 0o777 == 0o600
    assert state_folder().stat().st_mode & 0o777 == 0o700
    made_seal = seal(b"content", "purpose")
    assert is_sealed(b"content", "purpose", made_seal)
    assert not is_sealed(b"content!", "purpose", made_seal)
    assert not is_sealed(b"content", "another", made_seal) and not is_sealed(b"content", "purpose", None)
    key_file().unlink()
    assert host_key() != first and not is_sealed(b"content", "purpose", made_seal)


def readable(path: Path) -> None:
    path.chmod(0o644)


def given_away(path: Path) -> None:
    need_root()
    os.chown(path, made.NOBODY, made.NOBODY)


def a_link(path: Path) -> None:
    path.rename(path.with_name("elsewhere"))
    path.symlink_to("elsewhere")


def two_names(path: Path) -> None:
    os.link(path, path.with_name("elsewhere"))


def no_key(path: Path) -> None:
    path.write_text("secret\n")


@pytest.mark.parametrize("spoil", [readable, given_away, a_link, two_names, no_key])
@pytest.mark.outside
def test_a_key_that_others_may_know_is_refused(spoil: Callable[[Path], None], run: Path) -> None:
    spoil(key_file())
    with pytest.raises(Refused) as refused:
        resume(run)
    assert str(key_file()) in refused.value.what


def test_without_a_place_for_a_key_runs_are_made_and_ask_again(scratch: Path, foreign: Path) -> None:
    (scratch / "state").write_text("no folder")
    folder = made.interrupted(scratch / "library", str(foreign), destroy="foreign.img")
    assert given(folder)[0]["seal"] is None
    with pytest.raises(Refused, match="was not sealed"):
        resume(folder)
