"""A drive's power-saving features, and its ways to idle."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from pydantic import Field

from ssdlab.model.frozen import Stored

SAVING_OFF = {"apst": "off", "link_power": "max_performance"}
"""For each setting that lets a drive save power by itself, the value that forbids it."""


class PowerState(Stored):
    """A power state of the drive, or of its link; None means not reported."""

    name: str = Field(description="ps3 of an NVMe drive; partial, slumber, devsleep of a SATA link")
    operational: bool = Field(default=False, description="whether it processes I/O in this state")
    max_w: float | None = None
    idle_w: float | None = None
    active_w: float | None = None
    entry_us: float | None = None
    exit_us: float | None = None
    after_ms: float | None = Field(
        default=None, description="idle time after which it enters this state by itself, as set now"
    )


class Resting(Stored):
    """One way to leave a drive idle."""

    label: str
    conditions: dict[str, str] = Field(default={}, description="settings that enter it")
    state: str | None = Field(default=None, description="requested state; None: the drive's choice")


class PowerFeatures(Stored):
    """A drive's power-saving features.

    The `values` of the setting `saving` are compared; the first of them forbids power saving. `found` is the
    original value of the setting. `lacks` has a sentence for each feature that is missing.
    """

    protocol: Literal["nvme", "sata"]
    states: tuple[PowerState, ...] = ()
    saving: str | None = None
    values: tuple[str, ...] = ()
    found: str | None = None
    sent: bool = Field(default=False, description="whether idle states can be requested")
    lacks: tuple[str, ...] = ()

    def restings(self) -> Iterator[Resting]:
        """Yield the ways to idle: awake, in each state that can be requested, and by its own choice."""
        if self.saving is None:
            yield Resting(label="at rest")
        else:
            yield self._by_itself(self.values[0])
        for state in self.states if self.sent else ():
            if not state.operational:
                awake = {} if self.saving is None else {self.saving: self.values[0]}
                yield Resting(label=state.name, conditions=awake, state=state.name)
        if self.saving is not None:
            yield from map(self._by_itself, self.values[1:])

    def _by_itself(self, value: str) -> Resting:
        assert self.saving is not None
        return Resting(label=f"{saving_words(self.saving)} {value}", conditions={self.saving: value})


def saving_words(setting: str) -> str:
    """Return a reader's name for a power-saving setting: ``apst`` is APST."""
    return {"apst": "APST", "link_power": "link power"}.get(setting, setting.replace("_", " "))
