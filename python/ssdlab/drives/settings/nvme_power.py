"""The power states of a drive: the strongest within a power limit, and those that save power when idle.

Source: NVMe Base 2.0c 5.27.1.2 (feature 02h), 8.15 (power management). MP is the maximum power of a state,
averaged over 10 seconds. A non-operational state answers no I/O, and the drive leaves it by itself for a
command.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ssdlab.drives.admin import nvme
from ssdlab.drives.admin.port import AdminPort
from ssdlab.drives.settings import setting
from ssdlab.drives.settings.setting import no_such, read_file, refused_by_drive, write_file
from ssdlab.host.attributes import controller_of
from ssdlab.host.sysfs import text
from ssdlab.model.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from ssdlab.host.sysfs import HostFiles

NAME = "power_state"
REST_STATE = "rest_state"
_STATE_BITS = 0x1F


@dataclass(frozen=True, slots=True)
class NvmePowerState:
    """The power state, `ps0` to `ps31`; a power limit such as `10W` can be requested instead."""

    port: AdminPort
    target: str
    name: str = NAME
    lasting: bool = False
    destroys: bool = False

    def read(self) -> str:
        reply = self.port.nvme(nvme.GET_FEATURES, cdw=(nvme.FEATURE_POWER,))
        if reply.status:
            why = f"the drive answers {nvme.status_text(reply.status)}"
            raise no_such(NAME, self.target, why, "leave the limit out, or measure its power")
        return f"ps{reply.result & _STATE_BITS}"

    def meant(self, wanted: str) -> str:
        """Return the named state, or the strongest state whose maximum power is within a limit."""
        states = self.known()
        if (index := named(wanted)) is not None:
            if not any(state.index == index and state.operational for state in states):
                raise no_such(
                    NAME,
                    self.target,
                    f"ps{index} is not one of its operational states",
                    _describe_states(states),
                )
            return f"ps{index}"
        limit_w = watts(wanted)
        fitting = strongest(states, limit_w)
        if fitting is None:
            why = f"no operational power state stays within {limit_w:g} W"
            raise no_such(NAME, self.target, why, _describe_states(states))
        return f"ps{fitting.index}"

    def write(self, value: str) -> None:
        """Set the feature until the next reset of the controller; the drive does not save it."""
        index = int(value.removeprefix("ps"))
        reply = self.port.nvme(nvme.SET_FEATURES, cdw=(nvme.FEATURE_POWER, index))
        if reply.status:
            raise refused_by_drive(NAME, self.target, nvme.status_text(reply.status))

    def remark(self) -> None:
        return

    def known(self) -> tuple[nvme.PowerState, ...]:
        return setting.controller(self.port, NAME, self.target).power_states


@dataclass(frozen=True, slots=True)
class NvmeRestState:
    """The non-operational power state that the drive is sent into; the next I/O command ends it."""

    state: NvmePowerState
    name: str = REST_STATE
    lasting: bool = False
    destroys: bool = False

    def read(self) -> str:
        return self.state.read()

    def meant(self, wanted: str) -> str:
        resting = {f"ps{each.index}" for each in self.state.known() if not each.operational}
        if wanted not in resting:
            why = f"{wanted} is not one of its idle states"
            advice = f"it has {', '.join(sorted(resting))}" if resting else "it has none: leave it out"
            raise no_such(self.name, self.state.target, why, advice)
        return wanted

    def write(self, value: str) -> None:
        self.state.write(value)

    def remark(self) -> None:
        return


def named(wanted: str) -> int | None:
    """Return the number of a named state such as `ps3`; None for any other text."""
    match = re.fullmatch(r"ps(\d{1,2})", wanted, re.ASCII)
    return None if match is None else int(match.group(1))


def check_wanted(wanted: str) -> None:
    """Raise `UsageError` unless the text is the name of a state or a power limit."""
    if named(wanted) is None:
        watts(wanted)


def check_rest_state(wanted: str) -> None:
    if named(wanted) is None:
        raise UsageError(f"{wanted!r} is not a power state", "set rest_state = ps3, or another", given=wanted)


def watts(text: str) -> float:
    """Return the watts of a text such as `10W`.

    >>> watts("8.5 W")
    8.5

    Raises
    ------
    UsageError
        The text is not a power above 0.
    """
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*[wW]", text.strip(), re.ASCII)
    if match is None or float(match.group(1)) == 0:
        raise UsageError(f"{text!r} is not a power limit", "give it in watts, such as 10W", given=text)
    return float(match.group(1))


def strongest(states: tuple[nvme.PowerState, ...], limit_w: float) -> nvme.PowerState | None:
    """Return the operational state with the highest known power within a limit."""
    fitting = [
        state for state in states if state.operational and state.max_w is not None and state.max_w <= limit_w
    ]
    return max(fitting, key=lambda state: (state.max_w or 0.0, -state.index), default=None)


def _describe_states(states: tuple[nvme.PowerState, ...]) -> str:
    known = ", ".join(
        f"ps{state.index} {'up to ' + format(state.max_w, 'g') + ' W' if state.max_w else 'of unknown power'}"
        for state in states
        if state.operational
    )
    return f"its operational states: {known}"


# Power saving of an idle drive: APST of an NVMe drive, link power management of a SATA port.
#
# Sources: NVMe Base 2.0c 5.27.1.8 (feature 0Ch); Documentation/ABI/testing/sysfs-devices-power
# (pm_qos_latency_tolerance_us, from which Linux chooses the states of APST: 0 switches it off);
# Documentation/admin-guide/kernel-parameters (nvme_core.default_ps_max_latency_us);
# Documentation/scsi/link_power_management_policy.

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
    """Return, for each state, the idle time in ms after which the drive now enters it by itself.

    If several states lead to a state, the shortest time counts. A state that none leads to is left out.

    Raises
    ------
    Unsupported
        The drive has no APST.
    """
    reply = port.nvme(nvme.GET_FEATURES, cdw=(_FEATURE,), read_bytes=_TABLE_BYTES)
    if reply.status:
        raise no_such(APST, target, f"the drive answers {nvme.status_text(reply.status)}", "leave it out")
    found: dict[int, float] = {}
    for at in range(0, _TABLE_BYTES, 8):
        entry = int.from_bytes(reply.data[at : at + 8], "little")
        # Bits 7:3 are the next state (ITPS), bits 31:8 the idle time in ms (ITPT); 0 ms: no transition.
        state, after_ms = entry >> 3 & 0x1F, entry >> 8 & 0xFFFFFF
        if reply.result & 1 and after_ms:
            found[state] = min(found.get(state, float(after_ms)), float(after_ms))
    return found


def check_apst(wanted: str) -> None:
    if wanted not in ("on", "off"):
        raise UsageError(f"apst is on or off, not {wanted!r}", "set apst = on, or off", given=wanted)


def check_link_power(wanted: str) -> None:
    if wanted not in LINK_POLICIES:
        raise UsageError(
            f"{wanted!r} is not a link power policy", f"give one of {', '.join(LINK_POLICIES)}", given=wanted
        )


@dataclass(frozen=True, slots=True)
class Apst:
    """Autonomous power state transitions: an idle drive enters low-power states by itself."""

    port: AdminPort
    disk: Path
    files: HostFiles
    name: str = APST
    lasting: bool = False
    destroys: bool = False

    def read(self) -> str:
        reply = self.port.nvme(nvme.GET_FEATURES, cdw=(_FEATURE,), read_bytes=_TABLE_BYTES)
        if reply.status:
            why = f"the drive answers {nvme.status_text(reply.status)}: not supported"
            raise no_such(APST, self.disk.name, why, "leave it out")
        return "on" if reply.result & 1 else "off"

    def meant(self, wanted: str) -> str:
        check_apst(wanted)
        self.read()
        return wanted

    def write(self, value: str) -> None:
        """Set APST through the kernel: a latency tolerance of 0 for off, the kernel's default for on."""
        default = self.files.sys / "module" / "nvme_core" / "parameters" / "default_ps_max_latency_us"
        allowed = text(default) or _ANY
        write_file(self._tolerance, "0" if value == "off" else _ANY if allowed == "0" else allowed, APST)

    def remark(self) -> None:
        return

    @property
    def _tolerance(self) -> Path:
        return controller_of(self.disk) / "power" / "pm_qos_latency_tolerance_us"


@dataclass(frozen=True, slots=True)
class LinkPower:
    """Link power management of the SATA port (ALPM), which lets the link sleep between commands."""

    disk: Path
    name: str = LINK_POWER
    lasting: bool = False
    destroys: bool = False

    def read(self) -> str:
        return read_file(self._path, LINK_POWER, self.disk.name)

    def meant(self, wanted: str) -> str:
        check_link_power(wanted)
        self.read()
        return wanted

    def write(self, value: str) -> None:
        write_file(self._path, value, LINK_POWER)

    def remark(self) -> None:
        return

    @property
    def _path(self) -> Path:
        for folder in controller_of(self.disk).parents:
            if re.fullmatch(r"host\d+", folder.name):
                return folder / "scsi_host" / folder.name / "link_power_management_policy"
        raise no_such(LINK_POWER, self.disk.name, "only SATA ports have it", "leave it out")
