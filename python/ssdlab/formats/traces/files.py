"""Names of files in the parameters of a replay, which a run keeps: whole paths, wherever it is resumed."""

from __future__ import annotations

from typing import Annotated

from pydantic import BeforeValidator

from ssdlab.formats.traces import example
from ssdlab.host.documents import user_path
from ssdlab.model.frozen import Metavar


def _absolute(value: object) -> object:
    if not isinstance(value, str) or value in ("", example.NAME):
        return value
    return str(user_path(value).absolute())


def _description(value: object) -> object:
    """Leave columns that are described in place as they are; a file gets its whole path."""
    return value if isinstance(value, str) and ":" in value else _absolute(value)


TraceFile = Annotated[str, BeforeValidator(_absolute), Metavar("FILE")]
"""A trace, or the name of the made-up one."""
Description = Annotated[str, BeforeValidator(_description), Metavar("FILE")]
"""Columns described in place, or the file that describes them."""
