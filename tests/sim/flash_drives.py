"""The shipped drives of flash, and which of them a test is run on each time."""

from __future__ import annotations

import pytest

from ssdlab.drives.simulated.profiles import check_profile, profiles

FLASH = [name for name in profiles() if check_profile(name)["profile"].get("flash")]


def slow_but(quick: list[str], names: list[str]) -> list[object]:
    """These names, all but some of them in the slow suite."""
    return [name if name in quick else pytest.param(name, marks=pytest.mark.slow) for name in names]
