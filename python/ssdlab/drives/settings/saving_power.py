"""What lets a drive that rests save power: APST of an NVMe drive, link power management of a SATA port.

Sources: NVMe Base 2.0c 5.27.1.8 (feature 0Ch); Documentation/ABI/testing/sysfs-devices-power
(pm_qos_latency_tolerance_us, by which Linux decides on the states of APST: 0 switches it off);
Documentation/admin-guide/kernel-parameters (nvme_core.default_ps_max_latency_us);
Documentation/scsi/link_power_management_policy.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ssdlab.drives.admin import nvme
from ssdlab.drives.settings.setting import no_such, read_file, write_file
from ssdlab.host.attributes import controller_of
from ssdlab.host.sysfs import text
from ssdlab.model.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from ssdlab.drives.admin.port import AdminPort
    from ssdlab.host.sysfs import HostFiles

APST, LINK_POWER = "apst", "link_power"
LINK_POLICIES = (
    "max_performance",
    "medium_power",
    "med_power_with_dipm",
    "min_power",
    "keep_firmware_settings",
)
_FEATURE = 0x0C
_TABLE_BYTES = 256
_ANY = "any"


def apst_table(port: AdminPort, target: str) -> dict[int, float]:
    """Return after how many ms at rest the drive goes into each state by itself, as it is set now.

    Of a state that others lead to after different times, the least; states that none leads to are left out.

    Raises
    ------
    Unsupported
        It has no APST.
    """
    reply = port.nvme(nvme.GET_FEATURES, cdw=(_FEATURE,), read_bytes=_TABLE_BYTES)
    if reply.status:
        raise no_such(APST, target, f"the drive answers {nvme.status_text(reply.status)}", "leave it out")
    found: dict[int, float] = {}
    for at in range(0, _TABLE_BYTES, 8):
        entry = int.from_bytes(reply.data[at : at + 8], "little")
        # Bits 7:3 are the state that is gone to (ITPS), bits 31:8 the time in ms (ITPT); no time: none.
        state, after_ms = entry >> 3 & 0x1F, entry >> 8 & 0xFFFFFF
        if reply.result & 1 and after_ms:
            found[state] = min(found.get(state, float(after_ms)), float(after_ms))
    return found


def check_apst(wanted: str) -> None:
    """Raise `UsageError` unless it is on or off."""
    if wanted not in ("on", "off"):
        raise UsageError(f"apst is on or off, not {wanted!r}", "write apst = on, or off", given=wanted)


def check_link_power(wanted: str) -> None:
    """Raise `UsageError` unless it is a policy of the kernel."""
    if wanted not in LINK_POLICIES:
        raise UsageError(
            f"{wanted!r} is no policy of link power", f"write one of {', '.join(LINK_POLICIES)}", given=wanted
        )


@dataclass(frozen=True, slots=True)
class Apst:
    """Autonomous power state transitions: a resting drive goes into states of less power by itself."""

    port: AdminPort
    disk: Path
    files: HostFiles
    name: str = APST
    lasting: bool = False
    destroys: bool = False

    def read(self) -> str:
        """Ask the drive: on or off."""
        reply = self.port.nvme(nvme.GET_FEATURES, cdw=(_FEATURE,), read_bytes=_TABLE_BYTES)
        if reply.status:
            why = f"the drive answers {nvme.status_text(reply.status)}: it has none"
            raise no_such(APST, self.disk.name, why, "leave it out")
        return "on" if reply.result & 1 else "off"

    def meant(self, wanted: str) -> str:
        """Take on or off, of a drive that has it."""
        check_apst(wanted)
        self.read()
        return wanted

    def write(self, value: str) -> None:
        """Let the kernel set it: off by a tolerance of nothing, on by its own default."""
        default = self.files.sys / "module" / "nvme_core" / "parameters" / "default_ps_max_latency_us"
        allowed = text(default) or _ANY
        write_file(self._tolerance, "0" if value == "off" else _ANY if allowed == "0" else allowed, APST)

    def remark(self) -> None:
        """Return None."""
        return

    @property
    def _tolerance(self) -> Path:
        return controller_of(self.disk) / "power" / "pm_qos_latency_tolerance_us"


@dataclass(frozen=True, slots=True)
class LinkPower:
    """Link power management of the SATA port: ALPM, which lets the link sleep between commands."""

    disk: Path
    name: str = LINK_POWER
    lasting: bool = False
    destroys: bool = False

    def read(self) -> str:
        """Return the policy in force."""
        return read_file(self._path, LINK_POWER, self.disk.name)

    def meant(self, wanted: str) -> str:
        """Take a policy that the kernel knows."""
        check_link_power(wanted)
        self.read()
        return wanted

    def write(self, value: str) -> None:
        """Set it."""
        write_file(self._path, value, LINK_POWER)

    def remark(self) -> None:
        """Return None."""
        return

    @property
    def _path(self) -> Path:
        for folder in controller_of(self.disk).parents:
            if re.fullmatch(r"host\d+", folder.name):
                return folder / "scsi_host" / folder.name / "link_power_management_policy"
        raise no_such(LINK_POWER, self.disk.name, "only ports of SATA have it", "leave it out")
