"""How long a purge is planned to take at most: as the drive itself says, or as fast as it writes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from machine.fake_drive import FakeAta, FakeNvme, FakeScsi
from machine.purge_rig import Make
from ssdlab.drives.purge import PurgeMethodName
from ssdlab.drives.purge.planning import LOOKS_AT_MARKS, MARGIN_S, longest_of
from ssdlab.drives.purge.purging import subject_of
from ssdlab.drives.trim.medium import SAMPLES
from ssdlab.host.identity import Identity
from ssdlab.lab.found import find_method
from ssdlab.runs.order import Order, plan_order

TB = 10**12
WRITES = 500e6
COMMAND_S = 0.02
HUNG_S = 7200.0
NONE = 0xFFFFFFFF


def longest(make: Make, drive: object, method: PurgeMethodName | None = None) -> float:
    rig = make(drive)
    who = Identity("/dev/drive", "drive", "block", "SERIAL", TB, 512, serial="SERIAL", **rig.identity)
    subject = subject_of(who, rig.host.files, rig.node, rig.drive)
    return longest_of(subject, method, WRITES, COMMAND_S) - LOOKS_AT_MARKS * SAMPLES * COMMAND_S


@pytest.mark.parametrize(
    ("drive", "method", "seconds"),
    [
        # the Sanitize Status log: overwriting, block erase, crypto erase
        (FakeNvme(sanicap=0b011, estimates_s=(9000, 120, 2)), None, MARGIN_S + 120),
        (FakeNvme(sanicap=0b001, estimates_s=(9000, 120, 2)), None, MARGIN_S + 2),
        (FakeNvme(sanicap=0b111, estimates_s=(9000, 120, 2)), "nvme-sanitize-overwrite", MARGIN_S + 9000),
        # it says nothing: no longer than until it counts as hung
        (FakeNvme(sanicap=0b011, estimates_s=(NONE,) * 3), None, MARGIN_S + HUNG_S),
        # IDENTIFY words 89 and 90, in 2 minutes: 8 bits, or 15 with bit 15
        (FakeAta(erase_word=30), None, MARGIN_S + 3600),
        (FakeAta(erase_word=0x8000 | 600), "ata-security-erase", MARGIN_S + 72000),
        # substitutes: the whole drive at its speed
        (FakeAta(frozen=True), None, TB / WRITES),
        (FakeNvme(), "zero-fill", TB / WRITES),
        (FakeScsi(), "zero-fill", TB / WRITES),
    ],
)
def test_a_purge_is_planned_by_what_the_drive_says(
    make: Make, drive: object, method: PurgeMethodName | None, seconds: float
) -> None:
    assert longest(make, drive, method) == pytest.approx(seconds)


def test_discards_that_were_seen_to_work_are_planned_as_fast_as_they_were(make: Make) -> None:
    """Zeroes of the whole device were planned for what took a fifth of a second."""
    rig = make(FakeAta(frozen=True))
    who = Identity("/dev/drive", "drive", "block", "SERIAL", TB, 512, serial="SERIAL", **rig.identity)
    subject = subject_of(who, rig.host.files, rig.node, rig.drive)
    assert longest_of(subject, None, WRITES, 0.0) == pytest.approx(TB / WRITES)
    assert longest_of(subject, None, WRITES, 0.0, 100e9) == pytest.approx(TB / 100e9)
    assert longest_of(subject, "zero-fill", WRITES, 0.0, 100e9) == pytest.approx(TB / WRITES)


def test_a_device_in_memory_is_planned_by_its_size(
    make_zram: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """1 GiB at no less than the slowest drive's 20 MB/s, not a day."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    device = make_zram(1 << 30)
    method = find_method("whole-drive-fill")
    plan = plan_order(Order(method, method.params.build({}), str(device), destroy=device.name))
    (purge,) = (step for step in plan.steps if step.verb == "purge")
    marks_s = LOOKS_AT_MARKS * SAMPLES / 50
    assert purge.seconds.upper == pytest.approx(marks_s + (1 << 30) / 20e6)
