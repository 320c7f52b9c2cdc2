"""How a stored Result is read back as what its method concluded, and who shows it.

It says its kind, and the run its method: of a kind that is none of ours the method's package is asked.

Findings with what is the matter with the figures that they tell: the one place that puts it there.

A figure says of itself what its steps show. A finding of the same steps says it too, whoever made it.
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
from ssdlab.results.points import labels, united
from ssdlab.results.records import EndRecord
from ssdlab.results.schema import Departure, ResultBase, Warned

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ssdlab.lab.kinds import Kind
    from ssdlab.results.claim import Claim
    from ssdlab.results.kind import ResultKind
    from ssdlab.results.points import Metric, Qualifier
    from ssdlab.results.run_folder import RunFolder, Step

CONDITION_CODE = "condition-"
"""What the code of a departure begins with that is a setting other than the method asks for."""


def warnings_of(steps: Sequence[Step]) -> tuple[Warned, ...]:
    """Gather the steps' warnings; what several steps say alike is held once.

    A setting that is a departure is not warned of as well: that would be one fact reported twice.
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


def unfinished_warnings(run: RunFolder) -> tuple[Warned, ...]:
    """Return what a run without an end warns of, by the steps that count.

    Its manifest is as its last orderly session left it: steps may have been voided since, and others
    finished. What no attempt has said is of the whole run and stays.
    """
    raised = {
        (warned.code, warned.what)
        for record in run.journal()
        if isinstance(record, EndRecord)
        for warned in record.result.warnings
    }
    whole = (each for each in run.manifest.warnings if (each.code, each.what) not in raised)
    return (*warnings_of(run.steps()), *whole)


def departures_of(steps: Sequence[Step]) -> list[Departure]:
    """Return the departures that the steps recorded, in their order; what several say alike once."""
    from ssdlab.lab.verbs.verb import Facts  # which `show` of a finished run does not load

    return list(dict.fromkeys(each for step in steps for each in step.found(Facts).departures))


class UnknownResult(ResultBase):
    """A Result that nobody here can read: only its headline figures can be shown."""

    model_config = ConfigDict(extra="ignore")

    why: str = Field(default="", exclude=True)
    """Why, where its package is installed."""

    @property
    def unknown(self) -> str:
        """What is to be said in the place of everything else."""
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


_OF_ONE = frozenset({"few-samples", "search-ceiling", "within-cache"})
"""Of the figure alone, and not of others that its steps show."""


def findings_of(kind: ResultKind[Any], result: ResultBase) -> tuple[Claim, ...]:
    """Return what a result says, with its qualifiers."""
    return marked(loaded(kind.findings)(result), result.scalars)


def marked(claims: Iterable[Claim], figures: Sequence[Metric]) -> tuple[Claim, ...]:
    """Return findings with the labels of the figures whose steps they tell of, as far as they lack them."""
    return tuple(_marked(each, figures) for each in claims)


def _marked(claim: Claim, figures: Sequence[Metric]) -> Claim:
    if not any(isinstance(each, Amount) for each in claim.amounts().values()) and claim.bound is None:
        return claim  # it tells no figure
    words = clause(claim)
    found = united(each for figure in figures for each in _qualifiers(claim, figure))
    missing = labels(each for each in found if each.label not in words)
    if not missing:
        return claim
    return replace(claim, says=f"{claim.says} ({{labels}})", others={**claim.others, "labels": missing})


def _qualifiers(claim: Claim, figure: Metric) -> Iterator[Qualifier]:
    """Yield what of a figure stands with a finding: all where it is the figure's own."""
    amount, steps = claim.figure, set(claim.evidence.steps)
    own = None if amount is None or amount.value is None else (amount.value, amount.unit)
    if own == (figure.value, figure.unit) and (not steps or steps.intersection(figure.steps)):
        yield from figure.qualifiers
    elif steps.intersection(figure.steps):
        whole = steps.issuperset(figure.steps)
        for each in figure.unfit("claims"):
            if each.code not in _OF_ONE and (whole or not each.steps or steps.intersection(each.steps)):
                yield each
