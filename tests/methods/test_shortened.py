"""What was set shorter than a method asks for is a departure, whether `--quick` or `--set` made it so."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from methods.on_simulated import SMALL, shorter_in
from ssdlab.lab.found import find_method
from ssdlab.lab.method import Params
from ssdlab.methods.whole_drive_fill.result import FillResult, findings
from ssdlab.results.claim import sentence
from ssdlab.results.remarks import gathered_departures, is_shortened, label_of
from ssdlab.results.run_folder import RunFolder
from ssdlab.results.schema import Departure, Manifest
from ssdlab.runs.order import Order
from ssdlab.runs.session import start

SHORT = "shorter than the method requires"


@pytest.fixture(autouse=True)
def own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


def made(name: str, folder: Path, *, quick: bool = False, **settings: str) -> RunFolder:
    method = find_method(name)
    params = method.params.build(settings, quick=quick)
    return RunFolder(start(Order(method, params, SMALL, destroy=SMALL, seed=1, quick=quick), folder))


def manifest(name: str, params: Params, *departures: Departure, quick: bool = False) -> Manifest:
    """Return what of a manifest tells how long a run was."""
    known: dict[str, Any] = {"method": find_method(name).info(), "params": params.model_dump()}
    return Manifest.model_construct(**known, quick=quick, departures=departures, children=())


def test_a_run_that_set_made_short_says_so(tmp_path: Path) -> None:
    """It said nothing at all, where `--quick` with a longer time had a caveat."""
    run = made("peak-random-read", tmp_path, seconds="0.5", ramp_seconds="0")
    assert is_shortened(run.manifest)
    assert shorter_in(run) == [f"{SHORT}: time 0.5 s instead of 60 s, ramp time 0 s instead of 2 s"]


@pytest.mark.long
def test_a_quick_run_is_shortened_only_by_what_is_shorter_still(tmp_path: Path) -> None:
    quick = made("peak-random-read", tmp_path / "a", quick=True)
    assert not is_shortened(quick.manifest)
    assert shorter_in(quick) == ["quick: time 1.5 s instead of 60 s, ramp time 0.2 s instead of 2 s"]
    shorter = made("peak-random-read", tmp_path / "b", quick=True, seconds="0.1")
    assert is_shortened(shorter.manifest)
    assert shorter_in(shorter) == ["quick: time 0.1 s instead of 60 s, ramp time 0.2 s instead of 2 s"]


def test_what_a_stored_departure_tells_is_not_told_twice(tmp_path: Path) -> None:
    run = made("pts-throughput", tmp_path, seconds="0.2", most_rounds="5", overwrites="1")
    assert not is_shortened(run.manifest)
    assert shorter_in(run) == []
    assert gathered_departures(run.manifest) == run.manifest.departures
    assert any(each.code == "parameter-seconds" for each in run.manifest.departures)


@pytest.mark.parametrize(
    "name", ["trim-validation", "consistency", "steady-random-write", "qd1", "low-depths"]
)
def test_every_length_of_a_method_counts(name: str) -> None:
    params = find_method(name).params
    whole = manifest(name, params())
    assert not is_shortened(whole) and gathered_departures(whole) == ()
    for each in params.table():
        if each.unit == "s" and isinstance(each.quick, float) and each.quick < float(str(each.default)):
            short = params.build({each.name: str(each.quick)})
            (found,) = gathered_departures(manifest(name, short))
            assert is_shortened(manifest(name, short))
            assert (found.code, found.what.count(" instead of ")) == ("shorter", 1)
            assert found.what.startswith(f"{SHORT}: {label_of(each.name)} ")
            told = Departure(code=f"parameter-{each.name}", what="it", why="so")
            assert gathered_departures(manifest(name, short, told)) == (told,)
            (quick,) = gathered_departures(manifest(name, short, told, quick=True))
            assert (quick.code, quick.what) == ("quick", "quick: it"), "gathered, and told once"


def test_departures_of_other_things_stand_in_front() -> None:
    params = find_method("peak-random-read").params.build({"seconds": "0.5"})
    other = Departure(code="written-unknown", what="it", why="so")
    found = gathered_departures(manifest("peak-random-read", params, other))
    assert [each.code for each in found] == ["written-unknown", "shorter"]


@pytest.mark.parametrize(
    ("parts", "words"),
    [(4, "500 MB/s over the whole drive"), (480, "over its last 16.0 GB"), (16, "over the whole drive")],
)
def test_the_end_of_a_fill_is_as_large_as_the_drive_has_it(parts: int, words: str) -> None:
    """A drive of 4.29 GB was told of "its last 16 GB"."""
    figures = {"mean_mb_s": 500.0, "last_mb_s": 400.0, "parts_mb_s": (500.0,) * parts}
    more = {"cache_bytes": None, "before_mb_s": None, "after_mb_s": None}
    result = FillResult.model_validate(
        {"quick": False, "block_bytes": 131072, "depth": 32, "ordinal": 2, "part_bytes": 1e9} | figures | more
    )
    assert sentence(next(iter(findings(result)))).rstrip(".").endswith(words)


def test_one_of_what_is_counted_stands_in_the_singular() -> None:
    params = find_method("steady-random-write").params.build({"overwrites": "1"}, quick=False)
    (found,) = gathered_departures(manifest("steady-random-write", params))
    assert found.what == f"{SHORT}: overwrites 1 span instead of 2 spans"
