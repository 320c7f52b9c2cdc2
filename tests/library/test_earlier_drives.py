"""Runs of earlier years beside those of today: what makes them unlike, and what is only remarked."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from library.made import manifest, run
from ssdlab.cli import main
from ssdlab.drives.simulated.profiles import profile_text
from ssdlab.results import catalogue
from ssdlab.results.catalogue_row import kinship, software_of
from ssdlab.results.earlier import manifest_as_of_now
from ssdlab.results.kin import measured_with, more_spare
from ssdlab.results.run_folder import RunFolder
from ssdlab.results.schema import (
    Child,
    Manifest,
    Member,
    MethodInfo,
    ParameterInfo,
    Replaced,
    Usable,
    VariantInfo,
)
from ssdlab.results.store import add_note

FIGURE = "qd1_random_read_iops"
OLD = {
    "tool": {"version": "0.1.0", "python": "3.11.9"},
    "environment": {"kernel": {"release": "6.1.0-28-amd64"}},
}
NEW = {"tool": {"version": "0.2.0", "python": "3.13.1"}, "environment": {"kernel": {"release": "6.18.2"}}}
Shown = Callable[..., str]


@pytest.fixture
def shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Shown:
    """What a command prints, its lines joined."""

    def command(*words: str) -> str:
        assert main([*words, "--library", str(tmp_path)]) == 0
        out = capsys.readouterr().out
        return out if "--json" in words else " ".join(out.split())

    return command


def entered(library: Path, number: int, value: float, drive_id: str, **changes: Any) -> Path:
    folder = run(library, number, {FIGURE: value}, drive_id=drive_id, **changes)
    catalogue.add(library, folder)
    return folder


def spared(drive: str, spare: float) -> dict[str, Any]:
    """A real drive of which less is used."""
    usable = Usable(length=10**11, spare=spare, of="raw capacity", free=True)
    words = (f"{100 * spare:g} % spare",)
    variant = VariantInfo(asked={"spare": f"{100 * spare:g}%"}, words=words, made=False, usable=usable)
    whole = manifest(1, {}, drive_id=drive).drive
    return {"drive": whole.model_copy(update={"name": f"{whole.name}, {words[0]}", "variant": variant})}


def test_other_software_is_a_remark_and_no_wall(tmp_path: Path, shown: Shown) -> None:
    old, new = entered(tmp_path, 1, 100.0, "OLD", **OLD), entered(tmp_path, 2, 200.0, "NEW", **NEW)
    ranked = json.loads(shown("rank", FIGURE, "--json"))
    assert [(line["drive_id"], line["software"]) for line in ranked["lines"]] == [
        ("NEW", ["ssdlab 0.2.0, Python 3.13, Linux 6.18"]),
        ("OLD", ["ssdlab 0.1.0, Python 3.11, Linux 6.1"]),
    ]
    assert ranked["left_out_runs"] == 0
    compared = json.loads(shown("compare", old.name, new.name, "--json"))
    assert compared["figures"][0]["unlike"] == "" and compared["figures"][0]["shift"][
        "share"
    ] == pytest.approx(1)
    for words in (("rank", FIGURE), ("compare", old.name, new.name)):
        assert shown(*words).count("Python 3.11") == 1, words
    entered(tmp_path, 3, 150.0, "SAME", **NEW)
    assert "Debian" not in shown("rank", FIGURE), "nobody kept it"


def test_runs_of_one_software_say_nothing_of_it(tmp_path: Path, shown: Shown) -> None:
    names = [entered(tmp_path, number, 100.0 + number, f"D{number}", **NEW).name for number in (1, 2)]
    assert "Python" not in shown("rank", FIGURE) + shown("compare", *names)
    assert measured_with([]) == "" == measured_with([("A", "x"), ("B", "x")])
    assert "software" in measured_with([("A", "ssdlab 1"), ("B", "")]), "an archive that keeps none"


@pytest.mark.parametrize(
    "broken",
    [{}, {"kernel": "6.1"}, {"kernel": {"release": 6}, "platform": {"components": {"part": "kernel"}}}],
)
def test_software_is_read_of_any_archive(broken: dict[str, Any]) -> None:
    assert software_of(manifest(1, {}, environment=broken, tool={"version": 2})).startswith("ssdlab 2")


def test_a_simulator_that_gives_other_figures_is_a_wall(tmp_path: Path, shown: Shown) -> None:
    for number, tool in enumerate(({}, {"simulator": "1"}, {"simulator": "2"}, {"simulator": "2"})):
        entered(tmp_path, number, 100.0, f"sim:{number}", tool=tool)
    found = json.loads(shown("rank", FIGURE, "--json"))
    assert (found["like"]["simulator"], len(found["lines"]), found["left_out_runs"]) == ("2", 2, 2)


def test_a_profile_of_the_users_that_was_edited_is_another_drive(
    tmp_path: Path, shown: Shown, capsys: pytest.CaptureFixture[str]
) -> None:
    shipped, own = profile_text("tiny-test"), tmp_path / "mine.toml"
    words = ["run", "qd1", f"sim:{own}", "--quick", "--set", "seconds=20ms", "--library", str(tmp_path)]
    for text in (shipped, shipped, re.sub(r"\[60\.0\]", "[20.0]", shipped)):
        own.write_text(text)
        assert main(words) == 0
    capsys.readouterr()
    found = json.loads(shown("rank", "qd1_random_read_iops", "--json"))
    assert sorted(line["runs"] for line in found["lines"]) == [1, 2], "ranked, each as a drive of its own"
    assert found["left_out_runs"] == 0


def of_points(points: str | None, depths: list[int], **changes: Any) -> Manifest:
    """A run at these depths, of a method whose preset has two."""
    info = ParameterInfo(name="depths", unit="I/Os", reason="", default=[1, 32], quick=[1, 32], points=points)  # type: ignore[arg-type]
    method = MethodInfo(
        name="mixed-random", version=1, title="", prose="", destructive=True, parameters=(info,)
    )
    return manifest(1, {FIGURE: 1.0}, method=method, params={"depths": depths}, **changes)


@pytest.mark.parametrize(("points", "alike"), [("each", True), ("all", False), (None, False)])
def test_points_that_stand_for_themselves_are_no_wall(points: str | None, alike: bool) -> None:
    few, many = (kinship(of_points(points, depths)) for depths in ([32], [32, 128]))
    assert (few == many) is alike


def test_methods_that_did_not_say_so_yet_are_read_as_those_that_do() -> None:
    stored = of_points(None, [32]).model_dump(mode="json", by_alias=True)
    read = Manifest.model_validate(manifest_as_of_now(stored))
    assert kinship(read) == kinship(of_points("each", [1, 32]))


def test_a_drive_with_more_spare_area_is_ranked_beside_the_others_and_remarked_once(
    tmp_path: Path, shown: Shown
) -> None:
    stock = entered(tmp_path, 1, 100.0, "A")
    entered(tmp_path, 2, 90.0, "B")
    spare = entered(tmp_path, 3, 200.0, "A", **spared("A", 0.25))
    found = json.loads(shown("rank", FIGURE, "--json"))
    assert [(line["drive_id"], line["spare"], line["value"], line["runs"]) for line in found["lines"]] == [
        ("A", 0.25, 200.0, 1),
        ("A", None, 100.0, 1),
        ("B", None, 90.0, 1),
    ]
    assert shown("rank", FIGURE).count("different spare area") == 1
    compared = shown("compare", stock.name, spare.name)
    assert "+100 %" in compared and compared.count("different spare area") == 1
    assert "different spare area" not in shown("compare", stock.name, stock.name)


def test_which_entries_have_more_spare() -> None:
    alike: list[list[tuple[str, float | None]]] = [[], [("A", None), ("B", None)], [("A", 0.2), ("B", 0.2)]]
    assert [more_spare(entries) for entries in alike] == ["", "", ""]
    assert more_spare([("A", 0.1), ("B", 0.2)]).startswith("B has ")
    assert more_spare([("A", 0.1), ("B", 0.2), ("C", None)]).startswith("A; B have ")


def test_runs_of_one_side_that_are_several_entries_are_no_set(tmp_path: Path, shown: Shown) -> None:
    for number, changes in enumerate(({}, spared("A", 0.25)), start=1):
        entered(tmp_path, number, 100.0 * number, "A", **changes)
        shown("tag", f"00000{number}", "mixed")
    other = entered(tmp_path, 3, 90.0, "B")
    assert "spare" in json.loads(shown("compare", "tag:mixed", other.name, "--json"))["figures"][0]["unlike"]


def replacing(library: Path, member: Member) -> tuple[Path, Path]:
    """A suite of two runs, the first of which was done again; the suite is on record after its runs."""
    old, new = (
        run(library, number, {FIGURE: 100.0 * number}, drive_id="A", member=member) for number in (1, 2)
    )
    child = Child(
        part="a", run_id=old.name, method="qd1", version=2, title="", params={}, quick=False,
        seed=1, preparation_seed=1, drive="", state="",
    )  # fmt: skip
    again = child.model_copy(update={"run_id": new.name})
    add_note(old, "replaced as a", run=new.name)
    suite = run(
        library, 9, {}, run_id=member.suite, drive_id="A", children=(again,), at="2026-11-21T09:05:00.000Z",
        replaced=(Replaced(old=child, run_id=new.name, at="2026-11-22"),),
    )  # fmt: skip
    assert suite.name == member.suite
    return old, new


def test_a_run_that_was_done_again_does_not_count(tmp_path: Path, shown: Shown) -> None:
    old, new = replacing(tmp_path, Member(suite="20261121-0905-qd1-000009", part="a", preparation_seed=1))
    for folder in (old, new):
        catalogue.add(tmp_path, folder)
    for _ in range(2):
        (line,) = json.loads(shown("rank", FIGURE, "--json"))["lines"]
        assert (line["value"], line["runs"]) == (200.0, 1)
        statuses = {each["folder"]: each["status"] for each in json.loads(shown("runs", "--json"))["runs"]}
        assert (statuses[old.name], statuses[new.name]) == ("replaced", "finished")
        assert RunFolder(old).manifest.status == "finished", "the run itself is as it was"
        catalogue.rebuild(tmp_path)


def test_a_note_alone_replaces_nothing(tmp_path: Path, shown: Shown) -> None:
    folder = entered(tmp_path, 1, 100.0, "A", member=Member(suite="gone", part="a", preparation_seed=1))
    add_note(folder, "see the other", run="another")
    catalogue.add(tmp_path, folder)
    assert len(json.loads(shown("rank", FIGURE, "--json"))["lines"]) == 1
