"""`show` has figures of several drives side by side; lists of names stay short and say where all are."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from cli.resolved import resolved
from ssdlab.cli import main, showing_figures, showing_suite
from ssdlab.lab.outcome import read_result
from ssdlab.library.index import figure_among
from ssdlab.model.errors import UsageError
from ssdlab.model.units import bytes_text, figure_text, parse_bytes
from ssdlab.results.metric import Qualifier
from ssdlab.results.run_folder import RunFolder
from ssdlab.results.schema import ResultBase
from ssdlab.results.store import find_run, run_folders

DOCS = Path(__file__).parents[2] / "docs"
A, B = "sim:tiny-test", "sim:tiny-test,serial=B2,seed=9"


@pytest.mark.long
def test_one_method_on_two_drives(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    where = ["--library", str(tmp_path)]
    words = ["--set", "depths=1,8", "--set", "seconds=0.05", "--set", "ramp_seconds=0", "--set", "fill=true"]
    assert main(["run", "peak-random-read", A, B, *words, *where]) == 0
    capsys.readouterr()
    folder = find_run("last", tmp_path)
    assert main(["show", str(folder), "--all"]) == 0
    shown = capsys.readouterr().out
    lines = [line.split("  ") for line in shown.splitlines()]
    (head,) = (line for line in lines if line[0] == "figure")
    assert [word.strip() for word in head if word] == ["figure", "drive 1", "drive 2"]
    runs = [RunFolder(each) for each in run_folders(tmp_path)]
    single = {run.manifest.drive.text: run for run in runs if not run.manifest.children}
    assert len(single) == 2
    results = [read_result(single[text]) for text in (A, B)]
    assert results[0] is not None and results[1] is not None
    for one, other in zip(results[0].scalars, results[1].scalars, strict=True):
        if one.value is None and other.value is None:
            continue  # a tail of too few I/Os
        row = next(line for line in lines if line[0] == one.label)
        values = [re.sub(r" [a-d]+$", "", word.strip()) for word in row[1:] if word]
        assert values == [figure_text(one.value, one.unit), figure_text(other.value, other.unit)]
    assert f"ssdlab show {single[A].manifest.run_id[-6:]}" in shown, "the run itself, not a suite of one"
    assert main(["show", str(folder), "--json"]) == 0
    beside = {each["figure"]: each for each in json.loads(capsys.readouterr().out)["side_by_side"]}
    measured = [
        {
            name: {
                "value": one.value,
                "state": one.state,
                "qualifiers": dict.fromkeys(one.codes, 1),
                "runs": 1,
            }
            for name, one in zip(("drive 1", "drive 2"), pair, strict=True)
        }
        for pair in zip(results[0].scalars, results[1].scalars, strict=True)
    ]
    assert any(each["drive 1"]["value"] is None for each in measured), "what is withheld of all is there too"
    assert [each["drives"] for each in beside.values()] == measured
    with pytest.raises(UsageError) as caught:
        find_run("zzzz", tmp_path)
    named = caught.value.advice.removeprefix("the newest are: ").split(", ")
    created = [RunFolder(tmp_path / name).manifest.created for name in named]
    assert len(named) == 3 and created == sorted(created, reverse=True)


@pytest.mark.long
def test_a_dash_of_one_drive_has_its_reason(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    where, moving = ["--library", str(tmp_path)], (Qualifier(code="state-moved"),)
    words = ["--set", "depths=1,8", "--set", "seconds=0.05", "--set", "ramp_seconds=0"]
    assert main(["run", "peak-random-read", A, B, *words, *where]) == 0

    def moved(run: RunFolder) -> ResultBase | None:
        result = read_result(run)
        if result is None or run.manifest.children or run.manifest.drive.text != A:
            return result
        none = (each.model_copy(update={"value": None, "qualifiers": moving}) for each in result.scalars)
        return result.model_copy(update={"scalars": tuple(none)})

    for shows in (showing_suite, showing_figures):
        monkeypatch.setattr(shows, "read_result", moved)
    capsys.readouterr()
    assert main(["show", "last", "--all", *where]) == 0
    assert re.search(r"^IOPS +— \(state moved\) .*IOPS$", resolved(capsys.readouterr().out), re.MULTILINE)
    assert main(["show", "last", *where, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert "peak_random_read_iops" in told["qualifiers"]["state-moved"]["figures"]
    (of,) = told["qualifiers"]["state-moved"]["of"]
    assert (of["drive"], of["part"]) == ("drive 1", "peak-random-read")
    row = next(each for each in told["side_by_side"] if each["figure"] == "peak_random_read_iops")
    assert row["drives"]["drive 1"] == {
        "value": None,
        "state": "state moved",
        "qualifiers": {"state-moved": 1},
        "runs": 1,
    }
    assert row["drives"]["drive 2"]["value"] > 0


def test_many_names_are_not_listed_in_one_line() -> None:
    few = ["qd1_read_iops", "qd1_write_iops"]
    with pytest.raises(UsageError) as caught:
        figure_among("nonsense", few)
    assert all(name in caught.value.advice for name in few)
    many = [f"qd{depth}_read_iops" for depth in range(1, 60)]
    with pytest.raises(UsageError) as caught:
        figure_among("qd7_read_iop", many)
    assert "did you mean qd7_read_iops or " in caught.value.advice and len(caught.value.advice) < 150
    assert caught.value.advice.endswith("ssdlab rank, without a figure, lists all 59")


def test_rank_without_a_figure_lists_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    where = ["--library", str(tmp_path)]
    words = ["--set", "depths=1,8", "--set", "seconds=0.05", "--set", "ramp_seconds=0"]
    assert main(["run", "peak-random-read", A, *words, *where]) == 0
    result = read_result(RunFolder(find_run("last", tmp_path)))
    capsys.readouterr()
    assert main(["rank", *where]) == 0
    assert result is not None
    assert capsys.readouterr().out.split() == sorted(each.name for each in result.scalars)


@pytest.mark.parametrize(
    "size_bytes", [0, 512, 1536, 4096, 1 << 26, 9999 << 20, 480_103_981_056, (1 << 40) + 1]
)
def test_a_size_as_it_is_read_is_exact(size_bytes: int) -> None:
    text = bytes_text(size_bytes)
    exact = text.partition("(")[2].removesuffix(" bytes)") or text
    assert parse_bytes(exact.replace(" ", "")) == size_bytes
    assert len(text.partition(" ")[0].lstrip("0")) <= 4


def test_points_in_json_are_as_documented(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    where = ["--library", str(tmp_path)]
    words = ["--set", "depths=1,8", "--set", "seconds=0.05", "--set", "ramp_seconds=0"]
    assert main(["run", "peak-random-read", A, *words, *where]) == 0
    capsys.readouterr()
    assert main(["show", "last", *where, "--json"]) == 0
    points = json.loads(capsys.readouterr().out)["result"]["points"]
    asked = {each["label"]: each["workers"] * each["depth"] for each in points}
    assert asked == {"depth 1": 1, "depth 8": 8}
    row = next(line for line in (DOCS / "runs.md").read_text().splitlines() if "`result.points`" in line)
    told = set(re.findall(r"`([a-z_]+)`", row))
    assert told <= set(points[0]) and {"workers", "depth", "in_flight"} <= told


@pytest.mark.long
@pytest.mark.parametrize("repeats", [1, 2])
def test_several_drives_have_their_ratings_and_medians_say_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], repeats: int
) -> None:
    """Of a review of drives each rating is told with part and drive, as it is of one drive alone."""
    where, rated = ["--library", str(tmp_path)], "sim:samsung-983-dct-960gb,scale=128,serial="
    words = ["--quick", "--set", "depths=1,8", "--set", "seconds=0.05", "--set", "fill=true"]
    drives = [f"{rated}ONE", f"{rated}TWO"]
    again = ["--repeat", str(repeats)] if repeats > 1 else []
    assert main(["run", "peak-random-read", *drives, *words, *again, *where]) == 0
    capsys.readouterr()
    assert main(["show", "last", "--all", *where]) == 0
    shown = capsys.readouterr().out
    assert ("Values are medians" in shown) is (repeats > 1)
    assert bool(re.search(r"^drive 2, peak-random-read, IOPS  .* of the rated", shown, re.MULTILINE)) is (
        repeats == 1
    )
    assert main(["show", "last", *where, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    parts = ["peak-random-read"] if repeats == 1 else ["peak-random-read #1", "peak-random-read #2"]
    assert [(each["drive"], each["part"]) for each in told["rated"]] == [
        (f"drive {drive}", part) for drive in (1, 2) for part in parts
    ]
    assert all(each["share"] for each in told["rated"])
