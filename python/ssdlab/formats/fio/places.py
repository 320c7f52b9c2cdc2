"""How a stream's places are spread over its span, in fio's words."""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING

from ssdlab.formats.fio.shares import percents
from ssdlab.model.pattern import Bands, OnePass, Sequential, Stepped, Zipf

if TYPE_CHECKING:
    from ssdlab.model.workload import Stream


def distribution(
    stream: Stream, capacity_bytes: int, logical_block_bytes: int
) -> tuple[list[str], list[str]]:
    """Return fio's options for the pattern of a stream, and what they do not say exactly."""
    match stream.pattern:
        case Sequential():
            return [], []
        case Stepped(step_bytes=step):
            return ["--norandommap", f"--blockalign={step}"], []
        case Zipf(theta_milli=1000):
            return ["--norandommap", "--random_distribution=zipf:1.001"], ["fio refuses an exponent of 1"]
        case Zipf(theta_milli=theta):
            return ["--norandommap", f"--random_distribution=zipf:{theta / 1000:g}"], []
        case Bands() as bands:
            zones, exact = _zones(stream, bands, capacity_bytes, logical_block_bytes)
            options = ["--norandommap", f"--random_distribution=zoned_abs:{zones}"]
            return options, [] if exact else ["fio has the accesses to bands in whole percents"]
        case OnePass():
            return [], ["the planned rewrites are ssdlab's; fio's own one random pass is --sprandom=1"]
    return ["--norandommap"], []


def _zones(stream: Stream, bands: Bands, capacity_bytes: int, logical_block_bytes: int) -> tuple[str, bool]:
    """Return the bands as fio's zones, in bytes: each edge rounded down to a block, as in the engine."""
    _, length = stream.span_bytes(capacity_bytes, logical_block_bytes)
    unit = min(block.bytes for block in stream.block)
    slots = length // unit
    total = sum(band.span_weight for band in bands.bands)
    edges = [0, *(slots * before // total for before in accumulate(b.span_weight for b in bands.bands))]
    shares, exact = percents([band.access_weight for band in bands.bands])
    widths = ((edges[i + 1] - edges[i]) * unit for i in range(len(shares)))
    return ":".join(f"{part}/{width}" for part, width in zip(shares, widths, strict=True)), exact
