"""Admin pages: recorded ones decode to what the drives are known to be, and nonsense to nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from machine.fake_drive import PAGES, FakeAta, FakeNvme, patched
from ssdlab.drives.admin import ata, nvme, scsi, tcg
from ssdlab.drives.admin.fields import Malformed
from ssdlab.drives.admin.port import NvmeReply
from ssdlab.drives.details import read_details
from ssdlab.host.identity import Identity
from ssdlab.model.errors import DriveError


def page(name: str) -> bytes:
    return (PAGES / name).read_bytes()


def identity(**more: object) -> Identity:
    return Identity("/dev/x", "x", "block", "ID", 1 << 20, 512, **more)


def test_identify_controller() -> None:
    told = nvme.controller(page("nvme-controller.bin"))
    assert (told.vendor_id, told.ieee_oui, told.version) == (0x1B36, "525400", "1.4")
    assert (told.serial, told.model) == ("GUEST-NVME-1", "QEMU NVMe Ctrl")
    assert (told.format, told.deallocate, told.write_cache, told.erase_crypto) == (True, True, True, False)
    assert (told.warning_c, told.critical_c) == (70, 100)
    assert not told.sanitize.any
    assert [(state.max_w, state.operational) for state in told.power_states] == [(25.0, True)]


def test_power_states_in_both_scales() -> None:
    """Base figure 276: bit 0 of byte 3 makes the unit 0.0001 W instead of 0.01 W, bit 1 non-operational."""
    content = patched(
        "nvme-controller.bin",
        {263: b"\x01", 2048 + 32: (800).to_bytes(2, "little") + b"\0\x03" + (5000).to_bytes(4, "little")},
    )
    idle = nvme.controller(content).power_states[1]
    assert (idle.max_w, idle.operational, idle.entry_us) == (0.08, False, 5000)


def test_sanitize_capabilities() -> None:
    told = nvme.controller(patched("nvme-controller.bin", {328: b"\x03\0\0\0", 524: b"\x07"}))
    assert (told.sanitize.crypto, told.sanitize.block, told.sanitize.overwrite) == (True, True, False)
    assert (told.format_all, told.erase_all, told.erase_crypto) == (True, True, True)


def test_identify_namespace() -> None:
    small, large = (
        nvme.namespace(page("nvme-namespace-512.bin")),
        nvme.namespace(page("nvme-namespace-4096.bin")),
    )
    assert [form.data_bytes for form in small.formats] == [512] * 4 + [4096] * 4
    assert [form.metadata_bytes for form in small.formats[:4]] == [0, 8, 16, 64]
    assert (small.format, large.format) == (0, 4)
    assert small.size_blocks * 512 == large.size_blocks * 4096
    assert small.deallocated_reads == "zeroes"


def test_health() -> None:
    content = patched(
        "nvme-health.bin",
        {0: b"\x05", 1: (323).to_bytes(2, "little"), 5: b"\x07", 48: (1000).to_bytes(16, "little")},
    )
    found = nvme.health(content)
    assert (found.temperature_c, found.used_pct, found.written_bytes) == (50, 7, 512_000_000)
    assert found.warnings == ("spare is low", "reliability degraded")


@pytest.mark.parametrize(
    ("status", "state", "share"),
    [(0x0000, "never", 1.0), (0x0101, "done", 1.0), (0x0002, "running", 0.25), (0x0003, "failed", 1.0)],
)
def test_sanitize_log(status: int, state: str, share: float) -> None:
    content = (16384).to_bytes(2, "little") + status.to_bytes(2, "little") + b"\x02\0\0\0" + b"\xff" * 12
    found = nvme.sanitize_status(content.ljust(512, b"\0"))
    assert (found.state, found.share, found.erased) == (state, share, status == 0x0101)
    assert found.block_s is None


def test_lists_of_namespaces() -> None:
    assert nvme.active_namespaces(b"\x01\0\0\0\x05\0\0\0".ljust(64, b"\0")) == (1, 5)
    assert nvme.active_namespaces(b"\x05\0\0\0\x01\0\0\0") == (5,)  # not ascending: nonsense from there on
    assert nvme.command_set(b"\x01\x08\0\0" + b"\xaa" * 8 + b"\x04\x01\0\0\x02") == "zoned"
    assert nvme.command_set(bytes(64)) is None


@pytest.mark.parametrize("content", [b"", bytes(4096), b"\xff" * 4096, b"\x01\x02" * 100])
@pytest.mark.parametrize("decode", [nvme.controller, nvme.namespace, nvme.health, nvme.sanitize_status])
def test_nonsense_is_not_decoded(decode, content: bytes) -> None:
    with pytest.raises(Malformed):
        decode(
            content[
                : 200 if decode in (nvme.health, nvme.sanitize_status) and len(set(content)) > 1 else None
            ]
        )


def test_ata_identify() -> None:
    told = ata.device(page("ata-identify.bin"))
    assert (told.model, told.serial, told.capacity_bytes) == ("GUEST-SATA-SSD", "GUEST-SATA-1", 256 << 20)
    assert (told.solid_state, told.trim, told.write_cache_enabled) == (True, True, True)
    assert (told.security.supported, told.sanitize, told.zoned) == (False, False, None)


def test_ata_security_and_smr() -> None:
    frozen = ata.device(FakeAta(frozen=True).scsi(ata.identify_cdb()).data)
    assert (frozen.security.supported, frozen.security.frozen, frozen.security.enhanced) == (True, True, True)
    assert frozen.security.erase_minutes == 2
    shingled = patched("ata-identify.bin", {138: b"\x02\0", 510: b"\0\0"})
    assert ata.device(shingled).zoned == "device-managed"


def test_a_wrong_checksum_is_no_answer() -> None:
    with pytest.raises(Malformed, match="checksum"):
        ata.device(patched("ata-identify.bin", {510: b"\xa5\x01"}))


def test_ata_statistics_count_only_when_valid() -> None:
    wear = bytearray(512)
    wear[2], wear[8], wear[15] = 7, 12, 0xC0
    assert ata.statistics({7: bytes(wear)}, 512).used_pct == 12
    wear[15] = 0x80  # supported, not valid
    assert ata.statistics({7: bytes(wear)}, 512).used_pct is None


def test_sense_data() -> None:
    fixed = bytes([0x70, 0, 0x02, 0, 0, 0, 0, 10, 0, 0, 0, 0, 0x04, 0x1B, 0, 0x80, 0x40, 0x00])
    found = scsi.sense(fixed)
    assert found is not None
    assert (found.working, found.share) == ("sanitize", 0.25)
    refused = scsi.sense(bytes([0x72, 0x05, 0x20, 0x00, 0, 0, 0, 0]))
    assert refused is not None and (refused.key, refused.code, refused.working) == (5, 0x20, None)
    assert scsi.sense(b"") is None


def test_each_question_stands_alone(tmp_path: Path) -> None:
    """A drive that answers one page with nonsense still has all its others."""

    class Confused(FakeNvme):
        def _identify(self, cns: int) -> bytes:
            return bytes(4096) if cns == 0 else super()._identify(cns)

    found = read_details(identity(nsid=1), tmp_path, Confused())
    assert found.nvme is not None
    assert found.nvme.controller is not None
    assert found.nvme.namespace is None
    assert found.unanswered == (("namespace", "Identify Namespace holds nothing but 00h"),)


def test_without_privilege_every_question_is_named(tmp_path: Path) -> None:
    class Closed(FakeNvme):
        def nvme(self, opcode: int, **_: object) -> NvmeReply:
            raise DriveError("/dev/x: NVMe command 06h failed: Permission denied", "run as root")

    found = read_details(identity(nsid=1), tmp_path, Closed())
    assert found.nvme is not None
    assert found.nvme.controller is None
    assert len(found.unanswered) == 5
    assert all("Permission denied" in why for _, why in found.unanswered)


def discovery(flags: int, *codes: int) -> bytes:
    """A Level 0 Discovery reply: header, the Locking feature, and the features of these codes."""
    features = b"\0\x02\x10\x0c" + bytes([flags]) + bytes(11)
    features += b"".join(code.to_bytes(2, "big") + b"\x10\x10" + bytes(16) for code in codes)
    header = (44 + len(features)).to_bytes(4, "big") + bytes(44)
    return (header + features).ljust(512, b"\0")


def test_whether_a_drive_is_locked() -> None:
    off = tcg.locking(discovery(0x09, 0x0203))
    assert (off.rules, off.supported, off.enabled, off.locked) == (("Opal 2",), True, False, False)
    locked = tcg.locking(discovery(0x1F, 0x0303, 0x0203))
    assert (locked.rules, locked.locked, locked.shadow) == (("Pyrite 2", "Opal 2"), True, True)
    assert tcg.locking(discovery(0x3B)).shadow is False, "its boot is done"
    for nonsense in (b"", bytes(512), discovery(1)[:50], b"\xff" * 512):
        with pytest.raises(Malformed):
            tcg.locking(nonsense)


def test_security_is_asked_where_the_controller_has_it(host) -> None:
    class Opal(FakeNvme):
        def nvme(self, opcode: int, **more) -> NvmeReply:
            if opcode == nvme.SECURITY_RECEIVE:
                assert more["cdw"] == (0x01000100, 512)
                return NvmeReply(0, 0, discovery(0x07, 0x0203))
            reply = super().nvme(opcode, **more)
            if opcode == nvme.IDENTIFY and more["cdw"][0] == nvme.CNS_CONTROLLER:
                page = bytearray(reply.data)
                page[256] |= 1
                return NvmeReply(0, 0, bytes(page))
            return reply

    node = host.disk("nvme0n1", nsid="1")
    found = read_details(identity(nsid=1), node, Opal())
    assert found.nvme is not None
    assert found.nvme.security is not None
    assert found.nvme.security.locked
    refused = read_details(identity(nsid=1), node, FakeNvme())
    assert refused.nvme is not None
    assert refused.nvme.security is None
