"""A run folder from a stranger, or one that somebody else can write in: nothing outside it is changed."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from conftest import need_root
from safety import run_folders as made
from ssdlab.cli import main
from ssdlab.fleet.trusted_files import private_folder
from ssdlab.host.held_folder import HeldFolder
from ssdlab.model.errors import Refused
from ssdlab.results.run_folder import RunFolder
from ssdlab.results.store import add_note
from ssdlab.runs.session import resume

PLANTED, FORGED = list(made.planted()), list(made.forged())
EVERY = [*PLANTED, *FORGED]
STUCK_S = 60


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """An interrupted run, on a file that ssdlab made; with its state folder beside."""
    place = tmp_path_factory.mktemp("base")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(place / "state"))
        made.interrupted(place / "library", str(place / "own.img"), size_bytes=made.SIZE_BYTES)
        yield place


@pytest.fixture
def place(base: Path, scratch: Path) -> Path:
    """A library with a copy of the run that is ours, and a folder with victims."""
    made.make_victims(scratch / "outside")
    (scratch / "library").mkdir()
    made.copy_as_ours(next((base / "library").glob("2*")), scratch / "library")
    return scratch


def run_of(place: Path) -> Path:
    return next((place / "library").glob("2*"))


@pytest.fixture(autouse=True)
def never_stuck() -> Iterator[None]:
    """A command that waits for ever on a pipe ends the test."""
    signal.alarm(STUCK_S)
    yield
    signal.alarm(0)


def commands(place: Path, folder: Path) -> dict[str, int]:
    """Do what a user does with a run, and return how each command ended."""
    page = str(place / "page.html")
    every = (
        ["show", str(folder)],
        ["report", str(folder), "-o", page],
        ["note", str(folder), "a remark"],
        ["resume", str(folder)],
        ["show", str(folder)],
    )
    return {words[0]: main(words) for words in every}


def check(scene: made.Scene, place: Path) -> dict[str, int]:
    """Spoil the run and do everything with it: nobody else's file is changed, and no fault of ours is met."""
    folder = run_of(place)
    scene.spoil(folder, place / "outside")
    before = made.fingerprint(place / "outside")
    ended = commands(place, folder)
    assert made.fingerprint(place / "outside") == before, scene.name
    assert set(ended.values()) <= {0, 2, 3}, (scene.name, ended)
    assert {path.name for path in place.iterdir()} <= {"library", "outside", "page.html"}, scene.name
    return ended


@pytest.mark.parametrize("scene", EVERY[::7], ids=lambda scene: scene.name)
@pytest.mark.long
def test_a_spoilt_folder_changes_nothing_outside(scene: made.Scene, place: Path) -> None:
    check(scene, place)


