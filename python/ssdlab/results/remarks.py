"""A run's warnings and departures in words, for terminal, card and page; and its part of the drive."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ssdlab.model.units import capacity_text
from ssdlab.results.claim import Amount
from ssdlab.results.schema import Departure

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from pydantic import JsonValue

    from ssdlab.results.run_folder import Step
    from ssdlab.results.schema import Manifest, ParameterInfo, Warned

# A manifest has a warning once, even if several steps raised it in the same words. The steps themselves
# record which of them raised it. A warning that no step raised concerns the whole run.

_NAMED = 3
"""Maximum number of steps that a line names; it counts further ones."""


@dataclass(frozen=True)
class Worded:
    """One wording of a warning, with the steps that raised it; no steps: the whole run."""

    what: str
    advice: str
    steps: tuple[Step, ...]

    @property
    def place(self) -> str:
        """The steps' names, or that it is the whole run."""
        return _names(self.steps) if self.steps else "whole run"


@dataclass(frozen=True)
class WarnedSteps:
    """All warnings of a run with one code."""

    code: str
    worded: tuple[Worded, ...]
    measured: int
    """Number of steps of the run that measured."""

    @property
    def steps(self) -> tuple[Step, ...]:
        found = {step.ordinal: step for each in self.worded for step in each.steps}
        return tuple(found[ordinal] for ordinal in sorted(found))

    @property
    def line(self) -> str:
        """The warning in one line. If its wordings come from different steps, only the first is quoted."""
        first = self.worded[0]
        if len({each.place for each in self.worded}) == 1:  # the same steps, or the whole run
            alike = "; ".join(each.what for each in self.worded)
            return alike + (f" ({self.where})" if self.where else "")
        return f"{first.what} (at {first.place}; similar {self.share or 'elsewhere'})"

    @property
    def share(self) -> str:
        """How many steps raised the warning, in words; empty: the whole run, or its only step."""
        steps = self.steps
        if not steps or self.measured <= 1:
            return ""
        if all(step.result.measurement is not None for step in steps):
            return f"in {len(steps)} of {self.measured} measured steps"
        return f"in {len(steps)} step{'s' if len(steps) > 1 else ''}"

    @property
    def where(self) -> str:
        """How many steps raised the warning, and their names unless all did."""
        steps = self.steps
        if not self.share or len(steps) == self.measured:
            return self.share
        return f"{self.share}: {_names(steps)}"


def warned_steps(warnings: Iterable[Warned], steps: Sequence[Step]) -> list[WarnedSteps]:
    """Group the warnings of a run by code, in the order in which they were raised."""
    measured = sum(step.result.measurement is not None for step in steps)
    raised: dict[tuple[str, str], list[Step]] = {}
    for step in steps:
        for each in step.result.warnings:
            raised.setdefault((each.code, each.what), []).append(step)
    by_code: dict[str, list[Worded]] = {}
    for warned in warnings:
        of = raised.get((warned.code, warned.what), ())
        by_code.setdefault(warned.code, []).append(Worded(warned.what, warned.advice, tuple(of)))
    return [WarnedSteps(code, tuple(worded), measured) for code, worded in by_code.items()]


def heat_after(step: Step) -> float | None:
    """Return the drive's temperature at the end of a step, in °C; None: not reported."""
    summary, telemetry = step.summary, step.result.telemetry
    if summary is not None and summary.drive is not None and summary.drive.temperature_c is not None:
        return float(summary.drive.temperature_c)
    health = None if telemetry is None else telemetry.health
    return None if health is None else health.temperature_c


def label_in_job(number: int, do: str) -> str:
    """Return the label of an unlabelled job step: its number in the job, not in the run."""
    return f"step {number} of the job: {do}"


_NUMBERED = re.compile(re.escape(label_in_job(0, "")).replace("0", r"\d+"))


def _name(step: Step) -> str:
    """Return a step's number and label; a label with a number in the job stands alone."""
    return step.label if _NUMBERED.match(step.label) else f"step {step.ordinal + 1}, {step.label}"


def _names(steps: Sequence[Step]) -> str:
    labels = [_name(step) for step in steps[:_NAMED]]
    others = len(steps) - len(labels)
    return "; ".join(labels) + (f"; and {others} more" if others else "")


# Departures that only shorten the run are shown as one, at the end. A parameter shortens the run if `--quick`
# lowers it and its value is below the default, whoever set it. The parameters show this, so it is not stored.

