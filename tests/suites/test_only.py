"""Some parts of a review alone: which are done, in what state they begin, and that the others are told."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from lab.fake_drive import FakeDrive
from ssdlab.cli import main
from ssdlab.cli.suites import _standing, parts_named
from ssdlab.drives import Look
from ssdlab.lab.found import SUITES
from ssdlab.lab.suites import find_suite
from ssdlab.lab.suites.suite import Part, titled
from ssdlab.model.errors import Refused, UsageError
from ssdlab.report import page, source
from ssdlab.results.run_folder import RunFolder
from ssdlab.results.store import find_run
from ssdlab.runs.suites.ordering import planned_children, suite_params
from ssdlab.runs.suites.session import ready, start_suite
from ssdlab.runs.suites.standing import drive_in_library
from suites.made import Watcher, children, environment, reads_part, suite, suite_order

READS = suite(
    Part("peak-random-read", "written", {"fill": "true"}),
    Part("peak-sequential-read", "written", {"fill": "true"}),
    Part("peak-random-read", "written", {"fill": "true"}, name="reads again"),
)
PEAK = {"depths": "1,2", "seconds": "1", "ramp_seconds": "0"}
A, B = "sim:tiny-test,scale=4", "sim:tiny-test,scale=4,seed=2"
REVIEW = f"""
schema = "ssdlab.review/1"
name = "tried"
title = "Tried on a famous drive"
practice = "Tried anywhere"
{reads_part("Reads")}
[[part]]
method = "peak-sequential-read"
chapter = "Others"
set = {{ fill = true, depths = [1], seconds = 0.2, ramp_seconds = 0 }}

[[variant]]
name = "spare"
spare = "40%"
parts = ["peak-random-read"]

[[drive]]
name = "Famous"
profile = "nvme-qlc-client"
"""


@pytest.fixture
def review(tmp_path: Path) -> str:
    """A declaration of a user's own, with a variant."""
    path = tmp_path / "tried.toml"
    path.write_text(REVIEW)
    return str(path)


def test_a_part_is_the_same_run_alone_and_brings_its_state_about(tmp_path: Path) -> None:
    """As in the whole suite, but for the fill that another part had done for it."""
    runs = {}
    for name, only in (("whole", frozenset()), ("alone", frozenset({"peak-sequential-read"}))):
        drive = FakeDrive(known_written=None)
        order = replace(suite_order(READS, "/dev/fake0", PEAK), only=only)
        folder = RunFolder(start_suite(order, tmp_path / name, Watcher(), environment(drive)))
        folder.verify()
        runs[name] = children(folder)
        assert len(runs[name]) == (3 if name == "whole" else 1)
        assert sum(workload.streams[0].name == "fill" for workload in drive.runs) == 1
    whole, alone = (each["peak-sequential-read"].manifest for each in (runs["whole"], runs["alone"]))
    assert (whole.seed, whole.params, whole.member.preparation_seed) == (
        alone.seed,
        alone.params,
        alone.member.preparation_seed,
    )
    assert alone.member.written_by is None and whole.member.written_by is not None


def test_what_is_not_asked_for_is_one_departure(tmp_path: Path) -> None:
    order = replace(suite_order(READS, "/dev/fake0", PEAK), only=frozenset({"reads again"}))
    drive = FakeDrive(known_written=None)
    folder = RunFolder(start_suite(order, tmp_path, Watcher(), environment(drive)))
    (told,) = folder.manifest.departures
    assert told.code == "not-asked-for"
    assert all(part.label in told.what for part in READS.parts if part.label != "reads again")
    assert "reads again" not in told.what


@pytest.mark.parametrize("name", SUITES)
def test_of_each_suite_of_ours_each_part_alone_is_planned_as_in_the_whole(name: str) -> None:
    made = find_suite(name)
    assert made is not None
    order = suite_order(made, "sim:nvme-tlc-client,scale=64", {})
    look = Look(None, True, None, None)

    def planned(only: frozenset[str]) -> dict[str, object]:
        from ssdlab.drives.simulated.drive import SimulatedText, identity_of

        found = replace(look, identity=identity_of(SimulatedText.parse(order.like.drive)))
        each = planned_children(replace(order, only=only), 7, found)
        return {
            one.child.part: (one.child.seed, one.child.state, [step.hash for step in one.plan.steps])
            for one in each
            if one.plan is not None
        }

    whole = planned(frozenset())
    for label in whole:
        assert planned(frozenset({label})) == {label: whole[label]}


def test_parts_are_named_as_methods_lists_them(review: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["methods", review, "--json"]) == 0
    (told,) = json.loads(capsys.readouterr().out)["suites"]
    names = [each["part"] for each in (*told["parts"], *told["variant_parts"])]
    made = find_suite(review)
    assert made is not None
    assert parts_named(made, [",".join(names)]) == set(names)
    assert parts_named(made, [f" {names[0]} , {names[1]}", names[2]]) == set(names)
    for word in ("nosuch", f"{names[0]},", ""):
        with pytest.raises(UsageError) as error:
            parts_named(made, [word])
        assert all(name in error.value.advice for name in names)


