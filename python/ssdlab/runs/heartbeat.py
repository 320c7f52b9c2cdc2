"""Whether ssdlab itself stood still while a real drive was measured; what counts as that: `model.summary`."""

from __future__ import annotations

from ssdlab.model.closing import Closing
from ssdlab.model.summary import MIN_PAUSE_S, PERIOD_S, Gap, Pause, pauses_in


class Heartbeat(Closing):
    """A thread that beats from now on; closed with the run.

    Parameters
    ----------
    beats
        False where a stop changes nothing, as in virtual time: then there are no pauses.

    Raises
    ------
    HostError
        There can be no thread.
    """

    def __init__(self, *, beats: bool = True) -> None:
        import ssdlab._core as _core

        self._native = _core.Heartbeat(PERIOD_S, MIN_PAUSE_S) if beats else None

    def pauses(self) -> tuple[Pause, ...]:
        """Return the pauses since they were last asked for, up to now."""
        return () if self._native is None else pauses_in(Gap(*each) for each in self._native.gaps())

    def close(self) -> None:
        """End it; from then on there are none."""
        if self._native is not None:
            self._native.close()
