"""The guard's rules as a table, then its facts on machines made of files."""

from __future__ import annotations

import itertools
import os
from dataclasses import replace
from pathlib import Path

import pytest

from ssdlab.drives.admin.port import ToolReply
from ssdlab.drives.guard import device_facts as gathering
from ssdlab.drives.guard import usage
from ssdlab.drives.guard.device_facts import device_facts, device_tables, held_facts
from ssdlab.drives.guard.judge import DeviceFacts, Intent, Refusal, judge_device
from ssdlab.drives.guard.signatures import Signature, read_signatures
from ssdlab.drives.guard.usage import Use
from ssdlab.host.chain import Loop
from ssdlab.host.openers import Opened, Opener
from ssdlab.model.errors import DriveError, Refused

FREE = DeviceFacts(
    path="/dev/nvme0n1", name="nvme0n1", disk="nvme0n1", consent_id="S64GNE0R", capacity_bytes=1 << 30
)
READ = Intent()
WRITE = Intent(writing=True)
CONSENT = Intent(writing=True, destroy="S64GNE0R")

IN_USE = {
    "root": {"mounts": (Use("nvme0n1p1", "/data"), Use("nvme0n1p2", "/"))},
    "mounted": {"mounts": (Use("nvme0n1p1", "/data"),)},
    "swap": {"swaps": (Use("nvme0n1p3", "/dev/nvme0n1p3"),)},
    "held": {"holders": (Use("nvme0n1p1", "vg-home"),)},
    "open": {"openers": (Opener(4711, "fio", True),)},
    "claimed": {"claimed": True},
    "empty": {"capacity_bytes": 0},
    "permission": {"permitted": False},
    "fault": {"fault": "Input/output error"},
    "zoned": {"zoned": "host-managed"},
}
EXT4 = Signature("ext4", "filesystem", 0x438, 2)


@pytest.mark.parametrize("intent", [READ, WRITE, CONSENT], ids=["read", "write", "consent"])
@pytest.mark.parametrize("reason", IN_USE)
def test_in_use_is_refused_whatever_is_intended(reason: str, intent: Intent) -> None:
    refusal = judge_device(replace(FREE, **IN_USE[reason]), intent)
    assert refusal is not None
    assert refusal.reason == reason
    assert "/dev/nvme0n1" in refusal.what
    assert refusal.advice
    assert "S64GNE0R" not in refusal.advice, "the identifier is no way round a device in use"


@pytest.mark.parametrize("intent", [WRITE, Intent(writing=True, destroy="OTHER")], ids=["none", "wrong"])
def test_all_that_has_to_be_given_is_told_at_once(intent: Intent) -> None:
    refusal = judge_device(replace(FREE, signatures=(EXT4,)), intent)
    assert refusal is not None
    assert EXT4.words in refusal.advice
    assert refusal.advice.endswith("--destroy 'S64GNE0R' --wipe-signatures")
    bare = judge_device(FREE, intent)
    assert bare is not None
    assert bare.advice.endswith("--destroy 'S64GNE0R'")


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
        (replace(FREE, signatures=(EXT4,)), READ, None),
        (replace(FREE, signatures=(EXT4,)), WRITE, "no-consent"),
        (replace(FREE, signatures=(EXT4,)), CONSENT, "signature"),
        (replace(FREE, signatures=(EXT4,)), replace(CONSENT, wipe_signatures=True), None),
        (replace(FREE, signatures=(EXT4,)), replace(WRITE, wipe_signatures=True), "no-consent"),
        (replace(FREE, signatures_unknown="no wipefs"), CONSENT, "signatures-unknown"),
        (replace(FREE, signatures_unknown="no wipefs"), replace(CONSENT, wipe_signatures=True), None),
        (replace(FREE, twins=("/dev/sdb",)), READ, None),
        (replace(FREE, twins=("/dev/sdb",)), CONSENT, "multipath"),
    ],
)
def test_consent(facts: DeviceFacts, intent: Intent, reason: str | None) -> None:
    refusal = judge_device(facts, intent)
    assert (refusal and refusal.reason) == reason


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("lvm", "lvchange -an vg/home"),
        ("crypt", "cryptsetup close vg-home"),
        ("multipath", "name /dev/mapper/vg-home instead"),
        ("dm", "dmsetup remove vg-home"),
        ("md", "mdadm --stop /dev/vg-home"),
        ("bcache", "/sys/block/vg-home/bcache/stop"),
        ("loop", "losetup -d /dev/vg-home"),
        ("", "deactivate that volume"),
    ],
)
def test_each_kind_of_volume_is_told_how_to_be_taken_down(kind: str, words: str) -> None:
    refusal = judge_device(replace(FREE, holders=(Use("nvme0n1", "vg-home", kind),)), CONSENT)
    assert refusal is not None
    assert refusal.reason == "held"
    assert words in refusal.advice


