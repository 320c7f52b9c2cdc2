"""Makes a plan from a selection and the inventories, without accessing a drive."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import ValidationError

from ssdlab.drives.opening import Look
from ssdlab.fleet.fleet_plan import FleetJob, FleetPlan, Task, holds_of
from ssdlab.fleet.inventory import own_version
from ssdlab.fleet.quarantine import quarantined, release_command
from ssdlab.fleet.selection import Drives
from ssdlab.fleet.status import status_of, unfinished
from ssdlab.fleet.trusted_files import misfit_text
from ssdlab.lab.suites import find_suite, is_path
from ssdlab.model.errors import LabError, Refused, UsageError, excerpt, unknown
from ssdlab.model.meter_text import MeterText
from ssdlab.model.options import endurance_cap
from ssdlab.results.journal import now
from ssdlab.results.store import new_run_id
from ssdlab.runs.conditions.variant import AS_IT_IS, Variant, misfit, on_text
from ssdlab.runs.meters import chosen_meter
from ssdlab.runs.order import Order, plan_on, with_endurance
from ssdlab.runs.pace import pace_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ssdlab.drives.guard.endurance import EnduranceCap
    from ssdlab.fleet.fleet_folder import FleetFolder
    from ssdlab.fleet.inventory import FleetDrive, Inventory
    from ssdlab.fleet.quarantine import Failures
    from ssdlab.fleet.selection import Selection, Work
    from ssdlab.host.identity import Identity
    from ssdlab.lab.verbs.verb import Bounds
    from ssdlab.runs.plan import Plan


@dataclass(frozen=True)
class Placed:
    drive: FleetDrive
    host: str


def chosen_drives(
    selection: Selection,
    inventories: Sequence[Inventory],
    faults: list[LabError],
    bad: Mapping[str, Failures] | None = None,
    release: Callable[[str], str] = str,
) -> tuple[Placed, ...]:
    """Return the drives that a selection names, each once and in its order.

    Drives that do not exist are added to `faults`, as are drives in quarantine (`bad`) that are named by
    serial. If a model is named, its drives in quarantine are left out. `release` returns the command that
    releases a serial.

    Raises
    ------
    UsageError
        No host has an inventory with drives.
    """
    bad = bad or {}
    every = [Placed(drive, each.host) for each in inventories for drive in each.drives]
    everywhere = [each for each in every if each.drive.serial not in bad]
    if not every:
        raise UsageError(
            "no host has an inventory with drives in this library",
            "first run `ssdlab fleet inventory` on each host, with their shared library",
        )
    taken: dict[str, Placed] = {}
    golden = () if selection.golden is None else (Drives(serials=(selection.golden,)),)
    for wanted in (*golden, *selection.drives):
        for serial in wanted.serials:
            if serial in bad:
                faults.append(
                    UsageError(bad[serial].words, f"leave it out, or release it: {release(serial)}")
                )
        wanted = wanted.model_copy(update={"serials": tuple(s for s in wanted.serials if s not in bad)})
        for find in _finders(wanted, everywhere, taken):
            try:
                taken |= {placed.drive.serial: placed for placed in find()}
            except UsageError as error:
                faults.append(error)
    return tuple(taken.values())


def _finders(
    wanted: Drives, everywhere: Sequence[Placed], taken: dict[str, Placed]
) -> list[Callable[[], list[Placed]]]:
    """Return functions that find an entry's drives: one per serial, so that every unknown serial is named."""
    if wanted.model is None:
        return [partial(_one, serial, wanted.host, everywhere) for serial in wanted.serials]
    return [partial(_fitting, wanted, everywhere, taken)]


def _fitting(wanted: Drives, everywhere: Sequence[Placed], taken: dict[str, Placed]) -> list[Placed]:
    assert wanted.model is not None  # checked when the selection was read
    hosts = sorted({each.host for each in everywhere})
    if wanted.host is not None and wanted.host not in hosts:
        raise unknown("host", wanted.host, hosts)
    fits = [
        each
        for each in everywhere
        if wanted.model.casefold() in each.drive.model.casefold()
        and wanted.firmware in (None, each.drive.who.firmware)
        and wanted.host in (None, each.host)
    ]
    free = [each for each in fits if each.drive.serial not in taken]
    if not fits:
        raise unknown("drive of model", wanted.model, sorted({each.drive.model for each in everywhere}))
    gone = f"{len(fits) - len(free)} taken by earlier entries of [[drives]]"
    if not free:
        raise UsageError(
            f"no drive of model {wanted.model} is left: {gone}",
            "leave this entry out, or let earlier entries take fewer: count = N",
        )
    if wanted.count is not None and len(free) < wanted.count:
        others = "" if len(free) == len(fits) else f" ({gone})"
        raise UsageError(
            f"{wanted.count} drives of model {wanted.model} are requested, but only {len(free)} "
            f"exist{others}",
            f"lower count to {len(free)}, or record the inventory of more hosts",
        )
    return free[: wanted.count]


