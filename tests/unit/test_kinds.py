"""Nobody outside `drives/` asks what kind of drive it has: what follows from it are `Drive.capabilities`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from ssdlab.host.identity import Identity
from ssdlab.model.capabilities import capabilities_of
from ssdlab.results.schema import DriveInfo

PACKAGE = Path(__file__).parents[2] / "python/ssdlab"
KINDS = {"block", "partition", "file", "sim"}
CLASSES = {"SimulatedDrive", "FileDrive", "BlockDrive", "RealDrive"}
THE_TABLE = PACKAGE / "model/capabilities.py"


def kind_tests(text: str) -> Iterator[int]:
    """Yield the lines in which a kind of drive is compared, matched or looked up, or a class of drives is."""
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.Compare(left=left, comparators=others):
                parts = [left, *others]
                if any(_is_kind(part) for part in parts) and any(_names_kind(part) for part in parts):
                    yield node.lineno
            case ast.Match(subject=subject, cases=cases) if _is_kind(subject):
                if any(_names_kind(case.pattern) for case in cases):
                    yield node.lineno
            case ast.Subscript(slice=ast.Attribute(attr="kind", value=of)) if "drive" in ast.unparse(of):
                yield node.lineno
            case ast.Call(func=ast.Name(id="isinstance"), args=[_, classes]):
                if CLASSES & {each.id for each in ast.walk(classes) if isinstance(each, ast.Name)}:
                    yield node.lineno


def _is_kind(node: ast.AST) -> bool:
    return ast.unparse(node).endswith((".kind", ".get('kind')", "['kind']")) or ast.unparse(node) == "kind"


def _names_kind(node: ast.AST) -> bool:
    return any(isinstance(each, ast.Constant) and each.value in KINDS for each in ast.walk(node))


@pytest.mark.long
def test_nobody_outside_drives_asks_for_the_kind() -> None:
    found = [
        f"{path.relative_to(PACKAGE)}, line {line}"
        for path in sorted(PACKAGE.rglob("*.py"))
        if path.relative_to(PACKAGE).parts[0] != "drives" and path != THE_TABLE
        for line in kind_tests(path.read_text())
    ]
    assert not found


@pytest.mark.parametrize(
    "text",
    [
        'drive.identity.kind == "sim"',
        'identity.kind not in ("block", "partition")',
        'manifest.drive.identity.get("kind") == "partition"',
        "isinstance(drive, SimulatedDrive)",
        "BADGES[manifest.drive.kind]",
        'match drive.kind:\n    case "file":\n        pass',
    ],
)
def test_a_question_for_the_kind_would_be_found(text: str) -> None:
    assert list(kind_tests(text)) == [1]


def test_a_partition_is_stored_as_a_block_device_and_known_for_one() -> None:
    identity = Identity("/dev/x1", "x1", "partition", "X", 1 << 30, 512)
    assert identity.capabilities.stored_as == "block" and not identity.capabilities.whole
    facts = {"text": "/dev/x1", "id": "X", "name": "x", "capacity_bytes": 1, "logical_block_bytes": 512}
    assert not DriveInfo(kind="block", identity={"kind": "partition"}, **facts).capabilities.whole
    assert DriveInfo(kind="block", **facts).capabilities == capabilities_of("block")


def test_no_double_of_a_test_stands_in_a_stored_schema() -> None:
    drive = DriveInfo.model_json_schema()["properties"]["kind"]
    assert set(drive["enum"]) == {"file", "block", "sim", "imported"}
