"""How a simulated drive is told from a real one by its text."""

from __future__ import annotations

SIMULATED_PREFIX = "sim:"
"""What the text of a simulated drive begins with; here, so that who only asks loads no drive."""
