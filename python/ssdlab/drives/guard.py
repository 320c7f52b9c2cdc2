"""Refuses the wrong drive, for reading too.

`device_facts` and `file_facts` gather everything that speaks against using a target; `judge_device` and
`judge_file` are pure: facts and intent in, a :class:`Refusal` or None out. So each rule stands in one place
and is tested as a table.

Reading is refused on a device in use as well: its own traffic would be timed along with ours, and the page
cache of a mounted file system writes back under it.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ssdlab.drives import usage
from ssdlab.drives.attributes import disk_of, model_of
from ssdlab.drives.consent import consent_id
from ssdlab.drives.identity import SECTOR_BYTES
from ssdlab.drives.sysfs import HostFiles, flag, number
from ssdlab.drives.usage import OpenDevices, Opener, Use
from ssdlab.errors import Refused
from ssdlab.units import capacity_text

_PATIENCE_S = 1.0
"""How long a device may look busy before it counts: udev opens every device just closed or made."""

_LOOK_AGAIN_S = 0.1


@dataclass(frozen=True, slots=True)
class Intent:
    """What is to be done: `writing` (trim included), and the identifier given as consent."""

    writing: bool = False
    destroy: str | None = None


@dataclass(frozen=True, slots=True)
class Refusal:
    """A reason not to touch a target: `reason` is a stable word, `what` and `advice` are for people."""

    reason: str
    what: str
    advice: str

    def error(self, target: str) -> Refused:
        """Return the exception that says this."""
        return Refused(self.what, self.advice, reason=self.reason, target=target)


@dataclass(frozen=True, slots=True)
class DeviceFacts:
    """All that the guard weighs of a block device.

    `label` is what a person knows it by (model, capacity); `fault` why the kernel cannot open it.
    """

    path: str
    name: str
    disk: str
    consent_id: str
    label: str = ""
    capacity_bytes: int = 1
    read_only: bool = False
    permitted: bool = True
    fault: str | None = None
    claimed: bool = False
    under_root: bool = False
    mounts: tuple[Use, ...] = ()
    swaps: tuple[str, ...] = ()
    holders: tuple[Use, ...] = ()
    openers: tuple[Opener, ...] = ()


def device_facts(
    files: HostFiles,
    path: str,
    node: Path,
    *,
    patience_s: float = _PATIENCE_S,
    opened: OpenDevices | None = None,
) -> DeviceFacts:
    """Gather what speaks against using the block device at `path`, whose sysfs folder is `node`.

    Parameters
    ----------
    files, path, node
        The host, the device node and its sysfs folder.
    patience_s
        How long to look again, in seconds, while the only objection is that something has it open.
    opened
        Who has which device open, if that is known; else every open file of the host is looked at.
    """
    facts = _device_tables(files, path, node)
    if _in_use(facts) is not None or facts.capacity_bytes == 0:
        return facts
    deadline = time.monotonic() + patience_s
    while True:
        facts = _device_openers(
            facts, usage.family_of(files, node).own, usage.open_devices(files) if opened is None else opened
        )
        refusal = judge_device(facts, Intent())
        passing = refusal is not None and refusal.reason in {"open", "claimed"}
        if not passing or time.monotonic() >= deadline:
            return facts
        time.sleep(_LOOK_AGAIN_S)


def judge_device(facts: DeviceFacts, intent: Intent) -> Refusal | None:
    """Return why a block device must not be used as intended, or None."""
    return _in_use(facts) or _unusable(facts, intent) or _without_consent(facts, intent)


def _in_use(facts: DeviceFacts) -> Refusal | None:
    path = facts.path
    if facts.under_root:
        return Refusal(
            "root",
            f"{path} belongs to the disk under /, the system's own",
            "name another drive; to measure this disk, use a file on it: scratch.bin --size 4GiB",
        )
    if facts.mounts:
        use = facts.mounts[0]
        return Refusal(
            "mounted",
            f"{path} is in use: {_on(facts, use.device)} is mounted at {use.what}",
            f"unmount it first: umount {use.what}",
        )
    if facts.swaps:
        return Refusal(
            "swap",
            f"{path} is in use: {_on(facts, facts.swaps[0])} is swap space",
            f"switch it off first: swapoff /dev/{facts.swaps[0]}",
        )
    if facts.holders:
        use = facts.holders[0]
        return Refusal(
            "held",
            f"{path} is in use: the volume {use.what} is built on {_on(facts, use.device)}",
            "take that volume (LVM, device mapper, md, bcache, loop) down first, or name it instead",
        )
    return None


def _unusable(facts: DeviceFacts, intent: Intent) -> Refusal | None:
    path = facts.path
    if facts.capacity_bytes == 0:
        return Refusal(
            "empty", f"{path} has no size: no medium, or not set up", "attach its medium or file first"
        )
    if not facts.permitted:
        return Refusal(
            "permission",
            f"{path} may not be opened by this user",
            "run as root, or join the group that owns the device (ls -l shows it)",
        )
    if facts.fault is not None:
        return Refusal(
            "fault",
            f"{path} cannot be opened: {facts.fault}",
            "look into the kernel's log (dmesg) for what became of it, or name another drive",
        )
    if facts.openers:
        opener = facts.openers[0]
        return Refusal(
            "open",
            f"{path} is open in process {opener.pid} ({opener.command})",
            "end that process first, or wait for it",
        )
    if facts.claimed:
        return Refusal(
            "claimed",
            f"{path} is claimed by the kernel: mounted in another namespace, or part of an array or pool",
            "find the user with lsblk, or look into running containers, and release it first",
        )
    if intent.writing and facts.read_only:
        return Refusal(
            "read-only", f"{path} is read-only", "clear it with blockdev --setrw if the drive allows writing"
        )
    return None


def _without_consent(facts: DeviceFacts, intent: Intent) -> Refusal | None:
    if intent.destroy is None and not intent.writing:
        return None
    if intent.destroy == facts.consent_id:
        return None
    label = f" ({facts.label})" if facts.label else ""
    advice = f"if all data on it{label} may be lost, give its identifier: --destroy '{facts.consent_id}'"
    if intent.destroy is None:
        return Refusal(
            "no-consent", f"{facts.path} would be overwritten, and nothing says that it may be", advice
        )
    return Refusal(
        "wrong-consent", f"--destroy '{intent.destroy}' is not the identifier of {facts.path}", advice
    )


def _on(facts: DeviceFacts, device: str) -> str:
    return "it" if device == facts.name else f"{device}, which shares its storage,"


def _device_tables(files: HostFiles, path: str, node: Path) -> DeviceFacts:
    family = usage.family_of(files, node)
    everything = (*family.own, *family.above, *family.below)
    mounts = usage.mounted(files, everything)
    capacity_bytes = (number(node / "size") or 0) * SECTOR_BYTES
    return DeviceFacts(
        path=path,
        name=node.name,
        disk=disk_of(node).name,
        consent_id=consent_id(files, node),
        label=", ".join(filter(None, (model_of(disk_of(node)), capacity_text(capacity_bytes)))),
        capacity_bytes=capacity_bytes,
        read_only=bool(flag(node / "ro")) or bool(flag(disk_of(node) / "ro")),
        under_root=any(use.what == "/" for use in mounts),
        mounts=mounts,
        swaps=usage.swapped(files, everything),
        holders=usage.holders(files, family.own),
    )


def _device_openers(facts: DeviceFacts, own: Sequence[Path], opened: OpenDevices) -> DeviceFacts:
    try:
        # The whole disk too: the claim on a sibling partition shows only there.
        claimed = usage.claimed(facts.path) or (
            facts.disk != facts.name and usage.claimed(f"/dev/{facts.disk}")
        )
    except PermissionError:
        return replace(facts, permitted=False)
    except OSError as error:
        return replace(facts, fault=error.strerror)
    return replace(facts, claimed=claimed, openers=usage.openers_of(opened, own))
