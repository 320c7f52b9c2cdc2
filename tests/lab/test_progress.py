"""What is shown while a run goes on: ranges of time, plain lines, the live file."""

from __future__ import annotations

import io
import json
import re
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.fake_drive import FakeDrive, resume_on, run_on
from ssdlab.cli import main
from ssdlab.cli import progress as shown
from ssdlab.lab.found import find_method
from ssdlab.lab.lab import Lab
from ssdlab.lab.method import Method, Params
from ssdlab.lab.parts.workloads import closed_loop
from ssdlab.lab.verbs.steps import Request
from ssdlab.lab.verbs.workload import Fill
from ssdlab.model.errors import Interrupted
from ssdlab.model.summary import Summary
from ssdlab.model.workload import Stop, Stream, Workload
from ssdlab.results.progress import LiveFile, Progress, read_live
from ssdlab.results.schema import JobResult, Status
from ssdlab.runs.plan import Plan, Recorder, planned_step
from ssdlab.runs.time_left import TimeLeft
from ssdlab.runs.tracking import LiveRate, Tracker

AT = Progress(
    ordinal=2,
    steps=11,
    verb="run",
    label="depth 4",
    phase="measuring",
    step_elapsed_s=12.0,
    step_least_s=62.0,
    step_most_s=66.0,
    run_elapsed_s=140.0,
    remaining_least_s=480.0,
    remaining_most_s=560.0,
    iops=51_234.0,
    mb_s=209.9,
    p50_ns=78_000,
    p99_ns=140_000,
    p999_ns=1_200_000,
)


@pytest.mark.parametrize(
    ("lower", "upper", "text"),
    [
        (60, 61, "61.0 s"),
        (480, 560, "8 min 00 s to 9 min 20 s"),
        (0, 2, "at most 2.00 s"),
        (1.6, 2, "1.60 s to 2.00 s"),
        (4.64, 5.01, "4.60 s to 5.10 s"),
        (59.6, 90.2, "59.0 s to 91.0 s"),
        (0.1, 0.31, "at most 0.400 s"),
        (36_000, 72_000, "10 h 00 min to 20 h 00 min"),
        (0, 0, "0 s"),
    ],
)
def test_a_range_is_told_as_one(lower: float, upper: float, text: str) -> None:
    assert shown.range_text(lower, upper) == text


@given(st.floats(0, 500 * 3600), st.floats(0, 500 * 3600))
def test_what_is_told_of_a_range_encloses_it(one: float, other: float) -> None:
    lower, upper = sorted((one, other))
    ends = shown.range_text(lower, upper).removeprefix("at most ").split(" to ")
    assert seconds_of(ends[-1]) >= upper
    assert len(ends) == 1 or seconds_of(ends[0]) <= lower


def seconds_of(told: str) -> float:
    """Return the length of a time as it is told: `2 h 05 min`, `4 min 30 s`, `90.0 s`."""
    words = told.split()
    unit_s = {"h": 3600, "min": 60, "s": 1, "ms": 1e-3}
    return sum(float(number) * unit_s[unit] for number, unit in zip(words[::2], words[1::2], strict=True))


def test_steps_of_a_job_are_counted_as_its_file_has_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The run's own look at the conditions comes before them, and is none of them."""
    job = tmp_path / "two.toml"
    job.write_text('[[step]]\ndo = "run"\nbytes = "1m"\n\n[[step]]\ndo = "idle"\nseconds = 1\n')
    assert main(["job", str(job), "sim:tiny-test,scale=4", "--library", str(tmp_path / "runs")]) == 0
    told = capsys.readouterr().err.splitlines()
    assert any(line.startswith("[before] conditions") for line in told)
    counted = [re.match(r"\[(\d)/(\d)\] step (\d) of the job", line) for line in told]
    found = [match.groups() for match in counted if match is not None]
    assert ("1", "2", "1") in found and ("2", "2", "2") in found
    assert all(number == step and steps == "2" for number, steps, step in found)
    assert main(["job", str(job), "sim:tiny-test,scale=4", "--dry-run"]) == 0
    assert re.search(r"^ +1 reads", capsys.readouterr().out, re.MULTILINE)


