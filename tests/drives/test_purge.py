"""Purging drives that no test machine has, behind the seam: what is done, what is recorded, what is said."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from machine.fake_drive import INVALID_FIELD, FakeAta, FakeNvme, FakeScsi, patched
from ssdlab.drives.admin.port import NvmeReply
from ssdlab.drives.identity import Identity
from ssdlab.drives.purge import PurgeMethod, PurgeProgress, PurgeRecord
from ssdlab.drives.purge.ata import PASSWORD
from ssdlab.drives.purge.ledger import Ledger
from ssdlab.drives.purge.marks import mark
from ssdlab.drives.purge.of_device import subject_of
from ssdlab.drives.purge.purging import Purging
from ssdlab.drives.purge.way import Sibling
from ssdlab.errors import DriveError, HostError, Interrupted, LabError, Refused, Unsupported

SIZE = 1 << 20
ALL = 64


@dataclass
class FakeMedium:
    """What a fake drive holds. A drive that sanitizes itself gives and takes nothing."""

    drive: Any
    keeps_discarded: bool = False
    drops_writes: bool = False
    size_bytes: int = SIZE
    block_bytes: int = 512
    in_file_system: bool = False

    def read(self, at: int, length: int) -> bytes:
        self._check()
        return bytes(self.drive.media[at : at + length])

    def write(self, at: int, content: bytes) -> None:
        self._check()
        if not self.drops_writes:
            self.drive.media[at : at + len(content)] = content

    def discard(self, at: int, length: int) -> None:
        if not self.keeps_discarded:
            self.drive.media[at : at + length] = bytes(length)

    def flush(self) -> None:
        pass

    def _check(self) -> None:
        if getattr(self.drive, "sanitize_state", 0) in (2, 3):
            raise OSError(5, "sanitize in progress")


@dataclass
class FakeClock:
    """A clock that a wait moves on by a minute."""

    at: float = 0.0

    def now(self) -> float:
        return self.at

    def sleep(self, seconds: float) -> None:
        self.at += 60

    def wait(self, done: threading.Event, seconds: float) -> bool:
        if done.wait(0.2):
            return True
        self.at += 60
        return False


@dataclass
class Bench:
    """A fake drive on a fake host, and everything that a purge of it told."""

    host: Any
    drive: Any
    ledger: Ledger
    disk: dict[str, str]
    identity: dict[str, Any]
    medium: FakeMedium = field(init=False)
    told: list[PurgeProgress] = field(default_factory=list)
    held: list[str] = field(default_factory=list)
    stop_after: int | None = None

    def __post_init__(self) -> None:
        self.medium = FakeMedium(self.drive)
        self.node = self.host.disk("drive", queue__discard_max_bytes="1073741824", **self.disk)

    def purge(
        self, method: PurgeMethod | None = None, *consents: str, limit_s: float | None = None
    ) -> PurgeRecord:
        who = Identity("/dev/drive", "drive", "block", "SERIAL", SIZE, 512, serial="SERIAL", **self.identity)
        subject = subject_of(who, self.host.files, self.node, self.drive)
        return Purging(
            subject,
            self.medium,
            ("SERIAL", *consents),
            hold=self._hold,
            on_progress=self._tell,
            limit_s=limit_s,
            clock=FakeClock(),
            ledger=self.ledger,
        ).purge(method)

    def fails(self, kind: type[LabError], reason: str, *words: Any, **options: Any) -> LabError:
        with pytest.raises(kind) as caught:
            self.purge(*words, **options)
        assert caught.value.facts["reason"] == reason, caught.value
        return caught.value

    @property
    def kept(self) -> list[dict[str, Any]]:
        """The ledger's files, in order."""
        return [json.loads(path.read_text()) for path in sorted(self.ledger._folder.glob("*.json"))]

    @contextmanager
    def _hold(self, sibling: Sibling) -> Iterator[None]:
        self.held.append(sibling.name)
        yield

    def _tell(self, progress: PurgeProgress) -> None:
        self.told.append(progress)
        if self.stop_after is not None and len(self.told) >= self.stop_after:
            raise Interrupted("stopped", "go on")


Make = Callable[..., Bench]


