"""Folders and files of the fleet that only this user and root can change or redirect.

A host acts on what it reads there, so the rules are those of sshd (`StrictModes` of sshd_config(5)), also for
each parent folder.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from ssdlab.host.held_folder import HeldFolder, read_whole
from ssdlab.host.plain_files import check_private, walk_to_folder

if TYPE_CHECKING:
    from pathlib import Path

_MODE = 0o755
"""Of folders that are made: a mask of 002, usual on some systems, would let the group change them."""


def private_folder(path: Path, *, make: bool = False, writing: bool = True) -> HeldFolder:
    """Open a private folder, by default for writing.

    Raises
    ------
    Refused
        Others can change it or its path; or it is to be written and not ours.
    OSError
        It cannot be opened or made.
    """
    found = walk_to_folder(path, make=_MODE if make else None, private=True)
    return HeldFolder.of_descriptor(found, path, writing=writing)


def read_private(folder: HeldFolder, name: str, *, own: bool = True) -> bytes:
    """Read a file completely that no other user can change: ours, or with `own=False` root's.

    Raises
    ------
    Refused
        It is a link or no file, has several names, or others can change it.
    OSError
        It cannot be read.
    """
    with folder.opened(name, own=own) as descriptor, open(descriptor, "rb", closefd=False) as file:
        check_private(os.fstat(descriptor), folder.path / name)
        return read_whole(file, folder.path / name)
