"""Common parts of the two steady-state write methods."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ssdlab.plugin import (
    Order,
    RandomSteadyParams,
    RunData,
    Seconds,
    SteadyParams,
    in_steady_state,
    param,
    proof_of_state,
    write_to_steady_state,
)

from .depth_sweep import DepthSweepParams, conclude_sweep, sweep
from .result import PeakResult

if TYPE_CHECKING:
    from ssdlab.plugin import Lab


class SteadyWriteParams(SteadyParams, DepthSweepParams):
    seconds: Seconds = param(
        600.0,
        "measured time per depth; garbage collection comes in waves of minutes, so one minute may "
        "miss a wave",
        unit="s",
        quick=1.0,
        gt=0,
        le=86_400,
    )


def procedure(lab: Lab, p: SteadyWriteParams, order: Order, block_bytes: int) -> None:
    """Fill, write to steady state, then sweep the depth without a rest."""
    lab.conditions(scheduler="none")
    if isinstance(p, RandomSteadyParams):
        with in_steady_state(lab, p, block_bytes):
            sweep(lab, p, order, "write", block_bytes)
        return
    lab.fill()
    with lab.on_interruption("re-precondition"):
        write_to_steady_state(lab, p, order, block_bytes)
        sweep(lab, p, order, "write", block_bytes)


def conclude(data: RunData, p: SteadyWriteParams, order: Order, block_bytes: int) -> PeakResult:
    return conclude_sweep(
        data, p, order, "write", block_bytes, steady=proof_of_state(data, p), alike_depth=p.precondition_depth
    )
