"""A method of another package that fails as it runs is named, with its package and the failing line."""

from __future__ import annotations

import functools
import sys
import traceback
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from ssdlab.model.errors import HostError, LabError
from ssdlab.model.python_errors import TRACEBACK_VARIABLE
from ssdlab.results.schema import ResultBase

if TYPE_CHECKING:
    from ssdlab.methods.method import Method, RunData

_OURS = Path(__file__).parents[1]
_P = ParamSpec("_P")
_T = TypeVar("_T")


def naming_failures(method: Method, package: str, module: str) -> Method:
    """Return a method whose failures name it.

    Parameters
    ----------
    package
        Name and version of the package that brings it along.
    module
        Where the package has it.
    """
    top = Path(getattr(sys.modules.get(module.partition(".")[0]), "__file__", None) or module)
    code = top.parent if top.name == "__init__.py" else top

    def conclude(data: RunData, params: Any) -> ResultBase:  # noqa: ANN401 - the method's own Params
        result = method.conclude(data, params)
        if not isinstance(result, ResultBase):
            code = getattr(method.conclude, "__code__", None)
            where = ("unknown", 0) if code is None else (code.co_filename, code.co_firstlineno)
            raise _failed(method, package, *where, f"conclude returned a {type(result).__name__}, no Result")
        return result

    def named(call: Callable[_P, _T]) -> Callable[_P, _T]:
        @functools.wraps(call)
        def called(*args: _P.args, **kwargs: _P.kwargs) -> _T:
            try:
                return call(*args, **kwargs)
            except (LabError, MemoryError):
                raise
            except (Exception, SystemExit) as error:
                place = _place(traceback.extract_tb(error.__traceback__), code)
                if place is None:
                    raise  # ssdlab did, which the package called: the host, or a fault of ours
                why = f"{type(error).__name__}: {error}".rstrip(": ")
                raise _failed(method, package, place.filename, place.lineno or 0, why) from error

        return called

    return replace(
        method,
        procedure=named(method.procedure),
        conclude=named(conclude),
        writes=named(method.writes),
        remarks=named(method.remarks),
    )


def _place(frames: Sequence[traceback.FrameSummary], code: Path) -> traceback.FrameSummary | None:
    """Return the line of the package that raised, or called a library that did; None where ssdlab did."""
    place = None
    for each in frames:
        if Path(each.filename).is_relative_to(_OURS):
            place = None
        elif Path(each.filename).is_relative_to(code):
            place = each
    return place


def _failed(method: Method, package: str, file: str, line: int, why: str) -> HostError:
    return HostError(
        f"method {method.name} of package {package} failed at {file}:{line}: {why}",
        f"report it to those who made that package, with the output under {TRACEBACK_VARIABLE}=1",
        reason="plugin",
        method=method.name,
        package=package,
        file=file,
        line=line,
    )
