"""What this process has no right to see, so that it is reported and not taken as absent.

Source: capabilities(7); the numbers are those of linux/capability.h.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from ssdlab.host.sysfs import HostFiles, text


class Unseen(NamedTuple):
    """A phrase for something that could not be seen, and how to permit it."""

    what: str
    remedy: str


BY_RIGHTS = "run as root, or with CAP_SYS_PTRACE and CAP_DAC_READ_SEARCH (docs/safety.md says how)"
"""How a user can see what other users' processes do."""

_DAC_OVERRIDE, _DAC_READ_SEARCH, _SYS_PTRACE, _SYS_ADMIN = 1, 2, 19, 21

_NEEDED = (
    (
        ({_DAC_READ_SEARCH, _DAC_OVERRIDE},),
        "what is on a device, and the memory modules of this host (CAP_DAC_READ_SEARCH)",
    ),
    (
        ({_SYS_PTRACE}, {_DAC_READ_SEARCH, _DAC_OVERRIDE}),
        "which devices other users' processes have open (CAP_SYS_PTRACE and CAP_DAC_READ_SEARCH)",
    ),
    (
        ({_SYS_ADMIN},),
        "what a drive reports in its own pages: health, wear, formats, security (CAP_SYS_ADMIN)",
    ),
)
"""Sets of capabilities, and what cannot be seen unless one capability of each set is held."""


def not_seen(files: HostFiles | None = None) -> tuple[str, ...]:
    """Return what cannot be seen for lack of rights; empty for root."""
    held = _effective(files or HostFiles())
    if held is None:
        return ()
    return tuple(what for sets, what in _NEEDED if not all(held & one for one in sets))


def sees_processes(files: HostFiles) -> bool:
    """Return whether this user has the rights to inspect every process of this host."""
    held = _effective(files)
    if held is None:
        return True
    # Root of a user namespace has all rights within it, and none outside.
    whole = (text(files.proc / "self" / "uid_map") or "0 0 4294967295").split() == ["0", "0", "4294967295"]
    return whole and _SYS_PTRACE in held and bool(held & {_DAC_OVERRIDE, _DAC_READ_SEARCH})


def may_command(files: HostFiles | None = None) -> bool:
    """Return whether this user may send a drive commands of its own protocol (CAP_SYS_ADMIN)."""
    held = _effective(files or HostFiles())
    return held is None or _SYS_ADMIN in held


def hides_processes(files: HostFiles) -> bool:
    """Return whether `/proc` leaves out processes that this one may not inspect (proc(5), `hidepid`)."""
    held = _effective(files)
    if held is None or _SYS_PTRACE in held:
        return False
    table = text(files.proc / "self" / "mountinfo") or ""
    return re.search(r" /proc .* - proc .*\bhidepid=(?!0|off)", table) is not None


def _effective(files: HostFiles) -> frozenset[int] | None:
    """Return the numbers of the capabilities in effect; None if the kernel does not report them."""
    status = text(files.proc / "self" / "status") or ""
    found = re.search(r"^CapEff:\s*([\da-f]+)", status, re.MULTILINE)
    if found is None:
        return None
    effective = int(found.group(1), 16)
    return frozenset(number for number in range(effective.bit_length()) if effective >> number & 1)
