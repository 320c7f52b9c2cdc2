"""A file that a command writes where its user says: what is there stands, and no stranger leads us astray."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from conftest import need_root
from ssdlab.cli import main
from ssdlab.formats.traces import capture
from ssdlab.host.output_files import OutputFile, followed, write_new
from ssdlab.model.errors import LabError, Refused, UsageError
from ssdlab.report import page, source

NOBODY = 65534
PACKAGE = Path(__file__).parents[2] / "python" / "ssdlab"
Writing = Callable[[Path], int]


def measure(*words: str, drive: str = "sim:tiny-test") -> int:
    small = ("--bs", "4k", "--seconds", "0.01", "--allow-unwritten", "--json")
    return main(["measure", drive, "--rw", "randread", *small, *words])


def recorded(path: Path) -> int:
    """`trace record` up to where the kernel is asked, which needs root and a device."""
    try:
        capture._check_output(path, capture.Traced((), "0,0", 0))
        with capture._new(path, capture.Captured(str(path), "x")):
            return 0
    except LabError as error:
        return error.exit_status


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    library = tmp_path_factory.mktemp("library")
    assert measure("--save", "--library", str(library)) == 0
    (folder,) = (each for each in library.iterdir() if (each / "manifest.json").exists())
    return folder


@pytest.fixture
def writing(run: Path, tmp_path: Path) -> dict[str, Writing]:
    """Every way to name a file that is written, by what it is called."""
    library = str(tmp_path / "library")
    return {
        "report": lambda path: main(["report", str(run), "-o", str(path), "--json"]),
        "demo": lambda path: main(["demo", "-o", str(path), "--on", "sim:nothing", "--json"]),
        "log-ios": lambda path: measure("--log-ios", str(path)),
        "log-ios saved": lambda path: measure("--log-ios", str(path), "--save", "--library", library),
        "act config": lambda path: main(["act", "config", "--device", "x", "--output", str(path)]),
        "trace record": recorded,
        "state": lambda path: measure(drive=f"sim:tiny-test,state={path}"),
    }


WAYS = ("report", "demo", "log-ios", "log-ios saved", "act config", "trace record", "state")


@pytest.mark.parametrize("way", WAYS)
def test_a_file_of_another_kind_is_left_as_it_is(
    writing: dict[str, Writing], way: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "precious.txt"
    path.write_text("years of work")
    assert writing[way](path) == 2
    if way not in ("state", "trace record"):
        assert "would be overwritten" in capsys.readouterr().err
    assert path.read_text() == "years of work"
    page_like = tmp_path / "page.html"
    page_like.write_text("<!doctype html><title>somebody else's page</title>")
    assert writing[way](page_like) == 2
    assert "somebody" in page_like.read_text()


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.outside
def test_a_stranger_s_link_leads_no_file_of_ours_anywhere(
    writing: dict[str, Writing], way: str, tmp_path: Path
) -> None:
    need_root()
    private, theirs = tmp_path / "private", tmp_path / "theirs"
    private.mkdir()
    theirs.mkdir()
    link = theirs / "link"
    link.symlink_to(private)
    os.chown(theirs, NOBODY, NOBODY)
    os.chown(link, NOBODY, NOBODY, follow_symlinks=False)
    assert writing[way](link / "made") == 2
    assert not list(private.iterdir())
    last = tmp_path / "last"
    last.symlink_to(private / "made")
    os.chown(last, NOBODY, NOBODY, follow_symlinks=False)
    assert writing[way](last) == 2
    assert not list(private.iterdir())


@pytest.mark.parametrize("way", [way for way in WAYS if way != "demo"])
def test_where_nothing_is_the_file_is_made(writing: dict[str, Writing], way: str, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "own").symlink_to(tmp_path / "folder")
    path = tmp_path / "own" / "made"
    assert writing[way](path) == 0
    assert path.is_file()
    assert [each.name for each in (tmp_path / "folder").iterdir()] == ["made"]


def test_an_older_page_is_replaced(run: Path, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    page.write([source.read_run(run)], path)
    first = path.read_bytes()
    path.write_bytes(first + b"<!-- older -->")
    page.write([source.read_run(run)], path)
    assert path.read_bytes() == first


def test_an_empty_file_is_what_a_killed_recording_leaves(tmp_path: Path) -> None:
    (tmp_path / "trace").touch()
    assert recorded(tmp_path / "trace") == 0


def test_names_that_no_file_can_have(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(UsageError, match="there is no folder"):
        OutputFile(tmp_path / "no" / "file")
    with pytest.raises(UsageError, match="File name too long"):
        OutputFile(tmp_path / ("n" * 300)).close()
    for odd in (tmp_path, Path("/dev/null"), Path("/dev/stdout")):
        with pytest.raises(Refused):
            OutputFile(odd)
    with pytest.raises(UsageError, match="does not name a file"):
        OutputFile(tmp_path / "..")
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(Refused, match="a named pipe") as caught:
        write_new(tmp_path / "pipe", "text")
    assert caught.value.facts["reason"] == "not-plain"
    assert main(["report", "x", "-o", str(tmp_path / "pipe"), "--json"]) == 2
    assert json.loads(capsys.readouterr().out)["facts"]["reason"] == "not-plain"


def test_links_of_our_own_are_followed_to_their_end(tmp_path: Path) -> None:
    (tmp_path / "first").symlink_to("second")
    (tmp_path / "second").symlink_to(tmp_path / "third")
    assert followed(tmp_path / "first") == Path(os.path.realpath(tmp_path)) / "third"


WRITERS = {
    "cli/fleet.py": "`page.write_text`, which goes through output_files",
    "cli/output.py": "the null device",
    "drives/guard/mark.py": "our own record",
    "drives/settings/setting.py": "a setting of the kernel",
    "drives/trim/trimming.py": "a tracing instance of the kernel",
    "host/output_files.py": "the one place",
    "host/tracefs.py": "a tracing instance of the kernel",
    "lab/verbs/trace.py": "within a run folder",
    "report/overview.py": "`page.write_text`, which goes through output_files",
    "report/paper.py": "in a folder of its own that nobody else may enter",
}


def test_nothing_else_opens_a_file_for_writing_by_its_name() -> None:
    opening = re.compile(r"""\.open\(["'][wxa]|\.write_(?:text|bytes)\(|\.touch\(|O_CREAT""")
    holding = {"host/held_folder.py", "drives/file/holding.py", "drives/simulated/state.py"}
    found = {
        str(path.relative_to(PACKAGE))
        for path in PACKAGE.rglob("*.py")
        if opening.search(path.read_text(encoding="utf-8"))
    }
    assert found - holding <= set(WRITERS)
