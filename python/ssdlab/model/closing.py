"""What closes itself at the end of a `with` block."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Self


class Closing(ABC):
    """Something held, which `close` lets go of."""

    __slots__ = ()

    @abstractmethod
    def close(self) -> None:
        """Let it go; a second time changes nothing unless the class says otherwise."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()