def test_an_identifier_of_another_device_is_told_whose_it_is() -> None:
    refusal = judge_device(
        replace(FREE, named="the other namespace /dev/nvme0n2"), Intent(writing=True, destroy="S64GNE0S")
    )
    assert refusal is not None
    assert refusal.what == (
        "--destroy 'S64GNE0S' is the identifier of the other namespace /dev/nvme0n2, not of /dev/nvme0n1"
    )


def test_every_reason_has_its_own_words() -> None:
    said = {judge_device(replace(FREE, **facts), READ).what for facts in IN_USE.values()}  # type: ignore[union-attr]
    assert len(said) == len(IN_USE)


def test_the_right_identifier_is_shown_and_never_taken_for_given() -> None:
    refusal = judge_device(FREE, Intent(writing=True, destroy="S64"))
    assert refusal is not None
    assert "--destroy 'S64GNE0R'" in refusal.advice


def test_what_is_to_be_lost_is_named_as_people_know_it(host) -> None:
    node = host.disk("sda", device__model="SAMSUNG MZQL2", device__vendor="0x144d", size="7501476528")
    facts = device_tables(host.files, "/dev/sda", node, WRITE)
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
    refusal = objection(host, node)
    return refusal and refusal.reason


def objection(host, node: Path, intent: Intent = READ) -> Refusal | None:
    return judge_device(device_tables(host.files, f"/dev/{node.name}", node, intent), intent)


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


def test_where_the_use_lies_is_told(host) -> None:
    disk = host.disk("sda")
    one, two = host.partition(disk, 1), host.partition(disk, 2)
    host.mount(host.number(one), "/data")
    said = [objection(host, node).what for node in (disk, one, two)]  # type: ignore[union-attr]
    assert said == [
        "/dev/sda is in use: its partition sda1 is mounted at /data",
        "/dev/sda1 is in use: it is mounted at /data",
        "/dev/sda2 is in use: sda1 (a partition beside it) is mounted at /data",
    ]


def test_kinds_of_volumes_are_known_by_their_uuid_and_name(host) -> None:
    for name, attributes, kind in (
        ("dm-0", {"dm__uuid": "LVM-abc", "dm__name": "vg-home"}, "logical volume vg-home"),
        ("dm-1", {"dm__uuid": "CRYPT-LUKS2-abc", "dm__name": "safe"}, "encrypted volume safe"),
        ("dm-2", {"dm__uuid": "mpath-3600", "dm__name": "mpatha"}, "multipath device mpatha"),
        ("dm-3", {"dm__name": "flaky"}, "device mapper volume flaky"),
        ("md7", {"md__level": "raid1"}, "array md7"),
        ("bcache0", {}, "bcache0 of bcache"),
    ):
        disk = host.disk(f"sd{name}")
        host.hold(disk, host.disk(name, **attributes))
        refusal = objection(host, disk)
        assert refusal is not None
        assert kind in refusal.what


@pytest.mark.parametrize("point", ["/boot", "/boot/efi", "/usr"])
def test_what_the_system_needs_to_start(host, point: str) -> None:
    disk = host.disk("sda")
    host.mount(host.number(host.partition(disk, 1)), point)
    refusal = objection(host, disk)
    assert refusal is not None
    assert refusal.reason == "root"
    assert refusal.what.endswith(f"its partition sda1 is mounted at {point}")


