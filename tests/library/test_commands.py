"""runs, last, tag, rm and rank, as a user gives them, on invented runs."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from lab.synthetic import edited
from library.made import run
from ssdlab.cli import main
from ssdlab.results import catalogue
from ssdlab.results.catalogue_files import CURRENT, CURRENT_SCHEMA
from ssdlab.results.lease import RunLock
from ssdlab.results.run_folder import RunFolder
from ssdlab.results.schema import Child, Member, Sealed
from ssdlab.results.store import begin_run, find_run, run_folders, write_manifest
from ssdlab.runs.suites.standing import _runs_of

Ask = Callable[..., Any]


@pytest.fixture
def ask(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Ask:
    """Runs a command on the library `tmp_path` and returns its JSON."""

    def asked(*words: str, status: int = 0) -> Any:
        assert main([*words, "--library", str(tmp_path), "--json"]) == status
        return json.loads(capsys.readouterr().out)

    return asked


@pytest.fixture
def library(tmp_path: Path) -> Path:
    """Runs 1 to 4, each a minute after the one before, the last on another drive."""
    for number in range(1, 5):
        at = f"2026-11-21T09:0{number}:00.000Z"
        drive = "OTHER" if number == 4 else "SER1"
        figures = {"qd1_random_read_iops": 1000.0 * number}
        catalogue.add(tmp_path, run(tmp_path, number, figures, at=at, drive_id=drive))
    return tmp_path


@contextmanager
def running(folder: Path) -> Iterator[None]:
    """Hold a run as a process that works on it does."""
    lock = RunLock(folder)
    try:
        yield
    finally:
        lock.release()


def numbers(listed: dict[str, Any]) -> list[int]:
    return [int(each["folder"][-6:]) for each in listed["runs"]]


@pytest.mark.parametrize("terminal", [False, True])
def test_runs_are_as_wide_as_the_terminal_and_whole_in_a_pipe(
    terminal: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    run(tmp_path, 1)
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setattr("ssdlab.cli.runs.on_terminal", lambda: terminal)
    assert main(["runs", "--library", str(tmp_path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert (max(map(len, lines)) <= 60) == terminal
    assert ("begun" in lines[0].split()) == (not terminal)
    if not terminal:
        cells = [line.split("\t") for line in lines]
        assert cells[0] == ["run", "begun", "status", "method", "drive", "identifier", "tags"]
        assert [len(line) for line in cells] == [7, 7]
        assert all(cell == cell.strip() for line in cells for cell in line), (
            "no longest cell widens the others"
        )


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ((), [4, 3, 2, 1]),
        (("--drive", "ser1"), [3, 2, 1]),
        (("--drive", "model of o"), [4]),
        (("--since", "2026-11-21T09:03"), [4, 3]),
        (("--since", "2026-11-22"), []),
        (("--since", "10000d"), [4, 3, 2, 1]),
        (("--method", "qd1", "--limit", "1"), [4]),
        (("--status", "finished", "--drive", "SER1"), [3, 2, 1]),
        (("--status", "interrupted"), []),
        (("--tag", "nightly"), [2]),
    ],
)
def test_runs_are_listed_by_what_they_have(ask: Ask, library: Path, words: tuple, found: list[int]) -> None:
    assert ask("tag", "000002", "nightly")["tags"] == ["nightly"]
    listed = ask("runs", *words)
    assert numbers(listed) == found
    assert listed["total"] == (4 if "--limit" in words else len(found))


def test_a_run_without_an_end_is_listed_as_it_is(ask: Ask, library: Path) -> None:
    elsewhere = run(library / "elsewhere", 9, at="2026-11-21T09:09:00.000Z")
    begun = RunFolder(elsewhere).manifest
    unfinished = begun.model_copy(update={"status": "running", "sealed": None, "result": None})
    folder = begin_run(library, unfinished)
    assert [each["status"] for each in ask("runs", "--status", "interrupted")["runs"]] == ["interrupted"]
    with running(folder):
        assert ask("runs")["runs"][0]["status"] == "running"
    assert ask("tag", "last", "half")["tags"] == ["half"]
    assert numbers(ask("runs", "--tag", "half")) == [9]
    edited(folder, schema="ssdlab.run/99")
    listed = ask("runs")
    assert numbers(listed) == [4, 3, 2, 1] and "newer" in listed["unreadable"][0]["why"]
    shutil.copy(elsewhere / "journal.jsonl", folder)
    write_manifest(folder, begun)
    catalogue.add(library, folder)
    assert ask("runs")["runs"][0]["status"] == "finished" and ask("runs")["total"] == 5


def test_last_prints_the_folder_of_the_newest_run(
    library: Path, ask: Ask, capsys: pytest.CaptureFixture[str]
) -> None:
    newest = find_run("last", library)
    told = ask("last")
    assert (told["folder"], told["run_id"]) == (str(newest), newest.name)
    assert main(["last", "--library", str(library)]) == 0
    assert capsys.readouterr().out == f"{newest}\n"


def test_last_is_the_run_that_was_begun_last_and_no_part_of_a_suite(library: Path) -> None:
    assert find_run("last", library).name.endswith("000004")
    at = "2026-11-21T09:04:30.000Z"  # within the minute of the fourth, and before it by its id
    member = Member(suite="20261121-0904-s-000005", part="a", preparation_seed=1)
    run(library, 3, at=at, member=member)
    assert find_run("last", library).name.endswith("000004")
    later = run(library, 2, at="2026-11-21T09:04:10.000Z")
    assert find_run("last", library) == later
    with pytest.raises(Exception, match="no run 'zz'") as caught:  # those of a minute by their manifests
        find_run("zz", library)
    named = [name.rpartition("-")[2] for name in caught.value.advice.partition(": ")[2].split(", ")]
    assert named == ["000003", "000002", "000004"], "the newest first"
    with pytest.raises(Exception, match="no run 'last'"):
        find_run("last", library / "none")


def test_a_run_of_a_time_to_come_is_last_where_there_is_no_other(tmp_path: Path) -> None:
    """A host whose clock is wrong takes part in a library: its run was `last` for years."""
    later = run(tmp_path, 5, at="2999-01-01T00:00:00.000Z")
    catalogue.add(tmp_path, later)
    assert find_run("last", tmp_path) == later
    first = run(tmp_path, 1, {"qd1_random_read_iops": 1.0}, at="2019-01-01T00:00:00.000Z", drive_id="SER1")
    catalogue.add(tmp_path, first)
    assert find_run("last", tmp_path) == first
    id_of_now = run(tmp_path, 2, at="2019-01-01T00:00:59.000Z")
    wrong = RunFolder(id_of_now).manifest.model_copy(update={"created": "2999-01-01T00:00:00.000Z"})
    write_manifest(id_of_now, wrong)
    assert find_run("last", tmp_path) == first, "the clock was set between its id and its record"
    catalogue.add(tmp_path, run(tmp_path, 6, {"x": 1.0}, at="2999-01-01T00:00:00.000Z", drive_id="SER1"))
    assert next(_runs_of(tmp_path, "SER1", None)).path == first, "what stands in a review"


def test_tags_are_sealed_lines_beside_the_run(ask: Ask, library: Path) -> None:
    folder = find_run("000002", library)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert ask("tag", "000002", "a", "b/c")["tags"] == ["a", "b/c"]
    assert ask("tag", "000002", "d", "--remove", "a")["tags"] == ["b/c", "d"]
    assert ask("tag", "000002")["tags"] == ["b/c", "d"]
    assert {path.name: path.read_bytes() for path in folder.iterdir() if path.name in before} == before
    assert ask("library", "verify")["damaged"] == 0
    tags = folder / "tags.jsonl"
    tags.write_bytes(tags.read_bytes().replace(b'"a"', b'"z"'))
    assert "tags.jsonl is damaged at line 1" in ask("tag", "000002", status=2)["what"]
    assert ask("library", "verify", status=2)["damaged"] == 1


@pytest.mark.parametrize(
    ("words", "what", "advice"),
    [
        (("tag", "last", "no blanks"), "'no blanks' cannot be a tag", "letters"),
        (("tag", "last", "\x1b[2J"), "cannot be a tag", "letters"),
        (("tag", "last", "a", "--remove", "a"), "both added and removed", "one of the two"),
        (("tag", "last", "--remove", "nigthly"), "no tag 'nigthly'", "nightly"),
        (("runs", "--tag", "nigthly"), "no tag 'nigthly'", "did you mean nightly"),
        (("runs", "--method", "qd11"), "no method 'qd11'", "qd1"),
        (("runs", "--since", "monday"), "neither a date nor an age", "7d"),
        (("rank", "qd1_random_read_iopps"), "no figure", "did you mean qd1_random_read_iops"),
        (("rank", "iops", "--tag", "nigthly"), "no tag", "nightly"),
        (("rank", "iops", "--drive", "nobody"), "no run that was asked for", "drop"),
        (("rm",), "no run is named", "ssdlab runs"),
        (("rm", "zz"), "no run 'zz'", "newest"),
        (("rm", "--restore", "000001"), "no run '000001'", "it is empty"),
    ],
)
def test_wrong_words_get_the_nearest_right_ones(
    ask: Ask, library: Path, words: tuple[str, ...], what: str, advice: str
) -> None:
    ask("tag", "last", "nightly")
    error = ask(*words, status=2)
    assert what in error["what"] and advice in error["advice"].lower() + error["advice"]


def test_what_is_removed_comes_back(ask: Ask, library: Path) -> None:
    ask("tag", "000002", "kept")
    before = ask("runs")["runs"]
    folder = find_run("000002", library)
    assert ask("rm", "000002", "last")["runs"] == [folder.name, find_run("000004", library / ".trash").name]
    assert numbers(ask("runs")) == [3, 1] and not folder.exists()
    assert ask("library", "rebuild")["runs"] == 2
    assert ask("library", "verify")["damaged"] == 0
    assert ask("rm", "--restore", "000002", "000004")["restored"]
    back = ask("runs")["runs"]
    assert [each | {"entered": 0} for each in back] == [each | {"entered": 0} for each in before]


def test_a_suite_goes_with_its_runs_and_none_of_them_alone(ask: Ask, library: Path) -> None:
    suite_id = "20261121-0905-qd1-000009"
    member = Member(suite=suite_id, part="a", preparation_seed=1)
    part = run(library, 8, at="2026-11-21T09:05:00.000Z", member=member)
    child = Child(
        part="a", run_id=part.name, method="qd1", version=2, title="", params={}, quick=False,
        seed=1, preparation_seed=1, drive="", state="",
    )  # fmt: skip
    seal = RunFolder(part).seal
    assert seal is not None
    sealed = Sealed(journal_lines=0, journal_seal="", runs={part.name: seal})
    run(library, 9, at="2026-11-21T09:05:00.000Z", children=(child,), sealed=sealed)
    error = ask("rm", part.name, status=2)
    assert suite_id in error["what"] and part.exists()
    assert error["advice"] == f"remove that: ssdlab rm {library / suite_id}"
    assert sorted(ask("rm", suite_id)["runs"]) == sorted([part.name, suite_id])
    assert len(run_folders(library)) == 4 and not part.exists()
    ask("rm", "--restore", suite_id)
    assert part.exists() and RunFolder(library / suite_id).verify() == "sealed"


def test_what_goes_on_and_what_is_in_no_library_stays(ask: Ask, library: Path, tmp_path: Path) -> None:
    folder = find_run("000003", library)
    with running(folder):
        assert "running" in ask("rm", "000003", status=2)["what"]
    alone = run(tmp_path / "alone", 1)
    assert "in no library" in ask("rm", str(alone), status=2)["what"]
    assert folder.exists() and alone.exists()
    ask("rm", "000003")
    assert "in no library" in ask("rm", str(library / ".trash" / folder.name), status=2)["what"]
    run(library, 3, at="2026-11-21T09:03:00.000Z")
    assert "exists" in ask("rm", "--restore", "000003", status=2)["what"]


def test_a_damaged_run_can_be_removed(ask: Ask, library: Path) -> None:
    (find_run("000003", library) / "manifest.json").write_text("{")
    assert numbers(ask("rm", "000003") and ask("runs")) == [4, 2, 1]


def test_unlike_runs_are_never_ranked_together(ask: Ask, library: Path) -> None:
    method = RunFolder(find_run("last", library)).manifest.method
    drive = RunFolder(find_run("last", library)).manifest.drive
    sim = {"kind": "sim", "id": "sim"}
    unlike: list[dict[str, Any]] = [
        {"quick": True, "params": {"seconds": 2.0}},
        {"engine": "uring"},
        {"params": {"seconds": 5.0}},
        {"method": method.model_copy(update={"version": 3})},
        {"method": method.model_copy(update={"name": "qd2"})},
        {"departed": ("no-purge",)},
        {"departed": ("no-purge", "other")},
        {"drive": drive.model_copy(update={"text": "sim:tiny-test", **sim})},
        {"drive": drive.model_copy(update={"text": "sim:tiny-test,scale=4", **sim})},
        {"drive": drive.model_copy(update={"text": "sim:tiny-test", **sim}), "tool": {"simulator": "2"}},
    ]
    for number, changes in enumerate(unlike, start=10):
        folder = run(library, number, {"qd1_random_read_iops": 1e6 + number}, **changes)
        catalogue.add(library, folder)
    ranked = ask("rank", "qd1_random_read_iops")
    assert [line["drive_id"] for line in ranked["lines"]] == ["OTHER", "SER1"]
    assert (ranked["lines"][1]["value"], ranked["lines"][1]["runs"]) == (2000.0, 3)
    assert len(unlike) == 10 and ranked["left_out_runs"] == len(ranked["left_out"]) == len(unlike)
    why = sorted(each["why"].replace("the drive's own", "own") for each in ranked["left_out"])
    assert (
        "quick" in why
        and "engine uring, not sync" in why
        and "parameters seconds=5.0, not the preset's" in why
    )
    assert "kind of drive sim, not block; simulator version 2, not unknown" in why
    assert "departures no-purge, other, not none" in why
    for number, changes in enumerate(unlike, start=10):
        alone = ask("rank", "qd1_random_read_iops", "--like", f"{number:06d}")
        assert [line["value"] for line in alone["lines"]] == [1e6 + number], changes
        assert alone["left_out_runs"] == 13


def test_drives_whose_medians_are_level_share_a_place(
    ask: Ask, library: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    drives = {"TWIN1": 7.0, "TWIN2": 7.05, "LAST": 9.0, "FIRST": 5.0}
    for number, (drive_id, value) in enumerate(drives.items(), start=30):
        catalogue.add(library, run(library, number, {"even_ns": value}, drive_id=drive_id))
    places = {line["drive_id"]: line["place"] for line in ask("rank", "even_ns")["lines"]}
    assert places == {"FIRST": 1, "TWIN1": 2, "TWIN2": 2, "LAST": 4}
    assert [line["place"] for line in ask("rank", "even_ns", "--limit", "3")["lines"]] == [1, 2, 2]
    assert main(["rank", "even_ns", "--library", str(library)]) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert [line[0] for line in lines if line and line[0].isdigit()] == ["1", "2", "2", "4"]


def test_a_figure_whose_state_was_not_shown_is_not_ranked(
    ask: Ask, library: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for number, code in ((40, "state-unproven"), (41, "state-unproven"), (42, "not-judged")):
        folder = run(
            library,
            number,
            {"qd1_random_read_iops": 1e6, "iops_of_rounds": 1.0},
            drive_id="D",
            codes=[code],
        )
        catalogue.add(library, folder)
    ranked = ask("rank", "qd1_random_read_iops")
    assert [line["drive_id"] for line in ranked["lines"]] == ["OTHER", "SER1"]
    assert sorted((each["runs"], each["why"]) for each in ranked["left_out"]) == [
        (1, "not judged"),
        (2, "state unproven"),
    ]
    assert catalogue.rebuild(library).figures == 4 + 6
    assert ask("rank", "qd1_random_read_iops") == ranked
    for words, labels in ((("--like", "000041"), "state unproven"), ((), "state unproven, not judged")):
        figure = "qd1_random_read_iops" if words else "iops_of_rounds"
        assert main(["rank", figure, "--library", str(library), *words]) == 2
        error = capsys.readouterr().err
        assert f"qualifies ({labels})\n        Precondition for longer" in error
        assert ("run the full method" in error) is not words, "each is told what helps"


@pytest.mark.parametrize(
    ("codes", "labels", "advice"),
    [
        (
            ["host-limited"],
            "host-limited",
            "Use fewer threads",
        ),
        (["throttled"], "throttled", "Cool the drive"),
        (["host-limited", "throttled"], "throttled, host-limited", "Cool the drive"),
        (
            ["placed", "state-unproven"],
            "state unproven",
            "Precondition for longer",
        ),
        (["of-a-later-one"], "state unproven", "Precondition for longer"),
    ],
)
def test_who_may_not_rank_is_told_what_helps(
    codes: list[str], labels: str, advice: str, library: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    catalogue.add(library, run(library, 40, {"iops_of_rounds": 1.0}, drive_id="D", codes=codes))
    assert main(["rank", "iops_of_rounds", "--library", str(library)]) == 2
    assert f"({labels})\n        {advice}" in capsys.readouterr().err


def test_a_catalogue_of_an_older_ssdlab_is_made_anew(ask: Ask, library: Path) -> None:
    catalogue.rebuild(library)
    current = library / catalogue.FOLDER / CURRENT
    current.write_text('{"schema": "ssdlab.catalogue/2", "segments": []}')
    segment = next(path for path in current.parent.iterdir() if path.suffix == ".parquet")
    segment.write_bytes(b"of other columns")
    assert numbers(ask("runs")) == [4, 3, 2, 1] and CURRENT_SCHEMA in current.read_text()


def test_less_is_better_where_it_is(ask: Ask, library: Path) -> None:
    for number, value in ((20, 5.0), (21, 3.0), (22, None)):
        catalogue.add(library, run(library, number, {"qd1_read_p99_ns": value}))
    ranked = ask("rank", "p99_ns")
    assert [line["value"] for line in ranked["lines"]] == [3.0, 5.0]


def test_names_of_others_cannot_steer_the_terminal(library: Path, capsys: pytest.CaptureFixture[str]) -> None:
    drive = RunFolder(find_run("last", library)).manifest.drive
    drive = drive.model_copy(update={"id": "EVIL", "name": "\x1b[2Jevil\nline"})
    catalogue.add(library, run(library, 30, {"qd1_random_read_iops": 1e9}, drive=drive))
    for words in (["runs"], ["rank", "qd1_random_read_iops"]):
        assert main([*words, "--library", str(library)]) == 0
        out = capsys.readouterr().out
        assert "\x1b" not in out and "\\x1b[2Jevil\\nline" in out


def test_listing_loads_no_numpy_and_no_pages(library: Path) -> None:
    code = (
        "import sys; from ssdlab.cli import main; "
        f"main(['runs', '--library', {str(library)!r}]); "
        "print(sorted({'numpy', 'jinja2', 'asyncio', 'ssdlab.drives.opening'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env={**os.environ}
    )
    assert done.stdout.splitlines()[-1] == "[]"


def test_a_library_without_runs_says_so_and_what_makes_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["runs", "--library", str(tmp_path)]) == 0
    assert "no run yet; ssdlab run makes one" in capsys.readouterr().out
    assert main(["runs", "--drive", "x", "--library", str(tmp_path)]) == 0
    assert "no matching run" in capsys.readouterr().out
    for verb in ("rank", "changes"):
        assert main([verb, "iops", "--library", str(tmp_path)]) == 2
        assert "has figures" in capsys.readouterr().err


def test_the_list_has_the_identifiers_that_other_verbs_take(
    library: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["runs", "--library", str(library)]) == 0
    out = capsys.readouterr().out
    assert "identifier" in out and "SER1" in out


@pytest.fixture
def review(tmp_path: Path) -> Path:
    """A review of two drives (400), each a suite (310, 320) of two parts, and a run of its own (1)."""
    catalogue.add(tmp_path, run(tmp_path, 1))
    for suite in (310, 320):
        member = Member(suite=f"20261121-0900-qd1-{suite:06d}", part="a", preparation_seed=1)
        for number in (suite + 1, suite + 2):
            catalogue.add(tmp_path, run(tmp_path, number, member=member))
        member = Member(suite="20261121-0900-qd1-000400", part="drive", preparation_seed=1)
        method = RunFolder(find_run("000001", tmp_path)).manifest.method.model_copy(update={"name": "review"})
        catalogue.add(tmp_path, run(tmp_path, suite, member=member, method=method))
    catalogue.add(tmp_path, run(tmp_path, 400, method=method))
    return tmp_path


def listed_numbers(out: str) -> list[int]:
    return [int(line.partition("\t")[0][-6:]) for line in out.splitlines()[1:]]


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ((), [400, 1]),
        (("--parts",), [400, 322, 321, 320, 312, 311, 310, 1]),
        (("--method", "qd1"), [322, 321, 312, 311, 1]),
        (("--method", "review"), [400]),
        (("--limit", "1"), [400]),
        (("--drive", "SERIAL00320"), [320]),
    ],
)
def test_parts_are_folded_into_the_review_that_is_listed(
    review: Path, capsys: pytest.CaptureFixture[str], ask: Ask, words: tuple[str, ...], found: list[int]
) -> None:
    assert main(["runs", *words, "--library", str(review)]) == 0
    out = capsys.readouterr().out
    assert listed_numbers(out) == found
    assert ("(2 drives, 4 parts)" in out) is (400 in found and "--parts" not in words)
    told = ask("runs")
    assert sorted(numbers(told)) == [1, 310, 311, 312, 320, 321, 322, 400], "JSON has all, with their suites"
    assert {each["suite"][-6:] for each in told["runs"]} == {"", "000310", "000320", "000400"}


def test_parts_are_folded_while_their_review_goes_on(
    review: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = find_run("000400", review)
    begun = RunFolder(whole).manifest.model_copy(update={"status": "running", "sealed": None, "result": None})
    shutil.rmtree(whole)
    catalogue.rebuild(review)
    folder = begin_run(review, begun)
    with running(folder):
        assert main(["runs", "--library", str(review)]) == 0
        out = capsys.readouterr().out
    assert listed_numbers(out) == [400, 1] and "running" in out and "(2 drives, 4 parts)" in out
    assert main(["runs", "--status", "finished", "--library", str(review)]) == 0
    assert listed_numbers(capsys.readouterr().out) == [320, 310, 1], "what is listed does not hide behind it"
