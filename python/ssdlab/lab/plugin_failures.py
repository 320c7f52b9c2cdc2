"""A method of another package with a guard around each of its functions, and all they give looked at."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from types import new_class
from typing import TYPE_CHECKING, Any, ClassVar, ParamSpec, Self, TypeVar

from ssdlab.lab.checking import conclusion_fault, result_fault
from ssdlab.lab.kinds import KINDS
from ssdlab.lab.method import INTERFACE
from ssdlab.lab.params import Params
from ssdlab.lab.plugin_guard import PluginGuard
from ssdlab.model.fitting import misfit
from ssdlab.results.kind import loaded
from ssdlab.results.schema import Departure, ResultBase, Warned

if TYPE_CHECKING:
    from pydantic import JsonValue

    from ssdlab.lab.kinds import Kind
    from ssdlab.lab.method import Method, Remarks, RunData, RunFacts

_P = ParamSpec("_P")
_T = TypeVar("_T")
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
_SECTION = _Piece("Section", "ssdlab.report.view:Section", "ssdlab.report.showable:section_fault")


def naming_failures(method: Method, package: str, module: str) -> Method:
    """Return a method whose failures name it, those of showing its result too.

    Parameters
    ----------
    package
        Name and version of the package that brings it along.
    module
        Where the package has it.
    """
    return _Guarded(method, PluginGuard(method.name, package, module)).method()


class _GuardedParams(Params):
    """Stands before the class of parameters of another package."""

    guard: ClassVar[PluginGuard]
    model: ClassVar[type[Params]]

    @classmethod
    def build(cls, settings: Mapping[str, str] | None = None, *, quick: bool = False) -> Params:
        """Make parameters of settings, as the package does."""
        return cls._checked(super().build)(settings, quick=quick)

    @classmethod
    def model_validate(cls, obj: object, **how: object) -> Self:
        """Make parameters of stored ones, as the package does."""
        make: Callable[..., Self] = super().model_validate
        return cls._checked(make)(obj, **how)

    @classmethod
    def _checked(cls, call: Callable[_P, _T]) -> Callable[_P, _T]:
        def made(*args: _P.args, **kwargs: _P.kwargs) -> _T:
            found = call(*args, **kwargs)
            if isinstance(found, cls.model):
                return found
            raise cls.guard.wrong(
                cls.model, f"its checks made a {type(found).__name__} of {cls.model.__name__}"
            )

        return cls.guard.named(made, quiet=True, of=cls.model)


class _Guarded:
    """One method of another package, and what guards it."""

    def __init__(self, method: Method, guard: PluginGuard) -> None:
        self._method, self._guard = method, guard

    def method(self) -> Method:
        method, named = self._method, self._guard.named
        if method.interface > INTERFACE:
            why = f"it is for version {method.interface} of ssdlab.plugin, and this ssdlab has {INTERFACE}"
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
            why = f"conclude returned a {type(result).__name__}, no Result"
            raise self._guard.wrong(self._method.conclude, why)
        self._look_at(type(result))
        look = self._guard.named(conclusion_fault, pure=True, of=self._method.conclude)
        if fault := look(result, self._method.result, data.steps):
            raise self._guard.wrong(self._method.conclude, f"conclude returned what cannot be kept: {fault}")
        return result

    def _look_at(self, model: type[ResultBase]) -> None:
        """Refuse a class of results that says of its figures what they say of themselves now."""
        if gone := next((name for name in _GONE if hasattr(model, name) or name in model.model_fields), None):
            why = f"{gone} is gone with interface 2: each Metric has steps and qualifiers of its own"
            raise self._guard.wrong(getattr(model, gone, model), f"{model.__name__}: {why}")

    def _remarks(self, facts: RunFacts, params: Any) -> Remarks:  # noqa: ANN401 - as of `_conclude`
        from ssdlab.lab.method import Remarks

        made: object = self._method.remarks(facts, params)
        if not isinstance(made, Remarks):
            why = f"remarks returned a {type(made).__name__}, no Remarks"
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
                raise self._guard.wrong(call, f"{part} gave a {type(made).__name__}, and no sequence")
            found = tuple(islice(made, _COUNT_MAX + 1)) if many else (made,)
            if len(found) > _COUNT_MAX:
                raise self._guard.wrong(call, f"{part} gave more than {_COUNT_MAX}, perhaps without an end")
            model, look = loaded(piece.model), loaded(piece.fault_of)
            for each in found:
                if not isinstance(each, model):
                    raise self._guard.wrong(call, f"{part} gave a {type(each).__name__}, no {piece.noun}")
                if (fault := look(each)) is not None:
                    raise self._guard.wrong(call, f"{part}: {fault}")
            return found if many else made

        of = None if isinstance(place, str) else place
        return self._guard.named(show, pure=True, quiet=not prints, of=of)
