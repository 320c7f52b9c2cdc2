"""What a run came to, held against what its plan had said."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_ROUNDING = 0.999
"""A step of a few I/Os ends with the last one, which may be issued a moment before its time is over."""


def check_inside(plan: Mapping[str, Any], shown: Mapping[str, Any]) -> None:
    """See that a run's steps lie inside the bounds of its plan, by ``plan --json`` and ``run --json``.

    A search tries other rates than its plan, which takes the longest way: from there on only the sums are
    held against it. What a simulated drive did counts by its own clock.
    """
    simulated = shown["manifest"]["drive"]["kind"] == "sim"
    assert len(shown["steps"]) <= len(plan["steps"])
    took_s, written = 0.0, 0.0
    for step in shown["steps"]:
        measured = step["result"]["measurement"] or {}
        seconds = measured.get("total_s", 0.0) if simulated else step["result"]["seconds"]
        moved = (measured.get("write") or {}).get("bytes", 0)
        took_s, written = took_s + seconds, written + moved
        bounds = plan["steps"][step["ordinal"]]
        if (bounds["verb"], bounds["label"]) != (step["verb"], step["label"]):
            continue
        lower, upper = bounds["seconds"]
        if measured or not simulated:
            assert lower * _ROUNDING <= seconds <= upper, (step["label"], seconds, bounds["seconds"])
        lower, upper = bounds["bytes_written"]
        assert lower <= moved <= upper, (step["label"], moved, bounds["bytes_written"])
    laid_out = plan["layout"]["bytes"] if plan["layout"] else 0
    assert took_s <= plan["seconds"][1]
    lower, upper = plan["bytes_written"]
    assert lower <= written + laid_out <= upper, (written, laid_out, plan["bytes_written"])
