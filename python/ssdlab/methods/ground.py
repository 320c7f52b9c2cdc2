"""What a step stands on: the part of the drive in use, and a seed. Any workload of the step is laid on it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ssdlab.model.errors import LabError, UsageError
from ssdlab.model.span import Span

if TYPE_CHECKING:
    from ssdlab.model.workload import Stream, Workload


@dataclass(frozen=True)
class Ground:
    """Where the workloads of one step lie.

    Attributes
    ----------
    usable_bytes
        The part of the drive in use, from its start.
    capacity_bytes
        What a stream may ask for by a span of its own.
    logical_block_bytes
        What the drive addresses.
    seed
        The step's.
    """

    usable_bytes: int
    capacity_bytes: int
    logical_block_bytes: int
    seed: int

    @property
    def span(self) -> Span:
        """The part of the drive in use."""
        return Span(start=0, length=self.usable_bytes)

    def laid(self, workload: Workload, label: str) -> Workload:
        """Give a workload the step's seed and the span in use, where it has none of its own.

        Raises
        ------
        UsageError
            It would never stop, or the drive has no such block or span.
        """
        if endless := next((s.name for s in workload.streams if not s.stop.ever), None):
            raise UsageError(
                f"stream {endless!r} of step {label!r} would never stop",
                "give it a time, bytes or I/Os to stop at",
            )
        changes: dict[str, Any] = {} if "seed" in workload.model_fields_set else {"seed": self.seed}
        streams = tuple(
            stream
            if "span" in stream.model_fields_set
            else stream.model_copy(update={"span": self._span_of(stream)})
            for stream in workload.streams
        )
        workload = workload.model_copy(update={**changes, "streams": streams})
        try:
            workload.resolve(self.capacity_bytes, self.logical_block_bytes)
        except LabError as error:
            error.what = f"{label}: {error.what}"
            raise
        return workload

    def _span_of(self, stream: Stream) -> Span:
        unit = min(block.bytes for block in stream.block)
        return Span(start=0, length=self.usable_bytes // unit * unit)


def derived_seed(seed: int, *path: int) -> int:
    """Derive a seed from another and a path of numbers (ordinal, segment): the same for the same."""
    text = ":".join(str(part) for part in (seed, *path))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "little")
