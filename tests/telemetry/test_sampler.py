"""The thread that watches a real drive: on the step's clock, from one period on, and gone with the step."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path

import pytest

from ssdlab.drives.telemetry import sampler
from ssdlab.drives.telemetry.sampler import HostTelemetry
from ssdlab.drives.telemetry.sources import KernelLog, Link, Source
from ssdlab.host.held_folder import HeldFolder
from ssdlab.model.errors import DriveError
from ssdlab.model.telemetry import DriveHealth, Sample
from ssdlab.results.step_log import kept_as_taken, read_samples

PERIOD_S = 0.02


class Counting(Source):
    """Answers with how often it was asked; `fails_at` is the question that it does not answer."""

    words = "a drive"

    def __init__(self, fails_at: int = 1 << 30) -> None:
        self.asked, self.begun, self.ended, self.fails_at = 0, 0, 0, fails_at

    def begin(self) -> None:
        self.begun += 1

    def figures(self) -> dict:
        self.asked += 1
        if self.asked >= self.fails_at:
            raise DriveError("no answer", "look after it")
        return {"media_errors": self.asked}

    def end(self) -> None:
        self.ended += 1


class Measured:
    """A measurement that started at a monotonic time."""

    def __init__(self, zero_ns: int) -> None:
        self.zero_ns = zero_ns

    def as_dict(self) -> dict:
        return {"started": {"monotonic_ns": self.zero_ns, "unix_ns": 0}}


def wait_for(source: Counting, asked: int) -> None:
    end = time.monotonic() + 30
    while source.asked < asked:
        assert time.monotonic() < end
        time.sleep(PERIOD_S / 4)


def test_samples_are_on_the_clock_of_the_step() -> None:
    source, kept = Counting(), []
    watch = HostTelemetry([source], period_s=PERIOD_S).begin(kept.append)
    before_ns = time.monotonic_ns()
    wait_for(source, 3)
    samples, marks = watch.end(Measured(before_ns - 10**9))
    assert marks == []
    assert [sample.media_errors for sample in samples] == list(range(1, len(samples) + 1))
    assert 10**9 < samples[0].at_ns < samples[1].at_ns < samples[-1].at_ns
    assert samples[-1].at_ns <= time.monotonic_ns() - before_ns + 10**9
    assert [sample.media_errors for sample in kept] == [sample.media_errors for sample in samples]


def test_nothing_is_asked_before_one_period_and_nothing_after_the_end() -> None:
    source = Counting()
    watch = HostTelemetry([source], period_s=3600).begin()
    assert watch.end(None)[0] == []
    assert (source.asked, source.begun, source.ended) == (0, 1, 1)
    source = Counting()
    watch = HostTelemetry([source], period_s=PERIOD_S).begin()
    wait_for(source, 1)
    watch.end(None)
    asked = source.asked
    time.sleep(5 * PERIOD_S)
    assert source.asked == asked
    assert not [thread for thread in threading.enumerate() if thread.name == "telemetry"]


def test_a_drive_that_stops_answering_is_marked_and_not_asked_again() -> None:
    source, other = Counting(fails_at=2), Counting()
    watch = HostTelemetry([source, other], period_s=PERIOD_S).begin()
    wait_for(other, 4)
    samples, marks = watch.end(None)
    assert source.asked == 2
    assert [mark.code for mark in marks] == ["unanswered"]
    assert "no answer" in marks[0].what
    assert len(samples) >= 4, "the run goes on, and so do the others"


class Slow(Counting):
    """Answers its second question only when it is let go."""

    def __init__(self, fails_at: int) -> None:
        super().__init__(fails_at)
        self.held, self.let_go = threading.Event(), threading.Event()

    def figures(self) -> dict:
        if self.asked == 1:
            self.held.set()
            assert self.let_go.wait(30)
        return super().figures()


@pytest.mark.parametrize("fails_at", [1 << 30, 2], ids=["answers", "fails"])
def test_an_answer_after_the_step_is_no_more_of_it(monkeypatch: pytest.MonkeyPatch, fails_at: int) -> None:
    monkeypatch.setattr(sampler, "_PATIENCE_S", 0.01)
    source, after, kept = Slow(fails_at), Counting(), []
    watch = HostTelemetry([source, after], period_s=PERIOD_S).begin(kept.append)
    assert source.held.wait(30)
    samples, marks = watch.end(None)
    assert [mark.what for mark in marks] == ["no more telemetry from the drive: no answer in time"]
    asked = after.asked
    source.let_go.set()
    watch._thread.join(30)
    assert len(samples) == len(kept) == len(watch._samples) == 1
    assert (after.asked, after.ended) == (asked, 1), "nor is anything else asked"


def test_a_late_sample_goes_into_no_other_file(tmp_path: Path) -> None:
    """The next file that is opened has the number of the descriptor that was closed."""
    with HeldFolder(tmp_path, writing=True) as steps:
        with kept_as_taken(steps, "0000-1.samples") as keep, kept_as_taken(steps, "0000-2.samples") as none:
            keep(Sample(1))
        with (tmp_path / "next").open("wb"):
            for late in (keep, none):
                late(Sample(2))
        assert [sample.at_ns for sample in read_samples(steps, "0000-1.samples")] == [1]
        assert (tmp_path / "next").read_bytes() == b""
        assert steps.names() == ["0000-1.samples", "next"], "and none is made"


def test_a_reading_that_fails_is_none() -> None:
    def ask() -> DriveHealth:
        raise DriveError("gone", "plug it in")

    assert HostTelemetry((), ask).reading() is None


def test_the_kernels_log_is_read_from_the_beginning_of_the_step(tmp_path: Path) -> None:
    """A fifo stands for /dev/kmsg: one record a read, nothing to wait for at its end."""
    path = tmp_path / "kmsg"
    os.mkfifo(path)
    log = KernelLog(path, ("nvme0n1", "nvme0", "0000:01:00.0"))
    keeps = os.open(path, os.O_RDWR)
    log._descriptor, log._left = os.open(path, os.O_RDONLY | os.O_NONBLOCK), 20

    def say(text: str) -> list:
        os.write(keeps, text.encode())
        return log.marks(10**12)

    (mark,) = say("3,12,5000000,-;nvme nvme0: I/O 12 QID 3 timeout, aborting\n SUBSYSTEM=nvme\n")
    assert (mark.code, mark.at_ns) == ("drive-reset", 5 * 10**9)
    assert mark.what == "kernel: nvme nvme0: I/O 12 QID 3 timeout, aborting"
    assert say("6,13,6000000,-;nvme nvme01: another drive resets\n") == []
    assert say("6,14,6000000,-;eth0: link is down\n") == []
    (mark,) = say("4,15,7000000,-;pcieport 0000:00:01.0: AER: Corrected error of 0000:01:00.0\n")
    assert mark.code == "drive-error"
    (mark,) = say("6,16,7000000,-;nvme0n1: detected capacity change from 8 to 16\n")
    assert mark.code == "kernel-log"
    found = [say(f"3,{n},8000000,-;nvme nvme0: I/O {n} timeout\n") for n in range(30)]
    assert sum(map(len, found)) == 17, "of a storm the first twenty in all"
    log.end()
    os.close(keeps)


def test_a_link_that_gets_slower_is_marked(tmp_path: Path) -> None:
    disk = tmp_path / "0000:01:00.0" / "nvme" / "nvme0" / "nvme0n1"
    disk.mkdir(parents=True)
    speed, width = (tmp_path / "0000:01:00.0" / f"current_link_{name}" for name in ("speed", "width"))
    speed.write_text("16.0 GT/s PCIe\n")
    width.write_text("4\n")
    link = Link(disk, "pcie")
    link.begin()
    assert link.figures()["link_mb_s"] == pytest.approx(16e9 * 128 / 130 / 8 * 4 / 1e6)
    assert link.marks(1) == []
    width.write_text("1\n")
    link.figures()
    (mark,) = link.marks(7)
    assert (mark.code, mark.at_ns) == ("link-changed", 7)
    assert mark.what == "the link went from 7,877 MB/s to 1,969 MB/s"
    assert link.marks(8) == []
