"""Manifests and tables that somebody changed and sealed anew: what they say is refused by name, or shown."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest

from lab.synthetic import edited, make_finished_run
from ssdlab.cli import main
from ssdlab.host.held_folder import HeldFolder
from ssdlab.lab.outcome import parse_result
from ssdlab.model.errors import Refused
from ssdlab.results.run_folder import MANIFEST, RunFolder, read_manifest
from ssdlab.results.seal import Broken, file_digest, finite_json, open_document, seal_document
from ssdlab.results.tables import HIST, SERIES

REFUSED = 2


@pytest.fixture(scope="module")
def qd1(tmp_path_factory: pytest.TempPathFactory) -> Callable[[], Path]:
    """Give another copy of an invented run."""
    import shutil

    made = make_finished_run(tmp_path_factory.mktemp("made"), "qd1")

    def copy() -> Path:
        return Path(shutil.copytree(made, tmp_path_factory.mktemp("copy") / made.name))

    return copy


def changed(folder: Path, *place: str | int, value: str) -> None:
    """Put JSON in the place of a field, and seal the manifest anew."""
    path = folder / MANIFEST
    stored = json.loads(open_document(path.read_bytes())[0])
    at: Any = stored
    for name in place[:-1]:
        at = at[name]
    at[place[-1]] = "here"
    path.write_text(seal_document(json.dumps(stored).replace('"here"', value)))


@pytest.mark.parametrize("value", ["NaN", "Infinity", "-Infinity", "1e999", "-1e999", "9" * 400 + ".0"])
@pytest.mark.parametrize(
    "place", [("result", "scalars", 0, "value"), ("params", "seconds"), ("environment", "x")]
)
def test_what_is_no_number_is_damage_with_the_name_of_its_field(
    qd1: Callable[[], Path], place: tuple[str | int, ...], value: str
) -> None:
    folder = qd1()
    changed(folder, *place, value=value)
    with pytest.raises(Refused, match=f"is damaged: {'.'.join(map(str, place))} is -?(nan|inf)"):
        RunFolder(folder)


def test_numbers_that_are_some_are_read() -> None:
    text = b'{"a": [1.5e308, -1e-999, 123456], "b": "NaN 1e999"}'
    assert finite_json(text) == {"a": [1.5e308, -0.0, 123456], "b": "NaN 1e999"}
    with pytest.raises(Broken, match=r"a\.1 is inf"):
        finite_json(b'{"a": [1.5e308, 1e999]}')


@pytest.mark.parametrize(
    ("place", "value", "status"),
    [
        (("created",), '"9999-99-99"', REFUSED),
        (("created",), '"yesterday"', REFUSED),
        (("result", "corners"), "[]", REFUSED),
        (("environment", "platform"), '{"components": [{}, -1, "x"]}', 0),
        (("environment", "platform"), '{"components": -1}', 0),
    ],
)
def test_a_changed_field_is_refused_or_shown(
    qd1: Callable[[], Path], tmp_path: Path, place: tuple[str | int, ...], value: str, status: int
) -> None:
    folder = qd1()
    changed(folder, *place, value=value)
    assert main(["report", str(folder), "-o", str(tmp_path / "page.html")]) == status


def test_a_figure_that_is_there_twice_is_refused(qd1: Callable[[], Path], tmp_path: Path) -> None:
    folder = qd1()
    result = dict(read_manifest(folder).result or {})
    first, *others = result["scalars"]
    edited(folder, result=result | {"scalars": [first, *others, first]})
    with pytest.raises(Refused, match=f"two figures are called {first['name']}"):
        read_manifest(folder)
    with pytest.raises(ValueError, match="two figures are called"):
        parse_result(result | {"scalars": [first, *others, first]}, "qd1")


@pytest.mark.parametrize(
    ("table", "change", "why"),
    [
        (SERIES, "-1::BIGINT AS ios", "a value of ios is negative"),
        (SERIES, "'x' AS ios", "Could not convert"),
        (SERIES, "NULL::BIGINT AS ios", "a value of ios is missing"),
        (SERIES, "NULL::BOOLEAN AS ramp", "a value of ramp is missing"),
        (HIST, "NULL::BIGINT AS count", "a value of count is missing"),
        (HIST, "-5::BIGINT AS low_ns", "a value of low_ns is negative"),
    ],
)
def test_a_changed_table_is_damaged(
    qd1: Callable[[], Path],
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    table: str,
    change: str,
    why: str,
) -> None:
    folder = qd1()
    copied = (
        f"COPY (SELECT * REPLACE ({change}) FROM '{folder / table}') TO '{tmp_path / 't'}' (FORMAT parquet)"
    )
    duckdb.sql(copied)
    (folder / table).write_bytes((tmp_path / "t").read_bytes())
    stored = json.loads(open_document((folder / MANIFEST).read_bytes())[0])
    for info in stored["tables"]:
        info["sha256"] = file_digest(HeldFolder(folder), info["name"])
    edited(folder, tables=stored["tables"])
    assert main(["report", str(folder), "-o", str(tmp_path / "page.html")]) == REFUSED
    said = capfd.readouterr().err
    assert f"{table} of run" in said and "is damaged" in said and why in said, said
