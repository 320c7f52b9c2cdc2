"""The drive record: what is derived of it, whose it is, and what is wrong with it."""

from __future__ import annotations

from pathlib import Path

import pytest

from ssdlab.drives.drive_record import DriveRecord, find_record
from ssdlab.model.errors import UsageError


def write(folder: Path, name: str, text: str) -> None:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(text)


def test_what_is_derived() -> None:
    record = DriveRecord(model="m", raw_bytes="1024GiB", dwpd=1, warranty_years=5)
    assert record.endurance_bytes(960 * 10**9) == 960 * 10**9 * 5 * 365
    assert record.spare_share(960 * 10**9) == pytest.approx(0.1269, abs=1e-4)
    assert DriveRecord(model="m", tbw=600, dwpd=9, warranty_years=1).endurance_bytes(1) == 600 * 10**12
    assert DriveRecord(model="m").hold_up_j() is None


def test_a_record_for_one_serial_goes_first(tmp_path: Path) -> None:
    write(tmp_path, "a.toml", 'model = "M"\nnand = "all"')
    write(tmp_path, "b.toml", 'model = "M"\nserial = "1"\nnand = "one"')
    found = [find_record("M", serial, tmp_path) for serial in ("1", "2", None)]
    assert [record and record.nand for record in found] == ["one", "all", "all"]
    assert find_record("N", "1", tmp_path) is None
    assert find_record("M", "1", tmp_path / "absent") is None


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("model = ", "not TOML"),
        ('model = "M"\ndwdp = 1', "dwpd"),
        ('model = "M"\ndwpd = -1', "dwpd"),
        ("", "model"),
    ],
)
def test_a_wrong_record_is_named(tmp_path: Path, text: str, words: str) -> None:
    write(tmp_path, "wrong.toml", text)
    with pytest.raises(UsageError, match=words) as caught:
        find_record("M", None, tmp_path)
    assert "wrong.toml" in caught.value.what
