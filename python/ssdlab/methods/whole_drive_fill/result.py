"""The Result of a fill of the whole drive."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from ssdlab.plugin import ResultBase, absent

LAST_BYTES = 16 * 10**9
"""As the review has it: what a drive does at its end."""


def last_parts(part_bytes: float, parts: int) -> int:
    """Return of how many parts the end of a drive is: one at least, and all of a small drive."""
    return min(parts, max(1, round(LAST_BYTES / part_bytes)))


class FillResult(ResultBase):
    """Speed of the first write over the whole drive, cut into parts of equal bytes."""

    kind: Literal["fill"] = "fill"
    block_bytes: int
    depth: int
    ordinal: int
    part_bytes: float
    parts_mb_s: tuple[float, ...]
    mean_mb_s: float
    last_mb_s: float = Field(description="of the last 16 GB, the last part, or all of a smaller drive")
    cache_bytes: int | None = Field(
        description="bytes after which the speed drops for good; None: it does not"
    )
    before_mb_s: float | None
    after_mb_s: float | None
    mean_w: float | None = Field(default=None, description="mean power over the fill; None: no meter")
    hot_drop_bytes: int | None = Field(
        default=None,
        exclude_if=absent,
        description="bytes after which the speed drops for good when heat had begun to slow the drive, so "
        "that why it drops is not judged; absent: it does not",
    )

    purged: bool | None = Field(
        default=None,
        exclude_if=absent,
        description="false: it was not purged before, so that it is not known to be fresh; absent: it was",
    )

    @property
    def last_bytes(self) -> float:
        """How much `last_mb_s` is of."""
        return self.part_bytes * last_parts(self.part_bytes, len(self.parts_mb_s))

    @property
    def mb_s_per_w(self) -> float | None:
        """Efficiency."""
        return self.mean_mb_s / self.mean_w if self.mean_w else None
