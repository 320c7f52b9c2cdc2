"""One suite on several drives: attached ones, and such as stand in the library as runs."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ssdlab.cli import main
from ssdlab.cli.suites import in_library
from ssdlab.cli.watch import _changes, _suite_lines
from ssdlab.lab.suites import find_suite
from ssdlab.lab.suites.suite import absent_drives, titled
from ssdlab.library.choosing import Choice, list_runs
from ssdlab.report import page, source
from ssdlab.results.run_folder import RunFolder, read_manifest
from ssdlab.results.store import actual_status, find_run, run_folders
from ssdlab.results.verifying import verify_run
from ssdlab.runs.suites import standing
from ssdlab.runs.suites.ordering import suite_params
from ssdlab.runs.suites.standing import drive_in_library, standing_parts
from suites.made import reads_part

A, B = "sim:tiny-test,scale=4", "sim:tiny-test,scale=4,seed=2"
REVIEW = f"""
schema = "ssdlab.review/1"
name = "tried"
title = "Tried"
chapter = [{{ title = "Reads" }}, {{ title = "Mixes" }}]
tiles = ["peak_random_read_iops"]
{reads_part("Reads")}
[[part]]
method = "mixed-random"
chapter = "Mixes"

[part.set]
depths = [8]
seconds = 0.2
ramp_seconds = 0
overwrites = 0.5
least_seconds = 0.2
most_seconds = 20
round_seconds = 0.2

[[variant]]
name = "spare"
spare = "40%"
parts = ["peak-random-read"]

[[drive]]
name = "A"
profile = "tiny-test"

[[drive]]
name = "Z"
absent = "nobody made one"

[[drive]]
name = "Q"
profile = "nvme-qlc-client"
"""


@pytest.fixture
def review(tmp_path: Path) -> str:
    """A declaration of a user's own."""
    path = tmp_path / "tried.toml"
    path.write_text(REVIEW)
    return str(path)


def comparison(library: Path) -> RunFolder:
    """The comparison that was begun last."""
    return RunFolder(find_run("last", library))


def parts(folder: RunFolder) -> list[dict[str, bool]]:
    """Of each drive its parts: whether each was taken as it stood."""
    found = []
    for child in folder.manifest.children:
        suite = read_manifest(folder.path.parent / child.run_id)
        found.append({part.part: part.standing for part in suite.children if part.left_out is None})
    return found


@pytest.mark.long
def test_a_declaration_is_run_on_several_drives_and_reported_on_one_page(
    tmp_path: Path, review: str, capsys: pytest.CaptureFixture[str]
) -> None:
    library = tmp_path / "library"
    assert main(["run", review, A, B, "--library", str(library)]) == 0
    found = comparison(library)
    assert found.manifest.status == "finished"
    # The drive under review has its variant too.
    assert parts(found) == [
        {"peak-random-read": False, "mixed-random": False, "peak-random-read-spare": False},
        {"peak-random-read": False, "mixed-random": False},
    ]
    assert {each.name: verify_run(each).unknown for each in run_folders(library)} == dict.fromkeys(
        (each.name for each in run_folders(library)), ()
    )
    html = page.render([source.read(found.path)])
    assert "simulated tiny-test" in html
    assert "drive 1" not in capsys.readouterr().out, "drives have names"
    assert main(["show", str(found.path), "--all"]) == 0
    shown = capsys.readouterr().out
    assert "drive 1" in shown and "drive 2" in shown

    # Whose review it is, and who is not in it.
    first, second = (read_manifest(library / child.run_id).drive for child in found.manifest.children)
    assert shown.partition("\n")[0] == "Tried"
    assert "finished\nabsent  Z, nobody made one\nabsent  Q, not run\n" in shown
    assert f"drive 1  {A} (" in shown and f"drive 2  {B} (" in shown
    assert "Absent: Z, nobody made one. Absent: Q, not run." in html
    assert main(["runs", "--drive", second.name, "--library", str(library)]) == 0
    assert f"{first.name}; {second.name}" in capsys.readouterr().out

    # The plan of several drives is that of each, and their sum; the first named is under review.
    words = [review, B, A, "--library", str(library)]
    assert main(["plan", *words, "--json"]) == 0
    planned = json.loads(capsys.readouterr().out)
    assert [len(each["parts"]) for each in planned["drives"]] == [3, 2]
    assert planned["seconds"][0] == pytest.approx(
        sum(part["seconds"][0] for each in planned["drives"] for part in each["parts"])
    )
    ends = [sum(each["real_seconds"][end] for each in planned["drives"]) for end in (0, 1)]
    assert planned["real_seconds"] == pytest.approx(ends)
    assert main(["plan", *words]) == 0
    told = capsys.readouterr().out
    assert "total drive time" in told and "total real time" in told


