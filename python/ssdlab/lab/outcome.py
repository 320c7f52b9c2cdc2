"""Reads stored Results, and finds what shows them.

A kind that is not ours comes from the method's package.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import ConfigDict, Field, JsonValue, ValidationError

from ssdlab.lab.found import find_method
from ssdlab.lab.kinds import KINDS, UNKNOWN
from ssdlab.lab.remarks import unfinished_warnings
from ssdlab.model.errors import HostError, LabError, Refused
from ssdlab.results.schema import ResultBase, Warned

if TYPE_CHECKING:
    from ssdlab.lab.kinds import Kind
    from ssdlab.results.run_folder import RunFolder


class UnknownResult(ResultBase):
    """A Result of an unknown kind: only its headline figures can be shown."""

    model_config = ConfigDict(extra="ignore")

    why: str = Field(default="", exclude=True)
    """Reason, if its package is installed."""

    @property
    def unknown(self) -> str:
        """Text shown instead of the result."""
        if self.why:
            return f"The result of kind {self.kind} cannot be read: {self.why}. {_FIGURES}"
        return (
            f"The result of kind {self.kind} cannot be read: the method's package is not installed. "
            f"{_FIGURES}"
        )


_FIGURES = "These are its headline figures."


def kind_of(name: str, method: str = "") -> Kind:
    """Return a kind by its name: ours, or the kind of another package's method.

    `UNKNOWN` if the package is not installed or unusable.
    """
    if name in KINDS or not method:
        return KINDS.get(name, UNKNOWN)
    try:
        found = find_method(method).result
    except LabError:
        return UNKNOWN
    return found if found is not None and found.name == name else UNKNOWN


def shown_by(result: ResultBase, method: str) -> Kind:
    """Return the kind that shows a result; unreadable ones are shown as unknown."""
    kind = kind_of(result.kind, method)
    return kind if isinstance(result, kind.loaded_model()) else UNKNOWN


def parse_result(stored: dict[str, JsonValue], method: str = "") -> ResultBase:
    """Return the typed Result of a manifest's `result`.

    Parameters
    ----------
    stored
        The object as stored.
    method
        Name of the run's method, for kinds of other packages.

    Raises
    ------
    pydantic.ValidationError
        The stored object does not fit its kind. For another package's kind it becomes an `UnknownResult`, if
        it has headline figures.
    """
    kind = kind_of(str(stored.get("kind")), method)
    if kind.read is None:
        found: ResultBase = kind.loaded_model().model_validate(stored)
        return found
    try:
        result: ResultBase = kind.read(stored)
    except HostError as error:  # the package has another model by now, or one that fails
        return UnknownResult.model_validate({**stored, "why": error.what})
    return result


def read_result(run: RunFolder) -> ResultBase | None:
    """Return the method's typed Result of a run; None until it is finished.

    Raises
    ------
    Refused
        This ssdlab cannot read it.
    """
    if run.manifest.result is None:
        return None
    try:
        return parse_result(run.manifest.result, run.manifest.method.name)
    except ValidationError as error:
        kind = run.manifest.result.get("kind")
        raise Refused(
            f"this ssdlab cannot read the result of run {run.manifest.run_id}: {kind!r}",
            "use the ssdlab that wrote it, or a newer one",
            run=run.manifest.run_id,
            kind=str(kind),
        ) from error


def warned_of(run: RunFolder) -> tuple[Warned, ...]:
    """Return the warnings of a run; for a finished one, from its manifest."""
    if run.manifest.status == "finished":
        return run.manifest.warnings

    return unfinished_warnings(run)
