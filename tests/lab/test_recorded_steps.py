"""The steps of every method are what they were: arguments as the journal keeps them, bounds, and effects.

`recorded/steps.json` was made before verbs became objects. A method whose steps are meant to change is
recorded again with `python tests/lab/test_recorded_steps.py`; runs begun before cannot be resumed then, so
its version must change too.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from ssdlab.methods import find_method
from ssdlab.methods.lab import Lab
from ssdlab.methods.steps import Request
from ssdlab.results.run_folder import Step
from ssdlab.runs.plan import Recorder

RECORDED = Path(__file__).parent / "recorded/steps.json"
SHOWN = 6
"""Steps at the beginning that are kept in full, so that a difference can be read."""


class Listening(Recorder):
    """Counts steps, and keeps what was asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[list[Any]] = []

    def perform(self, request: Request) -> Step:
        self.asked.append([request.verb, request.label, request.args, request.policy])
        return super().perform(request)


def steps_of(name: str) -> dict[str, Any]:
    """The quick steps of a method on a small drive: the first as they are, all as digests."""
    method, listening = find_method(name), Listening()
    lab = Lab(listening, capacity_bytes=256 << 20, logical_block_bytes=512, seed=7)
    method.procedure(lab, method.params.build({}, quick=True))
    planned = [
        [
            [step.ordinal, step.target_bytes, step.hash, list(step.effects)],
            [step.seconds.lower, step.seconds.upper, step.bytes_written.lower, step.bytes_written.upper],
        ]
        for step in listening.steps
    ]
    return {
        "steps": len(planned),
        "first": listening.asked[:SHOWN],
        "arguments": _digest(listening.asked),
        "plan": _digest(planned),
    }


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value).encode()).hexdigest()


def recorded() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(RECORDED.read_text())
    return found


@pytest.mark.parametrize("name", sorted(recorded()))
def test_the_steps_are_those_recorded(name: str) -> None:
    then, now = recorded()[name], json.loads(json.dumps(steps_of(name)))
    assert now["first"] == then["first"]
    assert json.dumps(now["first"]) == json.dumps(then["first"]), "the order of keys is part of a journal"
    assert now == then


if __name__ == "__main__":
    RECORDED.write_text(json.dumps({name: steps_of(name) for name in recorded()}, indent=1) + "\n")
