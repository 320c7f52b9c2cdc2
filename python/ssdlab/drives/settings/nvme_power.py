"""The power state of an NVMe drive, and the strongest that keeps a limit.

Source: NVMe Base 2.0c 5.27.1.2 (feature 02h), 8.15 (power management): MP is the most that a state draws,
averaged over 10 seconds; a non-operational state answers no I/O and is left by itself.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ssdlab.drives.admin import nvme
from ssdlab.drives.admin.port import AdminPort
from ssdlab.drives.settings import nvme_pages
from ssdlab.drives.settings.setting import no_such, refused_by_drive
from ssdlab.model.errors import UsageError

NAME = "power_state"
REST_STATE = "rest_state"
_STATE_BITS = 0x1F


@dataclass(frozen=True, slots=True)
class NvmePowerState:
    """The power state, `ps0` to `ps31`; it may be asked for as a limit too: `10W`."""

    port: AdminPort
    target: str
    name: str = NAME
    lasting: bool = False
    destroys: bool = False

    def read(self) -> str:
        """Get the feature."""
        reply = self.port.nvme(nvme.GET_FEATURES, cdw=(nvme.FEATURE_POWER,))
        if reply.status:
            why = f"the drive answers {nvme.status_text(reply.status)}"
            raise no_such(NAME, self.target, why, "leave the limit out, or measure what it draws")
        return f"ps{reply.result & _STATE_BITS}"

    def meant(self, wanted: str) -> str:
        """Return the state of that name, or the strongest whose most power is within a limit."""
        states = self.known()
        if (index := named(wanted)) is not None:
            if not any(state.index == index and state.operational for state in states):
                raise no_such(
                    NAME, self.target, f"ps{index} is no operational state of it", _describe_states(states)
                )
            return f"ps{index}"
        limit_w = watts(wanted)
        fitting = strongest(states, limit_w)
        if fitting is None:
            why = f"no operational power state keeps {limit_w:g} W"
            raise no_such(NAME, self.target, why, _describe_states(states))
        return f"ps{fitting.index}"

    def write(self, value: str) -> None:
        """Set the feature until the next reset of the controller; nothing is saved in the drive."""
        index = int(value.removeprefix("ps"))
        reply = self.port.nvme(nvme.SET_FEATURES, cdw=(nvme.FEATURE_POWER, index))
        if reply.status:
            raise refused_by_drive(NAME, self.target, nvme.status_text(reply.status))

    def remark(self) -> None:
        """Return None."""
        return

    def known(self) -> tuple[nvme.PowerState, ...]:
        """Return all of its power states."""
        return nvme_pages.controller(self.port, NAME, self.target).power_states


@dataclass(frozen=True, slots=True)
class NvmeRestState:
    """The non-operational power state that the drive is sent into; the next I/O command ends it."""

    state: NvmePowerState
    name: str = REST_STATE
    lasting: bool = False
    destroys: bool = False

    def read(self) -> str:
        """Get the feature."""
        return self.state.read()

    def meant(self, wanted: str) -> str:
        """Take a state in which the drive answers no I/O."""
        resting = {f"ps{each.index}" for each in self.state.known() if not each.operational}
        if wanted not in resting:
            why = f"{wanted} is no state of it to rest in"
            advice = f"it has {', '.join(sorted(resting))}" if resting else "it has none: leave it out"
            raise no_such(self.name, self.state.target, why, advice)
        return wanted

    def write(self, value: str) -> None:
        """Set the feature."""
        self.state.write(value)

    def remark(self) -> None:
        """Return None."""
        return


def named(wanted: str) -> int | None:
    """Return the number of a state asked for by name; None where a limit is asked for."""
    match = re.fullmatch(r"ps(\d{1,2})", wanted, re.ASCII)
    return None if match is None else int(match.group(1))


def check_wanted(wanted: str) -> None:
    """Raise `UsageError` unless it is the name of a state or a limit."""
    if named(wanted) is None:
        watts(wanted)


def check_rest_state(wanted: str) -> None:
    """Raise `UsageError` unless it is the name of a state."""
    if named(wanted) is None:
        raise UsageError(f"{wanted!r} is no power state", "write rest_state = ps3, or another", given=wanted)


def watts(text: str) -> float:
    """Return the watts of `10W`.

    >>> watts("8.5 W")
    8.5

    Raises
    ------
    UsageError
        It is no power.
    """
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*[wW]", text.strip(), re.ASCII)
    if match is None or float(match.group(1)) == 0:
        raise UsageError(f"{text!r} is not a power limit", "write it in watts, such as 10W", given=text)
    return float(match.group(1))


def strongest(states: tuple[nvme.PowerState, ...], limit_w: float) -> nvme.PowerState | None:
    """Return the operational state that may draw most within a limit; never one that does not say."""
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
