"""The plan of the package: which folders there are, and which may import which.

Every import counts: at the top of a file, inside a function and under TYPE_CHECKING. Two kinds are not read:
`import_module` with a name from a table (commands, methods, suites, how a Result is shown), and the native
module. `python tests/unit/test_house.py` prints the figures.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

import ssdlab
from ssdlab import plugin

ROOT = Path(__file__).parents[2] / "python"
PACKAGE = ROOT / "ssdlab"

FLOORS = (
    ("model",),
    ("host", "analysis"),
    ("drives", "formats"),
    ("results", "power"),
    ("lab", "library"),
    ("runs", "report"),
    ("fleet", "plugin"),
    ("methods",),
    ("cli",),
    ("__main__", "ssdlab"),
)
"""From the ground up: a folder imports only from floors below its own. `ssdlab` is the package's own
`__init__`."""
DATA = {"profiles"}


class Import(NamedTuple):
    """One module named by another."""

    importer: str
    line: int
    imported: str

    def __str__(self) -> str:
        return f"{self.importer}, line {self.line}, imports {self.imported}"


@cache
def modules() -> dict[str, Path]:
    """Every module of the package by its name."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        found[name.removesuffix(".__init__")] = path
    return found


@cache
def imports() -> tuple[Import, ...]:
    """Every import of a module of the package by another."""
    public = _imports_of("ssdlab.plugin", (PACKAGE / "plugin" / "__init__.pyi").read_text())
    return (*(each for name in modules() for each in _imports_of(name, modules()[name].read_text())), *public)


def _imports_of(name: str, text: str) -> Iterator[Import]:
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            named = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert not node.level or _is_of_a_method(name), f"{name}, line {node.lineno}: a relative import"
            module = _place_of(name, node)
            inside = [f"{module}.{alias.name}" for alias in node.names]
            named = [whole if whole in modules() else module for whole in inside]
        else:
            continue
        for each in dict.fromkeys(named):
            if each.split(".")[0] == "ssdlab" and each != "ssdlab._core":
                yield Import(name, node.lineno, each)


def _is_of_a_method(name: str) -> bool:
    """Methods alone import from their own folder, so that it works wherever it is."""
    return name.startswith("ssdlab.methods.")


def _place_of(name: str, node: ast.ImportFrom) -> str:
    if not node.level:
        return str(node.module)
    assert node.level == 1, f"{name}, line {node.lineno}: an import from another folder of methods"
    folder = name if modules()[name].name == "__init__.py" else name.rpartition(".")[0]
    return f"{folder}.{node.module}" if node.module else folder


def room(module: str) -> str:
    """The folder of the package that a module lies in."""
    return [*module.split("."), module][1]


FLOOR_OF = {name: number for number, names in enumerate(FLOORS, start=1) for name in names}


def against_the_order(found: tuple[Import, ...]) -> list[str]:
    """Imports between folders that do not go down."""
    return [
        str(each)
        for each in found
        if room(each.importer) != room(each.imported)
        and FLOOR_OF[room(each.importer)] <= FLOOR_OF[room(each.imported)]
    ]


def circles(found: tuple[Import, ...]) -> list[list[str]]:
    """Modules that import each other in a ring, each ring once."""
    below: dict[str, set[str]] = defaultdict(set)
    for each in found:
        below[each.importer].add(each.imported)
    reached = {name: _reached(name, below) for name in below}
    rings = {
        tuple(sorted(other for other in reached[name] if name in reached.get(other, ()))) for name in below
    }
    return [list(ring) for ring in sorted(rings) if ring]


def _reached(start: str, below: dict[str, set[str]]) -> set[str]:
    seen: set[str] = set()
    waiting = list(below[start])
    while waiting:
        name = waiting.pop()
        if name not in seen:
            seen.add(name)
            waiting.extend(below.get(name, ()))
    return seen


def test_no_module_lies_loose() -> None:
    assert {path.name for path in PACKAGE.glob("*.py")} == {"__init__.py", "__main__.py"}


