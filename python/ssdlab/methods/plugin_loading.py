"""A method of another package, loaded: what is wrong with it is told, and which imports are not public."""

from __future__ import annotations

import ast
import inspect
import re
import sys
import warnings
from collections.abc import Collection, Iterator
from importlib.metadata import EntryPoint

from ssdlab.methods.method import Method, Params
from ssdlab.methods.results.kinds import KINDS
from ssdlab.results.kind import ResultKind
from ssdlab.results.schema import ResultBase

PUBLIC = ("ssdlab", "ssdlab.plugin")
"""Paths that other packages may import from; any other module may move at any time."""
_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


def load(entry: EntryPoint, taken: Collection[str]) -> Method | str:
    """Return the method of an entry point, or why there is none."""
    if entry.name in taken:
        return "the name is taken"
    if not _NAME.fullmatch(entry.name):
        return "a name is lower-case words and digits with hyphens between them"
    try:
        found = entry.load()
    except (Exception, SystemExit) as error:  # whatever another package does when it is imported
        return f"{type(error).__name__}: {error}".rstrip(": ")
    _warn_of_private_imports(entry.module)
    return _fault(entry.name, found) or found


def _warn_of_private_imports(name: str) -> None:
    """Warn of each import of a plug-in's module that is not from a public path, at its line."""
    module = sys.modules[name]
    try:
        tree = ast.parse(inspect.getsource(module))
    except (OSError, TypeError, SyntaxError):  # no source: built, or made as it ran
        return
    for line, imported in _imports(tree):
        if imported.startswith("ssdlab.") and imported not in PUBLIC:
            message = (
                f"{imported} is not public and may move with any version of ssdlab: import from {PUBLIC[1]}"
            )
            warnings.warn_explicit(message, DeprecationWarning, str(module.__file__), line, module=name)


def _imports(tree: ast.Module) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            yield node.lineno, str(node.module)


def _fault(name: str, found: object) -> str:
    """Return what is wrong with what an entry point names; nothing if all is right."""
    if not isinstance(found, Method):
        return f"it is a {type(found).__name__}, not a Method"
    if found.name != name:
        return f"the method calls itself {found.name}"
    if not (isinstance(found.params, type) and issubclass(found.params, Params)):
        return "its params are no class of Params"
    try:
        prose = found.info().prose
    except (Exception, SystemExit) as error:  # its defaults and its `writes` are its own
        return f"{type(error).__name__}: {error}"
    if not prose:
        return "the module of its params has no docstring, and the prose of a method is that"
    return "" if found.result is None else _fault_of_kind(found.result)


def _fault_of_kind(kind: object) -> str:
    """Return what is wrong with the kind of Result that a method names; nothing if all is right."""
    if not isinstance(kind, ResultKind):
        return f"its result is a {type(kind).__name__}, not a ResultKind"
    if KINDS.get(kind.name) is kind:
        return ""
    if kind.name in KINDS:
        return f"results of the kind {kind.name} are ssdlab's own"
    try:
        model = kind.loaded_model()
    except (ImportError, AttributeError) as error:
        return f"the model of its results: {error}"
    if not (isinstance(model, type) and issubclass(model, ResultBase)):
        return "the model of its results is no class of ResultBase"
    stored = model.model_fields["kind"].default
    return "" if stored == kind.name else f"its results call their kind {stored}, and it calls it {kind.name}"