def test_what_has_no_parts_and_what_leaves_none_is_refused(
    tmp_path: Path, review: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--library", str(tmp_path / "library"), "--json"]
    assert main(["run", "qd1", A, "--only", "qd1", *words]) == 2
    assert "no parts" in json.loads(capsys.readouterr().out)["what"]
    # Variants are of the first drive alone.
    assert main(["run", review, A, B, "--only", "peak-random-read-spare", *words]) == 2
    assert B in json.loads(capsys.readouterr().out)["what"]
    assert not (tmp_path / "library").exists()
    order = replace(suite_order(READS, A, PEAK), only=frozenset({"peak-random-read-spare"}))
    with pytest.raises(Refused):
        ready(order)


def test_the_plan_tells_what_is_left_out(review: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", review, A, "--only", "peak-random-read-spare", "--json"]) == 0
    parts = json.loads(capsys.readouterr().out)["parts"]
    assert [each["part"] for each in parts if each["left_out"] is None] == ["peak-random-read-spare"]
    assert all("--only" in each["left_out"] for each in parts if each["left_out"] is not None)


def test_of_a_drive_in_the_library_only_what_is_asked_for_is_missing_or_stands(
    tmp_path: Path, review: str, capsys: pytest.CaptureFixture[str]
) -> None:
    library, disk = tmp_path / "library", tmp_path / "disk.bin"
    given = ["--size", "64M", "--set", "fill=true", "--set", "depths=1,8", "--set", "seconds=0.2"]
    one = ["run", "peak-random-read", str(disk), *given, "--set", "ramp_seconds=0"]
    assert main([*one, "--destroy", "disk.bin", "--library", str(library)]) == 0
    known = drive_in_library(library, RunFolder(find_run("last", library)).manifest.drive.id)
    made = find_suite(review)
    assert known is not None and made is not None
    made = replace(made, entries=())
    for part, stands in (("peak-random-read", True), ("peak-sequential-read", False)):
        order = replace(suite_order(made, str(disk), {}), only=frozenset({part}))
        found = _standing(order, known, library, attached=True)
        assert (list(found.standing) == [part], found.known is not None) == (stands, stands)
    fewer = suite_order(made, str(disk), {"peak-random-read.depths": "8"})
    capsys.readouterr()
    found = _standing(replace(fewer, only=frozenset({"peak-random-read"})), known, library, attached=True)
    assert list(found.standing) == ["peak-random-read"]
    assert "1, 8" in capsys.readouterr().err, "that it has more points is said"


@pytest.mark.long
def test_page_and_show_tell_which_parts_are_left_out_and_of_which_drives(
    tmp_path: Path, review: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--library", str(tmp_path)]
    assert main(["run", review, A, B, "--only", "peak-sequential-read", *words]) == 0
    folder = find_run("last", tmp_path)
    capsys.readouterr()
    assert main(["show", str(folder), "--all"]) == 0
    shown = capsys.readouterr().out
    assert "parts left out" in shown and "peak-random-read" in shown
    html = page.render([source.read(folder)])
    assert "parts left out: peak-random-read, peak-random-read-spare" in html
    assert "Tried anywhere" in html and "famous" not in html
    assert main(["library", "verify", *words]) == 0


def test_a_review_is_headed_by_its_practice_where_none_of_its_drives_is_run() -> None:
    reviews = [made for name in SUITES if (made := find_suite(name)) is not None and made.practice]
    assert len(reviews) == 5
    assert len({made.practice for made in reviews}) == 5
    for made in reviews:
        own = next(each["profile"] for each in dict(made.page)["drives"] if "profile" in each)
        assert titled(made, [f"sim:{own},scale=64", "/dev/sda"]).title == made.title
        for others in (["sim:tiny-test"], ["/dev/sda", "/dev/sdb"], ["disk.bin"]):
            assert titled(made, others).title == made.practice
        drive = made.title.rpartition(" of the ")[2]
        assert drive in made.title and not set(drive.split()) & set(made.practice.split())
    unchanged = find_suite("quick-look")
    assert unchanged is not None and titled(unchanged, ["/dev/sda"]) is unchanged


@pytest.mark.parametrize("name", SUITES)
def test_a_declaration_of_ours_is_printed_to_copy(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    assert main(["methods", name, "--toml"]) == 0
    copy = tmp_path / "copy.toml"
    copy.write_text(capsys.readouterr().out)
    assert replace(find_suite(str(copy)), own=False) == find_suite(name)


@pytest.mark.parametrize("words", [[], ["qd1"], ["./own.toml"], ["nosuch"], ["snia", "--json"]])
def test_what_has_no_declaration_of_ours_is_refused(
    capsys: pytest.CaptureFixture[str], words: list[str]
) -> None:
    assert main(["methods", *words, "--toml"]) == 2
    told = capsys.readouterr()
    if "--json" not in words and "nosuch" not in words:
        assert all(name in told.err for name in SUITES), "what has one is named"


@pytest.mark.parametrize(
    ("drive", "quick", "settings", "how"),
    [
        ("sim:tiny-test,scale=4", True, {}, "analytic"),
        ("sim:tiny-test,scale=4", False, {}, "full"),
        ("sim:tiny-test,scale=4", True, {"steady-random-write.precondition": "full"}, "full"),
        ("sim:nvme-tlc-client,scale=64", True, {}, "full"),  # theory knows no cache of one bit a cell
        ("sim:xpoint,scale=64", True, {}, "full"),
        ("sim:samsung-983-dct-960gb", True, {}, "full"),  # of which 64 GB are used
        ("/dev/nvme0n1", True, {}, "full"),
    ],
)
def test_steady_parts_of_a_quick_review_begin_placed_where_they_can(
    drive: str, quick: bool, settings: dict[str, str], how: str
) -> None:
    suite = find_suite("review-dc500")
    assert suite is not None
    found = suite_params(suite, settings, quick=quick, drive=drive)
    assert found["steady-random-write"].model_dump()["precondition"] == how
