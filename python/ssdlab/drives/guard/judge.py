"""Refuses the wrong drive, for reading too.

:func:`ssdlab.drives.guard.device_facts.device_facts` gathers all objections to using a device. `judge_device`
is pure: it takes facts and intent, and returns a :class:`Refusal` or None. So each rule is in one place and
tested as a table. `file_guard` does the same for files.

A device in use is refused for reading as well. Its other I/O would be timed along with ours, and the page
cache of a mounted file system writes back during the measurement.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from ssdlab.drives.guard.signatures import Signature
from ssdlab.drives.guard.usage import Use
from ssdlab.host.openers import Opener
from ssdlab.host.rights import Unseen
from ssdlab.model.errors import Refused
from ssdlab.model.printable import printable, quoted, shell_word

SYSTEM_MOUNTS = ("/", "/boot", "/boot/efi", "/efi", "/usr")
"""Mount points that this system needs to start or to run."""


@dataclass(frozen=True, slots=True)
class Intent:
    """The intended use and its consent.

    Attributes
    ----------
    writing
        Whether writes, trims or erasing are intended.
    destroy
        The identifier given as consent.
    wipe_signatures
        Whether the consent covers a file system, partition table or array member on the device.
    formats
        Whether an NVMe namespace is formatted before anything else, so that it may have no size until then.
    """

    writing: bool = False
    destroy: str | None = None
    wipe_signatures: bool = False
    formats: bool = False


@dataclass(frozen=True, slots=True)
class Refusal:
    """A reason not to use a target: `reason` is a stable word, `what` and `advice` are for people."""

    reason: str
    what: str
    advice: str

    def __post_init__(self) -> None:
        """Escape invisible characters, because the names of files and processes may contain any."""
        object.__setattr__(self, "what", printable(self.what))
        object.__setattr__(self, "advice", printable(self.advice))

    def error(self, target: str) -> Refused:
        return Refused(self.what, self.advice, reason=self.reason, target=target)


@dataclass(frozen=True, slots=True)
class DeviceFacts:
    """All facts of a block device for the guard.

    Attributes
    ----------
    path, name, disk
        Its node, its kernel name, and the kernel name of its whole disk.
    consent_id
        Identifier that `--destroy` must give.
    label
        Model and capacity, for readers.
    blocks
        Kind of device whose block format Linux may not support: `nvme` namespace, `scsi` disk, or None.
    zoned
        Zone model; None for a conventional drive.
    fault
        Why the kernel cannot open it.
    claimed
        Whether the kernel refuses an exclusive claim.
    twins
        Other devices of this host that report the same identity.
    volume
        For md and device mapper: a phrase for the volume and its lower devices.
    named
        Description of another device whose identifier was given as consent; empty if there is none.
    unseen
        What could not be inspected.
    signatures, signatures_unknown
        Signatures on it, read only before writing; or why they could not be read.
    """

    path: str
    name: str
    disk: str
    consent_id: str
    label: str = ""
    capacity_bytes: int = 1
    read_only: bool = False
    permitted: bool = True
    blocks: Literal["nvme", "scsi"] | None = None
    zoned: str | None = None
    fault: str | None = None
    claimed: bool = False
    mounts: tuple[Use, ...] = ()
    swaps: tuple[Use, ...] = ()
    holders: tuple[Use, ...] = ()
    openers: tuple[Opener, ...] = ()
    unseen: tuple[Unseen, ...] = ()
    twins: tuple[str, ...] = ()
    volume: str | None = None
    named: str | None = None
    signatures: tuple[Signature, ...] = field(default=())
    signatures_unknown: str | None = None


def judge_device(facts: DeviceFacts, intent: Intent) -> Refusal | None:
    """Return why a block device must not be used as intended, or None."""
    return (
        in_use(facts)
        or without_size(facts, intent)
        or _unusable(facts)
        or _not_writable(facts, intent)
        or _without_consent(facts, intent)
    )


def in_use(facts: DeviceFacts) -> Refusal | None:
    """Return the refusal of a device that is in use according to the kernel's tables."""
    system = next((use for use in facts.mounts if use.what in SYSTEM_MOUNTS), None)
    if system is not None:
        return _system(facts, system)
    if facts.mounts:
        use = facts.mounts[0]
        kind = f"a member of the {use.kind} file system" if use.kind == "btrfs" else ""
        return Refusal(
            "mounted",
            f"{facts.path} is in use: {use.relation} is {kind}{' ' if kind else ''}mounted at {use.what}",
            f"unmount it first: umount {shell_word(use.what)}",
        )
    if facts.swaps:
        use = facts.swaps[0]
        return Refusal(
            "swap",
            f"{facts.path} is in use: {use.relation} is swap space",
            f"switch it off first: swapoff {shell_word(use.what)}",
        )
    return _held(facts.path, facts.holders[0]) if facts.holders else None