def test_the_lines_tell_place_time_left_and_live_figures() -> None:
    first, second = shown.status_lines(AT)
    assert first == "[3/11] depth 4, measuring 12.0 s; 8 min 00 s to 9 min 20 s left in total"
    assert second.split() == [
        "51.2k",
        "IOPS",
        "210",
        "MB/s",
        "p50",
        "78.0",
        "µs",
        "p99",
        "140",
        "µs",
        "p99.9",
        "1.20",
        "ms",
    ]
    assert "slowest of 2 kinds" in shown.status_lines(replace(AT, slowest_of=2))[1]
    assert "slowest" not in shown.status_lines(AT)[1]
    assert "5 failed" in shown.status_lines(replace(AT, failed=5))[1]
    assert len(shown.status_lines(replace(AT, iops=None))) == 1
    more = shown.status_lines(replace(AT, ordinal=51, steps=47))[0]
    assert more.startswith("[52] depth 4"), "a resumed run comes to more steps than its plan has"


def test_plain_lines_come_once_a_minute_and_at_each_phase(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = SimpleNamespace(now=0.0)
    monkeypatch.setattr(shown.time, "monotonic", lambda: clock.now)
    watched = shown.RunProgress(shown.PlainDisplay())
    watched.began(AT)
    for _ in range(20 * 150):
        clock.now += 0.05
        watched.tick(AT)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1 + 2, "one at the phase and one for each full minute"
    assert lines[0].startswith("[3/11] depth 4: ") and "IOPS" in lines[1]
    assert not any("\x1b" in line for line in lines)


def test_a_terminal_is_redrawn_and_without_colours_if_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    from rich.console import Console

    for no_colour in ("", "1"):
        written = Terminal()
        monkeypatch.setenv("TERM", "xterm")
        monkeypatch.setenv("NO_COLOR", no_colour)
        display = shown.LiveDisplay(Console(file=written, force_terminal=True, width=100, highlight=False))
        display.update(shown.status_lines(AT))
        time.sleep(0.6)
        display.say("[1/2] a line [with brackets]")
        display.close()
        assert "51.2k IOPS" in written.getvalue() and "[with brackets]" in written.getvalue()
        if no_colour:
            assert not re.search(r"\x1b\[[0-9;]*3[0-7]m", written.getvalue())


def test_no_terminal_gives_the_plain_display() -> None:
    assert isinstance(shown.display(), shown.PlainDisplay)


class Terminal(io.StringIO):
    """Takes what a terminal would."""

    def isatty(self) -> bool:
        return True


class Seen:
    """Keeps what an observer is told."""

    def __init__(self) -> None:
        self.began_with: list[Progress] = []
        self.finished_with: list[tuple[str, bool]] = []
        self.attempts: list[tuple[int, int]] = []
        self.ticks: list[Progress] = []
        self.status = None

    def began(self, progress: Progress) -> None:
        self.began_with.append(progress)

    def tick(self, progress: Progress) -> None:
        self.ticks.append(progress)

    def finished(self, step, progress: Progress, *, read_back: bool) -> None:
        self.attempts.append((step.ordinal, step.attempt))
        self.finished_with.append((step.label, read_back))

    def ended(self, status) -> None:
        self.status = status


def test_a_resume_tells_as_finished_what_stands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A preparation that the interruption voids is done again: it was never "finished before"."""

    def procedure(lab: Lab, p: Params) -> None:
        lab.fill()
        write = closed_loop("random", "write", block_bytes=4096, in_flight=4, seconds=5.0)
        lab.precondition(write, label="prepared")
        with lab.on_interruption("re-precondition"):
            lab.sweep("depth", (1, 2), lambda depth: read_of(depth))

    def read_of(depth: int) -> Workload:
        return closed_loop("random", "read", block_bytes=4096, in_flight=depth, seconds=1.0)

    def stop(count: int) -> None:
        if count == 4:
            raise Interrupted("stopped by a signal", "resume")

    method = Method("some", 1, "Some", Params, procedure, lambda data, p: JobResult(quick=False, points=()))
    monkeypatch.setattr("ssdlab.runs.resume_checks.find_method", lambda name: method)
    with pytest.raises(Interrupted):
        run_on(FakeDrive(before_run=stop), method, Params(), tmp_path)
    (folder,) = tmp_path.glob("2*")
    seen = Seen()
    resume_on(FakeDrive(), folder, observers=[seen])
    told = [("fill, 1 x", True), ("prepared", False), ("depth 1", True), ("depth 2", False)]
    assert seen.finished_with == told
    assert seen.attempts == [(0, 1), (1, 2), (2, 1), (3, 2)]


def test_observers_are_told_in_order_and_the_time_left_falls(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from lab.fake_drive import environment
    from ssdlab.runs import tracking
    from ssdlab.runs.order import Order
    from ssdlab.runs.session import start

    clock = SimpleNamespace(monotonic=lambda: 0.0, process_time=lambda: 0.0)
    monkeypatch.setattr(tracking, "time", clock)
    method, seen = find_method("peak-random-read"), Seen()
    start(Order(method, method.params(), "/dev/fake0", seed=1), tmp_path, [seen], environment(FakeDrive()))
    assert [label for label, _ in seen.finished_with] == ["conditions", *[f"depth {2**n}" for n in range(10)]]
    assert not any(read_back for _, read_back in seen.finished_with)
    left = [progress.remaining_least_s for progress in seen.began_with]
    assert (
        left == sorted(left, reverse=True) and left[0] == pytest.approx(620) and left[-1] == pytest.approx(62)
    )
    assert seen.status == "finished" and {progress.steps for progress in seen.ticks} == {11}


def test_a_step_by_bytes_is_timed_by_the_speed_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    from ssdlab.runs import tracking

    clock = SimpleNamespace(now=0.0)
    monkeypatch.setattr(tracking.time, "monotonic", lambda: clock.now)
    stream = Stream(ops="write", pattern="sequential", block=131072, stop=Stop(bytes=100 * 10**9))
    request = Request(0, "fill", Fill.of(Workload.of(stream), passes=1), "continue")
    seen = Seen()
    tracker = Tracker(Plan((planned_step(request),)), [seen])
    tracker.began(request)
    clock.now = 10.0
    tracker.tick(SimpleNamespace(latest=None, phase="measuring", bytes=10 * 10**9, failed=0))
    (progress,) = seen.ticks
    assert progress.remaining_least_s < 90 < progress.remaining_most_s
    assert progress.remaining_most_s < 160 < seen.began_with[0].remaining_most_s


def test_the_live_file_is_whole_and_for_everybody(tmp_path: Path) -> None:
    assert read_live(tmp_path) is None
    live = LiveFile(tmp_path)
    live.began(AT)
    stored = read_live(tmp_path)
    assert stored["schema"] == "ssdlab.live/2" and stored["label"] == "depth 4" and stored["iops"] == 51_234.0
    live.tick(replace(AT, label="too soon"))
    assert read_live(tmp_path)["label"] == "depth 4"
    assert [path.name for path in tmp_path.iterdir()] == ["live.json"]
    (tmp_path / "live.json").write_text("{")
    assert read_live(tmp_path) is None


def test_a_live_file_that_cannot_be_written_stops_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "gone"
    folder.mkdir()
    live = LiveFile(folder)
    folder.rmdir()
    live.began(AT)
    live.ended("finished")
    assert json.dumps(AT.as_dict())


def test_a_recorded_step_has_no_outcome() -> None:
    lab = Lab(Recorder(), capacity_bytes=1 << 30, logical_block_bytes=512)
    assert shown.outcome(lab.note("x")) is None


@pytest.mark.parametrize(
    ("reads", "writes", "said"),
    [
        ({"mean": 5e4, "p99": 9e4}, None, "mean 50.0 µs, p99 90.0 µs"),
        (
            {"mean": 5e4, "p99": 9e4},
            {"mean": 7e5, "p99": None},
            "mean 700 µs (writes, the slower), p99 90.0 µs (reads only)",
        ),
        (
            {"mean": 5e4, "p99": 9e6},
            {"mean": 7e5, "p99": 8e5},
            "mean 700 µs (writes, the slower), p99 9.00 ms (reads, the slower)",
        ),
        ({"mean": 5e4, "p99": None}, {"mean": 7e5, "p99": None}, "mean 700 µs (writes, the slower)"),
    ],
)
def test_each_time_says_which_direction_it_is_of(
    reads: dict[str, float], writes: dict[str, float] | None, said: str
) -> None:
    """Of too few I/Os a percentile is not known: that of the other direction is not the slower's."""
    sides = {"read": reads, "write": writes}
    done = {name: side and {"ios": 100, "response_ns": side} for name, side in sides.items()}
    summary = Summary.model_validate({"iops": 1000.0, "mb_s": 4.0, "elapsed_s": 1.0, **done})
    step = SimpleNamespace(summary=summary)
    assert shown.outcome(step) == f"1.00k IOPS, 4.00 MB/s, {said}"  # type: ignore[arg-type]
    p99 = [side["p99"] for side in (reads, writes) if side is not None]
    assert summary.slower("p99") == (None if None in p99 else max(p99))


def test_progress_is_read_back_from_what_is_written_of_it() -> None:
    assert Progress.of({**AT.as_dict(), "schema": "ssdlab.live/2", "pid": 7}) == AT


@pytest.mark.parametrize(
    ("ordinal", "status", "said"),
    [
        (8, "finished", "finished early (2 optional steps skipped)"),
        (9, "finished", "finished early (1 optional step skipped)"),
        (10, "finished", None),
        (8, "interrupted", None),
    ],
)
def test_steps_that_were_not_needed_do_not_just_vanish(
    ordinal: int, status: Status, said: str | None, capsys: pytest.CaptureFixture[str]
) -> None:
    watched = shown.RunProgress(shown.PlainDisplay())
    watched.began(replace(AT, ordinal=ordinal))
    capsys.readouterr()
    watched.ended(status)
    assert capsys.readouterr().err.splitlines() == ([] if said is None else [said])


ROW_NS = 4_000_000 // 3


def test_the_rate_of_short_rows_is_that_of_a_longer_stretch() -> None:
    """Of rows of 1.33 ms every rate was a multiple of 750; the drive does 10,100 a second."""
    live, found = LiveRate(), []
    for at in range(1, 40):
        elapsed = at * 50_000_000
        ios = 10_100 * elapsed // 10**9
        latest = SimpleNamespace(start_ns=elapsed - ROW_NS, end_ns=elapsed, iops=9_750.0, mb_s=39.9)
        found.append(live.of(snap(latest, elapsed, ios)))
    assert found[0] == (9_750.0, 39.9), "there is nothing yet to go by"
    assert all(rate == pytest.approx((10_100, 10_100 * 4096 / 1e6)) for rate in found[1:])
    # What it does from then on shows within a quarter of a second.
    for at in range(1, 7):
        latest = SimpleNamespace(start_ns=0, end_ns=ROW_NS, iops=0.0, mb_s=0.0)
        rate = live.of(snap(latest, elapsed + at * 50_000_000, ios))
    assert rate == (0.0, 0.0)


def test_the_rate_of_a_row_that_is_long_enough_is_its_own() -> None:
    live = LiveRate()
    assert live.of(snap(None, 0, 0)) is None
    latest = SimpleNamespace(start_ns=0, end_ns=10**9, iops=123.0, mb_s=4.5)
    assert live.of(snap(latest, 10**9, 7)) == (123.0, 4.5)


def snap(latest: object, elapsed_ns: int, ios: int) -> Any:
    return SimpleNamespace(latest=latest, elapsed_ns=elapsed_ns, ios=ios, bytes=ios * 4096, phase="measuring")


def test_a_step_is_announced_with_what_the_plan_knows_of_the_drive_by_then(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Writes in order that come behind random ones were foretold as of a drive that was just made."""
    drive = "sim:tiny-test,scale=4"
    job = tmp_path / "job.toml"
    step = '[[step]]\ndo = "run"\nlabel = "{}"\nrw = "{}"\nbs = "{}"\n{}\n'
    steps = [("first", "write", "128k", 'bytes = "2GiB"'), ("random", "randwrite", "4k", 'seconds = "2s"')]
    steps += [("again", "write", "128k", 'bytes = "2GiB"')]
    job.write_text("".join(step.format(*each) for each in steps))
    assert main(["job", str(job), drive, "--destroy", drive, "--library", str(tmp_path)]) == 0
    told = capsys.readouterr().err
    longest = {}
    for label in ("first", "again"):
        (seconds,) = re.findall(rf"\] {label}: [0-9.]+ s to ([0-9.]+) s", told)
        longest[label] = float(seconds)
    assert longest["again"] > 2 * longest["first"], told


def test_a_speed_seen_in_order_says_nothing_behind_random_writes() -> None:
    def of(pattern: str, block: int, nbytes: int) -> Workload:
        return Workload.of(Stream(ops="write", pattern=pattern, block=block, stop=Stop(bytes=nbytes)))

    works = [of("sequential", 131072, 10**10), of("uniform", 4096, 10**9), of("sequential", 131072, 10**10)]
    requests = [
        Request(at, f"step {at}", Fill.of(work, passes=1), "continue") for at, work in enumerate(works)
    ]
    left = TimeLeft(Plan(tuple(planned_step(request) for request in requests)))
    longest = [left.after(2).upper]
    for at, mb_s in ((0, 1000.0), (1, 100.0)):
        done: Any = SimpleNamespace(
            verb="run", workload=works[at], summary=SimpleNamespace(mb_s=mb_s, moved_bytes=10**9)
        )
        left.finished(at, done, 10.0)
        longest.append(left.after(2).upper)
    assert longest[1] < longest[0] / 3 and longest[2] == longest[0], longest
