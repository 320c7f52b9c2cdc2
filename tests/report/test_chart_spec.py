"""The front end's types of charts are made of the Python side's, and are those of today."""

from __future__ import annotations

import importlib.util
import re
from dataclasses import fields, is_dataclass
from pathlib import Path

from ssdlab.report import charts

ROOT = Path(__file__).parents[2]
SPEC = ROOT / "web" / "src" / "spec.ts"


def test_the_file_of_the_front_end_is_made_of_the_definition() -> None:
    script = importlib.util.spec_from_file_location("chart_spec", ROOT / "scripts" / "chart_spec.py")
    assert script is not None and script.loader is not None
    module = importlib.util.module_from_spec(script)
    script.loader.exec_module(module)
    assert SPEC.read_text(encoding="utf-8") == module.spec(), "run scripts/chart_spec.py"


def test_every_field_is_in_it() -> None:
    """Read another way than it is written: names, and which may be left out."""
    interfaces = re.findall(
        r"^export interface (\w+) \{\n(.*?)^\}", SPEC.read_text(), re.MULTILINE | re.DOTALL
    )
    told = {
        name: {field: bool(mark) for field, mark in re.findall(r"^  (\w+)(\??): ", body, re.MULTILINE)}
        for name, body in interfaces
    }
    defined = {
        name: {field.name: field.type.endswith("| None") for field in fields(each)}
        for name, each in vars(charts).items()
        if is_dataclass(each)
    }
    assert told == defined and len(told) > 15