@pytest.fixture
def make(host, tmp_path: Path) -> Make:
    def bench(drive: Any, **identity: Any) -> Bench:
        disk = {"nsid": "1"} if isinstance(drive, FakeNvme) else {}
        if isinstance(drive, FakeAta):
            identity["transport"] = "sata"
        if isinstance(drive, FakeScsi):
            disk["device__scsi_level"] = "7"
        if isinstance(drive, FakeNvme):
            identity["nsid"] = 1
        return Bench(host, drive, Ledger(tmp_path / "purges"), disk, identity)

    return bench


# --- NVMe sanitize ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sanicap", "method", "word"),
    [
        (0b011, "nvme-sanitize-block", 0x0A),
        (0b001, "nvme-sanitize-crypto", 0x0C),
    ],
)
def test_the_strongest_sanitize_is_done_and_proven(make: Make, sanicap: int, method: str, word: int) -> None:
    bench = make(FakeNvme(sanicap=sanicap, sanitize_steps=4))
    record = bench.purge()
    assert (record.method, record.substitute, record.followed) == (method, False, False)
    assert record.sampling is not None
    assert (record.sampling.marked, record.sampling.survived, record.sampling.zero) == (ALL, 0, ALL)
    assert record.drive_log is not None
    assert "done" in record.drive_log
    sent = [words for opcode, _, words in bench.drive.commands if opcode == 0x84]
    assert sent == [(word, 0)]
    assert [progress.share for progress in bench.told] == [0.25, 0.5, 0.75]
    assert [entry["status"] for entry in bench.kept] == ["done"]
    assert bench.kept[0]["record"]["kept"] == record.kept


def test_overwriting_comes_after_formats_and_can_be_named(make: Make) -> None:
    assert make(FakeNvme(sanicap=0b100)).purge().method == "nvme-format-user-data"


def test_a_sanitize_left_by_a_signal_is_followed_after_a_restart(make: Make) -> None:
    bench = make(FakeNvme(sanicap=0b010, sanitize_steps=9))
    bench.stop_after = 2
    with pytest.raises(Interrupted):
        bench.purge()
    assert [entry["status"] for entry in bench.kept] == ["left"]
    bench.stop_after = None
    record = bench.purge()
    assert record.followed
    assert record.sampling is not None
    assert (record.sampling.marked, record.sampling.survived) == (ALL, 0)
    assert [opcode for opcode, _, _ in bench.drive.commands].count(0x84) == 1
    assert [entry["status"] for entry in bench.kept] == ["done"]


def test_a_sanitize_whose_program_was_killed_is_followed_with_its_marks(make: Make) -> None:
    bench = make(FakeNvme(sanicap=0b010, sanitize_steps=9, sanitize_action=0x2))
    who = Identity("/dev/drive", "drive", "block", "SERIAL", SIZE, 512)
    bench.ledger.begin(who, "nvme-sanitize-block", ("SERIAL",), mark(bench.medium, 7))
    bench.drive.sanitize_state, bench.drive.sanitize_left = 2, 5
    assert bench.kept[0]["status"] == "running"
    record = bench.purge()
    assert record.followed
    assert record.sampling is not None
    assert (record.sampling.marked, record.sampling.survived) == (ALL, 0)
    assert [entry["status"] for entry in bench.kept] == ["done"]


def test_a_sanitize_that_another_began_has_only_the_drives_word(make: Make) -> None:
    bench = make(
        FakeNvme(sanicap=0b010, sanitize_steps=9, sanitize_state=2, sanitize_left=5, sanitize_action=0x2)
    )
    record = bench.purge()
    assert record.followed
    assert record.sampling is not None
    assert (record.sampling.marked, record.sampling.zero) == (0, ALL)
    assert record.drive_log is not None


def test_a_format_waits_for_a_sanitize_that_goes_on(make: Make) -> None:
    bench = make(
        FakeNvme(sanicap=0b010, sanitize_steps=9, sanitize_state=2, sanitize_left=5, sanitize_action=0x2)
    )
    assert bench.purge("nvme-format-user-data").method == "nvme-format-user-data"
    assert [entry["method"] for entry in bench.kept] == ["nvme-sanitize-block", "nvme-format-user-data"]


