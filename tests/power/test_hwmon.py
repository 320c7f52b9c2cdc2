"""Chips of hwmon, in a folder that stands in for sysfs."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from power.trees import chip, host
from ssdlab.model.errors import HostError, Refused, UsageError
from ssdlab.model.meter_text import MeterText
from ssdlab.power.hwmon import HwmonMeter, chips
from ssdlab.power.kinds import found_here


def test_a_chip_that_works_out_power_is_read_in_watts(tmp_path: Path) -> None:
    chip(
        tmp_path, 0, "ina226", power1_input=4_250_000, in1_input=12_000, curr1_input=354, update_interval=500
    )
    meter = HwmonMeter(MeterText.parse("hwmon:ina226,accuracy=0.5%,offset=2mW"), host(tmp_path))
    samples = meter.read(0)
    assert samples.watts.tolist() == [[pytest.approx(4.25)]]
    assert (meter.info.rails, meter.info.rate_hz) == (("power1",), 2.0)
    assert meter.info.error_w(4.0) == pytest.approx(0.022)


def test_volts_and_amperes_of_one_number_are_a_rail(tmp_path: Path) -> None:
    files = {"in1_input": 12_000, "curr1_input": 500, "curr1_label": "12V"}
    files |= {"in2_input": 3_300, "curr2_input": 1_000, "curr2_label": "3V3", "curr7_input": 1}
    chip(tmp_path, 3, "ina3221", **files)
    meter = HwmonMeter(MeterText.parse("hwmon:hwmon3"), host(tmp_path))
    assert meter.info.rails == ("12V", "3V3")
    assert meter.read(0).watts.tolist() == [[pytest.approx(6.0), pytest.approx(3.3)]]
    only = HwmonMeter(MeterText.parse("hwmon:hwmon3,rails=3V3"), host(tmp_path))
    assert only.read(0).watts.tolist() == [[pytest.approx(3.3)]]
    with pytest.raises(UsageError, match="no rail of hwmon:hwmon3 '5V'"):
        HwmonMeter(MeterText.parse("hwmon:hwmon3,rails=5V"), host(tmp_path))


def test_sensors_inside_drives_are_never_opened(tmp_path: Path) -> None:
    for number, name in enumerate(("nvme", "drivetemp")):
        folder = chip(tmp_path, number, name)
        os.mkfifo(folder / "power1_input")  # who opens it waits for ever
    assert list(chips(host(tmp_path))) == []


def test_what_meters_the_host_is_refused(tmp_path: Path) -> None:
    chip(tmp_path, 0, "power_meter", power1_input=1)
    assert found_here(host(tmp_path)) == ()
    with pytest.raises(Refused, match="a part of the host"):
        HwmonMeter(MeterText.parse("hwmon:power_meter"), host(tmp_path))


def test_two_chips_of_a_name_are_told_apart_by_their_folder(tmp_path: Path) -> None:
    for number in (0, 1):
        chip(tmp_path, number, "ina219", power1_input=number)
    with pytest.raises(UsageError, match="2 chips") as told:
        HwmonMeter(MeterText.parse("hwmon:ina219"), host(tmp_path))
    assert "hwmon0 (ina219), hwmon1 (ina219)" in told.value.advice
    assert found_here(host(tmp_path)) == ("hwmon:hwmon0", "hwmon:hwmon1")


def test_a_chip_that_goes_away_does_not_answer(tmp_path: Path) -> None:
    folder = chip(tmp_path, 0, "ina226", power1_input=1)
    meter = HwmonMeter(MeterText.parse("hwmon:ina226"), host(tmp_path))
    (folder / "power1_input").unlink()
    with pytest.raises(HostError, match="does not answer"):
        meter.read(0)
