"""Queries of the library: catalogue, rankings, comparisons, regression gate, trash and archives.

The module is callable: ``ssdlab.library()`` opens the runs as tables, see `ssdlab.library.frames.Library`.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any


class _Library(ModuleType):
    """A module that can be called to open a library."""

    def __call__(self, *arguments: Any, **options: Any) -> Any:  # noqa: ANN401 - those of `Library`
        from importlib import import_module

        return import_module("ssdlab.library.frames").Library(*arguments, **options)


sys.modules[__name__].__class__ = _Library
