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
        ("n,time (s),3V3 [mW],5V [V],5V [mA]", "1,{s},1000,5,1000"),
        ("Time mS,12V power mW", "{ms},6000"),
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
    with pytest.raises(Refused, match=r"consumer of this power: drive .W., fan .W.") as raised:
        read(tmp_path, text)
    assert raised.value.facts["columns"] == ["drive [W]", "fan [W]"]
    assert read(tmp_path, text, ",rails=drive").trace.watts.tolist() == [[3], [3], [3]]
    assert read(tmp_path, text, ",rails=drive+fan").trace.watts.tolist() == [[3, 1], [3, 1], [3, 1]]
    with pytest.raises(UsageError, match="no rail"):
        read(tmp_path, text, ",rails=disk")


@pytest.mark.parametrize(
    ("heads", "line", "rails", "watts"),
    [
        # Quarch's own client: units behind a blank, powers beside volts and amperes, a total.
        (
            "5V voltage mV,5V current uA,12V voltage mV,12V current uA,"
            "5V power uW,12V power uW,Total power uW",
            "5000,100000,12000,250000,500000,3000000,3500000",
            ("5V", "12V"),
            3.5,
        ),
        ("12V power [uW],Total power [uW]", "7500000,7500000", ("12V",), 7.5),
        ("12V [W],3.3V [W],TotalPower [W]", "2,1,3", ("12V", "3.3V"), 3),
        ("12V [W],3V3aux [W],SUM (mW)", "2,1,3001", ("12V", "3V3aux"), 3),
        ("Total power [W]", "4", ("Total",), 4),
        ("12V voltage [V],Total [W]", "12,4", ("Total",), 4),
        ("Total current [A],12V [W]", "9,4", ("12V",), 4),
        ("12V min [W],12V avg [W],12V max [W]", "1,2,9", ("12V",), 2),
        ("min (W),mean (W),max (W)", "1,2,9", ("power",), 2),
        ("MinPower_W,AvgPower_W,MaxPower_W", "1,2,9", ("power",), 2),
        ("12V [W],12V peak [W]", "2,9", ("12V",), 2),
        ("12V avg [V],12V avg [A],12V max [V],12V max [A]", "12,0.5,13,9", ("12V",), 6),
        ("U1 [V],I1 [A],P1 [W]", "12,0.5,6", ("1",), 6),
        ("voltage [V],current [mA]", "5,400", ("power",), 2),
        ("+12V [V],+12V [A],+5V [V],+5V [A]", "12,0.5,5,1", ("12V", "5V"), 11),
        ("12 V (W);5 V (W)", "4;1", ("12V", "5V"), 5),
        ("note,12V [W]", "calm,4", ("12V",), 4),
    ],
)
def test_rails_are_added_once_each(
    tmp_path: Path, heads: str, line: str, rails: tuple[str, ...], watts: float
) -> None:
    mark = ";" if ";" in heads else ","
    text = f"Time uS{mark}{heads}\n" + "".join(f"{n * 1000}{mark}{line}\n" for n in range(5))
    found = read(tmp_path, text)
    assert found.info.rails == rails
    assert found.trace.watts.sum(axis=1).tolist() == pytest.approx([watts] * 5)


@pytest.mark.parametrize(
    ("heads", "line", "columns"),
    [
        ("12V [W],12V [W]", "1,1", ["12V [W]", "12V [W]"]),
        ("12V [W],12V [mW]", "1,1000", ["12V [W]", "12V [mW]"]),
        ("3V3 [W],3.3V [W]", "1,1", ["3V3 [W]", "3.3V [W]"]),
        ("12V power [W],12V [W]", "1,1", ["12V power [W]", "12V [W]"]),
        ("12V [W],5V [V]", "4,5", ["5V [V]"]),
        ("12V [V],12V [A],5V [A]", "12,1,1", ["5V [A]"]),
        ("12V [A]", "1", ["12V [A]"]),
        ("12V [V]", "12", ["12V [V]"]),
        ("12V [W],Total [W]", "4,5", ["12V [W]", "Total [W]"]),
        ("Total [W],Sum [W]", "4,5", ["Total [W]", "Sum [W]"]),
        ("12V min [W],12V max [W]", "1,9", ["12V min [W]", "12V max [W]"]),
        ("12V [W],12V avg [W]", "1,1", ["12V [W]", "12V avg [W]"]),
        ("12V slot 1 [W],12V slot 2 [W]", "1,1", ["12V slot 1 [W]", "12V slot 2 [W]"]),
        ("CH1 [W],CH2 [W]", "1,1", ["CH1 [W]", "CH2 [W]"]),
        ("12V [W],backlight [W]", "1,1", ["backlight [W]"]),
        ("CPU package [W]", "40", ["CPU package [W]"]),
        ("Wall (W)", "40", ["Wall (W)"]),
    ],
)
def test_what_would_be_added_twice_or_is_missing_is_refused_by_name(
    tmp_path: Path, heads: str, line: str, columns: list[str]
) -> None:
    with pytest.raises(Refused) as raised:
        read(tmp_path, f"time [s],{heads}\n" + "".join(f"{n},{line}\n" for n in range(5)))
    assert raised.value.facts["columns"] == columns
    assert all(each in raised.value.what for each in columns)


