"""What came of one setting of drive or host."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Outcome(BaseModel):
    """What came of one setting: `value` is what `wanted` means here, `after` what was read at the end."""

    model_config = ConfigDict(frozen=True, extra="allow")

    name: str
    wanted: str
    value: str
    before: str
    after: str
    remark: str | None = None

    @property
    def met(self) -> bool:
        """Whether it is as it should be."""
        return self.after == self.value
