"""A simulated drive of which a share of the I/Os fails, and who knows of which steps that was."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ssdlab.drives.simulated.drive import SimulatedDrive
from ssdlab.model.units import counted
from ssdlab.model.warnings import Warning

if TYPE_CHECKING:
    import pytest

    from ssdlab.model.measurement import Measurement

EIO = 5


@dataclass
class Failing:
    """Fails a share of the I/Os of one direction, counted over all that was ever measured."""

    direction: str
    share: float
    asked: int = 0
    failed: int = 0

    def spoil(self, measured: Measurement) -> Measurement:
        """Add what failed to what was done: the rows have all of that."""
        summary = deepcopy(measured.as_dict())
        side = summary[self.direction]
        if not side or not side["ios"]:
            return measured
        self.asked += side["ios"]
        failed = round(self.asked * self.share / (1 - self.share)) - self.failed
        if failed <= 0:
            return measured
        self.failed += failed
        side.update(requested=side["requested"] + failed, failed=failed, errors={str(EIO): failed})
        first = {"stream": 0, "op": self.direction, "errno": EIO, "offset": 4096, "length": 4096}
        words = {"count": counted(failed, "I/O"), "errors": f"{failed} x EIO"}
        told = Warning.of("failed", words, failed=failed, errors={str(EIO): failed})
        spoilt = measured._with(**{self.direction: side}, first_failure=first)
        return spoilt.with_warnings((*measured.warnings, told))


def failing(monkeypatch: pytest.MonkeyPatch, direction: str, share: float) -> Failing:
    """Make all simulated drives of this process fail so."""
    drive, whole = Failing(direction, share), SimulatedDrive._measurement

    def spoilt(self: SimulatedDrive, *args: Any) -> Measurement:
        return drive.spoil(whole(self, *args))

    monkeypatch.setattr(SimulatedDrive, "_measurement", spoilt)
    return drive
