"""`compare` marks each value with what is the matter with it, on its own side, and shows withheld ones."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cli.resolved import legend_of
from library.made import manifest, run
from ssdlab.cli import main
from ssdlab.results import catalogue
from ssdlab.results.store import find_run

FIGURE = "qd1_random_read_iops"
LABEL = FIGURE.replace("_", " ")
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
    row = next(line for line in out.splitlines() if line.startswith(LABEL))
    return row.removeprefix(LABEL).split()


def test_each_side_has_its_own_marks_and_a_median_those_of_its_runs(compare: Compare) -> None:
    placed, hot = ("placed",), ("throttled", "placed")
    _, out = compare([(100.0, placed), (101.0, placed)], [(90.0, hot), (91.0, ()), (92.0, ())])
    assert row_of(out) == ["100", "IOPS", "b", "2", "91.0", "IOPS", "a1/3,b1/3", "3"]
    assert [entry.partition(":")[0] for entry in legend_of(out).values()] == [
        "throttled",
        "prepared, not written",
    ]
    assert "a1/3: a in 1 of 3 runs" in out
    assert f"not compared: throttled in 1 of 5 runs ({LABEL})" in out


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
    assert "shift" in out and "interval" not in out


@pytest.mark.parametrize(
    ("base", "new", "marked"),
    [
        ([100.0], [100.9], False),  # level
        ([100.0], [102.0], False),  # nothing shows how they vary
        ([100.0, 104.0], [105.0, 103.0], False),  # repeats vary as much
        ([100.0, 100.1], [105.0, 105.1], True),
        ([100.0 + each for each in range(5)], [110.0 + each for each in range(5)], True),
        ([100.0, 90.0, 110.0, 95.0, 105.0], [101.0, 92.0, 112.0, 94.0, 109.0], False),  # chance
        ([100.0 + each / 100 for each in range(5)], [100.5 + each / 100 for each in range(5)], False),
    ],
)
def test_what_is_beyond_chance_and_level_is_marked(
    compare: Compare, base: list[float], new: list[float], marked: bool
) -> None:
    sides = [[(each, ()) for each in values] for values in (base, new)]
    _, out = compare(*sides)
    assert ("*" in row_of(out)) is marked
    assert any(line.startswith("*  ") for line in out.splitlines()) is marked, "the legend"


def test_what_rows_vary_by_counts_and_so_do_serials_and_firmware(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    drive = manifest(1, {}).drive
    for number, (value, firmware) in enumerate([(100.0, "A1"), (110.0, "B2"), (110.0, "B2")]):
        told = drive.model_copy(update={"identity": {"serial": f"S{number}", "firmware": firmware}})
        run(tmp_path, number, {FIGURE: value}, drive=told, vary=20.0 if number == 1 else 1.0)
    names = [find_run(f"00000{number}", tmp_path).name for number in range(3)]
    shown = []
    for new in (1, 2):
        assert main(["compare", names[0], names[new], "--library", str(tmp_path)]) == 0
        shown.append(capsys.readouterr().out)
    assert [("*" in row_of(out)) for out in shown] == [False, True]
    assert all(out.startswith("firmware A1 against B2\n") for out in shown)
    assert "serial S0, firmware A1" in shown[0] and "serial S1, firmware B2" in shown[0]
    assert main(["compare", names[1], names[2], "--library", str(tmp_path), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["base"]["serials"], found["new"]["firmwares"]) == (["S1"], ["B2"])
    assert main(["compare", names[1], names[2], "--library", str(tmp_path)]) == 0
    assert "against" not in capsys.readouterr().out
