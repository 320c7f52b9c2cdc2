"""Damage that no seal tells: that of runs from before there were seals."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from ssdlab.model.errors import LabError, Refused
from ssdlab.results.run_folder import read_manifest

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

_UNLIKE = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError)
"""What comes of a record that is not as it was written: a key gone, a text for a number."""


@contextmanager
def doubting(folders: Sequence[Path]) -> Iterator[None]:
    """Lay it to a run without a seal, not to this program, if what it holds cannot be made sense of.

    Parameters
    ----------
    folders
        The runs that the block reads.

    Raises
    ------
    Refused
        The block failed on what such a run holds.
    """
    try:
        yield
    except LabError:
        raise
    except _UNLIKE as error:
        unsealed = next(
            (folder for folder in folders if read_manifest(folder).seal_state == "not sealed"), None
        )
        if unsealed is None:
            raise
        raise Refused(
            f"{unsealed} holds what cannot be made sense of ({type(error).__name__}: {error}); it was made "
            "before there were seals, and is probably damaged",
            "restore it from a copy",
            path=str(unsealed),
        ) from error
