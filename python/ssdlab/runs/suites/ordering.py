"""From a command to the runs of a suite: parameters, seeds, drives, and initial states."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, partial
from typing import TYPE_CHECKING

from ssdlab.lab.parts.one_pass import UNPREPARED
from ssdlab.lab.suites.suite import Part, Suite
from ssdlab.lab.verbs.drive_state import Purge
from ssdlab.lab.verbs.workload import Fill, Precondition, Run
from ssdlab.model.capabilities import SIMULATED_PREFIX
from ssdlab.model.errors import LabError, Refused, UsageError, unknown
from ssdlab.model.pattern import Sequential
from ssdlab.model.units import capacity_text
from ssdlab.results.schema import NOT_ASKED_FOR, Child
from ssdlab.results.store import new_run_id
from ssdlab.runs.conditions.variant import AS_IT_IS, Variant, check_fits, on_text
from ssdlab.runs.order import plan_on

if TYPE_CHECKING:
    from pathlib import Path

    from ssdlab.analysis.pace import Pace
    from ssdlab.drives.opening import Look
    from ssdlab.host.identity import Identity
    from ssdlab.lab.method import Method, Params
    from ssdlab.lab.suites.suite import State
    from ssdlab.results.run_folder import RunFolder
    from ssdlab.results.schema import DriveInfo, Member
    from ssdlab.runs.order import Order
    from ssdlab.runs.plan import Plan, PlannedStep


# The initial drive state of a part of a suite: the state that its planned steps produce before they measure.
#
# A declaration only says what its author intends; the steps decide.


def states_before(steps: Sequence[PlannedStep]) -> tuple[State, ...]:
    """Return the states that a plan produces before its first measurement, in order.

    A purge undoes earlier states. Preconditioning produces a steady state only if a rule ends it.
    """
    found: list[State] = []
    for step in steps:
        asked = None if step.request is None else step.request.asked
        if isinstance(asked, Run):
            break
        if isinstance(asked, Purge):
            found = ["fresh"]
        elif isinstance(asked, Fill):
            found.append("written")
        elif isinstance(asked, Precondition) and asked.until is not None:
            ordered = all(isinstance(each.pattern, Sequential) for each in asked.workload.streams)
            found.append("sequential-steady" if ordered else "random-steady")
    return tuple(found)


def begins_in(declared: State, steps: Sequence[PlannedStep]) -> State:
    """Return a part's initial state: the declared state if the steps produce it, else their last state."""
    found = states_before(steps)
    if declared == "any" or declared in found:
        return declared
    return found[-1] if found else "any"


def scale_of(drive: str) -> int:
    """Return the scale of a simulated drive (how many times smaller it is); 1 for any other drive."""
    if not drive.startswith(SIMULATED_PREFIX):
        return 1
    from ssdlab.drives.simulated.text import SimulatedText

    return SimulatedText.parse(drive).scale


def has_whole(part: Part, *, quick: bool) -> bool:
    """Whether a part needs a simulated drive in full size; quick presets fit any size."""
    return part.absolute and not quick


def in_full_size(drive: str) -> str:
    """Return a simulated drive in full size; a drive with a state file keeps its size."""
    if not drive.startswith(SIMULATED_PREFIX):
        return drive
    from ssdlab.drives.simulated.text import SimulatedText

    own = SimulatedText.parse(drive)
    return drive if own.scale == 1 or own.state is not None else str(replace(own, scale=1))


def with_write_cache(drive: str, asked: str | None) -> str:
    """Return a simulated drive with this write cache setting, unless its text or state file sets it."""
    if asked is None or not drive.startswith(SIMULATED_PREFIX):
        return drive
    from ssdlab.drives.simulated.profiles import check_profile
    from ssdlab.drives.simulated.text import SimulatedText

    own, cached = SimulatedText.parse(drive), asked == "on"
    if own.write_cache is not None or own.state is not None:
        return drive
    made = check_profile(own.profile, **own.settings())
    return drive if made["write_cache"] is cached else str(replace(own, write_cache=cached))


