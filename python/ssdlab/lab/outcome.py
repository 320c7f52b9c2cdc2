"""Reads stored results, and collects their findings, warnings and departures.

A kind that is not ssdlab's own comes from the method's package. Findings of every method get the qualifiers
of figures from the same steps.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pydantic import ConfigDict, Field, JsonValue, ValidationError

from ssdlab.lab.found import find_method
from ssdlab.lab.kinds import KINDS, UNKNOWN
from ssdlab.model.errors import HostError, LabError, Refused
from ssdlab.results.claim import Amount, clause
from ssdlab.results.kind import loaded
from ssdlab.results.metric import labels, united
from ssdlab.results.records import EndRecord
from ssdlab.results.schema import Departure, ResultBase, Warned

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ssdlab.lab.kinds import Kind
    from ssdlab.results.claim import Claim
    from ssdlab.results.kind import ResultKind
    from ssdlab.results.metric import Metric, Qualifier
    from ssdlab.results.run_folder import RunFolder, Step


class UnknownResult(ResultBase):
    """A result of an unknown kind; only its headline figures can be shown."""

    model_config = ConfigDict(extra="ignore")

    why: str = Field(default="", exclude=True)
    """Why the installed package cannot read it; empty: the package is not installed."""

    @property
    def unknown(self) -> str:
        if self.why:
            return f"The result of kind {self.kind} cannot be read: {self.why}. {_FIGURES}"
        return (
            f"The result of kind {self.kind} cannot be read: the method's package is not installed. "
            f"{_FIGURES}"
        )


_FIGURES = "These are its headline figures."


def kind_of(name: str, method: str = "") -> Kind:
    """Return a kind of result by its name: ssdlab's own, or one that a package's method declares.

    Return `UNKNOWN` if the package is not installed or unusable.
    """
    if name in KINDS or not method:
        return KINDS.get(name, UNKNOWN)
    try:
        found = find_method(method).result
    except LabError:
        return UNKNOWN
    return found if found is not None and found.name == name else UNKNOWN


def shown_by(result: ResultBase, method: str) -> Kind:
    """Return the kind that shows a result; `UNKNOWN` if the result could not be read as its kind."""
    kind = kind_of(result.kind, method)
    return kind if isinstance(result, kind.loaded_model()) else UNKNOWN


def parse_result(stored: dict[str, JsonValue], method: str = "") -> ResultBase:
    """Return the typed result from a manifest's `result`.

    Parameters
    ----------
    stored
        The `result` object of the manifest.
    method
        Name of the run's method, for kinds of other packages.

    Raises
    ------
    pydantic.ValidationError
        The object does not fit its kind. A misfit of another package's kind is returned as an `UnknownResult`
        instead, if it has headline figures.
    """
    kind = kind_of(str(stored.get("kind")), method)
    if kind.read is None:
        found: ResultBase = kind.loaded_model().model_validate(stored)
        return found
    try:
        result: ResultBase = kind.read(stored)
    except HostError as error:  # the package has changed its model, or the model fails
        return UnknownResult.model_validate({**stored, "why": error.what})
    return result


def read_result(run: RunFolder) -> ResultBase | None:
    """Return the typed result of a run; None until the run is finished.

    Raises
    ------
    Refused
        This version of ssdlab cannot read the result.
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


CONDITION_CODE = "condition-"
"""Prefix of departure codes for settings that differ from the method's."""


def warnings_of(steps: Sequence[Step]) -> tuple[Warned, ...]:
    """Collect the steps' warnings without duplicates.

    A setting that is already a departure raises no warning.
    """
    departed = {departure.code.removeprefix(CONDITION_CODE) for departure in departures_of(steps)}
    found: dict[tuple[str, str], list[Warned]] = {}
    for step in steps:
        for warned in step.result.warnings:
            if warned.code not in departed:
                found.setdefault((warned.code, warned.what), []).append(warned)
    return tuple(
        each[0] if len(each) == 1 else each[0].model_copy(update={"ordinal": None}) for each in found.values()
    )


def warned_of(run: RunFolder) -> tuple[Warned, ...]:
    """Return a run's warnings; those of a finished run come from its manifest.

    For an unfinished run they come from the steps that count, because steps may have been voided or finished
    since its manifest was written. Warnings without a step apply to the whole run and are kept.
    """
    if run.manifest.status == "finished":
        return run.manifest.warnings
    raised = {
        (warned.code, warned.what)
        for record in run.journal()
        if isinstance(record, EndRecord)
        for warned in record.result.warnings
    }
    whole = (each for each in run.manifest.warnings if (each.code, each.what) not in raised)
    return (*warnings_of(run.steps()), *whole)


def departures_of(steps: Sequence[Step]) -> list[Departure]:
    """Return the departures that steps recorded, in order and without duplicates."""
    from ssdlab.lab.verbs.verb import Facts  # late: `show` of a finished run does not need it

    return list(dict.fromkeys(each for step in steps for each in step.found(Facts).departures))


_OF_ONE = frozenset({"few-samples", "search-ceiling", "within-cache"})
"""Qualifiers of a single figure, which do not apply to other figures of the same steps."""


def findings_of(kind: ResultKind[Any], result: ResultBase) -> tuple[Claim, ...]:
    """Return the findings of a result, with their qualifiers."""
    return marked(loaded(kind.findings)(result), result.scalars)


def marked(claims: Iterable[Claim], figures: Sequence[Metric]) -> tuple[Claim, ...]:
    """Return findings with the qualifier labels of figures from the same steps."""
    return tuple(_marked(each, figures) for each in claims)


def _marked(claim: Claim, figures: Sequence[Metric]) -> Claim:
    if not any(isinstance(each, Amount) for each in claim.amounts().values()) and claim.bound is None:
        return claim  # it states no figure
    words = clause(claim)
    found = united(each for figure in figures for each in _qualifiers(claim, figure))
    missing = labels(each for each in found if each.label not in words)
    if not missing:
        return claim
    return replace(claim, says=f"{claim.says} ({{labels}})", others={**claim.others, "labels": missing})


def _qualifiers(claim: Claim, figure: Metric) -> Iterator[Qualifier]:
    """Yield a figure's qualifiers that apply to a finding; all of them if it states that figure."""
    amount, steps = claim.figure, set(claim.evidence.steps)
    own = None if amount is None or amount.value is None else (amount.value, amount.unit)
    if own == (figure.value, figure.unit) and (not steps or steps.intersection(figure.steps)):
        yield from figure.qualifiers
    elif steps.intersection(figure.steps):
        whole = steps.issuperset(figure.steps)
        for each in figure.unfit("claims"):
            if each.code not in _OF_ONE and (whole or not each.steps or steps.intersection(each.steps)):
                yield each
