"""`lab.limit`: only a part of the drive used."""

from __future__ import annotations

from typing import ClassVar

from ssdlab.lab.verbs.verb import Verb


class Limit(Verb):
    """Uses only the first bytes of the drive from here on; the drive knows nothing of it."""

    verb: ClassVar[str] = "limit"

    usable_bytes: int