_PARAMETER = "parameter-"
"""Prefix of a departure's code for a parameter's value; the parameter's name follows."""
_OF_TIME = ("seconds", "sec")
_LIMITS = {"most": "longest", "least": "shortest"}
_LENGTHS = frozenset({"s", "B", "spans", "times"})
"""Units of parameters that set how long or how much to write; other units are of steps and limits of a
search."""


def departure_text(departure: Departure) -> str:
    """Return a departure and its reason as a clause."""
    return f"{departure.what}: {departure.why}" if departure.why else departure.what


def gathered_departures(manifest: Manifest) -> tuple[Departure, ...]:
    """Return the departures to show, with all that shorten the run as one; the manifest keeps each.

    `--quick` is one choice of the user, so its effects are one departure.
    """
    quick = {each.name: each.quick for each in manifest.method.parameters} if manifest.quick else {}
    kept: list[Departure] = []
    shorter = list(_shortened(manifest))
    for each in manifest.departures:
        name = each.code.removeprefix(_PARAMETER)
        by_quick = name != each.code and name in quick and manifest.params.get(name) == quick[name]
        if by_quick:
            shorter.append(each.what)
        else:
            kept.append(each)
    if not shorter:
        return tuple(kept)
    code = "quick" if manifest.quick else "shorter"
    what = "quick" if manifest.quick else "shorter than the method requires"
    return (*kept, Departure(code=code, what=f"{what}: {', '.join(shorter)}"))


def is_shortened(manifest: Manifest) -> bool:
    """Whether a run is shorter than its method requires, or than `--quick` makes it."""
    return any(value < _expected(each, manifest) for each, value in _undeclared(manifest))


def _shortened(manifest: Manifest) -> Iterator[str]:
    """Yield in words each length below its default that is not stored as a departure."""
    for each, value in _undeclared(manifest):
        yield f"{label_of(each.name)} {_amount(each, value)} instead of {_amount(each, each.default)}"


def _undeclared(manifest: Manifest) -> Iterator[tuple[ParameterInfo, float]]:
    """Yield each length below its default that is not stored as a departure, with its value."""
    departed = {each.code.removeprefix(_PARAMETER) for each in manifest.departures}
    for each in () if manifest.children else manifest.method.parameters:
        value = manifest.params.get(each.name)
        if each.unit not in _LENGTHS or each.name in departed or not isinstance(value, int | float):
            continue
        if not isinstance(each.default, int | float) or not isinstance(each.quick, int | float):
            continue
        if each.quick < each.default and value < each.default:
            yield each, value


def _expected(each: ParameterInfo, manifest: Manifest) -> float:
    found = each.quick if manifest.quick else each.default
    assert isinstance(found, int | float)  # `_undeclared` has checked this
    return found


def label_of(name: str) -> str:
    """Return a parameter's name as words, without the unit.

    >>> label_of("ramp_seconds"), label_of("test_duration_sec"), label_of("overwrites")
    ('ramp time', 'test duration', 'overwrites')
    >>> label_of("most_seconds"), label_of("least_seconds")
    ('longest time', 'shortest time')
    """
    *stem, last = name.split("_")
    if last not in _OF_TIME:
        return " ".join((*stem, last))
    words = [_LIMITS.get(each, each) for each in stem]
    return " ".join(words if words and words[-1] == "duration" else (*words, "time"))


def _amount(each: ParameterInfo, value: JsonValue) -> str:
    if each.unit == "B" and isinstance(value, int):
        return capacity_text(value)
    return f"{value:g} {each.unit_of(value)}"


FIRST_BYTES = "first-bytes"
"""Code of the departure for a run on the drive's first bytes; the catalogue has the column `span` instead."""


def span_of(manifest: Manifest) -> int | None:
    """Return the number of first bytes that a run was limited to; None: the whole drive."""
    asked = None if manifest.member is None else manifest.member.span_bytes
    return span_within(asked, manifest.drive.capacity_bytes)


def span_within(asked: int | None, capacity_bytes: int) -> int | None:
    """Return the requested number of first bytes; None: not requested, or the whole drive."""
    return None if asked is None or asked >= capacity_bytes else asked


def first_bytes(span_bytes: int | None) -> tuple[Departure, ...]:
    """Return the departure for a run on a drive's first bytes; empty for the whole drive."""
    if span_bytes is None:
        return ()
    return (
        Departure(
            code=FIRST_BYTES,
            what=f"only the first {Amount(span_bytes, 'bytes')} of the drive were used",
            why="the rest acts as spare area, and a cache may hold all that was used",
        ),
    )
