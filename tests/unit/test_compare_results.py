"""The script that holds two versions against each other finds what differs, and nothing else."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "compare_results.py"


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("compare_results", SCRIPT)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # its dataclasses look themselves up there
    spec.loader.exec_module(module)
    return module


BEFORE = {"iops": 1.5, "kind": "peak", "caveats": ["it was quick"], "rows": [1, 2], "run_id": "a", "none": {}}


def found(script: ModuleType, after: dict[str, Any], again: dict[str, Any] | None = None) -> Any:
    differences = script.Differences()
    script.compare("m", BEFORE, again or {**BEFORE, "run_id": "b"}, after, differences)
    return differences


def test_the_same_is_the_same(script: ModuleType) -> None:
    same = found(script, {**BEFORE, "run_id": "c"})
    assert not same.wrong and not same.sentences and not same.added
    assert same.compared == 6 and dict(same.unrepeated) == {".run_id": 1}


@pytest.mark.parametrize(
    "change",
    [
        {"iops": 1.5000000000000002},
        {"iops": "1.5"},
        {"kind": "mixed"},
        {"rows": [1]},
        {"rows": [2, 1]},
        {"none": []},
        {"caveats": []},
    ],
)
def test_figures_names_and_lengths_must_not_differ(script: ModuleType, change: dict[str, Any]) -> None:
    assert found(script, {**BEFORE, **change}).wrong


def test_a_key_that_is_gone_differs_and_a_new_one_is_listed(script: ModuleType) -> None:
    differences = found(
        script, {name: value for name, value in BEFORE.items() if name != "iops"} | {"seal": 1}
    )
    assert differences.wrong == ["m.iops is gone; it was 1.5"]
    assert dict(differences.added) == {"m: .seal": 1}


def test_other_words_of_a_sentence_are_listed(script: ModuleType) -> None:
    differences = found(script, {**BEFORE, "caveats": ["it was a quick one"]})
    assert not differences.wrong
    assert differences.sentences == {("it was quick", "it was a quick one"): "m.caveats[0]"}
