"""One random pass instead of hours of overwriting: its size, when it is steady, and the proof.

The drive is purged. Each block is written once in random order, and some once more, so that the superblocks'
valid shares match those of long random writing. Random writes follow until five rounds meet SNIA's rule and
the drop in speed confirms the spare that the pass assumed. Without that confirmation, the drive is
overwritten as in the full procedure.

Source: one random pass with planned rewrites is the idea of SPRandom (SanDisk; fio pull request 1954, and
issue 2043 for the distance that a cache needs). The streaming form, the derivation from steady state
(`crates/workload/src/pattern/one_pass.rs`) and the check by the drop in speed are ssdlab's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ssdlab.analysis.one_pass import (
    PIECES,
    agrees,
    fall_bytes,
    may_show_no_fall,
    spare_of_fall,
    speeds_over_bytes,
)
from ssdlab.analysis.steady_state import ROUND_SHARE, WINDOW, first_steady
from ssdlab.lab.parts.workloads import closed_loop
from ssdlab.model.capabilities import SIMULATED_PREFIX
from ssdlab.model.errors import Refused, UsageError
from ssdlab.model.pattern import OnePass
from ssdlab.model.units import NS_PER_S
from ssdlab.model.workload import Stop

if TYPE_CHECKING:
    from ssdlab.drives.spare import Spare
    from ssdlab.model.workload import Workload

PASS_LABEL, SPEEDS_LABEL = "one random pass", "speeds of the pass"
_CACHE_SHARE = 1000
"""An unrecorded cache is taken as a thousandth of the drive, the size of the memory for its map."""
_MAX_BEHIND = 16
"""A block is rewritten after at most 1/16 of the span was written since its first write."""
_SHORTEST_ROW_NS = 1_000_000
_FAST_BYTES_S = 8e9
"""Speed, in bytes per second, up to which each piece of the pass has an interval row."""
UNPREPARED = frozenset({"partial-span", "not-simulated", "slc-cache", "no-theory", "no-spare"})
"""`reason` of the errors for a drive that cannot be prepared as requested."""


@dataclass(frozen=True)
class Pass:
    """One pass, planned for a span and a spare share."""

    data_bytes: int
    spare: float
    spare_from: str
    behind_bytes: int
    block_bytes: int

    @property
    def raw_bytes(self) -> int:
        """Bytes that the pass writes, in whole blocks."""
        return round(self.data_bytes / (1 - self.spare) / self.block_bytes) * self.block_bytes

    @property
    def piece(self) -> float:
        """Bytes in a piece of the pass, over which a speed is averaged."""
        return self.raw_bytes / PIECES

    @property
    def round_bytes(self) -> float:
        """Bytes in a round of the writes after the pass."""
        return self.raw_bytes * ROUND_SHARE

    @property
    def row_ns(self) -> int:
        """Length of an interval row, short enough to resolve the pieces on a fast drive."""
        return int(min(NS_PER_S, max(_SHORTEST_ROW_NS, self.piece / _FAST_BYTES_S * NS_PER_S)))

    def workload(self, depth: int) -> Workload:
        """Return the pass as a workload of `depth` threads with one synchronous write each."""
        plain = closed_loop("random", "write", block_bytes=self.block_bytes, in_flight=depth, seconds=1.0)
        (stream,) = plain.streams
        pattern = OnePass(raw_bytes=self.raw_bytes, behind_bytes=self.behind_bytes)
        whole = stream.model_copy(update={"pattern": pattern, "stop": Stop(bytes=self.raw_bytes)})
        return plain.model_copy(update={"streams": (whole,), "interval_ns": self.row_ns})

    def speeds(self, ends_ns: Any, moved: Any) -> list[float]:  # noqa: ANN401 - numpy's or lists
        """Return the speed of each piece in MB/s, from interval rows."""
        return speeds_over_bytes(np.asarray(ends_ns, float), np.asarray(moved, float), self.piece)

    def found_spare(
        self, before: Sequence[float], after: Sequence[float], steady: float
    ) -> tuple[float | None, bool]:
        """Return the spare share that the drop in speed implies, and whether it matches the assumed share.

        The share is None if the speed did not drop.

        Parameters
        ----------
        before, after
            Speeds of the pieces during the pass and after it, in MB/s.
        steady
            Final speed in MB/s.
        """
        if not before:
            return None, False
        # Fresh flash takes at least the data, which is less than half of the pass if the spare is large.
        fresh = min(PIECES // 2, max(1, int(self.data_bytes / self.piece)))
        fell = fall_bytes([*before, *after], self.piece, steady, fresh_pieces=fresh)
        if fell is None:
            return None, may_show_no_fall(self.spare)
        found = spare_of_fall(self.data_bytes, fell)
        return found, agrees(self.spare, found)


@dataclass(frozen=True)
class Advice:
    """Advice in errors for a drive that cannot have a pass or a placed state, in terms of the command."""

    in_full: str
    """How to ask for full preconditioning instead."""
    say_spare: str
    """How to state the spare share."""


_OF_METHOD = Advice("precondition it in full: --precondition full", "--set spare=0.07")


def lay_out(
    usable_bytes: int,
    block_bytes: int,
    spare: Spare,
    *,
    whole: bool,
    asked: float,
    cache_bytes: int,
    placed: bool = False,
    advice: Advice = _OF_METHOD,
) -> Pass:
    """Plan a pass on a drive, or a placed state instead.

    Parameters
    ----------
    usable_bytes
        Bytes to write: the whole drive.
    spare
        Spare area on record.
    whole
        Whether the whole drive is in use.
    asked, cache_bytes
        Requested spare share and cache size; 0: those on record.
    placed
        Whether the state is to be placed instead of written.

    Raises
    ------
    Refused
        Only a part of the drive is in use, or it has an SLC cache. A placed state is also refused for a real
        drive, and where theory does not apply. `reason` is one of `UNPREPARED`.
    UsageError
        The spare share is unknown; `reason` is ``no-spare``.
    """
    if not whole:
        raise Refused(
            "one pass and a placed state need the whole drive, but only a part is in use",
            f"use all of the drive, or {advice.in_full}",
            reason="partial-span",
        )
    if placed and spare.placeable is None:
        raise Refused(
            "the steady state of a real drive must be written, not computed",
            f"use one pass (--precondition one-pass), or {advice.in_full}",
            reason="not-simulated",
        )
    refuse_unknown(spare, placed=placed, advice=advice)
    share = asked or spare.share
    if not share or share <= 0:
        raise UsageError(
            "one pass needs the spare share of the drive's flash, which is unknown",
            f"give it: {advice.say_spare}; or add raw_bytes to the drive record (docs/drives.md)",
            reason="no-spare",
        )
    data_bytes = usable_bytes // block_bytes * block_bytes
    cache = cache_bytes or spare.cache_bytes or data_bytes // _CACHE_SHARE
    return Pass(
        data_bytes=data_bytes,
        spare=share,
        spare_from="asked for" if asked else spare.source,
        behind_bytes=min(max(cache, block_bytes), data_bytes // _MAX_BEHIND),
        block_bytes=block_bytes,
    )


def refuse_unknown(spare: Spare, *, placed: bool, advice: Advice) -> None:
    """Refuse a drive that neither one pass nor theory covers, by its recorded properties.

    Raises
    ------
    Refused
        The drive has an SLC cache; or a state is to be placed, and the drive has no superblocks.
    """
    if spare.one_bit_cache:
        raise Refused(
            "this drive has an SLC cache, which neither one pass nor theory models",
            advice.in_full,
            reason="slc-cache",
        )
    if placed and not spare.placeable:
        raise Refused(
            "the steady state of this simulated drive cannot be computed: theory covers only garbage "
            "collection of superblocks",
            advice.in_full,
            reason="no-theory",
        )


def refuse_before_made(drive: str, how: object, advice: Advice = _OF_METHOD) -> None:
    """Refuse a simulated drive by its profile, before the slow creation of the drive.

    `how` is the preparation; only ``one-pass`` and ``analytic`` can be refused.

    Raises
    ------
    Refused
        `refuse_unknown` refuses the drive.
    UsageError
        There is no such simulated drive.
    """
    if how in ("one-pass", "analytic") and drive.startswith(SIMULATED_PREFIX):
        from ssdlab.drives.spare import spare_of_simulated

        spare = spare_of_simulated(drive)
        refuse_unknown(spare, placed=how == "analytic", advice=advice)


class AfterPass:
    """Judges the random writes after a pass, row by row.

    Parameters
    ----------
    before
        Speeds of the pass's pieces in MB/s; empty in a plan.
    placed
        Whether the state was placed, so that no pass can show a drop in speed.
    """

    def __init__(self, laid: Pass, before: Sequence[float], *, placed: bool = False) -> None:
        self._laid, self._before, self._placed = laid, before, placed
        self._ends_ns: list[float] = []
        self._moved: list[float] = []
        self._written, self._rounds = 0.0, 0
        self._agreed = False

    @property
    def doubted(self) -> bool:
        """Whether the spare share is still unconfirmed after twice the rounds of a window."""
        return self._rounds >= 2 * WINDOW and not self._agreed

    @property
    def judged(self) -> bool:
        return self._rounds >= WINDOW

    def holds(self, rows: Sequence[Any]) -> bool:
        """Return whether the drive is steady with the spare share that the pass assumed."""
        for row in rows[len(self._ends_ns) :]:
            self._ends_ns.append(row.end_ns)
            self._moved.append(row.bytes)
            self._written += row.bytes
        rounds = int(self._written / self._laid.round_bytes)
        if rounds == self._rounds:
            return False
        self._rounds = rounds
        if rounds < WINDOW:
            return False
        judged = judge(self._laid, self._before, self._ends_ns, self._moved, placed=self._placed)
        self._agreed = judged.agreed
        return judged.steady


@dataclass(frozen=True)
class Judged:
    rounds_mb_s: tuple[float, ...]
    round_s: float
    spare_found: float | None
    agreed: bool
    """Whether the drop in speed confirms the spare, or none is expected: large spare, or placed state."""
    steady: bool
    """Whether `agreed` is true and the last five rounds meet SNIA's rule."""


def judge(
    laid: Pass,
    before: Sequence[float],
    ends_ns: Any,  # noqa: ANN401 - numpy's or lists
    moved: Any,  # noqa: ANN401
    *,
    placed: bool = False,
) -> Judged:
    """Judge the interval rows of the writes after a pass or a placed state."""
    ends, done = np.asarray(ends_ns, float), np.asarray(moved, float)
    rounds = speeds_over_bytes(ends, done, laid.round_bytes)
    window = rounds[-WINDOW:]
    held = len(window) == WINDOW and first_steady([window]) is not None
    found, agreed = None, False
    if window:
        found, agreed = laid.found_spare(before, laid.speeds(ends, done), float(np.mean(window)))
    agreed = agreed or placed
    return Judged(
        rounds_mb_s=tuple(rounds),
        round_s=float(np.mean([laid.round_bytes / speed / 1e6 for speed in rounds])) if rounds else 0.0,
        spare_found=found,
        agreed=agreed,
        steady=held and agreed,
    )
