"""Tables for a notebook: HTML without colours or scripts, with all text escaped."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from ssdlab.model.printable import styled

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence


def table_html(
    title: str,
    above: Iterable[str],
    head: Sequence[str],
    rows: Iterable[Sequence[str]],
    below: Iterable[str] = (),
    *,
    words: Collection[int] = (0,),
) -> str:
    """Return a table with lines above and below it.

    Parameters
    ----------
    title, above, below
        Its heading, and lines of text.
    head, rows
        The titles of its columns, and their cells.
    words
        Columns of text, which are left-aligned.
    """
    sides = ["left" if at in words else "right" for at in range(len(head))]
    # A notebook would set what stands between two dollar signs as a formula.
    parts = ['<div class="tex2jax_ignore mathjax_ignore">']
    parts += [f"<p><strong>{_text(title)}</strong></p>"] if title else []
    parts += [f"<p>{_text(line)}</p>" for line in above]
    parts += ["<table><thead>", _row("th", head, sides), "</thead><tbody>"]
    parts += [_row("td", row, sides) for row in rows]
    parts += ["</tbody></table>", *(f"<p>{_text(line)}</p>" for line in below), "</div>"]
    return "\n".join(parts)


def _row(tag: str, cells: Sequence[str], sides: Sequence[str]) -> str:
    made = (
        f'<{tag} style="text-align: {side}">{_text(cell)}</{tag}>'
        for cell, side in zip(cells, sides, strict=True)
    )
    return f"<tr>{''.join(made)}</tr>"


def _text(text: str) -> str:
    """Return text that can neither be markup nor turn the direction of what follows it."""
    return escape(styled(text))
