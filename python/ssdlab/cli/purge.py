"""`ssdlab purge`: erase a drive to its fresh state, and verify it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from ssdlab.cli.flags import Identifiers, Time, of_option
from ssdlab.cli.output import print_fields, print_json, print_line, print_table, say, warn
from ssdlab.cli.progress import display
from ssdlab.model import units
from ssdlab.model.errors import Interrupted, LabError, Refused, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from ssdlab.drives.purge import PurgeProgress, PurgeRecord
    from ssdlab.drives.purge.planning import DryRun

SCHEMA = "ssdlab.purge/1"
_MAX_S = 30 * 24 * 3600.0


def purge(
    drive: str,
    /,
    *,
    destroy: Identifiers = (),
    wipe_signatures: bool = False,
    method: Annotated[str | None, Parameter(metavar="NAME")] = None,
    limit: Time = None,
    dry_run: bool = False,
    json: bool = False,
) -> None:
    """Erase a drive to its fresh state by its strongest method, and verify by reading back.

    A sanitize that is already running is followed to its end. A record is kept in a file, even if the purge
    fails.

    Parameters
    ----------
    drive
        A block device such as /dev/nvme0n1.
    destroy
        Identifier of the drive whose data is lost (see `ssdlab drives`); repeat it for each other namespace
        that may lose its data.
    wipe_signatures
        Consent to losing a file system, partition table or array member on the drive.
    method
        Name of the purge method: --dry-run lists the drive's methods.
    limit
        Time limit: 90min, 6h [default: twice the drive's estimate plus ten minutes].
    dry_run
        Print every command and write, why other methods are not used, and any reason for refusal. Changes
        nothing.
    json
        Print JSON, schema ssdlab.purge/1.
    """
    from ssdlab.drives.purge import check_method

    chosen = None if method is None else check_method(method)
    limit_s = None if limit is None else _limit_s(limit)
    if dry_run:
        from ssdlab.drives.purge.planning import rehearse

        found = rehearse(drive, chosen, destroy, limit_s, wipe_signatures=wipe_signatures)
        _print_plan(found, as_json=json)
        if found.refusals:
            raise found.refusals[0]
        return
    from ssdlab.drives.purge.planning import open_for_purge

    shown = display()
    last_method, on_progress = _teller(shown.update)
    with open_for_purge(drive, destroy, wipe_signatures=wipe_signatures) as held:
        try:
            record = held.purge(method=chosen, consents=destroy, limit_s=limit_s, on_progress=on_progress)
        except KeyboardInterrupt:
            raise _left(drive, last_method) from None
        except LabError as error:
            if error.facts.get("reason") == "no-purge":  # nothing was tried
                raise Refused(error.what, error.advice, **error.facts) from error
            _say_kept(error.facts.get("kept"))
            raise
        finally:
            shown.close()
        _print_record(held.identity.path, record, as_json=json)


def _limit_s(text: str) -> float:
    with of_option("--limit"):
        seconds = units.parse_duration(text) / units.NS_PER_S
    if not 0 < seconds <= _MAX_S:
        raise UsageError(
            f"--limit {text} is not a valid time limit",
            "give a time of up to 30 days, such as 6h",
            given=text,
        )
    return seconds


def _teller(show: Callable[[tuple[str, ...]], None]) -> tuple[list[str], Callable[[PurgeProgress], None]]:
    """Return a list that holds the last reported method, and a function that shows progress."""
    last_method: list[str] = []

    def tell(progress: PurgeProgress) -> None:
        last_method[:] = [progress.method]
        show((f"{progress.text}, {units.span_text(progress.elapsed_s)}",))

    return last_method, tell


def _left(drive: str, last_method: list[str]) -> Interrupted:
    method = last_method[0] if last_method else ""
    by_host = method in {"", "discard", "zero-fill"}
    what = "erasing has stopped" if by_host else "the drive continues by itself"
    return Interrupted(
        f"the purge of {drive} was interrupted by a signal: {what}",
        f"run the same command again: {'it starts over' if by_host else 'a sanitize is followed to its end'}",
        method=method,
    )


def _say_kept(path: object) -> None:
    if path is not None:
        say(f"record: {path}")


def _print_record(path: str, record: PurgeRecord, *, as_json: bool) -> None:
    if as_json:
        print_json({"schema": SCHEMA, "drive": path, "status": "done", **record.as_dict()})
        return
    print_line(f"{path} is purged", "good")
    print_fields(
        [
            ("method", record.method + (", a substitute: spare blocks keep their data" * record.substitute)),
            ("followed", "it was already running" if record.followed else None),
            ("proof", _proof(record)),
            ("drive's log", record.drive_log),
            ("time", units.span_text(record.elapsed_s)),
            ("also erased", ", ".join(record.siblings)),
        ],
        indent=2,
    )
    _print_passed_over(record.passed_over)
    _say_kept(record.kept)


def _proof(record: PurgeRecord) -> str:
    found = record.sampling
    if found is None:
        return "the state of a simulated drive is known"
    kinds = (("zeroes", found.zero), ("FFh", found.ones), ("other data", found.other))
    now = ", ".join(f"{count} {name}" for name, count in (*kinds, ("unreadable", found.unreadable)) if count)
    if not found.marked:
        return f"drive's log only: no marks were written before; {found.samples} samples read: {now}"
    return f"{found.marked} marks written before, none left; {found.samples} samples read: {now}"


def _print_passed_over(passed_over: tuple[tuple[str, str], ...]) -> None:
    if passed_over:
        print_line()
        print_table(passed_over, ("not used", "because"))


def _print_plan(found: DryRun, *, as_json: bool) -> None:
    if as_json:
        print_json({"schema": SCHEMA, "dry_run": True, **found.as_dict()})
        return
    print_line(f"{found.drive}: dry run, nothing is changed", "bold")
    sample = units.bytes_text(found.sample_bytes)
    print_fields(
        [
            ("would follow", found.following),
            ("would use", found.method),
            ("also erased", ", ".join(found.siblings)),
            ("time limit", None if found.limit_s is None else units.span_text(found.limit_s)),
            (
                "marks",
                f"{found.marks} samples of {sample}, written and read back first",
            ),
        ],
        indent=2,
    )
    for command in found.commands:
        print_line(f"  sends: {command}")
    print_line()
    rows: list[tuple[Any, ...]] = [
        (each.method, each.obstacle or each.note or "available") for each in found.ways
    ]
    print_table(rows, ("method", ""))
    for objection in found.objections[1:]:
        warn(f"the purge would be refused now: {objection.what}", objection.advice)
