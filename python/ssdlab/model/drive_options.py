"""What can be set for every command that writes to drives: how one is made, and what may be lost.

`measure`, `run`, `plan` and `job` take these options from here; each adds its own.
"""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import BeforeValidator, Field

from ssdlab.model import units
from ssdlab.model.errors import UsageError
from ssdlab.model.frozen import Bytes, Frozen, Metavar


def endurance_share(text: str) -> float:
    """Return the share that the text of ``--endurance-cap`` means: a percentage, above 100 % too.

    >>> endurance_share("150%")
    1.5

    Raises
    ------
    UsageError
        It is no percentage above 0.
    """
    share = float(units.parse_percent(text, noun="endurance cap", beyond=True))
    if share <= 0:
        raise UsageError(f"an endurance cap of {text} leaves nothing to write", "give one such as 20%")
    return share


def _share(value: object) -> object:
    return endurance_share(value) if isinstance(value, str) else value


EnduranceShare = Annotated[float, BeforeValidator(_share), Metavar("PERCENT")]
"""A share of a drive's rated endurance; 0.1 is a tenth."""


class DriveOptions(Frozen):
    """How a drive is opened; names and text as on the command line."""

    noun: ClassVar[str] = "option of a drive"

    size_bytes: Bytes | None = Field(
        None, alias="size", gt=0, description="make the file with this size if it is missing: 4GiB"
    )
    destroy: Annotated[str, Metavar("ID")] | None = Field(
        None, description="identifier of the drive whose data may be lost (see ssdlab drives)"
    )
    wipe_signatures: bool = Field(
        False, description="let --destroy cover a file system, partition table or array member on the drive"
    )
    endurance_cap: EnduranceShare | None = Field(
        None, gt=0, description="share of the rated endurance that may be written [default: 10%]"
    )
