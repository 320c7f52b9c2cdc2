"""What `ssdlab --version` prints."""

from __future__ import annotations


def version() -> str:
    """Return version and build profile of the native part: `0.2.0 (release)`."""
    import ssdlab._core as _core

    build = _core.build_info()
    return f"{build['version']} ({build['profile']})"
