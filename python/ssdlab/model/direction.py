"""The directions that an I/O can have."""

from __future__ import annotations

from typing import Literal

Direction = Literal["read", "write", "trim"]
DIRECTIONS: tuple[Direction, ...] = ("read", "write", "trim")
"""In the order that summaries, tables and pages have them."""
