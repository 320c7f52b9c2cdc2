"""Every sentence of seeded runs is borne out by the steps that were done."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from methods.statements import Told
from ssdlab.cli import main
from ssdlab.methods import REGISTRY

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


@pytest.mark.parametrize(
    ("name", "profile", "seed"),
    [
        ("steady-random-write", PROFILES[1], 11),
        ("consistency", PROFILES[1], 12),
        ("low-depths", PROFILES[0], 13),
        ("pts-throughput", PROFILES[0], 14),
        ("paced-burst", PROFILES[2], 15),
        ("act", PROFILES[0], 16),
    ],
)
def test_a_quick_run_says_nothing_that_it_has_not_shown(
    name: str, profile: str, seed: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert [
        fault for told in told_by(name, profile, seed, tmp_path, "--quick") for fault in told.faults()
    ] == []


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize(("name", "profile", "seed"), draws(QUICK_RUNS, 16))
def test_quick_runs_say_nothing_that_they_have_not_shown(
    name: str, profile: str, seed: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert [
        fault for told in told_by(name, profile, seed, tmp_path, "--quick") for fault in told.faults()
    ] == []
