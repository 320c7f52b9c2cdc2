"""Why a state is unproven, what a trace departs by, and where a long write was too short, by code."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from pathlib import Path

import pytest

from methods.on_simulated import run
from ssdlab.methods.consistency.result import (
    LAST_S,
    LATE_FROM_S,
    ConsistencyEntry,
    ConsistencyResult,
    StretchFigures,
    findings,
)
from ssdlab.results.claim import Claim
from ssdlab.results.drive_states import (
    OnePassProof,
    PlacedProof,
    StateCheck,
    SteadyProof,
    doubts,
    moved,
    proven,
)
from ssdlab.results.metric import Qualifier
from ssdlab.results.qualifiers import CATALOGUE

DOUBTS = {"hot": "throttled", "host": "host-limited", "failed": "failed-io"}


def doubted(codes: Sequence[str], at: int = 4) -> tuple[Qualifier, ...]:
    return doubts(
        [at],
        hot="throttled" in codes,
        host="busy" if "host-limited" in codes else "",
        failed="3 failed" if "failed-io" in codes else "",
    )


def proof(kind: type[SteadyProof] = SteadyProof, codes: Sequence[str] = (), **changes: object) -> SteadyProof:
    """A writing that was judged and reached nothing, unless `changes` say otherwise."""
    usual = {"ordinal": 4, "reached": False, "first": 1, "capacities": 2.0, "doubts": doubted(codes)}
    return kind.model_construct(**{**usual, "in_full": None, "agreed": True, **changes})


def why(steady: SteadyProof | None) -> str:
    ((found),) = proven(steady)
    assert found.code == "state-unproven" and found.why
    return found.why


@pytest.mark.parametrize("kept", list(product((False, True), repeat=3)))
def test_all_doubts_of_an_unproven_state_are_named_and_no_other(kept: tuple[bool, ...]) -> None:
    codes = [code for code, has in zip(DOUBTS.values(), kept, strict=True) if has]
    said = why(proof(codes=codes))
    for code in DOUBTS.values():
        assert (CATALOGUE[code].label in said) is (code in codes)
    assert proof(codes=codes).judged is not bool(codes)


def test_each_cause_has_a_reason_of_its_own() -> None:
    causes = [
        None,
        proof(),
        proof(capacities=0.2),
        *(proof(codes=[code]) for code in DOUBTS.values()),
    ]
    assert len({why(each) for each in causes}) == len(causes)
    assert why(proof(first=None)) == why(proof(capacities=0.2)), "neither wrote enough to tell"
    assert [each.steps for each in proven(proof())] == [(4,)]


@pytest.mark.parametrize(
    ("kind", "code"), [(SteadyProof, None), (OnePassProof, "one-pass"), (PlacedProof, "placed")]
)
def test_a_state_that_was_reached_says_how_and_never_that_it_is_unproven(
    kind: type[SteadyProof], code: str | None
) -> None:
    found = proven(proof(kind, reached=True))
    assert [each.code for each in found] == ([] if code is None else [code])


def test_what_was_placed_is_doubted_for_heat_alone() -> None:
    judged = {code: proof(PlacedProof, [code]).judged for code in DOUBTS.values()}
    assert judged == {"throttled": False, "host-limited": True, "failed-io": True}


def check(held: bool, at: int, *codes: str) -> StateCheck:
    return StateCheck.model_construct(held=held, ordinals=(at, at + 1), doubts=doubted(codes, at))


def test_a_move_counts_where_any_check_shows_it_and_doubts_alone_show_none() -> None:
    assert moved([check(True, 1), check(True, 3, "throttled")]) == ()
    shown = moved([check(True, 1), check(False, 3), check(False, 4, "host-limited")])
    assert [(each.code, each.steps) for each in shown] == [("state-moved", (3, 4, 5))]
    (hidden,) = moved([check(False, 3, "host-limited"), check(False, 6, "failed-io")])
    assert (hidden.code, hidden.steps) == ("state-unproven", (3, 4, 6, 7))
    assert all(CATALOGUE[code].label in hidden.why for code in ("host-limited", "failed-io"))
    assert CATALOGUE["throttled"].label not in hidden.why


@pytest.mark.parametrize(
    ("settings", "codes"),
    [
        ({}, set()),
        ({"only": "reads"}, {"reads-alone"}),
        ({"fill": "false"}, {"unfilled"}),
        ({"only": "reads", "fill": "false"}, {"reads-alone", "unfilled"}),
    ],
)
def test_a_trace_departs_by_what_it_left_out(
    tmp_path: Path, settings: dict[str, str], codes: set[str]
) -> None:
    trace = tmp_path / "short.csv"
    trace.write_text("".join(f"7,{'RW'[n % 2]},{n << 16},4096,{n * 100}\n" for n in range(20)))
    manifest = run("trace", tmp_path / "library", file=str(trace), **settings).manifest
    found = {each.code: each for each in manifest.departures}
    assert found.keys() & {"reads-alone", "unfilled"} == codes
    assert manifest.result is not None and manifest.result["done"]["write_bytes"] == (
        0 if "only" in settings else 10 * 4096
    )


def too_short(*seconds: float) -> list[Claim]:
    entries = tuple(
        ConsistencyEntry.model_construct(
            name=f"{number} %",
            ordinal=number,
            doubts=(),
            capacities=2.0,
            rounds_after=9,
            steady_from_s=1.0,
            began_c=None,
            stretches=(
                StretchFigures(
                    name="whole",
                    from_s=0.0,
                    to_s=each,
                    rows=9,
                    floor=1.0,
                    p1=1.0,
                    mean=1.0,
                    deviation=0.0,
                    evenness=None,
                ),
            ),
        )
        for number, each in enumerate(seconds)
    )
    claims = list(findings(ConsistencyResult.model_construct(entries=entries)))
    return [each for each in claims if "from" in each.others]


@pytest.mark.parametrize(
    ("seconds", "short"), [((60.0,), True), ((60.0, 90.0), True), ((60.0, 3000.0), False)]
)
def test_only_where_no_run_lasts_as_long_as_the_reviews_it_is_too_short(
    seconds: tuple[float, ...], short: bool
) -> None:
    found = too_short(*seconds)
    assert bool(found) is short
    for each in found:
        assert each.figure is not None and each.figure.value == max(seconds)


def test_the_bound_of_too_short_is_the_end_of_the_last_seconds() -> None:
    bound = LATE_FROM_S + LAST_S
    assert too_short(bound - 1) and not too_short(bound)
