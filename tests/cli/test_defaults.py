"""What is used where nothing is named: the order of option, variable and file, and files that are wrong."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

import ssdlab
from ssdlab.cli import main
from ssdlab.cli.completion import runs as offered_runs
from ssdlab.cli.report import themed
from ssdlab.drives.drive_record import records_folder
from ssdlab.host import documents
from ssdlab.host.defaults import config_path, default_library, library_words
from ssdlab.host.platform import read_rig
from ssdlab.host.user_folders import config_folder, data_folder, state_folder
from ssdlab.model.errors import UsageError
from ssdlab.results.unwritten_tables import run_words
from ssdlab.runs import doctor
from ssdlab.runs.meters import chosen_meter

Write = Callable[[str | bytes], Path]


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A user who has nothing yet, at work in an empty folder."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for kind, usual in (("CONFIG", ".config"), ("DATA", ".local/share"), ("STATE", ".local/state")):
        monkeypatch.setenv(f"XDG_{kind}_HOME", str(tmp_path / "home" / usual))
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    return tmp_path / "home"


@pytest.fixture
def write(home: Path) -> Write:
    """Writes `config.toml`."""

    def made(content: str | bytes) -> Path:
        path = home / ".config/ssdlab/config.toml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return made


def listed(capsys: pytest.CaptureFixture[str], *words: str) -> Path:
    """The library that a command takes."""
    assert main(["runs", "--json", *words]) == 0
    return Path(json.loads(capsys.readouterr().out)["library"])


def error_of(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    """What a command says that is refused as wrong usage."""
    assert main([*words, "--json"]) == 2
    return cast("dict[str, Any]", json.loads(capsys.readouterr().out))


# Folders.


@pytest.mark.parametrize(
    ("folder", "variable", "usual"),
    [
        (state_folder, "XDG_STATE_HOME", ".local/state"),
        (data_folder, "XDG_DATA_HOME", ".local/share"),
        (config_folder, "XDG_CONFIG_HOME", ".config"),
    ],
)
def test_a_folder_is_where_xdg_has_it(
    folder: Callable[..., Path], variable: str, usual: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert folder({variable: "/x", "HOME": "/h"}) == Path("/x/ssdlab")
    for ignored in ("", "relative", "~/x"):
        assert folder({variable: ignored, "HOME": "/h"}) == Path("/h", usual, "ssdlab")
    monkeypatch.setattr(os.path, "expanduser", lambda text: text)  # of a user without any home
    monkeypatch.delenv("HOME")
    assert folder({}) == Path("/", usual, "ssdlab")


def test_what_a_user_writes_lies_in_one_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", "relative")
    assert {config_path().parent, records_folder().parent} == {config_folder()}


# The library.


def test_the_library_is_that_of_option_variable_file_and_data_folder_in_this_order(
    home: Path, write: Write, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert listed(capsys) == home / ".local/share/ssdlab/runs"
    write('library = "~/of-file"')
    assert listed(capsys) == home / "of-file"
    monkeypatch.setenv("SSDLAB_LIBRARY", "/of-variable")
    assert listed(capsys) == Path("/of-variable")
    assert listed(capsys, "--library", "/of-option") == Path("/of-option")
    monkeypatch.setenv("SSDLAB_LIBRARY", "")
    assert listed(capsys) == home / "of-file"


def test_a_relative_path_is_meant_from_where_it_is_written(
    home: Path, write: Write, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write('library = "runs"')
    assert listed(capsys) == path.parent / "runs"
    monkeypatch.setenv("SSDLAB_LIBRARY", "runs")
    assert listed(capsys) == Path.cwd() / "runs"


@pytest.mark.parametrize("name", ["of file", "two\nlines", "it's", "µ"])
def test_everybody_finds_the_same_library(
    tmp_path: Path, name: str, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSDLAB_LIBRARY", str(tmp_path / name))
    library = default_library()
    assert library == tmp_path / name
    (library / "20261121-0912-qd1-k7f3qa").mkdir(parents=True)
    (library / "20261121-0912-qd1-k7f3qa/manifest.json").write_text("{}")
    with ssdlab.library() as opened:
        assert opened.path == library
    context = cast("Any", SimpleNamespace(get=lambda _: None))
    assert offered_runs(context) == ["last", "20261121-0912-qd1-k7f3qa"]
    assert (library_words(library), run_words(library / "20261121-0912-qd1-k7f3qa")) == ("", "k7f3qa")
    monkeypatch.delenv("SSDLAB_LIBRARY")
    assert library_words(library).startswith(" --library ")
    write("library = [")  # spoilt while a run went on: its error is told, and no other
    assert library_words(library).startswith(" --library ")


def test_a_library_that_is_a_file_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SSDLAB_LIBRARY", str(tmp_path / "file"))
    (tmp_path / "file").write_text("mine")
    assert main(["measure", "sim:tiny-test", "--bytes", "64k", "--save"]) in (2, 3)
    assert str(tmp_path / "file") in capsys.readouterr().err
    assert (tmp_path / "file").read_text() == "mine"


def test_a_variable_that_names_no_path_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SSDLAB_LIBRARY", "~nobody-of-that-name/runs")
    assert "SSDLAB_LIBRARY" in error_of(capsys, "runs")["what"]


def test_no_variable_sets_any_other_option(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "foreign").write_bytes(bytes(1 << 20))
    for name in ("DESTROY", "MEASURE_DESTROY", "WIPE_SIGNATURES"):
        monkeypatch.setenv(f"SSDLAB_{name}", "foreign")
    words = ("measure", str(tmp_path / "foreign"), "--rw", "randwrite", "--bytes", "64k")
    assert error_of(capsys, *words)["facts"]["reason"] == "no-consent"


def test_a_library_that_is_usual_is_none_that_was_given(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("SSDLAB_LIBRARY", str(tmp_path / "runs"))
    assert main(["measure", "sim:tiny-test", "--bytes", "64k"]) == 0
    assert not (tmp_path / "runs").exists()


# The file.


def as_folder(path: Path) -> None:
    path.mkdir()


def as_loop(path: Path) -> None:
    path.symlink_to(path.name)


def as_link_to_nothing(path: Path) -> None:
    path.symlink_to("gone")


def as_pipe(path: Path) -> None:
    os.mkfifo(path)


@pytest.mark.parametrize(
    "made",
    [
        b"library = [",
        b"libary = 'x'",
        b"library = 3",
        b"library = ''",
        b'library = "a\\u0000b"',
        b"library = '~nobody-of-that-name/x'",
        b"meter = 'nonsense'",
        b"destroy = 'S1'",
        b"[run]\nlibrary = 'x'",
        b"library = '\xff'",
        b"library = 'x'\0",
        b"#" * 10_000_000,
        as_folder,
        as_loop,
        as_link_to_nothing,
        as_pipe,
    ],
    ids=lambda made: made.__name__ if callable(made) else repr(made[:24]),
)
def test_a_file_that_is_wrong_is_named_and_stops_only_what_needs_it(
    made: bytes | Callable[[Path], None], write: Write, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = write(made if isinstance(made, bytes) else b"")
    if callable(made):
        path.unlink()
        made(path)
    told = error_of(capsys, "runs")
    assert str(path) in told["what"] and told["advice"]
    assert listed(capsys, "--library", str(tmp_path)) == tmp_path
    with pytest.raises(UsageError):
        ssdlab.library()


@pytest.mark.parametrize("words", ["", "--help", "--version", "help runs", "run --help", "sim list"])
def test_what_uses_no_default_needs_no_file(words: str, write: Write) -> None:
    write("library = [")
    assert main(words.split()) == 0


def test_the_nearest_entry_is_named(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    write("libary = 'x'")
    assert error_of(capsys, "runs")["facts"]["nearest"] == "library"
    write("\nrig = ]")
    assert "line 2" in error_of(capsys, "runs")["what"]


def test_a_file_that_may_not_be_read_is_named(
    write: Write, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write("")

    def forbidden(_: Path, __: str) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(documents, "open_regular", forbidden)
    assert str(path) in error_of(capsys, "runs")["what"]


def test_a_folder_that_is_a_file_has_none(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    home.mkdir()
    (home / ".config").write_text("")
    assert listed(capsys) == home / ".local/share/ssdlab/runs"


def test_doctor_names_the_file_and_what_is_wrong_with_it(
    home: Path, write: Write, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doctor, "CALIBRATION_S", 0.02)

    def told() -> dict[str, dict[str, str]]:
        assert main(["doctor", "--json"]) == 0
        return {each["name"]: each for each in json.loads(capsys.readouterr().out)["checks"]}

    path = write('library = "~/runs"')
    checks = told()
    assert str(path) in checks["configuration"]["what"] and "library" in checks["configuration"]["what"]
    assert checks["configuration"]["state"] == "ok"
    assert str(home / "runs") in checks["library"]["what"]
    write("libary = 1")
    checks = told()
    assert checks["configuration"]["state"] == checks["library"]["state"] == "missing"
    assert str(path) in checks["configuration"]["what"] and "library" in checks["configuration"]["advice"]
    assert main(["doctor"]) == 0


# Rig, theme and meter.


def test_the_rig_file_of_the_configuration_is_the_usual_one(write: Write, tmp_path: Path) -> None:
    path = write('rig = "bench.toml"')
    (path.parent / "bench.toml").write_text('name = "Bench"')
    (path.parent / "rig.toml").write_text('name = "Other"')
    (tmp_path / "given.toml").write_text('name = "Given"')
    assert (read_rig().name, read_rig(tmp_path / "given.toml").name) == ("Bench", "Given")
    write("")
    assert read_rig().name == "Other"
    write('rig = "gone.toml"')  # what is named must be there
    with pytest.raises(UsageError) as raised:
        read_rig()
    assert str(path.parent / "gone.toml") in raised.value.what and str(path) in raised.value.advice


def test_the_theme_of_the_configuration_is_the_usual_one(write: Write, tmp_path: Path) -> None:
    assert themed(None) is None
    path = write('theme = "house.toml"')
    (path.parent / "house.toml").write_text('schema = "ssdlab.theme/1"\n')
    usual = themed(None)
    assert usual is not None
    assert usual == themed(path.parent / "house.toml")
    write('theme = "gone.toml"')
    with pytest.raises(UsageError, match=r"gone\.toml"):
        themed(None)


def test_the_meter_of_the_configuration_is_used_where_the_rig_has_none(write: Write, tmp_path: Path) -> None:
    path = write('meter = "hwmon:ina226,accuracy=1%"')
    found = chosen_meter(None, None, simulated=False)
    assert found is not None and (found.use, found.accuracy) == ("hwmon:ina226", 0.01)
    assert chosen_meter(None, None, simulated=True) is None
    (path.parent / "rig.toml").write_text('meter = "scpi:10.0.0.7:5025"')
    found = chosen_meter(None, None, simulated=False)
    assert found is not None and found.use == "scpi:10.0.0.7:5025"
    (tmp_path / "bare.toml").write_text("")
    found = chosen_meter(None, tmp_path / "bare.toml", simulated=False)
    assert found is not None and found.use == "hwmon:ina226"
    write('meter = { use = "csv:recorded.csv" }')
    with pytest.raises(UsageError, match="recording"):
        chosen_meter(None, tmp_path / "bare.toml", simulated=False)


@pytest.mark.parametrize("words", [["plan", "qd1"], ["plan", "quick-look"], ["measure", "--bytes", "64k"]])
def test_a_simulated_drive_needs_no_usual_meter(write: Write, words: list[str]) -> None:
    write('meter = "hwmon:not-there"')
    assert main([*words, "sim:tiny-test"]) == 0


def test_a_wrong_file_is_found_before_a_drive_is_made(write: Write, scratch: Path) -> None:
    write("metre = 1")
    assert main(["measure", str(scratch / "own.img"), "--size", "4MiB", "--bytes", "64k"]) == 2
    assert not list(scratch.iterdir())
