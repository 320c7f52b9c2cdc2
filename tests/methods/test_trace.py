"""Replay on a simulated drive: a generated trace with known gaps gives exact lateness and totals."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from methods.on_simulated import SMALL, findings_of, run
from report.reading import Page
from ssdlab.cli import main
from ssdlab.formats.traces import example
from ssdlab.lab.found import find_method
from ssdlab.lab.outcome import read_result
from ssdlab.methods.trace.result import TraceResult
from ssdlab.model.errors import Interrupted, Refused, UsageError
from ssdlab.model.host_load import HostLoad
from ssdlab.report import page, source
from ssdlab.results.evidence import qualified
from ssdlab.results.run_folder import RunFolder
from ssdlab.runs.order import Order, plan_order
from ssdlab.runs.session import RunEnvironment, resume, start

GAP_US = 20_000
BYTES = {"R": 4096, "W": 16384}


@pytest.fixture
def gaps(tmp_path: Path) -> Path:
    """100 I/Os 20 ms apart, three reads and a write in turn, over 100 MiB."""
    path = tmp_path / "gaps.csv"
    lines = []
    for number in range(100):
        op = "W" if number % 4 == 3 else "R"
        lines.append(f"7,{op},{number << 20},{BYTES[op]},{1_600_000_000_000_000 + number * GAP_US}\n")
    path.write_text("".join(lines))
    return path


def replayed(library: Path, trace: Path, **settings: str) -> TraceResult:
    result = read_result(run("trace", library, file=str(trace), **settings))
    assert isinstance(result, TraceResult)
    return result


def test_with_gaps_no_io_is_late_and_totals_are_those_of_the_trace(tmp_path: Path, gaps: Path) -> None:
    result = replayed(tmp_path, gaps)
    done = result.done
    assert (done.ios, done.late, done.dropped, done.failed) == (100, 0, 0, 0)
    assert done.lateness_ns["max"] == 0
    assert (done.read_bytes, done.write_bytes) == (75 * 4096, 25 * 16384)
    assert result.recording.duration_ns == 99 * GAP_US * 1000 == result.laid.trace_ns
    # Nothing overlaps: busy time is the sum of the services, and the last I/O ends the run.
    waited = sum(done.service_ns[name]["mean"] * ios for name, ios in (("read", 75), ("write", 25)))
    assert done.busy_s * 1e9 == pytest.approx(waited, rel=1e-5)
    assert done.in_flight == pytest.approx(done.busy_s / done.seconds, rel=1e-5)
    assert done.service_mean_ns == pytest.approx(waited / 100, rel=1e-5)
    assert done.mb_s == pytest.approx((75 * 4096 + 25 * 16384) / done.busy_s / 1e6)
    assert 0 < done.seconds * 1e9 - 99 * GAP_US * 1000 <= max(s["max"] for s in done.service_ns.values())
    assert (
        done.energy_j == pytest.approx(done.mean_w * done.seconds) if done.mean_w else done.energy_j is None
    )


@pytest.mark.long
def test_faster_is_shorter_and_max_is_a_closed_loop(tmp_path: Path, gaps: Path) -> None:
    faster = replayed(tmp_path / "a", gaps, speed="10")
    assert faster.recording.duration_ns == 99 * GAP_US * 100
    assert faster.done.seconds == pytest.approx(99 * GAP_US * 1e-7, rel=0.01)
    # The same I/Os, and so much room between them that the drive does not notice.
    slower = replayed(tmp_path / "b", gaps)
    assert faster.done.service_mean_ns == pytest.approx(slower.done.service_mean_ns, rel=0.02)
    upper = replayed(tmp_path / "c", gaps, speed="max", depth="4")
    assert (upper.done.ios, upper.done.late) == (100, 0)
    assert upper.done.busy_s == pytest.approx(upper.done.seconds)
    assert upper.done.seconds < faster.done.seconds / 10
    assert 3 < upper.done.in_flight <= 4


def test_one_at_a_time_is_late_by_what_is_in_front(tmp_path: Path) -> None:
    """Ten reads due at once, one slot: the n-th is late by n services, all alike on an idle drive."""
    trace = tmp_path / "burst.csv"
    trace.write_text("".join(f"1,R,{n << 22},4096,5\n" for n in range(10)))
    done = replayed(tmp_path, trace, depth="1").done
    service = done.service_ns["read"]["max"]
    assert service is not None and done.service_ns["read"]["min"] == service
    assert done.lateness_ns["max"] == pytest.approx(9 * service, rel=0.01)
    assert done.lateness_ns["mean"] == pytest.approx(4.5 * service, rel=1e-9)
    dropped = replayed(tmp_path / "b", trace, depth="1", backlog=f"{int(service * 2.5)}ns").done
    assert (dropped.ios, dropped.dropped) == (3, 7)


def test_gaps_are_cut_and_io_beyond_the_end_is_wrapped(tmp_path: Path) -> None:
    trace = tmp_path / "far.csv"
    trace.write_text(f"1,R,{1 << 42},4096,0\n1,R,0,4096,{3600 * 10**6}\n1,R,512,1000,{3600 * 10**6 + 5}\n")
    result = replayed(tmp_path, trace, gap_most="25ms")
    assert (result.laid.gaps_cut, result.recording.duration_ns) == (1, 25_000_000)
    assert (result.laid.wrapped, result.laid.extent_bytes) == (1, (1 << 42) + 4096)
    said = findings_of(result)
    assert any("1 I/O beyond the drive's end was wrapped" in each for each in said)
    assert any("1 I/O was left out: not in whole logical blocks" in each for each in said)


def test_the_plan_holds_and_knows_the_trace(tmp_path: Path, gaps: Path) -> None:
    method = find_method("trace")
    params = method.params.build({"file": str(gaps), "fill": "false"})
    plan = plan_order(Order(method, params, SMALL, destroy=SMALL))
    step = plan.steps[-1]
    assert step.seconds.lower == pytest.approx(99 * GAP_US / 1e6)
    done = replayed(tmp_path, gaps, fill="false").done
    assert step.seconds.lower <= done.seconds <= step.seconds.upper
    assert step.bytes_written.lower <= done.write_bytes <= step.bytes_written.upper == 25 * 16384


def test_the_page_shows_the_bench_the_trace_and_the_lateness(tmp_path: Path, gaps: Path) -> None:
    """Two runs in the same charts, each figure of the result in a table."""
    folders = [run("trace", tmp_path, file=str(gaps), speed=speed) for speed in ("1", "max")]
    read = Page.of(page.render([source.read(folder.path) for folder in folders]))
    assert {"gaps.csv", "alibaba", "as timed", "as fast as possible"} <= set(read.cells)
    for folder in folders:
        done = read_result(folder).done
        for value in (done.mb_s, done.service_mean_ns, done.busy_s, done.service_ns["read"]["max"]):
            assert repr(value) in read.cells


def test_the_example_runs_and_says_that_it_is_made_up(tmp_path: Path) -> None:
    result = read_result(run("trace", tmp_path, seconds="2"))
    assert isinstance(result, TraceResult) and result.source.file == example.NAME
    assert result.scalars and all("example" in figure.codes for figure in result.scalars)
    assert result.done.ios + result.done.dropped == result.laid.ios > 0


def test_a_run_goes_on_without_its_trace_wherever_its_folder_lies(tmp_path: Path, gaps: Path) -> None:
    """What was read once lies in the run folder; the journal names it without the folder."""
    order = _order(gaps)
    folder = _interrupted_at(order, tmp_path / "library")
    gaps.unlink()
    moved = tmp_path / "moved" / folder.name
    shutil.move(folder, moved)
    result = read_result(RunFolder(resume(moved)))
    assert isinstance(result, TraceResult) and result.done.ios == 100


def test_another_trace_under_the_same_name_is_not_taken_for_it(tmp_path: Path, gaps: Path) -> None:
    folder = _interrupted_at(_order(gaps), tmp_path / "library")
    (file,) = folder.glob("trace-*.records")
    changed = bytearray(file.read_bytes())
    changed[16 + 8 + 2] ^= 16
    file.write_bytes(changed)
    with pytest.raises((Refused, UsageError), match="digest"):
        resume(folder)


def _order(trace: Path) -> Order:
    method = find_method("trace")
    return Order(method, method.params.build({"file": str(trace)}), SMALL, destroy=SMALL)


def _interrupted_at(order: Order, library: Path) -> Path:
    """Begin a run and stop it when the trace was read."""

    def flag() -> bool:
        return any('"verb":"fill"' in path.read_text() for path in library.glob("*/journal.jsonl"))

    with pytest.raises(Interrupted):
        start(order, library, environment=RunEnvironment(stopped=flag))
    (folder,) = (path.parent for path in library.glob("*/manifest.json"))
    assert any(step.verb == "trace" for step in RunFolder(folder).steps())
    return folder


BAD = [
    ("--set file=nowhere.csv", "No such file", "give the path"),
    ("--set file=bad.csv", "1 of 3 lines", "bad_lines=skip"),
    ("--set file=back.csv", "go back 1 times, first in line 2", "order=sort"),
    ("--set file=empty.csv", "is empty", "at least one I/O"),
    ("--set speed=quick", "speed 'quick'", "max"),
    ("--set format=blktrace", "there is no format 'blktrace'", "known"),
    ("--set depth=0", "depth is '0'", "in flight"),
]


@pytest.mark.parametrize(("words", "what", "advice"), BAD)
def test_bad_input_is_told_before_anything_is_touched(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: str,
    what: str,
    advice: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    (tmp_path / "bad.csv").write_text("1,R,0,512,0\n1,R,0,512,soon\n1,R,0,512,9\n")
    (tmp_path / "back.csv").write_text("1,R,0,512,5\n1,R,0,512,0\n")
    (tmp_path / "empty.csv").write_text("")
    assert main(["run", "trace", SMALL, "--destroy", SMALL, *words.split(), "--json"]) == 2
    told: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert what in told["what"] and advice.casefold() in told["advice"].casefold()
    assert not list((tmp_path / "data").glob("ssdlab/runs/*/manifest.json"))


@pytest.mark.parametrize(("busy", "limited"), [(0.2, False), (0.97, True)])
def test_times_of_a_loaded_host_are_marked_and_not_judged(
    tmp_path: Path, gaps: Path, busy: float, limited: bool
) -> None:
    folder = run("trace", tmp_path, file=str(gaps), fill="false")
    steps = {step.verb: step for step in folder.steps()}
    load = HostLoad(threads=1, cores=2, cpu_busy_share=busy, run_queue_delay_share=0.0)
    replayed = replace(steps["run"], result=steps["run"].result.model_copy(update={"host": load}))
    result = qualified(TraceResult.of(replayed, steps["trace"], 32, made_up=False, quick=False), [replayed])
    assert ("host-limited" in findings_of(result)[0]) is limited
    timed = [figure for figure in result.scalars if figure.unit in ("MB/s", "ns")]
    assert timed and all(("host-limited" in figure.codes) is limited for figure in timed)
