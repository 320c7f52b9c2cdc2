"""The power-saving features of a block device and of its port.

Sources: NVMe Base 2.0c figure 275 (APSTA, byte 265), figure 276 (power state descriptors) and 5.27.1.8
(feature 0Ch: for each state, the next state and the idle time before it); ACS-5 7.13.7.35 ff. (words 76, 78
and 79: link power management); Documentation/scsi/link_power_management_policy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ssdlab.drives.admin import ata, nvme
from ssdlab.drives.admin.fields import Malformed
from ssdlab.drives.settings import setting
from ssdlab.drives.settings.nvme_power import APST, LINK_POWER, apst_table
from ssdlab.model.errors import DriveError, LabError, Unsupported
from ssdlab.model.power_features import SAVING_OFF, PowerFeatures, PowerState

if TYPE_CHECKING:
    from ssdlab.drives.settings.finding import DriveSettings

COMPARED_LINK_POLICIES = ("medium_power", "med_power_with_dipm", "min_power")
"""The kernel's power-saving policies for a SATA link, the weakest first."""
_NAME = "power features"


def features_of(of: DriveSettings) -> PowerFeatures:
    """Query the power-saving features of a block device.

    Raises
    ------
    Unsupported
        The device has no power states: it is neither an NVMe nor a SATA drive.
    DriveError
        The drive does not answer, or its answer is invalid.
    """
    if of.is_nvme:
        return nvme_features(of)
    if of.identity.transport == "sata":
        return sata_features(of)
    raise no_features(of.disk.name, "it is neither an NVMe nor a SATA drive")


def no_features(target: str, why: str) -> Unsupported:
    return Unsupported(
        f"{target} has no power states: {why}",
        "name an NVMe or SATA drive, or a simulated one",
        reason="no-power-states",
        target=target,
    )


def nvme_features(of: DriveSettings) -> PowerFeatures:
    """Query an NVMe drive's power states and its APST table."""
    controller = setting.controller(of.port, _NAME, of.disk.name)
    after, lacks = dict[int, float](), []
    saving = None
    if controller.apst:
        saving, found = APST, of.find(APST).read()
        after = apst_table(of.port, of.disk.name)
    else:
        found = None
        lacks.append("it has no APST: it enters no low-power state by itself")
    states = tuple(_nvme_state(state, after.get(state.index)) for state in controller.power_states)
    if len(states) == 1:
        lacks.append("it has one power state, and no idle state")
    elif all(state.operational for state in states):
        lacks.append(f"all of its {len(states)} power states are operational: it has no idle state")
    if all(state.idle_w is None for state in states):
        lacks.append("its power states do not report their idle power")
    return PowerFeatures(
        protocol="nvme",
        states=states,
        saving=saving,
        values=("off", "on") if saving else (),
        found=found,
        sent=len(states) > 1,
        lacks=tuple(lacks),
    )


def _nvme_state(state: nvme.PowerState, after_ms: float | None) -> PowerState:
    return PowerState(
        name=f"ps{state.index}",
        operational=state.operational,
        max_w=state.max_w,
        idle_w=state.idle_w,
        active_w=state.active_w,
        # 0 is "not reported" (figure 276).
        entry_us=state.entry_us or None,
        exit_us=state.exit_us or None,
        after_ms=after_ms,
    )


def sata_features(of: DriveSettings) -> PowerFeatures:
    """Query a SATA drive's link states, and the kernel's policy for its port."""
    device, lacks = _identified(of), []
    states = [PowerState(name="active", operational=True)]
    if device.host_power or device.device_power:
        states += [PowerState(name="partial"), PowerState(name="slumber")]
    else:
        lacks.append("its link has no low-power state: neither host nor drive may request one")
    if device.device_sleep:
        states.append(PowerState(name="devsleep"))
    else:
        lacks.append("it has no DevSleep")
    if not device.device_power:
        lacks.append("it does not request low power by itself (no DIPM)")
    try:
        found = of.find(LINK_POWER).read()
    except LabError as error:
        return PowerFeatures(protocol="sata", states=tuple(states), lacks=(*lacks, error.what))
    return PowerFeatures(
        protocol="sata",
        states=tuple(states),
        saving=LINK_POWER,
        values=(SAVING_OFF[LINK_POWER], *COMPARED_LINK_POLICIES),
        found=found,
        lacks=tuple(lacks),
    )


def _identified(of: DriveSettings) -> ata.AtaDevice:
    reply = of.port.scsi(ata.identify_cdb(), read_bytes=ata.PAGE_BYTES)
    why = "the drive refused the command"
    if not reply.status and not reply.transport:
        try:
            return ata.device(reply.data)
        except Malformed as error:
            why = str(error)
    raise DriveError(
        f"the power features of {of.disk.name} could not be read: {why}",
        "leave the method out, or check the kernel log for the drive's replies",
        reason="unanswered",
        target=of.disk.name,
    )
