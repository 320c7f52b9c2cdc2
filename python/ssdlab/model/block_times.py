"""How long the block layer's requests took, by the kernel's own stamps."""

from __future__ import annotations

from pydantic import Field

from ssdlab.model.stored import Stored

FACT = "block_layer"
"""Under which a step has them."""
PERCENTILES = ("p50", "p90", "p99", "p99.9", "p99.99", "p99.999")


class BlockTimes(Stored):
    """Times of requests from their issue to their completion, or why there are none."""

    fault: str | None = Field(default=None, description="why the times are not to be used; None: they are")
    requests: int = 0
    bytes: int = Field(default=0, description="read and written")
    lost: int = Field(default=0, description="events for which the kernel's buffers had no room")
    unmatched: int = Field(default=0, description="events of an issue or a completion alone")
    busy_ns: int = Field(default=0, description="time with at least one request at the device")
    service_mean_ns: float | None = Field(default=None, description="of all directions")
    service_ns: dict[str, dict[str, float | None]] = Field(
        default={}, description="by direction: min, mean, max and percentiles, None where too few lie beyond"
    )

    @property
    def used(self) -> bool:
        """Whether they stand for the times that the program took."""
        return self.fault is None and self.requests > 0
