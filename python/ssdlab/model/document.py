"""What a document in TOML or JSON holds, once it is read and before a model has taken it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Document = Mapping[str, Any]
"""A table of it: its values are of whatever kind the document has; who reads it says what it expects."""
