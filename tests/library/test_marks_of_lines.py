"""What stands with a figure and forbids no rank is told of the lines that have it, and of no others."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cli.resolved import legend_of
from library.made import run
from ssdlab.cli import main
from ssdlab.fleet.population import populations
from ssdlab.library.choosing import Choice
from ssdlab.library.index import Index
from ssdlab.results import catalogue
from ssdlab.results.kin import counted_codes, counted_words, unfit_of
from ssdlab.results.schema import DriveInfo

FIGURE = "qd1_random_read_iops"
FRESH, USED, PLACED = "SERIAL-FRESH", "SERIAL-USED", "SERIAL-PLACED"
MODEL = "Model of all"

Ask = Callable[..., Any]


@pytest.fixture
def library(tmp_path: Path) -> Path:
    """A drive without marks, one whose first of three runs is not fresh, one that is placed throughout."""
    codes: dict[str, list[tuple[str, ...]]] = {
        FRESH: [()],
        USED: [("not-fresh",), (), ()],
        PLACED: [("placed",), ("placed", "one-pass")],
    }
    number = 0
    for at, (name, runs) in enumerate(codes.items(), start=1):
        for own in runs:
            number += 1
            made: dict[str, Any] = {"codes": own, "at": f"2026-11-21T09:{number:02d}:00.000Z"}
            drive = DriveInfo(
                text=name, kind="block", id=name, name=MODEL, capacity_bytes=10**12, logical_block_bytes=512
            )
            folder = run(tmp_path, number, {FIGURE: 10_000.0 * at}, drive=drive, **made)
            catalogue.add(tmp_path, folder)
    return tmp_path


@pytest.fixture
def ask(library: Path, capsys: pytest.CaptureFixture[str]) -> Ask:
    def asked(*words: str) -> Any:
        capsys.readouterr()
        assert main([*words, "--library", str(library)]) == 0
        out, err = capsys.readouterr()
        assert err == ""
        return json.loads(out) if "--json" in words else out

    return asked


def test_each_line_of_a_ranking_has_its_own(ask: Ask) -> None:
    found = ask("rank", FIGURE, "--json")
    assert "marks" not in found["like"], "they are not what all have in common"
    assert {line["drive_id"]: line["marks"] for line in found["lines"]} == {
        FRESH: {},
        USED: {"not-fresh": 1},
        PLACED: {"one-pass": 1, "placed": 2},
    }
    told = ask("rank", FIGURE)
    lines = {line.split()[0]: line for line in told.splitlines() if line}
    assert [lines[place].split()[-1] for place in "123"] == ["b1/2,c", "a1/3", "1"]
    assert [entry.partition(":")[0] for entry in legend_of(told).values()] == [
        "not fresh",
        "one random pass",
        "prepared, not written",
    ]
    assert "a1/3: a in 1 of 3 runs" in told


@pytest.mark.usefixtures("wide")
def test_a_series_has_them_by_run(ask: Ask) -> None:
    series = {each["drive_id"]: each for each in ask("changes", FIGURE, "--json")["series"]}
    assert series[USED]["marks"] == ["not-fresh", None, None]
    assert series[FRESH]["marks"] == [None]
    lines = ask("changes", FIGURE).splitlines()
    assert [line.rpartition("runs, ")[2] for line in lines if USED in line] == ["not fresh in 1 of 3 runs"]
    assert sum("needs ten" in line for line in lines) == 3 and "ten of a drive" not in "".join(lines)


def test_a_fleet_has_them_by_drive(library: Path) -> None:
    with Index(library) as index:
        (population,) = populations(index, MODEL, Choice(status="finished"))
    assert {each.drive_id: each.marked for each in population.samples} == {
        FRESH: "",
        USED: "not fresh in 1 of 3 runs",
        PLACED: "one random pass in 1 of 2 runs, prepared, not written",
    }
    of = "in 1 of 3 drives"
    assert population.marks == f"not fresh {of}, one random pass {of}, prepared, not written {of}"
    assert population.unfit == ""


def test_what_no_run_is_fit_for_is_told_with_its_own_verb(
    library: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    catalogue.add(library, run(library, 90, {"b_iops": 1.0}, codes=("throttled",)))
    for command, said in (("rank", "cannot be ranked:"), ("changes", "cannot be checked for changes:")):
        assert main([command, "b_iops", "--library", str(library)]) != 0
        assert f"b_iops {said}" in capsys.readouterr().err


@pytest.mark.parametrize("code", ["", " ", "haunted", "Throttled"])
def test_a_code_that_is_none_is_never_good(code: str) -> None:
    assert unfit_of([code]) == "state-unproven"
    assert unfit_of([code, "throttled"]) == "state-unproven, throttled"
    assert unfit_of([]) is None


@pytest.mark.parametrize("code", ["", "haunted"])
def test_a_forged_figure_of_such_a_code_is_not_ranked(library: Path, ask: Ask, code: str) -> None:
    catalogue.add(library, run(library, 91, {FIGURE: 1e9}, codes=(code,)))
    found = ask("rank", FIGURE, "--json")
    assert "SERIAL00091" not in {line["drive_id"] for line in found["lines"]}
    assert {each["differs"]["unfit"][0] for each in found["left_out"]} == {"state-unproven"}


def test_codes_are_counted_in_words() -> None:
    counts = counted_codes(["placed", "not-fresh, placed", None])
    assert counts == {"not-fresh": 1, "placed": 2}
    assert counted_words(counts, 3) == "not fresh in 1 of 3 runs, prepared, not written in 2 of 3 runs"
