"""An order (what to run on which drive) and its plan, made without touching the drive."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ssdlab.drives import look
from ssdlab.drives.guard.endurance import cap_of, rating_of
from ssdlab.drives.power_features import no_features
from ssdlab.drives.spare import spare_of
from ssdlab.host.identity import Identity
from ssdlab.lab.lab import Lab
from ssdlab.lab.parts.one_pass import refuse_before_made
from ssdlab.lab.parts.steady import SteadyParams
from ssdlab.lab.verbs.stream_bounds import layout_bounds, simulating_bounds
from ssdlab.lab.verbs.verb import Bounds
from ssdlab.lab.verbs.workload import Precondition
from ssdlab.model.capabilities import is_made_up, words_of
from ssdlab.model.errors import Refused, Unsupported
from ssdlab.model.workload import FILL_BLOCK_BYTES
from ssdlab.runs.conditions.variant import AS_IT_IS, Variant, check_fits, misfit, variant_info, varied
from ssdlab.runs.meters import chosen_meter
from ssdlab.runs.pace import pace_of, planning_of
from ssdlab.runs.plan import Plan, Recorder, not_steady
from ssdlab.runs.recorded_power import marked

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from ssdlab.analysis.pace import Pace
    from ssdlab.drives.base import Drive
    from ssdlab.drives.guard.endurance import EnduranceCap
    from ssdlab.drives.opening import Look
    from ssdlab.lab.method import Method, Params
    from ssdlab.model.failed_ios import OnError
    from ssdlab.model.meter_text import MeterText
    from ssdlab.results.run_folder import Step
    from ssdlab.results.schema import Member
    from ssdlab.runs.consent_record import Given
    from ssdlab.runs.plan import PlannedStep


@dataclass(frozen=True)
class Order:
    """What to run on which drive.

    Attributes
    ----------
    drive
        The drive as the user named it.
    size_bytes
        Size of a file to create.
    destroy
        Identifier of the drive, as consent to losing its data.
    wipe_signatures
        Whether that consent covers a file system, partition table or array member on the drive.
    endurance_cap
        Share of the rated endurance that may be written; by default a tenth.
    seed
        Seed of the run; by default random.
    rig
        File that describes the test platform; by default the user's, if any.
    run_id
        Id of the run; None: a new id is made.
    member
        Place of the run in a suite.
    meter
        Power meter on the drive; by default from the rig file or `config.toml`.
    on_error
        What to do if too many I/Os of a step fail.
    begun_on
        In a suite: the suite's consent, with its drive.
    variant
        Variant to set on a real drive before the first step. A simulated drive's variant is in its text.
    """

    method: Method
    params: Params
    drive: str
    quick: bool = False
    size_bytes: int | None = None
    destroy: str | None = None
    seed: int | None = None
    run_id: str | None = None
    member: Member | None = None
    variant: Variant = AS_IT_IS
    wipe_signatures: bool = False
    endurance_cap: float | None = None
    rig: Path | None = None
    begun_on: Given | None = None
    meter: MeterText | None = None
    on_error: OnError = "stop"


def plan_order(order: Order, library: Path | None = None, *, probing: bool = False) -> Plan:
    """Plan a run: inspect the drive without changing it.

    Parameters
    ----------
    order
        The run to plan.
    library
        Library whose earlier runs show the drive's speed.
    probing
        Measure the drive for up to half a minute: reads only, unless its data may be lost.

    Raises
    ------
    UsageError, Refused
        There is no such drive, or its size is unknown. Other objections, such as missing consent, are in the
        plan's `objection`.
    """
    found = look(
        order.drive,
        size=order.size_bytes,
        destroy=order.destroy,
        wipe_signatures=order.wipe_signatures,
        formats=order.variant.destroys,
    )
    if found.identity is None or not found.identity.capacity_bytes:
        refusal = found.reading
        assert refusal is not None  # a drive without identity or size is always refused
        raise refusal.error(order.drive)
    writing = order.method.writes(order.params) or order.variant.destroys
    refusal = found.writing if writing else found.reading
    guarded = None if refusal is None else refusal.error(order.drive)
    objection = guarded or misfit(order.variant, found.identity, writing=writing)
    objection = objection or no_drive(order.method, found.identity)
    simulated = found.identity.capabilities.virtual_time
    meter = chosen_meter(order.meter, order.rig, simulated=simulated, in_suite=order.member is not None)
    stored = variant_info(order.variant, found.identity, writing=writing)
    method = marked(varied(order.method, stored), meter)
    pace = pace_of(found.identity, library)
    if probing and found.exists:
        from ssdlab.runs.probe import probe

        pace = probe(
            order.drive,
            pace,
            size_bytes=order.size_bytes,
            destroy=order.destroy,
            wipe_signatures=order.wipe_signatures,
        )
    planned = replace(
        plan_on(method, order.params, found.identity, pace=pace),
        objection=objection,
        signatures=found.signatures if order.wipe_signatures else (),
    )
    planned = with_endurance(planned, found.identity, cap_of(order.endurance_cap))
    if found.exists:
        return planned
    size = found.identity.capacity_bytes
    return replace(planned, preparation=layout_bounds(size), preparation_bytes=size)


def check_before_made(order: Order, looked: Callable[..., Look], *, writing: bool) -> None:
    """Refuse an order that a drive or file still to be created cannot meet; `looked` is `drives.look`.

    Raises
    ------
    Refused, Unsupported, UsageError
        What is impossible, and why.
    """
    refuse_before_made(order.drive, getattr(order.params, "precondition", None))
    made = order.size_bytes is not None and order.variant != AS_IT_IS
    if not made and not order.method.asks_drive:
        return
    found = looked(order.drive, size=order.size_bytes)
    if found.identity is None:
        return
    if (refusal := no_drive(order.method, found.identity)) is not None:
        raise refusal
    if made:
        check_fits(order.variant, found.identity, writing=writing)


def no_drive(method: Method, identity: Identity) -> Unsupported | None:
    """Return why the drive lacks the features that a method needs; None if it does not."""
    can = identity.capabilities
    if not method.asks_drive or can.virtual_time:
        return None
    if can.block_device and not is_made_up(identity.transport, identity.name):
        return None
    return no_features(identity.path, f"a {words_of(can, asdict(identity)).lower()} is not a drive")


def plan_on(
    method: Method,
    params: Params,
    drive: Identity | Drive,
    known: Iterable[Step] = (),
    pace: Pace | None = None,
    **lab: Any,  # noqa: ANN401 - seeds and span of Lab
) -> Plan:
    """Plan a procedure by running it on a lab that only counts.

    Parameters
    ----------
    method, params, drive
        The procedure, its parameters, and the drive whose capacity and logical block it sees.
    known
        Finished steps of a resumed run.
    pace
        Knowledge of the drive's speed beyond link and ratings: earlier runs, or a probe.
    lab
        Seeds and span of `Lab`.
    """
    can = drive.capabilities
    planning = planning_of(drive, pace)
    recorder = Recorder(known, planning=planning)
    facts: dict[str, Any] = {
        "capacity_bytes": drive.capacity_bytes,
        "logical_block_bytes": drive.logical_block_bytes,
        "forks": can.forks,
        "spare_of": partial(spare_of, drive if isinstance(drive, Identity) else drive.identity),
    }
    method.procedure(Lab(recorder, **facts, **lab), params)
    made = Plan(
        tuple(recorder.steps),
        planning=planning,
        own_steps=method.own_steps,
        keeps_time=can.virtual_time,
        cannot_show=_cannot_show(recorder.steps, params),
    )
    if not can.virtual_time or method.reads_unwritten:
        return made
    # A simulated drive is written once before the run, in virtual time that does not count.
    laid = Bounds(drive.capacity_bytes, drive.capacity_bytes)
    return replace(made, preparation=simulating_bounds(laid, FILL_BLOCK_BYTES))


def _cannot_show(steps: Sequence[PlannedStep], params: Params) -> tuple[str, ...]:
    """Return why a method that needs steady state will not show it; empty if it may."""
    if isinstance(params, SteadyParams) and not any(step.verb == Precondition.verb for step in steps):
        return ("writes follow one fill",)
    return tuple(dict.fromkeys(filter(None, map(not_steady, steps))))


def with_endurance(plan: Plan, drive: Identity, cap: EnduranceCap) -> Plan:
    """Add the rated endurance and the cap to a plan, with an objection if it writes too much."""
    rating = None if drive.capabilities.virtual_time else rating_of(drive, cap)
    if rating is None:
        return plan
    try:
        rating.check(drive.path, round(plan.bytes_written.lower), planned=True)
    except Refused as error:
        plan = replace(plan, objection=plan.objection or error)
    return replace(plan, endurance_bytes=rating.endurance_bytes, cap_bytes=rating.max_bytes)