def test_a_failed_sanitize_is_told_and_the_drive_let_out_of_it(make: Make) -> None:
    bench = make(FakeNvme(sanicap=0b010, outcome=3))
    error = bench.fails(DriveError, "failed")
    assert "failed" in error.what
    assert bench.drive.commands[-1][:1] + bench.drive.commands[-1][2:] == (0x84, (1,))
    assert bench.kept[0]["status"] == "failed"
    assert error.facts["kept"].endswith(".json")


def test_a_sanitize_that_hangs_ends_the_waiting_with_what_to_do(make: Make) -> None:
    bench = make(FakeNvme(sanicap=0b010, stuck=True))
    error = bench.fails(DriveError, "hung", limit_s=1800)
    assert error.what.endswith("31 min 00 s, at 0%, unchanged for 31 min 00 s")
    assert "powered" in error.advice
    assert bench.kept[0]["status"] == "left"


def test_a_sanitize_that_lies_is_found_out(make: Make) -> None:
    bench = make(FakeNvme(sanicap=0b010, lies=True))
    error = bench.fails(DriveError, "not-purged")
    assert f"{ALL} of {ALL} marks" in error.what
    assert error.facts["record"]["sampling"]["survived"] == ALL
    assert (bench.kept[0]["status"], bench.kept[0]["record"]["sampling"]["survived"]) == ("failed", ALL)


# --- NVMe format and namespaces ---------------------------------------------------------------------------


def test_format_keeps_the_lba_format(make: Make) -> None:
    bench = make(FakeNvme())
    record = bench.purge()
    assert record.method == "nvme-format-user-data"
    assert [words for opcode, _, words in bench.drive.commands if opcode == 0x80] == [(0x200,)]
    assert dict(record.passed_over) == {
        "nvme-sanitize-block": "the drive does not offer it (SANICAP)",
        "nvme-sanitize-crypto": "the drive does not offer it (SANICAP)",
        "nvme-format-crypto": "the drive does not offer it (OACS, FNA)",
    }


@pytest.mark.parametrize(("tells", "share"), [(False, 0.0), (True, 0.25)])
def test_only_a_drive_that_tells_its_progress_is_asked_while_it_formats(
    make: Make, tells: bool, share: float
) -> None:
    """The kernel resets a drive that does not answer in time."""
    during: list[int] = []
    formatting = threading.Event()

    class Slow(FakeNvme):
        def nvme(self, opcode: int, **words: Any) -> NvmeReply:
            if opcode == 0x80:
                formatting.set()
                time.sleep(0.5)
                formatting.clear()
            elif formatting.is_set():
                during.append(opcode)
            return super().nvme(opcode, **words)

        def _identify(self, cns: int) -> bytes:
            left = 0x80 | (75 if formatting.is_set() else 0)
            page = patched("nvme-namespace-512.bin", {32: bytes([left if tells else 0])})
            return page if cns == 0 else super()._identify(cns)

    bench = make(Slow())
    bench.purge("nvme-format-user-data")
    assert bool(during) is tells
    assert {progress.share or 0.0 for progress in bench.told} == {share}


def test_a_format_that_is_turned_down_leads_to_the_next_way(make: Make) -> None:
    bench = make(FakeNvme(format_status=INVALID_FIELD))
    record = bench.purge()
    assert (record.method, record.substitute) == ("discard", True)
    assert dict(record.passed_over)["nvme-format-user-data"] == "the drive answered invalid field in command"
    assert [entry["status"] for entry in bench.kept] == ["turned-down", "done"]
    assert "invalid field" in make_error(bench, "nvme-format-user-data").what


def make_error(bench: Bench, method: PurgeMethod) -> LabError:
    return bench.fails(DriveError, "turned-down", method)


def test_without_consent_no_sibling_is_hit(make: Make) -> None:
    bench = make(FakeNvme(sanicap=0b010, fna=0b010, siblings=1), siblings=("nvme0n2",))
    record = bench.purge()
    assert record.method == "discard"
    why = dict(record.passed_over)
    assert why["nvme-sanitize-block"] == why["nvme-format-user-data"]
    assert "nvme0n2 (--destroy 'SERIAL/2')" in why["nvme-sanitize-block"]
    error = bench.fails(Refused, "siblings", "nvme-format-user-data")
    assert "--destroy 'SERIAL/2'" in error.advice
    assert not {0x80, 0x84} & {opcode for opcode, _, _ in bench.drive.commands}


