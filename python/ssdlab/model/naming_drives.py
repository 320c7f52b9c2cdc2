"""Errors of a command that is about several drives name the one that they are about."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from ssdlab.model.errors import LabError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sized


@contextmanager
def of_drive(drive: str, drives: Sized) -> Iterator[None]:
    """Let an error name the drive, as the user wrote it, where there are several."""
    try:
        yield
    except LabError as error:
        if len(drives) > 1 and drive not in error.what:
            error.what = f"{drive}: {error.what}"
        raise
