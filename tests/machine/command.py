"""The command line of a measurement, for tests that run it as a user does."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path


def measure_command(command: str, device: Path, options: Sequence[str | int]) -> list[str]:
    """Arguments of a measurement that prints JSON, with consent: the devices of tests are their own."""
    return [command, "measure", str(device), *map(str, options), "--destroy", device.name, "--json"]
