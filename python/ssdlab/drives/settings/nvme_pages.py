"""Identify pages of an NVMe drive, for the settings that need them."""

from __future__ import annotations

from ssdlab.drives.admin import nvme
from ssdlab.drives.admin.fields import Malformed
from ssdlab.drives.admin.port import AdminPort
from ssdlab.model.errors import DriveError


def controller(port: AdminPort, setting: str, target: str) -> nvme.Controller:
    """Return what the controller says of itself; `DriveError` where that is nothing or nonsense."""
    content = _page(port, 0, nvme.CNS_CONTROLLER, setting, target)
    try:
        return nvme.controller(content)
    except Malformed as error:
        raise _unanswered(setting, target, str(error)) from error


def namespace(port: AdminPort, nsid: int, setting: str, target: str) -> nvme.Namespace:
    """Return what a namespace is; `DriveError` where the answer is none or nonsense."""
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
        "leave the setting out, and note it beside the result",
        reason="unanswered",
        setting=setting,
        target=target,
    )