def test_rails_that_were_chosen_do_not_overlap_either(tmp_path: Path) -> None:
    text = "time [s],12V [W],5V [W],Total [W]\n0,2,1,4\n1,2,1,4\n2,2,1,4\n"
    assert read(tmp_path, text, ",rails=Total").trace.watts.tolist() == [[4], [4], [4]]
    assert read(tmp_path, text, ",rails=12V+5V").info.rails == ("12V", "5V")
    with pytest.raises(Refused, match="overlap"):
        read(tmp_path, text, ",rails=12V+Total")


def test_amperes_alone_need_the_volts_of_their_supply(tmp_path: Path) -> None:
    """As Nordic's Power Profiler exports; two supplies are given in the order of their columns."""
    text = "Timestamp(ms),Current(uA)\n0,400000\n1,400000\n2,400000\n"
    with pytest.raises(Refused, match=r"Current.uA.") as raised:
        read(tmp_path, text)
    assert "volts=5V" in raised.value.advice
    assert read(tmp_path, text, ",volts=5V").trace.watts.tolist() == [[2.0]] * 3
    both = "time [s],12V [A],5V [A],3V3 [W]\n0,1,2,3\n1,1,2,3\n"
    assert read(tmp_path, both, ",volts=12V+5V").trace.watts.tolist() == [[12, 10, 3]] * 2
    assert read(tmp_path, both, ",volts=5,rails=5V").trace.watts.tolist() == [[10]] * 2
    for settings in (",volts=12V", ",volts=12V+5V+3V"):
        with pytest.raises(Refused, match=r"12V .A., 5V .A."):
            read(tmp_path, both, settings)
    with pytest.raises(Refused, match="1 voltages were given"):
        read(tmp_path, "time [s],12V [W]\n0,1\n1,1\n", ",volts=12V")


def test_a_gap_is_seen(tmp_path: Path) -> None:
    times = [n for n in range(100) if not 40 <= n < 70]
    found = read(tmp_path, "time [s],p [W]\n" + "".join(f"{t},2\n" for t in times))
    assert found.longest_gap_ns == pytest.approx(30e9, rel=0.01)


@pytest.mark.parametrize(
    ("text", "error", "words"),
    [
        ("time,power\n0,1\n1,1\n", UsageError, "no column in W, or in V and A"),
        ("index,power [W]\n0,1\n1,1\n", UsageError, "no column with a unit of time"),
        ("time [s],12V [W],5V\n0,1,1\n1,1,1\n", UsageError, "a column without a unit: 5V"),
        ("time [ns],p [W]\n0,1\n0.1,1\n0.2,1\n", UsageError, "out of order: line 3"),
        ("time [s],p [W]\n0,1\n2,1\n1,1\n", UsageError, "out of order: line 4 is not later"),
        ("time [s],p [W]\n0,1\n0,1\n", UsageError, "out of order: line 3 "),
        ("time [s],p [W]\n0,1\n1,broken\n", UsageError, "line 3 of .* is not a sample: 1,broken"),
        ("time [s],p [W]\n0,1\n1,nan\n", UsageError, "line 3 of .* is not a sample"),
        ("time [s],p [W]\n0,1\n1\n", UsageError, "line 3 of .* is not a sample"),
        ("time [s],p [W]\n0,0\n1,0\n2,0\n", Refused, "positive power"),
        ("time [s],p [W]\n0,-3\n1,-3\n2,-3\n", Refused, "positive power: -3 W"),
        ("time [s],p [W]\n0,2\n1,-3\n2,-3\n", Refused, "positive power: -1.33 W"),
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
