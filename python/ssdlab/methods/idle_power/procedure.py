"""Idle power in each power state, and the time to wake up from it.

Question
    Watts of an idle drive, and the time of the first read that wakes it: awake, in each power state that it
    can be put into, and with power saving on (APST for NVMe, link power management for SATA).

Procedure
    1. The drive reports its power states.
    2. For each kind of idle: power saving is set, and an NVMe drive is put into the state. After 60 s its
       power is measured for 60 s. Nothing is sent to the drive meanwhile.
    3. A 4 KiB read at a random block wakes it. A second read right after shows the latency of an awake
       drive. This is repeated after shorter rests, nine times in all. The wake-up time is the median of the
       first reads minus the median of the second reads.

    At the end the settings are restored.

Source
    AnandTech, consumer reviews (2017 on), page "Power Management": tables of power features and states,
    idle power with and without saving, wake-up latency. NVM Express Base Specification 2.0c, section 8.15:
    states and their times. Durations and the number of reads are ssdlab's.

What it cannot show
    Watts without a meter, or the power of the host's end of the link. Which state a drive enters by itself,
    because it does not report that. States that the host's firmware withholds, such as link states of PCIe
    (ASPM).
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
    settle_seconds: Seconds = param(
        60.0, "idle time before power is measured: background work is done by then", unit="s", quick=3.0, ge=0
    )
    seconds: Seconds = param(60.0, "measured time per kind of idle", unit="s", quick=2.0, gt=0)
    again_seconds: Seconds = param(
        15.0, "length of each further rest: longer than drives take to go to sleep", unit="s", quick=3.0, gt=0
    )
    reads: int = param(
        9,
        "reads that wake the drive, per kind of idle: their median counts",
        unit="reads",
        quick=5,
        ge=1,
        le=1000,
    )
    block: Bytes = param(4096, "block size of a read", unit="B", ge=512, le=1 << 20)
    fill: bool = param(
        False, "write the whole drive first (destroys its data): for a device that may have unwritten blocks"
    )


def procedure(lab: Lab, p: IdlePowerParams) -> None:
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
            return  # drive or host refused: recorded as a departure, without a figure
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
