"""compare and its gate, on invented runs."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from library.made import run
from ssdlab.cli import main
from ssdlab.model.units import share_text
from ssdlab.results import catalogue
from ssdlab.results.run_folder import RunFolder
from ssdlab.results.schema import Child, DriveInfo, Member, Sealed
from ssdlab.results.store import find_run
from ssdlab.results.tags import change_tags


def tagged(library: Path, tag: str, values: list[float], first: int, **changes: Any) -> None:
    for number, value in enumerate(values, start=first):
        figures = {"qd1_random_read_p99_ns": value, "qd1_random_read_iops": 1e9 / value}
        folder = run(library, number, figures, **changes)
        change_tags(folder, [tag])
        catalogue.add(library, folder)


@pytest.fixture
def library(tmp_path: Path) -> Path:
    draw = random.Random(5)
    base = [draw.gauss(100_000, 2000) for _ in range(8)]
    tagged(tmp_path, "base", base, 0)
    tagged(tmp_path, "slow", [value * 1.2 for value in base], 20)
    tagged(tmp_path, "same", [draw.gauss(100_000, 2000) for _ in range(8)], 40)
    tagged(tmp_path, "few", base[:4], 60)
    tagged(tmp_path, "other-engine", base, 80, engine="uring")
    tagged(tmp_path, "unfit", [value * 1.2 for value in base], 100, codes=["state-unproven"])
    return tmp_path


def asked(library: Path, capsys: pytest.CaptureFixture[str], *words: str, status: int) -> Any:
    assert main(["compare", *words, "--library", str(library), "--json"]) == status
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize(
    ("new", "rules", "status", "outcomes"),
    [
        ("tag:slow", ["p99 > +5%"], 1, ["failed"]),
        ("tag:slow", ["p99 > +30%"], 0, ["passed"]),
        ("tag:slow", ["iops<-5 %", "p99 > +5%"], 1, ["failed", "failed"]),
        ("tag:slow", ["iops > +5%"], 0, ["passed"]),
        ("tag:same", ["p99 > +5%", "iops < -5%"], 0, ["passed", "passed"]),
        ("tag:few", ["p99 > +5%"], 2, ["undecidable"]),
        ("tag:other-engine", ["p99 > +5%"], 2, ["undecidable"]),
        ("tag:slow", [], 0, []),
    ],
)
@pytest.mark.long
def test_rules_and_exit_statuses(
    library: Path, capsys: pytest.CaptureFixture[str], new: str, rules: list[str], status: int, outcomes: list
) -> None:
    words = [word for rule in rules for word in ("--fail-if", rule)]
    found = asked(library, capsys, "tag:base", new, *words, status=status)
    assert [each["outcome"] for each in found["rules"]] == outcomes
    assert found["exit_status"] == status and found["schema"] == "ssdlab.compare/1"
    p99 = next(each for each in found["figures"] if each["figure"].endswith("p99_ns"))
    if new == "tag:slow":
        assert p99["shift"]["share"] == pytest.approx(0.2, abs=0.03)
        assert p99["shift"]["low"] < 0.2 < p99["shift"]["high"] and 0 < p99["shift"]["detectable"] < 0.1
    if new == "tag:other-engine":
        assert p99["shift"] is None and p99["unlike"] == "engine uring, not sync"


@pytest.mark.parametrize(
    ("base", "words"), [("tag:base", "state unproven in 8 of 16 runs"), ("tag:unfit", "state unproven")]
)
def test_nothing_is_claimed_of_a_state_that_was_not_shown(
    library: Path, capsys: pytest.CaptureFixture[str], base: str, words: str
) -> None:
    found = asked(library, capsys, base, "tag:unfit", "--fail-if", "p99 > +5%", status=2)
    assert all(each["shift"] is None and each["unfit"] == words for each in found["figures"])
    assert [(each["outcome"], each["why"]) for each in found["rules"]] == [("undecidable", words)]
    assert main(["compare", base, "tag:unfit", "--library", str(library)]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert f"not compared: {words} (all 2 figures)" in printed


def test_what_was_withheld_is_no_reason_to_compare_the_rest(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The sweeps of a drive whose state did not move are a selection."""
    figure = "steady_random_write_iops"
    sides = (("base", range(6)), ("new", (*range(6, 12), 20)), ("moved", [21]))
    for tag, numbers in sides:
        for number in numbers:
            value = None if number >= 20 else 10_000.0 + number
            folder = run(tmp_path, number, {figure: value}, codes=[] if value else ["state-moved"])
            change_tags(folder, [tag])
            catalogue.add(tmp_path, folder)
    found = asked(tmp_path, capsys, "tag:base", "tag:new", "--fail-if", f"{figure} > +5%", status=2)
    assert found["rules"][0]["why"] == "state moved in 1 of 13 runs"
    assert [found["figures"][0][each] for each in ("n_base", "n_new")] == [6, 6]
    alone = asked(tmp_path, capsys, "tag:base", "tag:moved", "--fail-if", f"{figure} > +5%", status=2)
    (rule,) = alone["rules"]
    assert rule["outcome"] == "undecidable" and "state moved" in rule["why"]


