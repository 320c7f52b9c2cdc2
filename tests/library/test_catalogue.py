"""The catalogue: what is entered is found once, by any number of writers, and is what the folders hold."""

from __future__ import annotations

import json
import multiprocessing
import os
import shutil
from pathlib import Path

import duckdb
import pytest

from lab.synthetic import edited, make_finished_run
from library.made import run
from ssdlab.cli import main
from ssdlab.host.held_folder import HeldFolder
from ssdlab.library.choosing import Choice, list_runs
from ssdlab.library.index import RUN_COLUMNS, Index
from ssdlab.model.errors import Refused
from ssdlab.results import catalogue, catalogue_files, tables
from ssdlab.results.catalogue_row import COLUMNS, FIGURE_COLUMNS, Row
from ssdlab.results.run_folder import TAGS
from ssdlab.results.store import run_folders
from ssdlab.results.tags import change_tags
from ssdlab.results.verifying import verify_library

HELD = [name for name in RUN_COLUMNS if name != "entered"]
ALL = f"SELECT {', '.join(HELD)} FROM runs ORDER BY folder"
FIGURES = "SELECT folder, name, label, value, unit, better FROM entries ORDER BY folder, name"


def held(library: Path) -> tuple[list, list]:
    """All that the catalogue holds but for when it was entered."""
    with Index(library) as index:
        return index.ask(ALL), index.ask(FIGURES)


