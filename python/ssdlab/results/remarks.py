"""A run's warnings and departures for terminal, card and page; and the part of the drive it used."""

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

# The warnings of a run by their kind, and the steps that each is of: what terminal, card and page count.
#
# A manifest holds a warning once that several steps raised in the same words. Which steps these were is in
# the steps themselves; a warning that none of them raised is of the whole run.

_NAMED = 3
"""Steps that are named in a line; of more the first ones, and how many others."""


@dataclass(frozen=True)
class Worded:
    """One wording of a warning, with its steps; none: the whole run."""

    what: str
    advice: str
    steps: tuple[Step, ...]

    @property
    def place(self) -> str:
        """Where it applies."""
        return _names(self.steps) if self.steps else "whole run"


@dataclass(frozen=True)
class WarnedSteps:
    """All warnings of a run with one code."""

    code: str
    worded: tuple[Worded, ...]
    measured: int
    """Number of measuring steps of the run."""

    @property
    def steps(self) -> tuple[Step, ...]:
        """Its steps, each once, in order."""
        found = {step.ordinal: step for each in self.worded for step in each.steps}
        return tuple(found[ordinal] for ordinal in sorted(found))

    @property
    def line(self) -> str:
        """One line: the warning if all steps agree, else the first one with its place."""
        first = self.worded[0]
        if len({each.place for each in self.worded}) == 1:  # of one step, or of the whole run
            alike = "; ".join(each.what for each in self.worded)
            return alike + (f" ({self.where})" if self.where else "")
        return f"{first.what} (at {first.place}; similar {self.share or 'elsewhere'})"

    @property
    def share(self) -> str:
        """In how many of the steps; empty for the whole run, or for its only step."""
        steps = self.steps
        if not steps or self.measured <= 1:
            return ""
        if all(step.result.measurement is not None for step in steps):
            return f"in {len(steps)} of {self.measured} measured steps"
        return f"in {len(steps)} step{'s' if len(steps) > 1 else ''}"

    @property
    def where(self) -> str:
        """In how many steps, and in which, unless all."""
        steps = self.steps
        if not self.share or len(steps) == self.measured:
            return self.share
        return f"{self.share}: {_names(steps)}"


def warned_steps(warnings: Iterable[Warned], steps: Sequence[Step]) -> list[WarnedSteps]:
    """Group the warnings of a run by code, in the order they were raised."""
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
    """Return the drive's temperature at the end of a step, in °C; None if not reported."""
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
    """Return a step's number and label; one that a job has numbered itself keeps that number alone."""
    return step.label if _NUMBERED.match(step.label) else f"step {step.ordinal + 1}, {step.label}"


def _names(steps: Sequence[Step]) -> str:
    labels = [_name(step) for step in steps[:_NAMED]]
    others = len(steps) - len(labels)
    return "; ".join(labels) + (f"; and {others} more" if others else "")


# Departures of a run as they are shown: those that only make it shorter are one, and come last.
#
# A parameter of which `--quick` takes less makes the run shorter, and that is what its preset is for. Whoever
# sets it below its default has the same run. That follows from the parameters and is not stored.

_PARAMETER = "parameter-"
"""What the code of a departure begins with that is a parameter's value; its name follows."""
_OF_TIME = ("seconds", "sec")
_LIMITS = {"most": "longest", "least": "shortest"}
_LENGTHS = frozenset({"s", "B", "spans", "times"})
"""Units of what goes on for longer or writes more; others are steps and limits of a search."""


def departure_text(departure: Departure) -> str:
    """Return a departure and its reason in one text, without a capital or a full stop."""
    return f"{departure.what}: {departure.why}" if departure.why else departure.what


def gathered_departures(manifest: Manifest) -> tuple[Departure, ...]:
    """Return the departures to show; the manifest keeps each one.

    All shortening by `--quick` is one user's choice, so it is one departure.
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
    """Yield each length that is shorter than the default, which no departure tells of."""
    for each, value in _undeclared(manifest):
        yield f"{label_of(each.name)} {_amount(each, value)} instead of {_amount(each, each.default)}"


def _undeclared(manifest: Manifest) -> Iterator[tuple[ParameterInfo, float]]:
    """Yield the lengths below their default that no departure tells of, with their values."""
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
    assert isinstance(found, int | float)  # as `_undeclared` has it
    return found


def label_of(name: str) -> str:
    """Return a parameter's name in a sentence, without the unit.

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
"""Code of the departure; the catalogue has the bytes instead."""


def span_of(manifest: Manifest) -> int | None:
    """Return the number of first bytes that a run was limited to; None: the whole drive."""
    asked = None if manifest.member is None else manifest.member.span_bytes
    return span_within(asked, manifest.drive.capacity_bytes)


def span_within(asked: int | None, capacity_bytes: int) -> int | None:
    """Return a number of first bytes of a drive; None if that is all, or not requested."""
    return None if asked is None or asked >= capacity_bytes else asked


def first_bytes(span_bytes: int | None) -> tuple[Departure, ...]:
    """Return that only the drive's first bytes were used; empty for the whole drive."""
    if span_bytes is None:
        return ()
    return (
        Departure(
            code=FIRST_BYTES,
            what=f"only the first {Amount(span_bytes, 'bytes')} of the drive were used",
            why="the rest acts as spare area, and a cache may hold all that was used",
        ),
    )
