"""The script that plants faults: what ends the tests is told apart from a test that fails."""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path
from types import ModuleType

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "mutants.py"
FAILED = "FAILED tests/a.py::test_b - assert 0"


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("mutants", SCRIPT)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["mutants"] = module
    spec.loader.exec_module(module)
    return module


def tree_whose_tests_end(folder: Path, status: int, said: str) -> Path:
    """A tree whose `scripts/test` says something and ends with a status."""
    (folder / "scripts").mkdir()
    program = folder / "scripts" / "test"
    program.write_text(f"#!/bin/sh\necho '{said}'\nexit {status}\n")
    program.chmod(0o755)
    return folder


@pytest.mark.parametrize(
    ("status", "said", "killer"),
    [
        (0, "3 passed", None),
        (5, "no tests ran", None),
        (1, FAILED, "tests/a.py::test_b"),
        (2, FAILED, "tests/a.py::test_b"),  # of pytest's workers
        (124, "", "no end"),
    ],
)
def test_a_fault_is_killed_by_the_test_that_fails(
    script: ModuleType, tmp_path: Path, status: int, said: str, killer: str | None
) -> None:
    assert script._killed_by(tree_whose_tests_end(tmp_path, status, said), []) == killer


@pytest.mark.parametrize(
    ("status", "said"), [(2, "Interrupted"), (3, FAILED), (4, "usage: pytest"), (127, "")]
)
def test_a_crash_of_pytest_kills_nothing(script: ModuleType, tmp_path: Path, status: int, said: str) -> None:
    with pytest.raises(SystemExit, match=f"ended with {status}:\n{said}"):
        script._killed_by(tree_whose_tests_end(tmp_path, status, said), [])


@pytest.mark.parametrize(
    ("status", "said", "complaint", "killer"),
    [
        (0, "test result: ok", "", None),
        (101, "test a::b ... FAILED", "", "a::b"),
        (101, "", "error: could not compile `ssdlab-sim`", "could not compile"),
        (101, "", "process did not exit successfully: x (signal: 6, SIGABRT)", "(signal: 6, SIGABRT)"),
        (124, "", "", "no end"),
        (101, "", "error: failed to get `x` as a dependency", SystemExit),
    ],
)
def test_a_crash_of_cargo_kills_nothing_either(
    script: ModuleType,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    status: int,
    said: str,
    complaint: str,
    killer: str | type[SystemExit] | None,
) -> None:
    program = tmp_path / "cargo"
    program.write_text(f"#!/bin/sh\necho '{said}'\necho '{complaint}' >&2\nexit {status}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    if killer is SystemExit:
        with pytest.raises(SystemExit, match=complaint):
            script._of_rust(tmp_path)
    else:
        assert script._of_rust(tmp_path) == killer


def test_tests_are_those_of_the_module_or_else_of_its_folder(script: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "tests").mkdir()
    for name, line in (
        ("a", "from ssdlab.x.y import z"),
        ("b", "from ssdlab.x import w"),
        ("c", "import ssdlab.v"),
    ):
        (tmp_path / "tests" / f"test_{name}.py").write_text(f"{line}\n")
    source = tmp_path / "python" / "ssdlab" / "x"
    near = {name: script._importing(tmp_path, source / f"{name}.py") for name in ("y", "w", "u")}
    assert near == {
        "y": ["tests/test_a.py"],
        "w": ["tests/test_b.py"],
        "u": ["tests/test_a.py", "tests/test_b.py"],
    }
