"""A desktop's load: small writes in bursts inside a span, and large reads of the rest beside them."""

from __future__ import annotations

from dataclasses import dataclass

from ssdlab.model.arrival import Bursts, Closed
from ssdlab.model.pattern import Sequential, Uniform
from ssdlab.model.span import Span
from ssdlab.model.units import NS_PER_S
from ssdlab.model.workload import Block, Mix, Stop, Stream, Workload

READ_BLOCK_BYTES = 64 * 1024
UNIT_BYTES = 1 << 20
_ROW_NS = NS_PER_S


@dataclass(frozen=True)
class Layout:
    """Where the load lies and how large its parts are, in whole blocks.

    Attributes
    ----------
    span_bytes, block_bytes, depth
        First bytes of the drive, which the writes stay in; their block; I/Os in flight of each direction.
    burst_bytes, every_ns
        Of the writes.
    rest
        Where the reads lie.
    read_bytes, reads, read_every_ns
        Of the reads.
    """

    span_bytes: int
    block_bytes: int
    depth: int
    burst_bytes: int
    every_ns: int
    rest: Span
    read_bytes: int
    reads: int
    read_every_ns: int

    @property
    def time_ns(self) -> int:
        """How long a load lasts: until the last read has had its time."""
        return self.reads * self.read_every_ns

    def writes(self, *, paced: bool = True, every_ns: int = 0, time_ns: int = 0) -> Stream:
        """Return the writes inside the span, in bursts or without a pause."""
        arrival = Bursts(bytes=self.burst_bytes, every_ns=every_ns or self.every_ns) if paced else Closed()
        return Stream(
            name="writes",
            ops=Mix(read_pct=0),
            block=(Block(bytes=self.block_bytes),),
            pattern=Uniform(),
            span=Span(start=0, length=self.span_bytes),
            depth=self.depth,
            engine="uring",
            arrival=arrival,
            stop=Stop(time_ns=time_ns or self.time_ns),
        )

    def both(self, *, paced: bool) -> Workload:
        """Return writes and reads at once; of the paced ones every I/O is logged."""
        last = Stop(bytes=self.reads * self.read_bytes) if paced else Stop(time_ns=self.time_ns)
        reads = Stream(
            name="reads",
            block=(Block(bytes=READ_BLOCK_BYTES),),
            pattern=Sequential(),
            span=self.rest,
            depth=self.depth,
            engine="uring",
            arrival=Bursts(bytes=self.read_bytes, every_ns=self.read_every_ns) if paced else Closed(),
            stop=last,
            log_ios=paced,
        )
        writes = self.writes(paced=paced).model_copy(update={"log_ios": paced})
        row_ns = min(_ROW_NS, max(_ROW_NS // 10, self.time_ns // 60))
        return Workload.of(writes, reads, interval_ns=row_ns)

    def overwrite(self) -> Workload:
        """Return random writes of as many bytes as the span has."""
        stop = Stop(bytes=self.span_bytes)
        return Workload.of(self.writes(paced=False).model_copy(update={"stop": stop}))
