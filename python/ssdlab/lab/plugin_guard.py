"""Guards the functions of other packages' methods, and checks everything they return.

Errors name file and line, never blame ssdlab, and do not stop unrelated work.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import json
import re
import signal
import sys
import traceback
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import islice
from math import isfinite
from pathlib import Path
from types import FrameType, new_class
from typing import TYPE_CHECKING, Any, ClassVar, ParamSpec, Self, TypeVar

from pydantic import ValidationError

from ssdlab.lab.folders import REGISTRY, is_figure
from ssdlab.lab.kinds import KINDS
from ssdlab.lab.method import INTERFACE, Method, Params
from ssdlab.model.errors import TRACEBACK_VARIABLE, HostError, LabError
from ssdlab.model.fitting import Unfit, misfit
from ssdlab.results.kind import loaded
from ssdlab.results.qualifiers import CATALOGUE
from ssdlab.results.schema import Departure, ResultBase, Warned

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pydantic import JsonValue

    from ssdlab.lab.kinds import Kind
    from ssdlab.lab.method import Remarks, RunData, RunFacts
    from ssdlab.results.metric import Metric
    from ssdlab.results.run_folder import Step

_OURS = Path(__file__).parents[1]
_P = ParamSpec("_P")
_T = TypeVar("_T")
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class PluginGuard:
    """Guards the functions of one method.

    Parameters
    ----------
    method
        Its name.
    package
        Name and version of its package.
    module
        Its module in the package.
    """

    def __init__(self, method: str, package: str, module: str) -> None:
        self._code, self._method, self.package = code_of(module), method, package

    def named(
        self, call: Callable[_P, _T], *, pure: bool = False, quiet: bool = False, of: object = None
    ) -> Callable[_P, _T]:
        """Return a function whose failures name the package.

        Parameters
        ----------
        call
            A function of the package, or one of ours that calls it.
        pure
            Errors that ssdlab raises within it are the package's fault too.
        quiet
            Redirect its output to stderr, as stdout is the command's.
        of
            The package's function, if `call` is ours.
        """

        @functools.wraps(call)
        def called(*args: _P.args, **kwargs: _P.kwargs) -> _T:
            try:
                with (
                    heard_signals() as came,
                    _silent() if quiet else contextlib.nullcontext(),
                ):
                    return call(*args, **kwargs)
            except (LabError, MemoryError):
                raise
            except BaseException as error:
                if came or (isinstance(error, KeyboardInterrupt) and not pure):
                    raise
                failure = self._failure(error, of or call, pure=pure)
                if failure is None:
                    raise  # ssdlab did, which the package called: the host, or a fault of ours
                raise failure from error

        return called

    def wrong(self, call: object, why: str) -> HostError:
        """Return the failure of a function with a wrong result."""
        code = getattr(call, "__code__", None)
        if code is None:
            return self._failed(*_defined(call), why)
        return self._failed(code.co_filename, code.co_firstlineno, why)

    def _failure(self, error: BaseException, call: object, *, pure: bool) -> HostError | None:
        unfit = isinstance(error, Unfit)
        place = place_of(error, self._code, pure=pure or unfit)
        if isinstance(error, Unfit):
            giver = getattr(error.by, "__code__", None)
            if giver is not None and not Path(giver.co_filename).is_relative_to(_OURS):
                return self.wrong(error.by, str(error))
            if place is not None:
                return self._failed(place.filename, place.lineno or 0, str(error))
        if place is not None:
            return self._failed(place.filename, place.lineno or 0, reason_of(error))
        return self.wrong(call, reason_of(error)) if pure else None

    def _failed(self, file: str, line: int, why: str) -> HostError:
        return HostError(
            f"method {self._method} of package {self.package} failed at {file}:{line}: {why}",
            f"report it to the authors of that package, with the output of {TRACEBACK_VARIABLE}=1",
            reason="plugin",
            method=self._method,
            package=self.package,
            file=file,
            line=line,
        )


def _defined(model: object) -> tuple[str, int]:
    """Return file and line of a class."""
    with contextlib.suppress(OSError, TypeError):
        if isinstance(model, type):
            return inspect.getfile(model), inspect.getsourcelines(model)[1]
    return "unknown", 0


def code_of(module: str) -> Path:
    """Return the file or folder of a package's code; the module must be loaded."""
    top = Path(getattr(sys.modules.get(module.partition(".")[0]), "__file__", None) or module)
    return top.parent if top.name == "__init__.py" else top