def test_a_drive_that_is_not_attached_stands_as_its_runs(
    tmp_path: Path, review: str, capsys: pytest.CaptureFixture[str]
) -> None:
    library, disk = tmp_path / "library", tmp_path / "disk.bin"
    words = ["--library", str(library), "--destroy", "disk.bin"]
    one_part = ["run", "peak-random-read", str(disk), "--size", "64M", "--set", "fill=true"]
    given = ["--set", "depths=1,8", "--set", "seconds=0.2", "--set", "ramp_seconds=0"]
    assert main([*one_part, *given, *words]) == 0
    identity = RunFolder(find_run("last", library)).manifest.drive.id
    disk.unlink()
    capsys.readouterr()
    suite = find_suite(review)
    assert suite is not None
    known = drive_in_library(library, identity)
    assert known is not None
    parts = suite.parts_of(2)
    found = standing_parts(library, known, suite, parts, suite_params(suite, {}, quick=False), quick=False)
    assert list(found) == ["peak-random-read"]
    assert drive_in_library(library, "nobody's") is None
    others = suite_params(suite, {"peak-random-read.seconds": "0.3"}, quick=False)
    assert standing_parts(library, known, suite, parts, others, quick=False) == {}
    # A run with more points than are wanted serves as well; one with fewer does not.
    for depths, serves in (("8", True), ("1,2", False)):
        wanted = suite_params(suite, {"peak-random-read.depths": depths}, quick=False)
        stands = standing_parts(library, known, suite, parts, wanted, quick=False)
        assert list(stands) == ["peak-random-read"] * serves


@pytest.mark.parametrize(
    ("drive", "asked"),
    [
        ("S4CVNX0T", True),
        ("S4CVNX0T/1", True),
        ("/dev/nvme0n1", False),
        ("./a", False),
        ("~/a", False),
        (A, False),
    ],
)
def test_an_identifier_may_have_a_slash_and_a_path_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, drive: str, asked: bool
) -> None:
    looked_up = []
    monkeypatch.setattr(standing, "drive_in_library", lambda library, name: looked_up.append(name))
    assert in_library(drive, tmp_path, None) is None
    assert looked_up == ([drive] if asked else [])
    assert in_library(drive, tmp_path, 1 << 20) is None, "what is made is no drive of the library"
    assert len(looked_up) == asked


@pytest.mark.parametrize("finished", [0, 3])
@pytest.mark.long
def test_killed_between_and_within_drives_nothing_finished_is_done_twice(
    tmp_path: Path, review: str, finished: int
) -> None:
    library = tmp_path / "library"
    command = [sys.executable, "-m", "ssdlab", "run", review, A, B, "--library", str(library)]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    done: dict[str, float] = {}
    while process.poll() is None and len(done) <= finished:
        done = finished_runs(library)
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    time.sleep(0.3)  # the workers end with their pipe
    before = finished_runs(library)
    folder = comparison(library).path
    _, second = read_manifest(folder).children
    if not finished:  # the second drive waits for its turn: nothing of it was cut short
        waits = library / second.run_id
        assert actual_status(waits, read_manifest(waits)) == "not begun"
        found = list_runs(library, Choice(status="not begun"))
        assert [line["folder"] for line in found.runs] == [second.run_id]
    assert main(["resume", str(folder)]) == 0
    assert read_manifest(folder).status == "finished"
    after = finished_runs(library)
    assert before.items() <= after.items(), "a finished run was touched"
    assert len(after) == 5


