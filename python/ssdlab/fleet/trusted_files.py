"""Valid fields of the fleet's files; everything else is refused.

Plans, inventories and plan records are files in a shared folder. As commands are built from their fields,
each field has a strict form: no paths except devices and profiles, no options, no line breaks.
"""

from __future__ import annotations

import os
import os.path
import re
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import AfterValidator, Field

from ssdlab.host.held_folder import HeldFolder, read_whole
from ssdlab.host.plain_files import check_private, walk_to_folder
from ssdlab.model.capabilities import SIMULATED_PREFIX
from ssdlab.model.errors import LabError, excerpt
from ssdlab.model.meter_text import MeterText
from ssdlab.results.store import check_run_id

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pydantic import ValidationError

_MAX_CHARACTERS = 300
_PROFILE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_DEVICE = re.compile(r"/dev(/[A-Za-z0-9][A-Za-z0-9._+:-]*)+")
"""No part begins with a dot, so none is `..`."""
_METER = re.compile(
    r"none|nvme:smart"
    r"|hwmon:[A-Za-z0-9][A-Za-z0-9_.-]*"
    r"|(scpi|quarch):([A-Za-z0-9][A-Za-z0-9._-]*|\[[0-9a-fA-F:.]+\])(:\d{1,5})?"
    r"|ppk2:/dev/(tty(ACM|USB)\d{1,3}|serial/by-id/[A-Za-z0-9][A-Za-z0-9._:-]*)@\d+(\.\d+)?V"
)
"""Kind and address of a meter. A recording (csv:FILE) is not allowed: it is a file of one run."""
_METER_SETTINGS = re.compile(r"(,[a-z]+=[A-Za-z0-9.%+-]+)*")


def _formed(pattern: str, what: str) -> AfterValidator:
    """Return a validator that accepts only text that matches a pattern from start to end."""
    form = re.compile(pattern)

    def check(text: str) -> str:
        if form.fullmatch(text) is None:
            raise ValueError(what)
        return text

    return AfterValidator(check)


def _checked(check: Callable[[str], None]) -> AfterValidator:
    def read(text: str) -> str:
        check(_one_line(text))
        return text

    return AfterValidator(read)


def _one_line(text: str) -> str:
    if len(text) > _MAX_CHARACTERS or not text.isprintable():
        raise ValueError(f"over {_MAX_CHARACTERS} characters, or with a control character")
    return text


def _check_drive(text: str) -> None:
    if text.startswith(SIMULATED_PREFIX):
        _check_simulated(text)
    elif _DEVICE.fullmatch(text) is None:
        raise ValueError("neither a device below /dev nor a simulated drive")


def _check_simulated(text: str) -> None:
    from ssdlab.drives.simulated.text import SimulatedText

    try:
        drive = SimulatedText.parse(text)
    except LabError as error:
        raise ValueError(error.what) from error
    if drive.state is not None:
        raise ValueError("a fleet writes no state file: leave state= out")
    path = drive.profile
    if _PROFILE.fullmatch(path) is None and not (
        path.startswith("/") and path.endswith(".toml") and os.path.normpath(path) == path
    ):
        raise ValueError("its profile must be a name, or an absolute path that ends in .toml")


def _check_meter(text: str) -> None:
    use, _, _ = text.partition(",")
    if _METER.fullmatch(use) is None or _METER_SETTINGS.fullmatch(text[len(use) :]) is None:
        raise ValueError("a fleet cannot use such a meter; a recording (csv:FILE) is for a single run")
    try:
        MeterText.parse(text)
    except LabError as error:
        raise ValueError(error.what) from error


def _check_run(text: str) -> None:
    try:
        check_run_id(text)
    except LabError as error:
        raise ValueError(error.what) from error


def _check_path(text: str) -> None:
    if not text.startswith("/") or os.path.normpath(text) != text:
        raise ValueError("it must be an absolute path without . and ..")


BackendName = Literal["local", "slurm"]
Line = Annotated[str, AfterValidator(_one_line)]
"""Text that is only shown or compared."""
HostName = Annotated[str, _formed(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}", "not a host name")]
Serial = Annotated[str, _formed(r"[\x21-\x7e]([\x20-\x7e]{0,126}[\x21-\x7e])?", "not a serial number")]
DriveText = Annotated[str, _checked(_check_drive)]
"""How a command names a drive."""
MeterSpec = Annotated[str, _checked(_check_meter)]
WholePath = Annotated[str, _checked(_check_path)]
PlanId = Annotated[str, _formed(r"\d{8}-\d{6}-[a-z0-9][a-z0-9-]{0,39}", "not a plan id")]
RunId = Annotated[str, _checked(_check_run)]
JobName = Annotated[str, _formed(r"\d{4,6}", "not a job name")]
MethodName = Annotated[str, _formed(r"[a-z0-9][a-z0-9-]{0,63}", "not a method or suite name")]
"""Not a path, as a user's declaration could change before the run."""
SettingName = Annotated[str, _formed(r"[a-z0-9][A-Za-z0-9._-]{0,127}", "not a parameter name")]
SettingValue = Annotated[
    str, _formed(r"[A-Za-z0-9 .,:;%+*=_-]{0,200}", "a value may contain no / and no quotes")
]
Held = Annotated[
    str,
    _checked(_one_line),
    _formed(
        r"(drive|meter|shared|link|host):.+",
        "it must be drive:, meter:, shared:, link: or host:, followed by a name",
    ),
]
Amount = Annotated[float, Field(ge=0)]
Bounds = tuple[Amount, Amount]


def misfit_text(error: ValidationError | LabError) -> str:
    """Return in one sentence which field is invalid, and why."""
    if isinstance(error, LabError):
        return error.what
    fault = error.errors(include_url=False)[0]
    place = ".".join(str(part) for part in fault["loc"])
    if fault["type"] == "extra_forbidden":
        return f"there is no field {place}"
    if fault["type"] == "missing":
        return f"the field {place} is missing"
    why = str(fault.get("ctx", {}).get("error", "")) or fault["msg"]
    given = excerpt(repr(fault["input"]))
    return f"the field {place} is {given}: {why}" if place else why


# Folders and files of the fleet that only this user and root can change or redirect.
#
# A host obeys what it reads there, and writes there. So the rules are those of sshd for files that it obeys
# (`StrictModes` of sshd_config(5)). They also hold for each folder in the path.

_MODE = 0o755
"""Mode of new folders: a umask of 002, usual on some systems, would let the group change them."""


def private_folder(path: Path, *, make: bool = False, writing: bool = True) -> HeldFolder:
    """Open a private folder, by default for writing.

    Raises
    ------
    Refused
        Other users can change it or its path; or it is opened for writing, and another user owns it.
    OSError
        It cannot be opened or made.
    """
    found = walk_to_folder(path, make=_MODE if make else None, private=True)
    return HeldFolder.of_descriptor(found, path, writing=writing)


def read_private(folder: HeldFolder, name: str, *, own: bool = True) -> bytes:
    """Read a whole file that no other user can change.

    This user must own the file; with `own=False`, root may own it instead.

    Raises
    ------
    Refused
        It is a link or not a regular file, has several names, or other users can change it.
    OSError
        It cannot be read.
    """
    with folder.opened(name, own=own) as descriptor, open(descriptor, "rb", closefd=False) as file:
        check_private(os.fstat(descriptor), folder.path / name)
        return read_whole(file, folder.path / name)
