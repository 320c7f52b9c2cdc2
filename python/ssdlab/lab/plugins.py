"""Loads the methods of other packages, guards their functions, and checks everything they return.

Errors name file and line, never blame ssdlab, and do not stop unrelated work.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import inspect
import json
import re
import signal
import sys
import traceback
import warnings
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from importlib.metadata import EntryPoint
from importlib.util import find_spec
from itertools import islice
from math import isfinite
from pathlib import Path
from types import FrameType, new_class
from typing import TYPE_CHECKING, Any, ClassVar, ParamSpec, Self, TypeVar

from pydantic import ValidationError

from ssdlab.lab.folders import REGISTRY, is_figure
from ssdlab.lab.kinds import KINDS
from ssdlab.lab.method import INTERFACE, Method, Params, Remarks
from ssdlab.model.errors import TRACEBACK_VARIABLE, HostError, LabError
from ssdlab.model.fitting import Unfit, misfit
from ssdlab.results.kind import ResultKind, loaded
from ssdlab.results.qualifiers import CATALOGUE
from ssdlab.results.schema import Departure, ResultBase, Warned

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pydantic import JsonValue

    from ssdlab.lab.kinds import Kind
    from ssdlab.lab.method import RunData, RunFacts
    from ssdlab.results.metric import Metric
    from ssdlab.results.run_folder import Step

PUBLIC = ("ssdlab", "ssdlab.plugin")
"""Paths that other packages may import from; any other module may move at any time."""
NAME_CHARACTERS = 60
"""Maximum length of a method's name, which is part of run folders' names."""
_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_PLACE = re.compile(r"[\w.]+:\w+")
_KEY = re.compile(r"[A-Za-z0-9_.%+-]{1,100}")
"""Form of a headline figure's name, which rankings and queries use."""
_SILENT = frozenset({"back", "conditions", "flush", "fork", "idle", "limit", "note", "stretch", "variant"})
"""ssdlab's verbs whose steps measure nothing, so that no figure can refer to them."""
_GONE = ("shows", "unshown", "basis_of", "decided_by", "rated_as", "proofs", "caveats")
"""Attributes of results in interface 1 that interface 2 has removed."""
_COUNT_MAX = 10_000
"""Maximum findings or tables of one result; more suggest an endless loop."""
_PIECES = {
    "findings": ("ssdlab.results.claim:Claim", "ssdlab.results.kind:claim_fault"),
    "tables": ("ssdlab.results.cells:Table", "ssdlab.results.kind:table_fault"),
    "section": ("ssdlab.report.view:Section", "ssdlab.report.view:section_fault"),
}
"""Class and check of the objects that each function of a kind must return.

Both are given as text, so that only what is shown is imported.
"""
_PARTS = (*_PIECES, "terminal")
_OURS = Path(__file__).parents[1]
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_P = ParamSpec("_P")
_T = TypeVar("_T")


def load(entry: EntryPoint, package: str) -> Method | str:
    """Return the guarded method of an entry point, or why it is unusable.

    `package` is the package's name and version.
    """
    if not _NAME.fullmatch(entry.name) or len(entry.name) > NAME_CHARACTERS:
        return f"a name is lower-case words and digits with hyphens between them, {NAME_CHARACTERS} at most"
    with _heard_signals() as came, contextlib.redirect_stdout(sys.stderr):
        try:
            found = entry.load()
            _warn_of_private_imports(entry.module)
            if fault := _fault(entry.name, found):
                return fault
        except BaseException as error:  # an import can raise anything
            if came:
                raise  # a real signal came meanwhile
            return f"{_reason(error)}{_where(error, entry.module)}"
    try:
        return naming_failures(found, package, entry.module)
    except HostError as error:
        return error.what


def _where(error: BaseException, module: str) -> str:
    """Return the file and line of a failed import, to append to the reason; empty if unknown."""
    if isinstance(error, SyntaxError) and error.filename:
        return f" ({error.filename}:{error.lineno})"
    place = _place_of(error, _code_of(module), pure=False)
    return "" if place is None else f" ({place.filename}:{place.lineno})"