def drive_of_part(text: str, part: Part, *, quick: bool) -> str:
    """Return the drive for a part: with its variant, and in full size if the part's sizes are absolute."""
    if not text.startswith(SIMULATED_PREFIX) or not (part.absolute or part.variant):
        return text
    from ssdlab.drives.simulated.text import SimulatedText

    own = SimulatedText.parse(in_full_size(text) if has_whole(part, quick=quick) else text)
    if own.scale > 1 and has_whole(part, quick=quick):
        raise UsageError(
            "its stimuli have fixed sizes, but the state file holds a scaled-down drive",
            "leave state= or scale= out",
        )
    asked = Variant.model_validate(dict(part.variant))
    if own.state is not None and asked != AS_IT_IS:
        raise UsageError("the state file holds another drive than the variant", "leave state= out")
    return on_text(str(own), asked)


def check_span(asked: Variant, span_bytes: int | None) -> None:
    """Refuse a variant with more usable capacity than the suite uses: it would make no difference."""
    if span_bytes is not None and (asked.usable_bytes or 0) > span_bytes:
        raise UsageError(
            f"only the first {capacity_text(span_bytes)} of the drive is used, less than the variant leaves",
            "run it without --quick, or raise quick_span",
        )


MAX_REPEATS = 99


@dataclass(frozen=True)
class SuiteOrder:
    """What a suite is to run on one drive.

    Attributes
    ----------
    params
        Parameters of each part, by its label.
    like
        Order of a single run with everything that holds for all runs: drive, consent, presets, seed.
    repeat
        Number of repeats of the whole suite.
    position
        Number of the drive, from 1: the first is the one under review.
    called
        Other names of the drive in the command, besides its text.
    member
        If the drive is one of a comparison: its place in the comparison.
    standing
        Finished runs of the library to use instead of new ones, by part label.
    known
        The drive according to those runs, if it is not attached; None: the drive is inspected.
    only
        Labels of the parts to run; empty: all parts.
    """

    suite: Suite
    params: Mapping[str, Params]
    like: Order
    repeat: int = 1
    position: int = 1
    called: frozenset[str] = frozenset()
    member: Member | None = None
    standing: Mapping[str, RunFolder] = field(default_factory=dict)
    known: DriveInfo | None = None
    only: frozenset[str] = frozenset()

    @property
    def parts(self) -> tuple[Part, ...]:
        return self.suite.parts_of(self.position, self.names)

    @property
    def names(self) -> frozenset[str]:
        """Names that a declaration may use for the drive: its text, its profile, or those of the command."""
        from ssdlab.drives.simulated.text import SimulatedText

        text = self.like.drive
        profile = SimulatedText.parse(text).profile_names if text.startswith(SIMULATED_PREFIX) else ()
        return self.called | {text, *profile}

    @property
    def quick(self) -> bool:
        return self.like.quick or self.suite.quick

    @cached_property
    def drive(self) -> str:
        """The drive's text; for a simulated drive, with what all parts have in common."""
        text = self.like.drive
        if all(has_whole(part, quick=self.quick) for part in self.suite.parts):
            text = in_full_size(text)
        asked = {self.params_of(part).write_cache for part in self.parts}
        if len(asked) == 1 and not any("write_cache" in each.variant for each in self.suite.entries):
            text = with_write_cache(text, asked.pop())
        return text

    @property
    def used_bytes(self) -> int | None:
        """Maximum part of the drive to use, in bytes; None: the whole drive."""
        return self.suite.used_bytes(quick=self.quick)

    @property
    def writes(self) -> bool:
        """Whether any part that is still to be run writes to the drive."""
        return any(
            self.suite.method(part).writes(self.params_of(part))
            for part in self.parts
            if part.label not in self.standing and self.asks_for(part)
        )

    def asks_for(self, part: Part) -> bool:
        """Whether the user asked for a part."""
        return not self.only or part.label in self.only

    def params_of(self, part: Part) -> Params:
        """Return the parameters of a part; a part that varies another has that part's parameters."""
        return self.params[part.like or part.label]


