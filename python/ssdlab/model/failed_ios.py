"""The common policy for failed I/Os, and the error that ends a run.

By default fio ends a job at its first failed I/O (`continue_on_error=none`). ACT ignores failed I/Os, and
SNIA's specification does not mention them. A step with failed I/Os is not ranked, rated or compared here.
Figures of other steps stay valid, so a run ends only after several failures.
"""

from __future__ import annotations

import errno
from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import Field

from ssdlab.model.errors import DriveError
from ssdlab.model.frozen import NamedOptions
from ssdlab.model.summary import Summary
from ssdlab.model.units import counted, fixed_share_text, share_text

if TYPE_CHECKING:
    from collections.abc import Callable

    import ssdlab._core as _core
    from ssdlab.model.measurement import Measurement
    from ssdlab.model.summary import FirstFailure

    OnTick = Callable[[_core.Snapshot], object]

OnError = Literal["stop", "continue"]
FAILED_SHARE = 0.001
"""Share of failed I/Os beyond which a run stops: more than the slowest 0.1 % are then missing from p99.9."""
FAILED_MIN = 10
"""Minimum failed I/Os for a meaningful share, the same as for samples beyond a percentile."""
GONE = frozenset({errno.ENODEV, errno.ENXIO, errno.EBADF})
"""Errors that end a run under any policy: the drive is gone."""
TOO_MANY = "failed-ios"
"""The fact `reason` of the error."""


class ErrorOptions(NamedOptions):
    """The option for failed I/Os, which every command that measures has."""

    noun: ClassVar[str] = "option for failed I/Os"

    on_error: OnError = Field(
        "stop",
        description=f"stop or continue if over {fixed_share_text(FAILED_SHARE)} of a step's I/Os (at least "
        "ten) fail; steps with any failed I/O are not ranked",
    )


def too_many(failed: int, done: int) -> bool:
    """Return whether the share of failed I/Os stops a run."""
    return failed >= FAILED_MIN and failed > FAILED_SHARE * (failed + done)


def heeding(
    run: Callable[..., Measurement], on_tick: OnTick | None, on_error: OnError, device: str
) -> Measurement:
    """Run a workload, and end it if too many I/Os fail, unless the policy is to continue.

    Parameters
    ----------
    run
        Takes ``on_tick`` and ``past_failures`` as the native ``run`` does.
    on_tick
        Called during the run.
    on_error
        The policy.
    device
        The drive's path, for the error.

    Raises
    ------
    DriveError
        Too many I/Os failed. It has the measurement, and the facts of the first failed I/O.
    """
    if on_error == "continue":
        return run(on_tick=on_tick, past_failures=True)

    def tick(snapshot: _core.Snapshot) -> None:
        if too_many(snapshot.failed, snapshot.ios):
            raise _error(snapshot.failed, snapshot.ios, None, device)
        if on_tick is not None:
            on_tick(snapshot)

    try:
        measured = run(on_tick=tick, past_failures=False)
    except DriveError as error:
        _explain(error, device)
        raise
    summary = measured.summary()
    if too_many(summary.failed, summary.ios):
        failure = _error(summary.failed, summary.ios, summary.first_failure, device)
        failure.measurement = measured
        raise failure
    return measured


def _explain(error: DriveError, device: str) -> None:
    """Add to an error the number of failed I/Os in the workload that it ended."""
    measured = error.measurement
    of_io = error.facts.get("operation") in ("read", "write", "trim")
    gone = error.facts.get("errno") in GONE
    if measured is None or gone or not (of_io or error.facts.get("reason") == TOO_MANY):
        return
    summary = Summary.model_validate(measured.as_dict())
    # The measurement lacks failures in the ramp, and a tick lacks those after it: the larger count is better.
    failed = max(summary.failed, error.facts.get("failed", 0))
    done = summary.ios if failed == summary.failed else error.facts["asked"] - failed
    if failed >= FAILED_MIN:
        found = _error(failed, done, summary.first_failure, device)
        error.what, error.advice = found.what, found.advice
        error.facts |= found.facts


def _error(failed: int, done: int, first: FirstFailure | None, device: str) -> DriveError:
    asked = failed + done
    facts = {} if first is None else first.facts
    return DriveError(
        f"{failed} of {counted(asked, 'I/O')} of {device} failed, {share_text(failed / asked)}"
        f"{'' if first is None else f', first {first.words}'}",
        "check the kernel log and the drive's health; --on-error continue measures anyway, and "
        "marks the figures",
        **{**facts, "device": device, "reason": TOO_MANY, "failed": failed, "asked": asked},
    )
