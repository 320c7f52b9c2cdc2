"""Every sentence of seeded runs is borne out by the steps that were done."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from methods.on_simulated import proofs_of
from methods.statements import Told
from ssdlab.cli import main
from ssdlab.lab.folders import REGISTRY
from ssdlab.results.claim import Amount, Claim, Evidence

pytestmark = pytest.mark.long

PROFILES = (
    "tiny-test,scale=4",
    "samsung-883-dct-960gb,scale=128",
    "intel-600p-512gb,scale=64",
    "nvme-tlc-enterprise,scale=128",
    "xpoint,scale=256",
    "nvme-qlc-client,scale=128",
)
SETTINGS = {"trace": ["--set", "seconds=2"]}
QUICK_RUNS = 100
_STEADY = {"least_seconds": 5, "most_seconds": 150, "round_seconds": 4}
_ROUNDS = {"seconds": 0.5, "most_rounds": 8}
_DEMAND = {**_ROUNDS, "pre_write_seconds": 2, "settle_seconds": 10, "histogram_seconds": 3}
FULL: dict[str, dict[str, dict[str, float]]] = {
    "enterprise-review": {
        "peak-random-read": {"seconds": 1},
        "peak-sequential-read": {"seconds": 1},
        "qd1": {**_STEADY, "seconds": 2, "size_seconds": 0.3},
        "steady-random-write": {**_STEADY, "seconds": 3},
        "mixed-random": {**_STEADY, "seconds": 1, "ramp_seconds": 0.2},
        "steady-sequential-write": {**_STEADY, "seconds": 3},
    },
    "client-review": {
        "low-depths": {"seconds": 5, "rest_seconds": 2},
        "qd1": {"seconds": 2, "size_seconds": 0.3},
        "paced-burst": {"rate_seconds": 4, "rest_seconds": 2, "beyond_seconds": 60},
        "consistency": {"seconds": 180, "round_seconds": 5},
        "trim-validation": {"torture_seconds": 20, "sustained_seconds": 12},
    },
    "snia": {
        "pts-write-saturation": {"seconds": 1, "most_seconds": 150, "histogram_seconds": 5},
        "pts-iops": _ROUNDS,
        "pts-throughput": {**_ROUNDS, "seconds": 2},
        "pts-latency": {**_ROUNDS, "histogram_seconds": 5},
        "pts-host-idle-recovery": {
            "seconds": 1,
            "most_rounds": 8,
            "burst_seconds": 0.1,
            "return_seconds": 10,
        },
        "pts-cross-stimulus-recovery": {"seconds": 1, "sequential_seconds": 60, "random_seconds": 60},
        "pts-demand-intensity": _DEMAND,
        "pts-composite": _DEMAND,
    },
}
"""Suites with all that they do, on a drive so small that what lasts hours on another lasts seconds there."""


def draws(count: int, seed: int) -> list[tuple[str, str, int]]:
    """Methods and profiles, all methods as often as each other, and seeds."""
    draw = random.Random(seed)
    names = [name for name in REGISTRY if name != "job"]
    found = []
    while len(found) < count:
        draw.shuffle(names)
        found += [(name, draw.choice(PROFILES), draw.randrange(1, 10**6)) for name in names]
    return found[:count]


def told_by(name: str, profile: str, seed: int, library: Path, *more: str) -> list[Told]:
    words = ["run", name, f"sim:{profile}", "--seed", str(seed), "--library", str(library), *more]
    status = main([*words, *SETTINGS.get(name, ())])
    assert status in (0, 1), (words, status)
    folders = [path.parent for path in library.glob("*/manifest.json")]
    return [told for told in map(Told, folders) if not told.folder.manifest.children]


def test_the_walk_finds_what_is_planted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (told,) = told_by("steady-random-write", PROFILES[1], 10, tmp_path, "--quick")
    assert told.faults() == []
    ordinal = max(told.steps)
    shown, early = Evidence((ordinal,)), Evidence((min(told.steps),))
    most = float(told.steps[ordinal].measured.iops)
    planted = {
        "steady after": Claim("Steady state reached at {figure}", figure=Amount(1, "%"), evidence=early),
        "steady without evidence": Claim("Steady state reached at {figure}", figure=Amount(1, "%")),
        "is not within": Claim("{figure} at QD 1", figure=Amount(100 * most, "IOPS"), evidence=shown),
        "is no measured step": Claim("{figure}", figure=Amount(1.0, "MB/s"), evidence=Evidence((999,))),
        "was not measured": Claim("the mean of the last 400 s"),
        "149 s was not measured": Claim(
            "shorter than the method requires: settle time 1 s instead of 2 s, "
            "longest time 149 s instead of 86400 s"
        ),
        "rounds were not done": Claim("steady state was looked for in 25 rounds"),
        "capacities were not written": Claim("after 3.00 capacities"),
    }
    for fault, claim in planted.items():
        monkeypatch.setitem(vars(told), "claims", (claim,))
        assert any(fault in each for each in told.faults()), fault


@pytest.mark.parametrize(
    ("name", "profile", "seed"),
    [
        ("steady-random-write", PROFILES[1], 11),
        ("consistency", PROFILES[1], 12),
        ("low-depths", PROFILES[0], 13),
        ("pts-throughput", PROFILES[0], 14),
        ("paced-burst", PROFILES[2], 15),
        ("act", PROFILES[0], 16),
        ("read-under-writes", PROFILES[0], 17),
    ],
)
def test_a_quick_run_says_nothing_that_it_has_not_shown(
    name: str, profile: str, seed: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert [
        fault for told in told_by(name, profile, seed, tmp_path, "--quick") for fault in told.faults()
    ] == []


@pytest.mark.slow
@pytest.mark.parametrize(("name", "profile", "seed"), draws(QUICK_RUNS, 16))
def test_quick_runs_say_nothing_that_they_have_not_shown(
    name: str, profile: str, seed: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert [
        fault for told in told_by(name, profile, seed, tmp_path, "--quick") for fault in told.faults()
    ] == []


@pytest.mark.parametrize("name", ["steady-random-write", "mixed-random", "read-under-writes"])
@pytest.mark.parametrize("precondition", ["one-pass", "analytic"])
def test_prepared_states_are_told_as_what_they_are(
    name: str, precondition: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told = told_by(name, PROFILES[0], 18, tmp_path, "--quick", "--precondition", precondition)
    assert [fault for each in told for fault in each.faults()] == []


def test_a_placed_state_is_written_upon_for_five_rounds(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Rounds by time are shorter on a fast drive than those by bytes, by which such a state is judged."""
    words = ("--quick", "--precondition", "analytic")
    (told,) = told_by("steady-random-write", PROFILES[1], 21, tmp_path, *words)
    (proof,) = proofs_of(told.result)
    assert len(proof.rounds_mb_s) >= 5 and proof.reached
    assert told.faults() == []


@pytest.mark.slow
@pytest.mark.parametrize("name", FULL)
def test_full_suites_say_nothing_that_they_have_not_shown(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = [
        word
        for part, values in FULL[name].items()
        for key, value in values.items()
        for word in ("--set", f"{part}.{key}={value}")
    ]
    told = told_by(name, PROFILES[0], 19, tmp_path, *settings)
    assert len(told) == len(FULL[name]) + (name == "client-review"), "whole-drive-fill has nothing to shorten"
    assert [fault for each in told for fault in each.faults()] == []
