"""A user's selection of drives, work and limits: a TOML file.

::

    [[drives]]
    serials = ["S64GNE0R1", "S64GNE0R2"]

    [[drives]]
    model = "KINGSTON SEDC500M"      # or a part of it
    count = 8                        # by default all

    [[work]]
    run = "steady-random-write"      # a method or a suite
    quick = true
    repeat = 2
    set = { seconds = "30s" }
    variant = { power-limit = "10W" }

    [limits]
    at_once = 8
    one_at_a_time = ["link"]         # drives of one switch or controller
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from pydantic import Field, StringConstraints

from ssdlab.host.documents import parse_toml, read_document, user_path
from ssdlab.model.errors import UsageError
from ssdlab.model.failed_ios import OnError
from ssdlab.model.frozen import Frozen

if TYPE_CHECKING:
    from pathlib import Path

Text = Annotated[str, StringConstraints(min_length=1, max_length=200)]
MAX_COUNT = 100_000


class Drives(Frozen):
    """Some drives: by serial, or a number of one model."""

    noun: ClassVar[str] = "entry of [[drives]]"

    serials: tuple[Text, ...] = Field((), description="serial numbers, as shown by `ssdlab drives`")
    model: Text | None = Field(None, description="model, or a part of it")
    firmware: Text | None = Field(None, description="only drives with this firmware")
    host: Text | None = Field(None, description="only drives of this host")
    count: int | None = Field(
        None, ge=1, le=MAX_COUNT, description="number of drives; by default all that match"
    )


class Work(Frozen):
    """One method or suite for each drive."""

    noun: ClassVar[str] = "entry of [[work]]"

    run: Text = Field(description="a method or a suite: see `ssdlab methods`")
    quick: bool = Field(False, description="take the quick presets")
    repeat: int = Field(1, ge=1, le=99, description="number of repeats")
    precondition: Literal["full", "one-pass", "analytic"] | None = Field(
        None, description="how to reach steady state"
    )
    set: dict[str, str | int | float | bool] = Field({}, description="parameters: { seconds = '30s' }")
    variant: dict[str, str | int | float] = Field(
        {}, description="drive variant: { power-limit = '10W', spare = '25%' }"
    )
    endurance_cap: str | None = Field(None, alias="endurance-cap", description="as in `ssdlab run`")
    wipe_signatures: bool = Field(False, alias="wipe-signatures", description="as in `ssdlab run`")
    on_error: OnError = Field("stop", alias="on-error", description="as in `ssdlab run`")
    meter: Text | None = Field(None, description="power meter on the drive; only one run uses it at a time")
    shares: tuple[Text, ...] = Field(
        (), description="exclusive resources, such as a power budget or a chamber; licences on Slurm"
    )
    seed: int | None = Field(None, ge=0, lt=2**63, description="base seed of all its runs")


class Limits(Frozen):
    """Limits that keep runs from disturbing each other."""

    noun: ClassVar[str] = "entry of [limits]"

    at_once: int | None = Field(
        None,
        ge=1,
        le=MAX_COUNT,
        description="maximum parallel runs; on one host by default its number of CPUs",
    )
    one_at_a_time: tuple[Literal["link", "host"], ...] = Field(
        (), description="run drives of one switch or controller (link), or of one host, one after another"
    )
    cpus: int = Field(1, ge=1, le=4096, description="CPUs of each run")
    retries: int = Field(0, ge=0, le=9, description="how often a run that fails is begun again")


class Selection(Frozen):
    """Drives, their work, and limits."""

    noun: ClassVar[str] = "entry of the selection"

    name: Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9-]{0,39}$")] = Field(
        "fleet", description="name of the plan: lower-case letters, digits, hyphens"
    )
    drives: tuple[Drives, ...] = Field(min_length=1, description="[[drives]] tables: serials, or a model")
    golden: Text | None = Field(
        None, description="serial of a drive that each plan measures: its change is the lab's own"
    )
    work: tuple[Work, ...] = Field(min_length=1, description="[[work]] tables: the runs of each drive")
    limits: Limits = Field(Limits(), description="[limits] table: what runs share")


def read_selection(path: Path) -> Selection:
    """Read a selection.

    Raises
    ------
    UsageError
        The file is not TOML, or invalid; the message names the place.
    """
    advice = "give the path of a TOML file with [[drives]] and [[work]] tables"
    return parse_selection(read_document(user_path(path), "selection", advice), path.name)


def parse_selection(text: str, name: str) -> Selection:
    """Parse a selection; `name` is the file's name, for messages.

    Raises
    ------
    UsageError
        The text is not TOML, or invalid; the message names the place.
    """
    selection = Selection.model_validate(parse_toml(text, name))
    for each in selection.drives:
        if bool(each.serials) == (each.model is not None):
            raise UsageError(
                f"{name}: an entry of [[drives]] needs either serials or a model",
                "give serials = [...] or model = '...'; use a separate entry for other drives",
            )
        if each.serials and each.count is not None:
            raise UsageError(
                f"{name}: an entry of [[drives]] has serials and a count",
                "leave count out: serials select all of them",
            )
    return selection
