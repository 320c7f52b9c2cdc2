"""Tables that are wider than the terminal: what is said twice goes first, then the ends of long cells."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

GAP = 2
"""Spaces between two columns."""
SHORTEST = 8
"""Characters that a shortened column keeps at least."""
_CUT = "\N{HORIZONTAL ELLIPSIS}"


def fitted(
    rows: Sequence[Sequence[str]],
    titles: Sequence[str],
    width: int,
    *,
    spared: Iterable[str],
    shortened: Sequence[str],
) -> tuple[list[tuple[str, ...]], tuple[str, ...]]:
    """Return rows and titles of a table as wide as a terminal, or as near to it as can be.

    Parameters
    ----------
    rows, titles
        The table; of printable text.
    width
        Columns of the terminal.
    spared
        Titles of columns to be left out, one after another until the table fits: after those without a cell.
    shortened
        Titles of columns whose cells may lose their ends.
    """
    kept = list(range(len(titles)))
    empty = [title for at, title in enumerate(titles) if not any(row[at] for row in rows)]
    for title in (*empty, *spared):
        if sum(_widths(rows, titles, kept)) + GAP * (len(kept) - 1) <= width:
            break
        kept = [at for at in kept if titles[at] != title]
    lengths = dict(zip(kept, _widths(rows, titles, kept), strict=True))
    excess = sum(lengths.values()) + GAP * (len(kept) - 1) - width
    ends = [at for at in kept if titles[at] in shortened]
    while excess > 0 and (longest := max(ends, key=lengths.__getitem__, default=None)) is not None:
        if lengths[longest] <= max(SHORTEST, len(titles[longest])):
            break
        lengths[longest] -= 1
        excess -= 1
    cut = [tuple(_cut(row[at], lengths[at]) for at in kept) for row in rows]
    return cut, tuple(titles[at] for at in kept)


def _widths(rows: Sequence[Sequence[str]], titles: Sequence[str], kept: Sequence[int]) -> list[int]:
    return [max(len(titles[at]), *(len(row[at]) for row in rows)) for at in kept]


def _cut(text: str, length: int) -> str:
    return text if len(text) <= length else text[: length - 1].rstrip() + _CUT
