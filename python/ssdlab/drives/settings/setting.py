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
        """Name as in `lab.conditions` and the record."""

    @property
    def lasting(self) -> bool:
        """Whether it persists over a reboot and a power cycle."""

    @property
    def destroys(self) -> bool:
        """Whether changing the setting destroys the drive's data."""

    def read(self) -> str:
        """Return the value in force, from its source: the drive itself for its settings.

        Raises
        ------
        Unsupported
            There is no such setting here.
        DriveError, HostError
            It could not be read.
        """

    def meant(self, wanted: str) -> str:
        """Return what `read` would return for `wanted`: `ps1` for `10W`.

        Raises
        ------
        UsageError
            It is not a valid value.
        Unsupported
            This drive or host cannot be set so.
        """

    def write(self, value: str) -> None:
        """Set a value from `meant` or `read`; `read` shows whether it took effect.

        Raises
        ------
        DriveError, HostError
            It was refused.
        """

    def remark(self) -> str | None:
        """Return a contradicting source, in a sentence; None if there is none."""


@dataclass(frozen=True, slots=True)
class Checked:
    """A setting that is not written before something was checked: that the drive is still the same."""

    setting: Setting
    check: Callable[[], None]

    @property
    def name(self) -> str:
        """See `Setting.name`."""
        return self.setting.name

    @property
    def lasting(self) -> bool:
        """See `Setting.lasting`."""
        return self.setting.lasting

    @property
    def destroys(self) -> bool:
        """See `Setting.destroys`."""
        return self.setting.destroys

    def read(self) -> str:
        """See `Setting.read`."""
        return self.setting.read()

    def meant(self, wanted: str) -> str:
        """See `Setting.meant`."""
        return self.setting.meant(wanted)

    def write(self, value: str) -> None:
        """Check, then set."""
        self.check()
        self.setting.write(value)

    def remark(self) -> str | None:
        """See `Setting.remark`."""
        return self.setting.remark()


def no_such(name: str, target: str, why: str, advice: str) -> Unsupported:
    """Return the error for a missing setting."""
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
    """A setting that a drive was made with, and keeps: that of a simulated one."""

    name: str
    value: str
    advice: str
    lasting: bool = True
    destroys: bool = False

    def read(self) -> str:
        """Return it."""
        return self.value

    def meant(self, wanted: str) -> str:
        """Take what it is, and nothing else."""
        if wanted != self.value:
            why = f"it was made with {self.name.replace('_', '-')}={self.value}"
            raise no_such(self.name, "a simulated drive", why, self.advice)
        return wanted

    def write(self, value: str) -> None:
        """Do nothing: `meant` takes nothing that it is not."""

    def remark(self) -> None:
        """Return None."""
        return


def refused_by_drive(name: str, target: str, why: str) -> DriveError:
    """Return the error for a command that the drive did not carry out."""
    return DriveError(
        f"{target} refused to set its {name.replace('_', ' ')}: {why}",
        "leave that setting out, or check the drive's manual",
        reason="setting-refused",
        setting=name,
        target=target,
    )


def read_file(path: Path, name: str, target: str) -> str:
    """Return the value of a file of the kernel; `Unsupported` if there is none."""
    found = text(path)
    if found is None:
        raise no_such(name, target, "the kernel has no such setting for it", "leave it out")
    return found


def write_file(path: Path, value: str, name: str) -> None:
    """Set a file of the kernel."""
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
    """Return the controller's Identify data; `DriveError` if missing or invalid."""
    content = _page(port, 0, nvme.CNS_CONTROLLER, setting, target)
    try:
        return nvme.controller(content)
    except Malformed as error:
        raise _unanswered(setting, target, str(error)) from error


def namespace(port: AdminPort, nsid: int, setting: str, target: str) -> nvme.Namespace:
    """Return the namespace's Identify data; `DriveError` if missing or invalid."""
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
