"""Settings of an NVMe drive, its write cache too, left by a run that is killed: named, and put back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from guest.machine import Done, Guest
from machine.killed_settings import MEASURED, moments, setting

DRIVE = "/dev/nvme0n1"
QUEUE = "/sys/block/nvme0n1/queue"
BEFORE = {"nomerges": "1", "nr_requests": "77", "write_cache": "on"}
JOB = setting(write_cache="off", nomerges=2, nr_requests=2)
KILLED = f"""
import sys
from pathlib import Path
sys.path.insert(0, {str(Path(__file__).parents[1])!r})
from machine.killed_settings import killed_at, run_job
point, drive, library, job = sys.argv[1:]
print(killed_at(int(point), lambda: run_job(drive, Path(library), job)))
"""
COMMANDS = (
    ("measure", DRIVE, "--bytes", "4k", "--json"),
    ("plan", "peak-random-read", DRIVE, "--json"),
    ("drives",),
    ("job", "/run/guest/measured.toml", DRIVE, "--dry-run", "--json"),
    ("doctor", "--json"),
    ("drives", DRIVE, "--json"),
    ("plan", "peak-random-read", DRIVE),
    ("run", "peak-random-read", DRIVE, "--dry-run"),
    ("drives", "--json"),
    ("measure", DRIVE, "--bytes", "4k"),
)
PATIENCE_S = 400


@pytest.fixture
def drive(guest: Guest) -> Guest:
    """The first namespace, with settings of its own."""
    (guest.orders / "measured.toml").write_text(MEASURED)
    were = guest.must(f"cat {QUEUE}/nomerges {QUEUE}/nr_requests").split()
    guest.must(f"echo 1 >{QUEUE}/nomerges; echo 77 >{QUEUE}/nr_requests")
    assert settings(guest)[0] == BEFORE
    yield guest
    guest.must(f"echo {were[0]} >{QUEUE}/nomerges; echo {were[1]} >{QUEUE}/nr_requests")


def settings(guest: Guest) -> tuple[dict[str, str], Done]:
    """What the drive and the kernel say now, and the command that told it."""
    done = guest.ssdlab("conditions", "show", DRIVE, "--json", limit_s=PATIENCE_S)
    told = json.loads(done.out)["settings"]
    return {name: told[name]["value"] for name in BEFORE}, done


def killed(guest: Guest, point: int) -> int:
    done = guest.python(KILLED, str(point), DRIVE, f"/run/killed-{point}", JOB, limit_s=PATIENCE_S)
    assert done.status == 0, done
    return int(done.out)


def campaign(guest: Guest, kills: int) -> list[dict[str, str]]:
    """Kill so many runs, each at another moment; return what each of them left."""
    every = killed(guest, 0)
    assert settings(guest)[0] == BEFORE
    left = []
    for number, point in enumerate(moments(every, kills)):
        killed(guest, point)
        now, shown = settings(guest)
        found = {name: value for name, value in now.items() if value != BEFORE[name]}
        left.append(found)
        check_named(shown, found, as_json=True)
        words = COMMANDS[number % len(COMMANDS)]
        check_named(guest.ssdlab(*words, limit_s=PATIENCE_S), found, as_json="--json" in words)
        restored = guest.ssdlab("conditions", "restore", "--json", limit_s=PATIENCE_S)
        assert restored.status == 0, restored
        now, shown = settings(guest)
        assert now == BEFORE, point
        check_named(shown, {}, as_json=True)
    return left


def check_named(done: Done, found: dict[str, str], *, as_json: bool) -> None:
    """Hold what a command says is left against what is: on stderr, and in its JSON."""
    assert done.status == 0, done
    told = json.loads(done.out) if as_json else {}
    if "checks" not in told:  # of `doctor` the list itself is what it says
        assert named(done.err.splitlines()) == expected(found), done
        assert ("ssdlab conditions restore" in done.err) == bool(found), done
    if as_json:
        assert named(told_left(told)) == expected(found), done


def told_left(told: dict[str, Any]) -> list[str]:
    if "left_set" in told:
        return [each["what"] for each in told["left_set"]]
    return [each["what"] for each in told["warnings"] if each["code"] == "settings-left"]


def named(lines: list[str]) -> set[str]:
    said = "a crashed run left the "
    return {line.partition(said)[2] for line in lines if said in line}


def expected(found: dict[str, str]) -> set[str]:
    return {f"{name.replace('_', ' ')} of nvme0n1: {now}, was {BEFORE[name]}" for name, now in found.items()}


def test_killed_at_three_moments(drive: Guest) -> None:
    campaign(drive, 3)


@pytest.mark.slow
def test_killed_at_twenty_moments(drive: Guest) -> None:
    left = campaign(drive, 20)
    print(left)
    assert {name for found in left for name in found} == BEFORE.keys()
    assert sum(bool(found) for found in left) > 10, "most kills came when nothing was set"
