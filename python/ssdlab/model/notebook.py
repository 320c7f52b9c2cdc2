"""Tables for a notebook: columns that Arrow readers accept, and HTML.

The HTML has no colours or scripts, and all its text is escaped.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ssdlab.model.printable import styled

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from numpy.typing import NDArray


class ArrowColumns(dict[str, "NDArray[Any]"]):
    """A dictionary of numpy arrays that is also an Arrow table (PyCapsule interface).

    Masked values and NaN become null.

    Parameters
    ----------
    columns
        The arrays by name.
    types
        SQL types of columns whose type differs from numpy's, such as text that is all masked.
    """

    def __init__(self, columns: Mapping[str, NDArray[Any]], types: Mapping[str, str] | None = None) -> None:
        super().__init__(columns)
        self.types = types or {}

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Return the rows as an Arrow stream in a capsule, made by DuckDB."""
        import duckdb

        # A separate database, since the connection is busy until the stream has been read.
        connection = duckdb.connect(config={"threads": 1})
        connection.execute("SET TimeZone='UTC'")  # else times have the time zone of the process
        connection.register("columns", dict(self))
        chosen = []
        for name in self:
            quoted = f'"{name.replace(chr(34), 2 * chr(34))}"'
            chosen.append(f"{quoted}::{self.types[name]} AS {quoted}" if name in self.types else quoted)
        return connection.sql(f"SELECT {', '.join(chosen)} FROM columns").__arrow_c_stream__(requested_schema)


def table_html(
    title: str,
    above: Iterable[str],
    head: Sequence[str],
    rows: Iterable[Sequence[str]],
    below: Iterable[str] = (),
    *,
    words: Collection[int] = (0,),
) -> str:
    """Return a table as HTML, with lines of text above and below it.

    Parameters
    ----------
    words
        Indexes of columns with text, which are left-aligned.
    """
    sides = ["left" if at in words else "right" for at in range(len(head))]
    # A notebook would print text between two dollar signs as a formula.
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
    """Return text escaped for HTML, without control characters that change the text direction."""
    from html import escape

    return escape(styled(text))
