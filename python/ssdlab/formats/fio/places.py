"""How a stream's places are spread over its span, in fio's words."""

from __future__ import annotations

from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

from ssdlab.formats.fio.shares import percents
from ssdlab.model.pattern import Bands, OnePass, Segmented, Sequential, Stepped, Zipf

if TYPE_CHECKING:
    from ssdlab.model.workload import Stream


MAX_SEGMENTS = 32
"""Of which each takes a zone, and what lies behind it another; shares are in whole percents."""


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
            return _zoned(*_of_bands(stream, bands, capacity_bytes, logical_block_bytes), "bands")
        case Segmented(count=count) if count > MAX_SEGMENTS:
            return ["--norandommap"], [f"fio has no {count} segments: it goes everywhere in the span"]
        case Segmented() as segments:
            gap = segments.stride_bytes - segments.length_bytes
            widths = [segments.length_bytes, gap] if gap else [segments.length_bytes]
            weights = [1, 0] if gap else [1]
            return _zoned(weights * segments.count, widths * segments.count, "segments")
        case OnePass():
            return [], ["the planned rewrites are ssdlab's; fio's own one random pass is --sprandom=1"]
    return ["--norandommap"], []


def _of_bands(
    stream: Stream, bands: Bands, capacity_bytes: int, logical_block_bytes: int
) -> tuple[list[int], list[int]]:
    """Return weight and bytes of each band: each edge rounded down to a block, as in the engine."""
    _, length = stream.span_bytes(capacity_bytes, logical_block_bytes)
    unit = min(block.bytes for block in stream.block)
    slots = length // unit
    total = sum(band.span_weight for band in bands.bands)
    edges = [0, *(slots * before // total for before in accumulate(b.span_weight for b in bands.bands))]
    widths = [(after - before) * unit for before, after in pairwise(edges)]
    return [band.access_weight for band in bands.bands], widths


def _zoned(weights: list[int], widths: list[int], noun: str) -> tuple[list[str], list[str]]:
    """Return zones in fio's words: of each its share of the accesses, and its bytes."""
    shares, exact = percents(weights)
    zones = ":".join(f"{part}/{width}" for part, width in zip(shares, widths, strict=True))
    notes = [] if exact else [f"fio has the accesses to {noun} in whole percents"]
    return ["--norandommap", f"--random_distribution=zoned_abs:{zones}"], notes
