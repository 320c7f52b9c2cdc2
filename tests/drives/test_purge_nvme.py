"""Purging NVMe drives that no test machine has: what is done, what is recorded, what is said."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest

from machine.fake_drive import INVALID_FIELD, FakeNvme, patched
from machine.purge_rig import ALL, SIZE, Make, PurgeRig
from ssdlab.drives.admin.port import NvmeReply
from ssdlab.drives.purge import PurgeMethodName
from ssdlab.drives.purge.purging import mark
from ssdlab.host.identity import Identity
from ssdlab.model.errors import DriveError, Interrupted, LabError, Refused

# --- NVMe sanitize ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sanicap", "method", "word"),
    [
        (0b011, "nvme-sanitize-block", 0x0A),
        (0b001, "nvme-sanitize-crypto", 0x0C),
    ],
)
def test_the_strongest_sanitize_is_done_and_proven(make: Make, sanicap: int, method: str, word: int) -> None:
    rig = make(FakeNvme(sanicap=sanicap, sanitize_steps=4))
    record = rig.purge()
    assert (record.method, record.substitute, record.followed) == (method, False, False)
    assert record.sampling is not None
    assert (record.sampling.marked, record.sampling.survived, record.sampling.zero) == (ALL, 0, ALL)
    assert record.drive_log is not None
    assert "done" in record.drive_log
    sent = [words for opcode, _, words in rig.drive.commands if opcode == 0x84]
    assert sent == [(word, 0)]
    assert [progress.share for progress in rig.told] == [0.25, 0.5, 0.75]
    assert [entry["status"] for entry in rig.kept] == ["done"]
    assert rig.kept[0]["record"]["kept"] == record.kept


def test_overwriting_comes_after_formats_and_can_be_named(make: Make) -> None:
    assert make(FakeNvme(sanicap=0b100)).purge().method == "nvme-format-user-data"


def test_a_sanitize_left_by_a_signal_is_followed_after_a_restart(make: Make) -> None:
    rig = make(FakeNvme(sanicap=0b010, sanitize_steps=9))
    rig.stop_after = 2
    with pytest.raises(Interrupted):
        rig.purge()
    assert [entry["status"] for entry in rig.kept] == ["left"]
    rig.stop_after = None
    record = rig.purge()
    assert record.followed
    assert record.sampling is not None
    assert (record.sampling.marked, record.sampling.survived) == (ALL, 0)
    assert [opcode for opcode, _, _ in rig.drive.commands].count(0x84) == 1
    assert [entry["status"] for entry in rig.kept] == ["done"]


def test_a_sanitize_whose_program_was_killed_is_followed_with_its_marks(make: Make) -> None:
    rig = make(FakeNvme(sanicap=0b010, sanitize_steps=9, sanitize_action=0x2))
    who = Identity("/dev/drive", "drive", "block", "SERIAL", SIZE, 512)
    rig.ledger.begin(who, "nvme-sanitize-block", ("SERIAL",), mark(rig.medium, 7))
    rig.drive.sanitize_state, rig.drive.sanitize_left = 2, 5
    assert rig.kept[0]["status"] == "running"
    record = rig.purge()
    assert record.followed
    assert record.sampling is not None
    assert (record.sampling.marked, record.sampling.survived) == (ALL, 0)
    assert [entry["status"] for entry in rig.kept] == ["done"]


def test_a_sanitize_that_another_began_has_only_the_drives_word(make: Make) -> None:
    rig = make(
        FakeNvme(sanicap=0b010, sanitize_steps=9, sanitize_state=2, sanitize_left=5, sanitize_action=0x2)
    )
    record = rig.purge()
    assert record.followed
    assert record.sampling is not None
    assert (record.sampling.marked, record.sampling.zero) == (0, ALL)
    assert record.drive_log is not None


def test_a_format_waits_for_a_sanitize_that_goes_on(make: Make) -> None:
    rig = make(
        FakeNvme(sanicap=0b010, sanitize_steps=9, sanitize_state=2, sanitize_left=5, sanitize_action=0x2)
    )
    assert rig.purge("nvme-format-user-data").method == "nvme-format-user-data"
    assert [entry["method"] for entry in rig.kept] == ["nvme-sanitize-block", "nvme-format-user-data"]


def test_a_failed_sanitize_is_told_and_the_drive_let_out_of_it(make: Make) -> None:
    rig = make(FakeNvme(sanicap=0b010, outcome=3))
    error = rig.fails(DriveError, "failed")
    assert "failed" in error.what
    assert rig.drive.commands[-1][:1] + rig.drive.commands[-1][2:] == (0x84, (1,))
    assert rig.kept[0]["status"] == "failed"
    assert error.facts["kept"].endswith(".json")


def test_a_sanitize_that_hangs_ends_the_waiting_with_what_to_do(make: Make) -> None:
    rig = make(FakeNvme(sanicap=0b010, stuck=True))
    error = rig.fails(DriveError, "hung", limit_s=1800)
    assert error.what.endswith("31 min 00 s, at 0 %, unchanged for 31 min 00 s")
    assert "powered" in error.advice
    assert rig.kept[0]["status"] == "left"


def test_a_sanitize_that_lies_is_found_out(make: Make) -> None:
    rig = make(FakeNvme(sanicap=0b010, lies=True))
    error = rig.fails(DriveError, "not-purged")
    assert f"{ALL} of {ALL} marks" in error.what
    assert error.facts["record"]["sampling"]["survived"] == ALL
    assert (rig.kept[0]["status"], rig.kept[0]["record"]["sampling"]["survived"]) == ("failed", ALL)


# --- NVMe format and namespaces ---------------------------------------------------------------------------


def test_format_keeps_the_lba_format(make: Make) -> None:
    rig = make(FakeNvme())
    record = rig.purge()
    assert record.method == "nvme-format-user-data"
    assert [words for opcode, _, words in rig.drive.commands if opcode == 0x80] == [(0x200,)]
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

    rig = make(Slow())
    rig.purge("nvme-format-user-data")
    assert bool(during) is tells
    assert {progress.share or 0.0 for progress in rig.told} == {share}


def test_a_format_that_is_turned_down_leads_to_the_next_way(make: Make) -> None:
    rig = make(FakeNvme(format_status=INVALID_FIELD))
    record = rig.purge()
    assert (record.method, record.substitute) == ("discard", True)
    assert dict(record.passed_over)["nvme-format-user-data"] == "the drive answered invalid field in command"
    assert [entry["status"] for entry in rig.kept] == ["turned-down", "done"]
    assert "invalid field" in make_error(rig, "nvme-format-user-data").what


def make_error(rig: PurgeRig, method: PurgeMethodName) -> LabError:
    return rig.fails(DriveError, "turned-down", method)


def test_without_consent_no_sibling_is_hit(make: Make) -> None:
    rig = make(FakeNvme(sanicap=0b010, fna=0b010, siblings=1), siblings=("nvme0n2",))
    record = rig.purge()
    assert record.method == "discard"
    why = dict(record.passed_over)
    assert why["nvme-sanitize-block"] == why["nvme-format-user-data"]
    assert "nvme0n2 (--destroy 'SERIAL/2')" in why["nvme-sanitize-block"]
    error = rig.fails(Refused, "siblings", "nvme-format-user-data")
    assert "--destroy 'SERIAL/2'" in error.advice
    assert not {0x80, 0x84} & {opcode for opcode, _, _ in rig.drive.commands}


def test_with_consent_siblings_are_held_and_recorded(make: Make) -> None:
    rig = make(FakeNvme(fna=0b001, siblings=1), siblings=("nvme0n2",))
    record = rig.purge("nvme-format-user-data", "SERIAL/2")
    assert record.siblings == ("nvme0n2",)
    assert rig.held == ["nvme0n2"]


def test_a_format_that_spares_siblings_needs_no_consent_for_them(make: Make) -> None:
    record = make(FakeNvme(siblings=1), siblings=("nvme0n2",)).purge()
    assert (record.method, record.siblings) == ("nvme-format-user-data", ())


def test_a_namespace_that_linux_does_not_show_counts_too(make: Make) -> None:
    error = make(FakeNvme(sanicap=0b010, siblings=1)).fails(Refused, "siblings", "nvme-sanitize-block")
    assert "namespace 2" in error.what