def test_every_folder_has_a_floor() -> None:
    folders = {path.name for path in PACKAGE.iterdir() if path.is_dir() and path.name != "__pycache__"}
    assert folders <= set(FLOOR_OF) | DATA, "a new folder needs a floor: here, and in ARCHITECTURE.md"


def architecture(section: str) -> str:
    """A section of ARCHITECTURE.md."""
    return (
        (ROOT.parent / "ARCHITECTURE.md").read_text().partition(f"\n## {section}\n")[2].partition("\n## ")[0]
    )


def test_the_architecture_has_these_floors() -> None:
    rows = re.findall(r"^\| (\d+) \| (.+) \|$", architecture("Floors"), re.MULTILINE)
    written = {
        int(number): set(re.findall(r"`(\w+)`", names.replace("`__init__`", "`ssdlab`")))
        for number, names in rows
    }
    assert written == {number: set(names) for number, names in enumerate(FLOORS, start=1)}


def test_the_architecture_has_every_room_and_folder() -> None:
    tree = architecture("Tree")
    rooms = re.findall(r"^  (\w+)/ ", tree, re.MULTILINE)
    folders = {path.parent for path in modules().values()} - {PACKAGE}
    assert set(rooms) == {
        path.name for path in PACKAGE.iterdir() if list(path.glob("*.py")) or path.name in DATA
    }
    assert {path.name for path in folders} <= set(re.findall(r"\b(\w+)/", tree)) | {"nvme"}, "not in the tree"


@pytest.mark.long
def test_imports_between_folders_go_down() -> None:
    assert not against_the_order(imports())


@pytest.mark.parametrize("line", ["from ssdlab.drives.base import Drive", "import ssdlab.drives"])
@pytest.mark.parametrize("where", ["{}", "def f():\n    {}", "if TYPE_CHECKING:\n    {}"])
def test_an_import_of_drives_in_analysis_is_found(where: str, line: str) -> None:
    found = tuple(_imports_of("ssdlab.analysis.steady_state", where.format(line)))
    assert len(against_the_order(found)) == 1


def test_a_method_is_made_of_what_is_public() -> None:
    """What outsiders get, we use: the folder of a method works wherever it is."""
    ours = (each for each in imports() if _is_of_a_method(each.importer))
    strange = [
        str(each)
        for each in ours
        if each.imported != "ssdlab.plugin"
        and room(each.imported) not in ("analysis", "formats")
        and each.imported.split(".")[2:3] != each.importer.split(".")[2:3]
    ]
    assert not strange


def test_no_import_goes_in_a_circle() -> None:
    """An import inside a function, or for types only, is there to start sooner, never to hide a circle."""
    assert not circles(imports())


def figures() -> dict[str, int]:
    """The plan in numbers."""
    between = {
        (room(e.importer), room(e.imported)) for e in imports() if room(e.importer) != room(e.imported)
    }
    below: dict[str, set[str]] = defaultdict(set)
    for upper, lower in between:
        if FLOOR_OF.get(upper, 99) > FLOOR_OF.get(lower, 0):
            below[upper].add(lower)

    @cache
    def floor(name: str) -> int:
        return 1 + max((floor(lower) for lower in below[name]), default=0)

    lengths = [len(path.read_text().splitlines()) for path in modules().values()]
    statements = [
        node
        for path in modules().values()
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Import | ast.ImportFrom)
    ]
    folders = {path.parent for path in modules().values()}
    return {
        "files": len(lengths),
        "lines": sum(lengths),
        "lines of imports": sum(node.end_lineno - node.lineno + 1 for node in statements),
        "folders with modules": len(folders),
        "loose modules": len([path for path in PACKAGE.glob("*.py") if not path.name.startswith("__")]),
        "floors of folders": max(floor(room(name)) for name in modules()),
        "arrows between folders": len(between),
        "imports that do not go down": len(against_the_order(imports())),
        "circles of modules": len(circles(imports())),
        "longest file": max(lengths),
    }


if __name__ == "__main__":
    for name, value in figures().items():
        print(f"{value:7}  {name}")


def test_every_public_name_is_there() -> None:
    for package in (ssdlab, plugin):
        assert set(dir(package)) >= set(package.__all__)
        assert [name for name in package.__all__ if getattr(package, name, None) is None] == []
