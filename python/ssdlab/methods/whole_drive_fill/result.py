"""The result of a fill of the whole drive."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import Field

from ssdlab.plugin import Amount, Claim, Evidence, ResultBase, Table, absent, capacity_text, cells

if TYPE_CHECKING:
    from collections.abc import Iterator


LAST_BYTES = 16 * 10**9
"""Size of the end of a drive, over which the review gives a separate mean."""


def last_parts(part_bytes: float, parts: int) -> int:
    """Return the number of parts that make up the end of a drive: at least one, at most all."""
    return min(parts, max(1, round(LAST_BYTES / part_bytes)))


class FillResult(ResultBase):
    """Speed of the first write over the whole drive, divided into parts of equal bytes."""

    kind: Literal["fill"] = "fill"
    block_bytes: int
    depth: int
    ordinal: int
    part_bytes: float
    parts_mb_s: tuple[float, ...]
    mean_mb_s: float
    last_mb_s: float = Field(description="of the last 16 GB, the last part, or all of a smaller drive")
    cache_bytes: int | None = Field(
        description="bytes after which the speed drops for good; None: it does not"
    )
    before_mb_s: float | None
    after_mb_s: float | None
    mean_w: float | None = Field(default=None, description="mean power over the fill; None: no meter")
    hot_drop_bytes: int | None = Field(
        default=None,
        exclude_if=absent,
        description="bytes after which the speed drops for good when heat had begun to slow the drive, so "
        "that why it drops is not judged; absent: it does not",
    )

    purged: bool | None = Field(
        default=None,
        exclude_if=absent,
        description="false: it was not purged before, so that it is not known to be fresh; absent: it was",
    )

    @property
    def last_bytes(self) -> float:
        """Bytes at the end of the drive over which `last_mb_s` is the mean."""
        return self.part_bytes * last_parts(self.part_bytes, len(self.parts_mb_s))

    @property
    def mb_s_per_w(self) -> float | None:
        return self.mean_mb_s / self.mean_w if self.mean_w else None


_WHOLE = "Over the whole drive"


def findings(result: FillResult) -> Iterator[Claim]:
    """Yield the speed, and where it drops for good; a fill does not show why."""
    shown = Evidence((result.ordinal,))
    mean = Amount(result.mean_mb_s, "MB/s")
    if result.last_bytes < result.part_bytes * len(result.parts_mb_s):
        yield Claim(
            "{figure} over the whole drive, {last} over its last {size}",
            figure=mean,
            evidence=shown,
            others={
                "last": Amount(result.last_mb_s, "MB/s"),
                "size": capacity_text(round(result.last_bytes)),
            },
            columns={_WHOLE: "{figure}", "Over the last part": "{last} ({size})"},
        )
    else:
        yield Claim(
            "{figure} over the whole drive", figure=mean, evidence=shown, columns={_WHOLE: "{figure}"}
        )
    if result.hot_drop_bytes is not None:
        yield Claim(
            "End of SLC cache not judged: the speed falls after {figure}, with the drive already throttling",
            figure=Amount(result.hot_drop_bytes, "bytes"),
            evidence=shown,
        )
    elif result.cache_bytes is None:
        yield Claim("No end of an SLC cache found: the speed does not fall permanently", evidence=shown)
    else:
        yield Claim(
            "The speed falls permanently after {figure}, from {before} to {after}: the SLC cache ends "
            "there, or "
            "garbage collection begins",
            figure=Amount(result.cache_bytes, "bytes"),
            evidence=shown,
            others={
                "before": Amount(result.before_mb_s, "MB/s"),
                "after": Amount(result.after_mb_s, "MB/s"),
            },
            columns={"Falls for good after": "{figure}", "From": "{before}", "To": "{after}"},
        )


def _fall_text(result: FillResult) -> str:
    if result.hot_drop_bytes is not None:
        return "not judged"
    return "does not" if result.cache_bytes is None else capacity_text(result.cache_bytes)


def speeds(result: FillResult) -> Table:
    head = (
        "MB/s",
        "Last 16 GB or all",
        "Slowest part",
        "Fastest part",
        "Falls after",
        "Before",
        "After",
        "W",
        "MB/s/W",
    )
    row = (
        cells.throughput(result.mean_mb_s),
        cells.throughput(result.last_mb_s),
        cells.throughput(min(result.parts_mb_s)),
        cells.throughput(max(result.parts_mb_s)),
        cells.words(_fall_text(result)),
        cells.throughput(result.before_mb_s),
        cells.throughput(result.after_mb_s),
        cells.plain(result.mean_w),
        cells.plain(result.mb_s_per_w),
    )
    return Table("Speed in MB/s, before and after it falls for good", head, (row,))


def tables(result: FillResult) -> tuple[Table, ...]:
    return (speeds(result),)
