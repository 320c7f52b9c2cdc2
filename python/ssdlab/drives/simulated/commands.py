"""How many commands a simulated drive holds at once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

SLOTS_OF_AHCI = 32
"""Commands of a port (AHCI 1.3.1, 3.1.1), and tags of native command queuing (Serial ATA 3.1, 13.6)."""


def commands_held(profile: Mapping[str, Any]) -> int | None:
    """Return how many commands a drive of this profile holds at once; None where nothing bounds them."""
    if (own := profile["controller"].get("commands")) is not None:
        return int(own["value"])
    return None if profile["link"]["protocol"]["value"] == "nvme" else SLOTS_OF_AHCI
