"""Drives to which Linux gives no size: they are listed with the reason, and a run formats a namespace."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from machine.fake_drive import FakeNvme, patched
from ssdlab.drives import list_drives
from ssdlab.drives.admin import nvme
from ssdlab.drives.admin.port import NvmeReply
from ssdlab.drives.guard.judge import DeviceFacts, Intent, judge_device
from ssdlab.drives.guard.signatures import Signature
from ssdlab.drives.opening import Look
from ssdlab.drives.settings import DriveSettings, lba_format
from ssdlab.drives.settings.lba_format import sized
from ssdlab.host.identity import block_identity
from ssdlab.lab.found import find_method
from ssdlab.model.errors import DriveError, HostError, Refused
from ssdlab.runs import order as ordering
from ssdlab.runs.conditions.variant import Variant
from ssdlab.runs.order import Order, plan_order

EMPTY = DeviceFacts(
    "/dev/nvme0n1", "nvme0n1", "nvme0n1", "S64GNE0R", capacity_bytes=0, blocks="nvme", label="SSD, 0 B"
)
CONSENT = Intent(writing=True, destroy="S64GNE0R")
EXT4 = Signature("ext4", "filesystem", 0x438, 2)
FORMATS = replace(CONSENT, formats=True)


class WithMetadata(FakeNvme):
    """Its blocks have metadata until they are formatted; then the kernel sees them, unless it is `blind`."""

    def __init__(self, node: Path, *, blind: bool = False, blocks: int = 1000) -> None:
        super().__init__()
        self.node, self.blind, self.blocks, self.used = node, blind, blocks, 5

    def nvme(self, opcode: int, **given: Any) -> NvmeReply:
        if opcode == nvme.FORMAT:
            self.used = given["cdw"][0] & 0xF
            if not self.blind:
                (self.node / "size").write_text("8000\n")
        if opcode == nvme.IDENTIFY and given["cdw"][0] == nvme.CNS_NAMESPACE:
            sizes = self.blocks.to_bytes(8, "little") * 3
            return NvmeReply(0, 0, patched("nvme-namespace-512.bin", {0: sizes, 26: bytes([self.used])}))
        return super().nvme(opcode, **given)


def empty_namespace(host: Any) -> Path:
    more = {"size": "0", "nsid": "1", "wwid": "eui.0025385991b0a1c2", "queue__logical_block_size": "4096"}
    node: Path = host.disk("nvme0n1", "pci0000:00/nvme/nvme0", **more)
    return node


def test_they_are_listed_with_the_reason_and_the_way_out(host) -> None:
    empty_namespace(host)
    fixed = {"size": "0", "removable": "0", "device__scsi_level": "7", "serial": "A1B2C3"}
    host.disk("sda", **fixed)
    host.disk("sdb", **{**fixed, "removable": "1"})
    for name in ("loop7", "nbd0", "ram3", "zram0"):
        host.disk(name, size="0")
    found = {each.identity.name: each.reading for each in list_drives(host.files) if each.identity}
    assert set(found) == {"nvme0n1", "sda", "sdb", "zram0"}
    assert {each.reason for each in found.values() if each is not None} == {"empty"}
    told = {name: f"{each.what} | {each.advice}" for name, each in found.items() if each is not None}
    assert "metadata" in told["nvme0n1"]
    assert "--lba-format 4k --destroy 'eui.0025385991b0a1c2'" in told["nvme0n1"]
    assert "520 bytes" in told["sda"] and "sg_format" in told["sda"]
    assert "no medium" in told["sdb"] and "no medium" in told["zram0"]


@pytest.mark.parametrize(
    ("facts", "intent", "reason"),
    [
        (EMPTY, Intent(), "empty"),
        (EMPTY, CONSENT, "empty"),
        (EMPTY, FORMATS, None),
        (EMPTY, replace(FORMATS, destroy=None), "no-consent"),
        (EMPTY, replace(FORMATS, destroy="OTHER"), "wrong-consent"),
        (replace(EMPTY, blocks="scsi"), FORMATS, "empty"),
        (replace(EMPTY, blocks=None), FORMATS, "empty"),
        (replace(EMPTY, claimed=True), FORMATS, "claimed"),
        (replace(EMPTY, read_only=True), FORMATS, "read-only"),
        (replace(EMPTY, capacity_bytes=1 << 30, signatures=(EXT4,)), FORMATS, "signature"),
    ],
)
def test_only_a_namespace_that_is_formatted_first_may_be_without(
    facts: DeviceFacts, intent: Intent, reason: str | None
) -> None:
    refusal = judge_device(facts, intent)
    assert (refusal and refusal.reason) == reason


def test_a_format_is_waited_for_until_there_is_a_size(host, monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernel has had the block's size all along."""
    monkeypatch.setattr(lba_format, "_KERNEL_LIMIT_S", 0.1)
    node = empty_namespace(host)
    who = block_identity(host.files, node)
    blind = DriveSettings(who, node, WithMetadata(node, blind=True), host.files).find("lba_format")
    assert blind.read() == "4096+8"
    with pytest.raises(HostError, match="the kernel does not see it"):
        blind.write("4096")
    seen = DriveSettings(who, node, WithMetadata(node), host.files).find("lba_format")
    seen.write(seen.meant("4k"))
    assert (seen.read(), block_identity(host.files, node).capacity_bytes) == ("4096", 8000 * 512)


def test_it_is_planned_with_the_size_that_the_drive_says(host) -> None:
    node = empty_namespace(host)
    who = block_identity(host.files, node)
    assert sized(who, WithMetadata(node)) == replace(who, capacity_bytes=1000 * 4096)
    other = replace(who, capacity_bytes=512)
    assert sized(other, WithMetadata(node)) is other
    for blocks in (0, 2**64 - 1):
        with pytest.raises(DriveError, match="reports no valid size"):
            sized(who, WithMetadata(node, blocks=blocks))


@pytest.mark.parametrize("variant", [Variant(), Variant(lba_format="4k")])
def test_a_plan_says_what_a_run_says(host, monkeypatch: pytest.MonkeyPatch, variant: Variant) -> None:
    refusal = judge_device(EMPTY, Intent())
    assert refusal is not None
    who = block_identity(host.files, empty_namespace(host))
    asked: list[dict[str, Any]] = []

    def look(_: str, **given: Any) -> Look:
        asked.append(given)
        return Look(who, True, refusal, refusal)

    monkeypatch.setattr(ordering, "look", look)
    method = find_method("peak-random-read")
    with pytest.raises(Refused) as caught:
        plan_order(Order(method, method.params(), "/dev/nvme0n1", variant=variant))
    assert caught.value.what == refusal.what and caught.value.facts["reason"] == "empty"
    assert asked[0]["formats"] == variant.destroys
