"""What was set shorter than a method asks for is a caveat, whether `--quick` or `--set` made it so."""

from __future__ import annotations

from pathlib import Path

import pytest

from ssdlab.methods import find_method
from ssdlab.methods.presented.fill import findings
from ssdlab.methods.results.fill import FillResult
from ssdlab.methods.results.outcome import read_result
from ssdlab.methods.shortened import is_shortened, label_of, with_shortened
from ssdlab.results.claim import sentence
from ssdlab.results.run_folder import RunFolder
from ssdlab.results.schema import Departure, ResultBase
from ssdlab.runs.order import Order
from ssdlab.runs.session import start

DRIVE = "sim:tiny-test,scale=4"
SHORT = "shorter than the method asks for"


@pytest.fixture(autouse=True)
def own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


def caveats(name: str, folder: Path, *, quick: bool = False, **settings: str) -> list[str]:
    method = find_method(name)
    params = method.params.build(settings, quick=quick)
    run = start(Order(method, params, DRIVE, destroy=DRIVE, seed=1, quick=quick), folder)
    result = read_result(RunFolder(run))
    assert result is not None
    found = [each for each in result.caveats if SHORT in each]
    assert is_shortened(RunFolder(run).manifest) == bool(found), "a page has it from the manifest"
    return found


def test_a_run_that_set_made_short_says_so(tmp_path: Path) -> None:
    """It carried no caveat at all, where `--quick` with a longer time had one."""
    (said,) = caveats("peak-random-read", tmp_path, seconds="0.5", ramp_seconds="0")
    assert said == f"{SHORT}: time 0.5 s instead of 60 s, ramp time 0 s instead of 2 s"


@pytest.mark.long
def test_a_quick_run_tells_by_itself_but_of_what_is_shorter_still(tmp_path: Path) -> None:
    assert caveats("peak-random-read", tmp_path / "a", quick=True) == []
    (said,) = caveats("peak-random-read", tmp_path / "b", quick=True, seconds="0.1")
    assert said == f"{SHORT}: time 0.1 s instead of 60 s"


def test_what_departures_tell_is_not_said_twice(tmp_path: Path) -> None:
    assert caveats("pts-throughput", tmp_path, seconds="0.2", most_rounds="5", overwrites="1") == []


@pytest.mark.parametrize(
    "name", ["trim-validation", "consistency", "steady-random-write", "qd1", "low-depths"]
)
def test_every_length_of_a_method_counts(name: str) -> None:
    params = find_method(name).params
    plain = ResultBase(kind="peak", quick=False)
    assert with_shortened(plain, params(), (), quick=False) == plain
    for each in params.table():
        if each.unit == "s" and isinstance(each.quick, float) and each.quick < float(str(each.default)):
            made = params.build({each.name: str(each.quick)})
            (said,) = with_shortened(plain, made, (), quick=False).caveats
            assert label_of(each.name) in said
            told = Departure(code=f"parameter-{each.name}", what="it", why="so")
            assert with_shortened(plain, made, (told,), quick=False) == plain


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
    found = with_shortened(ResultBase(kind="peak", quick=False), params, (), quick=False)
    assert found.caveats == (f"{SHORT}: overwrites 1 span instead of 2 spans",)