def test_words_and_markdown_say_the_same(library: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["compare", "tag:base", "tag:slow", "--fail-if", "p99 > +5%", "--library", str(library)]
    assert main(words) == 1
    out = capsys.readouterr().out
    assert "p99 > +5%: failed: a significant rise beyond the bound" in out and "%" in out
    assert main([*words, "--markdown"]) == 1
    lines = capsys.readouterr().out.splitlines()
    table = [line for line in lines if line.startswith("|")]
    assert len(table) == 4 and {line.count("|") for line in table} == {9}
    assert lines[-1].startswith("* `p99 > +5%`: **failed**")


def test_what_a_drive_says_is_no_markup(library: Path, capsys: pytest.CaptureFixture[str]) -> None:
    figures = {"odd|<b>figure</b>": 1.0}
    names = [run(library, number, figures, drive_id=f"[{number}](//a)\n# b").name for number in (400, 401)]
    assert main(["compare", *names, "--library", str(library), "--markdown"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].endswith(r"on Model of \[400\](\//a) # b")
    assert lines[5].startswith(r"| odd\|\<b\>figure\</b\> |")


def test_two_single_runs_are_compared_and_not_judged(
    library: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one, other = find_run("000001", library).name, find_run("000021", library).name
    found = asked(library, capsys, one, other, "--fail-if", "p99 > +5%", status=2)
    assert found["rules"][0]["why"].endswith("one side has 1")
    assert found["figures"][0]["shift"]["share"] == pytest.approx(0.2)
    assert found["base"]["runs"] == [one]
    for words in ([], ["--markdown"]):
        assert main(["compare", one, other, "--library", str(library), *words]) == 0
        assert "significance needs 5 runs per side" in capsys.readouterr().out


def test_both_sides_are_named(library: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one = find_run("000001", library).name
    for words, mark in ([], "base  "), (["--markdown"], "* base: "):
        assert main(["compare", one, "tag:slow", "--library", str(library), *words]) == 0
        shown = capsys.readouterr().out
        assert f"{mark}{one}, qd1 on Model of SERIAL00001" in shown
        assert "tag:slow, 8 runs, qd1 on Model of SERIAL00020, Model of SERIAL00021, " in shown
    found = asked(library, capsys, one, "tag:slow", status=0)
    assert (found["base"]["methods"], found["base"]["drives"]) == (["qd1"], ["Model of SERIAL00001"])


def test_runs_on_both_sides_are_remarked(library: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one = find_run("000001", library).name
    assert main(["compare", "tag:base", one, "--library", str(library)]) == 0
    assert "1 run is on both sides" in capsys.readouterr().out
    assert main(["compare", one, "last", "--library", str(library)]) == 0
    assert "same run" not in capsys.readouterr().out
    for words in ([], ["--markdown"]):
        assert main(["compare", "last", "last", "--library", str(library), *words]) == 0
        assert "base and new are the same run" in capsys.readouterr().out


def test_figures_that_are_not_compared_are_named(library: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one, other = (run(library, number, engine=engine) for number, engine in ((300, "sync"), (301, "uring")))
    unlike = "not compared, the runs are not comparable: engine uring, not sync"
    for words in ([], ["--markdown"]):
        assert main(["compare", one.name, other.name, "--library", str(library), *words]) == 0
        assert f"{unlike} (qd1 random read iops)" in " ".join(capsys.readouterr().out.split())
        assert main(["compare", "tag:base", "tag:other-engine", "--library", str(library), *words]) == 0
        assert f"{unlike} (all 2 figures)" in " ".join(capsys.readouterr().out.split())


def test_a_suite_means_its_runs_by_itself_and_by_its_tag(
    library: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    at = "2026-11-22T10:00:00.000Z"
    method = RunFolder(find_run("000001", library)).manifest.method
    child = {"part": "qd1", "method": "qd1", "version": 2, "title": "", "params": {}, "quick": False}
    child |= {"seed": 1, "preparation_seed": 1, "drive": "", "state": ""}
    children, seals = [], {}
    for number in range(100, 106):
        member = Member(suite="20261122-1000-qd1-000200", part="qd1", preparation_seed=1)
        part = run(library, number, {"qd1_random_read_p99_ns": 1e5 + number}, at=at, member=member)
        seals[part.name] = RunFolder(part).seal or ""
        children.append(Child(run_id=part.name, **child))
        catalogue.add(library, part)
    suite = run(
        library,
        200,
        {"qd1_random_read_p99_ns": 1.0},
        at=at,
        method=method.model_copy(update={"name": "qd1-x6"}),
        children=tuple(children),
        sealed=Sealed(journal_lines=0, journal_seal="", runs=seals),
    )
    change_tags(suite, ["suite"])
    catalogue.add(library, suite)
    for given in (suite.name, "tag:suite"):
        found = asked(library, capsys, "tag:base", given, "--fail-if", "p99 > +5%", status=0)
        assert sorted(found["new"]["runs"]) == sorted(seals) and found["figures"][0]["n_new"] == 6


def part_of(library: Path, number: int, part: str, iops: float, **changes: Any) -> Child:
    """A finished qd1 run of a suite, and how the suite names it."""
    member = Member(suite="20261122-1000-two-000300", part=part, preparation_seed=1)
    made = run(library, number, {"qd1_random_read_iops": iops}, member=member, **changes)
    return Child(
        part=part,
        run_id=made.name,
        method="qd1",
        version=2,
        title="",
        params={},
        quick=False,
        seed=1,
        preparation_seed=1,
        drive="",
        state="",
    )


def test_a_variant_in_a_suite_is_no_repeat_of_its_drive(
    library: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The median of a drive and of its variant is neither's."""
    children = (
        part_of(library, 310, "qd1", 1e4),
        part_of(library, 311, "qd1-spare25", 3e4, params={"seconds": 7.0}),
    )
    suite = run(library, 300, children=children)
    alone = run(library, 301, {"qd1_random_read_iops": 2e4})
    found = asked(library, capsys, suite.name, alone.name, status=0)
    assert [(each["figure"], each["base"], each["n_base"]) for each in found["figures"]] == [
        ("qd1_random_read_iops", 1e4, 1)
    ]
    assert found["only_on_one_side"] == ["qd1-spare25.qd1_random_read_iops"]
    words = ("--fail-if", "qd1-spare25.qd1_random_read_iops > +5%")
    assert len(asked(library, capsys, suite.name, suite.name, *words, status=2)["figures"]) == 2


def test_drives_of_a_review_are_not_one_set(library: Path, capsys: pytest.CaptureFixture[str]) -> None:
    of_drives = []
    for number in (400, 410):
        own = run(library, number, children=(part_of(library, number + 1, "qd1", 1e4),))
        child = part_of(library, number + 2, f"drive {number}", 1e4)
        of_drives.append(child.model_copy(update={"run_id": own.name, "suite": True}))
    review = run(library, 420, children=tuple(of_drives))
    assert main(["compare", review.name, "tag:base", "--library", str(library)]) == 2
    err = capsys.readouterr().err
    assert "covers 2 drives, whose figures are not one set" in err
    assert "Name one of its drives: 000400 (Model of SERIAL00400), 000410 (Model of SERIAL00410)" in err


@pytest.mark.parametrize(
    ("words", "what", "advice"),
    [
        (("tag:slwo", "tag:slow"), "no tag 'slwo'", "did you mean slow"),
        (("tag:base", "tag:slow", "--fail-if", "p98 > +5%"), "no figure 'p98'", "known"),
        (
            ("tag:base", "tag:slow", "--fail-if", "qd1 > +5%"),
            "figures have 'qd1' in their names",
            "give one of",
        ),
        (("tag:base", "tag:slow", "--fail-if", "p99 > 5"), "is not a rule", "in quotes"),
        (("tag:base", "tag:slow", "--fail-if", "p99 > -5%"), "without a change", "+5%"),
        (("tag:base", "tag:slow", "--fail-if", "p99 < -100%"), "can never fail", "100 %"),
        (("tag:base", "zz"), "no run 'zz'", "newest"),
    ],
)
@pytest.mark.long
def test_wrong_words_say_what_is_right(
    library: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], what: str, advice: str
) -> None:
    error = asked(library, capsys, *words, status=2)
    assert what in error["what"] and advice in error["advice"].lower()


def test_a_finished_run_without_figures_is_not_called_unfinished(
    library: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for number, figures, words in (
        (97, {}, "gives no headline figures"),
        (98, {"p99_ns": None}, "none of its 1 headline figures has a value"),
    ):
        folder = run(library, number, figures)
        catalogue.add(library, folder)
        error = asked(library, capsys, folder.name, "tag:base", status=2)
        assert "is finished" in error["what"] and words in error["what"]
        assert "finished run" not in error["advice"]


def test_sets_without_a_common_figure_are_refused(library: Path, capsys: pytest.CaptureFixture[str]) -> None:
    catalogue.add(library, run(library, 99, {"other": 1.0}))
    error = asked(library, capsys, "tag:base", find_run("000099", library).name, status=2)
    assert "no figure in common" in error["what"]


def firmware(version: str) -> DriveInfo:
    named = {"text": "/dev/nvme0n1", "kind": "block", "id": "S1", "name": "Elm"}
    sizes = {"capacity_bytes": 10**12, "logical_block_bytes": 512}
    return DriveInfo.model_validate({**named, **sizes, "identity": {"firmware": version}})


def test_a_side_of_two_firmwares_is_not_judged(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A tag means all its runs: those of an earlier build would hide what this one does."""
    values = [100_000.0 + number for number in range(5)]
    tagged(tmp_path, "base", values, 0, drive=firmware("1"))
    tagged(tmp_path, "new", values, 20, drive=firmware("2"))
    tagged(tmp_path, "new", [1.5 * each for each in values], 40, drive=firmware("3"))
    found = asked(tmp_path, capsys, "tag:base", "tag:new", "--fail-if", "p99 > +5%", status=2)
    (rule,) = found["rules"]
    assert rule["outcome"] == "undecidable" and "new" in rule["why"] and "2 and 3" in rule["why"]


def test_a_figure_of_one_side_is_undecided(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for number in range(5):
        for first, tag, names in ((0, "base", ("a_iops", "a_p99_ns")), (20, "new", ("a_iops",))):
            folder = run(tmp_path, first + number, {name: 100.0 + number for name in names})
            change_tags(folder, [tag])
            catalogue.add(tmp_path, folder)
    report = tmp_path / "gate.xml"
    rule = ("--fail-if", "p99 > +5%", "--junit", str(report))
    (judged,) = asked(tmp_path, capsys, "tag:base", "tag:new", *rule, status=2)["rules"]
    assert (judged["outcome"], judged["figure"]) == ("undecidable", "a_p99_ns") and report.exists()


def test_a_pass_says_which_change_it_could_not_have_found(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    draw = random.Random(7)
    for first, tag in ((0, "base"), (20, "new")):
        tagged(tmp_path, tag, [draw.gauss(100_000, 8000) for _ in range(5)], first)
    wide, narrow = (
        asked(tmp_path, capsys, "tag:base", "tag:new", "--fail-if", f"p99 > +{bound}%", status=0)
        for bound in (500, 1)
    )
    smallest = wide["figures"][0]["shift"]["detectable"]
    assert 0.01 < smallest < 5
    assert [share_text(smallest) in each["rules"][0]["why"] for each in (wide, narrow)] == [False, True]


@pytest.mark.parametrize(("vary", "significant"), [(None, False), (0.5, True)])
def test_two_runs_differ_only_as_far_as_something_shows_how_they_vary(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], vary: float | None, significant: bool
) -> None:
    changes = {} if vary is None else {"vary": vary}
    for number, value in enumerate((100.0, 110.0)):
        catalogue.add(tmp_path, run(tmp_path, number, {"a_iops": value}, **changes))
    (figure,) = asked(tmp_path, capsys, "000000", "000001", status=0)["figures"]
    assert figure["significant"] is significant
