"""Power saving of an idle simulated drive: the settings of real drives, applied to its own states.

The settings are off in a new drive, and are saved with its state.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ssdlab.drives.power_features import COMPARED_LINK_POLICIES
from ssdlab.drives.settings.nvme_power import APST, LINK_POWER, REST_STATE, check_apst, check_link_power
from ssdlab.drives.settings.setting import no_such
from ssdlab.host.documents import Document
from ssdlab.model.power_features import SAVING_OFF, PowerFeatures, PowerState

if TYPE_CHECKING:
    import ssdlab._core as _core

SETTINGS = frozenset({APST, LINK_POWER, REST_STATE})
"""Power-saving settings that a simulated drive may have."""
_DEEPEST = dict(zip(COMPARED_LINK_POLICIES, (1, 2, 3), strict=True))
"""How many of the states partial, slumber and devsleep a link uses under each policy."""
_ADVICE = "choose a drive whose profile has power.idle_states"


@dataclass(frozen=True, slots=True)
class SimulatedSaving:
    """Whether the drive, or its link, enters low-power states by itself: `apst` or `link_power`.

    `counts` has the number of states that are used under each value.
    """

    native: _core.SimulatedDrive
    name: str
    counts: dict[str, int]
    lasting: bool = False
    destroys: bool = False

    def read(self) -> str:
        count, _ = self.native.saves_power() or (0, None)
        return next(value for value, each in self.counts.items() if each == count)

    def meant(self, wanted: str) -> str:
        (check_apst if self.name == APST else check_link_power)(wanted)
        if wanted not in self.counts:
            why = f"{self.native.name} can have {', '.join(self.counts)}"
            raise no_such(self.name, "a simulated drive", why, "choose one of those")
        return wanted

    def write(self, value: str) -> None:
        """Set the value; this wakes the drive."""
        self.native.save_power(self.counts[value])

    def remark(self) -> None:
        return


@dataclass(frozen=True, slots=True)
class SimulatedRestState:
    """The idle state that the drive is sent into; the next command ends it."""

    native: _core.SimulatedDrive
    states: tuple[str, ...]
    working: str
    name: str = REST_STATE
    lasting: bool = False
    destroys: bool = False

    def read(self) -> str:
        _, sent = self.native.saves_power() or (0, None)
        return self.working if sent is None else self.states[sent]

    def meant(self, wanted: str) -> str:
        if wanted not in self.states:
            why = f"{wanted} is not one of its idle states"
            raise no_such(self.name, "a simulated drive", why, f"it has {', '.join(self.states) or 'none'}")
        return wanted

    def write(self, value: str) -> None:
        self.native.save_power(0, sent=self.states.index(value))

    def remark(self) -> None:
        return


def saving_setting(
    native: _core.SimulatedDrive, profile: Document, name: str
) -> SimulatedSaving | SimulatedRestState:
    """Return a power-saving setting of a simulated drive by its name.

    Raises
    ------
    Unsupported
        The profile has no states for the setting.
    """
    nvme, idle = _protocol(profile) == "nvme", _idle_states(profile)
    fits = name in (APST, REST_STATE) if nvme else name == LINK_POWER
    if not idle or not fits:
        why = "the profile has no idle states" if fits else "drives with its protocol have none"
        raise no_such(name, "a simulated drive", why, _ADVICE if fits else "leave it out")
    if name == REST_STATE:
        return SimulatedRestState(native, tuple(each["name"] for each in idle), "ps0")
    return SimulatedSaving(native, name, _counts(profile))


def _counts(profile: Document) -> dict[str, int]:
    """Return how many of its states a drive may enter under each value of its setting."""
    most = len(_idle_states(profile))
    if _protocol(profile) == "nvme":
        return {"off": 0, "on": most}
    deeper = {policy: count for policy, count in _DEEPEST.items() if count <= most}
    return {SAVING_OFF[LINK_POWER]: 0} | deeper


def simulated_features(native: _core.SimulatedDrive, profile: Document) -> PowerFeatures:
    """Return the power-saving features of a simulated drive, with the value in force."""
    has = features_of_profile(profile)
    if has.saving is None:
        return has
    return has.model_copy(update={"found": saving_setting(native, profile, has.saving).read()})


def features_of_profile(profile: Document) -> PowerFeatures:
    """Return the power-saving features of a new drive of a profile, which does not use them yet."""
    power = profile.get("power") or {}
    nvme, idle = _protocol(profile) == "nvme", _idle_states(profile)
    limits = (power.get("states_w") or {"value": [None]})["value"]
    idle_w = power["idle_mw"]["value"] / 1e3 if power else None
    working = [
        PowerState(name=f"ps{number}" if nvme else "active", operational=True, max_w=limit, idle_w=idle_w)
        for number, limit in enumerate(limits if nvme else [None])
    ]
    resting = [
        PowerState(
            name=each["name"],
            idle_w=each["mw"]["value"] / 1e3,
            entry_us=each["entry_us"]["value"],
            exit_us=each["exit_us"]["value"],
            after_ms=each["after_ms"]["value"],
        )
        for each in idle
    ]
    absent = {"the profile has no idle states": idle, "the profile has no power model": power}
    lacks = tuple(lack for lack, there in absent.items() if not there)
    saving = None if not idle else APST if nvme else LINK_POWER
    values = () if saving is None else tuple(_counts(profile))
    return PowerFeatures(
        protocol="nvme" if nvme else "sata",
        states=(*working, *resting),
        saving=saving,
        values=values,
        found=values[0] if values else None,
        sent=nvme and bool(idle),
        lacks=lacks,
    )


def _protocol(profile: Document) -> str:
    return str(profile["link"]["protocol"]["value"])


def _idle_states(profile: Document) -> list[Document]:
    return list((profile.get("power") or {}).get("idle_states", ()))
