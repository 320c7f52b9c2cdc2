"""What users are told, a sentence a line, in `tests/sentences.txt`: a change of words is read there, as text.

`PYTHONPATH=tests .venv/bin/python tests/unit/test_sentences.py` writes it anew. Other tests ask for facts and
codes. What is put together from parts elsewhere is not found.
"""

from __future__ import annotations

import ast
import difflib
import importlib
import pkgutil
from collections.abc import Iterator
from pathlib import Path

import ssdlab
from ssdlab.model import errors
from unit.test_contract import subclasses

SOURCES = Path(ssdlab.__file__).parent
FILE = Path(__file__).parents[1] / "sentences.txt"
TELLING = {"Entry", "Claim", "Departure", "Metric", "more", "less", "wrong"}
"""What takes sentences and labels, beside errors."""


def sentences() -> Iterator[str]:
    """Every sentence, under the module that says it; braces stand for what is put in."""
    for module in pkgutil.walk_packages([str(SOURCES)], "ssdlab."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    telling = TELLING | {each.__name__ for each in subclasses(errors.LabError)}
    for path in sorted(SOURCES.rglob("*.py")):
        found = dict.fromkeys(_of_module(ast.parse(path.read_text()), telling))
        if found:
            yield f"# {path.relative_to(SOURCES).with_suffix('')}"
            yield from found


def _of_module(tree: ast.Module, telling: set[str]) -> Iterator[str]:
    for call in ast.walk(tree):
        if isinstance(call, ast.Call) and ast.unparse(call.func).rpartition(".")[2] in telling:
            for each in (*call.args, *(word.value for word in call.keywords)):
                yield from (text for text in texts(each) if " " in text.strip("{} "))


def texts(node: ast.expr) -> Iterator[str]:
    """What an expression can read, where it is a text: all alternatives, with `{name}` for a value."""
    match node:
        case ast.Constant(value=str(text)):
            yield " ".join(text.split())
        case ast.JoinedStr(values=parts):
            yield " ".join("".join(_part(each) for each in parts).split())
        case ast.IfExp(body=one, orelse=other):
            yield from texts(one)
            yield from texts(other)
        case ast.BinOp(op=ast.Add(), left=left, right=right):
            yield from (f"{one}{other}" for one in texts(left) for other in texts(right))


def _part(node: ast.expr) -> str:
    if isinstance(node, ast.Constant):
        return str(node.value)
    if not isinstance(node, ast.FormattedValue):
        return "{}"
    names = [each.id for each in ast.walk(node.value) if isinstance(each, ast.Name)]
    names += [each.attr for each in ast.walk(node.value) if isinstance(each, ast.Attribute)]
    return f"{{{names[-1] if names else ''}}}"


def test_the_words_are_those_that_were_reviewed() -> None:
    changed = difflib.unified_diff(FILE.read_text().splitlines(), list(sentences()), n=0, lineterm="")
    told = "\n".join(list(changed)[2:])
    assert not told, f"{told}\nif it reads well, write it anew, as {Path(__file__).name} says at its top"


if __name__ == "__main__":
    FILE.write_text("".join(f"{line}\n" for line in sentences()))
