"""Consent for a simulated drive is not needed; one for another drive is a mistake, and refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from ssdlab.cli import main
from ssdlab.drives import look, open_drive
from ssdlab.model.errors import Refused

DRIVE = "sim:tiny-test,scale=4"
OTHERS = ["WRONG", "sim:tiny-test", "sim:tiny-test,scale=8", "sim:nobody", "sim:", "/dev/sda"]


@pytest.mark.parametrize("other", OTHERS)
def test_a_wrong_name_is_refused(other: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    refused = look(DRIVE, destroy=other)
    assert refused.reading is not None and refused.reading.reason == "wrong-consent"
    with pytest.raises(Refused):
        open_drive(DRIVE, destroy=other, writing=True)
    library = ["--library", str(tmp_path / "library")]
    for words in (
        ["run", "peak-random-read", DRIVE, "--quick", *library],
        ["measure", DRIVE, "--bytes", "4k"],
    ):
        assert main([*words, "--destroy", other]) == 2
        assert DRIVE in capsys.readouterr().err
    assert not any((tmp_path / "library").iterdir()), "no run was begun"


@pytest.mark.parametrize("same", [DRIVE, f"{DRIVE},state=kept.state", None])
def test_its_own_name_or_none_is_taken(same: str | None) -> None:
    assert look(DRIVE, destroy=same).writing is None
    open_drive(DRIVE, destroy=same, writing=True).close()