def finished_runs(library: Path) -> dict[str, float]:
    """The finished runs of methods, and when each was finished."""
    found = {}
    for path in library.glob("*/manifest.json"):
        manifest = read_manifest(path.parent)
        if manifest.status == "finished" and manifest.tables:  # whose logs were put away too
            found[path.parent.name] = path.stat().st_mtime
    return found


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('schema = "ssdlab.review/9"', "schema"),
        (REVIEW.replace("peak-random-read", "peak-random-raed"), "no method 'peak-random-raed'"),
        (REVIEW.replace("fill = true", "fil = true"), "no parameter of peak-random-read 'fil'"),
        (REVIEW.replace('chapter = "Mixes"', 'chapter = "Mixed"'), "no chapter 'Mixed'"),
        (REVIEW.replace('spare = "40%"', ""), "the variant spare changes nothing"),
        (REVIEW.replace('absent = "nobody made one"', ""), "needs either a profile or a reason"),
        (REVIEW.replace('absent = "nobody made one"', 'profile = "tiny-tset"'), "no profile 'tiny-tset'"),
        (REVIEW.replace('parts = ["peak-random-read"]', 'parts = ["qd1"]'), "no part 'qd1'"),
        (REVIEW + '\n[[part]]\nmethod = "mixed-random"\n', "two parts are called mixed-random"),
        (REVIEW + '\n[[variant]]\nname = "spare"\nspare = "20%"\n', "two variants are called spare"),
        (
            REVIEW + '\n[[part]]\nmethod = "mixed-random"\nname = "peak-random-read-spare"\n',
            "two parts are called peak-random-read-spare",
        ),
        (REVIEW + '\n[[drive]]\nname = "A"\nabsent = "lost"\n', "two drives are called A"),
        (REVIEW.replace('title = "Mixes"', 'title = "Reads"'), "two chapters are called Reads"),
        (
            REVIEW.replace('["peak_random_read_iops"]', '["peak_random_read_iops", "peak_random_read_iops"]'),
            "the tile peak_random_read_iops is named twice",
        ),
        (REVIEW.replace('title = "Tried"', 'title = "Tried"\ncolour = 3'), "no key of a review 'colour'"),
        (
            REVIEW.replace("peak_random_read_iops", "peak_random_raed_iops"),
            "Did you mean peak_random_read_iops? (known: peak_random_read_iops, ",
        ),
        (REVIEW.replace("peak_random_read_iops", "act_score"), "Known: peak_random_read_iops, "),
        (REVIEW.replace('"40%"', '"much"'), "variant spare: spare: share 'much' is not a percentage"),
        (REVIEW.replace('"40%"', '"140%"'), "variant spare: spare: share '140%' is more than 100%"),
        (
            REVIEW.replace('spare = "40%"', 'power_limit = "W"'),
            "variant spare: power_limit: 'W' is not a power limit",
        ),
        (REVIEW.replace('spare = "40%"', 'power_limit = "9W"'), "peak-random-read-spare: power is 9 W: "),
        (REVIEW.replace('spare = "40%"', 'usable = "1TB"'), "peak-random-read-spare: 1.00 TB of "),
        (REVIEW.replace("peak-random-read", "quick-look"), "quick-look is a suite, not a method"),
        (
            REVIEW + "".join(f'\n[[part]]\nmethod = "qd1"\nname = "n{each}"\n' for each in range(4000)),
            "entries, more than 100",
        ),
        ("schema = ", "TOML"),
    ],
)
def test_what_a_declaration_cannot_say_is_refused_with_its_place(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, says: str
) -> None:
    path = tmp_path / "bad.toml"
    path.write_text(text)
    assert main(["plan", str(path), A]) == 2
    assert says in capsys.readouterr().err


def test_what_a_drive_cannot_be_is_left_out_of_a_review_of_ours(capsys: pytest.CaptureFixture[str]) -> None:
    """Ours are run on any drive; the plan says what is left out, and why."""
    assert main(["plan", "review-c916", "sim:tiny-test,scale=4", "--json"]) == 0
    parts = json.loads(capsys.readouterr().out)["parts"]
    assert {part["part"] for part in parts if "power" in (part["left_out"] or "")} == {
        "mixed-random-10w",
        "act-search-10w",
    }


