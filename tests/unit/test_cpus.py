"""How busy the CPUs are, by lines of `/proc/stat` as proc_stat(5) has them."""

from __future__ import annotations

from pathlib import Path

import pytest

from ssdlab.host.cpus import CpuTimes, busy_share, read_cpu_times


def _times(folder: Path, *ticks: int) -> CpuTimes | None:
    stat = folder / "stat"
    stat.write_text(f"cpu  {' '.join(map(str, ticks))}\ncpu0 1 2 3 4 5 6 7 8 9 10\n")
    return read_cpu_times(stat)


def test_waiting_for_io_is_idle_and_guests_are_counted_once(tmp_path: Path) -> None:
    # user nice system idle iowait irq softirq steal guest guest_nice
    before = _times(tmp_path, 100, 10, 50, 800, 40, 0, 0, 0, 60, 10)
    after = _times(tmp_path, 130, 15, 60, 840, 50, 1, 2, 2, 85, 15)
    assert before == CpuTimes(busy=160, total=1000)
    assert after == CpuTimes(busy=210, total=1100)
    assert busy_share(before, after) == pytest.approx(0.5)


def test_too_short_a_time_has_no_share() -> None:
    assert busy_share(CpuTimes(0, 0), CpuTimes(9, 9)) is None
    assert busy_share(CpuTimes(0, 0), CpuTimes(9, 10)) == pytest.approx(0.9)
    assert busy_share(None, CpuTimes(9, 10)) is None


@pytest.mark.parametrize("text", ["", "cpu a b\n"])
def test_a_kernel_that_does_not_tell(tmp_path: Path, text: str) -> None:
    (tmp_path / "stat").write_text(text)
    assert read_cpu_times(tmp_path / "stat") is None
    assert read_cpu_times(tmp_path / "none") is None