@dataclass(frozen=True)
class PlannedChild:
    """A run of a suite with its plan; without a plan if the run is left out or already finished."""

    child: Child
    plan: Plan | None


def suite_params(
    suite: Suite, settings: Mapping[str, str], *, quick: bool, drive: str = ""
) -> dict[str, Params]:
    """Return the parameters of each part: its defaults, then the suite's settings, then the user's.

    Parameters
    ----------
    settings
        Settings of `--set`: `name` for every part that has it, or `part.name` for one part.
    quick
        Whether to use the quick presets.
    drive
        The drive; times shrink with the scale of a simulated drive.

    Raises
    ------
    UsageError
        No part has a parameter of that name, a value does not fit, or a variant is not valid for any drive.
    """
    _check_names(suite, settings)
    _check_variants(suite)
    short = quick or suite.quick
    # Quick runs last seconds, in which no steady state can be written.
    placeable = short and _is_placeable(drive, suite.used_bytes(quick=short))
    made = {}
    for part in suite.parts:
        scaled = suite.scaled_times and not short and not part.absolute
        scale = scale_of(drive) if scaled else 1
        fields = suite.method(part).params.model_fields
        own = {name: value for name, value in settings.items() if name in fields}
        own |= {
            name.removeprefix(f"{part.label}."): value
            for name, value in settings.items()
            if name.startswith(f"{part.label}.")
        }
        begins_placed = short and part.state == "random-steady" and "precondition" in fields and placeable
        placed = {"precondition": "analytic"} if begins_placed else {}
        given = {**_times(suite.method(part), scale), **placed, **part.settings, **own}
        made[part.label] = suite.method(part).params.build(given, quick=short)
    return made


def _is_placeable(drive: str, used_bytes: int | None) -> bool:
    """Whether a drive's steady state can be computed: theory covers the drive, and all of it is used."""
    if not drive.startswith(SIMULATED_PREFIX):
        return False
    from ssdlab.drives.simulated.drive import SimulatedText, identity_of
    from ssdlab.drives.spare import spare_of_simulated

    if used_bytes is not None and used_bytes < identity_of(SimulatedText.parse(drive)).capacity_bytes:
        return False
    spare = spare_of_simulated(drive)
    return bool(spare.placeable) and not spare.one_bit_cache


def _times(method: Method, scale: int) -> dict[str, str]:
    """Return the default times of a method, shortened by the scale; empty if nothing changes."""
    params = method.params
    times = (
        info for info in params.table() if info.unit == "s" and scale > 1 and info.name not in params.absolute
    )
    return {info.name: f"{round(float(str(info.default)) / scale, 9)!r}" for info in times}  # whole ns


def _check_names(suite: Suite, settings: Mapping[str, str]) -> None:
    everywhere = {name for part in suite.parts for name in suite.method(part).params.model_fields}
    single = {
        f"{part.label}.{name}" for part in suite.parts for name in suite.method(part).params.model_fields
    }
    for name in settings:
        if name not in everywhere | single:
            known = single if "." in name else everywhere
            raise unknown("parameter", name, sorted(known), elsewhere="see ssdlab methods")


def _check_variants(suite: Suite) -> None:
    for entry in suite.entries:
        try:
            Variant.model_validate(dict(entry.variant))
        except UsageError as error:
            raise UsageError(f"variant {entry.name}: {error.what}", error.advice) from error


def repeated(method: Method, params: Params, repeat: int) -> tuple[Suite, dict[str, Params]]:
    """Return a suite of one method with its parameters, to be run `repeat` times."""
    part = Part(method.name)
    suite = Suite(
        name=method.name if repeat == 1 else f"{method.name}-x{repeat}",
        version=method.version,
        title=method.title if repeat == 1 else f"{method.title}, {repeat} runs",
        prose=method.prose,
        parts=(part,),
    )
    return suite, {part.label: params}


