"""The doctor's checks: facts in, states and advice out."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ssdlab.host.environment import IoLimit, read_environment
from ssdlab.runs.doctor import TOOLS, Facts, examine

RING = {"available": True, "errno": None, "single_issuer": True, "fixed_buffers": True, "commands": True}
CAPABILITIES = {
    "io_uring": RING,
    "locked_memory_bytes": None,
    "open_files": 20_000,
    "threads": None,
    "cpus": [0, 1],
    "schedstat": True,
}


@pytest.fixture(scope="module")
def healthy() -> Facts:
    """A host that can do everything: this one, with what may differ from machine to machine put right."""
    here = read_environment()
    environment = replace(
        here,
        kernel=replace(here.kernel, architecture="x86_64", clocksource="tsc"),
        cpu=replace(here.cpu, allowed=8, governors=("performance",)),
        machine=replace(here.machine, hypervisor=None, load_average=(0.1, 0.1, 0.1)),
        limits=replace(here.limits, cpus=None, io=()),
        tool={**here.tool, "profile": "release"},
    )
    return Facts(
        environment=environment,
        capabilities=CAPABILITIES,
        calibration={"wake_up_ns": {"p50": 20_000}},
        schedulers={"nvme0n1": "none"},
        root=True,
        attributes=True,
        library=Path("/data"),
        library_free_bytes=10**12,
        missing_tools=(),
    )


def trouble(facts: Facts) -> dict[str, str]:
    return {check.name: check.state for check in examine(facts) if check.state != "ok"}


def test_a_healthy_host_has_nothing_to_be_told(healthy: Facts) -> None:
    assert trouble(healthy) == {}


@pytest.mark.parametrize(
    ("changes", "found"),
    [
        ({"root": False}, {"privileges": "limited"}),
        ({"attributes": False}, {"file marks": "limited"}),
        ({"library_free_bytes": None}, {"library": "missing"}),
        ({"schedulers": {"sda": "bfq", "nvme0n1": "none"}}, {"scheduler": "limited"}),
        ({"calibration": {"wake_up_ns": {"p50": 80_000}}}, {"wake-up": "limited"}),
        ({"calibration": {"wake_up_ns": {"p50": None}}}, {}),
        ({"missing_tools": TOOLS[:1]}, {"fio": "limited"}),
        ({"capabilities": {**CAPABILITIES, "open_files": 256}}, {"open files": "limited"}),
        ({"capabilities": {**CAPABILITIES, "threads": 512}}, {"threads": "limited"}),
        ({"capabilities": {**CAPABILITIES, "schedstat": False}}, {"schedstat": "limited"}),
        ({"capabilities": {**CAPABILITIES, "locked_memory_bytes": 65_536}}, {}),
        (
            {"capabilities": {**CAPABILITIES, "locked_memory_bytes": 65_536}, "root": False},
            {"locked memory": "limited", "privileges": "limited"},
        ),
        (
            {"capabilities": {**CAPABILITIES, "io_uring": {**RING, "available": False, "errno": 1}}},
            {"io_uring": "missing"},
        ),
        (
            {"capabilities": {**CAPABILITIES, "io_uring": {**RING, "commands": False}}},
            {"io_uring": "limited"},
        ),
    ],
)
def test_what_is_wrong_is_found(healthy: Facts, changes: dict[str, Any], found: dict[str, str]) -> None:
    facts = replace(healthy, **changes)
    assert trouble(facts) == found
    for check in examine(facts):
        assert check.state == "ok" or check.advice


@pytest.mark.parametrize(
    ("part", "changes", "found"),
    [
        ("kernel", {"clocksource": "hpet"}, {"clock": "limited"}),
        ("kernel", {"clocksource": None}, {}),
        ("cpu", {"governors": ("powersave",)}, {"governor": "limited"}),
        ("cpu", {"governors": ()}, {}),
        ("machine", {"hypervisor": "KVM"}, {"machine": "limited"}),
        ("machine", {"load_average": (5.0, 1.0, 1.0)}, {"load": "limited"}),
        ("limits", {"cpus": 0.5}, {"control group": "limited"}),
        ("limits", {"io": (IoLimit("253:1", "read_iops 2000"),)}, {"control group": "limited"}),
    ],
)
def test_what_is_wrong_with_the_host_is_found(
    healthy: Facts, part: str, changes: dict[str, Any], found: dict[str, str]
) -> None:
    environment = healthy.environment
    changed = replace(environment, **{part: replace(getattr(environment, part), **changes)})
    assert trouble(replace(healthy, environment=changed)) == found


def test_the_reason_of_the_kernel_is_told(healthy: Facts) -> None:
    ring = {**RING, "available": False, "errno": 1}
    facts = replace(healthy, capabilities={**CAPABILITIES, "io_uring": ring})
    (check,) = (check for check in examine(facts) if check.name == "io_uring")
    assert "Operation not permitted" in check.what
    assert "--engine sync" in check.advice
