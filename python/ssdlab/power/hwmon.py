"""Power meters behind the kernel's hwmon: INA2xx and similar chips on a riser or in a cable.

Source: Documentation/hwmon/sysfs-interface in the kernel: `powerN_input` in microwatts, `currN_input` in mA,
`inN_input` in mV, `*_label`, `update_interval` in ms. Sensors inside drives (`nvme`, `drivetemp`) are never
read, because reading them sends a command to the drive. Chips that measure the host (CPU, power supply,
battery) are refused.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ssdlab.host.sysfs import HostFiles, names, number, text, within
from ssdlab.model.errors import Refused, UsageError
from ssdlab.power.meter import POLL_HZ, Polled, Samples, chosen_rails, silent

if TYPE_CHECKING:
    from ssdlab.model.meter_text import MeterText

_INSIDE_DRIVES = frozenset({"nvme", "drivetemp"})
_IN_A_CABLE = re.compile(r"(ina\d+|isl28022|ltc29\d\d|ltc42\d\d|max3440\d|lm25066|adm12\d\d|pac19\d\d)\w*")
"""Chips that are built into a supply cable. Other chips sit on a board and may measure any part of the
host."""


@dataclass(frozen=True)
class Chip:
    """A hwmon chip: its sysfs folder, its driver's name, and a function for each rail that reads W."""

    folder: Path
    name: str
    rails: dict[str, Callable[[], float]]

    @property
    def in_a_cable(self) -> bool:
        return _IN_A_CABLE.fullmatch(self.name) is not None

    @property
    def rate_hz(self) -> float:
        interval_ms = number(self.folder / "update_interval")
        return min(POLL_HZ, 1e3 / interval_ms) if interval_ms else POLL_HZ


def chips(files: HostFiles) -> Iterator[Chip]:
    """Yield every hwmon chip that measures power, except sensors inside drives."""
    for folder in within(files.sys / "class" / "hwmon", "hwmon*"):
        name = text(folder / "name") or ""
        if name in _INSIDE_DRIVES:
            continue
        rails = _rails(folder)
        if rails:
            yield Chip(folder, name, rails)


def _rails(folder: Path) -> dict[str, Callable[[], float]]:
    """Return a reader for each rail: the chip's power value, or else voltage times current."""
    inside = names(folder)
    found: dict[str, Callable[[], float]] = {}
    powers = [each[:-6] for each in inside if re.fullmatch(r"power\d+_input", each)]
    for power in powers:
        found[text(folder / f"{power}_label") or power] = _reader(folder / f"{power}_input", 1e-6)
    if powers:
        return found
    for current in (each[:-6] for each in inside if re.fullmatch(r"curr\d+_input", each)):
        volts = f"in{current.removeprefix('curr')}_input"  # as on INA3221; its in4 to in6 are shunt voltages
        if volts in inside:
            rail = text(folder / f"{current}_label") or current
            found[rail] = _product(_reader(folder / volts, 1e-3), _reader(folder / f"{current}_input", 1e-3))
    return found


def _reader(path: Path, unit: float) -> Callable[[], float]:
    def read() -> float:
        return int(path.read_bytes()) * unit

    return read


def _product(volts: Callable[[], float], amperes: Callable[[], float]) -> Callable[[], float]:
    return lambda: volts() * amperes()


class HwmonMeter(Polled):
    """A hwmon chip, polled at the user's rate, or else at its update rate up to `POLL_HZ`.

    Parameters
    ----------
    text
        ``hwmon:`` and the driver's name (`ina226`) or the folder's (`hwmon3`).
    files
        Sysfs to read; by default this host's.

    Raises
    ------
    UsageError
        There is no such chip, or several.
    Refused
        The chip measures the host, not a drive.
    """

    def __init__(self, text: MeterText, files: HostFiles | None = None) -> None:
        chip = _chip(text, files or HostFiles())
        offered = tuple(chip.rails)
        chosen = chosen_rails(text, offered)
        self._readers = [chip.rails[offered[at]] for at in chosen]
        rails = tuple(offered[at] for at in chosen)
        self.describe(text, f"{chip.name} ({chip.folder.name})", rails, text.rate or chip.rate_hz)

    def read(self, timeout_s: float) -> Samples:
        """Read each rail once; the time is the middle of the reading."""
        del timeout_s
        began = time.monotonic_ns()
        try:
            watts = [read() for read in self._readers]
        except (OSError, ValueError) as error:
            raise silent(self._info.use, str(error)) from error
        return Samples(np.array([(began + time.monotonic_ns()) // 2]), np.array([watts]))

    def close(self) -> None:
        """Do nothing: no file stays open."""


def _chip(text: MeterText, files: HostFiles) -> Chip:
    found = list(chips(files))
    fitting = [chip for chip in found if text.place in (chip.name, chip.folder.name)]
    if len(fitting) != 1:
        known = ", ".join(f"{chip.folder.name} ({chip.name})" for chip in found) or "none on this host"
        how = "no chip" if not fitting else f"{len(fitting)} chips"
        raise UsageError(
            f"hwmon has {how} named {text.place!r} that measure{'s' * (not fitting)} power",
            f"name one by its folder: {known}",
            meter=text.use,
        )
    (chip,) = fitting
    if not chip.in_a_cable:
        raise Refused(
            f"{chip.name} ({chip.folder.name}) measures a part of the host, not a drive",
            "use a meter in the drive's supply; host power says nothing about the drive's efficiency",
            meter=text.use,
        )
    return chip