def test_zoned_drives_by_the_kernel_and_by_what_the_drive_says(host) -> None:
    ata = bytearray(60 + 512)
    ata[60 + 138] = 2
    for attributes, model in (
        ({"queue__zoned": "host-managed"}, "host-managed"),
        ({"queue__zoned": "host-aware"}, "host-aware"),
        ({"queue__zoned": "none", "device__vpd_pgb1": bytes(8) + b"\x10" + bytes(55)}, "host-aware"),
        ({"queue__zoned": "none", "device__vpd_pg89": bytes(ata)}, "device-managed"),
    ):
        disk = host.disk(f"sd{len(list((host.root / 'sys/block').iterdir()))}", **attributes)
        refusal = objection(host, disk)
        assert refusal is not None
        assert (refusal.reason, model in refusal.what) == ("zoned", True)
    ordinary = host.disk("sdz", queue__zoned="none", device__vpd_pgb1=bytes(64))
    assert judged(host, ordinary) is None


def test_two_paths_to_one_drive_are_not_written(host) -> None:
    same = {"device__wwid": "naa.5000c500a1b2c3d4"}
    one, two = host.disk("sda", **same), host.disk("sdb", **same)
    host.disk("sdc", size="4096", **same)
    refusal = objection(host, one, Intent(writing=True, destroy="sda"))
    assert refusal is not None
    assert (refusal.reason, "/dev/sdb" in refusal.what) == ("multipath", True)
    assert judged(host, two) is None, "reading hurts neither"


def test_bridges_that_share_a_name_are_not_two_paths(host) -> None:
    same = {"device__wwid": "t10.Bridge 0123"}
    one = host.disk("sda", under="pci/usb1/1-1/host0/target0/block", **same)
    host.disk("sdb", under="pci/usb1/1-2/host1/target1/block", **same)
    assert objection(host, one, Intent(writing=True, destroy="sda")) is None


def test_the_identifier_of_another_disk_of_this_host(host) -> None:
    one = host.disk("sda", device__serial="A1B2")
    other = host.disk("sdb", device__serial="B1C2")
    host.partition(other, 1)
    for given, whose in (("B1C2", "/dev/sdb"), ("B1C2-part1", "/dev/sdb1")):
        refusal = objection(host, one, Intent(writing=True, destroy=given))
        assert refusal is not None
        assert f"is the identifier of {whose}, not of /dev/sda" in refusal.what


def test_a_volume_says_what_it_stands_on(host) -> None:
    array = host.disk("md0", md__level="raid1")
    host.hold(host.disk("sda"), array)
    refusal = objection(host, array, WRITE)
    assert refusal is not None
    assert "/dev/md0 (an md array on sda) would be overwritten" in refusal.what


def test_a_volume_without_uuid_is_named_by_its_own_name(host) -> None:
    refusal = objection(host, host.disk("dm-4", dm__name="flaky"), WRITE)
    assert refusal is not None
    assert "--destroy 'flaky'" in refusal.advice


def test_signatures_are_not_looked_for_where_nothing_is_written(host, monkeypatch) -> None:
    def never(*_: object) -> None:
        raise AssertionError("nothing is to be written")

    monkeypatch.setattr(gathering, "read_signatures", never)
    node = host.disk("sda")
    device_facts(host.files, "/dev/null", node, READ)


class Told:
    """A drive of which `wipefs` says what it is told to."""

    def __init__(self, output: str, status: int = 0) -> None:
        self.output, self.status = output, status

    def tool(self, *arguments: str, limit_s: float) -> ToolReply:
        assert arguments[0] == "wipefs" and arguments[-1] == "/dev/sda" and limit_s > 0
        return ToolReply(arguments, self.status, self.output)


# What util-linux 2.38 tells of a disk with a GPT, and a file system that was there before.
ON_A_DISK = """{"signatures": [
  {"offset": "0x200", "length": 8, "type": "gpt", "usage": "partition-table", "label": null},
  {"offset": "0x7ffe00", "length": 8, "type": "gpt", "usage": "partition-table", "label": null},
  {"offset": "0x1fe", "length": 2, "type": "PMBR", "usage": "partition-table", "label": null},
  {"offset": "0x438", "length": 2, "type": "ext4", "usage": "filesystem", "label": "backup"}
]}"""


