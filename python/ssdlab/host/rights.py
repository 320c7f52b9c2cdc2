"""What this process may not look at, so that it is said and not taken for nothing.

Source: capabilities(7); the numbers are those of linux/capability.h.
"""

from __future__ import annotations

import re

from ssdlab.host.sysfs import HostFiles, text

_NEEDED = {
    1: "what lies on a device, and the memory modules of this host (CAP_DAC_OVERRIDE)",
    19: "which devices the processes of other users have open (CAP_SYS_PTRACE)",
    21: "what a drive says of itself in its own pages: health, wear, formats, security (CAP_SYS_ADMIN)",
}


def not_seen(files: HostFiles | None = None) -> tuple[str, ...]:
    """Return what cannot be looked at for want of privilege; empty for root."""
    status = text((files or HostFiles()).proc / "self" / "status") or ""
    held = re.search(r"^CapEff:\s*([\da-f]+)", status, re.MULTILINE)
    if held is None:
        return ()
    effective = int(held.group(1), 16)
    return tuple(what for number, what in _NEEDED.items() if not effective >> number & 1)
