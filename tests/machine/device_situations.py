"""Block devices of the host that must be refused: in use, unusable, without consent, carrying something."""

from __future__ import annotations

import os
from pathlib import Path

from machine.situations import READING, Situation
from machine.staging import Stage, consent, mounted_over, situation

# --- mounted ---


@situation
def mounted_whole(stage: Stage) -> Situation:
    device = stage.ext4(stage.loop())
    return Situation(str(device), {"point": stage.mount(device, "-o", "noload")}, consent(device), (device,))


@situation
def mounted_partition(stage: Stage) -> Situation:
    disk = stage.loop()
    part, _ = stage.partitions(disk)
    point = stage.mount(stage.ext4(part), "-o", "noload")
    return Situation(str(disk), {"part": part.name, "point": point}, consent(disk), (disk,))


@situation
def beside_a_mounted_partition(stage: Stage) -> Situation:
    disk = stage.loop()
    part, beside = stage.partitions(disk)
    point = stage.mount(stage.ext4(part), "-o", "noload")
    return Situation(str(beside), {"part": part.name, "point": point}, consent(beside), (disk,))


@situation
def partition_of_a_mounted_disk(stage: Stage) -> Situation:
    disk = stage.ext4(stage.loop())
    part, _ = stage.partitions(disk)
    point = stage.mount(disk, "-o", "noload")
    return Situation(str(part), {"disk": disk.name, "point": point}, consent(part), (disk,))


@situation
def mounted_volume_on_it(stage: Stage) -> Situation:
    device = stage.ext4(stage.loop())
    upper = stage.loop(on=device)
    point = stage.mount(upper, "-o", "noload")
    return Situation(str(device), {"volume": upper.name, "point": point}, consent(device), (device,))


@situation
def mounted_disk_below(stage: Stage) -> Situation:
    device = stage.ext4(stage.loop())
    upper = stage.loop(on=device)
    point = stage.mount(device, "-o", "noload")
    return Situation(str(upper), {"disk": device.name, "point": point}, consent(upper), (device,))


@situation
def member_of_a_mounted_btrfs(stage: Stage) -> Situation:
    one, two = stage.btrfs(), stage.btrfs()
    stage.run("mkfs.btrfs", "-q", "-d", "single", "-m", "single", one, two)
    point = stage.mount(one)
    return Situation(str(two), {"point": point}, consent(two), (one, two))


@situation
def swap(stage: Stage) -> Situation:
    device = stage.loop()
    stage.swap(device)
    return Situation(str(device), {}, consent(device), (device,))


@situation
def swap_partition(stage: Stage) -> Situation:
    disk = stage.loop()
    part, _ = stage.partitions(disk)
    stage.swap(part)
    return Situation(str(disk), {"part": part.name}, consent(disk), (disk,))


# --- the system's own: mounted over / and /boot in a mount namespace, in which ssdlab then runs ---


@situation
def the_disk_under_root(stage: Stage) -> Situation:
    device = stage.ext4(stage.loop())
    over = mounted_over(device, "/")
    return Situation(str(device), {}, consent(device), (device,), namespace=over)


@situation
def a_partition_under_root(stage: Stage) -> Situation:
    disk = stage.loop()
    part, _ = stage.partitions(disk)
    over = mounted_over(stage.ext4(part), "/")
    return Situation(str(disk), {"part": part.name}, consent(disk), (disk,), namespace=over)


@situation
def beside_the_partition_under_root(stage: Stage) -> Situation:
    disk = stage.loop()
    part, beside = stage.partitions(disk)
    over = mounted_over(stage.ext4(part), "/")
    return Situation(str(beside), {"part": part.name}, consent(beside), (disk,), namespace=over)


@situation
def the_disk_under_boot(stage: Stage) -> Situation:
    device = stage.ext4(stage.loop())
    over = mounted_over(device, "/boot")
    return Situation(str(device), {}, consent(device), (device,), namespace=over)


# --- held, open, claimed ---


@situation
def loop_device_on_it(stage: Stage) -> Situation:
    device = stage.loop()
    return Situation(str(device), {"volume": stage.loop(on=device).name}, consent(device), (device,))


@situation
def loop_device_on_a_partition(stage: Stage) -> Situation:
    disk = stage.loop()
    part, _ = stage.partitions(disk)
    names = {"volume": stage.loop(on=part).name, "part": part.name}
    return Situation(str(disk), names, consent(disk), (disk,))


@situation
def open_in_a_process(stage: Stage) -> Situation:
    device = stage.loop()
    return Situation(str(device), stage.holder(device, "O_RDONLY"), consent(device), (device,))


@situation
def mounted_in_another_namespace(stage: Stage) -> Situation:
    device = stage.ext4(stage.loop())
    point = stage.folder / "elsewhere"
    point.mkdir()
    script = f"mount -o ro,noload {device} {point} && echo mounted && read _"
    stage.beside(stage.need_tool("unshare"), "--mount", "sh", "-c", script)
    return Situation(str(device), {}, consent(device), (device,))


# --- unusable ---


@situation
def no_medium(stage: Stage) -> Situation:
    free = stage.run("losetup", "--find")
    return Situation(free, {}, {"destroy": Path(free).name})