def test_signatures_are_those_that_wipefs_tells_of_the_weightiest_first() -> None:
    assert read_signatures(Path("/dev/sda"), Told(ON_A_DISK)) == (
        Signature("ext4", "filesystem", 1080, 2, "backup"),
        Signature("gpt", "partition-table", 512, 8),
        Signature("gpt", "partition-table", 0x7FFE00, 8),
        Signature("PMBR", "partition-table", 510, 2),
    )


@pytest.mark.parametrize("nothing", ["", '{"signatures": []}'])
def test_a_drive_without_signatures_has_none(nothing: str) -> None:
    assert read_signatures(Path("/dev/sda"), Told(nothing)) == ()


@pytest.mark.parametrize(
    "reply",
    [
        Told(ON_A_DISK, 1),
        Told("{"),
        Told('{"signatures": [{"offset": "0x200"}]}'),
        Told('{"signatures": null}'),
        Told("[1]"),
    ],
    ids=["status", "cut", "less", "null", "other"],
)
def test_an_answer_that_makes_no_sense_is_not_taken_for_none(reply: Told) -> None:
    with pytest.raises(DriveError) as caught:
        read_signatures(Path("/dev/sda"), reply)
    assert caught.value.facts["reason"] == "signatures-unknown"


def seen(host, *openers: Opener, number: int = 0) -> usage.Seen:
    return usage.Seen(usage.read_tables(host.files), Opened(devices={number: openers}))


def test_each_look_is_a_whole_one(host, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who has it open goes, and has mounted it meanwhile: the second look reads the tables again."""
    node = host.disk("sda")
    major, minor = map(int, host.number(node).split(":"))

    def look_around(_: object) -> usage.Seen:
        looks.append(1)
        if len(looks) == 1:
            return seen(host, Opener(7, "mount", True), number=os.makedev(major, minor))
        host.mount(host.number(node), "/data")
        return seen(host)

    looks: list[int] = []
    monkeypatch.setattr(gathering, "look_around", look_around)
    monkeypatch.setattr(usage, "claimed", lambda *_: False)
    refusal = judge_device(device_facts(host.files, "/dev/sda", node, READ), READ)
    assert refusal is not None
    assert refusal.reason == "mounted"


@pytest.mark.parametrize(("writing", "reason"), [(False, None), (True, "open")])
def test_who_passes_by_does_not_count_unless_it_writes(
    host, monkeypatch: pytest.MonkeyPatch, writing: bool, reason: str | None
) -> None:
    """A reader in each look, and each time another process."""
    node = host.disk("sda")
    number = os.makedev(*map(int, host.number(node).split(":")))
    pids = itertools.count(100)
    monkeypatch.setattr(
        gathering, "look_around", lambda _: seen(host, Opener(next(pids), "x", writing), number=number)
    )
    monkeypatch.setattr(usage, "claimed", lambda *_: False)
    monkeypatch.setattr(gathering, "_LOOK_AGAIN_S", 0.001)
    patience_s = 0.05 if writing else 60  # who only passes by is told by a second look, however late that is
    for gather in (device_facts, held_facts):
        refusal = judge_device(gather(host.files, "/dev/sda", node, READ, patience_s=patience_s), READ)
        assert (refusal and refusal.reason) == reason
    monkeypatch.setattr(gathering, "look_around", lambda _: seen(host, Opener(7, "x", False), number=number))
    refusal = judge_device(device_facts(host.files, "/dev/sda", node, READ, patience_s=0.05), READ)
    assert refusal is not None
    assert refusal.reason == "open", "who stays does"


def test_tables_that_change_under_the_look_are_read_again(host, monkeypatch: pytest.MonkeyPatch) -> None:
    """A loop device is attached after its table was read and before its process ended."""
    tables = usage.read_tables(host.files)
    changed = replace(tables, loops=(Loop("loop7", device="8:0"),))
    answers = iter([tables, changed, changed])
    monkeypatch.setattr(usage, "read_tables", lambda _: next(answers))
    assert usage.look_around(host.files).tables == changed
    assert next(answers, None) is None
