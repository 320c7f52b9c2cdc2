"""What the functions of another package's method raise: its fault, told as such, and none of ours."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import wraps
from pathlib import Path
from types import TracebackType
from typing import Any

from ssdlab.methods.method import Method, Remarks
from ssdlab.model.errors import LabError, UsageError
from ssdlab.results.schema import ResultBase

_OURS = Path(__file__).parents[1]


def answering(method: Method, name: str, module: str) -> Method:
    """Return the method with functions that answer for themselves.

    Parameters
    ----------
    method
        As another package brings it along.
    name
        What messages call it.
    module
        Where the package has it.
    """
    top = Path(getattr(sys.modules.get(module.partition(".")[0]), "__file__", None) or module)
    code = _Code(name, top.parent if top.name == "__init__.py" else top)
    return replace(
        method,
        procedure=code.answering(method.procedure, "procedure"),
        conclude=code.answering(method.conclude, "conclude", ResultBase),
        writes=code.answering(method.writes, "writes"),
        remarks=code.answering(method.remarks, "remarks", Remarks),
    )


@dataclass(frozen=True)
class _Code:
    """The code of a package: what messages call its method, and where it lies."""

    name: str
    place: Path

    def answering(
        self, function: Callable[..., Any], part: str, kind: type | None = None
    ) -> Callable[..., Any]:
        """Return a function that raises a `UsageError` where the package fails, or returns another kind."""

        @wraps(function)
        def called(*args: Any) -> Any:  # noqa: ANN401 - as the function has it
            try:
                value = function(*args)
            except LabError:
                raise
            except (Exception, SystemExit) as error:
                line = self._line(error.__traceback__)
                if line is None:
                    raise
                what = f"{type(error).__name__}: {error}".rstrip(": ")
                raise self._failed(f"{what}, in {line}") from error
            if kind is not None and not isinstance(value, kind):
                raise self._failed(f"{part} returned a {type(value).__name__}, not a {kind.__name__}")
            return value

        return called

    def _failed(self, why: str) -> UsageError:
        return UsageError(f"{self.name} failed: {why}", "update that package, or ask those who made it")

    def _line(self, trace: TracebackType | None) -> str | None:
        """Return the line of the package that raised, or called a library that did.

        None where ssdlab did, which the package called.
        """
        line = None
        while trace is not None:
            file = Path(trace.tb_frame.f_code.co_filename)
            if file.is_relative_to(_OURS):
                line = None
            elif file.is_relative_to(self.place):
                line = f"line {trace.tb_lineno} of {file.name}"
            trace = trace.tb_next
        return line