def _system(facts: DeviceFacts, use: Use) -> Refusal:
    why = "the system's own disk" if use.what == "/" else "needed by this system to start or to run"
    return Refusal(
        "root",
        f"{facts.path} is {why}: {use.relation} is mounted at {use.what}",
        "name another drive; to measure this disk, use a file on it: scratch.bin --size 4GiB",
    )


_HOLDERS = {
    "lvm": ("the logical volume {what} is active on {on}", "deactivate it first: lvchange -an {place}"),
    "crypt": ("the encrypted volume {what} is open on {on}", "close it first: cryptsetup close {what}"),
    "multipath": (
        "the multipath device {what} is built on {on}",
        "name /dev/mapper/{what} instead, or flush it first: multipath -f {what}",
    ),
    "dm": (
        "the device mapper volume {what} is built on {on}",
        "remove it first: dmsetup remove {what}, or name /dev/mapper/{what} instead",
    ),
    "md": (
        "the array {what} is built on {on}",
        "stop it first: mdadm --stop /dev/{what}, or name that instead",
    ),
    "bcache": (
        "{on} belongs to {what} of bcache",
        "stop it first: echo 1 >/sys/block/{what}/bcache/stop",
    ),
    "export": ("{what} serves {on}", "stop that first: {end}"),
    "loop": ("the loop device {what} is attached to {on}", "detach it first: losetup -d /dev/{what}"),
}


def _held(path: str, use: Use) -> Refusal:
    wording, advice = _HOLDERS.get(
        use.kind, ("the volume {what} is built on {on}", "deactivate that volume first, or name it instead")
    )
    what = shell_word(use.what)
    return Refusal(
        "held",
        f"{path} is in use: {wording.format(what=use.what, on=use.relation)}",
        advice.format(what=what, place=shell_word(_logical_volume(use.what)), end=use.end),
    )


def _logical_volume(name: str) -> str:
    """Return group/volume for LVM's device mapper name, in which hyphens within each are doubled.

    >>> _logical_volume("vg--one-home")
    'vg-one/home'
    """
    marked = name.replace("--", "\0").replace("-", "/", 1)
    return marked.replace("\0", "-")


def without_size(facts: DeviceFacts, intent: Intent) -> Refusal | None:
    """Return why a device of 0 bytes cannot be used, and how to give it a size.

    Linux gives no size to a namespace whose block size or metadata it does not support
    (nvme_update_ns_info_block in drivers/nvme/host/core.c). The same holds for a disk of 520-byte sectors
    (sd_read_capacity in drivers/scsi/sd.c).
    """
    if facts.capacity_bytes or (intent.formats and facts.blocks == "nvme"):
        return None
    path = facts.path
    match facts.blocks:
        case "nvme":
            why = "its block size or metadata is not supported by Linux"
            given = f"{shell_word(path)} --lba-format 4k --destroy {quoted(facts.consent_id)}"
            advice = f"if all data on it may be lost, format it first: ssdlab run METHOD {given}"
        case "scsi":
            why = "its block size is not supported by Linux, such as 520 bytes, or it is not ready"
            command = f"sg_format --format --size=4096 {shell_word(path)}"
            advice = f"if all data on it may be lost, format it to blocks of 512 or 4096 bytes: {command}"
        case None:
            why, advice = "no medium, or not set up", "attach its medium or file first"
    return Refusal("empty", f"{path} has no size: {why}", advice)


