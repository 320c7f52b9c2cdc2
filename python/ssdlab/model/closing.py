"""Objects that close at the end of a `with` block."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Self


class Closing(ABC):
    """A resource that `close` releases."""

    __slots__ = ()

    @abstractmethod
    def close(self) -> None:
        """Release the resource; repeated calls do nothing unless the class says otherwise."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()
