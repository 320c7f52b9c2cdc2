"""`compare` marks each value with what is the matter with it, on its own side, and shows withheld ones."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cli.resolved import legend_of
from library.made import run
from ssdlab.cli import main
from ssdlab.results import catalogue

FIGURE = "qd1_random_read_iops"
RULE = ("--fail-if", f"{FIGURE} < -5%")

Compare = Callable[..., Any]
Codes = tuple[str, ...]


@pytest.fixture
def compare(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Compare:
    def compared(
        base: list[tuple[float | None, Codes]], new: list[tuple[float | None, Codes]], *words: str
    ) -> tuple[int, Any]:
        number = 0
        for tag, runs in (("base", base), ("new", new)):
            for value, codes in runs:
                number += 1
                catalogue.add(tmp_path, run(tmp_path, number, {FIGURE: value}, codes=codes))
                main(["tag", next(tmp_path.glob(f"*-{number:06d}")).name, tag, "--library", str(tmp_path)])
        capsys.readouterr()
        status = main(["compare", "tag:base", "tag:new", *words, "--library", str(tmp_path)])
        out, err = capsys.readouterr()
        assert err == ""
        return status, json.loads(out) if "--json" in words else out

    return compared


def row_of(out: str) -> list[str]:
    return next(line for line in out.splitlines() if FIGURE in line and "not compared" not in line).split()


def test_each_side_has_its_own_marks_and_a_median_those_of_its_runs(compare: Compare) -> None:
    placed, hot = ("placed",), ("throttled", "placed")
    _, out = compare([(100.0, placed), (101.0, placed)], [(90.0, hot), (91.0, ()), (92.0, ())])
    assert row_of(out) == [FIGURE, "100", "IOPS", "b", "2", "91.0", "IOPS", "a1/3,b1/3", "3"]
    assert [entry.partition(":")[0] for entry in legend_of(out).values()] == [
        "throttled",
        "prepared, not written",
    ]
    assert "a1/3: a in 1 of 3 runs" in out
    assert f"not compared: throttled in 1 of 5 runs ({FIGURE})" in out


def test_so_it_has_in_markdown_and_json(compare: Compare) -> None:
    _, out = compare([(100.0, ("placed",))], [(90.0, ("throttled",))], "--markdown")
    assert "| 100 IOPS b | 1 | 90.0 IOPS a | 1 |" in out
    assert "* a, throttled: " in out and "* b, prepared, not written: " in out
    assert out.splitlines()[3].count("|") == out.splitlines()[5].count("|")


def test_json_has_the_codes_of_each_side(compare: Compare) -> None:
    _, found = compare([(100.0, ("placed",)), (None, ("state-moved",))], [(90.0, ())], "--json")
    (figure,) = found["figures"]
    assert figure["base_marks"] == {"state-moved": 1, "placed": 1} and figure["new_marks"] == {}
    assert (figure["base_runs"], figure["n_base"], figure["new_runs"]) == (2, 1, 1)


@pytest.mark.parametrize("side", ["base", "new", "both"])
def test_withheld_values_are_dashes_and_a_rule_on_them_is_undecidable(compare: Compare, side: str) -> None:
    moved: list[tuple[float | None, Codes]] = [(None, ("state-moved",))]
    good: list[tuple[float | None, Codes]] = [(100.0, ())]
    base, new = (moved if side in (each, "both") else good for each in ("base", "new"))
    status, out = compare(base, new, *RULE)
    assert status == 2
    row = row_of(out)
    assert row.count("—") == (2 if side == "both" else 1) == row.count("a") == row.count("0")
    assert "undecidable: state moved" in out


def test_columns_in_which_nothing_stands_are_left_out(compare: Compare) -> None:
    _, out = compare([(100.0, ())], [(90.0, ())])
    assert "shift" in out and "interval" not in out.partition("shifts are of")[0]
