"""Figures of power, energy and efficiency are ranked and compared only where one meter took them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from library.made import manifest, run
from ssdlab.cli import main
from ssdlab.power.kinds import RECORDED
from ssdlab.results import catalogue, metered


def of_watts(library: Path, number: int, watts: float, meter: dict[str, Any] | None) -> str:
    """Enter a run with a figure of power, and return its folder's name."""
    made = manifest(number, {"seq_read_mean_w": watts, "qd1_random_read_iops": 1000.0 * number})
    for figure in (figures := made.result["scalars"]):  # type: ignore[index]
        if figure["name"].endswith("_w"):
            figure["unit"] = "W"
    changes = {
        "result": {"kind": "qd1", "scalars": figures},
        "environment": {"meter": meter} if meter else {},
    }
    catalogue.add(library, folder := run(library, number, {}, **changes))
    return folder.name


@pytest.mark.usefixtures("wide")
def test_power_of_unlike_meters_is_not_mixed_and_other_figures_of_the_runs_are(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def ask(*words: str) -> Any:
        assert main([*words, "--library", str(tmp_path), "--json"]) == 0
        return json.loads(capsys.readouterr().out)

    quarch = {"use": "quarch:10.0.0.1", "name": "Quarch QTL2312", "rails": ["12V"], "accuracy": 0.01}
    meters = [
        quarch,
        quarch | {"use": "quarch:10.0.0.2"},  # at another address
        quarch | {"rails": ["12V", "3V3"]},
        {"use": "ppk2:/dev/ttyACM0", "name": "Nordic PPK2", "rails": ["DUT"], "accuracy": 0.05},
        {"use": "csv:/a/one.csv", "name": "one.csv", "rails": ["12V"], "accuracy": 0.02},
        {"use": "csv:/a/two.csv", "name": "two.csv", "rails": ["12V"], "accuracy": 0.02},
        {"use": "csv:/a/two.csv", "name": "two.csv", "rails": ["12V"]},
        {"use": "model", "name": "the simulated drive's own account", "rails": ["model"]},
        None,  # of a version that did not keep it
    ]
    runs = [of_watts(tmp_path, number, 5.0 + number, meter) for number, meter in enumerate(meters, start=1)]
    alike = [{0, 1}, {2}, {3}, {4, 5}, {6}, {7}, {8}]
    for group in alike:
        for member in group:
            found = ask("rank", "seq_read_mean_w", "--like", runs[member])
            assert {line["value"] for line in found["lines"]} == {6.0 + other for other in group}
            assert found["left_out_runs"] == len(meters) - len(group)
    assert ask("rank", "iops")["drives"] == len(meters)

    assert main(["rank", "seq_read_mean_w", "--like", runs[3], "--library", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    assert "meter Nordic PPK2 on DUT" in out
    assert "left out: 2 runs of 2 drives: meter Quarch QTL2312 on 12V, not Nordic PPK2 on DUT" in out
    assert "meter a recording (csv), error 2 % on 12V, not Nordic PPK2 on DUT" in out
    assert "meter none, not Nordic PPK2 on DUT" in out

    compared = ask("compare", runs[0], runs[3])
    unlike = {each["figure"]: each["unlike"] for each in compared["figures"]}
    assert unlike == {
        "seq_read_mean_w": "meter Nordic PPK2 on DUT, not Quarch QTL2312 on 12V",
        "qd1_random_read_iops": "",
    }
    assert set(metered._RECORDED) == set(RECORDED)
