"""What keeps a figure from a rank, found by whole runs: a host that is the limit, heat, and a cap of power.

The host is real: reads of a disk in memory need a CPU all the time, so threads that share one wait for it,
however fast it is. Heat and cap are of a simulated drive, in virtual time: nothing here waits for speed.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ssdlab.cli import main
from ssdlab.results.points import RUN_QUEUE_DELAY_SHARE
from ssdlab.results.qualifiers import CATALOGUE

CLIENT = "sim:nvme-tlc-client,scale=128"
FIGURE = "peak_random_read_iops"
THREADS = 8


def on_one_cpu() -> None:
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})


def held_back(*words: str) -> Any:
    """What a command says that has one CPU for all of its threads."""
    command = [sys.executable, "-P", "-m", "ssdlab", *words, "--json"]
    done = subprocess.run(command, preexec_fn=on_one_cpu, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def ran(capsys: pytest.CaptureFixture[str], library: Path, *words: str) -> Any:
    assert main([*words, "--library", str(library), "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def codes_of(result: Any) -> dict[str, list[str]]:
    return {each["name"]: [one["code"] for one in each.get("qualifiers", [])] for each in result["scalars"]}


def test_threads_that_share_a_cpu_are_found_and_nothing_is_ranked(
    zram: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    library = tmp_path / "library"
    words = [f"--set={each}" for each in (f"depths={THREADS}", "seconds=1", "ramp_seconds=0", "fill=true")]
    place = ["--destroy", zram.name, "--library", str(library)]
    shown = held_back("run", "peak-random-read", str(zram), "--quick", *words, *place)
    (point,) = shown["result"]["points"]
    assert point["host"]["run_queue_delay_share"] > RUN_QUEUE_DELAY_SHARE
    assert point["attribution"]["limit"] == "host"
    assert {name for name, codes in codes_of(shown["result"]).items() if "host-limited" not in codes} == set()
    assert main(["rank", FIGURE, "--library", str(library)]) == 2
    label = CATALOGUE["host-limited"].label
    assert label in capsys.readouterr().err
    page = tmp_path / "page.html"
    ran(capsys, library, "report", shown["run"], "-o", str(page))
    assert label in page.read_text()


def test_a_measurement_says_of_itself_that_its_threads_waited(zram: Path) -> None:
    words = ("--rw", "randwrite", "--threads", str(THREADS), "--seconds", "1s", "--destroy", zram.name)
    told = held_back("measure", str(zram), *words)
    codes = {each["code"] for each in told["warnings"]}
    assert codes & {"run-queue-delay", "host-limited", "host-shared"}, codes


@pytest.mark.long
def test_a_drive_that_heat_slowed_is_not_ranked_beside_itself_cool(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("run", "peak-random-read", CLIENT, "--set=depths=32")
    cool, hot = (ran(capsys, tmp_path, *words, f"--set=seconds={seconds}") for seconds in (5, 150))
    told = {name: codes_of(each["result"])[FIGURE] for name, each in (("cool", cool), ("hot", hot))}
    assert "throttled" in told["hot"] and "throttled" not in told["cool"]
    ranked = ran(capsys, tmp_path, "rank", FIGURE)
    assert [line["newest"] for line in ranked["lines"]] == [cool["run"]]
    (left,) = ranked["left_out"]
    assert CATALOGUE["throttled"].label in left["why"]


@pytest.mark.long
def test_a_drive_under_a_cap_of_power_keeps_to_it_and_is_another_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("run", "peak-random-read", CLIENT, "--quick", "--set=depths=32")
    free, capped = (ran(capsys, tmp_path, *words, *more) for more in ((), ("--power-limit", "3.5W")))
    value = {
        name: {figure["name"]: figure["value"] for figure in each["result"]["scalars"]}
        for name, each in (("free", free), ("capped", capped))
    }
    assert value["capped"]["peak_random_read_w"] <= 3.5 < value["free"]["peak_random_read_w"]
    assert value["capped"][FIGURE] < value["free"][FIGURE]
    ranked = ran(capsys, tmp_path, "rank", FIGURE, "--like", capped["run"])
    assert [line["newest"] for line in ranked["lines"]] == [free["run"], capped["run"]]
    assert ranked["left_out"] == []
