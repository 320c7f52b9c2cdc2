"""A share of something as options have it: ``25%`` or ``0.25``, of which one definition serves all."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import BeforeValidator

from ssdlab.model import units
from ssdlab.model.errors import UsageError
from ssdlab.model.frozen import Metavar

_PLAIN = re.compile(r"\d+(\.\d*)?|\.\d+")


def parse_share(value: object) -> object:
    """Return the share, from 0 to 1, that text such as ``25%`` or ``0.25`` means; other values pass.

    Raises
    ------
    UsageError
        It is neither, or more than all: ``25`` may mean either.
    """
    if not isinstance(value, str):
        return value
    text = value.strip()
    if not _PLAIN.fullmatch(text):
        return float(units.parse_percent(text))
    share = float(text)
    if share > 1:
        advice = f"write {text}%, or {share / 100:g}" if share <= 100 else "write one such as 25%, or 0.25"
        raise UsageError(f"share {value!r} is more than 1, which is all", advice, given=value)
    return share


Share = Annotated[float, BeforeValidator(parse_share), Metavar("PERCENT")]
"""From 0 to 1; as text with a percent sign or without."""
