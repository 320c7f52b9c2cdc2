"""Measurements that were saved are of one method, and alike only where one load was asked for."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from library.made import run
from ssdlab.cli import main
from ssdlab.model.options import MeasureOptions, load_options
from ssdlab.results import catalogue
from ssdlab.results.schema import MethodInfo

MEASURE = MethodInfo(name="measure", version=1, title="One workload", prose="Invented.", destructive=False)
READS: dict[str, Any] = {"rw": "randread", "bs": "4k"}
WRITES: dict[str, Any] = {"rw": "write", "bs": "128k"}

Ask = Callable[..., Any]


def given(**options: Any) -> dict[str, Any]:
    """Options as a manifest holds them."""
    return MeasureOptions(**options).model_dump(mode="json", by_alias=True, exclude_unset=True)


@pytest.fixture
def library(tmp_path: Path) -> Path:
    """Five measurements of each of two loads, on one drive."""
    for number in range(1, 11):
        old = number <= 5
        options = given(**(READS if old else WRITES), save=True, seed=number)
        figures = {"iops": (10_000.0 if old else 500.0) + number}
        folder = run(tmp_path, number, figures, drive_id="ONE", method=MEASURE, params=options)
        catalogue.add(tmp_path, folder)
        main(["tag", folder.name, "old" if old else "new", "--library", str(tmp_path)])
    return tmp_path


@pytest.fixture
def ask(library: Path, capsys: pytest.CaptureFixture[str]) -> Iterator[Ask]:
    def asked(*words: str, status: int = 0) -> Any:
        capsys.readouterr()
        assert main([*words, "--library", str(library), "--json"]) == status
        return json.loads(capsys.readouterr().out)

    yield asked


def test_unlike_loads_are_not_compared_and_no_gate_decides_on_them(ask: Ask) -> None:
    found = ask("compare", "tag:old", "tag:new", "--fail-if", "iops < -5%", status=2)
    (iops,) = found["figures"]
    assert iops["unlike"] == "parameters bs=128k rw=write, not bs=4k rw=randread"
    assert (iops["shift"], found["rules"][0]["outcome"]) == (None, "undecidable")


def test_only_one_load_is_ranked(ask: Ask) -> None:
    found = ask("rank", "iops")
    assert found["like"]["settings"] in ("bs=4k rw=randread", "bs=128k rw=write")
    assert (found["lines"][0]["runs"], found["left_out_runs"]) == (5, 5)


def test_one_load_is_compared_whatever_was_kept_of_it(library: Path, ask: Ask) -> None:
    log = given(**READS, log_ios="/a", seconds=10, destroy="ONE", seed=9, threads=1)
    folder = run(library, 11, {"iops": 10_100.0}, drive_id="ONE", method=MEASURE, params=log)
    catalogue.add(library, folder)
    (iops,) = ask("compare", "tag:old", folder.name)["figures"]
    assert iops["unlike"] == "" and iops["shift"] is not None


@pytest.mark.parametrize(
    "options",
    [
        {"rw": "randrw", "read_pct": 70},
        {"bs": "4k:70,128k:30"},
        {"threads": 4},
        {"engine": "uring", "depth": 32},
        {"engine": "uring", "depth": 8, "batch": 4},
        {"pattern": "zipf:1.1"},
        {"pattern": "hot:80/20"},
        {"rate": "100/3", "arrival": "poisson", "backlog": "2s"},
        {"think": "1ms"},
        {"seconds": 5},
        {"bytes": "1g", "seconds": 10},
        {"ramp": 2, "interval": "500ms"},
        {"span": "0..25%"},
        {"span": "25%..50%"},
        {"span": "1g..2g"},
        {"precondition": "one-pass", "spare": 0.07},
        {"rw": "randwrite", "compressible": "50%"},
        {"rw": "randwrite", "dsync": True},
        {"cpus": "0,2"},
        {"numa": 0},
        {"allow_unwritten": True},
    ],
)
def test_whatever_makes_another_load_is_told_as_it_could_be_typed(options: dict[str, Any]) -> None:
    told = load_options(given(**options))
    assert {*options, "rw", "bs"} == set(told)
    again = {name: text == "True" if text in ("True", "False") else text for name, text in told.items()}
    again = {name: int(text) if str(text).isdigit() else text for name, text in again.items()}
    assert MeasureOptions(**again) == MeasureOptions(**options)


def test_what_is_so_anyway_makes_no_other_load() -> None:
    usual = {"threads": 1, "depth": 1, "seconds": "10s", "precondition": "none", "seed": 3}
    assert load_options(given(**usual)) == load_options({}) == {"bs": "4k", "rw": "randread"}


def test_what_another_ssdlab_stored_otherwise_is_told_as_it_is() -> None:
    assert load_options({"bs": "4k", "pattern": {"new": 1}, "span": 3}) == {
        "bs": "4k",
        "pattern": '{"new": 1}',
        "rw": "randread",
        "span": "3",
    }
