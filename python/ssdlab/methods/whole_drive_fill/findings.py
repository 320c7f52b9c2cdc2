"""A fill of the whole drive: its findings and its table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ssdlab.plugin import Amount, Claim, Evidence, Table, capacity_text, cells, labelled

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .result import FillResult


def findings(result: FillResult) -> Iterator[Claim]:
    """Yield the speed, and where it falls for good: not why, which a fill does not tell."""
    shown = Evidence((result.ordinal,))
    mean = Amount(result.mean_mb_s, "MB/s")
    whole = labelled("the whole drive", result.scalars[0].state if result.scalars else "")
    if result.last_bytes < result.part_bytes * len(result.parts_mb_s):
        yield Claim(
            "{figure} over {whole}, {last} over its last {size}",
            figure=mean,
            evidence=shown,
            others={
                "whole": whole,
                "last": Amount(result.last_mb_s, "MB/s"),
                "size": capacity_text(round(result.last_bytes)),
            },
        )
    else:
        yield Claim("{figure} over {whole}", figure=mean, evidence=shown, others={"whole": whole})
    if result.hot_drop_bytes is not None:
        yield Claim(
            "Whether a cache ends is not judged: the speed falls after {figure}, and by then the drive had "
            "throttled itself for heat",
            figure=Amount(result.hot_drop_bytes, "bytes"),
            evidence=shown,
        )
    elif result.cache_bytes is None:
        yield Claim("The speed does not fall for good, so no end of a cache was found", evidence=shown)
    else:
        yield Claim(
            "The speed falls for good after {figure}, from {before} to {after}: a cache of faster flash ends "
            "there, or collection begins",
            figure=Amount(result.cache_bytes, "bytes"),
            evidence=shown,
            others={
                "before": Amount(result.before_mb_s, "MB/s"),
                "after": Amount(result.after_mb_s, "MB/s"),
            },
        )


def _fall_text(result: FillResult) -> str:
    if result.hot_drop_bytes is not None:
        return "not judged"
    return "does not" if result.cache_bytes is None else capacity_text(result.cache_bytes)


def speeds(result: FillResult) -> Table:
    """Return the speeds in one row."""
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
    """Return the speeds."""
    return (speeds(result),)
