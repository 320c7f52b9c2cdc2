"""`ssdlab schema`: another program's validator holds what ssdlab stores, prints and reads against it."""

from __future__ import annotations

import copy
import json
import re
import tarfile
import tomllib
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

import ssdlab
from methods.quick_runs import METHODS, QuickRun
from ssdlab.cli import main
from ssdlab.cli.schema import DIALECT, DOCUMENTS, identifier, schema_of
from ssdlab.cli.showing import as_json
from ssdlab.fleet import fleet_plan, inventory
from ssdlab.lab.kinds import KINDS
from ssdlab.lab.suites import declaration
from ssdlab.report.theme_file import default_text
from ssdlab.results import records, schema
from ssdlab.results.earlier import manifest_as_of_now
from ssdlab.results.run_folder import RunFolder

PACKAGE = Path(ssdlab.__file__).parent
ROOT = Path(__file__).parents[2]
PLANTED = ROOT / "tests" / "planted" / "library.tar.xz"


@cache
def validator(name: str) -> Draft202012Validator:
    return Draft202012Validator(schema_of(name))


def fault(name: str, document: object) -> str:
    """What is wrong with a document; empty: nothing."""
    found = next(iter(validator(name).iter_errors(document)), None)
    return "" if found is None else f"{found.json_path}: {found.message[:300]}"


@pytest.mark.parametrize("name", DOCUMENTS)
def test_each_is_a_schema_with_a_name_for_good(name: str) -> None:
    made = schema_of(name)
    Draft202012Validator.check_schema(made)
    assert made["$schema"] == DIALECT and re.fullmatch(r"urn:ssdlab:schema:[a-z-]+:\d", made["$id"])
    assert made["title"] and (made.get("description") or made.get("oneOf") or made.get("anyOf"))


def test_the_number_is_that_of_the_document_itself() -> None:
    own = {
        "manifest": schema.RUN_SCHEMA,
        "result": schema.RUN_SCHEMA,
        "journal": records.JOURNAL_SCHEMA,
        "inventory": inventory.SCHEMA,
        "fleet-plan": fleet_plan.SCHEMA,
        "review": declaration.SCHEMA,
    }
    for name in DOCUMENTS:
        constants = re.findall(r'"const": "(ssdlab\.[a-z-]+/\d+)"', json.dumps(schema_of(name)))
        for tag in {*constants, own.get(name, f"/{DOCUMENTS[name].number}")}:
            assert identifier(name).endswith(f":{tag.partition('/')[2]}"), name


