"""`unpack`, `rm`, `rm --restore` and `tag`, killed at each call that changes the file system."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
from pathlib import Path
from typing import Any

import pytest

from library.made import run
from library.test_packing import packed, suite
from ssdlab.cli import main
from ssdlab.host.defaults import CHANGES
from ssdlab.host.held_folder import HeldFolder
from ssdlab.results import catalogue
from ssdlab.results.settling import settling, take_up
from ssdlab.results.store import run_folders
from ssdlab.results.tags import read_tags
from ssdlab.results.verifying import verify_library

CHANGING = frozenset(("os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.link", "os.chmod"))
MOST = 400
"""More calls than any of these commands makes."""


def killed_at(point: int, words: list[str]) -> bool:
    """Run a command in a child that kills itself before a call by its number; whether it came to that."""
    child = os.fork()
    if child == 0:
        left = point

        def watch(event: str, facts: tuple[Any, ...]) -> None:
            nonlocal left
            if event in CHANGING or (event == "open" and isinstance(facts[2], int) and facts[2] & os.O_CREAT):
                left -= 1
                if left < 0:
                    os.kill(os.getpid(), signal.SIGKILL)

        try:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            sys.addaudithook(watch)
            main(words)
        finally:
            os._exit(0)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert status in (0, -signal.SIGKILL)
    return status != 0


def entered(library: Path) -> Path:
    """A run, and a suite with its run, in the catalogue."""
    for folder in (run(library, 1), suite(library)):
        catalogue.add(library, folder)
    catalogue.add(library, library / "20261121-0900-qd1-000098")
    return library


def states(library: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, tuple[str, ...]]:
    """What the next command lists, and that it is what the folders hold."""
    capsys.readouterr()
    assert main(["runs", "--library", str(library), "--json"]) == 0
    listed = {each["folder"]: tuple(each["tags"]) for each in json.loads(capsys.readouterr().out)["runs"]}
    assert listed == {folder.name: read_tags(folder) for folder in run_folders(library)}
    assert {each.damage for each in verify_library(library)} <= {None}
    assert not list(library.glob(".unpack-*")) and not list((library / CHANGES).glob("*"))
    return listed


def begin(place: Path, what: str) -> tuple[Path, list[str]]:
    library = entered(place / "library")
    named = ["20261121-0900-qd1-000099", "20261121-0900-qd1-000001", "--library", str(library)]
    match what:
        case "unpack":
            names = [folder for folder in run_folders(library) if not folder.name.endswith("98")]
            archive = packed(names, place / "x.tar.gz")
            shutil.rmtree(library)
            return library, ["library", "unpack", str(archive), "--library", str(library)]
        case "rm":
            return library, ["rm", *named]
        case "restore":
            assert main(["rm", *named]) == 0
            return library, ["rm", "--restore", *named]
        case "tag":
            return library, ["tag", named[1], "kept", "--library", str(library)]
    raise AssertionError(what)


@pytest.mark.long
@pytest.mark.parametrize("what", ["unpack", "rm", "restore", "tag"])
def test_a_killed_change_is_finished_or_undone_by_the_next_command(
    tmp_path: Path, what: str, capsys: pytest.CaptureFixture[str]
) -> None:
    library, words = begin(tmp_path / "as it is", what)
    before = states(library, capsys) if library.exists() else {}
    assert main(words) == 0
    after = states(library, capsys)
    assert before != after
    ended = []
    for point in range(MOST):
        library, words = begin(tmp_path / str(point), what)
        if not killed_at(point, words):
            break
        library.mkdir(exist_ok=True)
        found = states(library, capsys)
        ended.append(found == after)
        assert found in (before, after), f"killed before call {point}"
        assert main(words) == 0 or found == after
        assert states(library, capsys) == after
        shutil.rmtree(tmp_path / str(point))
    assert len(ended) >= 8 and True in ended and False in ended


def test_two_commands_do_not_take_up_each_others_changes(tmp_path: Path) -> None:
    library = entered(tmp_path / "library")
    name = run_folders(library)[0].name
    with HeldFolder(library) as held, settling(held) as change:
        change.move([(name, f".trash/{name}")])
        child = os.fork()
        if child == 0:
            take_up(library)
            os._exit(0)
        os.waitpid(child, 0)
        assert (library / name).exists(), "it is being done"
    assert (library / ".trash" / name).exists() and not (library / name).exists()


@pytest.mark.parametrize(
    "text", ["", "{", '{"moves":[["../x","y"]],"runs":["../x"],"scratch":"../x"}', '{"moves":1}', "[]"]
)
def test_a_note_of_somebody_else_leads_nowhere(tmp_path: Path, text: str) -> None:
    library = entered(tmp_path / "library")
    (tmp_path / "x").mkdir()
    changes = library / CHANGES
    changes.mkdir(exist_ok=True)
    (changes / "note").write_text(text + "\n")
    before = sorted(library.rglob("*"))
    take_up(library)
    assert (tmp_path / "x").exists() and not (tmp_path / "y").exists()
    assert set(before) - set(library.rglob("*")) <= {changes / "note"}
