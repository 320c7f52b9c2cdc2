"""The interface of a setting: a text to read, interpret and write."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from ssdlab.drives.admin import nvme
from ssdlab.drives.admin.fields import Malformed
from ssdlab.drives.admin.port import AdminPort
from ssdlab.host.sysfs import text
from ssdlab.model.errors import DriveError, HostError, Unsupported


class Setting(Protocol):
    """One setting of a drive or its host."""

    @property
    def name(self) -> str:
        """Name in `ssdlab.drives.settings.NAMES`, in conditions and in the record."""

    @property
    def lasting(self) -> bool:
        """Whether the setting survives a reboot."""

    @property
    def destroys(self) -> bool:
        """Whether changing the setting destroys the drive's data."""

    def read(self) -> str:
        """Return the value in force, from its source: settings of a drive from the drive itself.

        Raises
        ------
        Unsupported
            This drive or host lacks the setting.
        DriveError, HostError
            The value could not be read.
        """

    def meant(self, wanted: str) -> str:
        """Return what `read` would return for `wanted`, such as `ps1` for `10W`.

        Raises
        ------
        UsageError
            The value is invalid.
        Unsupported
            This drive or host cannot have the value.
        """

    def write(self, value: str) -> None:
        """Set a value from `meant` or `read`; `read` then shows whether it took effect.

        Raises
        ------
        DriveError, HostError
            The value was refused.
        """

    def remark(self) -> str | None:
        """Return in words what contradicts the value in force, such as the kernel; None if nothing does."""


@dataclass(frozen=True, slots=True)
class Checked:
    """A setting that is changed only after a check, for example that the drive is still the same."""

    setting: Setting
    check: Callable[[], None]

    @property
    def name(self) -> str:
        return self.setting.name

    @property
    def lasting(self) -> bool:
        return self.setting.lasting

    @property
    def destroys(self) -> bool:
        return self.setting.destroys

    def read(self) -> str:
        return self.setting.read()

    def meant(self, wanted: str) -> str:
        return self.setting.meant(wanted)

    def write(self, value: str) -> None:
        self.check()
        self.setting.write(value)

    def remark(self) -> str | None:
        return self.setting.remark()


def no_such(name: str, target: str, why: str, advice: str) -> Unsupported:
    """Return the error for a setting that is missing or cannot have the requested value."""
    words = name.replace("_", " ")
    return Unsupported(
        f"the {words} of {target} cannot be set: {why}",
        advice,
        setting=name,
        target=target,
        reason="no-setting",
    )


@dataclass(frozen=True, slots=True)
class Fixed:
    """A setting of a simulated drive that was fixed when the drive was created."""

    name: str
    value: str
    advice: str
    lasting: bool = True
    destroys: bool = False

    def read(self) -> str:
        return self.value

    def meant(self, wanted: str) -> str:
        if wanted != self.value:
            why = f"it was made with {self.name.replace('_', '-')}={self.value}"
            raise no_such(self.name, "a simulated drive", why, self.advice)
        return wanted

    def write(self, value: str) -> None:
        """Do nothing, because `meant` accepts only the value that the drive has."""

    def remark(self) -> None:
        return


def refused_by_drive(name: str, target: str, why: str) -> DriveError:
    return DriveError(
        f"{target} refused to set its {name.replace('_', ' ')}: {why}",
        "leave that setting out, or check the drive's manual",
        reason="setting-refused",
        setting=name,
        target=target,
    )


def read_file(path: Path, name: str, target: str) -> str:
    """Return the value in a kernel file; raises `Unsupported` if there is no such file."""
    found = text(path)
    if found is None:
        raise no_such(name, target, "the kernel has no such setting for it", "leave it out")
    return found


def write_file(path: Path, value: str, name: str) -> None:
    """Write a value to a kernel file; raises `HostError` if the kernel refuses."""
    try:
        path.write_text(f"{value}\n", encoding="ascii")
    except OSError as error:
        denied = isinstance(error, PermissionError)
        raise HostError(
            f"the kernel rejected {value} for the {name.replace('_', ' ')} ({path}): {error.strerror}",
            "run as root" if denied else "choose another value, or leave it out",
            reason="permission" if denied else "setting-refused",
            setting=name,
            path=str(path),
            errno=error.errno,
        ) from error


def controller(port: AdminPort, setting: str, target: str) -> nvme.Controller:
    """Read Identify Controller; raises `DriveError` if missing or invalid."""
    content = _page(port, 0, nvme.CNS_CONTROLLER, setting, target)
    try:
        return nvme.controller(content)
    except Malformed as error:
        raise _unanswered(setting, target, str(error)) from error


def namespace(port: AdminPort, nsid: int, setting: str, target: str) -> nvme.Namespace:
    """Read Identify Namespace; raises `DriveError` if missing or invalid."""
    content = _page(port, nsid, nvme.CNS_NAMESPACE, setting, target)
    try:
        return nvme.namespace(content)
    except Malformed as error:
        raise _unanswered(setting, target, str(error)) from error


def _page(port: AdminPort, nsid: int, cns: int, setting: str, target: str) -> bytes:
    reply = port.nvme(nvme.IDENTIFY, nsid=nsid, cdw=(cns,), read_bytes=nvme.PAGE_BYTES)
    if reply.status:
        raise _unanswered(setting, target, f"the drive answers {nvme.status_text(reply.status)}")
    return reply.data


def _unanswered(setting: str, target: str, why: str) -> DriveError:
    return DriveError(
        f"the {setting.replace('_', ' ')} of {target} could not be read: {why}",
        "leave the setting out, and note it with the result",
        reason="unanswered",
        setting=setting,
        target=target,
    )