def _warn_of_private_imports(name: str) -> None:
    """Warn of each import of a private module of ssdlab in a plug-in's module, with its line."""
    module = sys.modules[name]
    try:
        tree = ast.parse(inspect.getsource(module))
    except (OSError, TypeError, SyntaxError):  # no source: compiled, or made at run time
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            imported = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            imported = [str(node.module)]
        else:
            continue
        for each in imported:
            if each.startswith("ssdlab.") and each not in PUBLIC:
                message = (
                    f"{each} is not public and may change in any version of ssdlab: import from {PUBLIC[1]}"
                )
                file = str(module.__file__)
                warnings.warn_explicit(message, DeprecationWarning, file, node.lineno, module=name)


def _fault(name: str, found: object) -> str:
    """Return what is wrong with the object that an entry point names; empty if nothing."""
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
    if not found.info().prose:
        return "the module of its params has no docstring, which is the method's prose"
    return "" if found.result is None else _fault_of_kind(found.result)


def _fault_of_kind(kind: object) -> str:
    """Return what is wrong with the kind of result that a method names; empty if nothing."""
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
    for part in _PARTS:
        place = getattr(kind, part)
        named = isinstance(place, str) and _PLACE.fullmatch(place)
        if not (named or callable(place) or (place is None and part == "terminal")):
            return f"its {part} is {place!r}: neither a function nor a text 'module:function'"
    stored = model.model_fields["kind"].default
    return "" if stored == kind.name else f"its results call their kind {stored}, and it calls it {kind.name}"


@contextmanager
def _heard_signals() -> Iterator[list[int]]:
    """Yield a list that collects the signals received in the block.

    If a signal ended the block, that is not the package's failure.
    """
    came: list[int] = []
    before: dict[int, Callable[[int, FrameType | None], object]] = {}

    def heard(number: int, frame: FrameType | None) -> None:
        came.append(number)
        before[number](number, frame)

    for number in _SIGNALS:
        handler = signal.getsignal(number)
        if callable(handler):
            with contextlib.suppress(ValueError):  # only the main thread may set handlers
                signal.signal(number, heard)
                before[number] = handler
    try:
        yield came
    finally:
        for mine, handler in before.items():
            if signal.getsignal(mine) is heard:
                signal.signal(mine, handler)


def _code_of(module: str) -> Path:
    """Return the file or folder of a package's code, even if its import failed."""
    top = module.partition(".")[0]
    with contextlib.suppress(ImportError, ValueError):
        spec = find_spec(top)
        if spec is not None and spec.origin:
            origin = Path(spec.origin)
            return origin.parent if origin.name == "__init__.py" else origin
    return Path(top)


def _place_of(error: BaseException, code: Path, *, pure: bool) -> traceback.FrameSummary | None:
    """Return the package's line that raised, or that called a library that raised; None if ssdlab raised.

    In `pure` functions the package is always at fault.
    """
    place = None
    for each in traceback.extract_tb(error.__traceback__):
        if Path(each.filename).is_relative_to(_OURS):
            place = place if pure else None
        elif Path(each.filename).is_relative_to(code):
            place = each
    return place


def _reason(error: BaseException) -> str:
    """Return an error in one line: its class, and the first fault of a validation error."""
    if isinstance(error, Unfit):
        return str(error)
    if isinstance(error, ValidationError):
        return f"{error.title}: {_first_fault(error)}"
    text = str(error).strip().partition("\n")[0]
    return f"{type(error).__name__}: {text}".rstrip(": ")


def _first_fault(error: ValidationError) -> str:
    first = error.errors(include_url=False)[0]
    return f"{'.'.join(map(str, first['loc'])) or 'it'}: {first['msg']}"


