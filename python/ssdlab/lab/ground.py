"""What a step stands on: the part of the drive in use, and a seed. Any workload of the step is laid on it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ssdlab.model.errors import LabError, UsageError
from ssdlab.model.pattern import Segmented, Span, Uniform

if TYPE_CHECKING:
    from ssdlab.model.workload import Stream, Workload


@dataclass(frozen=True)
class Segments:
    """Equal, contiguous pieces of the part in use, evenly spread over it.

    Attributes
    ----------
    count
        How many, 2 or more.
    length_bytes
        Of each.
    stride_bytes
        From the start of one to the start of the next.
    """

    count: int
    length_bytes: int
    stride_bytes: int

    @property
    def reach_bytes(self) -> int:
        """Length of the part that they are spread over, in whole strides."""
        return self.count * self.stride_bytes

    @property
    def pattern(self) -> Segmented:
        """That of random I/O that goes to all of them alike, and to nothing between."""
        return Segmented(count=self.count, length_bytes=self.length_bytes, stride_bytes=self.stride_bytes)


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
    segments
        The pieces of the part in use that are used at all; None: all of it.
    """

    usable_bytes: int
    capacity_bytes: int
    logical_block_bytes: int
    seed: int
    segments: Segments | None = None

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
            stream if "span" in stream.model_fields_set else self._placed(stream, label)
            for stream in workload.streams
        )
        workload = workload.model_copy(update={**changes, "streams": streams})
        try:
            workload.resolve(self.capacity_bytes, self.logical_block_bytes)
        except LabError as error:
            error.what = f"{label}: {error.what}"
            raise
        return workload

    def _placed(self, stream: Stream, label: str) -> Stream:
        if self.segments is None:
            return stream.model_copy(update={"span": self._span_of(stream)})
        if not isinstance(stream.pattern, Uniform):
            raise UsageError(
                f"{label}: only random I/O can be spread over segments, all alike",
                "leave active_range_segments at 1 for this test",
            )
        span = Span(start=0, length=self.segments.reach_bytes)
        return stream.model_copy(update={"span": span, "pattern": self.segments.pattern})

    def _span_of(self, stream: Stream) -> Span:
        unit = min(block.bytes for block in stream.block)
        return Span(start=0, length=self.usable_bytes // unit * unit)


def derived_seed(seed: int, *path: int) -> int:
    """Derive a seed from another and a path of numbers (ordinal, segment): the same for the same."""
    text = ":".join(str(part) for part in (seed, *path))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "little")
