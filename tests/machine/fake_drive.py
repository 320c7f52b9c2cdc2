"""Drives that exist nowhere: recorded admin pages with single fields changed, behind `admin.port`.

`FakeNvme` and `FakeAta` keep their data in memory and do what a drive does with it; faults are parameters.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from ssdlab.drives.admin.port import NvmeReply, ScsiReply, ToolReply
from ssdlab.model.errors import HostError

PAGES = Path(__file__).parents[1] / "drives" / "pages"
INVALID_OPCODE, INVALID_FIELD = 0x4001, 0x4002


def patched(name: str, changes: dict[int, bytes]) -> bytes:
    """A recorded page with some bytes replaced, by offset."""
    page = bytearray((PAGES / name).read_bytes())
    for at, content in changes.items():
        page[at : at + len(content)] = content
    return bytes(page)


@dataclass
class FakeNvme:
    """An NVMe drive of one controller; `media` is what its namespace holds.

    `sanicap`, `fna` as in Identify Controller. `sanitize_steps`: log reads until a sanitize ends; `outcome`
    1 done, 3 failed; `stuck`: its progress never moves. `lies`: format and sanitize report success and erase
    nothing.
    """

    sanicap: int = 0
    fna: int = 0
    npss: int = 0
    siblings: int = 0
    sanitize_steps: int = 3
    outcome: int = 1
    stuck: bool = False
    lies: bool = False
    format_status: int = 0
    feature_status: int = 0
    feature_lies: bool = False
    media: bytearray = field(default_factory=lambda: bytearray(1 << 20))
    features: dict[int, int] = field(default_factory=lambda: {0x02: 0, 0x06: 1})
    commands: list[tuple[int, int, tuple[int, ...]]] = field(default_factory=list)
    sanitize_state: int = 0
    sanitize_left: int = 0
    sanitize_action: int = 0
    estimates_s: tuple[int, int, int] = (0xFFFFFFFF,) * 3
    """Of overwriting, block and crypto erase; as it stands, it gives none."""

    def nvme(
        self, opcode: int, *, nsid: int = 0, cdw: Sequence[int] = (), read_bytes: int = 0, limit_s: float = 0
    ) -> NvmeReply:
        words = tuple(cdw)
        self.commands.append((opcode, nsid, words))
        match opcode:
            case 0x06:
                return NvmeReply(0, 0, self._identify(words[0]))
            case 0x02:
                return self._log(words[0] & 0xFF)
            case 0x0A:
                return NvmeReply(0, self.features[words[0] & 0xFF])
            case 0x09:
                if not self.feature_status and not self.feature_lies:
                    self.features[words[0] & 0xFF] = words[1]
                return NvmeReply(self.feature_status)
            case 0x80:
                if not self.format_status:
                    self._erase()
                return NvmeReply(self.format_status)
            case 0x84 if self.sanicap:
                self.sanitize_state, self.sanitize_left = 2, self.sanitize_steps
                self.sanitize_action = words[0]
                return NvmeReply(0)
        return NvmeReply(INVALID_OPCODE)

    def scsi(self, cdb: bytes, *, read_bytes: int = 0, data: bytes = b"", limit_s: float = 0) -> ScsiReply:
        raise AssertionError("an NVMe drive was sent a SCSI command")

    def tool(self, *arguments: str, limit_s: float) -> ToolReply:
        raise AssertionError(f"no program is needed for an NVMe drive: {arguments}")

    def _identify(self, cns: int) -> bytes:
        match cns:
            case 0x01:
                changes = {
                    328: self.sanicap.to_bytes(4, "little"),
                    524: bytes([self.fna]),
                    263: bytes([self.npss]),
                }
                for state in range(1, self.npss + 1):
                    watts = (1000, 300)[state - 1]  # hundredths of a watt
                    changes[2048 + 32 * state] = watts.to_bytes(2, "little")
                return patched("nvme-controller.bin", changes)
            case 0x00:
                return patched("nvme-namespace-512.bin", {})
            case 0x02:
                active = range(1, self.siblings + 2)
                return b"".join(n.to_bytes(4, "little") for n in active).ljust(4096, b"\0")
        return patched("nvme-descriptors.bin", {})

    def _log(self, identifier: int) -> NvmeReply:
        if identifier == 0x02:
            return NvmeReply(0, 0, patched("nvme-health.bin", {}))
        if identifier != 0x81 or not self.sanicap:
            return NvmeReply(0x4109)
        if self.sanitize_state == 2 and not self.stuck:
            self.sanitize_left -= 1
            if self.sanitize_left <= 0:
                self.sanitize_state = self.outcome
                if self.outcome == 1:
                    self._erase()
        running = self.sanitize_state == 2
        share = (
            65535
            if not running
            else 65536 * (self.sanitize_steps - self.sanitize_left) // self.sanitize_steps
        )
        page = share.to_bytes(2, "little") + self.sanitize_state.to_bytes(2, "little")
        page += self.sanitize_action.to_bytes(4, "little")
        page += b"".join(seconds.to_bytes(4, "little") for seconds in self.estimates_s)
        return NvmeReply(0, 0, page.ljust(512, b"\0"))

    def _erase(self) -> None:
        if not self.lies:
            self.media[:] = bytes(len(self.media))


@dataclass
class FakeAta:
    """A SATA drive and the `hdparm` that talks to it, which ends with 0 whatever the drive answered."""

    supported: bool = True
    frozen: bool = False
    locked: bool = False
    enhanced: bool = True
    password: str | None = None
    lies: bool = False
    keeps_password: bool = False
    cache: bool = True
    cache_stuck: bool = False
    installed: bool = True
    erase_word: int = 1
    media: bytearray = field(default_factory=lambda: bytearray(1 << 20))
    calls: list[tuple[str, ...]] = field(default_factory=list)

    def nvme(self, opcode: int, **_: object) -> NvmeReply:
        raise AssertionError("a SATA drive was sent an NVMe command")

    def scsi(self, cdb: bytes, *, read_bytes: int = 0, data: bytes = b"", limit_s: float = 0) -> ScsiReply:
        if cdb[0] != 0x85:
            return ScsiReply(2)
        if cdb[14] == 0xEC:
            return ScsiReply(0, b"", self._identify())
        if cdb[14] == 0xEF:
            self.cache = self.cache if self.cache_stuck else cdb[4] == 0x02
            return ScsiReply(0)
        return ScsiReply(2)

    def tool(self, *arguments: str, limit_s: float) -> ToolReply:
        self.calls.append(arguments)
        if not self.installed:
            raise HostError("hdparm is not installed", "apt install hdparm", reason="no-tool", tool="hdparm")
        words = dict(pairwise(arguments))
        if self.supported and not self.frozen and not self.locked:
            if "--security-set-pass" in words:
                self.password = words["--security-set-pass"]
            for order in ("--security-erase", "--security-erase-enhanced"):
                if order in words and words[order] == self.password and not self.lies:
                    self.media[:] = bytes(len(self.media))
                    self.password = self.password if self.keeps_password else None
            if words.get("--security-disable") == self.password and not self.keeps_password:
                self.password = None
        if self.locked and words.get("--security-unlock") == self.password:
            self.locked = False
        return ToolReply(arguments, 0, "")

    def _identify(self) -> bytes:
        def word(value: int) -> bytes:
            return value.to_bytes(2, "little")

        base = (PAGES / "ata-identify.bin").read_bytes()
        w82 = int.from_bytes(base[164:166], "little") | (2 if self.supported else 0)
        w85 = (
            int.from_bytes(base[170:172], "little") & ~0x22 | (2 if self.password else 0) | 0x20 * self.cache
        )
        state = (
            self.supported
            | bool(self.password) << 1
            | self.locked << 2
            | self.frozen << 3
            | self.enhanced << 5
        )
        changes = {
            164: word(w82),
            170: word(w85),
            256: word(state if self.supported else 0),
            178: word(self.erase_word),
        }
        return patched("ata-identify.bin", {**changes, 180: word(self.erase_word), 510: bytes(2)})


@dataclass
class FakeScsi:
    """A SAS drive. `steps`: answers to REQUEST SENSE until an erase ends; `outcome` is the sense key then."""

    commands: tuple[int, ...] = (0x48, 0x04)
    steps: int = 3
    outcome: int = 0
    refuses: bool = False
    media: bytearray = field(default_factory=lambda: bytearray(1 << 20))
    sent: list[bytes] = field(default_factory=list)
    left: int = 0
    working: int = 0

    def nvme(self, opcode: int, **_: object) -> NvmeReply:
        raise AssertionError("a SAS drive was sent an NVMe command")

    def tool(self, *arguments: str, limit_s: float) -> ToolReply:
        raise AssertionError(f"no program is needed for a SAS drive: {arguments}")

    def scsi(self, cdb: bytes, *, read_bytes: int = 0, data: bytes = b"", limit_s: float = 0) -> ScsiReply:
        self.sent.append(cdb)
        match cdb[0]:
            case 0xA3:
                return ScsiReply(0, b"", bytes([0, 3 if cdb[3] in self.commands else 1, 0, 10]))
            case 0x48 | 0x04 if self.refuses:
                return ScsiReply(2, bytes([0x72, 0x05, 0x20, 0, 0, 0, 0, 0]))
            case 0x48 | 0x04:
                self.working, self.left = (0x1B if cdb[0] == 0x48 else 0x04), self.steps
                return ScsiReply(0)
            case 0x03:
                return ScsiReply(0, b"", self._sense())
        return ScsiReply(2)

    def _sense(self) -> bytes:
        self.left -= 1
        if self.working and self.left > 0:
            done = 65536 * (self.steps - self.left) // self.steps
            progress = bytes([0x80]) + done.to_bytes(2, "big")
            return bytes([0x70, 0, 2, 0, 0, 0, 0, 10, 0, 0, 0, 0, 0x04, self.working, 0]) + progress
        if self.working and not self.outcome:
            self.media[:] = bytes(len(self.media))
        key, code = (self.outcome, 0x31) if self.working and self.outcome else (0, 0)
        self.working = 0
        return bytes([0x70, 0, key, 0, 0, 0, 0, 10, 0, 0, 0, 0, code, 0x03 if key else 0, 0, 0, 0, 0])
