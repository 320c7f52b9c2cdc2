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


@pytest.mark.parametrize(
    ("waits", "others", "scene", "words"),
    [
        (
            "PENDING||Dependency|||afterany:12(unfulfilled)",
            ["12|RUNNING|n1|None"],
            {},
            ("at_once = 3", "0002 (A2"),
        ),
        (
            "PENDING||Dependency|||singleton(unfulfilled)",
            ["12|RUNNING|n1|None||||me|same"],
            {},
            ("0002", "host:n1"),
        ),
        (
            "PENDING||Licenses|||",
            ["42|RUNNING|n9|None|rack_power:1|||eve|x"],
            {},
            ("rack_power", "job 42 of eve"),
        ),
        ("PENDING||Licenses|||", ["12|RUNNING|n1|None|ssdlab_slots:333333"], {}, ("at_once = 3", "0002 (A2")),
        (
            "PENDING||Priority|||",
            ["42|RUNNING|n1|None||gres:drive:A1:1||eve|x"],
            {},
            ("drive A1", "job 42 of eve"),
        ),
        ("PENDING||Priority|||", [], {}, ("higher priority",)),
        (
            "PENDING||Resources|||",
            [],
            {"used": {"a1"}},
            ("A1 is in use, but no job has it", "restart slurmctld"),
        ),
        ("PENDING||Resources|||", [], {}, ("CPUs",)),
        ("PENDING||Resources|||", [], {"bad": {"n1": "node n1 is down: fan"}}, ("node n1 is down: fan",)),
        ("PENDING||BeginTime|||", [], {}, ("requeued",)),
        ("PENDING||JobHeldUser|||", [], {}, ("scontrol release",)),
        ("PENDING||Something new|||", [], {}, ("Something new",)),
    ],
)
def test_a_wait_has_its_cause(
    plan: FleetPlan, waits: str, others: list[str], scene: dict[str, Any], words: tuple[str, ...]
) -> None:
    text = "\n".join([f"11|{waits}|me|same", *others])
    found = slurm.explained(
        plan, {"0001": "11", "0002": "12"}, slurm._rows(text), scene.get("bad", {}), scene.get("used", set())
    )
    for word in words:
        assert word in found["0001"].reason, found["0001"]
    assert found["0001"].state == ("held" if "Held" in waits else "waiting")


def test_what_slurm_counts_as_used_is_read_from_its_nodes() -> None:
    text = "NodeName=n1 Gres=drive:A1:1,drive:A2:1 GresUsed=drive:A1:1(IDX:0),drive:A2:0(IDX:N/A) State=IDLE"
    assert slurm._used(text) == {"a1"}
    assert slurm._used("NodeName=n1 Gres=drive:A1:1 State=IDLE") == set()
