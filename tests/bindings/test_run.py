"""The wait loop: progress, conditions on rows, exceptions, and other Python threads beside it."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest

from bindings.workloads import even, stop, stream, workload
from ssdlab import _core
from ssdlab.model import errors


def test_a_run_ends_as_its_workload_says(target: _core.Target) -> None:
    measurement = _core.run(target, workload(stream(stop=stop(ios=1234))))
    summary = measurement.summary()
    assert summary["read"]["ios"] == 1234
    assert summary["read"]["requested"] == 1234
    assert summary["write"] is None
    assert summary["engine"] == "sync"
    assert summary["seed"] == 7
    assert summary["complete"]
    assert summary["overshoot"] is None
    assert measurement.decided_row is None


def test_progress_is_pulled_and_moves(target: _core.Target) -> None:
    snapshots: list[_core.Snapshot] = []
    _core.run(target, workload(stream(stop=stop(time_ns=600_000_000))), on_tick=snapshots.append)
    assert 6 <= len(snapshots) <= 14
    assert {s.phase for s in snapshots} <= {"starting", "measuring", "draining"}
    elapsed = [s.elapsed_ns for s in snapshots]
    assert elapsed == sorted(elapsed)
    assert snapshots[-1].ios > snapshots[0].ios
    latest = snapshots[-1].latest
    assert latest is not None
    assert latest.ios == sum(cell.ios for cell in latest.cells)
    assert latest.cells[0].stream == "main"
    assert latest.cells[0].direction == "read"
    assert latest.cells[0].latency("response")["p50_ns"] > 0


def test_until_is_asked_once_per_row_in_order(target: _core.Target) -> None:
    asked: list[int] = []

    def until(rows: list[_core.Row]) -> bool:
        assert [row.index for row in rows] == list(range(len(rows)))
        asked.append(rows[-1].index)
        return len(rows) == 4

    measurement = _core.run(target, workload(), until=until)
    assert asked == [0, 1, 2, 3]
    assert measurement.decided_row == 3


def test_the_deciding_row_ends_the_result_and_the_rest_is_overshoot(target: _core.Target) -> None:
    measurement = _core.run(target, workload(), until=lambda rows: len(rows) == 3)
    columns = measurement.rows("main", "read")
    assert columns["index"].tolist() == [0, 1, 2]
    assert not columns["partial"].any()
    summary = measurement.summary()
    assert summary["read"]["ios"] == columns["ios"].sum()
    assert summary["elapsed_s"] == pytest.approx(0.3)
    overshoot = measurement.overshoot
    assert overshoot is not None
    # Rows are looked at every 50 ms on both sides, so the run goes on for about two ticks.
    assert 0 < overshoot["ns"] < 500_000_000
    assert overshoot["ios"] > 0
    assert summary["total_s"] == pytest.approx(0.3 + overshoot["ns"] / 1e9)


def test_rows_are_judged_even_when_the_workload_ends_first(target: _core.Target) -> None:
    asked: list[int] = []

    def until(rows: list[_core.Row]) -> bool:
        asked.append(rows[-1].index)
        return False

    measurement = _core.run(target, workload(stream(stop=stop(time_ns=250_000_000))), until=until)
    assert asked == measurement.rows("main", "read")["index"].tolist()
    assert measurement.overshoot is None


@pytest.mark.parametrize("callback", ["on_tick", "until"])
def test_an_exception_in_a_callback_stops_the_run_and_is_raised(target: _core.Target, callback: str) -> None:
    threads_before = threading.active_count()

    def fail(_: object) -> bool:
        raise LookupError("from the callback")

    begin = time.monotonic()
    with pytest.raises(LookupError, match="from the callback"):
        _core.run(target, workload(), **{callback: fail})
    assert time.monotonic() - begin < 2
    assert left_behind() == []
    assert threading.active_count() == threads_before


def left_behind() -> list[str]:
    """Names of the engine's threads that stay: the kernel may keep a joined one in /proc for a moment."""
    latest = time.monotonic() + 5
    while (names := engine_threads()) and time.monotonic() < latest:
        time.sleep(0.01)
    return names


def engine_threads() -> list[str]:
    return [
        name for task in Path("/proc/self/task").iterdir() if (name := name_of(task)).startswith("ssdlab")
    ]


def name_of(task: Path) -> str:
    try:
        return (task / "comm").read_text().strip()
    except (FileNotFoundError, ProcessLookupError):
        return ""  # it ended between the list and the look


def test_other_python_threads_run_meanwhile(target: _core.Target) -> None:
    counted = 0
    finished = threading.Event()

    def count() -> None:
        nonlocal counted
        while not finished.is_set():
            counted += 1
            time.sleep(0.001)

    counter = threading.Thread(target=count)
    counter.start()
    _core.run(target, workload(even(100, stop=stop(time_ns=500_000_000))))
    finished.set()
    counter.join()
    assert counted > 100


def test_two_runs_at_once_from_two_threads(target: _core.Target) -> None:
    done: list[_core.Measurement] = []

    def one() -> None:
        done.append(_core.run(target, workload(stream(stop=stop(ios=500)))))

    threads = [threading.Thread(target=one) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [measurement.summary()["read"]["ios"] for measurement in done] == [500, 500]


def test_a_closed_target_is_refused(target: _core.Target) -> None:
    target.close()
    assert target.closed
    with pytest.raises(errors.UsageError, match="is closed"):
        _core.run(target, workload())
