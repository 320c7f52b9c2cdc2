"""The environment of an open drive for a result: host, test platform and drive record."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ssdlab.host.environment import read_environment

if TYPE_CHECKING:
    from pathlib import Path

    from ssdlab.drives.base import Drive


def environment_facts(drive: Drive, rig: Path | None = None) -> dict[str, Any]:
    """Return host, test platform (with the rig file, if given) and drive record as JSON."""
    from ssdlab.drives.drive_record import find_record
    from ssdlab.host.platform import read_platform

    platform_facts = read_platform(rig=rig, identity=drive.identity).as_dict()
    record = find_record(drive.identity.model, drive.identity.serial)
    return {
        **read_environment(drive.identity).as_dict(),
        "platform": platform_facts,
        "drive_record": None if record is None else record.model_dump(mode="json", exclude_none=True),
    }
