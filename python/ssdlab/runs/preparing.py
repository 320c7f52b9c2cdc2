"""Brings a drive into steady state for a single measurement, without a method's full procedure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from ssdlab.drives.spare import spare_of
from ssdlab.lab.parts.one_pass import Advice, AfterPass, Judged, Pass, judge, lay_out, refuse_before_made
from ssdlab.lab.parts.steady import SteadyParams, steady_until
from ssdlab.lab.parts.workloads import closed_loop
from ssdlab.model.pattern import span_unit_bytes
from ssdlab.model.units import NS_PER_S, duration_text

if TYPE_CHECKING:
    from ssdlab.drives.base import Drive
    from ssdlab.model.measurement import Measurement
    from ssdlab.model.notebook import ArrowColumns
    from ssdlab.runs.observe import Watcher


BLOCK_BYTES = 4096
_FULL = SteadyParams()
"""Parameters for overwriting if a pass does not confirm its spare: the defaults of the steady methods."""
_IN_FULL = (
    "overwriting as with --precondition full, as the pass did not show its spare "
    f"({_FULL.overwrites:g} drive writes and "
    f"{duration_text(round(_FULL.least_seconds * NS_PER_S))} or more, "
    f"at most {duration_text(round(_FULL.most_seconds * NS_PER_S))})"
)
_OF_MEASURE = Advice(
    "write it once, --precondition fill; a method such as steady-random-write writes it to steady state",
    "--spare 0.07",
)


def refuse_unprepared(drive: str, how: str) -> None:
    """Refuse a simulated drive that cannot be prepared as asked, before it is created.

    Raises
    ------
    Refused, UsageError
        The drive cannot be prepared, with the reason, or there is no such simulated drive.
    """
    refuse_before_made(drive, how, _OF_MEASURE)


def prepare(
    drive: Drive,
    how: Literal["one-pass", "analytic"],
    *,
    whole: bool,
    spare: float | None,
    seed: int,
    watcher: Watcher,
) -> dict[str, object]:
    """Purge and prepare a drive; return facts about the preparation for the measurement.

    Parameters
    ----------
    drive, how
        The drive, and how to precondition it.
    whole
        Whether later writes cover the whole drive; a part of it has its own steady state.
    spare
        Share of spare as given by the user; None: by the drive's record.
    seed
        Seed of the writes.
    watcher
        Notified of each phase.

    Raises
    ------
    Refused, UsageError
        The drive cannot be prepared as asked; nothing was touched.
    DriveError
        The drive cannot be purged.
    """
    usable = drive.capacity_bytes
    usable -= usable % span_unit_bytes(usable, drive.logical_block_bytes)
    laid = lay_out(
        usable,
        BLOCK_BYTES,
        spare_of(drive.identity),
        whole=whole,
        asked=spare or 0.0,
        cache_bytes=0,
        placed=how == "analytic",
        advice=_OF_MEASURE,
    )
    drive.purge()
    before: list[float] = []
    failed = 0
    if drive.state is not None and how == "analytic":
        drive.state.place_steady()
    else:
        watcher.phase("writing one random pass", duration_ns=None, size_bytes=laid.raw_bytes)
        written = drive.run(
            laid.workload(_FULL.precondition_depth).model_copy(update={"seed": seed}), on_tick=watcher.tick
        )
        before, failed = laid.speeds(*_rows_of(written)), written.summary().failed
    found, full, later = _write_after(
        drive, laid, before, seed=seed, placed=how == "analytic", watcher=watcher
    )
    return {
        "preconditioning": how,
        "spare": laid.spare,
        "spare_from": laid.spare_from,
        "spare_found": found.spare_found,
        "steady": found.steady and not (failed or later),
        "in_full": full,
        **({"failed": failed + later} if failed or later else {}),
    }


def _write_after(
    drive: Drive, laid: Pass, before: list[float], *, seed: int, placed: bool, watcher: Watcher
) -> tuple[Judged, bool, int]:
    """Write at random until the drive is steady, or as long as full preconditioning would take.

    Returns the judgement, whether full preconditioning was done, and how many writes failed.
    """
    after = AfterPass(laid, before, placed=placed)
    full, _ = steady_until(_FULL, laid.data_bytes)
    writes = closed_loop(
        "random",
        "write",
        block_bytes=laid.block_bytes,
        in_flight=_FULL.precondition_depth,
        seconds=_FULL.most_seconds,
    ).model_copy(update={"interval_ns": laid.row_ns, "seed": seed + 1})
    ended = doubted = False

    def until(rows: object) -> bool:
        nonlocal ended, doubted
        assert isinstance(rows, list | tuple)
        ended = full(rows)
        holds = after.holds(rows)
        if after.doubted and not doubted:
            watcher.phase(_IN_FULL, duration_ns=None, size_bytes=None)
        doubted = doubted or after.doubted
        return holds or ended

    watcher.phase("writing until steady", duration_ns=None, size_bytes=None)
    ran = drive.run(writes, on_tick=watcher.tick, until=until)
    judged = judge(laid, before, *_rows_of(ran), placed=placed)
    if ended and not judged.steady:
        judged = Judged(judged.rounds_mb_s, judged.round_s, judged.spare_found, judged.agreed, steady=True)
        return judged, True, ran.summary().failed
    return judged, False, ran.summary().failed


def _rows_of(measured: Measurement) -> tuple[Any, Any]:
    """Return the end of each interval row, in ns, and the bytes written in the row."""
    rows: ArrowColumns = measured.rows(direction="write")
    return rows["start_ns"] + rows["duration_ns"], rows["bytes"]
