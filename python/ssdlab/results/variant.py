"""What a manifest keeps of the variant that a run made of its drive."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, JsonValue

from ssdlab.model.stored import Stored


class Usable(Stored):
    """How much of a drive a run uses."""

    length: int = Field(description="bytes from its start, in whole blocks")
    spare: float = Field(description="share of the raw or user capacity that is left, 0 to 1")
    of: Literal["raw capacity", "user capacity"]
    by: Literal["LBA range"] = "LBA range"
    free: bool = Field(description="whether what is left is trimmed before the run")


class VariantInfo(Stored):
    """What makes the drive of a run another entry than the drive as it is."""

    asked: dict[str, JsonValue] = Field(description="as on the command line")
    words: tuple[str, ...] = Field(description="what the entry is called beside the drive's name")
    made: bool = Field(description="the drive was made so: a simulated one")
    demands: dict[str, str] = Field(default={}, description="what is set on a real drive")
    usable: Usable | None = None