def reason_of(error: BaseException) -> str:
    """Return an error in one line: its class, and the first fault of a validation error."""
    if isinstance(error, ValidationError):
        first = error.errors(include_url=False)[0]
        return f"{error.title}: {'.'.join(map(str, first['loc'])) or 'it'}: {first['msg']}"
    text = str(error).strip().partition("\n")[0]
    return f"{type(error).__name__}: {text}".rstrip(": ")


def place_of(error: BaseException, code: Path, *, pure: bool) -> traceback.FrameSummary | None:
    """Return the package's line that raised, or called a library that raised; None if ssdlab raised.

    In `pure` functions the package is always at fault.
    """
    place = None
    frames: Sequence[traceback.FrameSummary] = traceback.extract_tb(error.__traceback__)
    for each in frames:
        if Path(each.filename).is_relative_to(_OURS):
            place = place if pure else None
        elif Path(each.filename).is_relative_to(code):
            place = each
    return place


@contextmanager
def heard_signals() -> Iterator[list[int]]:
    """Yield the signals received meanwhile, as an end by signal is not the package's failure."""
    came: list[int] = []
    before: dict[int, Callable[[int, FrameType | None], object]] = {}

    def heard(number: int, frame: FrameType | None) -> None:
        came.append(number)
        before[number](number, frame)

    for number in _SIGNALS:
        handler = signal.getsignal(number)
        if callable(handler):
            with contextlib.suppress(ValueError):  # only the main thread is sent signals
                signal.signal(number, heard)
                before[number] = handler
    try:
        yield came
    finally:
        for mine, handler in before.items():
            if signal.getsignal(mine) is heard:
                signal.signal(mine, handler)


def _silent() -> contextlib.AbstractContextManager[object]:
    """Send what is printed to stderr."""
    return contextlib.redirect_stdout(sys.stderr)


_SILENT = frozenset({"back", "conditions", "flush", "fork", "idle", "limit", "note", "stretch", "variant"})
"""Verbs of ours whose steps find nothing out, of which no figure can be."""
_KEY = re.compile(r"[A-Za-z0-9_.%+-]{1,100}")
"""Of a headline figure: what rankings and queries go by."""


def conclusion_fault(result: ResultBase, kind: Kind | None, steps: Iterable[Step]) -> str | None:
    """Return why a new result could not be read back unchanged; None: it could.

    Parameters
    ----------
    result
        As returned by `conclude`.
    kind
        The method's declared kind of Result.
    steps
        The run's steps.
    """
    shows = {step.ordinal: _shows(step) for step in steps}
    known = kind if kind is not None else KINDS.get(result.kind)
    if known is None:
        return f"its kind is {result.kind!r}, and the method names none: Method(result=ResultKind(...))"
    model = known.loaded_model()
    if not isinstance(result, model):
        return f"it is a {type(result).__name__}, but results of the kind {known.name} are {model.__name__}"
    stored = result.model_dump(mode="json")
    if place := _endless(stored, ""):
        return f"{place} is not a finite number: use None for a missing value"
    try:
        again = model.model_validate(json.loads(json.dumps(stored, allow_nan=False)))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        return f"read back, {'.'.join(map(str, first['loc']))}: {first['msg']}"
    if again.model_dump(mode="json") != stored:
        lost = [name for name, value in stored.items() if again.model_dump(mode="json").get(name) != value]
        return f"read back, {', '.join(lost) or 'it'} is another"
    faults = (_evidence_fault(each, shows) or _name_fault(each) for each in result.scalars)
    return result_fault(result) or next(filter(None, faults), None)


def _shows(step: Step) -> bool:
    """Whether a figure can be of a step: it measured, or found something out as the drive was left alone."""
    return step.result.measurement is not None or step.result.rest is not None or step.verb not in _SILENT


def _name_fault(figure: Metric) -> str | None:
    """Return that a figure has the name of one of ours, whose ratings it would be compared with."""
    own = next((each.name for each in REGISTRY.values() if is_figure(figure.name, each.figures)), None)
    return (
        None if own is None else f"the Metric {figure.name} has the name of a figure of {own}: choose another"
    )


def _evidence_fault(figure: Metric, shows: Mapping[int, bool]) -> str | None:
    """Return what is wrong with the evidence of a figure, of which nothing can then be known."""
    if figure.value is not None and not figure.steps:
        return f"the Metric {figure.name} has no steps: Metric.more(..., steps=(step.ordinal,))"
    named = {
        *figure.steps,
        *figure.chosen_among,
        *(step for each in figure.qualifiers for step in each.steps),
    }
    if foreign := sorted(named.difference(shows)):
        return f"the Metric {figure.name} names step {foreign[0]}, which the run does not have"
    if figure.value is not None and not any(shows[step] for step in figure.steps):
        return f"the Metric {figure.name} names steps that measured nothing: name its measured steps"
    if figure.bound is not None and "search-ceiling" not in figure.codes:
        return f"the Metric {figure.name} is a bound without the qualifier search-ceiling"
    strange = next((each.code for each in figure.qualifiers if each.code not in CATALOGUE), None)
    return f"the Metric {figure.name} has an unknown qualifier: {strange}" if strange else None