def test_the_command_prints_what_there_is(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schema", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)["schemas"]
    assert [each["name"] for each in listed] == list(DOCUMENTS)
    assert main(["schema", "job"]) == 0
    assert json.loads(capsys.readouterr().out) == schema_of("job")
    assert main(["schema", "nonesuch"]) == 2 and "manifest" in capsys.readouterr().err


# --- what is stored ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("planted")
    with tarfile.open(PLANTED) as archive:
        archive.extractall(folder, filter="data")
    return folder / "library"


def of_library(folder: Path) -> Iterator[tuple[dict[str, Any], list[dict[str, Any]]]]:
    """The manifest of each run as it is stored, and the lines of its journal."""
    for path in sorted(folder.glob("2*/manifest.json")):
        journal = path.with_name("journal.jsonl")
        lines = journal.read_text().splitlines() if journal.exists() else []
        yield json.loads(path.read_text()), [json.loads(line) for line in lines if line.endswith("}")]


@pytest.mark.long
def test_what_earlier_versions_stored_fits(planted: Path) -> None:
    results = 0
    for manifest, lines in of_library(planted):
        run = manifest["run_id"]
        assert not fault("manifest", manifest), run
        for line in lines:
            assert not fault("journal", line), run
        if manifest["result"] and manifest["result"]["kind"] in KINDS:
            assert not fault("result", manifest_as_of_now(manifest)["result"]), run
            results += 1
    assert results > 100


@pytest.mark.long
@pytest.mark.parametrize("method", METHODS)
def test_what_a_method_stores_fits(quick_run: QuickRun, method: str) -> None:
    run = quick_run(method)
    ((manifest, lines),) = of_library(run.path.parent)
    assert not fault("manifest", manifest) and not fault("result", manifest["result"])
    assert not [why for line in lines if (why := fault("journal", line))] and len(lines) > 2
    assert not fault("show", printed(as_json(run)))


# --- what is printed --------------------------------------------------------------------------------------


def printed(document: object) -> Any:
    return json.loads(json.dumps(document, default=str))


@pytest.fixture
def told(capsys: pytest.CaptureFixture[str]) -> Callable[..., Any]:
    def command(*words: str) -> Any:
        capsys.readouterr()
        main([*words, "--json"])
        return json.loads(capsys.readouterr().out)

    return command


@pytest.mark.long
def test_each_run_is_shown_as_its_schema_says(planted: Path) -> None:
    keys = set()
    for path in sorted(planted.glob("2*")):
        shown = printed(as_json(RunFolder(path)))
        assert not fault("show", shown), path.name
        keys |= shown.keys()
    assert keys >= {"remarks", "side_by_side"}


@pytest.mark.long
def test_lists_and_comparisons_fit(planted: Path, told: Callable[..., Any]) -> None:
    place = ("--library", str(planted))
    assert main(["library", "rebuild", *place]) == 0
    names, listed = told("rank", *place), told("runs", *place)
    assert not fault("rank", names) and not fault("runs", listed) and len(listed["runs"]) > 100
    rankings = [told("rank", figure, *place) for figure in names["figures"]]
    ranked = [each for each in rankings if "error" not in each]
    assert len(ranked) > 40 and not [why for each in ranked if (why := fault("rank", each))]
    assert not fault("changes", told("changes", "peak_random_read_iops", *place))
    base, new = ("-base-", "-new-")
    runs = {name: each["folder"] for each in listed["runs"] for name in (base, new) if name in each["folder"]}
    gate = ("--fail-if", "peak_random_read_iops < -1%")
    compared = told("compare", runs[base], runs[new], *gate, *place)
    assert not fault("compare", compared) and compared["rules"] and compared["figures"][0]["shift"]


@pytest.mark.long
def test_plans_and_measurements_fit(tmp_path: Path, told: Callable[..., Any]) -> None:
    drives = ("sim:tiny-test", "sim:tiny-test,seed=2")
    for name, *words in (("qd1", drives[0]), ("quick-look", drives[0]), ("quick-look", *drives)):
        plan = told("plan", name, *words, "--quick", "--library", str(tmp_path))
        assert not fault("plan", plan), words
    brief = ("--seconds", "200ms", "--interval", "50ms")
    for words in ((), ("--rw", "randrw", "--threads", "2"), ("--rw", "write", "--fsync", "4")):
        measured = told("measure", drives[0], *words, *brief)
        assert not fault("measure", measured) and len(measured["intervals"]) >= 4


@pytest.mark.long
def test_what_a_fleet_writes_fits(
    tmp_path: Path, told: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    place = ("--library", str(tmp_path / "runs"))
    taken = told("fleet", "inventory", "--simulated", "sim:tiny-test,serial=A1", *place)
    assert not fault("inventory", taken) and taken["drives"]
    selection = tmp_path / "selection.toml"
    selection.write_text('[[drives]]\nserials = ["A1"]\n[[work]]\nrun = "qd1"\nquick = true\n')
    plan = tmp_path / "plan.json"
    assert main(["fleet", "plan", str(selection), "-o", str(plan), *place]) == 0
    for file in (plan, *(tmp_path / "runs" / ".fleet" / "inventory").glob("*.json")):
        kind = "fleet-plan" if file == plan else "inventory"
        assert not fault(kind, json.loads(file.read_text()))


# --- what users write -------------------------------------------------------------------------------------


def plain(table: object) -> Any:
    """A TOML document as JSON: days are text."""
    return json.loads(json.dumps(table, default=str))


def of_documents() -> Iterator[tuple[str, str, str]]:
    """The TOML of our pages, each with the document that it is."""
    by_key = {
        "library": "config",
        "step": "job",
        "work": "selection",
        "part": "review",
        "rating": "ratings",
        "claim": "claims",
        "meter": "rig",
        "other": "rig",
        "raw_bytes": "drive-record",
    }
    for page in sorted((ROOT / "docs").glob("*.md")):
        for text in re.findall(r"^```toml\n(.*?)^```", page.read_text(), re.MULTILINE | re.DOTALL):
            kinds = [name for key, name in by_key.items() if key in tomllib.loads(text)]
            yield from ((kinds[0], page.name, text) for _ in kinds[:1])


def of_package() -> Iterator[tuple[str, str, str]]:
    for kind, folder in (("review", "lab/suites"), ("ratings", "profiles/ratings")):
        yield from ((kind, path.name, path.read_text()) for path in sorted((PACKAGE / folder).glob("*.toml")))
    yield "theme", "ssdlab theme", default_text()


def test_the_files_of_package_and_pages_fit() -> None:
    kinds = set()
    for kind, name, text in (*of_documents(), *of_package()):
        assert not fault(kind, plain(tomllib.loads(text))), name
        kinds.add(kind)
    assert kinds >= {"config", "job", "selection", "review", "ratings", "rig", "drive-record", "theme"}


def test_a_step_has_the_options_of_its_kind() -> None:
    def step(**options: object) -> str:
        return fault("job", {"step": [options]})

    assert not step(do="run", bs="4k:70,128k:30", seconds=0.5, span="0..25%", pattern="zipf:1.1")
    assert not step(do="fill", **{"unless-written": True}) and not step(do="fill", unless_written=True)
    assert not step(do="conditions", nomerges=2)
    for wrong in ({"do": "run", "destroy": "x"}, {"do": "idle"}, {"do": "fill", "rw": "read"}, {"do": "nap"}):
        assert step(**wrong), wrong


@pytest.mark.parametrize(
    ("name", "document"),
    [
        ("config", {"library": 5}),
        ("job", {"step": [{"do": "run", "seconds": -1}]}),
        ("job", {"step": [{"do": "run", "bs": -5}]}),
        ("job", {"step": [{"do": "run", "iodepth": -1}]}),
        ("job", {"step": [{"do": "run", "cpus": -1}]}),
        ("rig", {"schema": "ssdlab.manifest/1"}),
        ("manifest", {"schema": "ssdlab.run/3"}),
    ],
)
def test_a_number_out_of_bounds_or_a_foreign_name_does_not_fit(name: str, document: dict[str, Any]) -> None:
    assert fault(name, document)


def test_a_manifest_has_its_name_in_each_version(planted: Path) -> None:
    stored = json.loads(next(planted.glob("*/manifest.json")).read_text(encoding="utf-8"))
    assert [bool(fault("manifest", {**stored, "schema": f"ssdlab.run/{n}"})) for n in (1, 2, 3)] == [0, 0, 1]
    assert fault("manifest", {key: value for key, value in stored.items() if key != "schema"})


# --- what does not fit ------------------------------------------------------------------------------------

FIGURE = {"name": "qd1_read_iops", "label": "reads", "value": 1.5, "unit": "IOPS", "better": "higher"}
SIDE = {"given": "x", "runs": [], "methods": [], "drives": [], "serials": [], "firmwares": [], "software": []}
VALID: dict[str, dict[str, Any]] = {
    "result": {"kind": "points", "quick": False, "scalars": [FIGURE], "points": []},
    "review": {"schema": "ssdlab.review/1", "name": "x", "title": "X", "part": [{"method": "qd1"}]},
    "compare": {
        "schema": "ssdlab.compare/1",
        "base": SIDE,
        "new": SIDE,
        "figures": [],
        "only_on_one_side": ["a"],
        "rules": [],
        "exit_status": 0,
    },
}
"""Of each key it is known what it must be, and all but `scalars` must be there."""


def objects(value: object) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for each in inner:
        yield from objects(each)


@given(st.data())
def test_what_lacks_a_key_or_has_another_does_not_fit(data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(sorted(VALID)))
    document = copy.deepcopy(VALID[name])
    assert not fault(name, document)
    found = data.draw(st.sampled_from(list(objects(document))))
    key = data.draw(st.sampled_from(sorted(found)))
    match data.draw(st.sampled_from(["wrong", "added"] if key == "scalars" else ["wrong", "added", "lost"])):
        case "lost":
            del found[key]
        case "added":
            found[f"{key} of another"] = 1
        case "wrong":
            found[key] = {"odd": found[key]}
    assert fault(name, document)