@situation
def read_only(stage: Stage) -> Situation:
    device = stage.loop("--read-only")
    return Situation(str(device), {}, consent(device), (device,))


# --- consent ---


@situation
def no_consent(stage: Stage) -> Situation:
    device = stage.loop()
    return Situation(str(device), {}, {}, (device,))


@situation
def wrong_identifier(stage: Stage) -> Situation:
    device = stage.loop()
    given = device.name.upper()
    return Situation(str(device), {"given": given}, {"destroy": given}, (device,))


@situation
def identifier_of_another_drive(stage: Stage) -> Situation:
    device, other = stage.loop(), stage.loop()
    names = {"given": other.name, "other": str(other)}
    return Situation(str(device), names, consent(other), (device, other))


@situation
def identifier_of_the_whole_disk(stage: Stage) -> Situation:
    disk = stage.loop()
    part, _ = stage.partitions(disk)
    return Situation(str(part), {"given": disk.name, "other": str(disk)}, consent(disk), (disk,))


@situation
def identifier_of_the_partition(stage: Stage) -> Situation:
    disk = stage.loop()
    part, _ = stage.partitions(disk)
    names = {"given": f"{disk.name}-part1", "other": str(part)}
    return Situation(str(disk), names, consent(part), (disk,))


@situation
def link_to_another_disk(stage: Stage) -> Situation:
    device, other = stage.loop(), stage.loop()
    link = stage.folder / other.name
    link.symlink_to(device)
    names = {"given": other.name, "other": str(other), "link": str(link)}
    return Situation(str(link), {**names, "target": str(device)}, consent(other), (device, other))


# --- what lies on it ---


@situation
def file_system(stage: Stage) -> Situation:
    device = stage.ext4(stage.loop(), "-L", "family-photos")
    return Situation(str(device), {}, consent(device), (device,))


@situation
def partition_table(stage: Stage) -> Situation:
    device = stage.loop()
    stage.run("sfdisk", "--quiet", "--no-tell-kernel", device, send="label: gpt\nsize=4MiB\n")
    return Situation(str(device), {}, consent(device), (device,))


@situation
def unused_volume_group(stage: Stage) -> Situation:
    device = stage.loop()
    stage.run("pvcreate", "--quiet", "--config", "devices{use_devicesfile=0}", device)
    return Situation(str(device), {}, consent(device), (device,))


@situation
def unused_btrfs_member(stage: Stage) -> Situation:
    device = stage.btrfs()
    stage.run("mkfs.btrfs", "-q", device)
    return Situation(str(device), {}, consent(device), (device,))


@situation
def unused_swap(stage: Stage) -> Situation:
    device = stage.loop()
    stage.run("mkswap", device)
    return Situation(str(device), {}, consent(device), (device,))


@situation
def unused_bcache(stage: Stage) -> Situation:
    device = stage.loop()
    stage.run("make-bcache", "-B", device)
    return Situation(str(device), {}, consent(device), (device,))


@situation
def unused_luks(stage: Stage) -> Situation:
    device = stage.loop()
    # This needs no device mapper: the header and one key slot are written by the program itself.
    stage.run("cryptsetup", "luksFormat", "--batch-mode", "--type", "luks2", "--pbkdf", "pbkdf2",
              "--pbkdf-force-iterations", "1000", device, "-", send="secret")  # fmt: skip
    return Situation(str(device), {}, consent(device), (device,))


@situation
def signatures_not_readable(stage: Stage) -> Situation:
    """In the command's mount namespace the program that reads them is none."""
    device = stage.ext4(stage.loop())
    hidden = f"mount --bind /dev/null {os.path.realpath(stage.need_tool('wipefs'))}"
    return Situation(str(device), {}, consent(device), (device,), namespace=hidden)


# --- named wrongly ---


@situation
def no_such_device(_: Stage) -> Situation:
    return Situation("/dev/nvme99n1", {}, {"destroy": "nvme99n1"}, message="no-device")


@situation
def not_opened_by_this_user(stage: Stage) -> Situation:
    device = stage.loop()
    return Situation(str(device), {}, consent(device), (device,), "device-not-ours", capabilities=())


@situation
def claimed_sibling_partition(stage: Stage) -> Situation:
    """A partition beside it is mounted where nobody else sees it."""
    disk = stage.loop()
    part, beside = stage.partitions(disk)
    stage.ext4(part)
    point = stage.folder / "elsewhere"
    point.mkdir()
    script = f"mount -o ro,noload {part} {point} && echo mounted && read _"
    stage.beside(stage.need_tool("unshare"), "--mount", "sh", "-c", script)
    return Situation(str(beside), {}, consent(beside), (disk,), "claimed-sibling")


@situation
def empty_identifier(stage: Stage) -> Situation:
    device = stage.loop()
    return Situation(str(device), {"given": ""}, {"destroy": ""}, (device,), "wrong-identifier")


@situation
def path_as_identifier(stage: Stage) -> Situation:
    device = stage.loop()
    given = {"given": str(device)}
    return Situation(str(device), given, {"destroy": str(device)}, (device,), "wrong-identifier")


@situation
def reading_with_a_wrong_identifier(stage: Stage) -> Situation:
    device = stage.loop()
    names = {"given": "loop"}
    return Situation(str(device), names, {"destroy": "loop"}, (device,), "wrong-identifier", READING)
