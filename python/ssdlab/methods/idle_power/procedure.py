"""What a drive draws at rest in each of its power states, and how long it takes to wake from each.

Question
    Watts of the drive left alone, and the time of the first read that ends the rest: awake, in each power
    state that it can be sent into, and with the saving of power on (APST of NVMe, link power management of
    SATA) as it goes by itself.

Procedure
    The drive is asked for its power states. Then, for each way to rest: the saving of power is set, an NVMe
    drive is sent into the state, and after a time to settle it is metered for as long as it is left alone;
    nothing is sent to it meanwhile. One 4 KiB read at a random block wakes it, and a second right behind it
    shows what a read takes of a drive that is awake. That is done several times, with shorter rests; the
    wake-up is the median of the first reads less that of the second ones. What was set is put back.

Source
    The page "Power Management" of AnandTech's consumer reviews (2017 on): tables of power features and of
    states, idle power with and without saving, wake-up latency. States and their times: NVM Express Base
    Specification 2.0c, section 8.15. Durations and the number of reads are ours.

What it cannot show
    Watts without a meter, or of the host's end of the link. Which state a drive goes into by itself: it does
    not say. A state that the host's firmware keeps from it, such as link states of PCIe (ASPM).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ssdlab.plugin import (
    AskPower,
    Bytes,
    Method,
    Params,
    PowerFacts,
    Rest,
    RunData,
    Seconds,
    SettingsFacts,
    param,
)

from . import IDLE_POWER
from .result import IdlePowerResult

if TYPE_CHECKING:
    from ssdlab.plugin import Lab, PowerFeatures, Resting, Step

ASKED = "power features"
SAVING = "power features, saving power"


class IdlePowerParams(Params):
    """Of the rests."""

    settle_seconds: Seconds = param(
        60.0, "at rest before it is metered: what a drive does for itself is done", unit="s", quick=3.0, ge=0
    )
    seconds: Seconds = param(60.0, "metered in each way to rest", unit="s", quick=2.0, gt=0)
    again_seconds: Seconds = param(
        15.0, "of each further rest: longer than drives take to go to sleep", unit="s", quick=3.0, gt=0
    )
    reads: int = param(
        9, "that wake it in each way: their median counts", unit="reads", quick=5, ge=1, le=1000
    )
    block: Bytes = param(4096, "block size of a read", unit="B", ge=512, le=1 << 20)
    fill: bool = param(
        False, "write the whole drive first (destroys its data): for a device that may have unwritten blocks"
    )


def procedure(lab: Lab, p: IdlePowerParams) -> None:
    """Ask for the states, then rest in each resting."""
    features = lab.do(AskPower(), label=ASKED).found(PowerFacts).features
    lab.conditions(scheduler="none")
    if p.fill:
        lab.fill(unless_written=True)
    for number, resting in enumerate(features.restings()):
        _rest(lab, p, features, resting, certain=not number)
    if features.saving is not None and features.found is not None:
        lab.conditions(**{features.saving: features.found})


def _rest(lab: Lab, p: IdlePowerParams, features: PowerFeatures, resting: Resting, *, certain: bool) -> None:
    if resting.conditions:
        asked = lab.conditions(**resting.conditions)
        if asked.found(SettingsFacts).departures:
            return  # the drive or its host does not do it: that is a departure, and no figure
        if resting.conditions == {features.saving: features.values[-1]}:
            lab.do(AskPower(), label=SAVING)
    rest = Rest(
        sent_to=resting.state,
        settle_s=p.settle_seconds,
        metered_s=p.seconds,
        again_s=p.again_seconds,
        reads=p.reads,
        block_bytes=p.block,
        certain=certain,
    )
    lab.do(rest, label=resting.label)


def conclude(data: RunData, p: IdlePowerParams) -> IdlePowerResult:
    """Report what was drawn in each way, and the wake-up from it."""
    asked = [step.found(PowerFacts).features for step in data.steps if step.verb == AskPower.verb]
    return IdlePowerResult.of(asked[0], asked[-1].states, _rests(data), quick=data.quick, block_bytes=p.block)


def _rests(data: RunData) -> list[Step]:
    return [step for step in data.steps if step.verb == Rest.verb]


METHOD = Method(
    name="idle-power",
    version=1,
    title="Idle power and wake-up",
    params=IdlePowerParams,
    procedure=procedure,
    conclude=conclude,
    result=IDLE_POWER,
    writes=lambda p: bool(p.fill),
    needs=("span written",),
    conditions={"scheduler": "none"},
    asks_drive=True,
)
