"""The library: ids, finding runs, notes, status, refusing what is newer or damaged."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from lab.synthetic import edited, make_finished_run
from ssdlab.host import durable
from ssdlab.model.errors import HostError, Refused, UsageError
from ssdlab.results import store
from ssdlab.results.lease import RunLock
from ssdlab.results.run_folder import MANIFEST, RunFolder, read_manifest
from ssdlab.results.schema import Manifest


def test_ids_tell_time_and_method_and_differ() -> None:
    moment = datetime(2026, 11, 21, 9, 12, tzinfo=UTC)
    ids = {store.new_run_id("qd1", moment) for _ in range(200)}
    assert len(ids) == 200
    assert all(name.startswith("20261121-0912-qd1-") and len(store.short_id(name)) == 6 for name in ids)


@pytest.fixture
def library(tmp_path: Path) -> Path:
    for seed, method in ((11, "qd1"), (12, "qd1"), (23, "peak-random-read")):
        make_finished_run(tmp_path, method, seed=seed, seconds=5)
    (tmp_path / "not-a-run").mkdir()
    return tmp_path


def test_a_run_is_found_by_path_id_prefix_or_last_letters(library: Path) -> None:
    peak = library / "20261121-0900-peak-random-read-00000023"
    for text in (str(peak), peak.name, "20261121-0900-peak", "00000023"):
        assert store.find_run(text, library) == peak
    assert [path.name[-2:] for path in store.run_folders(library)] == ["23", "11", "12"]


def test_a_folder_where_the_command_stands_is_no_run_of_the_library(
    library: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`cd` into one library, and the runs of another that was named were those of the first."""
    peak = library / "20261121-0900-peak-random-read-00000023"
    here = tmp_path_factory.mktemp("another")
    other = make_finished_run(here, "qd1", seed=23, seconds=5)
    monkeypatch.chdir(here)
    for name in (peak.name, "00000023", "last"):
        other.rename(here / name)
        other = here / name
        assert store.find_run(name, library).parent == library
        assert store.find_run(f"./{name}", library) == other
    (here / "2026").symlink_to(other)
    with pytest.raises(UsageError, match="matches 3 runs"):
        store.find_run("2026", library)


def test_an_ambiguous_prefix_lists_the_runs(library: Path) -> None:
    with pytest.raises(UsageError) as raised:
        store.find_run("0000001", library)
    assert raised.value.facts["runs"] == [
        "20261121-0900-qd1-00000011",
        "20261121-0900-qd1-00000012",
    ]
    assert "00000011" in raised.value.advice


@pytest.mark.parametrize("text", ["zz", "not-a-run", "./nothing", "/"])
def test_what_is_no_run_is_a_usage_error(library: Path, text: str) -> None:
    with pytest.raises(UsageError) as raised:
        store.find_run(text, library)
    assert raised.value.advice


def test_an_empty_or_missing_library_has_no_runs(tmp_path: Path) -> None:
    assert store.run_folders(tmp_path / "none") == []
    with pytest.raises(UsageError, match="no run"):
        store.find_run("x", tmp_path / "none")


def test_notes_stand_beside_a_run_and_do_not_change_it(library: Path) -> None:
    folder = store.find_run("00000023", library)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    store.add_note(folder, "superseded by another")
    store.add_note(folder, "  second\nline ")
    assert [note.text for note in RunFolder(folder).notes()] == ["superseded by another", "second\nline"]
    assert all(note.at.endswith("Z") for note in RunFolder(folder).notes())
    assert {name: (folder / name).read_bytes() for name in before} == before
    with pytest.raises(UsageError):
        store.add_note(folder, "  ")


def test_a_run_that_nobody_holds_is_not_running(library: Path) -> None:
    folder = store.find_run("00000023", library)
    manifest = read_manifest(folder).model_copy(update={"status": "running"})
    assert store.actual_status(folder, manifest) == "interrupted"
    lock = RunLock(folder)
    assert store.actual_status(folder, manifest) == "running"
    lock.release()


def test_a_newer_run_is_refused_and_says_so(library: Path) -> None:
    folder = store.find_run("00000023", library)
    edited(folder, schema="ssdlab.run/3", something_new=1)
    with pytest.raises(Refused, match="newer ssdlab") as raised:
        RunFolder(folder)
    assert raised.value.exit_status == 2 and raised.value.facts["schema"] == "ssdlab.run/3"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"schema": "other/1"}, "not a ssdlab.run file"),
        ({"schema": None}, "not a ssdlab.run file"),
        ({"status": "odd"}, "status"),
        ({"surprise": 1}, "surprise"),
    ],
)
@pytest.mark.long
def test_a_damaged_manifest_is_refused_with_the_place(library: Path, changes: dict, words: str) -> None:
    folder = store.find_run("00000023", library)
    edited(folder, **changes)
    with pytest.raises(Refused, match=words):
        read_manifest(folder)


def test_half_a_manifest_is_refused(library: Path) -> None:
    folder = store.find_run("00000023", library)
    (folder / MANIFEST).write_text("{")
    with pytest.raises(Refused, match="damaged"):
        read_manifest(folder)
    with pytest.raises(Refused, match="not a run folder"):
        read_manifest(library / "not-a-run")


def test_manifests_survive_a_round_trip(library: Path) -> None:
    for folder in store.run_folders(library):
        manifest = read_manifest(folder)
        assert Manifest.model_validate_json(manifest.model_dump_json(by_alias=True)) == manifest


def test_a_replacement_that_fails_leaves_the_old_content(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "file"
    durable.replace(path, "old")

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(HostError) as raised:
        durable.replace(path, "new")
    assert raised.value.facts["full"] and "resume" in raised.value.advice
    assert path.read_text() == "old" and list(tmp_path.iterdir()) == [path]


def test_a_library_that_cannot_be_made_is_a_host_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(HostError) as raised:
        store.make_run_folder(tmp_path / "file" / "library", "id")
    assert raised.value.exit_status == 3 and "cannot create a library" in str(raised.value)


def test_only_a_finished_run_passes_for_one(library: Path) -> None:
    folder = store.find_run("00000023", library)
    assert store.require_finished(folder).manifest.status == "finished"
    edited(folder, status="interrupted")
    with pytest.raises(Refused, match="interrupted") as raised:
        store.require_finished(folder)
    assert "resume" in raised.value.advice