def test_one_drive_twice_and_a_consent_of_nobody_are_refused(
    tmp_path: Path, review: str, capsys: pytest.CaptureFixture[str]
) -> None:
    library = str(tmp_path / "library")
    assert main(["run", review, A, A, "--library", library]) == 2
    assert "named twice" in capsys.readouterr().err
    assert main(["run", review, A, B, "--library", library, "--destroy", "nobody"]) == 2
    assert "none of the given drives" in capsys.readouterr().err
    assert main(["run", review, "--library", library]) == 2
    assert "no drive is named" in capsys.readouterr().err
    assert not (tmp_path / "library").exists()


def test_a_review_that_is_watched_says_what_each_part_does() -> None:
    def part(status: str) -> dict[str, object]:
        return {"run": "", "status": status, "live": None}

    parts = {
        "drive 1": part("finished"),
        "drive 1, qd1": part("finished"),
        "drive 1, act": part("left out"),
        "drive 2": part("running"),
        "drive 2, qd1": part("running"),
        "drive 2, fill": part("not begun"),
    }
    assert _suite_lines(parts) == ("1 of 3 parts finished",), "a drive is no part"
    states = {name: str(each["status"]) for name, each in parts.items()}
    assert list(_changes({}, states)) == [
        "drive 1: finished",
        "drive 1, qd1: finished",
        "drive 1, act: left out",
        "drive 2: running",
        "drive 2, qd1: running",
    ]
    assert list(_changes(states, states | {"drive 2, fill": "interrupted"})) == [], "made, and not yet held"
    after = states | {"drive 2, qd1": "finished", "drive 2, fill": "running"}
    assert list(_changes(states, after)) == ["drive 2, qd1: finished", "drive 2, fill: begins"]


def test_a_real_drive_is_not_known_by_its_declared_name() -> None:
    review = {"drives": [{"name": "DC500R", "profile": "sata-tlc-enterprise"}]}
    assert absent_drives(review, ["/dev/sda"]) == ("DC500R, not run as its profile",)
    assert absent_drives(review, ["/dev/sda", "sim:sata-tlc-enterprise,scale=4"]) == ()


def test_a_drive_is_known_by_an_alias_of_its_profile() -> None:
    suite = find_suite("review-dc500")
    assert suite is not None
    profiles = [each.get("profile") for each in suite.page["drives"]]
    assert "samsung-883-dct-960gb" in profiles
    (named, full) = (
        absent_drives(suite.page, [text]) for text in ("sim:883dct", "sim:samsung-883-dct-960gb")
    )
    assert named == full and len(full) < len(profiles)
    assert titled(suite, ["sim:883dct,scale=64"]).title == suite.title


UNPREPARED = (
    ("sim:xpoint,scale=256", "analytic", "cannot be computed"),
    ("sim:nvme-tlc-client,scale=64", "analytic", "SLC cache"),
    ("sim:nvme-tlc-client,scale=64", "one-pass", "SLC cache"),
)


@pytest.mark.parametrize(("drive", "how", "why"), UNPREPARED)
@pytest.mark.parametrize("words", [["plan"], ["run"], ["run", "--dry-run"]], ids=" ".join)
@pytest.mark.parametrize("asked", ["review", "suite", "repeat", "method"])
def test_a_drive_that_cannot_be_prepared_so_is_refused_before_anything_begins(
    words: list[str],
    asked: str,
    drive: str,
    how: str,
    why: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """No part is left out for it, and no other drive is measured before it shows."""
    (tmp_path / "tried.toml").write_text(REVIEW, encoding="utf-8")
    name = {"review": str(tmp_path / "tried.toml"), "suite": "enterprise-review"}.get(asked, "mixed-random")
    drives = [A, drive] if asked == "review" else [drive]
    more = ["--repeat", "2"] if asked == "repeat" else []
    library = tmp_path / "library"
    given = [*words, name, *drives, *more, "--precondition", how, "--library", str(library)]
    assert main(given) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert why in said and said.endswith("--precondition full")
    assert drive in said or asked == "method"
    assert not library.exists() or not list(run_folders(library))
