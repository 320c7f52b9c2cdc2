"""What steps hold is read by models: no cast, and no number from a text."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from ssdlab.lab.verbs.drive_state import PurgeFacts, Trim, TrimFacts
from ssdlab.lab.verbs.workload import Run
from ssdlab.model.errors import Refused, UsageError
from ssdlab.results.records import StepResult
from ssdlab.results.run_folder import Step

PACKAGE = Path(__file__).parents[2] / "python/ssdlab"
RECORDS = re.compile(r"\b(args|facts|measurement|summary)\b")


def lines(pattern: str) -> list[str]:
    """Every line of the package that a pattern is found in."""
    return [
        f"{path.relative_to(PACKAGE)}, line {at}"
        for path in sorted(PACKAGE.rglob("*.py"))
        for at, line in enumerate(path.read_text().splitlines(), 1)
        if re.search(pattern, line)
    ]


def casts(text: str) -> Iterator[int]:
    """Yield the lines in which a measurement, an argument or a fact of a step is cast."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "cast":
            attributes = [each.attr for each in ast.walk(node.args[1]) if isinstance(each, ast.Attribute)]
            if RECORDS.search(" ".join(attributes)) and "facts.result" not in ast.unparse(node):
                yield node.lineno


def test_nothing_that_a_step_holds_is_cast() -> None:
    found = [(path.name, line) for path in sorted(PACKAGE.rglob("*.py")) for line in casts(path.read_text())]
    assert not found


@pytest.mark.parametrize(
    "text", ["cast('dict', step.result.measurement)", "cast('X', step.args['workload'])['streams']"]
)
def test_a_cast_would_be_found(text: str) -> None:
    assert list(casts(text)) == [1]


def test_no_number_is_made_from_the_text_of_an_object() -> None:
    assert not lines(r"\bint\(str\(")


def step(verb: str, args: dict[str, object], **result: object) -> Step:
    return Step(3, 1, verb, "some", args, StepResult.model_validate({"seconds": 0.0, **result}))


def test_a_side_stands_for_each_direction() -> None:
    side = {"ios": 3, "bytes": 4096, "service_ns": {"mean": 7, "p99": None}, "new": True}
    found = step("run", {}, measurement={"iops": 5, "write": side, "read": None, "later": 1}).measured
    assert found.read is None and found.side("write") is found.write is not None
    assert (found.written_bytes, found.moved_bytes, found.write.service_mean_ns) == (4096, 4096, 7)
    assert type(found.iops) is int, "a whole number stays one, so that no figure changes"


def test_what_was_not_measured_is_said() -> None:
    with pytest.raises(Refused, match=r"step 4 \(some\) measured nothing"):
        _ = step("idle", {"seconds": 1}).measured
    with pytest.raises(Refused, match="no workload"):
        _ = step("idle", {"seconds": 1}).ran
    assert step("idle", {"seconds": 1}).summary is None


def test_arguments_and_facts_are_read_by_their_models() -> None:
    trim = step("trim", {"start": 0, "length": 4096}, facts={"trim": {"start": 0, "length": 1, "seconds": 2}})
    assert trim.asked(Trim).length == 4096
    assert trim.found(TrimFacts).trim is not None and not trim.found(PurgeFacts).purged
    with pytest.raises(UsageError):
        trim.asked(Run)
