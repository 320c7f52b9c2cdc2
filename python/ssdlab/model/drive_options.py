"""What can be set for every command that writes to drives: how one is made, and what may be lost.

`measure`, `run`, `plan` and `job` take these options from here; each adds its own.
"""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import BeforeValidator, Field

from ssdlab.model import units
from ssdlab.model.errors import UsageError
from ssdlab.model.frozen import Bytes, Metavar
from ssdlab.model.named_options import NamedOptions


def endurance_cap(text: str) -> float:
    """Return what the text of ``--endurance-cap`` means: a share, above 1 too, or whole bytes.

    >>> endurance_cap("150%"), endurance_cap("40TB")
    (1.5, 40000000000000)

    Raises
    ------
    UsageError
        It is neither a percentage nor a size above 0.
    """
    if text.lstrip().startswith("-"):
        raise UsageError(
            f"an endurance cap of {text.strip()} leaves nothing to write", "give one such as 20%"
        )
    if "%" not in text:
        if (size := units.parse_bytes(text, noun="endurance cap")) == 0:
            raise UsageError("an endurance cap of 0 leaves nothing to write", "give one such as 40TB")
        return size
    share = float(units.parse_percent(text, noun="endurance cap", beyond=True))
    if share <= 0:
        raise UsageError(f"an endurance cap of {text} leaves nothing to write", "give one such as 20%")
    return share


def _read(value: object) -> object:
    return endurance_cap(value) if isinstance(value, str) else value


Endurance = Annotated[int | float, BeforeValidator(_read), Metavar("CAP")]
"""A share of a drive's rated endurance, where 0.1 is a tenth; or whole bytes, an `int`."""


class DriveOptions(NamedOptions):
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
    endurance_cap: Endurance | None = Field(
        None,
        gt=0,
        description="share of the rated endurance, or bytes, that may be written: 50%, 40TB [default: 10%]",
    )
