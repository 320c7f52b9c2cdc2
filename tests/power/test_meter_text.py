"""Which meter: the text of --meter and the table of the rig file are one thing."""

from __future__ import annotations

import datetime
import json
import socket
from pathlib import Path

import pytest

from ssdlab.cli import main
from ssdlab.host.platform import read_rig
from ssdlab.model.errors import Refused, UsageError
from ssdlab.model.meter_text import MeterText
from ssdlab.power.kinds import check_kind
from ssdlab.power.meter import MeterInfo

TEXT = "hwmon:ina226,accuracy=0.5%,offset=0.005W,calibrated=2026-03-01,rails=12V+3V3,rate=5"


def test_text_and_table_say_the_same(tmp_path: Path) -> None:
    rig = tmp_path / "rig.toml"
    rig.write_text(
        '[meter]\nuse = "hwmon:ina226"\naccuracy = "0.5%"\noffset = "5 mW"\ncalibrated = 2026-03-01\n'
        'rails = ["12V", "3V3"]\nrate = 5\n'
    )
    meter = MeterText.parse(TEXT)
    assert read_rig(rig).meter == meter
    assert str(meter) == TEXT
    assert MeterText.parse(str(meter)) == meter


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("ina226", "does not name a meter"),
        ("hwmon:a,accuracy", "is not one name=value"),
        ("hwmon:a,accuracy=1%,accuracy=2%", "is not one name=value"),
        ("hwmon:a,colour=red", "no setting of a meter 'colour'"),
        ("hwmon:a,offset=5", "is not a power"),
        ("hwmon:a,rate=0", "rate is"),
        ("hwmon:a,rate=1.2.3", "sample rate"),
        ("hwmon:a,rate=.", "sample rate"),
        ("hwmon:a,rate=" + "9" * 400, "sample rate"),
        ("csv:a,volts=much", "'much' is not a supply voltage"),
        ("csv:a,volts=5V+", "is not a supply voltage"),
        ("hwmon:a,calibrated=soon", "calibrated is 'soon'"),
    ],
)
def test_what_means_nothing_is_refused(text: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        MeterText.parse(text)


def test_volts_are_of_recordings() -> None:
    meter = MeterText.parse("csv:a,volts=12V+5.25V")
    assert meter.volts == (12.0, 5.25) and MeterText.parse(str(meter)) == meter
    check_kind(meter)
    with pytest.raises(UsageError, match="volts="):
        check_kind(MeterText.parse("hwmon:a,volts=5V"))


@pytest.mark.parametrize("kind", ["rapl", "ipmi", "shelly"])
def test_power_of_the_host_is_never_a_drives(kind: str) -> None:
    with pytest.raises(Refused, match="never a drive"):
        check_kind(MeterText.parse(f"{kind}:0"))


def test_a_calibration_in_the_future_is_refused() -> None:
    info = MeterInfo("hwmon:x", "x", ("a",), 10)
    text = MeterText.parse("hwmon:x,calibrated=2026-05-02")
    with pytest.raises(Refused, match="in the future"):
        info.as_described(text, datetime.date(2026, 5, 1))
    assert info.as_described(text, datetime.date(2026, 5, 2)).calibrated == datetime.date(2026, 5, 2)


def test_an_error_that_is_not_known_is_none() -> None:
    assert MeterInfo("hwmon:x", "x", ("a",), 10, offset_w=0.1).error_w(3) is None


def test_the_list_of_meters_shows_what_one_says(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "power.csv"
    path.write_text("time [s],p [W]\n" + "".join(f"{n / 10},2.5\n" for n in range(50)))
    assert main(["meters", f"csv:{path},accuracy=1%", "rapl:0"]) == 2, "one that was named meters no drive"
    shown = capsys.readouterr().out
    assert "2.50 W, mean of 5.00 s" in shown
    assert "1 %" in shown
    assert "RAPL measures the processor" in shown


def test_a_named_meter_that_does_not_answer_fails_the_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))  # and nobody listens
        use = f"scpi:127.0.0.1:{held.getsockname()[1]}"
        path = tmp_path / "power.csv"
        path.write_text("time [s],p [W]\n" + "".join(f"{n / 10},2.5\n" for n in range(50)))
        assert main(["meters", f"csv:{path}", use]) == 3
        shown_lines = capsys.readouterr().out.splitlines()
        (row,) = [line for line in shown_lines if line.startswith(f"{use} ")]
        assert "does not answer" not in row and row.endswith("not usable, see below"), "it is no name"
        assert any(line.startswith(f"{use}: ") and "does not answer" in line for line in shown_lines)
        assert main(["meters", use, "--json"]) == 3
        (shown,) = json.loads(capsys.readouterr().out)["meters"]
        assert shown["error"]["exit_status"] == 3
        assert main(["meters", f"csv:{path}"]) == 0
        rig = tmp_path / "rig.toml"
        rig.write_text(f'[meter]\nuse = "{use}"\n')
        assert main(["meters", "--rig", str(rig)]) == 3, "that of the rig file is named too"
