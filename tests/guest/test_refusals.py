"""Situations that only a virtual machine has: arrays, volumes, caches, zones, second paths, namespaces.

Refused, with words of their own, and not a byte written: compared by the images behind the guest's disks, or
in the guest where a disk has none.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from guest.machine import NVME_SERIAL, SATA_SERIAL, VIRTIO_SERIAL
from machine import holding
from machine.situations import MESSAGES, REASONS

_IMAGES = {"/dev/nvme0n1": "nvme1", "/dev/nvme0n2": "nvme2", "/dev/sda": "sata", "/dev/vda": "virtio"}


@dataclass(frozen=True)
class Stage:
    """What several scenes stand on, as shell commands of the guest."""

    set_up: str
    clear: str


@dataclass(frozen=True)
class Scene:
    """What is named, with which consent, on which stage and after which command; and the message it gets."""

    stage: str
    target: str
    consent: str | None = None
    names: dict[str, str] = field(default_factory=dict)
    first: str = ":"
    message: str | None = None


_HOLDER = {"pid": "of the holder", "command": "of the holder"}
_CONFIG = "mountpoint -q /sys/kernel/config || mount -t configfs none /sys/kernel/config"
_NVMET = f"modprobe nvmet; {_CONFIG}"
_SUBSYSTEM = "/sys/kernel/config/nvmet/subsystems/lab"
_SPACE = f"{_SUBSYSTEM}/namespaces/1"
_LIO = f"modprobe -a target_core_mod target_core_file; {_CONFIG}"
_STORE = "/sys/kernel/config/target/core/fileio_0/served"

_STAGES = {
    "plain": Stage(":", ":"),
    "lvm": Stage(
        "modprobe dm-mod; pvcreate -qy /dev/sda; vgcreate -qy vg /dev/sda; "
        "lvcreate -qy -W n -Z n -L 64M -n home vg",
        "vgremove -qfy vg; pvremove -qy /dev/sda",
    ),
    "md": Stage(
        "modprobe raid1; yes | mdadm --create /dev/md0 --level=1 --raid-devices=2 --assume-clean --run "
        "--metadata=1.2 --homehost=lab /dev/sda /dev/vda; "
        # Neither half is known to equal the other, and a read may go to either.
        "dd if=/dev/zero of=/dev/md0 bs=1M count=4 oflag=direct; sleep 1",
        "mdadm --stop /dev/md0; mdadm --zero-superblock /dev/sda /dev/vda",
    ),
    "dm": Stage(
        "modprobe dm-mod; dmsetup create slow --table '0 1000 linear /dev/sda 0'", "dmsetup remove slow"
    ),
    "crypt": Stage(
        "modprobe -a dm-crypt xts ecb aes_generic; printf secret | "
        "cryptsetup open -q --type plain -c aes-xts-plain64 -s 256 -h sha256 /dev/sda safe",
        "cryptsetup close safe",
    ),
    "multipath": Stage(
        "modprobe -a dm-multipath dm-round-robin; dmsetup create mpatha --uuid mpath-3600 --table "
        '"0 $(cat /sys/block/sda/size) multipath 0 0 1 1 round-robin 0 1 1 /dev/sda 1000"',
        "dmsetup remove mpatha",
    ),
    "bcache": Stage(
        "modprobe bcache; make-bcache -B /dev/sda >/dev/null; "
        "echo /dev/sda >/sys/fs/bcache/register; sleep 1",
        "echo 1 >/sys/block/bcache0/bcache/stop; sleep 1; wipefs -qa /dev/sda",
    ),
    "mounted": Stage(
        "modprobe -a ext4 crc32c_generic; mkfs.ext4 -q /dev/nvme0n2; mkdir -p /tmp/at; "
        "mount -o ro,noload /dev/nvme0n2 /tmp/at",
        "umount /tmp/at; wipefs -qa /dev/nvme0n2",
    ),
    "swap": Stage(
        "mkswap /dev/nvme0n2; swapon /dev/nvme0n2", "swapoff /dev/nvme0n2; wipefs -qa /dev/nvme0n2"
    ),
    "mounted dm": Stage(
        "modprobe -a dm-mod ext4 crc32c_generic; dmsetup create slow --table '0 65536 linear /dev/sda 0'; "
        "mkfs.ext4 -q /dev/dm-0; mkdir -p /tmp/at; mount -o ro,noload /dev/dm-0 /tmp/at",
        "umount /tmp/at; dmsetup remove slow; wipefs -qa /dev/sda",
    ),
    "removed node": Stage(
        "modprobe -a loop dm-mod; mknod /tmp/node b $(tr : ' ' </sys/block/sda/dev); "
        "losetup /dev/loop0 /tmp/node; rm /tmp/node; dmsetup create top --table '0 1000 linear /dev/loop0 0'",
        "dmsetup remove top; losetup -d /dev/loop0",
    ),
    "open": Stage(
        f"mkfifo /tmp/input; {sys.executable} -P {holding.__file__} mapped-leader-gone /dev/nvme0n1 O_RDWR "
        "<>/tmp/input >/tmp/held & echo $! >/tmp/holder; until grep -q held /tmp/held; do sleep 0.1; done",
        "kill $(cat /tmp/holder); rm /tmp/held /tmp/input",
    ),
    "nvmet": Stage(
        f"{_NVMET}; ln -sf /dev/sda /tmp/served; mkdir -p {_SPACE}; "
        f"printf /tmp/served >{_SPACE}/device_path; echo 1 >{_SPACE}/enable",
        f"echo 0 >{_SPACE}/enable; rmdir {_SPACE} {_SUBSYSTEM}; umount /sys/kernel/config; modprobe -r nvmet",
    ),
    "nvmet hidden": Stage("modprobe nvmet", "modprobe -r nvmet"),
    "scsi target": Stage(
        f"{_LIO}; mkdir -p {_STORE}; printf fd_dev_name=/dev/sda,fd_dev_size=1048576 >{_STORE}/control; "
        f"echo 1 >{_STORE}/enable",
        f"rmdir {_STORE} {Path(_STORE).parent}; umount /sys/kernel/config; "
        "modprobe -r target_core_file target_core_mod",
    ),
    "two paths": Stage(
        "modprobe scsi_debug dev_size_mb=8 add_host=2 vpd_use_hostno=0; sleep 1", "modprobe -r scsi_debug"
    ),
    "write protected": Stage("modprobe scsi_debug dev_size_mb=8 wp=1; sleep 1", "modprobe -r scsi_debug"),
    "zoned": Stage(
        "modprobe null_blk nr_devices=1 gb=1 zoned=1 zone_size=64 memory_backed=1", "modprobe -r null_blk"
    ),
}
_SCENES = {
    "sibling-namespace": Scene(
        "plain",
        "/dev/nvme0n1",
        f"{NVME_SERIAL}/2",
        {"given": f"{NVME_SERIAL}/2", "other": "/dev/nvme0n2"},
    ),
    "serial-of-another-drive": Scene(
        "plain",
        "/dev/sda",
        f"{NVME_SERIAL}/1",
        {"given": f"{NVME_SERIAL}/1", "other": "/dev/nvme0n1"},
        message="identifier-of-another-drive",
    ),
    "lvm-active": Scene("lvm", "/dev/sda", SATA_SERIAL, {"volume": "vg-home"}),
    "md-member": Scene("md", "/dev/vda", VIRTIO_SERIAL, {"volume": "md0"}),
    "md-itself": Scene("md", "/dev/md0", None, {"below": "sda, vda"}),
    "md-unassembled": Scene("md", "/dev/sda", SATA_SERIAL, first="mdadm --stop /dev/md0"),
    "dm-target": Scene("dm", "/dev/sda", SATA_SERIAL, {"volume": "slow"}),
    "dm-itself": Scene("dm", "/dev/dm-0", None, {"volume": "slow", "below": "sda"}),
    "crypt-open": Scene("crypt", "/dev/sda", SATA_SERIAL, {"volume": "safe"}),
    "multipath-path": Scene("multipath", "/dev/sda", SATA_SERIAL, {"volume": "mpatha"}),
    "bcache-in-use": Scene("bcache", "/dev/sda", SATA_SERIAL, {"volume": "bcache0"}),
    "nvme-mounted": Scene(
        "mounted", "/dev/nvme0n2", f"{NVME_SERIAL}/2", {"point": "/tmp/at"}, message="mounted-whole"
    ),
    "nvme-swap": Scene("swap", "/dev/nvme0n2", f"{NVME_SERIAL}/2", message="swap"),
    "dm-mounted": Scene(
        "mounted dm",
        "/dev/sda",
        SATA_SERIAL,
        {"volume": "dm-0", "point": "/tmp/at"},
        message="mounted-volume-on-it",
    ),
    "loop-through-a-removed-node": Scene(
        "removed node", "/dev/sda", SATA_SERIAL, {"volume": "loop0"}, message="loop-device-on-it"
    ),
    "dm-on-a-loop-through-a-removed-node": Scene(
        "removed node", "/dev/loop0", "loop0", {"volume": "top"}, message="dm-target"
    ),
    "nvme-mapped": Scene("open", "/dev/nvme0n1", f"{NVME_SERIAL}/1", _HOLDER, message="device-mapped"),
    "nvmet": Scene("nvmet", "/dev/sda", SATA_SERIAL, {"volume": "lab"}),
    "nvmet-lost": Scene(
        "nvmet", "/dev/vda", VIRTIO_SERIAL, {"volume": "lab", "path": "/tmp/served"}, first="rm /tmp/served"
    ),
    "nvmet-hidden": Scene("nvmet hidden", "/dev/sda", SATA_SERIAL),
    "scsi-target": Scene("scsi target", "/dev/sda", SATA_SERIAL, {"volume": "fileio_0/served"}),
    "two-paths": Scene("two paths", "/dev/sdb", "sdb", {"other": "/dev/sdc"}),
    "write-protected": Scene("write protected", "/dev/sdb", "any", message="read-only"),
    "zoned": Scene("zoned", "/dev/nullb0", "nullb0"),
}


@pytest.fixture(scope="module")
def stage(guest, request: pytest.FixtureRequest) -> Iterator[None]:
    chosen = _STAGES[request.param]
    try:
        guest.must(f"exec 2>&1; {chosen.set_up}")
        yield
    finally:
        cleared = guest.run(f"exec 2>&1; {chosen.clear}; sync")
    assert cleared.status == 0, cleared


@pytest.mark.parametrize(
    ("stage", "name"), [(scene.stage, name) for name, scene in _SCENES.items()], indirect=["stage"]
)
@pytest.mark.usefixtures("stage")
def test_refused_and_not_a_byte_written(guest, name: str) -> None:
    scene = _SCENES[name]
    guest.must(f"exec 2>&1; {scene.first}; test -b {scene.target} && sync")
    before = state_of(guest, scene.target)
    words = ["measure", scene.target, "--rw", "write", "--bytes", "1MiB", "--json"]
    done = guest.ssdlab(*words, *(() if scene.consent is None else ("--destroy", scene.consent)), limit_s=400)
    after = state_of(guest, scene.target)
    assert done.status == 2, done
    said = json.loads(done.out or done.err)
    expected = MESSAGES[scene.message or name]
    names = dict(scene.names)
    if names == _HOLDER:
        pid, command = guest.must("cat /tmp/holder; cat /proc/$(cat /tmp/holder)/comm").split()
        names = {"pid": pid, "command": command}
    assert said["what"] == expected.format(**{"target": scene.target, **names})
    assert said["facts"]["reason"] == REASONS[scene.message or name]
    assert said["advice"]
    assert after == before


def test_what_is_said_here_is_in_the_list() -> None:
    assert {scene.message or name for name, scene in _SCENES.items()} <= set(MESSAGES)


def state_of(guest, target: str) -> tuple[str, str]:
    """Hash of what a disk holds, and the sectors that the guest's kernel has written to it."""
    name = Path(target).name
    image = _IMAGES.get(target)
    held = f"head -c 4194304 {target} | md5sum" if image is None else "echo -"
    counted, digest = guest.must(f"cat /sys/block/{name}/stat; {held}").splitlines()
    if image is not None:
        digest = guest.digest(image)
    return digest, counted.split()[6]
