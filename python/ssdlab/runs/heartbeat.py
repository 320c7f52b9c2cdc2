"""Whether ssdlab itself stood still while a real drive was measured; what counts as that: `model.pauses`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ssdlab.model.closing import Closing
from ssdlab.model.pauses import LEAST_S, PERIOD_S, Gap, Pause, pauses_in

if TYPE_CHECKING:
    from ssdlab.drives.base import Drive


class Heartbeat(Closing):
    """A thread that beats from now on; closed with the run.

    Parameters
    ----------
    drive
        That is measured. In virtual time a stop changes nothing, so that nothing beats.

    Raises
    ------
    HostError
        There can be no thread.
    """

    def __init__(self, drive: Drive) -> None:
        import ssdlab._core as _core

        virtual = drive.capabilities.virtual_time
        self._native = None if virtual else _core.Heartbeat(PERIOD_S, LEAST_S)

    def pauses(self) -> tuple[Pause, ...]:
        """Return the pauses since they were last asked for, up to now."""
        return () if self._native is None else pauses_in(Gap(*each) for each in self._native.gaps())

    def close(self) -> None:
        """End it; from then on there are none."""
        if self._native is not None:
            self._native.close()
