"""How a stored Result is read back as what its method concluded, and who shows it.

It says its kind, and the run its method: of a kind that is none of ours the method's package is asked.
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
    """A Result that nobody here can read: only its headline figures can be shown."""

    model_config = ConfigDict(extra="ignore")

    why: str = Field(default="", exclude=True)
    """Why, where its package is installed."""

    @property
    def unknown(self) -> str:
        """What is shown instead of the result."""
        if self.why:
            return f"This result of the kind {self.kind} cannot be read: {self.why}. {_FIGURES}"
        return (
            f"This ssdlab knows no results of the kind {self.kind}: the package that brings the method is "
            f"not installed. {_FIGURES}"
        )


_FIGURES = "These are its headline figures."


def kind_of(name: str, method: str = "") -> Kind:
    """Return a kind by its name: one of ours, or that of the named method of another package.

    `UNKNOWN` where nobody here has it: the package is not installed, or cannot be used.
    """
    if name in KINDS or not method:
        return KINDS.get(name, UNKNOWN)
    try:
        found = find_method(method).result
    except LabError:
        return UNKNOWN
    return found if found is not None and found.name == name else UNKNOWN


def shown_by(result: ResultBase, method: str) -> Kind:
    """Return who shows a result that was read: what nobody could read is shown as unknown."""
    kind = kind_of(result.kind, method)
    return kind if isinstance(result, kind.loaded_model()) else UNKNOWN


def parse_result(stored: dict[str, JsonValue], method: str = "") -> ResultBase:
    """Give back the typed Result of a manifest's `result`.

    Parameters
    ----------
    stored
        The object as stored.
    method
        Name of the run's method: a kind that is none of ours is asked of the package that brings it.

    Raises
    ------
    pydantic.ValidationError
        When the stored object does not fit its kind. One of another package's kind is then an
        `UnknownResult`, as long as it has headline figures.
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
            f"run {run.manifest.run_id} holds a result that this ssdlab cannot read: {kind!r}",
            "use the ssdlab that wrote it, or a newer one",
            run=run.manifest.run_id,
            kind=str(kind),
        ) from error


def warned_of(run: RunFolder) -> tuple[Warned, ...]:
    """Return what a run warns of; of a finished one that stands in its manifest."""
    if run.manifest.status == "finished":
        return run.manifest.warnings

    return unfinished_warnings(run)
