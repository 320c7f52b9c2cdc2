"""The public path for methods of other packages: all that such a method, its result and its page need.

    >>> from ssdlab.plugin import Method, Params, PointsResult, param

What is here keeps its name and its meaning from one version to the next; whatever else ssdlab consists of may
move at any time. `docs/writing-a-method.md` shows a whole method.
"""

from __future__ import annotations

import ast
from importlib import import_module
from pathlib import Path


def _places() -> dict[str, tuple[str, str]]:
    """Return module and name of all that is public, as the stub beside this file lists it."""
    listed = ast.parse(Path(__file__).with_suffix(".pyi").read_text()).body
    return {
        alias.asname or alias.name: (node.module or "", alias.name)
        for node in listed
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }


_PLACES = _places()
__all__ = tuple(_PLACES)


def __getattr__(name: str) -> object:
    """Load what is asked for, and nothing else: a result is read without the page."""
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, own = _PLACES[name]
    try:
        found = getattr(import_module(module), own)
    except AttributeError:
        found = import_module(f"{module}.{own}")
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    """Return what is public."""
    return sorted(_PLACES)