def test_with_consent_siblings_are_held_and_recorded(make: Make) -> None:
    bench = make(FakeNvme(fna=0b001, siblings=1), siblings=("nvme0n2",))
    record = bench.purge("nvme-format-user-data", "SERIAL/2")
    assert record.siblings == ("nvme0n2",)
    assert bench.held == ["nvme0n2"]


def test_a_format_that_spares_siblings_needs_no_consent_for_them(make: Make) -> None:
    record = make(FakeNvme(siblings=1), siblings=("nvme0n2",)).purge()
    assert (record.method, record.siblings) == ("nvme-format-user-data", ())


def test_a_namespace_that_linux_does_not_show_counts_too(make: Make) -> None:
    error = make(FakeNvme(sanicap=0b010, siblings=1)).fails(Refused, "siblings", "nvme-sanitize-block")
    assert "namespace 2" in error.what


# --- SATA -------------------------------------------------------------------------------------------------


def test_ata_erase_is_done_and_its_password_gone(make: Make) -> None:
    bench = make(FakeAta())
    record = bench.purge()
    assert record.method == "ata-security-erase-enhanced"
    assert record.drive_log == "security: supported yes, password set no, locked no, frozen no"
    assert bench.drive.password is None
    assert [call[3] for call in bench.drive.calls] == ["--security-set-pass", "--security-erase-enhanced"]


def test_a_frozen_drive_is_explained(make: Make) -> None:
    bench = make(FakeAta(frozen=True))
    record = bench.purge()
    assert record.substitute
    assert "suspend the computer" in dict(record.passed_over)["ata-security-erase"]
    error = bench.fails(Unsupported, "no-such-way", "ata-security-erase")
    assert "frozen" in error.what
    assert error.facts["offers"] == ["discard", "zero-fill"]
    assert bench.drive.calls == []


@pytest.mark.parametrize("supported", [True, False])
def test_an_erase_that_lies_is_found_out_and_its_password_gone(make: Make, supported: bool) -> None:
    """`hdparm` ends with 0 whatever the drive did."""
    bench = make(FakeAta(supported=supported, lies=True))
    error = bench.fails(DriveError, "not-purged", "ata-security-erase")
    assert f"{ALL} of {ALL} marks are still there" in error.what
    assert ("does not announce" in error.what) is not supported
    assert bench.drive.password is None
    assert bench.kept[0]["status"] == "failed"
    assert bench.kept[0]["record"]["drive_log"].startswith("security: ")


def test_a_drive_without_the_feature_set_is_not_tried_unasked(make: Make) -> None:
    bench = make(FakeAta(supported=False))
    record = bench.purge()
    assert record.method == "discard"
    assert "does not announce" in dict(record.passed_over)["ata-security-erase"]
    assert bench.drive.calls == []


def test_a_password_that_stays_is_told_with_how_to_remove_it(make: Make) -> None:
    bench = make(FakeAta(keeps_password=True))
    error = bench.fails(DriveError, "password")
    assert f"--security-disable {PASSWORD}" in error.advice
    assert bench.kept[0]["status"] == "failed"


@pytest.mark.parametrize("locked", [False, True])
def test_a_password_left_by_a_kill_is_removed_by_the_next_purge(make: Make, locked: bool) -> None:
    bench = make(FakeAta(password=PASSWORD, locked=locked))
    who = Identity("/dev/drive", "drive", "block", "SERIAL", SIZE, 512)
    bench.ledger.begin(who, "ata-security-erase", ("SERIAL",), mark(bench.medium, 1))
    record = bench.purge("discard")
    assert record.method == "discard"
    assert bench.drive.password is None
    assert [entry["status"] for entry in bench.kept] == ["superseded", "done"]


def test_a_password_of_somebody_else_is_left_alone(make: Make) -> None:
    bench = make(FakeAta(password="other"))
    record = bench.purge()
    assert "not ssdlab's" in dict(record.passed_over)["ata-security-erase-enhanced"]
    assert bench.drive.password == "other"


