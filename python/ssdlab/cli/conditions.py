"""`ssdlab conditions`: show a drive's settings, and restore those that crashed runs left changed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from ssdlab.cli.flags import Identifier
from ssdlab.cli.leftovers import left_set
from ssdlab.cli.output import print_json, print_line, print_table
from ssdlab.model.errors import HostError, LabError, Refused, UsageError

if TYPE_CHECKING:
    from ssdlab.drives.settings import DriveSettings
    from ssdlab.runs.conditions.ledger import Ledger
    from ssdlab.runs.conditions.leftovers import Settled

SHOW_SCHEMA = "ssdlab.conditions.show/1"
RESTORE_SCHEMA = "ssdlab.conditions.restore/1"


def show(drive: str, /, *, json: bool = False) -> None:
    """Show each drive setting that a run can change, as it is now. Changes nothing.

    Parameters
    ----------
    drive
        A block device such as /dev/nvme0n1.
    json
        Print JSON, schema ssdlab.conditions.show/1.
    """
    from ssdlab.drives.settings import NAMES

    settings = _settings(drive)
    found = {name: _describe_setting(settings, name) for name in NAMES}
    if json:
        print_json({"schema": SHOW_SCHEMA, "drive": drive, "settings": found, "left_set": left_set()})
        return
    rows = [(name, row["value"] or "-", row["remark"] or "") for name, row in found.items()]
    print_table(rows, ("setting", "now", ""))


def restore(run: str | None = None, /, *, destroy: Identifier = None, json: bool = False) -> None:
    """Restore settings that crashed runs left changed, without resuming them.

    Not needed before `ssdlab resume`, which restores all settings when the run ends.

    Parameters
    ----------
    run
        Id of the run, or its last letters [default: every run that is not running].
    destroy
        Identifier of the drive, needed to restore an LBA format, which erases all data.
    json
        Print JSON, schema ssdlab.conditions.restore/1.
    """
    from ssdlab.runs.conditions.leftovers import left_behind, settle

    chosen: list[Ledger] = []
    damaged: Refused | None = None
    try:
        for ledger in left_behind():
            chosen += [ledger] if run is None or ledger.is_called(run) else []
    except Refused as error:
        damaged = error
    if run is not None and not chosen and damaged is None:
        raise UsageError(
            f"run {run} left no settings to restore on this host",
            "see ssdlab doctor for those that did",
            given=run,
        )
    settled = [(ledger.run, each) for ledger in chosen for each in settle(ledger, destroy=destroy)]
    if json:
        changes = [{"run": of, **_record(each)} for of, each in settled]
        print_json({"schema": RESTORE_SCHEMA, "changes": changes})
    elif not settled:
        print_line("nothing to restore: no run left settings changed")
    else:
        rows = [(of, each.change.words, each.ended or f"not put back: {each.why}") for of, each in settled]
        print_table(rows, ("run", "setting", ""))
    stays = [each for _, each in settled if each.ended is None]
    if stays:
        count = "1 setting is" if len(stays) == 1 else f"{len(stays)} settings are"
        raise HostError(
            f"{count} not put back: {stays[0].why}", "fix the cause, then run it again", left=len(stays)
        )
    if damaged is not None:
        raise damaged


def _describe_setting(settings: DriveSettings, name: str) -> dict[str, str | None]:
    try:
        setting = settings.find(name)
        return {"value": setting.read(), "remark": setting.remark()}
    except LabError as error:
        return {"value": None, "remark": error.what}


def _settings(drive: str) -> DriveSettings:
    from ssdlab.drives import look
    from ssdlab.drives.admin.port import KernelPort
    from ssdlab.drives.settings import DriveSettings
    from ssdlab.host.sysfs import HostFiles

    files, identity = HostFiles(), look(drive).identity
    node = None if identity is None else files.node_named(identity.name)
    if identity is None or node is None or not identity.capabilities.block_device:
        raise UsageError(
            f"{drive} is not a block device, so it has no settings", "name a block device: see ssdlab drives"
        )
    return DriveSettings(identity, node, KernelPort.of(Path(identity.path), node), files)


def _record(settled: Settled) -> dict[str, Any]:
    return {**settled.change.model_dump(mode="json"), "ended": settled.ended, "why": settled.why}
