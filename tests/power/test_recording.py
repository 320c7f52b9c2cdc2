"""Recordings of power in CSV: units, order, gaps, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from ssdlab.model.errors import LabError, Refused, UsageError
from ssdlab.model.meter_text import MeterText
from ssdlab.power.recording import Recording, read_recording


def read(folder: Path, text: str, settings: str = "") -> Recording:
    path = folder / "power.csv"
    path.write_text(text)
    return read_recording(MeterText.parse(f"csv:{path}{settings}"))


@pytest.mark.parametrize(
    ("head", "line"),
    [
        ("time [s],drive [W]", "{s},6"),
        ("t_ms;12V (V);12V (A);note", "{ms};12;0.5;calm"),
        ('"Time [us]"\t"power_mW"', "{us}\t6000"),
        ("n,time (s),a [mW],b [V],b [mA]", "1,{s},1000,5,1000"),
    ],
)
def test_units_of_the_header_are_heeded(tmp_path: Path, head: str, line: str) -> None:
    rows = [line.format(s=7 + n / 100, ms=7000 + n * 10, us=7_000_000 + n * 10_000) for n in range(100)]
    found = read(tmp_path, "\n".join([head, *rows]))
    assert found.info.rate_hz == pytest.approx(100)
    assert found.began == pytest.approx(7)
    drawn = found.trace.drawn(100_000_000, 900_000_000)
    assert drawn is not None
    assert drawn.mean_w == pytest.approx(6)
    assert found.longest_gap_ns == 0


def test_rails_can_be_chosen(tmp_path: Path) -> None:
    text = "time [s],drive [W],fan [W]\n0,3,1\n1,3,1\n2,3,1\n"
    assert read(tmp_path, text).info.rails == ("drive", "fan")
    assert read(tmp_path, text, ",rails=drive").trace.watts.tolist() == [[3], [3], [3]]


def test_a_gap_is_seen(tmp_path: Path) -> None:
    times = [n for n in range(100) if not 40 <= n < 70]
    found = read(tmp_path, "time [s],p [W]\n" + "".join(f"{t},2\n" for t in times))
    assert found.longest_gap_ns == pytest.approx(30e9, rel=0.01)


@pytest.mark.parametrize(
    ("text", "error", "words"),
    [
        ("time,power\n0,1\n1,1\n", UsageError, "no column in W, or in V and A"),
        ("index,power [W]\n0,1\n1,1\n", UsageError, "no column with a unit of time"),
        ("time [s],12V [V]\n0,12\n1,12\n", Refused, "meters no rail"),
        ("time [s],p [W]\n0,1\n2,1\n1,1\n", UsageError, "out of order: line 4 is no later"),
        ("time [s],p [W]\n0,1\n0,1\n", UsageError, "out of order: line 3 "),
        ("time [s],p [W]\n0,1\n1,broken\n", UsageError, "line 3 of .* is no sample: 1,broken"),
        ("time [s],p [W]\n0,1\n1,nan\n", UsageError, "line 3 of .* is no sample"),
        ("time [s],p [W]\n0,1\n1\n", UsageError, "line 3 of .* is no sample"),
        ("time [s],p [W]\n0,0\n1,0\n2,0\n", Refused, "add up to nothing"),
        ("time [s],p [W]\n0,1\n", UsageError, "has 1 samples"),
        ("", UsageError, "no column in W"),
    ],
)
def test_nothing_is_guessed(tmp_path: Path, text: str, error: type[LabError], words: str) -> None:
    with pytest.raises(error, match=words):
        read(tmp_path, text)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot read the recording"):
        read_recording(MeterText.parse(f"csv:{tmp_path}/none.csv"))