@pytest.mark.slow
def test_every_spoilt_folder_changes_nothing_outside(
    base: Path, scratch: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """At least 200 of them; the figures go into the notes of a release."""
    assert len(EVERY) >= 180
    count = 0
    for scene in [*EVERY, *(made.given_away() if os.geteuid() == 0 else ())]:
        place = scratch / f"{count:03}"
        made.make_victims(place / "outside")
        (place / "library").mkdir()
        made.copy_as_ours(next((base / "library").glob("2*")), place / "library")
        signal.alarm(STUCK_S)
        check(scene, place)
        shutil.rmtree(place)
        count += 1
    with capsys.disabled():
        print(f"\n{count} spoilt run folders under show, report, note and resume: 0 changes outside")


@pytest.mark.parametrize("scene", list(made.given_away()), ids=lambda scene: scene.name)
@pytest.mark.outside
def test_what_belongs_to_somebody_else_is_read_and_not_written(
    scene: made.Scene, place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    need_root()
    folder = run_of(place)
    scene.spoil(folder, place)
    ended = commands(place, folder)
    assert ended["show"] == 0 and ended["report"] == 0 and ended["resume"] == 2
    assert "belongs to nobody" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["steps", "notes.jsonl", "journal.jsonl", ".manifest.json.new", "live.json"])
def test_a_link_is_refused_by_what_it_is(name: str, place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = run_of(place)
    (scene,) = [each for each in PLANTED if each.name == f"{name}: link to a folder"]
    scene.spoil(folder, place / "outside")
    assert main(["resume", str(folder)]) == 2
    said = capsys.readouterr().err
    assert f"{folder / name} is a link to {place / 'outside' / 'folder'}" in said


def test_a_pipe_in_the_place_of_a_file_keeps_nobody_waiting(place: Path) -> None:
    folder = run_of(place)
    (folder / "journal.jsonl").unlink()
    os.mkfifo(folder / "journal.jsonl")
    with pytest.raises(Refused, match="is a named pipe"):
        RunFolder(folder).journal()
    with pytest.raises(Refused, match="is a named pipe"):
        resume(folder)


# --- one access at a time: what is planted between the first look and the write is refused too ---


def append(folder: HeldFolder, name: str) -> None:
    os.write(folder.append_to(name), b"line\n")


def make_by_path(folder: HeldFolder, name: str) -> None:
    descriptor = os.open(folder.new_path(name), os.O_WRONLY | os.O_CREAT | os.O_EXCL)
    os.write(descriptor, b"rows")
    os.close(descriptor)


ACCESSES = {
    "append": append,
    "replace": lambda folder, name: folder.replace(name, "text"),
    "change the mode": lambda folder, name: folder.set_mode(name, 0o444),
    "remove": lambda folder, name: folder.remove(name),
    "remove a folder": lambda folder, name: folder.remove_folder(name),
    "remove a tree": lambda folder, name: folder.remove_tree(name),
    "make by its path": make_by_path,
    "open a folder": lambda folder, name: folder.folder(name, make=True).replace("manifest.json", "text"),
    "lock": lambda folder, name: os.close(folder.lock_file(name)),
}


@pytest.mark.parametrize("trick", made.TRICKS)
@pytest.mark.parametrize("access", ACCESSES)
def test_no_access_leads_out_of_a_held_folder(access: str, trick: str, scratch: Path) -> None:
    made.make_victims(scratch / "outside")
    (scratch / "run").mkdir()
    for name in ("file", ".file.new"):
        made.TRICKS[trick](scratch / "run" / name, scratch / "outside")
    before = made.fingerprint(scratch / "outside")
    with HeldFolder(scratch / "run", writing=True) as folder, contextlib.suppress(Refused, OSError):
        ACCESSES[access](folder, "file")
    assert made.fingerprint(scratch / "outside") == before


@pytest.mark.parametrize("name", ["", ".", "..", "../outside", "/etc/passwd", "a/b", "a\0b"])
def test_a_name_is_one_name(name: str, scratch: Path) -> None:
    with HeldFolder(scratch, writing=True) as folder, pytest.raises(Refused, match="not a file name"):
        folder.replace(name, "text")


def test_a_folder_that_is_put_in_its_place_gets_nothing(scratch: Path) -> None:
    (scratch / "run").mkdir()
    (scratch / "other").mkdir()
    with HeldFolder(scratch / "run", writing=True) as folder:
        (scratch / "run").rename(scratch / "moved")
        (scratch / "run").symlink_to(scratch / "other")
        folder.replace("manifest.json", "text")
        folder.sync()
    assert (scratch / "moved" / "manifest.json").read_text() == "text"
    assert not list((scratch / "other").iterdir())
    with pytest.raises(Refused, match="is a link"):
        HeldFolder(scratch / "run")


def test_a_private_folder_of_root_is_read_and_not_written_by_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 4711)
    with private_folder(Path("/usr"), writing=False) as folder:
        assert folder.writing is False
    with pytest.raises(Refused, match="/usr belongs to root") as caught:
        private_folder(Path("/usr"))
    assert caught.value.facts["reason"] == "not-ours"


def test_a_note_through_a_hard_link_is_refused(place: Path) -> None:
    folder = run_of(place)
    (folder / "notes.jsonl").unlink()
    os.link(place / "outside" / "secret", folder / "notes.jsonl")
    with pytest.raises(Refused, match="2 names"):
        add_note(folder, "text")


def test_the_page_does_not_go_through_a_link_that_waits_for_it(place: Path) -> None:
    """Whoever knows where root will put a page, and can write there."""
    for name in (".page.html.part", ".page.html.new"):
        (place / name).symlink_to(place / "outside" / "secret")
    before = made.fingerprint(place / "outside")
    assert main(["report", str(run_of(place)), "-o", str(place / "page.html")]) == 0
    assert made.fingerprint(place / "outside") == before


def test_a_resumed_run_keeps_what_it_had(place: Path) -> None:
    """The base of all scenes, unspoilt: its consent counts, and it is brought to its end."""
    folder = run_of(place)
    assert main(["resume", str(folder)]) == 0
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["status"] == "finished" and len(manifest["sessions"]) == 2
