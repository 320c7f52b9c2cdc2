"""Why each job of a plan waits, in Slurm's queue as squeue prints it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ssdlab.fleet import slurm
from ssdlab.fleet.fleet_plan import FleetPlan, read_plan

SELECTION = """
[[drives]]
model = "tiny-test"
[[work]]
run = "peak-random-read"
quick = true
shares = ["rack power"]
[limits]
at_once = 3
one_at_a_time = ["host"]
"""


@pytest.fixture
def plan(make_plan: Callable[..., Path]) -> FleetPlan:
    return read_plan(make_plan(SELECTION, n1=["A1", "A2"], n2=["B1"]))


def line(number: str, reason: str = "None", state: str = "RUNNING", **own: str) -> str:
    """A line of squeue, as the fleet asks for it."""
    fields = {"node": "", "licences": "(null)", "gres": "N/A", "after": "(null)", "begins": "", "user": "eve"}
    fields |= {"name": "x", **own}
    node, *rest = fields.values()
    return "|".join([number, state, node, reason, *rest])


@pytest.mark.parametrize(
    ("waits", "other", "scene", "words"),
    [
        (
            {"reason": "Dependency", "after": "afterany:12(unfulfilled)"},
            line("12", node="n1"),
            {},
            ("at_once = 3", "0002 (A2"),
        ),
        (
            {"reason": "Dependency", "after": "singleton(unfulfilled)"},
            line("12", node="n1", name="same"),
            {},
            ("0002", "host:n1"),
        ),
        (
            {"reason": "Licenses"},
            line("42", node="n9", licences="rack_power:1"),
            {},
            ("rack_power", "Slurm's job 42 of eve"),
        ),
        (
            {"reason": "Licenses"},
            line("12", node="n1", licences="ssdlab_slots:333333"),
            {},
            ("at_once = 3", "0002 (A2"),
        ),
        (
            {"reason": "Licenses"},
            line("12", state="COMPLETING", node="n1", licences="ssdlab_slots:333333"),
            {},
            ("0002 (A2", "clears up"),
        ),
        ({"reason": "Licenses"}, "", {}, ("until Slurm gives it",)),
        (
            {"reason": "Priority"},
            line("42", node="n1", gres="gres:drive:A1:1"),
            {},
            ("drive A1", "Slurm's job 42 of eve"),
        ),
        ({"reason": "Priority"}, "", {}, ("higher priority",)),
        ({"reason": "Resources"}, "", {"used": {"a1"}}, ("A1 is in use, but no job has it", "slurmctld")),
        ({"reason": "Resources"}, "", {}, ("CPUs",)),
        ({"reason": "Resources"}, "", {"bad": {"n1": "node n1 is down: fan"}}, ("node n1 is down: fan",)),
        ({"reason": "BeginTime", "begins": "2026-11-29T23:05:00"}, "", {}, ("again at 2026-11-29 23:05",)),
        ({"reason": "JobHeldUser"}, "", {}, ("scontrol release",)),
        ({"reason": "Something new"}, "", {}, ("Something new",)),
        ({"state": "RUNNING", "node": "n1"}, "", {"bad": {"n1": "does not respond"}}, ("does not respond",)),
    ],
)
def test_a_wait_has_its_cause(
    plan: FleetPlan, waits: dict[str, str], other: str, scene: dict[str, Any], words: tuple[str, ...]
) -> None:
    own = line("11", **{"state": "PENDING", "user": "me", "name": "same", **waits})
    found = slurm.explained(
        plan,
        {"0001": "11", "0002": "12"},
        slurm._rows(f"{own}\n{other}"),
        scene.get("bad", {}),
        scene.get("used", set()),
    )
    for word in words:
        assert word in found["0001"].reason, found["0001"]
    kind = {"JobHeldUser": "held", None: "running"}.get(waits.get("reason"), "waiting")
    assert found["0001"].state == kind


def test_nodes_that_take_no_jobs_are_named() -> None:
    text = "n1|drained|fan is loud\nn2|idle|none\nn3|allocated*|none\nn4|down*|Not responding"
    assert slurm._bad_nodes(text) == {
        "n1": "node n1 is drained: fan is loud",
        "n3": "node n3 does not respond to Slurm",
        "n4": "node n4 is down: Not responding",
    }


def test_hosts_take_turns(plan: FleetPlan) -> None:
    assert [job.serial for job in slurm._in_turns(plan.jobs)] == ["A1", "B1", "A2"]


def test_what_slurm_counts_as_used_is_read_from_its_nodes() -> None:
    text = "NodeName=n1 Gres=drive:A1:1,drive:A2:1 GresUsed=drive:A1:1(IDX:0),drive:A2:0(IDX:N/A) State=IDLE"
    assert slurm._used(text) == {"a1"}
    assert slurm._used("NodeName=n1 Gres=drive:A1:1 State=IDLE") == set()