def _one(serial: str, host: str | None, everywhere: Sequence[Placed]) -> list[Placed]:
    """Return the drive with a serial; raise UsageError if several hosts have it and no host is given."""
    found = [each for each in everywhere if each.drive.serial == serial]
    if not found:
        raise unknown("drive of the fleet with serial", serial, [each.drive.serial for each in everywhere])
    fits = [each for each in found if host in (None, each.host)]
    hosts = ", ".join(each.host for each in found)
    if not fits:
        raise UsageError(f"{serial} is on {hosts}, but the selection has {host}", "correct host")
    if len(fits) > 1:
        raise UsageError(
            f"{serial} is on several hosts: {hosts}", "give that entry of [[drives]] a host = '...'"
        )
    return fits


_FAULTS_NAMED = 8


def plan_fleet(selection: Selection, inventories: Sequence[Inventory], library: Path) -> FleetPlan:
    """Plan every job of a selection.

    Raises
    ------
    UsageError
        A drive, a method, a parameter or a variant does not exist.
    Refused
        A drive is protected, has signatures without consent, or does not fit the work; all are named.
    """
    faults: list[LabError] = []
    bad = quarantined(library)
    release = partial(release_command, library=library)
    chosen = chosen_drives(selection, inventories, faults, bad, release)
    jobs: list[FleetJob] = []
    problems = _too_many_cpus(selection, inventories, chosen)
    planner = _Planner(selection, library)
    for work in selection.work:
        try:
            planner.read(work)
        except LabError as error:  # a fault of the work, for any drive
            faults.append(error)
            continue
        for placed in chosen:
            try:
                jobs.append(planner.job(f"{len(jobs) + 1:04}", work, placed))
            except UsageError as error:  # a fault of the work, not of the drive
                faults.append(error)
                break
            except Refused as error:
                problems.append(f"{placed.drive.serial} on {placed.host}: {error.what}")
    _refuse_selection(faults, problems)
    if problems:
        more = f"; and {len(problems) - 8} more" if len(problems) > 8 else ""
        raise Refused(
            f"{len(problems)} of these jobs would be refused: {'; '.join(problems[:8])}{more}",
            "remove these drives from the selection, or fix the causes",
            problems=problems,
        )
    stamp = datetime.now(UTC).strftime("%Y%m%d-%H%M%S")
    return FleetPlan(
        plan_id=f"{stamp}-{selection.name}",
        created=now(),
        version=own_version(),
        library=str(library),
        library_token=inventories[0].library_token,
        at_once=selection.limits.at_once,
        retries=selection.limits.retries,
        golden=selection.golden,
        left_out=_left_out(selection, inventories, bad),
        jobs=tuple(jobs),
    )


def plan_unfinished(folder: FleetFolder, inventories: Sequence[Inventory]) -> FleetPlan:
    """Plan a plan's unfinished jobs again, for this version of ssdlab and the present inventories.

    Raises
    ------
    UsageError
        Nothing is left, or a drive is in no inventory.
    Refused
        The plan still has jobs that run or wait.
    """
    old, found = folder.plan, status_of(folder, strict=False)
    if any(each.state in {"running", "waiting", "held"} for each in found):
        raise Refused(
            f"plan {old.plan_id} still has jobs that run or wait", f"cancel it: {folder.command('cancel')}"
        )
    bad = quarantined(folder.library)
    here = {(each.host, drive.serial): drive for each in inventories for drive in each.drives}
    jobs: list[FleetJob] = []
    for job in (each for each in unfinished(found) if each.serial not in bad):
        drive = here.get((job.host, job.serial))
        if drive is None:
            raise unknown(
                "drive of the fleet", f"{job.serial} on {job.host}", [f"{s} on {h}" for h, s in here]
            )
        word = job.task.run if job.task.repeat == 1 else f"{job.task.run}-x{job.task.repeat}"
        own = {"drive": drive.text, "slot": drive.slot, "resettable": drive.resettable}
        own |= {"consent_id": drive.who.consent_id, "signatures": drive.signatures}
        own |= {"name": f"{len(jobs) + 1:04}", "run_id": new_run_id(word)}
        jobs.append(job.model_copy(update=own))
    left = {job.serial: excerpt(bad[job.serial].words, 250) for job in unfinished(found) if job.serial in bad}
    if not jobs:
        why = f": {'; '.join(left.values())}" if left else ""
        advice = f"release it: {release_command(min(left), folder.library)}" if left else "all jobs finished"
        raise UsageError(f"nothing of plan {old.plan_id} can be planned again{why}", advice)
    name = old.plan_id.split("-", 2)[2]
    stamp = datetime.now(UTC).strftime("%Y%m%d-%H%M%S")
    own = {"plan_id": f"{stamp}-{name}", "created": now(), "version": own_version(), "key_seal": None}
    return old.model_copy(update={**own, "jobs": tuple(jobs), "left_out": left})


