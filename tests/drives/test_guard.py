"""The guard's rules as a table, then its facts on machines made of files."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from ssdlab.drives.guard import DeviceFacts, Intent, judge_device
from ssdlab.drives.guard import _device_tables as device_tables
from ssdlab.drives.usage import Opener, Use
from ssdlab.errors import Refused

FREE = DeviceFacts(
    path="/dev/nvme0n1", name="nvme0n1", disk="nvme0n1", consent_id="S64GNE0R", capacity_bytes=1 << 30
)
READ = Intent()
WRITE = Intent(writing=True)
CONSENT = Intent(writing=True, destroy="S64GNE0R")

IN_USE = {
    "root": {"under_root": True, "mounts": (Use("nvme0n1p2", "/"),)},
    "mounted": {"mounts": (Use("nvme0n1p1", "/data"),)},
    "swap": {"swaps": ("nvme0n1p3",)},
    "held": {"holders": (Use("nvme0n1p1", "vg-home"),)},
    "open": {"openers": (Opener(4711, "fio", True),)},
    "claimed": {"claimed": True},
    "empty": {"capacity_bytes": 0},
    "permission": {"permitted": False},
    "fault": {"fault": "Input/output error"},
}


@pytest.mark.parametrize("intent", [READ, WRITE, CONSENT], ids=["read", "write", "consent"])
@pytest.mark.parametrize("reason", IN_USE)
def test_in_use_is_refused_whatever_is_intended(reason: str, intent: Intent) -> None:
    refusal = judge_device(replace(FREE, **IN_USE[reason]), intent)
    assert refusal is not None
    assert refusal.reason == reason
    assert "/dev/nvme0n1" in refusal.what
    assert refusal.advice
    assert "S64GNE0R" not in refusal.advice, "the identifier is no way round a device in use"


@pytest.mark.parametrize(
    ("facts", "intent", "reason"),
    [
        (FREE, READ, None),
        (FREE, CONSENT, None),
        (FREE, WRITE, "no-consent"),
        (FREE, Intent(writing=True, destroy="s64gne0r"), "wrong-consent"),
        (FREE, Intent(writing=True, destroy="S64GNE0R "), "wrong-consent"),
        (FREE, Intent(writing=True, destroy=""), "wrong-consent"),
        (FREE, Intent(writing=True, destroy="nvme0n1"), "wrong-consent"),
        (FREE, Intent(writing=True, destroy="/dev/nvme0n1"), "wrong-consent"),
        (FREE, Intent(destroy="OTHER"), "wrong-consent"),
        (FREE, Intent(destroy="S64GNE0R"), None),
        (replace(FREE, read_only=True), READ, None),
        (replace(FREE, read_only=True), CONSENT, "read-only"),
    ],
)
def test_consent(facts: DeviceFacts, intent: Intent, reason: str | None) -> None:
    refusal = judge_device(facts, intent)
    assert (refusal and refusal.reason) == reason


def test_every_reason_has_its_own_words() -> None:
    said = {judge_device(replace(FREE, **facts), READ).what for facts in IN_USE.values()}  # type: ignore[union-attr]
    assert len(said) == len(IN_USE)


def test_the_right_identifier_is_shown_and_never_taken_for_given() -> None:
    refusal = judge_device(FREE, Intent(writing=True, destroy="S64"))
    assert refusal is not None
    assert "--destroy 'S64GNE0R'" in refusal.advice


def test_what_is_to_be_lost_is_named_as_people_know_it(host) -> None:
    node = host.disk("sda", device__model="SAMSUNG MZQL2", device__vendor="0x144d", size="7501476528")
    facts = device_tables(host.files, "/dev/sda", node)
    refusal = judge_device(facts, WRITE)
    assert refusal is not None
    assert "(SAMSUNG MZQL2, 3.84 TB)" in refusal.advice


def test_a_refusal_becomes_the_typed_error() -> None:
    refusal = judge_device(replace(FREE, claimed=True), READ)
    assert refusal is not None
    error = refusal.error("/dev/disk/by-id/x")
    assert isinstance(error, Refused)
    assert error.exit_status == 2
    assert (error.facts["reason"], error.facts["target"]) == ("claimed", "/dev/disk/by-id/x")


def judged(host, node: Path) -> str | None:
    refusal = judge_device(device_tables(host.files, f"/dev/{node.name}", node), READ)
    return refusal and refusal.reason


def test_a_mounted_partition_speaks_against_the_disk_and_its_other_partitions(host) -> None:
    disk = host.disk("sda")
    one, two = host.partition(disk, 1), host.partition(disk, 2)
    host.mount(host.number(two), "/data")
    assert [judged(host, node) for node in (disk, one, two)] == ["mounted"] * 3


def test_another_disk_is_not_concerned(host) -> None:
    disk, other = host.disk("sda"), host.disk("sdb")
    host.mount(host.number(disk), "/data")
    assert judged(host, other) is None


def test_the_disk_under_root_through_a_volume(host) -> None:
    disk = host.disk("nvme0n1")
    part = host.partition(disk, 3)
    crypt, volume = host.disk("dm-0", dm__name="luks"), host.disk("dm-1", dm__name="vg-root")
    host.hold(part, crypt)
    host.hold(crypt, volume)
    host.mount(host.number(volume), "/")
    assert judged(host, disk) == "root"
    assert judged(host, part) == "root"


def test_a_held_disk_is_refused_and_the_volume_on_top_is_not(host) -> None:
    one, two = host.disk("sda"), host.disk("sdb")
    array = host.disk("md0")
    host.hold(one, array)
    host.hold(two, array)
    assert (judged(host, one), judged(host, two)) == ("held", "held")
    assert judged(host, array) is None


def test_a_volume_beside_a_mounted_one_shares_its_disk(host) -> None:
    disk = host.disk("sda")
    free, used = host.disk("dm-0"), host.disk("dm-1")
    host.hold(disk, free)
    host.hold(disk, used)
    host.mount(host.number(used), "/srv")
    assert judged(host, free) == "mounted"


def test_swap_on_a_partition_or_a_volume(host) -> None:
    disk = host.disk("sda")
    part = host.partition(disk, 1)
    host.swap("/dev/sda1")
    assert (judged(host, disk), judged(host, part)) == ("swap", "swap")


def test_a_loop_device_on_a_disk_holds_it_though_sysfs_lists_it_nowhere(host) -> None:
    disk = host.disk("sda")
    loop = host.disk("loop7", loop__backing_file="/dev/sda")
    assert judged(host, disk) == "held"
    assert judged(host, loop) is None
    host.mount(host.number(loop), "/mnt")
    assert judged(host, disk) == "mounted"


def test_a_loop_device_on_a_mounted_disk(host) -> None:
    disk = host.disk("sda")
    loop = host.disk("loop7", loop__backing_file="/dev/sda")
    host.mount(host.number(disk), "/")
    assert judged(host, loop) == "root"
