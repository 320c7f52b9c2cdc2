"""`ssdlab plan`: what a run would do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from ssdlab import units
from ssdlab.cli.ordering import order
from ssdlab.cli.output import print_fields, print_json, print_table, warn
from ssdlab.cli.progress import range_text

if TYPE_CHECKING:
    from ssdlab.plan import Bounds, Plan

SCHEMA = "ssdlab.plan/1"


def plan(
    name: str,
    drive: str,
    /,
    *,
    set: Annotated[tuple[str, ...], Parameter(name="--set", negative=())] = (),
    quick: bool = False,
    size: str | None = None,
    destroy: str | None = None,
    json: bool = False,
) -> None:
    """Tell the steps of a method on a drive, how long they take and what they write. Nothing is touched.

    Parameters
    ----------
    name
        The method: see `ssdlab methods`.
    drive
        A block device such as /dev/nvme0n1, or a file (with --size when it would have to be made).
    set
        Set a parameter of the method: --set seconds=30. May be given several times.
    quick
        Take the method's quick presets.
    size
        Size that the file would be made with: 4GiB.
    destroy
        Identifier of the drive, to see whether it would be accepted.
    json
        Print the plan as JSON, schema ssdlab.plan/1; times in seconds, as [least, most].
    """
    from ssdlab.session import plan_order

    ordered = order(name, drive, set, quick=quick, size=size, destroy=destroy)
    planned = plan_order(ordered)
    if json:
        print_json(_as_json(name, drive, ordered.params.model_dump(mode="json"), planned))
        return
    rows: list[tuple[object, ...]] = [
        (step.ordinal + 1, step.verb, step.label, _seconds(step.seconds), _bytes(step.bytes_written))
        for step in planned.steps
    ]
    if planned.preparation_bytes:
        written = units.capacity_text(planned.preparation_bytes)
        rows.insert(0, ("", "layout", "the file is made and written", _seconds(planned.preparation), written))
    print_table(rows, ("step", "verb", "label", "time", "writes"), right=(0,))
    print_fields(
        [
            ("time", _seconds(planned.seconds)),
            ("writes", _bytes(planned.bytes_written) or "nothing"),
            ("endurance", "share not known: the drive's rating is not on record"),
        ]
    )
    if planned.objection is not None:
        warn(f"as things stand the run would be refused: {planned.objection.what}", planned.objection.advice)


def _as_json(name: str, drive: str, params: dict[str, Any], planned: Plan) -> dict[str, Any]:
    return {
        "schema": SCHEMA,
        "method": name,
        "drive": drive,
        "params": params,
        "steps": [
            {
                "ordinal": step.ordinal,
                "verb": step.verb,
                "label": step.label,
                "seconds": [step.seconds.least, step.seconds.most],
                "bytes_written": [step.bytes_written.least, step.bytes_written.most],
            }
            for step in planned.steps
        ],
        "layout": {
            "bytes": planned.preparation_bytes,
            "seconds": [planned.preparation.least, planned.preparation.most],
        },
        "seconds": [planned.seconds.least, planned.seconds.most],
        "bytes_written": [planned.bytes_written.least, planned.bytes_written.most],
        "endurance_share": None,
        "objection": None if planned.objection is None else planned.objection.as_dict(),
    }


def _seconds(bounds: Bounds) -> str:
    return range_text(bounds.least, bounds.most)


def _bytes(bounds: Bounds) -> str:
    if bounds.most == 0:
        return ""
    if bounds.least == bounds.most:
        return units.capacity_text(int(bounds.most))
    least = f"{units.capacity_text(int(bounds.least))} to " if bounds.least else "at most "
    return least + units.capacity_text(int(bounds.most))
