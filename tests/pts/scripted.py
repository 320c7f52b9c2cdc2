"""A run whose rounds give the values that a test tells, without a drive or a run folder."""

from __future__ import annotations

from typing import Any

from ssdlab.lab.lab import Lab
from ssdlab.lab.method import RunData
from ssdlab.lab.verbs.steps import Request
from ssdlab.results.records import StepResult
from ssdlab.results.run_folder import Step

GIB = 1 << 30


class Scripted:
    """An executor whose rounds give the values that it is told."""

    def __init__(self, value: Any) -> None:
        self.value = value
        self.asked: list[Request] = []
        self.steps: list[Step] = []

    def perform(self, request: Request) -> Step:
        self.asked.append(request)
        measurement = None
        if request.verb == "run":
            side = {"ios": 1, "bytes": 4096, "response_ns": {"mean": 1.0, "max": 1.0, "p99.999": None}}
            value = self.value(request.label)
            measurement = {"iops": value, "mb_s": value, "read": side, "write": side}
        elif request.verb == "precondition":
            asked: Any = request.args["workload"]
            measurement = {"write": {"bytes": asked["streams"][0]["stop"]["bytes"] or 0}}
        facts: Any = {"purged": True} if request.verb == "purge" else {}
        result = StepResult(seconds=0.0, measurement=measurement, facts=facts)
        step = Step(request.ordinal, 0, request.verb, request.label, dict(request.args), result)
        self.steps.append(step)
        return step

    def lab(self, logical_block_bytes: int = 512) -> Lab:
        return Lab(self, capacity_bytes=4 * GIB, logical_block_bytes=logical_block_bytes)

    def data(self, logical_block_bytes: int = 512) -> RunData:
        return RunData(tuple(self.steps), 4 * GIB, logical_block_bytes)


def round_of(label: str) -> int:
    return int(label.split("round ")[1].split(",")[0])
