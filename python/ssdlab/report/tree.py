"""Nested facts (environment, identity, parameters) as flat rows of name and value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ssdlab.model.units import ends_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


_MANY = 12
"""A list of more is told by how many it has: the seconds of a step are in its table, not in a line."""
_FIRST = 4


def flat(tree: Mapping[str, Any], above: str = "") -> list[tuple[str, Any]]:
    """Name the leaves of nested JSON by path, `cpu.user_s`; a list is one leaf unless it holds objects."""
    leaves: list[tuple[str, Any]] = []
    for name, value in tree.items():
        path = f"{above}.{name}" if above else str(name)
        if isinstance(value, dict) and value:
            leaves += flat(value, path)
        elif isinstance(value, list) and any(isinstance(item, dict) for item in value):
            leaves += flat({str(at): item for at, item in enumerate(value)}, path)
        else:
            leaves.append((path, value))
    return leaves


def fact(tree: Mapping[str, Any], *names: str) -> str | None:
    """Return the first leaf with one of these names, wherever it lies, as text; None if there is none."""
    leaves = flat(tree)
    for name in names:
        for path, value in leaves:
            if path.rpartition(".")[2] == name and value not in (None, "", [], {}):
                return text(value)
    return None


def text(value: Any) -> str:  # noqa: ANN401 - whatever JSON holds
    """Return a leaf as a reader sees it."""
    match value:
        case None | "" | []:
            return "—"
        case dict():
            return ", ".join(f"{name} {text(item)}" for name, item in value.items()) or "—"
        case True:
            return "yes"
        case False:
            return "no"
        case list() if len(value) > _MANY:
            return _summary(value)
        case list():
            return ("; " if any(isinstance(item, dict) for item in value) else ", ").join(
                text(item) for item in value
            )
        case float():
            return f"{value:.6g}"
        case _:
            return str(value)


def _summary(values: Sequence[object]) -> str:
    numbers = [each for each in values if isinstance(each, int | float) and not isinstance(each, bool)]
    if len(numbers) == len(values):
        return f"{len(values)} values, {ends_text(text(min(numbers)), text(max(numbers)))}"
    return f"{', '.join(map(text, values[:_FIRST]))} and {len(values) - _FIRST} more"
