"""The seed of a measurement that is given none.

A command that draws what the one before it drew overwrites together what was written together: superblocks
then empty as a whole, and the drive seems faster than it is. fio's `randrepeat` is known for it. So whatever
outlives the command gets another seed each time; a drive made for the command alone keeps one, as nothing of
it is left for the next.
"""

from __future__ import annotations

import hashlib
import secrets
from typing import TYPE_CHECKING

from ssdlab.model.options import DEFAULT_SEED

if TYPE_CHECKING:
    from ssdlab.drives.base import Drive

_BITS = 32
"""Few enough digits to type one again; that two commands in turn draw the same is no concern yet."""


def seed_for(drive: Drive) -> int:
    """Return the seed for the next measurement on an open drive, below 2^32.

    One kept in a state file has it from its state, so that the same state gives the same figures; the seed
    of a device or a file is drawn.
    """
    state = drive.state
    if state is None:
        return secrets.randbits(_BITS)
    if not state.lasting:
        return DEFAULT_SEED
    return int.from_bytes(hashlib.sha256(state.digest().encode()).digest()[: _BITS // 8], "little")