def _unusable(facts: DeviceFacts) -> Refusal | None:
    path = facts.path
    if facts.zoned is not None:
        return Refusal(
            "zoned",
            f"{path} is a {facts.zoned} zoned drive (ZNS or SMR): its zones do not take random writes",
            "name a conventional drive or namespace: zoned ones cannot be measured",
        )
    if not facts.permitted:
        return Refusal(
            "permission",
            f"{path} cannot be opened by this user",
            "run as root, or join the group that owns the device (ls -l shows it)",
        )
    if facts.fault is not None:
        return Refusal(
            "fault",
            f"{path} cannot be opened: {facts.fault}",
            "check the kernel log (dmesg) for its state, or name another drive",
        )
    if facts.openers:
        opener = facts.openers[0]
        return Refusal(
            "open",
            f"{path} is {opener.how} in process {opener.pid} ({opener.command})",
            "end that process first, or wait for it",
        )
    if facts.claimed:
        return _claimed(facts)
    return unseen(path, facts.unseen) if facts.unseen else None


def unseen(path: str, what: tuple[Unseen, ...]) -> Refusal:
    """Return the refusal of a target that may be in use, because something could not be inspected."""
    wording = " and ".join(one.what for one in what)
    return Refusal("unseen", f"{path} may be in use: {wording} cannot be seen", what[0].remedy)


def _claimed(facts: DeviceFacts) -> Refusal:
    carries = f"; it carries {facts.signatures[0].words}" if facts.signatures else ""
    return Refusal(
        "claimed",
        f"{facts.path} is claimed by the kernel: mounted in another namespace, or part of an array or pool"
        f"{carries}",
        "find its user with lsblk, or among running containers and pools, and release it first",
    )


def _not_writable(facts: DeviceFacts, intent: Intent) -> Refusal | None:
    if not intent.writing:
        return None
    if facts.read_only:
        return Refusal(
            "read-only",
            f"{facts.path} is read-only",
            "if the drive allows writing, clear this with blockdev --setrw",
        )
    if facts.twins:
        return Refusal(
            "multipath",
            f"{facts.path} and {facts.twins[0]} report the same identity: two paths to one drive, "
            "or two indistinguishable drives",
            "set up multipath and name the map, or detach one of them",
        )
    return None


def _without_consent(facts: DeviceFacts, intent: Intent) -> Refusal | None:
    if intent.destroy is None and not intent.writing:
        return None
    if intent.destroy == facts.consent_id:
        return _over_signatures(facts, intent) if intent.writing else None
    label = f" ({facts.label})" if facts.label else ""
    lost = f", {_carried(facts)} included," if facts.signatures else ""
    wipe = " --wipe-signatures" if facts.signatures else ""
    advice = (
        f"if all data on it{label}{lost} may be lost, give its identifier: "
        f"--destroy {quoted(facts.consent_id)}{wipe}"
    )
    if intent.destroy is None:
        what = f" ({facts.volume})" if facts.volume else ""
        return Refusal("no-consent", f"{facts.path}{what} would be overwritten, without consent", advice)
    given = f"--destroy {quoted(intent.destroy)}"
    if facts.named is not None:
        what = f"{given} is the identifier of {facts.named}, not of {facts.path}"
        return Refusal("wrong-consent", what, advice)
    return Refusal("wrong-consent", f"{given} is not the identifier of {facts.path}", advice)


def _over_signatures(facts: DeviceFacts, intent: Intent) -> Refusal | None:
    if intent.wipe_signatures:
        return None
    if facts.signatures_unknown is not None:
        return Refusal(
            "signatures-unknown",
            f"the content of {facts.path} is unknown: {facts.signatures_unknown}",
            "install what is missing, or consent to losing whatever is on it: --wipe-signatures",
        )
    if not facts.signatures:
        return None
    return Refusal(
        "signature",
        f"{facts.path} carries {_carried(facts)}",
        f"if that may be lost too: --destroy {quoted(facts.consent_id)} --wipe-signatures",
    )


def _carried(facts: DeviceFacts) -> str:
    first, *rest = facts.signatures
    more = ", ".join(sorted({one.kind for one in rest} - {first.kind}))
    return f"{first.words}{f', and {more}' if more else ''}"
