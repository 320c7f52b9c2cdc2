"""The loads of write saturation: its own and the optional ones, and how its pages say them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from ssdlab.analysis.write_saturation import REASONS, Ended
from ssdlab.methods.pts.composite import PtsCompositeParams
from ssdlab.methods.pts.composite import load_of as composite_load
from ssdlab.methods.pts.demand import Load
from ssdlab.methods.pts.params import KIB
from ssdlab.methods.pts.series import load_name
from ssdlab.methods.results.pts import Stimulus
from ssdlab.model.pattern import Sequential, Uniform
from ssdlab.model.units import span_text
from ssdlab.model.workload import Block

if TYPE_CHECKING:
    from ssdlab.methods.pts.write_saturation import PtsWriteSaturationParams

Stimuli = Literal[
    "random-4k-write", "random-8k-oltp", "sequential-128k-video", "sequential-512-metadata", "composite"
]
ACCESSES: dict[Stimuli, tuple[int, int, bool]] = {
    "random-4k-write": (0, 4 * KIB, True),
    "random-8k-oltp": (65, 8 * KIB, True),
    "sequential-128k-video": (90, 128 * KIB, False),
    "sequential-512-metadata": (50, KIB // 2, False),
}
"""Share of reads in percent, block, and whether random, of those that have one block."""


def load_of(stimulus: Stimuli, logical_block_bytes: int) -> Load:
    """Return what is asked of the drive."""
    if stimulus == "composite":
        composite = PtsCompositeParams()
        found = composite_load(composite, logical_block_bytes)
        return replace(found, name=f"CBW {composite.read_pct}/{100 - composite.read_pct}")
    read_pct, block_bytes, random = ACCESSES[stimulus]
    name = load_name(read_pct, block_bytes, random=random)
    return Load(name, read_pct, (Block(bytes=block_bytes),), Uniform() if random else Sequential())


def stimuli_of(p: PtsWriteSaturationParams, name: str, end: Ended | None, until: int) -> tuple[Stimulus, ...]:
    """Return the load and the histogram as the header of a page prints them."""
    threads, depth = p.shape
    saturating = Stimulus(
        what=name,
        threads=threads,
        depth=depth,
        lasted=span_text(until * p.seconds),
        outcome="cut short" if end is None else f"ended by {REASONS[end.reason]}",
    )
    lasted = span_text(p.histogram_records * p.seconds)
    histogram = Stimulus(what=f"{name}, histogram", threads=threads, depth=depth, lasted=lasted)
    return saturating, histogram
