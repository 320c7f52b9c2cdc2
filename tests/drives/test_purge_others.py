"""Purging SATA and SAS drives that no test machine has, and the substitutes: done, recorded, said."""

from __future__ import annotations

import threading

import pytest

from machine.fake_drive import FakeAta, FakeNvme, FakeScsi
from machine.purge_rig import ALL, SIZE, FakeClock, Make
from ssdlab.drives.purge.ata import PASSWORD
from ssdlab.drives.purge.purging import Purging, mark, subject_of
from ssdlab.host.identity import Identity
from ssdlab.model.errors import DriveError, HostError, Unsupported

# --- SATA -------------------------------------------------------------------------------------------------


def test_ata_erase_is_done_and_its_password_gone(make: Make) -> None:
    rig = make(FakeAta())
    record = rig.purge()
    assert record.method == "ata-security-erase-enhanced"
    assert record.drive_log == "security: supported yes, password set no, locked no, frozen no"
    assert rig.drive.password is None
    assert [call[3] for call in rig.drive.calls] == ["--security-set-pass", "--security-erase-enhanced"]


def test_a_frozen_drive_is_explained(make: Make) -> None:
    rig = make(FakeAta(frozen=True))
    record = rig.purge()
    assert record.substitute
    assert "suspend the computer" in dict(record.passed_over)["ata-security-erase"]
    error = rig.fails(Unsupported, "no-such-way", "ata-security-erase")
    assert "frozen" in error.what
    assert error.facts["offers"] == ["discard", "zero-fill"]
    assert rig.drive.calls == []


@pytest.mark.parametrize("supported", [True, False])
def test_an_erase_that_lies_is_found_out_and_its_password_gone(make: Make, supported: bool) -> None:
    """`hdparm` ends with 0 whatever the drive did."""
    rig = make(FakeAta(supported=supported, lies=True))
    error = rig.fails(DriveError, "not-purged", "ata-security-erase")
    assert f"{ALL} of {ALL} marks are still there" in error.what
    assert ("does not announce" in error.what) is not supported
    assert rig.drive.password is None
    assert rig.kept[0]["status"] == "failed"
    assert rig.kept[0]["record"]["drive_log"].startswith("security: ")


def test_a_drive_without_the_feature_set_is_not_tried_unasked(make: Make) -> None:
    rig = make(FakeAta(supported=False))
    record = rig.purge()
    assert record.method == "discard"
    assert "does not announce" in dict(record.passed_over)["ata-security-erase"]
    assert rig.drive.calls == []


def test_a_password_that_stays_is_told_with_how_to_remove_it(make: Make) -> None:
    rig = make(FakeAta(keeps_password=True))
    error = rig.fails(DriveError, "password")
    assert f"--security-disable {PASSWORD}" in error.advice
    assert rig.kept[0]["status"] == "failed"


@pytest.mark.parametrize("locked", [False, True])
def test_a_password_left_by_a_kill_is_removed_by_the_next_purge(make: Make, locked: bool) -> None:
    rig = make(FakeAta(password=PASSWORD, locked=locked))
    who = Identity("/dev/drive", "drive", "block", "SERIAL", SIZE, 512)
    rig.ledger.begin(who, "ata-security-erase", ("SERIAL",), mark(rig.medium, 1))
    record = rig.purge("discard")
    assert record.method == "discard"
    assert rig.drive.password is None
    assert [entry["status"] for entry in rig.kept] == ["superseded", "done"]


def test_a_password_of_somebody_else_is_left_alone(make: Make) -> None:
    rig = make(FakeAta(password="other"))
    record = rig.purge()
    assert "ssdlab did not set" in dict(record.passed_over)["ata-security-erase-enhanced"]
    assert rig.drive.password == "other"


def test_a_missing_program_names_its_package_and_the_rest_goes_on(make: Make) -> None:
    rig = make(FakeAta(installed=False))
    record = rig.purge()
    assert record.method == "discard"
    assert "apt install hdparm" in dict(record.passed_over)["ata-security-erase"]
    rig.fails(HostError, "no-tool", "ata-security-erase")


