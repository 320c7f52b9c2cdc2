"""Saves a single measurement as a run: `ssdlab measure --save`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from ssdlab.host.durable import library_errors
from ssdlab.host.held_folder import HeldFolder
from ssdlab.model.host_load import HostContext, host_load
from ssdlab.model.summary import Around, Summary
from ssdlab.results.evidence import qualified
from ssdlab.results.journal import boot_id, now, step_hash
from ssdlab.results.lease import RunLock
from ssdlab.results.lines import journal_bytes
from ssdlab.results.metric import Metric, Qualifier
from ssdlab.results.records import BeginRecord, EndRecord, OpenRecord, StepResult
from ssdlab.results.run_folder import JOURNAL, STEPS, Step
from ssdlab.results.schema import Manifest, MeasureResult, MethodInfo, Session, Warned
from ssdlab.results.step_log import log_name, power_name, samples_name, spread_of, write_samples
from ssdlab.results.store import make_run_folder, new_run_id, write_manifest
from ssdlab.runs.provenance import drive_info, host_context, metered_by, tool_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pydantic import JsonValue

    from ssdlab.drives.base import Drive
    from ssdlab.model.measurement import Measurement
    from ssdlab.model.workload import Workload
    from ssdlab.results.records import AnyRecord

_PROSE = """One workload, measured by `ssdlab measure`.

It is not a review method: the drive's state and history are unknown.
"""


def save_measurement(
    library: Path,
    drive: Drive,
    text: str,
    workload: Workload,
    measurement: Measurement,
    log: tuple[HeldFolder, str],
    params: dict[str, JsonValue],
    *,
    power: str = "",
    metered: dict[str, JsonValue] | None = None,
) -> Path:
    """Save one measurement in the library, as a finished run of the pseudo-method `measure`.

    Parameters
    ----------
    library
        Where to create the run folder.
    drive, text
        The measured drive, still open, and its name as given by the user.
    workload, measurement
        What was run, and its measurement.
    log
        The I/O log: its folder in the library, and its name. It is moved into the run folder.
    params
        The options as the user gave them.
    power
        Name of the power samples beside the log, if there are any. They are moved too.
    metered
        Record of the meter, if any.

    Returns
    -------
    Path
        The run folder.

    Raises
    ------
    HostError
        The library cannot be written. The log stays where it is, or in the run folder.
    """
    from ssdlab.results.catalogue import begun
    from ssdlab.results.finishing import finish_run

    manifest, journal = measured_run(drive, text, workload, measurement, params)
    manifest = metered_by(manifest, metered)
    folder = make_run_folder(library, manifest.run_id)
    lock = RunLock(folder)
    try:
        with library_errors(folder):
            place, name = log
            steps = lock.folder.folder(STEPS)
            place.rename(name, steps, log_name(0, 1))
            if power and place.exists(power):
                place.rename(power, steps, power_name(0, 1))
            if measurement.samples:
                write_samples(steps, samples_name(0, 1), measurement.samples)
            lock.folder.replace(JOURNAL, journal_bytes(journal, manifest.run_id))
        manifest = write_manifest(lock.folder, manifest)
        begun(library, folder.name)
        finish_run(folder, manifest, lock)
    finally:
        lock.release()
    return folder


def measured_run(
    drive: Drive,
    text: str,
    workload: Workload,
    measurement: Measurement,
    params: dict[str, JsonValue],
) -> tuple[Manifest, list[AnyRecord]]:
    """Return the manifest and journal of a measurement saved as a finished run."""
    moment = now()
    stored: dict[str, Any] = json.loads(json.dumps(measurement.as_dict()))
    summary = Summary.model_validate(stored)
    warnings = tuple(
        Warned(code=each.code, what=each.what, advice=each.advice, ordinal=0)
        for each in summary.warnings or ()
    )
    args: dict[str, JsonValue] = {"workload": workload.model_dump(mode="json")}
    label = workload.streams[0].name
    around = HostContext(**(Around() if summary.host is None else summary.host).model_dump())
    threads = sum(stream.workers for stream in workload.streams)
    result = StepResult(
        seconds=float(summary.total_s or summary.elapsed_s),
        measurement=stored,
        spread_iops=spread_of(measurement),
        host=host_load(threads, summary, around),
        warnings=warnings,
        pauses=summary.pauses,
        telemetry=summary.telemetry,
    )
    journal: list[AnyRecord] = [
        OpenRecord(at=moment, boot_id=boot_id()),
        BeginRecord(
            ordinal=0,
            attempt=1,
            verb="run",
            label=label,
            args=args,
            hash=step_hash("run", args),
            policy="restart",
            at=moment,
        ),
        EndRecord(ordinal=0, attempt=1, result=result, at=moment),
    ]
    step = Step(0, 1, "run", label, dict(args), result)
    return _manifest(drive, text, workload, step, params, moment), journal


def _state_of(step: Step, params: dict[str, JsonValue], *, writes: bool) -> Iterator[Qualifier]:
    """Yield qualifiers for the drive state of writes, and for reads after a failed preparation."""
    if any(each.code == "unprepared" for each in step.result.warnings):
        yield Qualifier(code="state-unproven", why="the preparation of the drive failed")
    elif writes:
        prepared = (step.result.measurement or {}).get("prepared")
        how = params.get("precondition")
        if isinstance(prepared, dict) and prepared.get("steady"):
            if not prepared.get("in_full"):
                yield Qualifier(code="placed" if how == "analytic" else "one-pass")
        elif how == "fill":
            yield Qualifier(code="written-once")
        else:
            why = "drive state during the writes unknown"
            yield Qualifier(code="state-unproven", why=why)


def _manifest(
    drive: Drive,
    text: str,
    workload: Workload,
    step: Step,
    params: dict[str, JsonValue],
    moment: str,
) -> Manifest:
    summary = step.measured
    own = tuple(_state_of(step, params, writes=workload.changes_data))
    figures = [
        Metric.more("iops", "IOPS", summary.iops, "IOPS", steps=(0,)),
        Metric.more("mb_s", "throughput", summary.mb_s, "MB/s", steps=(0,)),
    ]
    if summary.flush is not None:
        p99_ns, label = summary.flush.latency_ns.get("p99"), f"p99 of {workload.streams[0].flush}"
        figures.append(Metric.less("flush_p99_ns", label, p99_ns, "ns", steps=(0,)).sampled())
    result = qualified(
        MeasureResult(
            quick=False,
            scalars=tuple(each.qualified(own) for each in figures),
            measurement=step.result.measurement or {},
        ),
        [step],
    )
    method = MethodInfo(
        name="measure", version=1, title="One workload", prose=_PROSE, destructive=workload.changes_data
    )
    info = drive_info(text, drive)
    return Manifest(
        run_id=new_run_id("measure"),
        status="finished",
        method=method,
        quick=False,
        params=params,
        drive=info,
        engine=str(summary.engine or workload.streams[0].engine),
        seed=workload.seed,
        environment=host_context(drive),
        tool=tool_of(info),
        created=moment,
        sessions=(Session(started=moment, ended=moment, status="finished", boot_id=boot_id()),),
        warnings=step.result.warnings,
        result=result.model_dump(mode="json"),
    )
