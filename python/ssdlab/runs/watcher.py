"""Who is told what is done while something is measured."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import ssdlab._core as _core


class Watcher(Protocol):
    """Observes a measurement."""

    def phase(self, name: str, *, duration_ns: int | None, size_bytes: int | None) -> None:
        """Take note that a phase begins, and of its length or its bytes where they are known."""

    def tick(self, snapshot: _core.Snapshot) -> None:
        """Take note of how far it is; about every 50 ms."""


class Silent:
    """Observes and says nothing."""

    def phase(self, name: str, *, duration_ns: int | None, size_bytes: int | None) -> None:
        """Say nothing."""

    def tick(self, snapshot: _core.Snapshot) -> None:
        """Say nothing."""