def _left_out(
    selection: Selection, inventories: Sequence[Inventory], bad: Mapping[str, Failures]
) -> dict[str, str]:
    """Return the drives in quarantine that belong to a selection's models, with the reasons."""
    models = [each.model.casefold() for each in selection.drives if each.model is not None]
    here = {drive.serial: drive.model.casefold() for each in inventories for drive in each.drives}
    return {
        serial: excerpt(each.words, 250)
        for serial, each in bad.items()
        if any(model in here.get(serial, "") for model in models)
    }


def _refuse_selection(faults: Sequence[LabError], problems: Sequence[str]) -> None:
    """Raise an error that lists all faults and problems, if there is a fault.

    A single fault without problems is raised as it is.
    """
    if not faults:
        return
    if len(faults) == 1 and not problems:
        raise faults[0]
    every = [*(each.what for each in faults), *problems]
    more = f"; and {len(every) - _FAULTS_NAMED} more" if len(every) > _FAULTS_NAMED else ""
    raise UsageError(
        f"{len(every)} faults in the selection: {'; '.join(every[:_FAULTS_NAMED])}{more}",
        faults[0].advice,
        problems=every,
    )


def _too_many_cpus(
    selection: Selection, inventories: Sequence[Inventory], chosen: Sequence[Placed]
) -> list[str]:
    """Return a sentence for each host with fewer CPUs than a run needs: Slurm would never start its jobs."""
    hosts = {each.host for each in chosen}
    wanted = selection.limits.cpus
    return [
        f"{each.host} has {each.cpus} CPUs, but each run needs {wanted}"
        for each in inventories
        if each.host in hosts and each.cpus < wanted
    ]


class _Planner:
    """Plans jobs. Bounds are computed once for a work and a model, whose drives take the same time."""

    def __init__(self, selection: Selection, library: Path) -> None:
        self._limits, self._library = selection.limits, library
        self._orders: dict[int, _Asked] = {}
        self._plans: dict[tuple[object, ...], _Bounds] = {}

    def read(self, work: Work) -> None:
        self._orders[id(work)] = _Asked(work)

    def job(self, name: str, work: Work, placed: Placed) -> FleetJob:
        asked = self._orders[id(work)]
        drive, who = placed.drive, placed.drive.who
        key = (id(work), drive.model, who.firmware, who.capacity_bytes, who.logical_block_bytes, who.kind)
        if key not in self._plans:
            self._plans[key] = asked.bounds(placed, self._library)
        bounds = self._plans[key]
        _check_leave(drive, work, writes=bounds.writes)
        try:
            return FleetJob(
                name=name,
                serial=drive.serial,
                model=drive.model,
                host=placed.host,
                drive=drive.text,
                slot=drive.slot,
                resettable=drive.resettable,
                consent_id=who.consent_id,
                signatures=drive.signatures,
                run_id=new_run_id(asked.run_name),
                task=asked.task_of(name),
                cpus=self._limits.cpus,
                holds=holds_of(drive, placed.host, work, self._limits.one_at_a_time),
                seconds=bounds.seconds,
                drive_seconds=bounds.drive_seconds,
                bytes_written=bounds.written,
                endurance_share=bounds.share,
            )
        except ValidationError as error:
            raise Refused(misfit_text(error), "correct the selection, or remove the drive") from error


@dataclass(frozen=True)
class _Bounds:
    writes: bool
    seconds: tuple[float, float]
    drive_seconds: tuple[float, float] | None
    written: tuple[float, float]
    share: tuple[float, float] | None