def _conclusion_fault(result: ResultBase, kind: Kind | None, steps: Iterable[Step]) -> str | None:
    """Return why a new result cannot be stored and read back unchanged; None if it can.

    `kind` is the kind that the method declares; None: one of ssdlab's.
    """
    known = kind or KINDS.get(result.kind)
    if known is None:
        return f"its kind is {result.kind!r}, and the method names none: Method(result=ResultKind(...))"
    model = known.loaded_model()
    if not isinstance(result, model):
        return f"it is a {type(result).__name__}, but results of the kind {known.name} are {model.__name__}"
    stored = result.model_dump(mode="json")
    if place := _endless(stored, ""):
        return f"{place} is not a finite number: use None for a missing value"
    try:
        again = model.model_validate(json.loads(json.dumps(stored, allow_nan=False))).model_dump(mode="json")
    except ValidationError as error:
        return f"read back, {_first_fault(error)}"
    if again != stored:
        lost = [name for name, value in stored.items() if again.get(name) != value]
        return f"read back, {', '.join(lost) or 'it'} is another"
    # A figure may refer to a step that measured, or that found something while the drive rested.
    shows = {
        step.ordinal: step.result.measurement is not None
        or step.result.rest is not None
        or step.verb not in _SILENT
        for step in steps
    }
    faults = (_figure_fault(each, shows) for each in result.scalars)
    return _result_fault(result) or next(filter(None, faults), None)


def _figure_fault(figure: Metric, shows: Mapping[int, bool]) -> str | None:
    """Return what is wrong with a figure's evidence, or that its name is a figure of ssdlab; None if nothing.

    A figure without evidence cannot be judged. A figure with a name of ssdlab's would be compared with the
    wrong ratings.
    """
    noun = f"the Metric {figure.name}"
    if figure.value is not None and not figure.steps:
        return f"{noun} has no steps: Metric.more(..., steps=(step.ordinal,))"
    of_qualifiers = (step for each in figure.qualifiers for step in each.steps)
    if foreign := {*figure.steps, *figure.chosen_among, *of_qualifiers}.difference(shows):
        return f"{noun} names step {min(foreign)}, which the run does not have"
    if figure.value is not None and not any(shows[step] for step in figure.steps):
        return f"{noun} names steps that measured nothing: name its measured steps"
    if figure.bound is not None and "search-ceiling" not in figure.codes:
        return f"{noun} is a bound without the qualifier search-ceiling"
    if strange := next((each.code for each in figure.qualifiers if each.code not in CATALOGUE), None):
        return f"{noun} has an unknown qualifier: {strange}"
    own = next((each.name for each in REGISTRY.values() if is_figure(figure.name, each.figures)), None)
    return own and f"{noun} has the name of a figure of {own}: choose another"


def _result_fault(result: ResultBase) -> str | None:
    fault = misfit(result.passed, bool | None, "passed")
    for figure in result.scalars:
        if not _KEY.fullmatch(figure.name):
            fault = fault or f"the name {figure.name!r} of a Metric may have only letters, digits and _"
    return fault


def _endless(value: object, place: str) -> str | None:
    """Return the place of the first number that is NaN or infinite; None if there is none."""
    if isinstance(value, float):
        return None if isfinite(value) else place or "it"
    if isinstance(value, dict):
        inner = ((f"{place}.{name}".lstrip("."), each) for name, each in value.items())
    elif isinstance(value, list):
        inner = ((f"{place}[{at}]", each) for at, each in enumerate(value))
    else:
        return None
    return next((found for name, each in inner if (found := _endless(each, name))), None)


def naming_failures(method: Method, package: str, module: str) -> Method:
    """Return a method whose failures name its package, also when its results are shown."""
    return _Guard(method, package, module).method()


class _GuardedParams(Params):
    """Base of a guarded class of parameters from another package."""

    guard: ClassVar[_Guard]
    model: ClassVar[type[Params]]

    @classmethod
    def build(cls, settings: Mapping[str, str] | None = None, *, quick: bool = False) -> Params:
        return cls._checked(super().build)(settings, quick=quick)

    @classmethod
    def model_validate(cls, obj: object, **how: object) -> Self:
        make: Callable[..., Self] = super().model_validate
        return cls._checked(make)(obj, **how)

    @classmethod
    def _checked(cls, call: Callable[_P, _T]) -> Callable[_P, _T]:
        def made(*args: _P.args, **kwargs: _P.kwargs) -> _T:
            found = call(*args, **kwargs)
            if isinstance(found, cls.model):
                return found
            raise cls.guard.wrong(
                cls.model, f"its checks turned {cls.model.__name__} into a {type(found).__name__}"
            )

        return cls.guard.named(made, quiet=True, of=cls.model)


