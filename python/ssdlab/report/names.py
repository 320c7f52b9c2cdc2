"""Short names of what is compared: what all have in common is left out, what differs never is.

A label is a drive, then behind commas and dots what makes it a variant (scale, spare, power) or another run
of it (engine, date). Two labels that differ have short forms that differ.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

LONGEST = 26
"""Letters beyond which a short name loses what its words begin with in common: half the width of a phone."""
_PARTS = re.compile(r", | · ")
_WORDS = re.compile(r"[^\s\-_/]+")


def short_names(labels: Sequence[str]) -> tuple[str, ...]:
    """Abbreviate labels to what tells them apart; a label that stands alone stays as it is."""
    different = list(dict.fromkeys(labels))
    if len(different) < 2:
        return tuple(labels)
    parts = [_PARTS.split(label) for label in different]
    drives = [part[0] for part in parts]
    plain = any(len(part) == 1 for part in parts)
    names = dict(zip(drives, drives if plain and len(set(drives)) == 1 else _names(drives), strict=True))
    common = set.intersection(*(set(part[1:]) for part in parts))
    found = [
        " · ".join(filter(None, (names[drive], *(part for part in rest if part not in common))))
        for drive, *rest in parts
    ]
    counts = Counter(found)
    whole = [
        short if short and counts[short] == 1 else label
        for short, label in zip(found, different, strict=True)
    ]
    by_label = dict(zip(different, _cut(whole), strict=True))
    return tuple(by_label[label] for label in labels)


def _names(drives: Sequence[str]) -> list[str]:
    """Leave out the words that stand in every name; of one drive alone all of them."""
    words = [_WORDS.findall(drive) for drive in drives]
    if len(set(drives)) == 1:
        return [""] * len(drives)
    common = set.intersection(*({word.lower() for word in each} for each in words))
    return [_without(drive, common) or drive for drive in drives]


def _without(name: str, common: set[str]) -> str:
    """Return a name without some words; of those that stay, neighbours keep what is between them."""
    kept = ""
    gap = ""
    for match in re.finditer(r"([^\s\-_/]+)([\s\-_/]*)", name):
        word, behind = match.groups()
        if word.lower() in common:
            gap = " " if kept else ""
            continue
        kept += gap + word
        gap = behind
    return kept


def _cut(names: list[str]) -> list[str]:
    """Where names are long and begin alike, put an ellipsis in the place of their beginning."""
    if max(map(len, names)) <= LONGEST:
        return names
    shared = 0
    while len({name[: shared + 1] for name in names}) == 1 and all(len(name) > shared + 1 for name in names):
        shared += 1
    return [f"…{name[shared:]}" for name in names] if shared > 2 else names
