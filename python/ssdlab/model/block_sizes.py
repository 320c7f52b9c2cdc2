"""Sizes of the I/Os of a stream, and how often each is."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import BeforeValidator, Field, model_validator

from ssdlab.model import units
from ssdlab.model.errors import UsageError
from ssdlab.model.frozen import Bytes, Frozen, Metavar
from ssdlab.model.units import bytes_text

MAX_BLOCK_BYTES = 1 << 30
SECTOR_BYTES = 512


class Block(Frozen):
    """One block size and its share among the I/Os (not among the bytes)."""

    bytes: Bytes = Field(ge=SECTOR_BYTES, le=MAX_BLOCK_BYTES, description="size, a multiple of 512 bytes")
    weight: int = Field(1, ge=1, lt=2**32, description="relative frequency")

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.bytes % SECTOR_BYTES:
            raise UsageError(
                f"block of {bytes_text(self.bytes)} is not a multiple of {SECTOR_BYTES} B",
                "use multiples of 512 bytes; 4k is 4096 and 4kB is 4000",
                block_bytes=self.bytes,
            )
        return self


def _blocks(value: object) -> object:
    if isinstance(value, int) and not isinstance(value, bool):
        return (Block(bytes=value),)
    if not isinstance(value, str):
        return value
    blocks, parts = [], value.split(",")
    if len(parts) > 1 and not all(":" in part for part in parts):
        raise UsageError(
            f"block sizes {value!r} lack weights, and fio reads such a list as sizes of reads and of writes",
            f"say how often each is: {_weighted(parts)}; reads and writes are always of the same sizes here",
            given=value,
        )
    for part in parts:
        size, _, weight = part.partition(":")
        if weight and not (weight.strip().isdecimal() and len(weight) < 12):
            raise UsageError(
                f"weight {weight!r} in block sizes {value!r} is not a whole number",
                "give sizes with weights such as 4k:70,128k:30",
                given=value,
            )
        blocks.append(Block(bytes=units.parse_bytes(size, noun="block size"), weight=int(weight or 1)))
    if len({block.bytes for block in blocks}) < len(blocks):
        raise UsageError(f"block sizes {value!r} name one size twice", "name each size once", given=value)
    return tuple(blocks)


def _weighted(parts: list[str]) -> str:
    """Return sizes with equal weights where they have none."""
    equal = 100 // len(parts) or 1
    return ",".join(part if ":" in part else f"{part.strip()}:{equal}" for part in parts)


Blocks = Annotated[tuple[Block, ...], BeforeValidator(_blocks), Metavar("SIZES")]
"""Block sizes; text such as ``"4k"`` or ``"4k:70,128k:30"`` is understood."""