class _Guard:
    def __init__(self, method: Method, package: str, module: str) -> None:
        self._method, self._package, self._code = method, package, _code_of(module)

    def method(self) -> Method:
        method, named, kind = self._method, self.named, self._method.result
        if method.interface > INTERFACE:
            why = f"it is for version {method.interface} of ssdlab.plugin, but this ssdlab has {INTERFACE}"
            raise self.wrong(method.conclude, why)
        return replace(
            method,
            package=self._package,
            params=self._params(),
            procedure=named(method.procedure),
            conclude=named(self._conclude, quiet=True, of=method.conclude),
            writes=named(method.writes, quiet=True),
            remarks=named(self._remarks, quiet=True, of=method.remarks),
            result=kind if kind is None or KINDS.get(kind.name) is kind else self._kind(kind),
        )

    def named(
        self, call: Callable[_P, _T], *, pure: bool = False, quiet: bool = False, of: object = None
    ) -> Callable[_P, _T]:
        """Wrap a function so that its failures name its package.

        Parameters
        ----------
        call
            A function of the package, or a function of ssdlab that calls it.
        pure
            Whether errors that ssdlab raises within it are the package's fault too.
        quiet
            Whether to redirect its output to stderr, as stdout belongs to the command.
        of
            The package's function, if `call` is ssdlab's.
        """

        @functools.wraps(call)
        def called(*args: _P.args, **kwargs: _P.kwargs) -> _T:
            silent = contextlib.redirect_stdout(sys.stderr) if quiet else contextlib.nullcontext()
            try:
                with _heard_signals() as came, silent:
                    return call(*args, **kwargs)
            except (LabError, MemoryError):
                raise
            except BaseException as error:
                if came or (isinstance(error, KeyboardInterrupt) and not pure):
                    raise
                failure = self._failure(error, of or call, pure=pure)
                if failure is None:
                    raise  # raised by ssdlab code that the package called: a host error or our bug
                raise failure from error

        return called

    def wrong(self, call: object, why: str) -> HostError:
        """Return the error for a function or class that returned a wrong result."""
        if (code := getattr(call, "__code__", None)) is not None:
            return self._failed(code.co_filename, code.co_firstlineno, why)
        with contextlib.suppress(OSError, TypeError):
            if isinstance(call, type):
                return self._failed(inspect.getfile(call), inspect.getsourcelines(call)[1], why)
        return self._failed("unknown", 0, why)

    def _failure(self, error: BaseException, call: object, *, pure: bool) -> HostError | None:
        giver = getattr(error.by, "__code__", None) if isinstance(error, Unfit) else None
        if giver is not None and not Path(giver.co_filename).is_relative_to(_OURS):
            return self._failed(giver.co_filename, giver.co_firstlineno, _reason(error))
        place = _place_of(error, self._code, pure=pure or isinstance(error, Unfit))
        if place is not None:
            return self._failed(place.filename, place.lineno or 0, _reason(error))
        return self.wrong(call, _reason(error)) if pure else None

    def _failed(self, file: str, line: int, why: str) -> HostError:
        method, package = self._method.name, self._package
        return HostError(
            f"method {method} of package {package} failed at {file}:{line}: {why}",
            f"report it to the authors of that package, with the output of {TRACEBACK_VARIABLE}=1",
            reason="plugin",
            method=method,
            package=package,
            file=file,
            line=line,
        )

    def _params(self) -> type[Params]:
        """Return its class of parameters, with the class's own checks guarded."""
        model = self._method.params
        # Keep the package's module: its docstring is the method's prose.
        names = {"__module__": model.__module__, "__doc__": model.__doc__}
        made = new_class(model.__name__, (_GuardedParams, model), exec_body=lambda body: body.update(names))
        assert issubclass(made, _GuardedParams)
        made.guard, made.model = self, model
        return made

    def _conclude(self, data: RunData, params: Any) -> ResultBase:  # noqa: ANN401 - the method's own Params
        conclude = self._method.conclude
        result = conclude(data, params)
        if not isinstance(result, ResultBase):
            raise self.wrong(conclude, f"conclude returned a {type(result).__name__}, not a Result")
        self._look_at(type(result))
        look = self.named(_conclusion_fault, pure=True, of=conclude)
        if fault := look(result, self._method.result, data.steps):
            raise self.wrong(conclude, f"conclude returned a result that cannot be stored: {fault}")
        self._look_at_findings(result, {step.ordinal for step in data.steps})
        return result

    def _look_at_findings(self, result: ResultBase, ordinals: Collection[int]) -> None:
        """Refuse findings that name steps the run does not have; other faults are reported when shown."""
        kind = self._method.result
        if kind is None or kind is KINDS.get(kind.name):
            return
        try:
            found = loaded(self._shower("findings", kind.findings))(result)
        except HostError:
            return
        foreign = {step for claim in found for step in claim.evidence.steps}.difference(ordinals)
        if foreign:
            why = f"a Claim names step {min(foreign)}, which the run does not have"
            raise self.wrong(loaded(kind.findings), f"findings: {why}")

    def _look_at(self, model: type[ResultBase]) -> None:
        """Refuse a class of results with attributes that interface 2 has moved to each figure."""
        if gone := next((name for name in _GONE if hasattr(model, name) or name in model.model_fields), None):
            why = f"{gone} was removed in interface 2: each Metric has its own steps and qualifiers"
            raise self.wrong(getattr(model, gone, model), f"{model.__name__}: {why}")

    def _remarks(self, facts: RunFacts, params: Any) -> Remarks:  # noqa: ANN401 - as of `_conclude`
        made: object = self._method.remarks(facts, params)
        if not isinstance(made, Remarks):
            why = f"remarks returned a {type(made).__name__}, not a Remarks"
            raise self.wrong(self._method.remarks, why)
        fault = misfit(made.departures, tuple[Departure, ...], "departures")
        if fault := fault or misfit(made.warnings, tuple[Warned, ...], "warnings"):
            raise self.wrong(self._method.remarks, f"remarks: {fault}")
        return made

    def _kind(self, kind: Kind) -> Kind:
        """Return the kind of result, with the package's functions that read and show it guarded."""
        model = kind.loaded_model()
        self._look_at(model)

        def read(stored: Mapping[str, JsonValue]) -> ResultBase:
            result: ResultBase = model.model_validate(stored)
            if fault := _result_fault(result):
                raise ValueError(fault)
            return result

        shown: dict[str, Any] = {
            part: self._shower(part, place) for part in _PARTS if (place := getattr(kind, part))
        }
        return replace(kind, read=self.named(read, pure=True, quiet=True, of=model), **shown)

    def _shower(self, part: str, place: Callable[..., Any] | str) -> Callable[..., Any] | str:
        """Return a guarded function that shows a result; what it returns is checked before use."""
        if isinstance(place, str) and place.startswith("ssdlab."):
            return place
        prints, many = part not in _PIECES, part != "section"

        def show(*args: Any) -> Any:  # noqa: ANN401 - whatever is shown
            try:
                call = loaded(place)
            except (ImportError, AttributeError) as error:
                raise self.wrong(self._method.conclude, f"{part} is {place}: {error}") from error
            made = call(*args)
            if prints:
                return None
            if many and not isinstance(made, Iterator | Sequence):
                raise self.wrong(call, f"{part} returned a {type(made).__name__}, not a sequence")
            found = tuple(islice(made, _COUNT_MAX + 1)) if many else (made,)
            if len(found) > _COUNT_MAX:
                raise self.wrong(call, f"{part} returned more than {_COUNT_MAX} items, perhaps endlessly")
            model: type = loaded(_PIECES[part][0])
            look: Callable[[object], str | None] = loaded(_PIECES[part][1])
            for each in found:
                if not isinstance(each, model):
                    raise self.wrong(call, f"{part} returned a {type(each).__name__}, not a {model.__name__}")
                if (fault := look(each)) is not None:
                    raise self.wrong(call, f"{part}: {fault}")
            return found if many else made

        return self.named(show, pure=True, quiet=not prints, of=None if isinstance(place, str) else place)
