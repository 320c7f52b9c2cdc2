"""Tags of a run, to find and group runs without changing them.

`tags.jsonl` is an append-only chain of sealed lines. Each line has the tags that were added and removed.
"""

from __future__ import annotations

import fcntl
import os
import re
from typing import TYPE_CHECKING

from ssdlab.host.durable import library_errors
from ssdlab.host.held_folder import HeldFolder, read_whole
from ssdlab.model.errors import Refused, UsageError, excerpt
from ssdlab.model.frozen import Stored
from ssdlab.results import seal
from ssdlab.results.journal import now
from ssdlab.results.lines import RESTORE
from ssdlab.results.run_folder import TAGS

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

_WORD = re.compile(r"\w[\w.+@:/-]{0,63}")


class Tagged(Stored):
    """A line of `tags.jsonl`."""

    at: str
    add: tuple[str, ...] = ()
    remove: tuple[str, ...] = ()


def check_tag(word: str) -> str:
    """Return a word if it can be a tag.

    Raises
    ------
    UsageError
        The word cannot be a tag.
    """
    if not _WORD.fullmatch(word):
        raise UsageError(
            f"{excerpt(word)!r} cannot be a tag",
            "give letters and digits, with . + @ : / - _ within, at most 64 characters",
        )
    return word


def read_tags(folder: Path) -> tuple[str, ...]:
    """Return the tags of a run, in the order in which they were added.

    Raises
    ------
    Refused
        The tags are damaged.
    """
    with HeldFolder(folder) as held:
        try:
            data = held.read_bytes(TAGS)
        except FileNotFoundError:
            return ()
    return _parse(data, folder / TAGS)[0]


def change_tags(folder: Path, add: Sequence[str] = (), remove: Sequence[str] = ()) -> tuple[str, ...]:
    """Add and remove tags of a run, durably; return the resulting tags.

    Raises
    ------
    UsageError
        A word cannot be a tag.
    Refused
        The existing tags are damaged.
    HostError
        The library cannot be written.
    """
    line = Tagged(at=now(), add=tuple(map(check_tag, add)), remove=tuple(remove))
    path = folder / TAGS
    with library_errors(path), HeldFolder(folder, writing=True) as held:
        with os.fdopen(held.append_to(TAGS), "a+b") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            file.seek(0)
            before, chain, good_bytes = _parse(read_whole(file, path), path)
            file.truncate(good_bytes)
            file.write(chain.write(line.model_dump_json()))
            file.flush()
            os.fsync(file.fileno())
        held.sync()
    return _after(before, line)


def _parse(data: bytes, path: Path) -> tuple[tuple[str, ...], seal.Chain, int]:
    """Return the tags, the chain of their seals, and the length of the complete lines."""
    tags: tuple[str, ...] = ()
    chain, good = seal.Chain(), 0
    for number, line in enumerate(data.split(b"\n")[:-1], start=1):
        try:
            tags = _after(tags, Tagged.model_validate_json(chain.read(line)))
        except ValueError as error:
            why = f": {error}" if isinstance(error, seal.Broken) else ""
            raise Refused(
                f"{path} is damaged at line {number}{why}", RESTORE, path=str(path), line=number
            ) from error
        good += len(line) + 1
    return tags, chain, good


def _after(tags: tuple[str, ...], line: Tagged) -> tuple[str, ...]:
    return tuple(dict.fromkeys(tag for tag in (*tags, *line.add) if tag not in line.remove))
