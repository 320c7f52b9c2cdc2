"""A method of another package that fails, as it runs or is shown, is named with package and line."""

from __future__ import annotations

import functools
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from ssdlab.methods.results.kinds import KINDS
from ssdlab.model.errors import HostError, LabError
from ssdlab.model.python_errors import TRACEBACK_VARIABLE
from ssdlab.results.claim import Claim
from ssdlab.results.kind import loaded
from ssdlab.results.schema import ResultBase

if TYPE_CHECKING:
    from ssdlab.methods.method import Method, RunData
    from ssdlab.methods.results.kinds import Kind

_OURS = Path(__file__).parents[1]
_P = ParamSpec("_P")
_T = TypeVar("_T")
_TABLE = "ssdlab.results.numbers:Table"
_SECTION = "ssdlab.report.view:Section"
_CARD = "builtins:tuple"


def naming_failures(method: Method, package: str, module: str) -> Method:
    """Return a method whose failures name it, those of showing its result too.

    Parameters
    ----------
    package
        Name and version of the package that brings it along.
    module
        Where the package has it.
    """
    return _Naming(method, package, module).method()


class _Naming:
    """One method of another package, and where its code lies."""

    def __init__(self, method: Method, package: str, module: str) -> None:
        top = Path(getattr(sys.modules.get(module.partition(".")[0]), "__file__", None) or module)
        self._code = top.parent if top.name == "__init__.py" else top
        self._method, self._package = method, package

    def method(self) -> Method:
        method = self._method
        kind = method.result
        return replace(
            method,
            procedure=self._named(method.procedure),
            conclude=self._named(self._conclude),
            writes=self._named(method.writes),
            remarks=self._named(method.remarks),
            result=kind if kind is None or KINDS.get(kind.name) is kind else self._kind(kind),
        )

    def _conclude(self, data: RunData, params: Any) -> ResultBase:  # noqa: ANN401 - the method's own Params
        result = self._method.conclude(data, params)
        if not isinstance(result, ResultBase):
            raise self._wrong(
                self._method.conclude, f"conclude returned a {type(result).__name__}, no Result"
            )
        return result

    def _kind(self, kind: Kind) -> Kind:
        """Return the kind with everything that the package brings for showing it named."""
        return replace(
            kind,
            findings=self._shower("findings", kind.findings, Claim, many=True),
            tables=self._shower("tables", kind.tables, _TABLE, many=True),
            section=self._shower("section", kind.section, _SECTION),
            headlines=None
            if kind.headlines is None
            else self._shower("headlines", kind.headlines, _CARD, many=True),
            terminal=None if kind.terminal is None else self._shower("terminal", kind.terminal, None),
        )

    def _shower(
        self, part: str, place: Callable[..., Any] | str, gives: type | str | None, *, many: bool = False
    ) -> Callable[..., Any] | str:
        """Return one of the functions that show a result; what it gives is looked at before it is used.

        It is pure, so what ssdlab raises beneath it comes of what the package gave.
        """
        if isinstance(place, str) and place.startswith("ssdlab."):
            return place

        def show(*args: Any) -> Any:  # noqa: ANN401 - whatever is shown
            try:
                call = loaded(place)
            except (ImportError, AttributeError) as error:
                raise self._wrong(self._method.conclude, f"{part} is {place}: {error}") from error
            made = call(*args)
            if gives is None:
                return None
            if many and not isinstance(made, Iterator | Sequence):
                raise self._wrong(call, f"{part} gave a {type(made).__name__}, and no sequence")
            found = tuple(made) if many else (made,)
            wanted = loaded(gives)
            for each in found:
                if not isinstance(each, wanted):
                    raise self._wrong(call, f"{part} gave a {type(each).__name__}, no {wanted.__name__}")
            return found if many else made

        return self._named(show, pure=True)

    def _named(self, call: Callable[_P, _T], *, pure: bool = False) -> Callable[_P, _T]:
        @functools.wraps(call)
        def called(*args: _P.args, **kwargs: _P.kwargs) -> _T:
            try:
                return call(*args, **kwargs)
            except (LabError, MemoryError):
                raise
            except (Exception, SystemExit) as error:
                place = _place(traceback.extract_tb(error.__traceback__), self._code, pure=pure)
                if place is None:
                    raise  # ssdlab did, which the package called: the host, or a fault of ours
                why = f"{type(error).__name__}: {error}".rstrip(": ")
                raise self._failed(place.filename, place.lineno or 0, why) from error

        return called

    def _wrong(self, call: Callable[..., Any], why: str) -> HostError:
        """Return the failure of a function that gave the wrong thing."""
        code = getattr(call, "__code__", None)
        if code is None:
            return self._failed("unknown", 0, why)
        return self._failed(code.co_filename, code.co_firstlineno, why)

    def _failed(self, file: str, line: int, why: str) -> HostError:
        return HostError(
            f"method {self._method.name} of package {self._package} failed at {file}:{line}: {why}",
            f"report it to those who made that package, with the output under {TRACEBACK_VARIABLE}=1",
            reason="plugin",
            method=self._method.name,
            package=self._package,
            file=file,
            line=line,
        )


def _place(
    frames: Sequence[traceback.FrameSummary], code: Path, *, pure: bool
) -> traceback.FrameSummary | None:
    """Return the line of the package that raised, or called a library that did; None where ssdlab did.

    Of what is `pure` ssdlab raises only over what the package gave it, so that is the package's too.
    """
    place = None
    for each in frames:
        if Path(each.filename).is_relative_to(_OURS):
            place = place if pure else None
        elif Path(each.filename).is_relative_to(code):
            place = each
    return place
