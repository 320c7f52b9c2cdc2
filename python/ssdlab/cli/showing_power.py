"""Power in a terminal: mean power and the work for each watt, where the drive was metered."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ssdlab.cli.output import print_line
from ssdlab.model import units

if TYPE_CHECKING:
    from ssdlab.analysis.efficiency import Efficiency


def power_cells(mean_w: float | None, found: Efficiency | None) -> tuple[str, str]:
    """Return mean power and efficiency; dashes without a meter."""
    if mean_w is None:
        return "-", "-"
    efficiency = "-" if found is None else f"{units.significant(found.value)} {found.unit}"
    return f"{units.significant(mean_w)} W", efficiency


def print_power(label: str, mean_w: float | None, found: Efficiency | None) -> None:
    """Print both in a line; nothing without a meter."""
    if mean_w is not None:
        print_line(label + ", ".join(power_cells(mean_w, found)))
