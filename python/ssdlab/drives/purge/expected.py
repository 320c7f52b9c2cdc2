"""The maximum time of a purge, before it starts: by the drive's estimate, or its write speed.

Sources of the estimates: the Sanitize Status log of NVMe, words 89 and 90 of ATA's IDENTIFY DEVICE. Without
one, a drive's own erase takes no longer than the time after which it counts as hung.
"""

from __future__ import annotations

from ssdlab.drives.purge.choice import choose
from ssdlab.drives.purge.method import PurgeMethod, Subject
from ssdlab.drives.purge.purging import subject_of
from ssdlab.drives.purge.record import PurgeMethodName
from ssdlab.drives.trim.medium import SAMPLES
from ssdlab.host.identity import Identity
from ssdlab.host.sysfs import HostFiles
from ssdlab.model.errors import LabError

SUBSTITUTES = frozenset({"discard", "zero-fill"})
MARGIN_S = 60.0
"""A drive's own estimate is in minutes, or twos of them, and the state of its erase is polled."""
LOOKS_AT_MARKS = 3
"""Marks are written, read back, and looked for after the purge."""


def longest_s(
    identity: Identity,
    method: PurgeMethodName | None,
    write_bytes_s: float,
    command_s: float,
    files: HostFiles | None = None,
    *,
    discard_bytes_s: float | None = None,
) -> float | None:
    """Return how long a purge of a block device takes at most.

    Parameters
    ----------
    identity, method
        The device, and the method named.
    write_bytes_s
        It writes no slower in order.
    command_s
        A command of one mark takes no longer.
    files
        The host; another root for tests.
    discard_bytes_s
        It takes discards, and they take no longer; None: that is not known.

    Returns
    -------
    float or None
        Seconds; None where it cannot be purged, or does not say what it can.
    """
    files = files or HostFiles()
    node = files.node_named(identity.name)
    if node is None:
        return None
    try:
        subject = subject_of(identity, files, node)
        return longest_of(subject, method, write_bytes_s, command_s, discard_bytes_s)
    except LabError:
        return None


def longest_of(
    subject: Subject,
    method: PurgeMethodName | None,
    write_bytes_s: float,
    command_s: float,
    discard_bytes_s: float | None = None,
) -> float:
    """Return that of a drive which was asked what it can do.

    Raises
    ------
    LabError
        It cannot be purged so.
    """
    choice = choose(subject, method, (subject.identity.consent_id,))
    first, *others = choice.methods
    seen = first.name == "discard" and discard_bytes_s is not None
    # A device often supports discards and rejects them all the same: the next is then done in their place.
    candidates = [first, *(others if first.name in SUBSTITUTES and not seen else ())]
    following = 0.0 if choice.following is None else MARGIN_S + choice.following.limit_s
    bytes_s = discard_bytes_s if seen and discard_bytes_s is not None else write_bytes_s
    whole_s = subject.identity.capacity_bytes / bytes_s
    marks_s = LOOKS_AT_MARKS * SAMPLES * command_s
    return following + marks_s + max(_longest_s(each, whole_s) for each in candidates)


def _longest_s(method: PurgeMethod, whole_s: float) -> float:
    if method.name in SUBSTITUTES:
        return min(method.limit_s, whole_s)
    return MARGIN_S + (
        method.limit_s if method.estimate_s is None else min(method.limit_s, method.estimate_s)
    )
