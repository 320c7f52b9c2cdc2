"""A method of another package that fails as it runs is named, with its package and the failing line."""

from __future__ import annotations

import functools
import traceback
from collections.abc import Callable
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


def naming_failures(method: Method, package: str) -> Method:
    """Return a method whose failures name it.

    Parameters
    ----------
    package
        Name and version of the package that brings it along.
    """

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
            except Exception as error:
                frames = traceback.extract_tb(error.__traceback__)
                if isinstance(error, OSError) and _is_ours(frames[-1].filename):
                    raise  # the host failed under one of the lab's verbs
                place = next((each for each in reversed(frames) if not _is_ours(each.filename)), frames[-1])
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


def _is_ours(file: str) -> bool:
    return Path(file).is_relative_to(_OURS)


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
