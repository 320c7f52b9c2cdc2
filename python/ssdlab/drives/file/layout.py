"""Lays a file out by really writing every block of it.

With data that no layer below can compress or share, through the engine that measures, so that each later read
is a real one. What is missing is found from the extents and not from a note, so a layout that was interrupted
is completed by the same call that would have begun it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ssdlab.host.extents import gaps
from ssdlab.model.errors import HostError

if TYPE_CHECKING:
    import ssdlab._core as _core
    from ssdlab.drives.base import OnTick

_BLOCK_BYTES = 1 << 20
_SEED = 0x55D1AB
"""Any fixed number; recorded here so that the content of a laid out file is known."""


def lay_out(target: _core.Target, descriptor: int, *, on_tick: OnTick | None = None) -> int:
    """Write the part of a file from its first to its last gap, and return how many bytes that was.

    Parameters
    ----------
    target
        The file, open for writing.
    descriptor
        A descriptor of the same file.
    on_tick
        Called with a snapshot about every 50 ms.

    Raises
    ------
    HostError
        The file system still shows gaps afterwards, so no read of this file can be trusted.
    DriveError, Interrupted
        As from any run; a later call goes on where this one stopped.
    """
    missing = gaps(descriptor, 0, target.size_bytes)
    if not missing:
        return 0
    start = missing[0].start // _BLOCK_BYTES * _BLOCK_BYTES
    end = missing[-1].start + missing[-1].length
    # Whole blocks first; a file need not be a multiple of them.
    middle = start + (end - start) // _BLOCK_BYTES * _BLOCK_BYTES
    if middle > start:
        _write(target, start, middle, _BLOCK_BYTES, on_tick)
    if end > middle:
        end = -(-end // target.logical_block_bytes) * target.logical_block_bytes
        _write(target, middle, end, target.logical_block_bytes, on_tick)
    target.flush()
    left = gaps(descriptor, 0, target.size_bytes)
    if left:
        raise HostError(
            f"{target.path} was written throughout, and its file system still reports a {left[0].kind}",
            "use another file system, or a block device: reads here would not reach the drive",
            path=target.path,
            offset=left[0].start,
            length=left[0].length,
        )
    return end - start


def _write(target: _core.Target, start: int, end: int, block_bytes: int, on_tick: OnTick | None) -> None:
    import ssdlab._core as _core
    from ssdlab.model.workload import Mix, Sequential, Span, Stop, Stream, Workload

    stream = Stream(
        name="layout",
        ops=Mix(read_pct=0),
        block=block_bytes,
        pattern=Sequential(),
        span=Span(start=start, length=end - start),
        stop=Stop(span_once=True),
    )
    workload = Workload.of(stream, seed=_SEED)
    resolved = workload.resolve(target.size_bytes, target.logical_block_bytes)
    _core.run(target, resolved, on_tick=on_tick)
