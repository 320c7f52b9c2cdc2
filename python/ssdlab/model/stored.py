"""The base of everything that a run folder holds."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Stored(BaseModel):
    """A frozen record; unknown fields are an error."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True, defer_build=True)


def absent(value: object) -> bool:
    """Whether a field is left out of what is stored: one that older records do not have."""
    return value is None
