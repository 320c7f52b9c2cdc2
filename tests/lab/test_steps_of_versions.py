"""The steps of a method are those of its version: a run begun before can be resumed with them.

`steps_of_versions.txt` has a line for each method: name, version, number of steps, digest. Where the steps
change, so does the version, and `python tests/lab/test_steps_of_versions.py` writes the file again.
"""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from ssdlab.lab.folders import REGISTRY
from ssdlab.lab.found import find_method
from ssdlab.lab.lab import Lab
from ssdlab.lab.verbs.steps import Request
from ssdlab.results.run_folder import Step
from ssdlab.runs.plan import Recorder

FILE = Path(__file__).with_name("steps_of_versions.txt")


class Listening(Recorder):
    """Keeps what was asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[list[Any]] = []

    def perform(self, request: Request) -> Step:
        self.asked.append([request.verb, request.label, request.args, request.policy])
        return super().perform(request)


def steps_of(name: str) -> str:
    """The line of a method's quick steps on a small drive, as a journal keeps them."""
    method, listening = find_method(name), Listening()
    lab = Lab(listening, capacity_bytes=256 << 20, logical_block_bytes=512, seed=7)
    method.procedure(lab, method.params.build({}, quick=True))
    planned = [
        [step.ordinal, step.target_bytes, step.hash, *asked]
        for step, asked in zip(listening.steps, listening.asked, strict=True)
    ]
    digest = hashlib.sha256(json.dumps(planned).encode()).hexdigest()[:16]
    return f"{name} {method.version} {len(planned)} {digest}"


def recorded() -> dict[str, str]:
    return {line.split()[0]: line for line in FILE.read_text().splitlines()} if FILE.exists() else {}


METHODS = sorted(name for name in REGISTRY if name not in ("job", "trace"))
"""All whose steps do not hang on a file."""


def test_every_method_is_recorded() -> None:
    assert sorted(recorded()) == METHODS


@pytest.mark.parametrize("name", METHODS)
def test_steps_change_with_the_version(name: str) -> None:
    assert steps_of(name) == recorded()[name]


if __name__ == "__main__":
    then, now = recorded(), {name: steps_of(name) for name in METHODS}
    if unsaid := [
        name for name in then.keys() & now.keys()
        if then[name] != now[name] and then[name].split()[1] == now[name].split()[1]
    ]:  # fmt: skip
        sys.exit(f"other steps, the same version: {', '.join(unsaid)}")
    FILE.write_text("".join(f"{line}\n" for line in now.values()))
