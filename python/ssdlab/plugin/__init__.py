"""Public interface for method packages: everything that a method, its result and its page need.

    >>> from ssdlab.plugin import Method, Params, PointsResult, param

The names in this module keep their meaning from one version to the next. Any other module of ssdlab may
change at any time. `docs/writing-a-method.md` shows a whole method.
"""

from __future__ import annotations

import ast
from importlib import import_module
from pathlib import Path


def _places() -> dict[str, tuple[str, str]]:
    """Return module and original name of each public name, as listed in the stub beside this file."""
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
    """Import a name on first use, so that reading a result does not import the page."""
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
    return sorted(_PLACES)
