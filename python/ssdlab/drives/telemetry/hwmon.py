"""Temperature by the kernel's hwmon, for a user who may not send a drive its commands.

The driver asks the drive on each read, so this is no way around leaving a drive alone; that of a SATA drive
(`drivetemp`) empties its queue, and is not read while it works. Source: Documentation/hwmon/sysfs-interface.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ssdlab.drives.admin.plausible import plausible
from ssdlab.drives.telemetry.sources import Source
from ssdlab.host.attributes import controller_of
from ssdlab.host.sysfs import number, text, within

if TYPE_CHECKING:
    from pathlib import Path

_MILLI = 1000


class Hwmon(Source):
    """The sensors of one drive."""

    words = "hwmon"

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def figures(self) -> dict[str, float | int | None]:
        """Read the composite temperature, and the hottest sensor."""
        sensors = {path.name: _celsius(number(path)) for path in within(self.folder, "temp*_input")}
        return {
            "temperature_c": sensors.get("temp1_input"),
            "hottest_c": max((each for each in sensors.values() if each is not None), default=None),
        }


def _celsius(milli: int | None) -> float | None:
    return None if milli is None else plausible("temperature_c", milli / _MILLI)


def hwmon_of(disk: Path) -> Hwmon | None:
    """Return the hwmon of an NVMe drive; None where it has none."""
    controller = controller_of(disk)
    for folder in (*within(controller, "hwmon*"), *within(controller / "hwmon", "hwmon*")):
        if text(folder / "name") == "nvme":
            return Hwmon(folder)
    return None
