"""Times of the block layer: against a slow model, a device of known speed, and the kernel's own account."""

from __future__ import annotations

import multiprocessing
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from machine import blkio
from ssdlab.cli import main
from ssdlab.lab.outcome import read_result
from ssdlab.methods.trace.result import Replayed, TraceResult
from ssdlab.model.errors import HostError
from ssdlab.results.run_folder import RunFolder
from ssdlab.runs import block_layer
from ssdlab.runs.block_layer import Requests

MIB = 1 << 20
BLOCK = 65_536
requests = st.lists(
    st.tuples(
        st.integers(0, 3),
        st.sampled_from(["read", "write", "trim"]),
        st.integers(0, 10**9),
        st.integers(1, 10**8),
    ),
    min_size=1,
    max_size=60,
)


@given(requests)
def test_busy_and_service_time_against_every_nanosecond_counted_alone(
    asked: list[tuple[int, str, int, int]],
) -> None:
    """Of requests that lie at their own places, so that it is known which end is of which."""
    found = Requests()
    placed = [(at, direction, begun, begun + took) for at, (_, direction, begun, took) in enumerate(asked)]
    edges = [(begun, 0, at, direction) for at, direction, begun, _ in placed]
    edges += [(end, 1, at, direction) for at, direction, _, end in placed]
    for time_ns, over, at, direction in sorted(edges):
        if over:
            found.end(time_ns, at)
        else:
            found.begin(time_ns, at, direction, 512)
    union, last = 0, -1
    for _, _, begun, end in sorted(placed, key=lambda each: each[2]):
        union += max(0, end - max(begun, last))
        last = max(last, end)
    assert found.busy_ns == union
    assert (found.count, found.unmatched, found.never_done) == (len(asked), 0, 0)
    assert found.bytes == 512 * sum(direction != "trim" for _, direction, _, _ in placed)
    for direction, figures in found.by_direction().items():
        took = sorted(end - begun for _, of, begun, end in placed if of == direction)
        assert (figures["min"], figures["max"]) == (took[0], took[-1])
        assert figures["mean"] == pytest.approx(sum(took) / len(took))
        if figures["p50"] is not None:
            assert figures["p50"] == pytest.approx(took[(len(took) + 1) // 2 - 1], rel=0.01, abs=1)


def test_one_end_alone_is_counted_and_spoils_nothing() -> None:
    found = Requests()
    found.end(5, 1)
    found.begin(10, 1, "read", 512)
    found.begin(12, 1, "read", 512)
    found.end(20, 1)
    assert (found.count, found.unmatched, found.never_done) == (1, 1, 1)
    assert found.by_direction()["read"]["mean"] == 10


def test_percentiles_that_too_few_lie_beyond_are_none() -> None:
    found = Requests()
    for at in range(100):
        found.begin(1000 * at, at, "read", 512)
        found.end(1000 * at + at + 1, at)
    figures = found.by_direction()["read"]
    assert figures["p90"] == 90 and figures["p50"] == 50
    assert figures["p99"] is None


# --- a replay on a device ---


@pytest.fixture
def over_zram(make_zram: Callable[..., Path]) -> Iterator[tuple[Path, Path]]:
    """A loop device that stands on memory: what limits the memory is within the loop device's requests."""
    memory = make_zram(64 * MIB)
    command = ["losetup", "--find", "--show", "--direct-io=on", str(memory)]
    device = subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
    yield Path(device), memory
    subprocess.run(["losetup", "--detach", device], check=True)


def trace_of(folder: Path, count: int, every_us: int) -> Path:
    """Reads and writes of 64 KiB in turn, one each so many microseconds, at places of their own."""
    lines = [
        f"{at * every_us} /dev/other {'write' if at % 2 else 'read'} {at * 7 % 1000 * BLOCK} {BLOCK}"
        for at in range(count)
    ]
    head = ["fio version 3 iolog", "0 /dev/other add", "0 /dev/other open"]
    trace = folder / "work.iolog"
    trace.write_text("\n".join([*head, *lines]) + "\n")
    return trace


def replayed(device: Path, library: Path, trace: Path, **settings: str) -> tuple[Replayed, TraceResult]:
    words = [word for each in settings.items() for word in ("--set", "=".join(each))]
    line = ["run", "trace", str(device), "--destroy", device.name, "--library", str(library)]
    assert main([*line, "--set", f"file={trace}", *words]) == 0
    (folder,) = library.glob("2*")
    result = read_result(RunFolder(folder))
    assert isinstance(result, TraceResult)
    return result.done, result


def test_a_throttled_device_is_busy_as_long_as_its_rate_says(
    tmp_path: Path, over_zram: tuple[Path, Path], throttled: Callable[..., blkio.Throttle]
) -> None:
    """Eight in flight always, 200 a second of each direction, so that it is never idle."""
    device, memory = over_zram
    count, rate = 600, 200
    throttle = throttled(memory, read_iops=rate, write_iops=rate)
    trace = trace_of(tmp_path, count, 0)
    with throttle.here():
        done, result = replayed(device, tmp_path / "runs", trace, speed="max", depth="8", fill="false")
    assert done.times_from == "block layer" and done.block_layer_fault is None
    # Half of them are reads; a slice of the throttle, 0.1 s, may be let through at once at either end. What
    # a loaded host asks for late comes in less.
    allowed_s = count / 2 / rate
    assert 0.5 * allowed_s <= done.busy_s <= allowed_s + 0.35
    assert any("block layer" in text for text in texts(result))


def texts(result: TraceResult) -> list[str]:
    from ssdlab.methods.trace.result import findings
    from ssdlab.results.claim import sentence

    return [sentence(claim) for claim in findings(result)]


def _spin() -> None:
    while True:
        pass


def ticks_of(device: Path) -> tuple[int, int]:
    """Return what the kernel counts itself: requests that were done, and ms that all of them took."""
    fields = [int(word) for word in Path(f"/sys/block/{device.name}/stat").read_text().split()]
    return fields[0] + fields[4], fields[3] + fields[7]


def test_on_a_loaded_host_the_kernels_own_account_agrees(
    tmp_path: Path, over_zram: tuple[Path, Path], throttled: Callable[..., blkio.Throttle]
) -> None:
    """Six processes that never sleep: the program waits for a processor, and the figures are judged still."""
    device, memory = over_zram
    throttle = throttled(memory, read_iops=900, write_iops=900)
    trace = trace_of(tmp_path, 1500, 1000)
    hogs = [multiprocessing.get_context("fork").Process(target=_spin, daemon=True) for _ in range(6)]
    for hog in hogs:
        hog.start()
    try:
        before = ticks_of(device)
        with throttle.here():
            done, _ = replayed(device, tmp_path / "runs", trace, fill="false")
        after = ticks_of(device)
    finally:
        for hog in hogs:
            hog.kill()
            hog.join()
    assert done.times_from == "block layer" and done.by_host == ()
    count, took_ms = (there - here for here, there in zip(before, after, strict=True))
    # The page cache's own reads of a device that is opened come beside them.
    assert 0 <= count - done.ios <= 200
    assert done.service_mean_ns is not None
    # Each time is rounded down to a jiffy's share at most, and counts from a little before the issue.
    assert done.service_mean_ns / 1e6 == pytest.approx(took_ms / count, rel=0.15, abs=0.2)
    assert done.attribution is not None and done.attribution.limit == "host"


def test_without_tracepoints_the_reason_is_kept(
    tmp_path: Path, over_zram: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    class None_:
        def __init__(self, *args: object, **more: object) -> None:
            raise HostError("the kernel's tracing files are missing", "mount them")

    monkeypatch.setattr(block_layer, "Tracing", None_)
    device, _ = over_zram
    done, result = replayed(device, tmp_path / "runs", trace_of(tmp_path, 50, 100), fill="false")
    assert done.times_from == "program"
    assert done.block_layer_fault == "the kernel's tracing files are missing"
    assert not any("from the block layer" in text for text in texts(result))


def test_a_file_is_timed_by_the_program(tmp_path: Path, scratch: Path) -> None:
    file = scratch / "drive.img"
    line = ["run", "trace", str(file), "--size", "128MiB", "--library", str(tmp_path / "runs")]
    assert main([*line, "--set", f"file={trace_of(tmp_path, 50, 100)}"]) == 0
    (folder,) = (tmp_path / "runs").glob("2*")
    result = read_result(RunFolder(folder))
    assert isinstance(result, TraceResult)
    assert (result.done.times_from, result.done.block_layer_fault) == ("program", None)
    assert file.stat().st_size == 128 * MIB
