"""What is said of the writing before a measurement: how, which way it moves, and how long a round is."""

from __future__ import annotations

from typing import Any

import pytest

from ssdlab.analysis.steady_state import judge_window
from ssdlab.lab.presented.steady import one_pass_claim, state_claims, steady_claim
from ssdlab.results.claim import sentence
from ssdlab.results.drive_states import OnePassProof, PlacedProof, SteadyProof, proven

FALLING = (520.0, 510.0, 500.0, 490.0, 480.0)


def facts(rounds: tuple[float, ...] = FALLING, **changes: Any) -> dict[str, Any]:
    window = judge_window(rounds)
    found: dict[str, Any] = {
        "reached": window.steady,
        "ordinal": 2,
        "round_s": 0.25,
        "rounds_mb_s": rounds,
        "first": 0,
        "mean_mb_s": window.mean,
        "range_share": window.range_share,
        "rise_share": window.rise_share,
        "slope_mb_s": window.slope,
        "written_bytes": 10**9,
        "capacities": 2.5,
        "seconds": 60.0,
    }
    return found | changes


def by_pass(**changes: Any) -> OnePassProof:
    given = {"pass_bytes": 10**8, "spare": 0.07, "spare_from": "profile", "spare_found": 0.07, "agreed": True}
    return OnePassProof(**(facts() | given | changes))


@pytest.mark.parametrize(
    ("rounds", "moves"),
    [(FALLING, "-8.00 %"), (FALLING[::-1], "+8.00 %"), ((500.0,) * 5, "0 %")],
)
def test_a_line_that_falls_is_not_said_to_rise(rounds: tuple[float, ...], moves: str) -> None:
    said = sentence(steady_claim(SteadyProof(**facts(rounds))))
    assert said.startswith("In steady state after 60.0 s and 2.50 drive writes: range ")
    assert f"slope {moves} (at most" in said
    assert said.endswith("each 0.250 s."), "a round of a time"


def test_a_round_after_a_pass_is_of_a_share_of_the_flash() -> None:
    said = sentence(steady_claim(by_pass()))
    assert said.startswith("By one random pass, not SNIA's preconditioning: in steady state after 60.0 s")
    assert said.endswith("each 0.250 s, 0.9 % of the flash.")
    assert by_pass().how == "one-pass"
    placed = PlacedProof(**facts(), spare=0.07)
    assert sentence(steady_claim(placed)).endswith("each 0.250 s, 0.9 % of the flash.")


def test_a_pass_that_did_not_show_its_spare_did_not_bring_the_state_about() -> None:
    proof = by_pass(spare_found=None, agreed=False)
    said = sentence(steady_claim(proof))
    assert (
        said.startswith("Overwritten as in full preconditioning")
        and "did not confirm its spare: in ste" in said
    )
    assert said.endswith("each 0.250 s."), "rounds as the full procedure has them"
    agreed = by_pass(in_full=True)
    assert "after one random pass: in steady state" in sentence(steady_claim(agreed))
    assert sentence(steady_claim(agreed)).endswith("each 0.250 s.")
    assert [proven(each) for each in (proof, agreed)] == [(), ()], "SNIA's preconditioning reached the state"
    placed = PlacedProof(**facts(), spare=0.07)
    in_full = placed.model_copy(update={"in_full": True})
    assert proven(placed) != () == proven(in_full)
    assert sentence(steady_claim(in_full)).startswith("Overwritten as in full preconditioning")
    assert not [each for each in state_claims(proof) if "repared by one random pass" in sentence(each)]
    moved = by_pass(spare_found=None, agreed=False, reached=False)
    assert "NOT in steady state" in sentence(steady_claim(moved))


def test_a_pass_for_so_much_spare_that_no_fall_need_show_is_not_doubted() -> None:
    great = one_pass_claim(by_pass(spare=0.8, spare_found=None))
    assert sentence(great).endswith("its speed need not drop, and did not.")
    none = one_pass_claim(by_pass(spare_found=None, agreed=False))
    assert "its speed shows no spare" in sentence(none)


@pytest.mark.parametrize(("more", "says"), [(0, "in 5 rounds"), (3, "in 8 rounds")])
def test_a_placed_state_meets_the_criterion_in_its_last_rounds(more: int, says: str) -> None:
    rounds = (*(600.0,) * more, *FALLING)
    placed = PlacedProof(**facts(rounds[-5:], rounds_mb_s=rounds, first=more), spare=0.07)
    said = sentence(steady_claim(placed))
    assert f"computed by theory and meets SNIA's criterion {says}" in said
    assert f"over rounds {more + 1} to {more + 5}" in said
