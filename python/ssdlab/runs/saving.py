"""The records of a single measurement that is kept as a run: `ssdlab measure --save`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from ssdlab.model.host_load import host_load
from ssdlab.results.journal import boot_id, now, step_hash
from ssdlab.results.records import BeginRecord, EndRecord, OpenRecord, StepResult
from ssdlab.results.schema import Manifest, MeasureResult, MethodInfo, Scalar, Session, Warned
from ssdlab.results.step_log import spread_of
from ssdlab.results.store import new_run_id
from ssdlab.runs.observe import Surroundings
from ssdlab.runs.provenance import drive_info, surroundings, tool

if TYPE_CHECKING:
    from pydantic import JsonValue

    from ssdlab.drives.base import Drive
    from ssdlab.model.measurement import Measurement
    from ssdlab.model.workload import Workload
    from ssdlab.results.run_folder import AnyRecord

_PROSE = """One workload, taken by `ssdlab measure`.

It is no review method: nothing says in which state the drive was, or for how long it had been so.
"""


def measured_run(
    drive: Drive,
    text: str,
    workload: Workload,
    measurement: Measurement,
    params: dict[str, JsonValue],
) -> tuple[Manifest, list[AnyRecord]]:
    """Return manifest and journal of a measurement as a finished run; see `store.save_measurement`."""
    moment = now()
    summary: dict[str, Any] = json.loads(json.dumps(measurement.summary()))
    warnings = tuple(
        Warned(code=each["code"], what=each["what"], advice=each.get("advice", ""), ordinal=0)
        for each in summary.get("warnings") or []
    )
    args: dict[str, JsonValue] = {"workload": workload.model_dump(mode="json")}
    label = workload.streams[0].name
    around = Surroundings(**(summary.get("host") or {}))
    threads = sum(stream.workers for stream in workload.streams)
    result = StepResult(
        seconds=float(summary.get("total_s") or summary["elapsed_s"]),
        measurement=summary,
        spread_iops=spread_of(measurement),
        host=host_load(threads, summary, around),
        warnings=warnings,
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
    return _manifest(drive, text, workload, summary, warnings, params, moment), journal


def _manifest(
    drive: Drive,
    text: str,
    workload: Workload,
    summary: dict[str, Any],
    warnings: tuple[Warned, ...],
    params: dict[str, JsonValue],
    moment: str,
) -> Manifest:
    scalars = (
        Scalar(name="iops", label="IOPS", value=summary["iops"], unit="IOPS", better="higher"),
        Scalar(name="mb_s", label="throughput", value=summary["mb_s"], unit="MB/s", better="higher"),
    )
    result = MeasureResult(quick=False, scalars=scalars, measurement=summary)
    method = MethodInfo(
        name="measure", version=1, title="One workload", prose=_PROSE, destructive=workload.changes_data
    )
    return Manifest(
        run_id=new_run_id("measure"),
        status="finished",
        method=method,
        quick=False,
        params=params,
        drive=drive_info(text, drive),
        engine=str(summary.get("engine") or workload.streams[0].engine),
        seed=workload.seed,
        environment=surroundings(drive),
        tool=tool(),
        created=moment,
        sessions=(Session(started=moment, ended=moment, status="finished", boot_id=boot_id()),),
        warnings=warnings,
        result=result.model_dump(mode="json"),
    )
