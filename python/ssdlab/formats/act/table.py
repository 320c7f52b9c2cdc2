"""The table that act_latency.py prints."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ssdlab.analysis.act import THRESHOLDS_MS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ssdlab.analysis.act import Slice

_WIDTH = 6


def act_table(found: Sequence[Slice], name: str = "reads", *, rates: bool = True) -> str:
    """Return the table: shares in %, by slice, then their mean and their worst; ``-x`` adds the rates.

    Mean and worst are those of the rounded figures, as in the original.
    """
    heads = [f"{ms:{_WIDTH}d}" for ms in THRESHOLDS_MS]
    rule = "-----   " + " ".join("-" * _WIDTH for _ in heads) + (" ----------" if rates else "")
    lines = [
        f"        {name}",
        "        %>(ms)",
        "slice   " + " ".join(heads) + ("       rate" if rates else ""),
        rule,
    ]
    rows = [[*(round(100 * each.over[ms], 2) for ms in THRESHOLDS_MS), round(each.rate, 1)] for each in found]
    columns = list(zip(*rows, strict=True)) or [(0.0,)] * (len(THRESHOLDS_MS) + 1)
    lines += [_line(str(each.number), row, rates) for each, row in zip(found, rows, strict=True)]
    lines += [rule, _line("avg", [sum(column) / len(column) for column in columns], rates)]
    return "\n".join([*lines, _line("max", [max(column) for column in columns], rates)])


def _line(label: str, row: Sequence[float], rates: bool) -> str:
    cells = " ".join(f"{share:{_WIDTH}.2f}" for share in row[:-1])
    return f"{label:>5}   {cells}" + (f" {row[-1]:10.1f}" if rates else "")
