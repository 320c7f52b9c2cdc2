"""Loads a method of another package, and reports faults and imports that are not public."""

from __future__ import annotations

import ast
import contextlib
import inspect
import re
import sys
import warnings
from collections.abc import Iterator
from importlib.metadata import EntryPoint
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from ssdlab.lab.kinds import KINDS
from ssdlab.lab.method import Method, Params
from ssdlab.lab.plugin_guard import heard_signals, place_of, reason_of
from ssdlab.model.errors import LabError
from ssdlab.results.kind import ResultKind
from ssdlab.results.schema import ResultBase

if TYPE_CHECKING:
    pass

PUBLIC = ("ssdlab", "ssdlab.plugin")
"""Paths that other packages may import from; any other module may move at any time."""


NAME_CHARACTERS = 60
"""Maximum length of a method's name, which is part of run folders' names."""


_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


_PLACE = re.compile(r"[\w.]+:\w+")


def load(entry: EntryPoint) -> Method | str:
    """Return the method of an entry point, or why there is none."""
    if not _NAME.fullmatch(entry.name) or len(entry.name) > NAME_CHARACTERS:
        return f"a name is lower-case words and digits with hyphens between them, {NAME_CHARACTERS} at most"
    with heard_signals() as came, contextlib.redirect_stdout(sys.stderr):
        try:
            found = entry.load()
            _warn_of_private_imports(entry.module)
            return _fault(entry.name, found) or found
        except BaseException as error:  # whatever another package does when it is imported
            if came:
                raise  # a real signal came meanwhile
            return f"{reason_of(error)}{_where(error, entry.module)}"


def _where(error: BaseException, module: str) -> str:
    """Return file and line of a failed import, as they follow the reason; nothing where none is known."""
    if isinstance(error, SyntaxError) and error.filename:
        return f" ({error.filename}:{error.lineno})"
    place = place_of(error, _source(module), pure=False)
    return "" if place is None else f" ({place.filename}:{place.lineno})"


def _source(module: str) -> Path:
    """Return where a module's package lies, though its import may have failed."""
    top = module.partition(".")[0]
    with contextlib.suppress(ImportError, ValueError):
        spec = find_spec(top)
        if spec is not None and spec.origin:
            origin = Path(spec.origin)
            return origin.parent if origin.name == "__init__.py" else origin
    return Path(top)


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
                f"{imported} is not public and may change in any version of ssdlab: import from {PUBLIC[1]}"
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
        return "its params are not a class of Params"
    functions = ("procedure", "conclude", "writes", "remarks")
    if uncalled := next((name for name in functions if not callable(getattr(found, name))), None):
        return f"its {uncalled} is a {type(getattr(found, uncalled)).__name__}, not a function"
    for name, field in found.params.model_fields.items():
        if not isinstance(field.json_schema_extra, dict):
            return f"its parameter {name} is not made by param(...)"
    for quick in (False, True):
        chosen = {each.name: each.quick if quick else each.default for each in found.params.table()}
        try:
            found.params.model_validate(chosen)
        except LabError as error:
            return f"its {'quick presets' if quick else 'defaults'}: {error.what}; {error.advice}"
    prose = found.info().prose
    if not prose:
        return "the module of its params has no docstring, which is the method's prose"
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
        return "the model of its results is not a class of ResultBase"
    for part in ("findings", "tables", "section", "terminal"):
        place = getattr(kind, part)
        named = isinstance(place, str) and _PLACE.fullmatch(place)
        if not (named or callable(place) or (place is None and part == "terminal")):
            return f"its {part} is {place!r}: neither a function nor a text 'module:function'"
    stored = model.model_fields["kind"].default
    return "" if stored == kind.name else f"its results call their kind {stored}, and it calls it {kind.name}"
