"""Runs one workload now: opens the drive, fills it if requested, measures, judges and saves."""

from __future__ import annotations

import hashlib
import inspect
import os
import secrets
import shutil
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ssdlab.host.held_folder import HeldFolder
from ssdlab.host.output_files import OutputFile
from ssdlab.model.capabilities import SIMULATED_PREFIX
from ssdlab.model.errors import Interrupted, LabError, Refused, UsageError
from ssdlab.model.options import DEFAULT_SEED, MeasureOptions
from ssdlab.model.workload import Workload, fill_workloads
from ssdlab.runs.observe import Silent, Watcher

if TYPE_CHECKING:
    from ssdlab.drives.base import Drive
    from ssdlab.model.measurement import Measurement
    from ssdlab.model.meter_text import MeterText
    from ssdlab.model.summary import Pause
    from ssdlab.model.telemetry import StepTelemetry
    from ssdlab.runs.metering import Metering
    from ssdlab.runs.observe import Observation

# Default seeds.
#
# Two commands with the same seed write the same sequence of addresses. Blocks that were written together are
# then overwritten together, superblocks empty as a whole, and the drive seems faster than it is. fio's
# `randrepeat` is known for this. So a device, file or state file, which outlives the command, gets another
# seed each time. A drive made for the command alone keeps one seed, as nothing of it is left.

_BITS = 32
"""Few digits, so that a user can retype a seed; a rare repeat by chance does no harm."""


