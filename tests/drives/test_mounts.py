"""The mount table and its traps."""

from __future__ import annotations

from pathlib import Path

from ssdlab.drives.guard.usage import read_tables, swap_on
from ssdlab.host.mounts import devices_of, mount_of, mounts, parse_mountinfo, parse_swaps, swap_areas
from ssdlab.host.sysfs import device_number

TABLE = r"""22 27 0:21 / /proc rw,relatime - proc proc rw
27 1 254:0 / / rw,relatime - ext4 /dev/root rw,discard
40 27 254:0 /srv/data /mnt/with\040blank ro,noatime shared:7 master:2 - ext4 /dev/root rw,discard
41 27 0:44 /@home /home rw - btrfs /dev/sdb1 rw,subvol=/@home
broken line
"""


def test_all_columns_are_read() -> None:
    table = parse_mountinfo(TABLE)
    assert [mount.point for mount in table] == ["/proc", "/", "/mnt/with blank", "/home"]
    bind = table[2]
    assert (bind.number, bind.root, bind.kind, bind.source) == ("254:0", "/srv/data", "ext4", "/dev/root")
    assert bind.options == ("ro", "noatime", "rw", "discard")


def test_the_longest_mount_point_wins_and_the_last_of_two() -> None:
    table = parse_mountinfo(TABLE + "50 27 0:99 / /mnt/with\\040blank rw - tmpfs tmpfs rw\n")
    assert mount_of(table, Path("/mnt/with blank/file")).kind == "tmpfs"  # type: ignore[union-attr]
    assert mount_of(table, Path("/mnt/without")).point == "/"  # type: ignore[union-attr]
    assert mount_of((), Path("/x")) is None


def test_swap_names_with_blanks() -> None:
    table = (
        "Filename\tType\tSize\tUsed\tPriority\n/swap\\040file file 1024 0 -2\n/dev/dm-1 partition 4 0 -3\n"
    )
    assert parse_swaps(table) == ("/swap file", "/dev/dm-1")


def test_dev_root_is_found_by_its_number(host) -> None:
    node = host.disk("vdz")
    host.mount(host.number(node), "/", source="/dev/root")
    (mount,) = mounts(host.files)
    assert devices_of(host.files, mount) == (host.number(node),)


def test_all_members_of_a_btrfs_count_though_it_names_one(host) -> None:
    one, two = host.disk("sda"), host.disk("sdb")
    volume = host.root / "sys/fs/btrfs/0c0ffee0/devices"
    volume.mkdir(parents=True)
    for member in (one, two):
        (volume / member.name).symlink_to(member)
    host.mount("0:44", "/data", source="/dev/sda", kind="btrfs")
    (mount,) = mounts(host.files)
    assert set(devices_of(host.files, mount)) == {host.number(one), host.number(two)}


def test_a_file_system_without_a_device_has_none(host) -> None:
    host.mount("0:21", "/proc", source="proc", kind="proc")
    (mount,) = mounts(host.files)
    assert devices_of(host.files, mount) == ()


def test_names_with_what_python_takes_for_the_end_of_a_line() -> None:
    """Who may mount may choose the name of the place: it must neither hide a line nor make one."""
    forged = "/mnt/x\u2028\x0b\x85\x1c\r36 1 8:0 / / rw - ext4 /dev/sda rw"
    shown = forged.replace(" ", "\\040")
    table = parse_mountinfo(
        f"35 1 8:16 / {shown} rw - ext4 /dev/sdb rw\n37 1 8:32 / /b rw - ext4 /dev/sdc rw\n"
    )
    assert [(mount.number, mount.point) for mount in table] == [("8:16", forged), ("8:32", "/b")]
    table = f"Filename Type\n{shown}  file\t\t1 0 -2\n"
    assert parse_swaps(table) == (forged,)


def test_a_swap_file_is_known_by_its_inode_and_a_lost_one_by_its_file_system(host) -> None:
    area = host.root / "area"
    area.write_bytes(b"x")
    status = area.stat()
    file = (status.st_dev, status.st_ino)
    host.mount(device_number(status.st_dev), "/srv")
    host.swap("/area")
    host.swap("/srv/gone\\040(deleted)")
    known, lost = swap_areas(host.files)
    assert (known.file, known.lost) == (file, False)
    assert (lost.lost, lost.near) == (True, device_number(status.st_dev))
    tables = read_tables(host.files)
    assert swap_on(tables, file, suspicious=False)
    beside = (status.st_dev, status.st_ino + 1)
    assert swap_on(tables, beside, suspicious=True)
    assert not swap_on(tables, beside, suspicious=False)
    assert not swap_on(tables, (status.st_dev + 1, 5), suspicious=True)
