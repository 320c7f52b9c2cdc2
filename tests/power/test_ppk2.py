"""A PPK2 on a pseudo-terminal: its calibration, every sample, losses, and that it is only read."""

from __future__ import annotations

import os
import pty
import termios
import time
from pathlib import Path

import numpy as np
import pytest

from power.kit import PERIOD_NS, RANGE, VOLTS, Kit, amperes_of, meta_data, plugged, word_of
from ssdlab.model.errors import HostError, Refused, UsageError
from ssdlab.model.meter_text import MeterText
from ssdlab.power.collecting import Collector
from ssdlab.power.kinds import open_meter
from ssdlab.power.ppk2 import Calibration


def text(kit: Kit) -> MeterText:
    return MeterText.parse(f"ppk2:{kit.path}@{VOLTS:g}V,accuracy=1%")


def test_samples_are_worked_out_as_one_by_one() -> None:
    draw = np.random.default_rng(1)
    words = (draw.integers(0, 1 << 14, 500) | draw.integers(0, 5, 500) << 14).astype("<u4")
    found = Calibration.parse(meta_data()).amperes(words, VOLTS)
    assert found.tolist() == pytest.approx([amperes_of(int(word)) for word in words], rel=1e-12)


def test_a_current_comes_through_with_its_calibration() -> None:
    with plugged(Kit(lambda at: 3.0)) as kit, Collector(open_meter(text(kit))) as collector:
        assert (collector.info.name, collector.info.rate_hz) == ("Nordic PPK2", 100_000)
        time.sleep(0.6)
        end_ns = time.monotonic_ns() - 200_000_000
        drawn = collector.trace(end_ns - 200_000_000, end_ns).drawn(end_ns - 200_000_000, end_ns)
    assert drawn is not None
    # The converter's step in the range of amperes is 0.9 mA, which is 4.5 mW at 5 V.
    assert drawn.mean_w == pytest.approx(3.0, abs=0.005)
    assert collector.info.error_w(drawn.mean_w) == pytest.approx(0.03, rel=0.01)


def test_every_sample_arrives_and_losses_are_counted() -> None:
    """100 kS/s, of which 37 in a row are lost: the counter of six bits shows them."""
    with plugged(Kit(lambda at: 3.0, skip=range(1000, 1037))) as kit:
        meter = open_meter(text(kit))
        got = []
        while sum(len(each.time_ns) + each.lost for each in got) < 50_000:
            got.append(meter.read(0.5))
        assert sum(each.lost for each in got) == 37
        steps = np.concatenate([np.diff(each.time_ns) for each in got])
        assert sorted(set(steps.tolist())) == [PERIOD_NS, 38 * PERIOD_NS]
        meter.close()


def test_it_is_only_read_and_stopped_at_the_end() -> None:
    """Its mode, its voltage and its switch would take the drive's power away."""
    with plugged(Kit(lambda at: 3.0)) as kit:
        meter = open_meter(text(kit))
        meter.read(0.3)
        meter.close()
        limit = time.monotonic() + 20
        while kit.running and time.monotonic() < limit:
            time.sleep(0.01)
        assert not kit.running
        assert set(kit.commands) == {0x07, 0x19, 0x06}


def test_a_terminal_that_is_none_is_left_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ssdlab.power.ppk2._ANSWER_S", 0.2)
    ours, theirs = pty.openpty()
    before = termios.tcgetattr(theirs)
    with pytest.raises(HostError, match="does not identify itself"):
        open_meter(MeterText.parse(f"ppk2:{os.ttyname(theirs)}@5V"))
    assert termios.tcgetattr(theirs) == before
    os.close(ours)
    os.close(theirs)


def test_one_that_was_left_running_is_stopped_first() -> None:
    with plugged(Kit(lambda at: 3.0)) as kit:
        kit.running = True
        meter = open_meter(text(kit))
        assert len(meter.read(0.5).time_ns)
        meter.close()


def test_one_that_is_unplugged_is_gone() -> None:
    kit = Kit(lambda at: 3.0)
    with Collector(open_meter(text(kit))) as collector:
        time.sleep(0.3)
        kit.unplug()
        limit = time.monotonic() + 20
        while collector.died is None and time.monotonic() < limit:
            time.sleep(0.01)
    assert collector.died is not None
    assert "does not answer" in collector.died.what


@pytest.mark.parametrize("says", ["", "hello\nEND\n", meta_data(R0="none"), meta_data(GI4="nan")])
def test_what_is_no_such_kit_is_refused(says: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ssdlab.power.ppk2._ANSWER_S", 0.5)
    with plugged(Kit(lambda at: 3.0, says=says)) as kit, pytest.raises(HostError, match="does not answer"):
        open_meter(text(kit))


@pytest.mark.parametrize(
    "place", ["", "/dev/ttyACM0", "/dev/ttyACM0@5", "ttyACM0@5V", "/dev/x@0V", "/dev/x@90V"]
)
def test_its_place_says_device_and_volts(place: str) -> None:
    with pytest.raises(UsageError, match="supply voltage"):
        open_meter(MeterText.parse(f"ppk2:{place}"))


def test_no_serial_device_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    for name in ("file", "missing"):
        with pytest.raises(HostError, match="does not answer"):
            open_meter(MeterText.parse(f"ppk2:{tmp_path / name}@5V"))


def test_a_word_of_the_fake_is_what_it_stands_for() -> None:
    word = word_of(0.6, 77)
    assert (word >> 14 & 7, word >> 18 & 63) == (RANGE, 77 % 64)
    assert amperes_of(word) == pytest.approx(0.6, abs=0.001)


def test_a_meter_that_was_not_tried_is_named_so() -> None:
    with pytest.raises(Refused, match="not tested"):
        open_meter(MeterText.parse("joulescope:JS220"))