def result_fault(result: ResultBase) -> str | None:
    """Return what is wrong with a result's own content; None: nothing."""
    fault = misfit(result.passed, bool | None, "passed")
    for figure in result.scalars:
        if not _KEY.fullmatch(figure.name):
            fault = fault or f"the name {figure.name!r} of a Metric may have only letters, digits and _"
    return fault


def _endless(value: object, place: str) -> str | None:
    """Return the place of a number that is none, or infinite."""
    if isinstance(value, float):
        return None if isfinite(value) else place or "it"
    if isinstance(value, dict):
        inner = ((f"{place}.{name}".lstrip("."), each) for name, each in value.items())
    elif isinstance(value, list):
        inner = ((f"{place}[{at}]", each) for at, each in enumerate(value))
    else:
        return None
    return next((found for name, each in inner if (found := _endless(each, name))), None)


_GONE = ("shows", "unshown", "basis_of", "decided_by", "rated_as", "proofs", "caveats")
"""What results of interface 1 said of their figures."""
_COUNT_MAX = 10_000
"""Findings, tables or cards of one result: more are none, but a loop without an end."""


@dataclass(frozen=True)
class _Piece:
    """What a function that shows a result has to give: a word for it, its class, and what looks at one.

    The latter two are places, so that nothing is loaded that is not shown.
    """

    noun: str
    model: type | str
    fault_of: Callable[[object], str | None] | str


_CLAIM = _Piece("Claim", "ssdlab.results.claim:Claim", "ssdlab.results.kind:claim_fault")
_TABLE = _Piece("Table", "ssdlab.results.cells:Table", "ssdlab.results.kind:table_fault")
_SECTION = _Piece("Section", "ssdlab.report.view:Section", "ssdlab.report.view:section_fault")


def naming_failures(method: Method, package: str, module: str) -> Method:
    """Return a method whose failures name it, also when its result is shown.

    Parameters
    ----------
    package
        Name and version of its package.
    module
        Its module in the package.
    """
    return _Guarded(method, PluginGuard(method.name, package, module)).method()


class _GuardedParams(Params):
    """Stands before the class of parameters of another package."""

    guard: ClassVar[PluginGuard]
    model: ClassVar[type[Params]]

    @classmethod
    def build(cls, settings: Mapping[str, str] | None = None, *, quick: bool = False) -> Params:
        """Build parameters from settings, as the package does."""
        return cls._checked(super().build)(settings, quick=quick)

    @classmethod
    def model_validate(cls, obj: object, **how: object) -> Self:
        """Build parameters from stored ones, as the package does."""
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


