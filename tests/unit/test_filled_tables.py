"""What a terminal prints of a table: nothing in which nothing stands, and one way to write a time."""

from __future__ import annotations

from pathlib import Path

import pytest

from methods.on_simulated import run
from ssdlab.cli import main
from ssdlab.model.units import figure_text, latency_text
from ssdlab.results.cells import Table, count, plain, words


def test_columns_without_a_value_are_left_out_and_tables_of_labels_alone_too() -> None:
    table = Table(
        "t", ("Name", "I/Os", "W"), ((words("a"), count(1), plain(None)), (words("b"), count(2), plain(None)))
    )
    assert table.filled.head == ("Name", "I/Os")
    assert [len(row) for row in table.filled.rows] == [2, 2]
    full = Table("t", ("Name", "W"), ((words("a"), plain(None)), (words("b"), plain(1.5))))
    assert full.filled is full, "a column that one row fills stays"
    assert Table("t", ("Name", "W"), ((words("a"), plain(None)),)).filled.rows == ()
    named = Table("t", ("Name",), ((words("a"),),))
    assert named.filled is named


@pytest.mark.parametrize("value_us", [0.85, 58.2, 1630.0, 1_200_000.0])
def test_a_time_is_written_alike_whatever_its_unit(value_us: float) -> None:
    said = latency_text(value_us * 1e3)
    assert {figure_text(value_us, "µs"), figure_text(value_us, "us"), figure_text(value_us / 1e3, "ms")} == {
        said
    }


@pytest.mark.long
def test_a_demand_test_has_no_table_of_a_cpu_that_has_no_part(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    brief = {
        "seconds": "0.2",
        "thread_counts": "8,32",
        "depths": "8,32",
        "most_rounds": "5",
        "most_samples": "5",
        "cycle": "2",
        "pre_write_seconds": "0.2",
        "settle_seconds": "0.2",
        "histogram_seconds": "0.2",
    }
    folder = run("pts-demand-intensity", tmp_path, **brief)
    capsys.readouterr()
    assert main(["show", str(folder.path), "--all"]) == 0
    shown = capsys.readouterr().out
    assert "busy share of all CPUs" not in shown
    assert "Why missing" not in shown, "no point is missing"
    art = next(line for line in shown.splitlines() if line.startswith("ART of MaxIOPS"))
    grid = shown[shown.index("The three points") :].splitlines()[2]
    assert " ".join(grid.split()[4:6]) in " ".join(art.split()), "one time, written in one way"
