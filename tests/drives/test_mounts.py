"""The mount table and its traps."""

from __future__ import annotations

from pathlib import Path

from ssdlab.host.mounts import devices_of, mount_of, mounts, parse_mountinfo, parse_swaps

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