def seed_for(drive: Drive) -> int:
    """Return the seed for the next measurement on an open drive, below 2^32.

    For a simulated drive with a state file it is derived from the state, so that equal states give equal
    figures. For a device or file it is random; for a temporary simulated drive it is `DEFAULT_SEED`.
    """
    state = drive.state
    if state is None:
        return secrets.randbits(_BITS)
    if not state.lasting:
        return DEFAULT_SEED
    return int.from_bytes(hashlib.sha256(state.digest().encode()).digest()[: _BITS // 8], "little")


__all__ = ["MeasureOptions", "measure", "numa_cpus", "perform"]
_OF_A_RUN = "free space where results are kept, then resume"
"""The engine's advice if a log cannot grow; a single measurement has nothing to resume."""
_LOG, _POWER = "run.log", "run.power"


def measure(drive: str | os.PathLike[str], /, **options: Any) -> Measurement:  # noqa: ANN401
    """Run one workload on a drive now and return the measurement.

    Parameters
    ----------
    drive
        A block device (``/dev/nvme0n1``) or a file (with `size` if it is to be created).
    options
        Those of ``ssdlab measure``, with underscores: ``rw="randread"``, ``bs="4k"``, ``threads=4``,
        ``seconds=2``; see `MeasureOptions`.

    Raises
    ------
    UsageError, Refused
        The options contradict each other, or the drive must not be read or written. Nothing was touched.
    DriveError, HostError
        The drive or the host failed; `measurement` of the error has the figures until then.
    Interrupted
        A signal stopped the measurement; `measurement` of the error has the figures until then.
    """
    return perform(drive, MeasureOptions(**options), Silent())


def _signature() -> inspect.Signature:
    """Return the signature of `measure` with each option by name, for `help` and editors."""
    drive = inspect.signature(measure).parameters["drive"]
    fields = MeasureOptions.model_fields.items()
    options = [
        inspect.Parameter(
            field.alias or name,
            inspect.Parameter.KEYWORD_ONLY,
            default=field.default,
            annotation=field.annotation,
        )
        for name, field in fields
    ]
    return inspect.Signature([drive, *options], return_annotation="Measurement")


measure.__signature__ = _signature()  # type: ignore[attr-defined]


def perform(drive: str | os.PathLike[str], options: MeasureOptions, watcher: Watcher) -> Measurement:
    """Measure with the given options and report progress to the watcher; see `measure`."""
    workload = options.workload(() if options.numa is None else numa_cpus(options.numa))
    if options.buffered and os.fspath(drive).startswith(SIMULATED_PREFIX):
        raise UsageError("a simulated drive has no page cache", "leave out --buffered, or name a file")
    if options.precondition in ("one-pass", "analytic"):
        from ssdlab.runs.preparing import refuse_unprepared

        refuse_unprepared(os.fspath(drive), options.precondition)
    # Before a file is created: a mistake in the rig file must not cost the time of its layout or fill.
    meter = _meter(options, simulated=os.fspath(drive).startswith(SIMULATED_PREFIX))
    with _log(options) as log, _opened(drive, options, watcher) as held:
        # Before anything is written: a workload that does not fit this drive must not cost a fill.
        workload.resolve(held.capacity_bytes, held.logical_block_bytes)
        held.on_error = options.on_error
        if options.seed is None:
            workload = workload.model_copy(update={"seed": seed_for(held)})
        failed = 0
        if options.precondition == "fill":
            watcher.phase("filling", duration_ns=None, size_bytes=held.capacity_bytes)
            with _preparing("filling"):
                for fill in fill_workloads(held.capacity_bytes, workload.seed):
                    failed += held.run(fill, on_tick=watcher.tick).summary().failed
        prepared = _prepared(held, workload, options, watcher)
        if failed:
            prepared["failed"] = failed
        with _metering(meter, options, held) as metering:
            measurement = _measured(held, workload, options, watcher, log, prepared, metering)
        if not options.save:
            from ssdlab.drives.environment import environment_facts

            return measurement.with_facts(environment=environment_facts(held))
        assert log is not None
        return _saved(held, os.fspath(drive), workload, measurement, options, log, metering.record())


def _prepared(
    held: Drive, workload: Workload, options: MeasureOptions, watcher: Watcher
) -> dict[str, object]:
    """Precondition the drive as asked by one pass or placement; return facts for the measurement."""
    how = options.precondition
    if how != "one-pass" and how != "analytic":
        return {}
    from ssdlab.runs.observe import Heartbeat
    from ssdlab.runs.preparing import prepare

    watcher.phase("preconditioning", duration_ns=None, size_bytes=None)
    beats = not held.capabilities.virtual_time
    with Heartbeat(beats=beats) as heartbeat, _preparing("preconditioning"):
        prepared = prepare(
            held,
            how,
            whole=_writes_all_or_nothing(held, workload),
            spare=options.spare,
            seed=workload.seed,
            watcher=watcher,
        )
        if heartbeat.pauses():  # the rounds that judge steady state may be distorted
            prepared["steady"] = False
        return prepared


def _writes_all_or_nothing(held: Drive, workload: Workload) -> bool:
    """Return whether each writing stream covers the whole drive, up to less than one block."""
    for stream in workload.streams:
        places = stream.places(held.capacity_bytes, held.logical_block_bytes)
        rest = held.capacity_bytes - sum(length for _, length in places)
        if stream.writes and rest >= stream.largest_block_bytes:
            return False
    return True


def numa_cpus(node: int, nodes: Path = Path("/sys/devices/system/node")) -> tuple[int, ...]:
    """Return the CPUs of a NUMA node.

    Raises
    ------
    UsageError
        This host has no such node, or it has no CPUs.
    """
    from ssdlab.host.environment import parse_cpu_list

    lists = {path.parent.name.removeprefix("node"): path for path in nodes.glob("node[0-9]*/cpulist")}
    cpus = parse_cpu_list(lists[str(node)].read_text(encoding="ascii")) if str(node) in lists else ()
    if not cpus:
        known = ", ".join(sorted(lists, key=int)) or "none"
        raise UsageError(
            f"there is no NUMA node {node} with CPUs here", f"nodes of this host: {known}", node=node
        )
    return cpus


@dataclass(frozen=True)
class _Log:
    """Where the I/O log of a measurement is written.

    `folder` is the temporary folder in the library, for measurements to be saved. `single` is the user's file
    for single I/Os, opened before the measurement.
    """

    path: Path
    folder: HeldFolder | None = None
    single: OutputFile | None = None


@contextmanager
def _log(options: MeasureOptions) -> Iterator[_Log | None]:
    """Yield the place of the I/O log: the user's file or a folder in the library; None without a log."""
    with ExitStack() as held:
        single = None
        if options.log_ios is not None:
            single = held.enter_context(OutputFile(options.log_ios, noun="log of single I/Os"))
        if options.save:
            yield held.enter_context(_log_to_save(options, single))
        elif single is None:
            yield None
        else:
            held.enter_context(single.folder.by_name())
            yield _Log(single.new_path(), single=single)


@contextmanager
def _log_to_save(options: MeasureOptions, single: OutputFile | None) -> Iterator[_Log]:
    from ssdlab.host.defaults import library_folder
    from ssdlab.host.durable import library_errors
    from ssdlab.results.store import hold_library

    library = library_folder(options.library)
    with library_errors(library):
        place = hold_library(library)
        name = f".measure-{secrets.token_hex(6)}"
        folder = place.new_folder(name)
    with place, folder:
        try:
            yield _Log(folder.new_path(_LOG), folder, single)
        finally:
            place.remove_tree(name)


@contextmanager
def _opened(drive: str | os.PathLike[str], options: MeasureOptions, watcher: Watcher) -> Iterator[Drive]:
    from ssdlab.drives import open_drive
    from ssdlab.drives.guard.endurance import cap_of

    watcher.phase("laying out the drive", duration_ns=None, size_bytes=options.size_bytes)
    with _preparing("laying out the drive"):
        held = open_drive(
            drive,
            size=options.size_bytes,
            destroy=options.destroy,
            wipe_signatures=options.wipe_signatures,
            endurance=cap_of(options.endurance_cap),
            writing=options.writing,
            allow_unwritten=options.allow_unwritten,
            on_tick=watcher.tick,
        )
    with held:
        yield held


@contextmanager
def _preparing(doing: str) -> Iterator[None]:
    """Drop the measurement of a failed preparation: the user did not ask for its figures."""
    try:
        yield
    except Interrupted as error:
        raise Interrupted(
            f"stopped by a signal while {doing}; nothing was measured", "run it again", **error.facts
        ) from error
    except LabError as error:
        error.measurement = None
        raise


def _measured(
    held: Drive,
    workload: Workload,
    options: MeasureOptions,
    watcher: Watcher,
    log: _Log | None,
    prepared: dict[str, object],
    metering: Metering,
) -> Measurement:
    from ssdlab.model.measurement import Measurement
    from ssdlab.runs.observe import Heartbeat, Observation, Witness

    unknown = options.precondition == "none" and held.written(0, held.capacity_bytes) is None
    observation = Observation(held, allow_unwritten=options.allow_unwritten, written_unknown=unknown)
    witness = Witness(held)
    stop = workload.streams[0].stop
    watcher.phase("measuring", duration_ns=stop.time_ns, size_bytes=stop.bytes)
    beats = not held.capabilities.virtual_time
    with Heartbeat(beats=beats) as heartbeat, witness.watching() as watched:
        try:
            with _samples_kept(log, metering):
                measurement = held.run(
                    workload, log_path=None if log is None else log.path, on_tick=watcher.tick
                )
                pauses = heartbeat.pauses()
                telemetry = watched.ended(measurement)
                measurement, metered = metering.measured(measurement, workload.ramp_ns, watched)
        except LabError as error:
            if isinstance(error.measurement, Measurement):
                pauses = heartbeat.pauses()
                telemetry = watched.ended(error.measurement)
                error.measurement = _judged(
                    error.measurement, workload, observation, prepared, telemetry, pauses
                )
                if isinstance(error, Interrupted):
                    error.advice = _left_of(options)
            if error.advice.casefold() == _OF_A_RUN:
                error.advice = "free space where the log is kept, then measure again"
            raise
    judged = _judged(measurement, workload, observation, prepared, telemetry, pauses)
    judged.samples = tuple(watched.samples)
    return judged.with_warnings([*judged.warnings, *metered]) if metered else judged


def _left_of(options: MeasureOptions) -> str:
    """Return advice after a signal: the figures go with the error and are not saved as a run."""
    saved = "it is not saved: --save keeps whole measurements" if options.save else "it is not saved"
    if options.log_ios is not None:
        saved += f"; {options.log_ios} holds its I/Os"
    return f"the figures until then are shown; {saved}"


def _meter(options: MeasureOptions, *, simulated: bool) -> MeterText | None:
    """Return the meter given or the host's default; refuse a recording."""
    from ssdlab.power.kinds import RECORDED
    from ssdlab.runs.meters import chosen_meter

    meter = chosen_meter(options.meter, None, simulated=simulated)
    if meter is not None and meter.kind in RECORDED:
        raise Refused(
            f"{meter.use} is a recording, and one measurement has no marks to align its clock",
            "use a live meter, or a job with one run step",
        )
    return meter


def _metering(
    meter: MeterText | None, options: MeasureOptions, held: Drive
) -> AbstractContextManager[Metering]:
    from ssdlab.runs.metering import Metering
    from ssdlab.runs.meters import open_metering

    # The summary has a simulated drive's own power; its samples are needed only for a saved run.
    own_account = held.capabilities.virtual_time and meter is None and not options.save
    return Metering() if own_account else open_metering(meter, held)


@contextmanager
def _samples_kept(log: _Log | None, metering: Metering) -> Iterator[None]:
    """Store the meter's samples beside the log, if the run is saved."""
    if log is None or log.folder is None:
        yield
        return
    with metering.step(log.folder, _POWER):
        yield


_PREPARED = {
    "one-pass": "prepared by one random pass",
    "analytic": "prepared, not written: its mapping was computed",
}
"""How a drive was prepared, for a warning."""
_OVERWRITTEN = (
    "overwritten as with --precondition full, as the pass did not confirm its spare or reach five steady "
    "rounds"
)
_AFTER = {
    True: "the following writes met the steady-state criterion",
    False: "the following writes did not meet the steady-state criterion",
}


def _judged(
    measurement: Measurement,
    workload: Workload,
    observation: Observation,
    prepared: dict[str, object],
    telemetry: StepTelemetry | None,
    pauses: Sequence[Pause],
) -> Measurement:
    from ssdlab.model.warnings import Warning, judge, judge_pauses, judge_telemetry

    summary = measurement.summary()
    around = observation.around(summary)
    measurement = measurement.with_facts(
        workload=workload.model_dump(mode="json"),
        host=around.as_facts(),
        pauses=[each.model_dump(mode="json") for each in pauses],
    )
    warnings = [*judge_pauses(pauses, summary.zero_ns), *judge(summary, workload, around)]
    warnings += judge_telemetry(telemetry, [each.code for each in warnings])
    if telemetry is not None:
        measurement = measurement.with_facts(telemetry=telemetry.model_dump(mode="json"))
    if prepared:
        measurement = measurement.with_facts(prepared=prepared)
    if failed := prepared.get("failed"):
        warnings.append(Warning.of("unprepared", what=f"{failed} of its writes failed"))
    elif prepared:
        how = _OVERWRITTEN if prepared["in_full"] else _PREPARED[str(prepared["preconditioning"])]
        warnings.append(Warning.of("prepared", how=how, after=_AFTER[bool(prepared["steady"])]))
    return measurement.with_warnings(warnings)


def _saved(
    held: Drive,
    text: str,
    workload: Workload,
    measurement: Measurement,
    options: MeasureOptions,
    log: _Log,
    metered: dict[str, Any] | None,
) -> Measurement:
    from ssdlab.runs.saving import save_measurement

    logs = log.folder
    assert logs is not None  # made for saving
    if log.single is not None:
        with logs.readable(_LOG) as path, path.open("rb") as rows, log.single.new() as out:
            shutil.copyfileobj(rows, out)
    params = options.model_dump(mode="json", by_alias=True, exclude_unset=True)
    folder = save_measurement(
        logs.path.parent,  # as it was found before the measurement
        held,
        text,
        workload,
        measurement,
        (logs, _LOG),
        params,
        power=_POWER,
        metered=metered,
    )
    return measurement.with_facts(run=str(folder))
