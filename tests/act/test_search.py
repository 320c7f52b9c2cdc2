"""The search for the highest load, on drives whose limit is known."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from methods.on_simulated import run
from ssdlab.drives import open_drive
from ssdlab.lab.found import find_method
from ssdlab.lab.outcome import read_result
from ssdlab.lab.parts.search import step_to_highest
from ssdlab.methods.act.findings import search_findings
from ssdlab.methods.act.result import ActSearchResult
from ssdlab.methods.act.search import ActSearchParams, _assumed
from ssdlab.model.workload import Block, Mix, Stop, Stream, Workload
from ssdlab.results.claim import sentence
from ssdlab.runs.order import Order, plan_order

pytestmark = pytest.mark.long

FLAT = "sim:xpoint,scale=64"
SECONDS = 2
HIGHEST = 6
"""N: the drive of these tests does N times the load, and not N + 1."""


@pytest.fixture(scope="module")
def writes_in_time() -> int:
    """Large writes that one thread can do back to back in the time of a try."""
    stream = Stream(
        ops=Mix(read_pct=0), block=(Block(bytes=131_072),), dsync=True, stop=Stop(time_ns=SECONDS * 10**9)
    )
    with open_drive(FLAT, writing=True, destroy=FLAT) as drive:
        summary = drive.run(Workload.of(stream)).summary()
    return int(summary["write"]["ios"])


def each_way() -> Iterator[object]:
    """Every arrival from either side; one of the eight is enough where time is short."""
    for arrivals, begin in product(["act6", "act2019", "even", "poisson"], ["above", "below"]):
        kept = (arrivals, begin) == ("act2019", "above")
        yield pytest.param(arrivals, begin, marks=[] if kept else [pytest.mark.slow])


@pytest.mark.parametrize(("arrivals", "begin"), list(each_way()))
def test_it_finds_the_load_at_which_large_writes_saturate(
    tmp_path: Path, writes_in_time: int, arrivals: str, begin: str
) -> None:
    """99.5 % of the large writes must be done; their rate is set so that this fails half way to N + 1."""
    most = (writes_in_time + 2) / 0.995 / SECONDS
    at_1x = round(most / (HIGHEST + 0.5) * 85 / 2)  # writes a second: 85 records a block, amplified twice
    assert math.floor(most / (at_1x * 2 / 85)) == HIGHEST
    result = read_result(
        run(
            "act-search",
            tmp_path,
            FLAT,
            arrivals=arrivals,
            begin=begin,
            load="12" if begin == "above" else "1",
            coarse="3",
            test_duration_sec=str(SECONDS),
            slice_sec=str(SECONDS),
            prepare="no",
            read_reqs_per_sec="50",
            write_reqs_per_sec=str(at_1x),
            no_defrag_reads="yes",
        )
    )
    assert isinstance(result, ActSearchResult)
    assert (result.score, result.resolution) == (HIGHEST, 1)
    assert all(each.held == (each.load <= HIGHEST) for each in result.tries)
    tried = [each.load for each in result.tries]
    assert tried == ([12, 9, 6, 8, 7, 6] if begin == "above" else [1, 4, 7, 5, 6])
    states = [each.drive_state for each in result.tries][:2]
    assert states == ["as it was found", f"after {tried[0]}x, rested 120 s"]
    by_rule = max(each.load for each in result.tries if each.passed)
    said = sentence(next(search_findings(result)))
    assert "and delivered (ssdlab's own test): not judged, since" in said
    assert ("by the rule alone" in said and f"{by_rule}x" in said) is (by_rule > HIGHEST), said
    written = [each.written_before_bytes for each in result.tries]
    assert written[0] == 0 and written == sorted(set(written))


@pytest.mark.parametrize(("between", "steps"), [("rest", ["idle"]), ("prepare", ["precondition"] * 2)])
def test_between_two_tries_the_drive_rests_or_is_prepared(
    tmp_path: Path, between: str, steps: list[str]
) -> None:
    folder = run(
        "act-search",
        tmp_path,
        "sim:tiny-test,scale=4",
        between=between,
        rest_seconds="5",
        load="1",
        most="3",
        coarse="1",
        test_duration_sec="1",
        slice_sec="1",
        prepare="no",
    )
    result = read_result(folder)
    assert isinstance(result, ActSearchResult)
    assert [step.verb for step in folder.steps()] == [
        "conditions",
        "run",
        "find",
        *(2 * [*steps, "run", "find"]),
    ]
    assert result.tries[1].drive_state == ("after 1x, rested 5 s" if between == "rest" else "prepared")
    assert result.score == 3 and result.resolution is None
    assert {code for each in result.scalars for code in each.codes} >= {"search-ceiling"}


def test_a_try_ends_when_its_slice_has_failed_for_certain(tmp_path: Path) -> None:
    """More than the drive does: all threads wait, and soon 5 % of a minute's reads were slow."""
    folder = run(
        "act-search",
        tmp_path,
        "sim:tiny-test,scale=4",
        arrivals="even",
        load="12",
        fine="12",
        most="12",
        test_duration_sec="60",
        slice_sec="60",
        prepare="no",
        record_bytes="131072",
        no_defrag_reads="yes",
        write_reqs_per_sec="10",
    )
    result = read_result(folder)
    assert isinstance(result, ActSearchResult)
    assert result.score is None
    (only,) = result.tries
    assert only.abandoned and not only.completed and not only.passed
    assert "of all its reads took" in only.why
    assert only.ran_s < 30