def names(library: Path) -> list[str]:
    with Index(library) as index:
        return [name for (name,) in index.ask("SELECT folder FROM runs ORDER BY folder")]


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows are put together after every fourth, and segments after every third."""
    monkeypatch.setattr(catalogue_files, "COMPACT_AT", 4)
    monkeypatch.setattr(catalogue_files, "FAN", 3)


def test_the_columns_are_those_of_a_row() -> None:
    columns = {name for name in COLUMNS if not name.startswith("figure_")}
    assert {"schema_version", "figures", *columns} == set(Row.model_fields)
    assert set(Row.model_fields["figures"].annotation.__args__[0].model_fields) >= set(FIGURE_COLUMNS)


@pytest.mark.usefixtures("small")
@pytest.mark.long
def test_what_was_entered_one_by_one_is_what_a_rebuild_finds(tmp_path: Path) -> None:
    figures = {"qd1_random_read_iops": 1.5, "qd1_random_read_p99_ns": None}
    folders = [run(tmp_path, number, figures, quick=number % 3 == 0) for number in range(70)]
    for folder in folders:
        catalogue.add(tmp_path, folder)
        assert names(tmp_path)[-1] == folder.name
    for folder in folders[::7]:
        change_tags(folder, ["nightly"])
        catalogue.add(tmp_path, folder)
    for folder in folders[::10]:
        shutil.rmtree(folder)
        catalogue.remove(tmp_path, folder.name)
    kept = held(tmp_path)
    assert len(kept[0]) == 63 and len(kept[1]) == 126
    place = tmp_path / catalogue.FOLDER
    assert len(list((place / catalogue.ROWS).iterdir())) <= 5
    assert len(list(place.glob("*.parquet"))) <= 7
    done = catalogue.rebuild(tmp_path)
    assert (done.runs, done.figures, done.unreadable) == (63, 126, ())
    assert held(tmp_path) == kept
    assert len(list(place.glob("*.parquet"))) == 1


def test_a_row_is_of_the_manifest(tmp_path: Path) -> None:
    folder = run(
        tmp_path, 1, {"a_iops": 2.0}, departed=("b", "a", "b"), params={"seconds": 5.0}, engine="uring"
    )
    catalogue.add(tmp_path, folder)
    with Index(tmp_path) as index:
        found = index.ask("SELECT departures, settings, engine, drive_kind, name, value, scale FROM entries")
    assert found == [("a, b", "seconds=5.0", "uring", "block", "a_iops", 2.0, 1)]


def test_scale_and_spare_of_a_simulated_drive_are_those_of_its_text(tmp_path: Path) -> None:
    folder = run(tmp_path, 1)
    manifest = json.loads((folder / "manifest.json").read_text())
    drive = manifest["drive"] | {"text": "sim:tiny-test,scale=4,spare=25%", "kind": "sim"}
    edited(folder, drive=drive)
    catalogue.add(tmp_path, folder)
    with Index(tmp_path) as index:
        assert index.ask("SELECT scale, spare FROM runs") == [(4, 0.25)]


def _enter(library: Path, folders: list[Path]) -> None:
    catalogue_files.COMPACT_AT = 4
    for folder in folders:
        catalogue.add(library, folder)


def test_many_writers_enter_each_run_once(tmp_path: Path) -> None:
    folders = [run(tmp_path, number) for number in range(48)]
    context = multiprocessing.get_context("fork")
    writers = [context.Process(target=_enter, args=(tmp_path, folders[k::8])) for k in range(8)]
    for writer in writers:
        writer.start()
    while any(writer.is_alive() for writer in writers):
        seen = names(tmp_path)  # readers meanwhile find no run twice, and no half of anything
        assert len(seen) == len(set(seen))
    assert [writer.exitcode for writer in writers] == [0] * 8
    assert names(tmp_path) == sorted(folder.name for folder in folders)


def test_runs_that_end_at_one_moment_in_processes_of_their_own_are_each_entered_once(
    tmp_path: Path, small: None
) -> None:
    folders = [run(tmp_path, number) for number in range(24)]
    context = multiprocessing.get_context("fork")
    together = context.Barrier(len(folders))

    def end(folder: Path) -> None:
        together.wait(60)
        catalogue.add(tmp_path, folder)

    writers = [context.Process(target=end, args=(folder,)) for folder in folders]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(120)
    assert [writer.exitcode for writer in writers] == [0] * 24
    assert names(tmp_path) == sorted(folder.name for folder in folders)


def test_a_kill_while_rows_are_put_together_loses_and_doubles_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folders = [run(tmp_path, number) for number in range(6)]
    for folder in folders:
        catalogue.add(tmp_path, folder)
    whole = held(tmp_path)

    class Killed(BaseException):
        pass

    def killed(*_: object) -> None:
        raise Killed

    with HeldFolder(tmp_path / catalogue.FOLDER) as folder:
        with monkeypatch.context() as patched:  # before the new segment counts
            patched.setattr(catalogue_files, "_put_current", killed)
            with pytest.raises(Killed):
                catalogue_files.compact(folder)
        assert held(tmp_path) == whole
        with monkeypatch.context() as patched:  # after it does, before the rows are removed
            patched.setattr(HeldFolder, "remove", killed)
            with pytest.raises(Killed):
                catalogue_files.compact(folder)
        assert held(tmp_path) == whole
        catalogue_files.compact(folder)
    assert held(tmp_path) == whole


def test_a_kept_index_takes_in_what_was_entered_since(tmp_path: Path) -> None:
    catalogue.add(tmp_path, run(tmp_path, 1))
    with Index(tmp_path, kept=True) as index:
        assert index.ask("SELECT count(*) FROM runs") == [(1,)]
        catalogue.add(tmp_path, run(tmp_path, 2))
        index.refresh()
        assert index.ask("SELECT count(*) FROM runs") == [(2,)]
        catalogue.rebuild(tmp_path)
        index.refresh()
        assert index.ask("SELECT count(*) FROM entries") == [(2,)]


def test_a_rebuild_names_what_it_cannot_read(tmp_path: Path) -> None:
    good = run(tmp_path, 1)
    (run(tmp_path, 2) / "manifest.json").write_text("{")
    newer = run(tmp_path, 3)
    edited(newer, schema="ssdlab.run/99")
    (tmp_path / "half").mkdir()
    done = catalogue.rebuild(tmp_path)
    assert (done.runs, len(done.unreadable)) == (1, 2) and newer.name in done.unreadable
    assert names(tmp_path) == [good.name]


def test_a_run_that_verify_finds_damaged_is_not_ranked_until_it_is_whole(tmp_path: Path) -> None:
    """The catalogue holds what was sealed once: it went on ranking figures that nothing stands behind."""
    whole, other = run(tmp_path, 1, {"iops": 5.0}), run(tmp_path, 2, {"iops": 6.0})
    _enter(tmp_path, [whole, other])
    journal = other / "journal.jsonl"
    kept = journal.read_bytes()
    journal.write_bytes(kept.replace(b"2", b"3", 1))
    assert [each.seal for each in verify_library(tmp_path)] == ["sealed", None]
    assert names(tmp_path) == [whole.name]
    listed = list_runs(tmp_path, Choice())
    assert other.name in [
        *(line["folder"] for line in listed.runs),
        *(name for name, _ in listed.unreadable),
    ]
    journal.write_bytes(kept)
    assert [each.seal for each in verify_library(tmp_path)] == ["sealed"] * 2
    assert names(tmp_path) == [whole.name, other.name]


def test_to_verify_makes_no_catalogue(tmp_path: Path) -> None:
    run(tmp_path, 1, {"iops": 5.0})
    list(verify_library(tmp_path))
    assert not (tmp_path / catalogue.FOLDER).exists()


def test_the_seal_that_was_checked_is_told_and_nothing_damaged_is_taken(tmp_path: Path) -> None:
    sealed = make_finished_run(tmp_path, seed=1, seconds=5)
    unsealed = Path(__file__).parents[1] / "lab" / "unsealed" / "finished"
    old = shutil.copytree(unsealed, tmp_path / "old")
    damaged = make_finished_run(tmp_path, seed=2, seconds=5)
    (damaged / tables.HIST).write_bytes((sealed / tables.SERIES).read_bytes())
    assert catalogue.rebuild(tmp_path).unreadable == (damaged.name,)
    with pytest.raises(Refused, match="damaged"):
        catalogue.add(tmp_path, damaged)
    with Index(tmp_path) as index:
        assert dict(index.ask("SELECT folder, seal FROM runs")) == {
            sealed.name: "sealed",
            old.name: "not sealed",
        }
    before = held(tmp_path)
    (sealed / tables.HIST).write_bytes(b"damaged since")
    assert held(tmp_path) == before, "a query opens no run"


WHAT = ("current", "segment", "row")


def test_a_changed_value_is_refused_wherever_it_stands(tmp_path: Path) -> None:
    """A row, a segment, and a segment that is put into a larger one: nothing takes the value over."""
    catalogue.add(tmp_path, run(tmp_path, 1, {"qd1_random_read_iops": 13175.0}))
    place = tmp_path / catalogue.FOLDER
    (row,) = (place / catalogue.ROWS).iterdir()
    whole = row.read_text()
    for value in ("93175.0", "1e999"):
        row.write_text(whole.replace('"value":13175.0', f'"value":{value}'))
        assert row.read_text() != whole
        for ask in (lambda: held(tmp_path), lambda: catalogue_files.compact(HeldFolder(place, writing=True))):
            with pytest.raises(Refused, match="is damaged"):
                ask()
    row.write_text(whole)
    catalogue_files.compact(HeldFolder(place, writing=True))
    (segment,) = place.glob("*.parquet")
    changed = "SELECT * REPLACE ([93175.0] AS figure_value)"
    duckdb.sql(f"COPY ({changed} FROM '{segment}') TO '{tmp_path / 'new'}' (FORMAT parquet)")
    segment.write_bytes((tmp_path / "new").read_bytes())
    with pytest.raises(Refused, match="is damaged"):
        held(tmp_path)
    catalogue.rebuild(tmp_path)
    assert "13175.0" in str(held(tmp_path))


@pytest.mark.parametrize("damage", ["current", "segment", "row", "newer", *(f"one bit of {w}" for w in WHAT)])
def test_a_damaged_catalogue_is_refused_and_made_anew(tmp_path: Path, damage: str) -> None:
    catalogue.add(tmp_path, run(tmp_path, 1))
    catalogue.rebuild(tmp_path)
    catalogue.add(tmp_path, run(tmp_path, 2))
    whole = held(tmp_path)
    place = tmp_path / catalogue.FOLDER
    (segment,), (row,) = place.glob("*.parquet"), (place / catalogue.ROWS).iterdir()
    if damage == "current":
        (place / catalogue_files.CURRENT).write_text("[]")
    elif damage == "segment":
        segment.write_bytes(b"PAR1 and then nothing")
    elif damage == "row":
        row.write_text('{"schema":')
    elif damage.startswith("one bit"):
        file = {"current": place / catalogue_files.CURRENT, "segment": segment, "row": row}[
            damage.split()[-1]
        ]
        data = bytearray(file.read_bytes())
        data[len(data) // 2] ^= 1
        file.write_bytes(bytes(data))
    else:
        (place / catalogue_files.CURRENT).write_text('{"schema": "ssdlab.catalogue/10", "segments": []}')
    with pytest.raises(Refused):
        held(tmp_path)
    catalogue.rebuild(tmp_path)
    assert held(tmp_path) == whole


@pytest.mark.parametrize("name", ["rows/0-a.json", "rows", "open", "current.json", ""])
def test_a_link_or_a_pipe_in_the_catalogue_is_refused_by_name(tmp_path: Path, name: str) -> None:
    library = tmp_path / "library"
    catalogue.add(library, run(library, 1))
    place = library / catalogue.FOLDER / name
    if place.is_dir():
        shutil.move(place, tmp_path / "elsewhere")
        place.symlink_to(tmp_path / "elsewhere")
    else:
        place.unlink(missing_ok=True)
        os.mkfifo(place)
    with pytest.raises(Refused, match=str(library / catalogue.FOLDER)):
        list_runs(library, Choice())


def test_a_catalogue_of_schema_2_is_made_anew_by_whoever_asks(tmp_path: Path) -> None:
    """Its segments had figures as records, and a writer may have come before a reader."""
    folders = [run(tmp_path, number) for number in range(3)]
    catalogue.rebuild(tmp_path)
    whole = held(tmp_path)
    place = tmp_path / catalogue.FOLDER
    (segment,) = place.glob("*.parquet")
    records = "list_transform(figure_name, lambda n: {'name': n}) AS figures"
    older = f"SELECT * EXCLUDE (figure_name), {records} FROM '{segment}'"
    duckdb.sql(f"COPY ({older}) TO '{place / 'older.parquet'}' (FORMAT parquet)")
    segments = [{"name": "older.parquet", "rows": 3}]
    current = json.dumps({"schema": "ssdlab.catalogue/2", "segments": segments})
    (place / catalogue_files.CURRENT).write_text(current)
    segment.unlink()
    catalogue.add(tmp_path, folders[0])
    with HeldFolder(place) as catalogue_folder, pytest.raises(catalogue_files.OlderCatalogue):
        catalogue_files.compact(catalogue_folder)
    assert held(tmp_path) == whole
    now = json.loads((place / catalogue_files.CURRENT).read_text())
    assert now["schema"] == catalogue_files.CURRENT_SCHEMA


def test_a_library_without_a_catalogue_or_with_an_older_one_gets_one(tmp_path: Path) -> None:
    folder = run(tmp_path, 1)
    assert names(tmp_path) == [folder.name]
    shutil.rmtree(tmp_path / catalogue.FOLDER)
    (tmp_path / catalogue.FOLDER).mkdir()
    (tmp_path / catalogue.FOLDER / "runs.parquet").write_bytes(b"of ssdlab 0.2")
    assert names(tmp_path) == [folder.name]
    assert names(tmp_path / "none") == []
    assert len(run_folders(tmp_path)) == 1


def test_damaged_tags_harm_no_other_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one, two = run(tmp_path, 1), run(tmp_path, 2)
    for folder in (one, two):
        change_tags(folder, ["kept"])
        catalogue.add(tmp_path, folder)
    (two / TAGS).write_bytes(b"{}\n")
    assert [each.damage is None for each in verify_library(tmp_path)] == [True, False]
    assert catalogue.rebuild(tmp_path).unreadable == (two.name,)
    assert main(["rank", "qd1_random_read_iops", "--library", str(tmp_path), "--json"]) == 0
    assert one.name in capsys.readouterr().out
    assert main(["tag", one.name, "more", "--library", str(tmp_path)]) == 0
    assert main(["tag", two.name, "more", "--library", str(tmp_path)]) == 2
    assert main(["runs", "--library", str(tmp_path)]) == 0
