"""Situations in which a drive must be refused, told apart by the message that each has of its own."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

WRITING = ("measure", "{target}", "--rw", "randwrite", "--bytes", "64KiB")
READING = ("measure", "{target}", "--bytes", "64KiB")


@dataclass
class Situation:
    """One that was set up.

    `target` is what is named to ssdlab; `options` those of writing it; `names` fill the blanks of the message
    expected, which is that of `message` if another situation has the same; `watched` are the devices and
    files of which no byte may change; `words` the command; `capabilities` are all that it has, as somebody
    without privilege; `namespace` are shell commands that it finds done in a mount namespace of its own.
    """

    target: str
    names: dict[str, str] = field(default_factory=dict)
    options: dict[str, object] = field(default_factory=dict)
    watched: tuple[Path, ...] = ()
    message: str = ""
    words: tuple[str, ...] = WRITING
    capabilities: tuple[int, ...] | None = None
    namespace: str = ""


MESSAGES = {
    # Devices, on the host.
    "mounted-whole": "{target} is in use: it is mounted at {point}",
    "mounted-partition": "{target} is in use: its partition {part} is mounted at {point}",
    "beside-a-mounted-partition": "{target} is in use: {part} (a partition beside it) is mounted at {point}",
    "partition-of-a-mounted-disk": "{target} is in use: its disk {disk} is mounted at {point}",
    "mounted-volume-on-it": "{target} is in use: {volume} (a volume on it) is mounted at {point}",
    "mounted-disk-below": "{target} is in use: {disk} (which shares its storage) is mounted at {point}",
    "member-of-a-mounted-btrfs": (
        "{target} is in use: it is a member of the btrfs file system mounted at {point}"
    ),
    "swap": "{target} is in use: it is swap space",
    "swap-partition": "{target} is in use: its partition {part} is swap space",
    "the-disk-under-root": "{target} is the system's own disk: it is mounted at /",
    "a-partition-under-root": "{target} is the system's own disk: its partition {part} is mounted at /",
    "beside-the-partition-under-root": (
        "{target} is the system's own disk: {part} (a partition beside it) is mounted at /"
    ),
    "the-disk-under-boot": "{target} is needed by this system to start or to run: it is mounted at /boot",
    "loop-device-on-it": "{target} is in use: the loop device {volume} is attached to it",
    "loop-device-on-a-partition": (
        "{target} is in use: the loop device {volume} is attached to its partition {part}"
    ),
    "another-loop-device-on-its-file": (
        "{target} is in use: the loop device {volume} is attached to the file behind {disk}"
    ),
    "its-file-is-swap": "{target} is in use: the file behind {disk} is swap space",
    "its-file-is-written": "{target} is open through its backing file or device in process {pid} ({command})",
    "its-file-is-mapped": (
        "{target} is mapped through its backing file or device in process {pid} ({command})"
    ),
    "open-in-a-process": "{target} is open in process {pid} ({command})",
    "mounted-in-another-namespace": (
        "{target} is claimed by the kernel: mounted in another namespace, or part of an array or pool; it "
        "carries an ext4 file system"
    ),
    "claimed-sibling": (
        "{target} is claimed by the kernel: mounted in another namespace, or part of an array or pool"
    ),
    "no-medium": "{target} has no size: no medium, or not set up",
    "read-only": "{target} is read-only",
    "no-consent": "{target} would be overwritten, without consent",
    "wrong-identifier": "--destroy '{given}' is not the identifier of {target}",
    "identifier-of-another-drive": "--destroy '{given}' is the identifier of {other}, not of {target}",
    "identifier-of-the-whole-disk": (
        "--destroy '{given}' is the identifier of its whole disk {other}, not of {target}"
    ),
    "identifier-of-the-partition": (
        "--destroy '{given}' is the identifier of its partition {other}, not of {target}"
    ),
    "link-to-another-disk": (
        "--destroy '{given}' is the identifier of {other}, not of {target} ({link} leads there)"
    ),
    "file-system": "{target} carries an ext4 file system named 'family-photos'",
    "partition-table": "{target} carries a partition table (gpt), and PMBR",
    "unused-volume-group": "{target} carries a physical volume of LVM",
    "unused-btrfs-member": "{target} carries a btrfs file system, or a member of one",
    "unused-swap": "{target} carries swap space",
    "unused-bcache": "{target} carries a bcache device",
    "unused-luks": "{target} carries a LUKS volume",
    "signatures-not-readable": (
        "the content of {target} is unknown: wipefs is not installed, and is needed here"
    ),
    # Files.
    "foreign-file": "{target} would be overwritten, and it was not made by ssdlab",
    "changed-since": (
        "{target} would be overwritten, and it was changed by another program since ssdlab made it"
    ),
    "hard-link": "{target} has 2 names (hard links), and writing would change all of them",
    "symbolic-link": "{target} is a symbolic link, neither a file nor a block device",
    "folder": "{target} is a directory, neither a file nor a block device",
    "character-device": "{target} is a character device, neither a file nor a block device",
    "swap-file": "{target} is swap space",
    "behind-a-loop-device": "{target} is the backing file of {volume}",
    "open-for-writing": "{target} is open for writing in process {pid} ({command})",
    "other-size": "{target} exists with {bytes}, but --size asks for 8 KiB",
    "empty-file": "{target} is empty",
    "wrong-name": "--destroy '{given}' is not the name of {target}",
    "file-mapped": "{target} is mapped for writing in process {pid} ({command})",
    "file-in-flight": "{target} is open elsewhere, by a user that cannot be seen",
    "file-of-somebody-else": (
        "{target} may be in use: what the processes of other users have open and what loop devices "
        "are based on "
        "cannot be seen"
    ),
    "no-file": "{target} does not exist",
    "no-folder": "{target} does not exist, and its folder does not either",
    "no-space": "{target} would need {bytes}, and its file system has {free} free",
    "no-file-pipe": "{target} is a pipe, neither a file nor a block device",
    "no-file-socket": "{target} is a socket, neither a file nor a block device",
    "unwritten": "{target}: 64 KiB at byte 0 are a hole; reads would not reach the drive",
    "file-not-ours-to-write": "{target} is not writable by this user",
    "file-not-ours-to-read": "{target} is not readable by this user",
    "folder-not-ours": "{target} cannot be created: its folder is not writable",
    # Devices and users of the host.
    "device-mapped": "{target} is mapped in process {pid} ({command})",
    "device-not-ours": "{target} cannot be opened by this user",
    "no-device": "there is no device {target}",
    "device-of-a-user-who-may-read-folders": (
        "{target} may be in use: what the processes of other users have open cannot be seen"
    ),
    "nvmet": "{target} is in use: namespace 1 of the NVMe target {volume} serves it",
    "nvmet-lost": (
        "{target} may be in use: what namespace 1 of the NVMe target {volume} serves, as {path} does "
        "not exist, cannot be seen"
    ),
    "scsi-target": "{target} is in use: the SCSI target {volume} serves it",
    "nvmet-hidden": "{target} may be in use: what the kernel's nvmet serves cannot be seen",
    # Devices of the guest.
    "lvm-active": "{target} is in use: the logical volume {volume} is active on it",
    "md-member": "{target} is in use: the array {volume} is built on it",
    "md-unassembled": "{target} carries a member of an md array named 'lab:0'",
    "md-itself": "{target} (an md array on {below}) would be overwritten, without consent",
    "dm-target": "{target} is in use: the device mapper volume {volume} is built on it",
    "dm-itself": (
        "{target} (a device mapper volume, {volume}, on {below}) would be overwritten, without consent"
    ),
    "multipath-path": "{target} is in use: the multipath device {volume} is built on it",
    "crypt-open": "{target} is in use: the encrypted volume {volume} is open on it",
    "bcache-in-use": "{target} is in use: it belongs to {volume} of bcache",
    "sibling-namespace": (
        "--destroy '{given}' is the identifier of the other namespace {other}, not of {target}"
    ),
    "two-paths": (
        "{target} and {other} report the same identity: two paths to one drive, or two indistinguishable "
        "drives"
    ),
    "zoned": "{target} is a host-managed zoned drive (ZNS or SMR): its zones do not take random writes",
}
"""What is said in each situation."""

_REASONS = {
    "root": "the-disk-under-root a-partition-under-root beside-the-partition-under-root the-disk-under-boot",
    "mounted": "mounted-whole mounted-partition beside-a-mounted-partition partition-of-a-mounted-disk "
    "mounted-volume-on-it mounted-disk-below member-of-a-mounted-btrfs",
    "swap": "swap swap-partition swap-file its-file-is-swap",
    "held": "loop-device-on-it another-loop-device-on-its-file loop-device-on-a-partition "
    "behind-a-loop-device lvm-active md-member "
    "dm-target multipath-path crypt-open bcache-in-use nvmet scsi-target",
    "open": "open-in-a-process open-for-writing device-mapped file-mapped file-in-flight "
    "its-file-is-written its-file-is-mapped",
    "claimed": "mounted-in-another-namespace claimed-sibling",
    "unseen": "file-of-somebody-else device-of-a-user-who-may-read-folders nvmet-lost nvmet-hidden",
    "zoned": "zoned",
    "permission": "file-not-ours-to-write file-not-ours-to-read folder-not-ours device-not-ours",
    "read-only": "read-only",
    "multipath": "two-paths",
    "no-consent": "no-consent foreign-file changed-since md-itself dm-itself",
    "wrong-consent": "wrong-identifier identifier-of-another-drive identifier-of-the-whole-disk "
    "identifier-of-the-partition link-to-another-disk wrong-name sibling-namespace",
    "signature": "file-system partition-table unused-volume-group unused-btrfs-member unused-swap "
    "unused-bcache unused-luks md-unassembled",
    "signatures-unknown": "signatures-not-readable",
    "hard-linked": "hard-link",
    "no-file": "symbolic-link folder character-device no-file-pipe no-file-socket",
    "no-size": "no-file",
    "": "no-device",
    "no-folder": "no-folder",
    "no-space": "no-space",
    "size": "other-size",
    "empty": "empty-file no-medium",
    "unwritten": "unwritten",
}
REASONS = {name: reason for reason, names in _REASONS.items() for name in names.split()}
"""The stable word of each situation's refusal."""
