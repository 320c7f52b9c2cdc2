"""What others rely on, a fact a line, in `tests/contract.txt`: a change of it is read as a diff.

`.venv/bin/python tests/unit/test_contract.py` writes it anew.
"""

from __future__ import annotations

import ast
import difflib
import importlib
import inspect
import json
import pkgutil
import re
import tarfile
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from types import ModuleType
from typing import Any

from pydantic.json_schema import models_json_schema

import ssdlab
from ssdlab.cli.commands import COMMANDS, build_app
from ssdlab.lab.folders import REGISTRY
from ssdlab.lab.found import find_method
from ssdlab.lab.kinds import KINDS
from ssdlab.model import errors
from ssdlab.model.frozen import Stored
from ssdlab.model.warning_texts import CATALOGUE
from ssdlab.report import sheets
from ssdlab.results import catalogue_row, tables

TESTS = Path(__file__).parents[1]
CONTRACT = TESTS / "contract.txt"
PLANTED = TESTS / "planted" / "library.tar.xz"
SOURCES = Path(ssdlab.__file__).parent
SCHEMA = re.compile(r'"(ssdlab\.[a-z-]+/\d+)"')


def facts() -> Iterator[str]:
    """Every fact of the contract."""
    yield from commands()
    yield from (f"exit {error.kind} {error.exit_status}" for error in subclasses(errors.LabError))
    yield from methods()
    yield from figures()
    yield from keys()
    for table in ("SERIES", "HIST", "IO", "FLUSH", "POWER", "TELEMETRY"):
        columns = getattr(tables, f"{table}_COLUMNS")
        yield from (f"column {table.lower()} {name} {kind}" for name, kind in columns.items())
    yield from (f"column catalogue {name} {kind}" for name, kind in catalogue_row.COLUMNS.items())
    for sheet, first in sheets.FIRST.items():
        yield from (f"column export {sheet} {name} {kind}" for name, kind in first.items())
    yield from (f"warning {code}" for code in CATALOGUE)
    yield from sources()


def commands() -> Iterator[str]:
    """Commands with their options: names, type, default."""
    whole = build_app()
    for command in COMMANDS:
        yield f"command {command}"
        app = whole
        for word in command.split():
            app = app[word]
        for argument in app.assemble_argument_collection(default_parameter=whole.default_parameter):
            default = argument.field_info.default
            told = "required" if default is inspect.Parameter.empty else f"default {default!r}"
            yield f"option {command} {' '.join(argument.names)} {plain(argument.hint)} {told}"


def plain(hint: object) -> str:
    """A type without the modules that its parts come from."""
    text = hint.__name__ if isinstance(hint, type) and not hasattr(hint, "__args__") else str(hint)
    return re.sub(r"\b(?:\w+\.)+(?=\w)", "", text)


def subclasses(of: type[Any]) -> Iterator[type[Any]]:
    """A class and all that are derived from it, once every module is imported."""
    yield of
    for each in of.__subclasses__():
        yield from subclasses(each)


def methods() -> Iterator[str]:
    """Methods with their parameters, and the kinds of their results."""
    for name in REGISTRY:
        method = find_method(name)
        yield f"method {name} version {method.version}"
        for each in method.info(method.params()).parameters:
            default, quick = json.dumps(each.default), json.dumps(each.quick)
            yield f"parameter {name} {each.name} unit {each.unit or '-'} default {default} quick {quick}"
    yield from (f"kind {name} {kind.loaded_model().__name__}" for name, kind in KINDS.items())


def figures() -> Iterator[str]:
    """Headline figures by method, with the units that they have in the planted library."""
    units: dict[str, set[str]] = {}
    with tarfile.open(PLANTED) as archive:
        for member in archive:
            if member.name.endswith("/manifest.json") and (file := archive.extractfile(member)):
                for each in (json.loads(file.read()).get("result") or {}).get("scalars", ()):
                    units.setdefault(each["name"], set()).add(each["unit"])
    for method, patterns in ((name, each.figures) for name, each in REGISTRY.items()):
        for pattern in patterns:
            found = sorted({unit for name in units if fnmatchcase(name, pattern) for unit in units[name]})
            yield f"figure {method} {pattern} {', '.join(found) or 'not in the planted library'}"


def keys() -> Iterator[str]:
    """Keys of everything that is stored, by its model."""
    for module in pkgutil.walk_packages([str(SOURCES)], "ssdlab."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    # `ssdlab schema` makes models of its own, where a test of it ran in this process before.
    ours = [
        each
        for each in subclasses(Stored)
        if each.__module__.startswith("ssdlab.") and each.__module__ != "ssdlab.cli.schema"
    ]
    wanted = sorted(set(ours) - {Stored}, key=lambda each: (each.__name__, each.__module__))
    _, schema = models_json_schema([(each, "serialization") for each in wanted])
    for name, model in schema["$defs"].items():
        for key, each in model.get("properties", {}).items():
            default = f" default {json.dumps(each['default'])}" if "default" in each else ""
            yield f"key {name.rpartition('__')[2]} {key} {shape(each)}{default}"


def shape(schema: dict[str, Any]) -> str:
    """A type of JSON in a few words."""
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2].rpartition("__")[2]
    for several in ("anyOf", "oneOf"):
        if several in schema:
            return " | ".join(shape(each) for each in schema[several])
    if "const" in schema or "enum" in schema:
        return " | ".join(json.dumps(each) for each in schema.get("enum", [schema.get("const")]))
    if schema.get("type") == "array":
        return f"[{shape(schema.get('items', {}))}]"
    if isinstance(inner := schema.get("additionalProperties"), dict):
        return f"{{{shape(inner)}}}"
    return str(schema.get("type", "any"))


def sources() -> Iterator[str]:
    """Codes of departures and numbers of schemas, as they stand in the sources."""
    for path in sorted(SOURCES.rglob("*.py")):
        text = path.read_text()
        yield from (f"schema {found}" for found in SCHEMA.findall(text))
        if "Departure(" not in text:
            continue
        for call in (each for each in ast.walk(ast.parse(text)) if isinstance(each, ast.Call)):
            if getattr(call.func, "id", "") == "Departure":
                codes = [each.value for each in call.keywords if each.arg == "code"]
                yield from (f"departure {code_of(each, module_of(path))}" for each in codes)


def module_of(path: Path) -> ModuleType:
    """The module of a source."""
    return importlib.import_module(".".join(path.relative_to(SOURCES.parent).with_suffix("").parts))


def code_of(value: ast.expr, module: ModuleType) -> str:
    """A code as it stands in the source; a star for what is put into it, but for a constant of the module."""
    if isinstance(value, ast.JoinedStr):
        return "".join(code_of(each, module) for each in value.values)
    if isinstance(value, ast.FormattedValue):
        return code_of(value.value, module)
    if isinstance(value, ast.Name):
        return str(getattr(module, value.id, "*"))
    return str(value.value) if isinstance(value, ast.Constant) else "*"


def contract() -> str:
    """The whole list."""
    return "".join(f"{fact}\n" for fact in sorted(set(facts())))


def test_what_others_rely_on_is_as_it_was() -> None:
    changed = difflib.unified_diff(
        CONTRACT.read_text().splitlines(), contract().splitlines(), n=0, lineterm=""
    )
    told = "\n".join(list(changed)[2:])
    assert not told, f"{told}\nif that is meant: .venv/bin/python tests/unit/test_contract.py"


if __name__ == "__main__":
    CONTRACT.write_text(contract())