class _Asked:
    """A checked work: its method or suite, and the task of its jobs."""

    def __init__(self, work: Work) -> None:
        self._work = work
        given = {name.replace("-", "_"): str(value) for name, value in work.variant.items()}
        variant = Variant(**given) if given else AS_IT_IS
        self._suite = None if is_path(work.run) else find_suite(work.run)
        self._check_meter(simulated=False)
        try:
            self.task = Task(
                run=work.run,
                quick=work.quick,
                repeat=work.repeat,
                settings=_settings(work),
                variant=variant,
                endurance_cap=None if work.endurance_cap is None else endurance_cap(work.endurance_cap),
                meter=work.meter,
                on_error=work.on_error,
            )
        except ValidationError as error:
            raise UsageError(
                f"a fleet cannot do the work {excerpt(work.run)}: {misfit_text(error)}",
                "name methods and suites that ssdlab methods lists; to run a method that reads a file, "
                "use ssdlab run",
            ) from error

    @property
    def run_name(self) -> str:
        return self._work.run if self._work.repeat == 1 else f"{self._work.run}-x{self._work.repeat}"

    def task_of(self, job: str) -> Task:
        """Return a job's task: the work's task with a seed for this job."""
        from ssdlab.runs.suites.ordering import derived

        seed = self._work.seed
        return self.task.model_copy(update={"seed": None if seed is None else derived(seed, job)})

    def _check_meter(self, *, simulated: bool) -> None:
        work = self._work
        if work.meter is not None:
            several = self._suite is not None or work.repeat > 1
            chosen_meter(MeterText.parse(work.meter), None, simulated=simulated, in_suite=several)

    def bounds(self, placed: Placed, library: Path) -> _Bounds:
        from ssdlab.runs.suites.ordering import planned_children

        self._check_meter(simulated=placed.drive.simulated)
        variant = self.task.variant
        who = _as_variant(placed.drive, variant)
        order = self.task.order(
            placed.drive.text, destroy=who.consent_id, wipe_signatures=self._work.wipe_signatures
        )
        writes = self.task.writes_to(placed.drive.text)
        if isinstance(order, Order):
            plan = with_endurance(
                plan_on(order.method, order.params, who, pace=pace_of(who, library)), who, _cap_of(order)
            )
            _refuse(plan.objection or misfit(variant, placed.drive.who, writing=writes))
            return _bounds_of([plan], writes=writes)
        found = Look(who, exists=True, reading=None, writing=None)
        children = planned_children(order, self._work.seed or 1, found)
        if all(each.plan is None for each in children):
            raise Refused(
                f"no part of {self._work.run} fits it: {children[0].child.left_out}", "leave it out"
            )
        _refuse(misfit(variant, placed.drive.who, writing=writes))
        return _bounds_of([each.plan for each in children if each.plan is not None], writes=writes)


def _settings(work: Work) -> dict[str, str]:
    """Return the parameters of a work in the form of `--set`."""
    return {
        _underscored(name): str(value).lower() if isinstance(value, bool) else str(value)
        for name, value in {**work.set, **_preconditioned(work)}.items()
    }


def _bounds_of(plans: Sequence[Plan], *, writes: bool) -> _Bounds:
    def ends(all_bounds: Sequence[Bounds]) -> tuple[float, float]:
        return sum(each.lower for each in all_bounds), sum(each.upper for each in all_bounds)

    written = ends([plan.bytes_written for plan in plans])
    rated = plans[0].endurance_bytes
    share = None if rated is None else (written[0] / rated, written[1] / rated)
    own = ends([plan.seconds for plan in plans]) if plans[0].keeps_time else None
    return _Bounds(writes, ends([plan.real_seconds for plan in plans]), own, written, share)


def _as_variant(drive: FleetDrive, variant: Variant) -> Identity:
    """Return the identity of a drive as the variant; a simulated drive then is another drive."""
    from ssdlab.drives import look

    who = drive.who
    text = on_text(drive.text, variant)
    if text == drive.text:
        return who
    made = look(text).identity
    assert made is not None  # a simulated drive has one
    return made


def _check_leave(drive: FleetDrive, work: Work, *, writes: bool) -> None:
    if writes and drive.signatures and not work.wipe_signatures:
        carries = ", ".join(drive.signatures)
        raise Refused(f"it carries {carries}", "to allow losing that, set wipe-signatures = true in [[work]]")


def _refuse(objection: LabError | None) -> None:
    if objection is not None:
        raise Refused(objection.what, objection.advice)


def _cap_of(order: Order) -> EnduranceCap:
    from ssdlab.drives.guard.endurance import cap_of

    return cap_of(order.endurance_cap)


def _preconditioned(work: Work) -> dict[str, str]:
    return {} if work.precondition is None else {"precondition": work.precondition}


def _underscored(name: str) -> str:
    part, dot, own = name.rpartition(".")
    return f"{part}{dot}{own.replace('-', '_')}"
