"""What every test of the specification is told: the setting, and what it leaves to the operator.

Each default is what the specification asks for or recommends, so whatever a run has otherwise is a departure
(`methods.pts.departures`), except the choices that it leaves open.

Source: SNIA SSS PTS 2.0.2, sections 2 (definitions) and 3 (settings).
"""

from __future__ import annotations

from typing import ClassVar, Literal

from ssdlab.methods.method import Params, Seconds, param

Setting = Literal["enterprise", "client"]
SETTINGS: dict[Setting, Literal["PTS-E", "PTS-C"]] = {"enterprise": "PTS-E", "client": "PTS-C"}
WRITE_CACHE = {"enterprise": "off", "client": "on"}
ACTIVE_RANGE_PCT = {"enterprise": 100, "client": 75}
RECOMMENDED_SHAPE = {"enterprise": (4, 32), "client": (2, 16)}
"""Threads and depth of each, of the tests that leave them to the operator."""
SPECIFICATION = "SNIA SSS PTS 2.0.2"
KIB = 1024


class PtsParams(Params):
    """Of every test of the specification."""

    choices: ClassVar[frozenset[str]] = frozenset({"setting", "threads", "depth", "active_range"})
    """Parameters that are no departure by being other than the default: the operator's choice by the
    specification, or judged by more than their value."""

    setting: Setting = param(
        "enterprise",
        "PTS-E: write cache off, whole range; PTS-C (client): write cache on, 75 % of the range",
    )
    threads: int = param(
        0, "thread count (TC); 0: as the setting recommends, 4 (E) or 2 (C)", unit="threads", ge=0, le=512
    )
    depth: int = param(
        0, "I/Os in flight of each thread (QD); 0: as the setting recommends, 32 (E) or 16 (C)", ge=0, le=4096
    )
    active_range: int = param(
        0, "share of the user capacity that is used; 0: as the setting says", unit="%", ge=0, le=100
    )
    seconds: Seconds = param(60.0, "of a cell, a sample or a record", unit="s", quick=0.5, gt=0, le=3600)

    @property
    def recommended(self) -> tuple[int, int] | None:
        """Threads and depth of each that the specification names for the test; None: it leaves them open."""
        return RECOMMENDED_SHAPE[self.setting]

    @property
    def shape(self) -> tuple[int, int]:
        """Threads and depth of each."""
        threads, depth = self.recommended or RECOMMENDED_SHAPE[self.setting]
        return self.threads or threads, self.depth or depth

    @property
    def engine(self) -> Literal["sync", "uring"]:
        """What issues the I/O of the test on a real drive: one at a time needs no ring."""
        return "sync" if self.shape[1] == 1 else "uring"

    @property
    def range_pct(self) -> int:
        """Share of the user capacity in use, in percent."""
        return self.active_range or ACTIVE_RANGE_PCT[self.setting]


class LoopParams(PtsParams):
    """Of the tests that do rounds until steady."""

    most_rounds: int = param(
        25, "after which it ends, steady or not: the last five are the window then", quick=5, ge=5, le=1000
    )
    fixed_rounds: bool = param(
        False, "do all rounds whether steady or not, as a published review practice does"
    )


class RoundsParams(LoopParams):
    """Of those that write the drive over before."""

    overwrites: float = param(
        2.0,
        "written before the rounds (workload-independent preconditioning), of what overwrites_of says",
        unit="times",
        quick=1.0,
        ge=0,
        le=20,
    )
    overwrites_of: Literal["user-capacity", "active-range"] = param(
        "user-capacity",
        "what is written so often into the active range: the text says user capacity, also where 75 % of it "
        "are in use; open implementations call that unclear",
    )
    reported: Literal["window", "four-after"] = param(
        "window",
        "rounds whose mean is reported of each cell: the window that proves steady state, or the four rounds "
        "after it (the last four where so many are not left), as a published review practice has it",
    )
