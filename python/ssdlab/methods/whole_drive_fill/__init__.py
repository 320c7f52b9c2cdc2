"""Writing a fresh drive from its first block to its last."""

from __future__ import annotations

from typing import Any

from ssdlab.plugin import MAX_WRITE_W, POWER, Declared, RatedAs, ResultKind, figure_names

FILL: ResultKind[Any] = ResultKind(
    "fill",
    f"{__name__}.result:FillResult",
    section=f"{__name__}.page:section",
    findings=f"{__name__}.result:findings",
    tables=f"{__name__}.result:tables",
)

DECLARED = (
    Declared(
        "whole-drive-fill",
        "procedure",
        True,
        "Sequential write speed of a fresh drive from end to end, and where it falls for good.",
        figure_names("fill", "mb_s", "cached_mb_s", *POWER),
        rated={
            "fill_mb_s": (RatedAs("sequential_write_mb_s", 1.0, "fresh", "a whole fill"),),
            "fill_cached_mb_s": (RatedAs("sequential_write_mb_s", 1.0, "cached"),),
            "fill_w": (RatedAs("active_write_w", 1.0, "fresh", "a whole fill"), MAX_WRITE_W),
        },
        top=(11, "fill_mb_s"),
    ),
)
KINDS = (FILL,)
ORDER = 6