def test_a_missing_program_names_its_package_and_the_rest_goes_on(make: Make) -> None:
    bench = make(FakeAta(installed=False))
    record = bench.purge()
    assert record.method == "discard"
    assert "apt install hdparm" in dict(record.passed_over)["ata-security-erase"]
    bench.fails(HostError, "no-tool", "ata-security-erase")


def test_an_erase_that_never_ends_is_left_alone(make: Make) -> None:
    """No command can be taken back: the password stays until the drive answers again."""
    release = threading.Event()

    class Endless(FakeAta):
        def tool(self, *arguments: str, limit_s: float):
            if "--security-erase" in arguments:
                release.wait(30)
            return super().tool(*arguments, limit_s=limit_s)

    bench = make(Endless())
    try:
        error = bench.fails(DriveError, "hung", "ata-security-erase", limit_s=100)
        assert bench.drive.password == PASSWORD
    finally:
        release.set()
    assert bench.kept[0]["status"] == "left"
    assert "purge it again later" in error.advice


# --- SCSI -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("commands", "method"), [((0x48, 0x04), "scsi-sanitize-block"), ((0x04,), "scsi-format")]
)
def test_scsi_erase_is_followed_and_proven(make: Make, commands: tuple[int, ...], method: str) -> None:
    bench = make(FakeScsi(commands=commands, steps=3))
    record = bench.purge()
    assert (record.method, record.drive_log) == (method, "REQUEST SENSE: sense key 0h, code 00h/00h")
    assert [round(progress.share or 0, 2) for progress in bench.told] == [0.33, 0.67]


def test_a_failed_scsi_sanitize_is_told(make: Make) -> None:
    bench = make(FakeScsi(outcome=3))
    error = bench.fails(DriveError, "failed")
    assert "sense key 3h, code 31h/03h" in error.what


def test_a_scsi_command_that_is_refused_leads_on(make: Make) -> None:
    record = make(FakeScsi(refuses=True)).purge()
    assert record.method == "discard"
    assert "sense key 5h" in dict(record.passed_over)["scsi-format"]


def test_a_usb_bridge_is_not_asked_scsi_questions(make: Make) -> None:
    bench = make(FakeScsi(), transport="usb")
    assert bench.purge().method == "discard"
    assert bench.drive.sent == []


def test_a_drive_that_only_claims_to_be_ata_is_asked_as_scsi(make: Make) -> None:
    bench = make(FakeScsi())
    (bench.node / "device/vpd_pg89").write_bytes(b"\0")
    record = bench.purge()
    assert record.method == "scsi-sanitize-block"
    assert "not known" in dict(record.passed_over)["ata-security-erase"]


# --- substitutes and proof --------------------------------------------------------------------------------


def test_a_discard_that_leaves_data_readable_is_followed_by_zeroes(make: Make) -> None:
    bench = make(FakeAta(supported=False))
    bench.medium.keeps_discarded = True
    record = bench.purge()
    assert record.method == "zero-fill"
    assert f"{ALL} of {ALL} marks" in dict(record.passed_over)["discard"]
    bench.fails(DriveError, "not-purged", "discard")


def test_what_keeps_no_writes_proves_nothing(make: Make) -> None:
    bench = make(FakeAta(supported=False))
    bench.medium.drops_writes = True
    bench.fails(DriveError, "unprovable", "zero-fill")


def test_a_partition_has_only_the_substitutes(make: Make) -> None:
    bench = make(FakeNvme(sanicap=0b111))
    who = Identity("/dev/drive1", "drive1", "partition", "SERIAL-part1", SIZE, 512, nsid=1)
    subject = subject_of(who, bench.host.files, bench.node, bench.drive)
    purging = Purging(subject, bench.medium, ("SERIAL-part1",), clock=FakeClock(), ledger=bench.ledger)
    assert purging.purge().method == "discard"
    with pytest.raises(Unsupported, match="way of other drives"):
        purging.purge("nvme-sanitize-block")


def test_a_drive_that_answers_nothing_is_not_guessed_at(make: Make) -> None:
    class Silent(FakeNvme):
        def nvme(self, opcode: int, **_: object):
            raise DriveError("/dev/drive: NVMe command 06h failed: Permission denied", "run as root")

    record = make(Silent()).purge()
    assert record.method == "discard"
    assert "Permission denied" in dict(record.passed_over)["nvme-sanitize-block"]
