"""How runs belong together: what a suite says of its runs, and each of them of its suite."""

from __future__ import annotations

from pydantic import Field, JsonValue

from ssdlab.model.stored import Stored


class Member(Stored):
    """What a run that is part of a suite says of that."""

    suite: str = Field(description="run id of the suite")
    part: str = Field(description="its name within the suite")
    preparation_seed: int = Field(
        description="seed of fills and preconditioning; the same for parts that begin in the same state"
    )
    span_bytes: int | None = Field(
        default=None, description="the suite uses no more of the drive than this; None: all of it"
    )
    written_by: str | None = Field(
        default=None,
        description="run that wrote the whole span before, since when the suite has only read",
    )
    spent_bytes: int = Field(default=0, description="written by the suite's runs before this one")
    prepared_by: str | None = Field(
        default=None,
        description="run whose first steps this one began with, on a fork of its drive",
    )
    prepared_steps: int = Field(default=0, description="how many steps that are")


class Child(Stored):
    """One run of a suite, as the suite's manifest names it before anything is done."""

    part: str = Field(description="name within the suite")
    run_id: str
    method: str
    version: int
    title: str
    params: dict[str, JsonValue]
    quick: bool
    seed: int = Field(description="drawn from the suite's seed and the part's name")
    preparation_seed: int
    drive: str = Field(description="text of the drive, at the scale that the part needs")
    state: str = Field(description="drive state that the part begins in")
    span_bytes: int | None = None
    left_out: str | None = Field(default=None, description="why it is not done on this drive")
    variant: dict[str, JsonValue] = Field(
        default={}, description="what the drive is made for this run alone, as the options of `run` say it"
    )
    standing: bool = Field(default=False, description="done before, and taken from the library as it stands")
    suite: bool = Field(default=False, description="a suite of its own: one drive of a comparison")

    @property
    def label(self) -> str:
        """Its name within the suite, without the number of its repetition."""
        return self.part.partition(" #")[0]
