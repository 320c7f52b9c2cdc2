"""`lab.note`: a remark in the record."""

from __future__ import annotations

from typing import ClassVar

from ssdlab.lab.verbs.verb import Verb


class Note(Verb):
    """Puts a remark into the record."""

    verb: ClassVar[str] = "note"

    text: str
