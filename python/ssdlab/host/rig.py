"""The rig file: what a machine does not report about itself, written down once by its builder.

A TOML file, `ssdlab/rig.toml` in the XDG configuration folder or named by ``--rig``. Each component is a
text, or a table with a link and a price::

    name = "Rig A"
    tested_by = "J. Doe, Example Lab"
    cooler = "Noctua NH-U14S"

    [power_supply]
    name = "Seasonic Focus PX-750"
    link = "https://seasonic.com/focus-px"
    price = "130 EUR"

    [[other]]
    part = "Power meter"
    name = "Quarch PPM"

    [meter]
    use = "quarch:192.168.1.5:9722"
    accuracy = "1%"
    calibrated = 2026-03-01
"""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Annotated

from pydantic import BeforeValidator, Field

from ssdlab.host.documents import read_toml, user_path, with_name
from ssdlab.model.errors import UsageError
from ssdlab.model.frozen import Frozen
from ssdlab.model.meter_text import AnyMeter


class RigPart(Frozen):
    """One component as a person describes it."""

    noun = "entry of a component"

    name: str = Field(min_length=1, description="what it is: maker and model")
    link: str | None = Field(None, pattern=r"^https?://\S+$", description="web page about it")
    price: str | None = Field(None, description="price, with its currency")


class OtherPart(RigPart):
    """A component that the table has no line for."""

    part: str = Field(min_length=1, description="what kind of component: 'Power meter'")


def _part(value: object) -> object:
    if isinstance(value, str):
        return {"name": value}
    if not isinstance(value, dict | RigPart):
        raise ValueError("a component is a text, or a table with a name")  # noqa: TRY004 - for pydantic
    return value


Part = Annotated[RigPart, BeforeValidator(_part)]


class Rig(Frozen):
    """What a rig file says; the fields are the lines of the component table."""

    noun = "entry of a rig file"

    name: str | None = Field(None, description="what the rig is called in reports: 'Rig A'")
    tested_by: str | None = Field(None, description="who tests: a name, and whose lab it is")
    audited_by: str | None = Field(None, description="who has looked the tests over, if anybody")
    chassis: Part | None = Field(None, description="case or server")
    board: Part | None = Field(None, description="mainboard")
    board_firmware: Part | None = Field(None, description="its firmware")
    cpu: Part | None = Field(None, description="processor")
    cooler: Part | None = Field(None, description="cooler of the processor")
    memory: Part | None = Field(None, description="memory modules")
    power_supply: Part | None = Field(None, description="power supply")
    graphics: Part | None = Field(None, description="graphics card")
    fans: Part | None = Field(None, description="fans, and what blows at the drive")
    os_disk: Part | None = Field(None, description="disk of the operating system")
    operating_system: Part | None = Field(None, description="operating system")
    kernel: Part | None = Field(None, description="kernel")
    host_adapter: Part | None = Field(None, description="controller that the drive hangs on, and its driver")
    slot: Part | None = Field(None, description="slot that the drive or its controller is plugged into")
    meter: AnyMeter | None = Field(None, description="power meter on the drive under test, as --meter")
    other: tuple[OtherPart, ...] = Field((), description="components beyond these, each with its part")


def rig_path() -> Path:
    """Return where the rig file of this user lies."""
    home = os.environ.get("XDG_CONFIG_HOME") or str(Path.home() / ".config")
    return Path(home) / "ssdlab" / "rig.toml"


def read_rig(path: Path | None = None) -> Rig:
    """Read a rig file.

    Parameters
    ----------
    path
        The file; None takes the user's own, which need not be there.

    Raises
    ------
    UsageError, HostError
        It is not there, cannot be read, or says what it must not; the error names the file.
    """
    source = rig_path() if path is None else user_path(path)
    try:
        content = read_toml(source, "rig file", "name one that can be read, or leave --rig out")
    except UsageError as error:
        # Nobody need have one, and a configuration folder may not be this user's.
        if path is None and error.facts.get("errno") in (errno.ENOENT, errno.ENOTDIR, errno.EACCES):
            return Rig()
        raise
    try:
        return Rig.model_validate(content)
    except UsageError as error:
        raise with_name(error, source) from None