class _Guarded:
    """One method of another package, and what guards it."""

    def __init__(self, method: Method, guard: PluginGuard) -> None:
        self._method, self._guard = method, guard

    def method(self) -> Method:
        method, named = self._method, self._guard.named
        if method.interface > INTERFACE:
            why = f"it is for version {method.interface} of ssdlab.plugin, but this ssdlab has {INTERFACE}"
            raise self._guard.wrong(method.conclude, why)
        kind = method.result
        return replace(
            method,
            package=self._guard.package,
            params=self._params(),
            procedure=named(method.procedure),
            conclude=named(self._conclude, quiet=True, of=method.conclude),
            writes=named(method.writes, quiet=True),
            remarks=named(self._remarks, quiet=True, of=method.remarks),
            result=kind if kind is None or KINDS.get(kind.name) is kind else self._kind(kind),
        )

    def _params(self) -> type[Params]:
        """Return the class of its parameters, whose own checks are guarded wherever parameters are made."""
        model = self._method.params
        # Of the package's module still, whose docstring is the method's prose.
        names = {"__module__": model.__module__, "__doc__": model.__doc__}
        made = new_class(model.__name__, (_GuardedParams, model), exec_body=lambda body: body.update(names))
        assert issubclass(made, _GuardedParams)
        made.guard, made.model = self._guard, model
        return made

    def _conclude(self, data: RunData, params: Any) -> ResultBase:  # noqa: ANN401 - the method's own Params
        result = self._method.conclude(data, params)
        if not isinstance(result, ResultBase):
            why = f"conclude returned a {type(result).__name__}, not a Result"
            raise self._guard.wrong(self._method.conclude, why)
        self._look_at(type(result))
        look = self._guard.named(conclusion_fault, pure=True, of=self._method.conclude)
        if fault := look(result, self._method.result, data.steps):
            raise self._guard.wrong(
                self._method.conclude, f"conclude returned a result that cannot be stored: {fault}"
            )
        self._look_at_findings(result, {step.ordinal for step in data.steps})
        return result

    def _look_at_findings(self, result: ResultBase, ordinals: Collection[int]) -> None:
        """Refuse a finding of a step that the run does not have; other faults are told where it is shown."""
        kind = self._method.result
        if kind is None or kind is KINDS.get(kind.name):
            return
        try:
            found = loaded(self._kind(kind).findings)(result)
        except HostError:
            return
        foreign = sorted({step for claim in found for step in claim.evidence.steps}.difference(ordinals))
        if foreign:
            why = f"a Claim names step {foreign[0]}, which the run does not have"
            raise self._guard.wrong(loaded(kind.findings), f"findings: {why}")

    def _look_at(self, model: type[ResultBase]) -> None:
        """Refuse a class of results that says of its figures what they say of themselves now."""
        if gone := next((name for name in _GONE if hasattr(model, name) or name in model.model_fields), None):
            why = f"{gone} was removed in interface 2: each Metric has its own steps and qualifiers"
            raise self._guard.wrong(getattr(model, gone, model), f"{model.__name__}: {why}")

    def _remarks(self, facts: RunFacts, params: Any) -> Remarks:  # noqa: ANN401 - as of `_conclude`
        from ssdlab.lab.method import Remarks

        made: object = self._method.remarks(facts, params)
        if not isinstance(made, Remarks):
            why = f"remarks returned a {type(made).__name__}, not a Remarks"
            raise self._guard.wrong(self._method.remarks, why)
        fault = misfit(made.departures, tuple[Departure, ...], "departures")
        if fault := fault or misfit(made.warnings, tuple[Warned, ...], "warnings"):
            raise self._guard.wrong(self._method.remarks, f"remarks: {fault}")
        return made

    def _kind(self, kind: Kind) -> Kind:
        """Return the kind with everything that the package brings for reading and showing it guarded."""
        terminal = kind.terminal
        self._look_at(kind.loaded_model())
        return replace(
            kind,
            read=self._guard.named(self._reader(kind), pure=True, quiet=True, of=kind.loaded_model()),
            findings=self._shower("findings", kind.findings, _CLAIM, many=True),
            tables=self._shower("tables", kind.tables, _TABLE, many=True),
            section=self._shower("section", kind.section, _SECTION),
            terminal=terminal and self._shower("terminal", terminal, None, prints=True),
        )

    def _reader(self, kind: Kind) -> Callable[[Mapping[str, JsonValue]], ResultBase]:
        def read(stored: Mapping[str, JsonValue]) -> ResultBase:
            result: ResultBase = kind.loaded_model().model_validate(stored)
            if fault := result_fault(result):
                raise ValueError(fault)
            return result

        return read

    def _shower(
        self,
        part: str,
        place: Callable[..., Any] | str,
        piece: _Piece | None,
        *,
        many: bool = False,
        prints: bool = False,
    ) -> Callable[..., Any] | str:
        """Return one of the functions that show a result; what it gives is looked at before it is used."""
        if isinstance(place, str) and place.startswith("ssdlab."):
            return place

        def show(*args: Any) -> Any:  # noqa: ANN401 - whatever is shown
            try:
                call = loaded(place)
            except (ImportError, AttributeError) as error:
                raise self._guard.wrong(self._method.conclude, f"{part} is {place}: {error}") from error
            made = call(*args)
            if piece is None:
                return None
            if many and not isinstance(made, Iterator | Sequence):
                raise self._guard.wrong(call, f"{part} gave a {type(made).__name__}, not a sequence")
            found = tuple(islice(made, _COUNT_MAX + 1)) if many else (made,)
            if len(found) > _COUNT_MAX:
                raise self._guard.wrong(call, f"{part} gave more than {_COUNT_MAX}, perhaps endlessly")
            model, look = loaded(piece.model), loaded(piece.fault_of)
            for each in found:
                if not isinstance(each, model):
                    raise self._guard.wrong(call, f"{part} gave a {type(each).__name__}, no {piece.noun}")
                if (fault := look(each)) is not None:
                    raise self._guard.wrong(call, f"{part}: {fault}")
            return found if many else made

        of = None if isinstance(place, str) else place
        return self._guard.named(show, pure=True, quiet=not prints, of=of)