@pytest.mark.slow
def test_a_drive_held_to_10_w_scores_no_more_than_without_a_limit(tmp_path: Path) -> None:
    """The C916 twice, as a published review has it; both are far below what their links could do."""
    scores = {}
    for drive in ("sim:c916,scale=64", "sim:c916,scale=64,power=10W"):
        result = read_result(
            run(
                "act-search",
                tmp_path,
                drive,
                load="300",
                most="600",
                coarse="50",
                fine="10",
                test_duration_sec="2",
                slice_sec="2",
            )
        )
        assert isinstance(result, ActSearchResult)
        assert result.score is not None and result.score_per_w is not None
        scores[drive] = result.score
    unlimited, limited = scores.values()
    assert limited <= unlimited


@given(
    limit=st.integers(0, 60),
    first=st.integers(1, 80),
    coarse=st.integers(1, 12),
    upwards=st.booleans(),
)
def test_stepping_finds_the_limit_from_either_side(
    limit: int, first: int, coarse: int, upwards: bool
) -> None:
    tried: dict[int, bool] = {}

    def holds(load: int, certain: bool) -> bool:
        assert certain == (not tried)
        assert load not in tried or load == max(n for n, held in tried.items() if held), "and once more"
        tried[load] = load <= limit
        return tried[load]

    step_to_highest(first, coarse, 1, holds, maximum=100, upwards=upwards)
    assert max((load for load, held in tried.items() if held), default=0) == limit
    assert min(load for load, held in tried.items() if not held) == max(limit + 1, 1)


@given(
    fresh=st.integers(0, 60),
    aged=st.integers(0, 60),
    tries_fresh=st.integers(0, 40),
    first=st.integers(1, 80),
    coarse=st.integers(1, 12),
    upwards=st.booleans(),
)
def test_the_score_of_a_drive_that_ages_held_after_every_failure(
    fresh: int, aged: int, tries_fresh: int, first: int, coarse: int, upwards: bool
) -> None:
    """A load that held on the prepared drive alone is no score: the drive no longer holds it when written."""
    found: list[tuple[int, bool]] = []

    def holds(load: int, certain: bool) -> bool:
        found.append((load, load <= (fresh if len(found) < tries_fresh else min(fresh, aged))))
        return found[-1][1]

    step_to_highest(first, coarse, 1, holds, maximum=100, upwards=upwards)
    failed = [load for load, held in found if not held]
    score = max((load for load, held in found if held and load < min(failed, default=101)), default=0)
    assert found[-1] == (score, True) or not score
    assert len(found) <= 2 * (100 // coarse + coarse + 3)


@pytest.mark.parametrize("begin", ["above", "below"])
@pytest.mark.parametrize(("coarse", "fine"), [(2, 1), (3, 1), (4, 2)])
def test_a_plan_lists_as_many_tries_as_the_longest_search(begin: str, coarse: int, fine: int) -> None:
    """The longest is found from every sequence of answers."""
    given = {"load": "2", "coarse": str(coarse), "fine": str(fine), "most": str(2 + 2 * coarse)}
    p = find_method("act-search").params.build({**given, "begin": begin})
    assert isinstance(p, ActSearchParams)

    def tries(answer: Callable[[int], bool]) -> int:
        found: list[int] = []

        def holds(load: int, certain: bool) -> bool:
            found.append(load)
            return answer(load)

        step_to_highest(p.load, p.coarse, p.fine, holds, maximum=p.most, upwards=p.begin == "below")
        return len(found)

    def longest(answers: tuple[bool, ...]) -> int:
        left = list(answers)
        try:
            return tries(lambda _: left.pop(0))
        except IndexError:
            return max(longest((*answers, held)) for held in (True, False))

    tried: dict[int, bool] = {}

    def assumed(load: int) -> bool:
        tried[load] = _assumed(load, tried, p)
        return tried[load]

    assert tries(assumed) == longest(())


def test_a_drive_prepared_before_each_load_is_given_no_load_twice() -> None:
    found: list[int] = []

    def holds(load: int, certain: bool) -> bool:
        found.append(load)
        return load <= 12

    step_to_highest(20, 5, 1, holds, maximum=100, upwards=True, again=False)
    assert found == [20, 15, 10, 11, 12, 13]


@pytest.mark.parametrize(("between", "twice"), [("rest", True), ("prepare", False)])
def test_the_plan_has_second_tries_unless_each_load_is_prepared(between: str, twice: bool) -> None:
    method, drive = find_method("act-search"), "sim:tiny-test,scale=4"
    params = method.params.build({"between": between}, quick=True)
    plan = plan_order(Order(method, params, drive, destroy=drive))
    assert any(step.label.endswith("x again") for step in plan.steps) is twice


def test_a_drive_that_ages_is_scored_at_what_it_still_holds(tmp_path: Path) -> None:
    """Limited to 10 W, this drive holds 140x while its spare blocks are free, and about 100x ever after."""
    result = read_result(
        run(
            "act-search",
            tmp_path,
            "sim:c916,scale=128,power=10W",
            load="150",
            coarse="10",
            fine="2",
            test_duration_sec="20",
            slice_sec="20",
        )
    )
    assert isinstance(result, ActSearchResult)
    at_140 = [each.held for each in result.tries if each.load == 140]
    assert at_140 == [True, False]
    assert result.score is not None and 80 <= result.score <= 110
    assert result.tries[-1].load == result.score and result.tries[-1].held
    assert "140x" in [each.others.get("held") for each in search_findings(result)]
