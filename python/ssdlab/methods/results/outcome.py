"""How a stored Result is read back as what its method concluded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import ConfigDict, JsonValue, ValidationError

from ssdlab.methods.results.kinds import kind_of
from ssdlab.model.errors import Refused
from ssdlab.results.schema import ResultBase

if TYPE_CHECKING:
    from ssdlab.results.run_folder import RunFolder


class UnknownResult(ResultBase):
    """A Result of a kind that nobody here knows: only its headline figures and caveats can be shown."""

    model_config = ConfigDict(extra="ignore")

    @property
    def unknown(self) -> str:
        """What is to be said in the place of everything else."""
        return (
            f"This ssdlab knows no results of the kind {self.kind}: the package that brings the method is "
            "not installed. These are its headline figures."
        )


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
        When the stored object does not fit its kind.
    """
    found: ResultBase = kind_of(str(stored.get("kind")), method).loaded_model().model_validate(stored)
    return found


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
