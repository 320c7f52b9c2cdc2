"""The fixtures themselves: a tracer that counts nothing, a throttle that limits nothing, prove anything."""

from __future__ import annotations

import mmap
import os
import time
from collections.abc import Callable
from pathlib import Path

from machine import blkio, tracing

BLOCK_BYTES = 4096


def read_blocks(device: Path, count: int) -> None:
    buffer = mmap.mmap(-1, BLOCK_BYTES)
    descriptor = os.open(device, os.O_RDONLY | os.O_DIRECT)
    try:
        for block in range(count):
            assert os.preadv(descriptor, [buffer], block * BLOCK_BYTES) == BLOCK_BYTES
    finally:
        os.close(descriptor)


def test_the_tracer_counts_every_request(
    zram: Path, block_trace: Callable[[Path], tracing.BlockTrace]
) -> None:
    with block_trace(zram) as trace:
        read_blocks(zram, 123)
    assert trace.count("R") == 123
    assert trace.bytes("R") == 123 * BLOCK_BYTES
    assert trace.extent_bytes("R") == (0, 123 * BLOCK_BYTES)
    assert trace.count("W") == 0


def test_the_throttle_limits(zram: Path, throttled: Callable[..., blkio.Throttle]) -> None:
    throttle = throttled(zram, read_iops=200)
    with throttle.here():
        begin = time.monotonic()
        read_blocks(zram, 200)
        under_limit_s = time.monotonic() - begin
    begin = time.monotonic()
    read_blocks(zram, 200)
    free_s = time.monotonic() - begin
    assert 0.8 < under_limit_s < 1.5
    assert free_s < 0.4
