"""Every kind of file that is read back: of older versions as today's or made anew, of newer ones refused.

Who changes a schema finds `VERSIONS` red, and gives the version before a case here.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from lab.damaged import DamagedRun
from library.made import run
from ssdlab.cli import main
from ssdlab.drives.purge import purging as purges
from ssdlab.fleet import fleet_plan, inventory
from ssdlab.host.held_folder import HeldFolder
from ssdlab.lab.suites import declaration
from ssdlab.library.index import Index
from ssdlab.model.errors import Refused
from ssdlab.results import catalogue, catalogue_files, catalogue_row, run_folder, verifying
from ssdlab.results.lines import JOURNAL_SCHEMA
from ssdlab.results.progress import read_live
from ssdlab.results.run_folder import RunFolder
from ssdlab.results.seal import open_document, seal_document
from ssdlab.runs import consent_record
from ssdlab.runs.conditions.ledger import read_ledger

VERSIONS = {
    run_folder.RUN_SCHEMA: 2,
    JOURNAL_SCHEMA: 2,
    run_folder.LIVE_SCHEMA: 2,
    run_folder.CONDITIONS_SCHEMA: 2,
    verifying.CONSENT_SCHEMA: 2,
    catalogue_row.ROW_SCHEMA: 10,
    catalogue_files.CURRENT_SCHEMA: 11,
    inventory.SCHEMA: 1,
    fleet_plan.SCHEMA: 2,
    declaration.SCHEMA: 1,
    purges.SCHEMA: 1,
}
LIVE = {"at": "2026-01-01T00:00:00.000Z", "pid": 1, "label": "depth 8"}
LEDGER = {"run": "r", "folder": "/r"}


def test_every_version_has_its_cases_here() -> None:
    assert {schema: int(schema.rpartition("/")[2]) for schema in VERSIONS} == VERSIONS


@pytest.mark.parametrize("which", ["finished", "measured", "killed"])
def test_run_and_journal_1_are_read(make_damaged: Callable[[str], DamagedRun], which: str) -> None:
    """Folders that a version before seals wrote, kept as they are."""
    old = make_damaged(f"unsealed {which}")
    assert b'"ssdlab.journal/1"' in old.whole["journal.jsonl"]
    opened = RunFolder(old.folder)
    assert opened.manifest.schema_version == "ssdlab.run/1" and opened.manifest.seal_state == "not sealed"
    assert opened.journal()


def newer(schema: str) -> str:
    family, _, version = schema.rpartition("/")
    return f"{family}/{int(version) + 1}"


def sentence(schema: str) -> str:
    return f"was written by a newer ssdlab: its schema is {newer(schema)}, this ssdlab reads up to {schema}"


@pytest.mark.parametrize("name", ["manifest.json", "journal.jsonl"])
def test_a_newer_run_or_journal_is_refused(make_damaged: Callable[[str], DamagedRun], name: str) -> None:
    old = make_damaged("unsealed finished")
    schema = run_folder.RUN_SCHEMA if name.startswith("manifest") else JOURNAL_SCHEMA
    older = schema.replace("/2", "/1").encode()
    old.put(name, old.whole[name].replace(older, newer(schema).encode()))
    with pytest.raises(Refused, match=sentence(schema)):
        RunFolder(old.folder).journal()


def test_the_state_of_a_run_that_goes_on(tmp_path: Path) -> None:
    """What an observer shows of a state that it does not know is nothing."""
    for schema, text in (
        ("ssdlab.live/1", json.dumps({"schema": "ssdlab.live/1", **LIVE})),
        (run_folder.LIVE_SCHEMA, seal_document(json.dumps({"schema": run_folder.LIVE_SCHEMA, **LIVE}))),
        (None, seal_document(json.dumps({"schema": newer(run_folder.LIVE_SCHEMA), **LIVE}))),
    ):
        (tmp_path / run_folder.LIVE).write_text(text)
        found = read_live(tmp_path)
        assert (None if found is None else found["schema"]) == schema


def test_changed_settings(tmp_path: Path) -> None:
    path = tmp_path / run_folder.CONDITIONS
    path.write_text(json.dumps({"schema": "ssdlab.conditions/1", **LEDGER}))
    assert read_ledger(path).run == "r"
    schema = newer(run_folder.CONDITIONS_SCHEMA)
    path.write_text(seal_document(json.dumps({"schema": schema, **LEDGER})))
    with pytest.raises(Refused, match=f"was written by another ssdlab version .{schema}"):
        read_ledger(path)


@pytest.mark.parametrize(("schema", "counts"), [("ssdlab.consent/1", True), ("ssdlab.consent/3", False)])
def test_consent(tmp_path: Path, schema: str, counts: bool) -> None:
    """Of a newer version it counts for nothing, and is asked for again."""
    drive = RunFolder(run(tmp_path, 1)).manifest.drive.model_dump(mode="json")
    given = {
        **{"at": "x", "session": 0, "folder_inode": 1, "folder_birth_ns": None, "boot_id": "b"},
        **{"manifest_sha256": "0", "allowed": {}, "drive": drive, "chain": None},
    }
    text = json.dumps({"schema": schema, "given": [given]})
    data = text if schema.endswith("/1") else seal_document(text)
    (tmp_path / run_folder.CONSENT).write_text(data)
    with HeldFolder(tmp_path) as folder:
        found = consent_record._read(folder)
    assert isinstance(found, consent_record.Record) is counts
    assert counts or found == "its record of consent was written by another ssdlab version"


def as_row(library: Path, version: int) -> None:
    """Have the one row of a catalogue written by another version."""
    (path,) = (library / catalogue.FOLDER / "rows").glob("*.json")
    row = json.loads(open_document(path.read_bytes())[0]) | {"schema": f"ssdlab.row/{version}", "entered": 1}
    for figure in row["figures"] if version < 2 else ():
        figure.pop("unfit", None)
    path.write_text(json.dumps(row) if version < 5 else seal_document(json.dumps(row)))


@pytest.mark.parametrize("version", [1, 2, 3, 4, 5, 6, 7, 8, 9])
def test_a_row_of_an_older_version_is_made_anew_from_its_run(tmp_path: Path, version: int) -> None:
    meter = {"meter": {"use": "ppk2:/dev/ttyACM0", "name": "Nordic PPK2", "rails": ["DUT"]}}
    figure = {"name": "read_w", "label": "", "value": 5.0, "unit": "W", "better": "lower"}
    result = {"kind": "qd1", "scalars": [figure | {"unshown": "not steady"}]}
    catalogue.add(tmp_path, run(tmp_path, 1, {}, environment=meter, result=result))
    as_row(tmp_path, version)
    with Index(tmp_path) as index:
        assert index.ask("SELECT value, unfit, meter FROM entries") == [
            (5.0, "state-unproven", "Nordic PPK2 on DUT")
        ]
    with Index(tmp_path, kept=True) as index:  # one that is open while an older ssdlab adds a run
        catalogue.add(tmp_path, run(tmp_path, 2))
        as_row(tmp_path, version)
        index.refresh()
        assert index.ask("SELECT count(*) FROM runs") == [(2,)]


@pytest.mark.parametrize("version", [1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
def test_a_catalogue_of_an_older_version_is_made_anew(tmp_path: Path, version: int) -> None:
    run(tmp_path, 1)
    catalogue.rebuild(tmp_path)
    current = tmp_path / catalogue.FOLDER / catalogue_files.CURRENT
    segments = json.loads(current.read_text())["segments"]
    text = json.dumps({"schema": f"ssdlab.catalogue/{version}", "segments": segments})
    current.write_text(text if version < 7 else seal_document(text))
    for segment in current.parent.glob("*.parquet"):
        segment.write_bytes(b"of other columns")
    with Index(tmp_path) as index:
        assert index.ask("SELECT value FROM entries") == [(10_000.0,)]
    assert catalogue_files.CURRENT_SCHEMA in current.read_text()


def test_a_newer_row_or_catalogue_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    catalogue.add(tmp_path, run(tmp_path, 1))
    as_row(tmp_path, VERSIONS[catalogue_row.ROW_SCHEMA] + 1)
    assert main(["runs", "--library", str(tmp_path)]) == 2
    assert sentence(catalogue_row.ROW_SCHEMA) in " ".join(capsys.readouterr().err.split())
    catalogue.rebuild(tmp_path)
    current = tmp_path / catalogue.FOLDER / catalogue_files.CURRENT
    schema = catalogue_files.CURRENT_SCHEMA
    text = open_document(current.read_bytes())[0].decode()
    current.write_text(seal_document(text.replace(schema, newer(schema))))
    assert main(["runs", "--library", str(tmp_path)]) == 2
    assert sentence(schema) in " ".join(capsys.readouterr().err.split())


def test_newer_files_of_a_fleet_and_of_reviews_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / inventory.FLEET / inventory.INVENTORY
    folder.mkdir(parents=True)
    (folder / "one.json").write_text(
        seal_document(json.dumps({"schema": newer(inventory.SCHEMA), "host": "one"}))
    )
    with pytest.raises(Refused, match=sentence(inventory.SCHEMA)):
        inventory.read_inventories(tmp_path)
    plan = tmp_path / "plan.json"
    plan.write_text(seal_document(json.dumps({"schema": newer(fleet_plan.SCHEMA)})))
    with pytest.raises(Refused, match=sentence(fleet_plan.SCHEMA)):
        fleet_plan.read_plan(plan)
    review = tmp_path / "review.toml"
    review.write_text(f'schema = "{newer(declaration.SCHEMA)}"\nname = "x"\ntitle = "X"\n')
    assert main(["plan", str(review), "sim:tiny-test"]) == 2
    assert declaration.SCHEMA in capsys.readouterr().err


def test_a_newer_record_of_a_purge_is_named(tmp_path: Path) -> None:
    page = tmp_path / "20260101T000000.000000Z-drive.json"
    page.write_text(json.dumps({"schema": newer(purges.SCHEMA), "status": "running"}))
    assert purges._read(page) is None