def test_an_erase_that_never_ends_is_left_alone(make: Make) -> None:
    """No command can be taken back: the password stays until the drive answers again."""
    release = threading.Event()

    class Endless(FakeAta):
        def tool(self, *arguments: str, limit_s: float):
            if "--security-erase" in arguments:
                release.wait(30)
            return super().tool(*arguments, limit_s=limit_s)

    rig = make(Endless())
    try:
        error = rig.fails(DriveError, "hung", "ata-security-erase", limit_s=100)
        assert rig.drive.password == PASSWORD
    finally:
        release.set()
    assert rig.kept[0]["status"] == "left"
    assert "purge it again later" in error.advice


# --- SCSI -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("commands", "method"), [((0x48, 0x04), "scsi-sanitize-block"), ((0x04,), "scsi-format")]
)
def test_scsi_erase_is_followed_and_proven(make: Make, commands: tuple[int, ...], method: str) -> None:
    rig = make(FakeScsi(commands=commands, steps=3))
    record = rig.purge()
    assert (record.method, record.drive_log) == (method, "REQUEST SENSE: sense key 0h, code 00h/00h")
    assert [round(progress.share or 0, 2) for progress in rig.told] == [0.33, 0.67]


def test_a_failed_scsi_sanitize_is_told(make: Make) -> None:
    rig = make(FakeScsi(outcome=3))
    error = rig.fails(DriveError, "failed")
    assert "sense key 3h, code 31h/03h" in error.what


def test_a_scsi_command_that_is_refused_leads_on(make: Make) -> None:
    record = make(FakeScsi(refuses=True)).purge()
    assert record.method == "discard"
    assert "sense key 5h" in dict(record.passed_over)["scsi-format"]


def test_a_usb_bridge_is_not_asked_scsi_questions(make: Make) -> None:
    rig = make(FakeScsi(), transport="usb")
    assert rig.purge().method == "discard"
    assert rig.drive.sent == []


def test_a_drive_that_only_claims_to_be_ata_is_asked_as_scsi(make: Make) -> None:
    rig = make(FakeScsi())
    (rig.node / "device/vpd_pg89").write_bytes(b"\0")
    record = rig.purge()
    assert record.method == "scsi-sanitize-block"
    assert not [name for name, _ in record.passed_over if name.startswith("ata")]


# --- substitutes and proof --------------------------------------------------------------------------------


def test_a_discard_that_leaves_data_readable_is_followed_by_zeroes(make: Make) -> None:
    rig = make(FakeAta(supported=False))
    rig.medium.keeps_discarded = True
    record = rig.purge()
    assert record.method == "zero-fill"
    assert f"{ALL} of {ALL} marks" in dict(record.passed_over)["discard"]
    rig.fails(DriveError, "not-purged", "discard")


def test_what_keeps_no_writes_proves_nothing(make: Make) -> None:
    rig = make(FakeAta(supported=False))
    rig.medium.drops_writes = True
    rig.fails(DriveError, "unprovable", "zero-fill")


def test_a_partition_has_only_the_substitutes(make: Make) -> None:
    rig = make(FakeNvme(sanicap=0b111))
    who = Identity("/dev/drive1", "drive1", "partition", "SERIAL-part1", SIZE, 512, nsid=1)
    subject = subject_of(who, rig.host.files, rig.node, rig.drive)
    purging = Purging(subject, rig.medium, ("SERIAL-part1",), clock=FakeClock(), ledger=rig.ledger)
    assert purging.purge().method == "discard"
    with pytest.raises(Unsupported, match="other kinds of drive"):
        purging.purge("nvme-sanitize-block")


def test_a_drive_that_answers_nothing_is_not_guessed_at(make: Make) -> None:
    class Silent(FakeNvme):
        def nvme(self, opcode: int, **_: object):
            raise DriveError("/dev/drive: NVMe command 06h failed: Permission denied", "run as root")

    record = make(Silent()).purge()
    assert record.method == "discard"
    assert "Permission denied" in dict(record.passed_over)["nvme-sanitize-block"]
