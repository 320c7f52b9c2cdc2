#!/usr/bin/env python3
"""Write `web/src/spec.ts`, what the front end is asked to draw, from its definition in `report/charts.py`.

    .venv/bin/python scripts/chart_spec.py

A test holds the file against the definition. A field that is None in Python is left out of the JSON, so it is
optional in TypeScript; within a list it is null.
"""

from __future__ import annotations

import ast
import inspect
import types
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

from ssdlab.report import charts

TARGET = Path(__file__).parents[1] / "web" / "src" / "spec.ts"
NAMED = {
    "Quantity": charts.Quantity,
    "Scale": charts.Scale,
    "Shape": charts.Shape,
    "Chart": charts.Chart,
}
"""Types that have a name and are no class; of a class its name is told as it is."""
_PLAIN = {str: "string", float: "number", int: "number", bool: "boolean"}
WIDTH = 130
HEAD = (
    "What the Python side asks to be drawn. Made by `scripts/chart_spec.py` from `ssdlab/report/charts.py`."
)


def spec() -> str:
    """Return the whole file."""
    classes = [each for each in vars(charts).values() if is_dataclass(each) and isinstance(each, type)]
    return "\n".join(
        [
            f"/** {HEAD} */",
            "",
            *(f"export type {name} = {_type(found, alias=False)};" for name, found in NAMED.items()),
            *(line for each in classes for line in _interface(each)),
            "",
        ]
    )


def _interface(cls: type) -> Iterator[str]:
    """Yield the lines of one class, with what its docstrings say."""
    hints, told = get_type_hints(cls), _remarks(cls)
    yield ""
    yield from _comment(inspect.cleandoc(cls.__doc__ or ""), "")
    yield f"export interface {cls.__name__} {{"
    for field in fields(cls):
        kept, optional = _without_none(hints[field.name])
        if field.name in told:
            yield from _comment(told[field.name], "  ")
        yield f"  {field.name}{'?' if optional else ''}: {_type(kept)};"
    yield "}"


def _remarks(cls: type) -> dict[str, str]:
    """Return the docstring that stands below each field."""
    (body,) = ast.parse(inspect.cleandoc(inspect.getsource(cls))).body
    assert isinstance(body, ast.ClassDef)
    found = {}
    for before, after in zip(body.body, body.body[1:], strict=False):
        if isinstance(before, ast.AnnAssign) and isinstance(after, ast.Expr):
            assert isinstance(before.target, ast.Name)
            found[before.target.id] = " ".join(str(ast.literal_eval(after.value)).split())
    return found


def _comment(text: str, indent: str) -> Iterator[str]:
    """Yield a comment; of several lines where it is too long for one."""
    words = " ".join(text.split())
    if len(indent) + len(words) + 7 <= WIDTH:
        yield f"{indent}/** {words} */"
        return
    yield f"{indent}/**"
    line = f"{indent} *"
    for word in words.split():
        if len(line) + 1 + len(word) > WIDTH:
            yield line
            line = f"{indent} *"
        line += f" {word}"
    yield line
    yield f"{indent} */"


def _without_none(hint: Any) -> tuple[Any, bool]:  # noqa: ANN401 - a type, or what stands for one
    """Return a type without None, and whether it had it."""
    if isinstance(hint, types.UnionType) and type(None) in get_args(hint):
        first, *others = (each for each in get_args(hint) if each is not type(None))
        for other in others:
            first = first | other
        return first, True
    return hint, False


def _type(hint: Any, *, alias: bool = True) -> str:  # noqa: ANN401 - likewise
    """Return a type in TypeScript's words."""
    if alias and (name := next((name for name, found in NAMED.items() if found == hint), None)):
        return name
    if hint in _PLAIN:
        return _PLAIN[hint]
    if is_dataclass(hint):
        return str(hint.__name__)  # type: ignore[union-attr]  # a class
    origin, args = get_origin(hint), get_args(hint)
    if origin is Literal:
        return " | ".join(f'"{each}"' for each in args)
    if isinstance(hint, types.UnionType):
        return " | ".join("null" if each is type(None) else _type(each) for each in args)
    if origin is tuple and args[-1] is Ellipsis:
        inner = _type(args[0])
        return f"({inner})[]" if " | " in inner else f"{inner}[]"
    if origin is tuple:
        return f"[{', '.join(map(_type, args))}]"
    if origin in (dict, Mapping):
        return f"Record<{_type(args[0])}, {_type(args[1])}>"
    raise TypeError(f"no word of TypeScript for {hint}")


if __name__ == "__main__":
    TARGET.write_text(spec(), encoding="utf-8")
