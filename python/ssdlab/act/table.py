"""The table that act_latency.py prints."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ssdlab.analysis.act_verdict import THRESHOLDS_MS, mean, worst

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ssdlab.analysis.act_verdict import Slice

_WIDTH = 6


def act_table(found: Sequence[Slice], name: str = "reads", *, rates: bool = True) -> str:
    """Return the table: shares in %, by slice, then their mean and their worst; ``-x`` adds the rates."""
    heads = [f"{ms:{_WIDTH}d}" for ms in THRESHOLDS_MS]
    rule = "-----   " + " ".join("-" * _WIDTH for _ in heads) + (" ----------" if rates else "")
    lines = [
        f"        {name}",
        "        %>(ms)",
        "slice   " + " ".join(heads) + ("       rate" if rates else ""),
        rule,
    ]

    def line(label: str, over: Mapping[int, float], rate: float) -> str:
        cells = " ".join(f"{100 * over[ms]:{_WIDTH}.2f}" for ms in THRESHOLDS_MS)
        return f"{label:>5}   {cells}" + (f" {rate:10.1f}" if rates else "")

    lines += [line(str(each.number), each.over, each.rate) for each in found]
    every = [each.rate for each in found]
    lines += [rule, line("avg", mean(found), sum(every) / len(every) if every else 0.0)]
    return "\n".join([*lines, line("max", worst(found), max(every, default=0.0))])
