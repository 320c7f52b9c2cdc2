"""Nested facts (environment, identity, parameters) as flat rows of name and value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


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
        case None | "" | [] | {}:
            return "—"
        case True:
            return "yes"
        case False:
            return "no"
        case list():
            return ", ".join(text(item) for item in value)
        case float():
            return f"{value:.6g}"
        case _:
            return str(value)
