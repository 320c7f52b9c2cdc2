"""Invented runs of invented drives, made in milliseconds: a manifest and a journal, sealed as a run's are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ssdlab.results.lines import journal_bytes
from ssdlab.results.metric import Load, Qualifier, Variation
from ssdlab.results.records import OpenRecord
from ssdlab.results.run_folder import JOURNAL
from ssdlab.results.schema import Departure, DriveInfo, Manifest, MethodInfo, Metric, ParameterInfo, Session
from ssdlab.results.store import write_manifest

AT = "2026-11-21T09:00:00.000Z"


def manifest(number: int, figures: dict[str, float | None], **changes: Any) -> Manifest:
    """A finished run; `changes` are fields of the manifest, or `drive_id`, `at`, `departed`; of all figures
    `codes` of qualifiers, the `depth` that they were taken at, or by how much their rows `vary`."""
    drive_id = changes.pop("drive_id", f"SERIAL{number:05d}")
    at = changes.pop("at", AT)
    qualifiers = tuple(Qualifier(code=code) for code in changes.pop("codes", ()))
    load = Load(depth=changes.pop("depth")) if "depth" in changes else None
    vary = changes.pop("vary", None)
    varies = None if vary is None else Variation(amount=vary, of="rows")
    departed = tuple(Departure(code=code, what=code) for code in changes.pop("departed", ()))
    scalars = [
        Metric(
            name=name,
            label=name.replace("_", " "),
            value=value,
            unit="ns" if name.endswith("_ns") else "IOPS",
            better="lower" if name.endswith("_ns") else "higher",
            load=load,
            varies=varies,
            qualifiers=qualifiers,
        ).model_dump(mode="json")
        for name, value in figures.items()
    ]
    stamp = at[:16].replace("-", "").replace("T", "-").replace(":", "")
    fields: dict[str, Any] = {
        "run_id": f"{stamp}-qd1-{number:06d}",
        "status": "finished",
        "method": MethodInfo(
            name="qd1",
            version=2,
            title="Queue depth 1",
            prose="Invented.",
            destructive=False,
            parameters=(ParameterInfo(name="seconds", unit="s", reason="", default=60.0, quick=2.0),),
        ),
        "quick": False,
        "params": {"seconds": 60.0},
        "drive": DriveInfo(
            text=f"/dev/disk/by-id/{drive_id}",
            kind="block",
            id=drive_id,
            name=f"Model of {drive_id}",
            capacity_bytes=10**12,
            logical_block_bytes=512,
        ),
        "engine": "sync",
        "seed": number,
        "environment": {},
        "tool": {"version": "0.2.0"},
        "created": at,
        "sessions": (Session(started=at, ended=at, status="finished"),),
        "departures": departed,
        "result": {"kind": "qd1", "scalars": scalars},
    }
    return Manifest(**(fields | changes))


def run(library: Path, number: int, figures: dict[str, float | None] | None = None, **changes: Any) -> Path:
    """Write a run folder, which is in no catalogue yet, and return it."""
    made = manifest(number, {"qd1_random_read_iops": 10_000.0} if figures is None else figures, **changes)
    folder = library / made.run_id
    folder.mkdir(parents=True)
    (folder / JOURNAL).write_bytes(journal_bytes([OpenRecord(at=made.created, boot_id="0")], made.run_id))
    write_manifest(folder, made)
    return folder
