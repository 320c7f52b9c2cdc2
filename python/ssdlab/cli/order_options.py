"""Options of `run` and `job` besides those of the drive, and of `run` and `plan` for the method."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, ClassVar, Literal

from cyclopts import Parameter
from pydantic import Field

from ssdlab.cli.kinds import whole_number
from ssdlab.model.failed_ios import ErrorOptions
from ssdlab.model.frozen import Metavar
from ssdlab.model.meter_text import MeterOptions


class OrderOptions(MeterOptions, ErrorOptions):
    """Options of `run` and `job` besides those of the drive."""

    noun: ClassVar[str] = "option of run"

    dry_run: bool = Field(
        False, description="show every command and write that would reach the drive, and do nothing"
    )
    rig: Annotated[Path, Metavar("FILE")] | None = Field(
        None,
        description="file that describes the test platform [default: ssdlab/rig.toml in the config folder]",
    )
    seed: int | None = Field(
        None, ge=0, lt=2**64, description="seed of all random draws [default: one is drawn and recorded]"
    )
    run_id: Annotated[str, Metavar("ID")] | None = Field(
        None,
        description="id that the run is to have, for programs that start one and look for it later "
        "[default: made of time, method and chance]",
    )
    library: Annotated[Path, Metavar("FOLDER")] | None = Field(
        None, description="folder of runs [default: ssdlab/runs in the data folder]"
    )


Set = Annotated[
    tuple[str, ...],
    Parameter(
        name="--set",
        metavar="NAME=VALUE",
        negative=(),
        help="Set a parameter of the method: --set seconds=30; of a suite, of every part that has it, or of "
        "one: --set qd1.seconds=30. May be given several times.",
    ),
]
Precondition = Annotated[
    Literal["full", "one-pass", "analytic"] | None,
    Parameter(
        help="How methods of steady random writing bring that about: full, one-pass (a purged drive written "
        "once at random), analytic (placed into a simulated drive); of a suite, in every part that can."
    ),
]
Quick = Annotated[
    bool,
    Parameter(help="Take the method's quick presets: minutes instead of hours, and a result that says so."),
]
Repeat = Annotated[
    int,
    Parameter(
        metavar="N",
        help="Run it so often: medians with their confidence intervals are shown. Six runs give 95 %.",
        converter=whole_number(0, 1_000_000),
        n_tokens=1,
    ),
]