def check_repeat(repeat: int) -> None:
    """Refuse a number of repeats below 1 or above `MAX_REPEATS`.

    Raises
    ------
    UsageError
        With the bounds.
    """
    if not 1 <= repeat <= MAX_REPEATS:
        raise UsageError(
            f"--repeat {repeat} is not 1 to {MAX_REPEATS}",
            f"give 1 to {MAX_REPEATS}; six runs give a 95 % interval of the median",
        )


def derived(seed: int, *path: object) -> int:
    """Derive a seed of 63 bits from another seed and names, always the same for the same arguments."""
    text = ":".join(str(part) for part in (seed, *path))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "little") >> 1


def planned_children(
    order: SuiteOrder, seed: int, look: Look | None, library: Path | None = None
) -> tuple[PlannedChild, ...]:
    """Name and plan every run of a suite; touches nothing.

    `look` is the inspected drive. None: the drive is not attached, so parts without a finished run in the
    library are left out. Earlier runs in `library` show the drive's speed.

    Raises
    ------
    UsageError, Refused
        A declaration asks for what the drive cannot be, or the drive cannot be prepared as asked.
    """
    from ssdlab.runs.pace import pace_of

    pace = cache(partial(pace_of, library=library))
    children = tuple(
        _not_asked_for(order, seed, part, at)
        if not order.asks_for(part)
        else _stands(order, part, order.standing[part.label])
        if part.label in order.standing
        else _planned(order, seed, part, at, look, pace)
        for at in range(1, order.repeat + 1)
        for part in order.parts
    )
    if look is not None and order.suite.own:
        _refuse_variants(order, children)
        _refuse_states(order, children, look)
    return children


def _refuse_variants(order: SuiteOrder, children: Sequence[PlannedChild]) -> None:
    """Refuse all variants of a user's own declaration that this drive cannot be, in one error."""
    left_out = {each.child.part.partition(" #")[0]: each.child.left_out for each in children}
    reasons = {
        f"{part.label}: {reason}": None
        for part in order.parts
        if part.variant and (reason := left_out[part.label]) and left_out[part.like] in (None, NOT_ASKED_FOR)
        if order.asks_for(part)
    }
    if reasons:
        raise UsageError(
            f"{order.drive} cannot be as declared: {'; '.join(reasons)}",
            "change these variants in the declaration, or take them out",
        )


def _stands(order: SuiteOrder, part: Part, run: RunFolder) -> PlannedChild:
    manifest = run.manifest
    child = Child(
        part=part.label,
        run_id=run.path.name,
        method=part.method,
        version=manifest.method.version,
        title=manifest.method.title,
        params=manifest.params,
        quick=manifest.quick,
        seed=manifest.seed,
        preparation_seed=manifest.seed,
        drive=manifest.drive.text,
        state=part.state,
        variant=dict(part.variant),
        standing=True,
    )
    return PlannedChild(child, None)


def _not_asked_for(order: SuiteOrder, seed: int, part: Part, at: int) -> PlannedChild:
    return PlannedChild(
        _child(order, seed, part, at).model_copy(update={"left_out": NOT_ASKED_FOR}),
        None,
    )


def _child(order: SuiteOrder, seed: int, part: Part, at: int) -> Child:
    """Return the record of a run of a suite, without what depends on the drive's inspection."""
    method, params = order.suite.method(part), order.params_of(part)
    name = part.label if order.repeat == 1 else f"{part.label} #{at}"
    return Child(
        part=name,
        run_id=new_run_id(method.name),
        method=method.name,
        version=method.version,
        title=method.title,
        params=params.model_dump(mode="json"),
        quick=order.like.quick,
        seed=derived(seed, name),
        # Parts that share an initial state prepare it with the same random numbers.
        preparation_seed=derived(seed, at, "to", part.state),
        drive=order.drive,
        state=part.state,
        span_bytes=order.used_bytes,
        variant=dict(part.variant),
    )


def _planned(
    order: SuiteOrder, seed: int, part: Part, at: int, look: Look | None, pace: Callable[[Identity], Pace]
) -> PlannedChild:
    method, params = order.suite.method(part), order.params_of(part)
    child = _child(order, seed, part, at)
    if look is None:
        why = "it is not in the library, and the drive is not attached"
        return PlannedChild(child.model_copy(update={"left_out": why}), None)
    try:
        child = child.model_copy(update={"drive": drive_of_part(order.drive, part, quick=order.quick)})
        identity = identity_at(child.drive, order, look)
        if part.variant and not child.drive.startswith(SIMULATED_PREFIX):
            asked = _variant(part, order)
            check_span(asked, child.span_bytes)
            check_fits(asked, identity, writing=method.writes(params))
        plan = plan_on(
            method,
            params,
            identity,
            pace=pace(identity),
            seed=child.seed,
            preparation_seed=child.preparation_seed,
            span_bytes=child.span_bytes,
        )
    except (UsageError, Refused) as error:
        if error.facts.get("reason") in UNPREPARED:
            # The user asked for this preparation; running only the other parts for hours would not help.
            error.what = f"{part.label} on {child.drive}: {error.what}"
            raise
        return PlannedChild(child.model_copy(update={"left_out": error.what}), None)
    return PlannedChild(child.model_copy(update={"state": begins_in(part.state, plan.steps)}), plan)


def _refuse_states(order: SuiteOrder, children: Sequence[PlannedChild], look: Look) -> None:
    """Refuse a user's declaration of an initial state that the method, as declared, does not produce."""
    plans = {each.child.part.partition(" #")[0]: each for each in children}
    for part in order.parts:
        planned = plans[part.label]
        if planned.plan is None or planned.child.state == part.state:
            continue
        method = order.suite.method(part)
        params = method.params.build(dict(part.settings), quick=order.quick)
        identity = identity_at(planned.child.drive, order, look)
        found = states_before(plan_on(method, params, identity, span_bytes=order.used_bytes).steps)
        if part.state not in found:
            brought = " and then ".join(found) or "no state at all"
            raise UsageError(
                f"the part {part.label} begins {part.state!r}, but {method.name} produces {brought}",
                f"declare begins = {found[-1] if found else 'any'!r}, or set the method to produce that",
                part=part.label,
            )


def _variant(part: Part, order: SuiteOrder) -> Variant:
    """Return the variant for a part: the order's, plus the part's own options."""
    asked = order.like.variant.model_dump(mode="json", by_alias=True, exclude_none=True)
    return Variant.model_validate({**asked, **part.variant})


def identity_at(text: str, order: SuiteOrder, look: Look) -> Identity:
    """Return the identity of a part's drive: the inspected drive, or a simulated one of another size."""
    if text == order.like.drive:
        if look.identity is None:
            assert look.reading is not None  # a drive without identity is always refused
            raise look.reading.error(text)
        return look.identity
    from ssdlab.drives.simulated.drive import SimulatedText, identity_of

    return identity_of(SimulatedText.parse(text))


def groups(children: tuple[PlannedChild, ...], shared: frozenset[str]) -> Iterator[tuple[PlannedChild, ...]]:
    """Yield groups of runs that begin in the same state, prepared with the same seed on the same drive."""
    found: dict[tuple[str, int, str], list[PlannedChild]] = {}
    for each in children:
        if each.plan is not None and each.child.state in shared:
            key = (each.child.state, each.child.preparation_seed, each.child.drive)
            found.setdefault(key, []).append(each)
    yield from (tuple(group) for group in found.values())


def shared_steps(group: tuple[PlannedChild, ...]) -> int:
    """Return how many first steps the plans of a group share, up to the end of preconditioning."""
    if len(group) < 2:
        return 0
    hashes = [[step.hash for step in each.plan.steps] for each in group if each.plan is not None]
    first = group[0].plan
    if first is None:
        raise LabError("a run without a plan was grouped", "this is a fault of ssdlab")
    common = 0
    while all(len(steps) > common and steps[common] == hashes[0][common] for steps in hashes):
        common += 1
    prepared = [at for at, step in enumerate(first.steps[:common]) if step.verb == "precondition"]
    return prepared[-1] + 1 if prepared else 0
