"""A simulated drive behind the verbs of a drive: same seed, same bits; its clock is its own."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest

from ssdlab import measure, open_drive
from ssdlab.drives.simulated.drive import PREFIX, SimulatedDrive, SimulatedText, profiles
from ssdlab.model.errors import LabError, Refused, Unsupported, UsageError
from ssdlab.model.options import MeasureOptions
from ssdlab.model.workload import Workload

TINY = "sim:tiny-test,scale=4"
_HOST_FACTS = ("cpu", "environment", "started", "workers", "host", "build", "streams")


def _workload(**options: Any) -> Workload:
    return MeasureOptions(**options).workload()


def _drive(text: str = TINY, **options: Any) -> SimulatedDrive:
    drive = open_drive(text, writing=True, **options)
    assert isinstance(drive, SimulatedDrive)
    return drive


def _of_the_drive(summary: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in summary.items() if name not in _HOST_FACTS}


def test_same_text_and_seed_give_the_same_figures() -> None:
    first, again = (measure(TINY, rw="randrw", threads=8, seconds=1, seed=3).as_dict() for _ in range(2))
    assert _of_the_drive(first) == _of_the_drive(again)
    other = measure(TINY, rw="randrw", threads=8, seconds=1, seed=4).as_dict()
    assert _of_the_drive(first) != _of_the_drive(other)


def test_a_summary_says_that_it_was_simulated_and_what_it_cost_the_flash() -> None:
    summary = measure(TINY, rw="write", bs="128k", threads=4, seconds=2).summary()
    drive = summary["drive"]
    assert (summary["engine"], drive["kind"], drive["scale"]) == ("sim", "sim", 4)
    assert summary["streams"][0]["engine"] == "sim"
    assert drive["host_bytes_written"] >= summary["write"]["bytes"]
    # A sequential overwrite moves nothing; what is left in the open word line is not in flash yet.
    assert drive["write_amplification"] == pytest.approx(1, abs=0.001)
    assert drive["erases"] > 0
    assert 2 <= summary["elapsed_s"] < 2.1


def test_no_warning_speaks_of_the_host() -> None:
    codes = {warning.code for warning in measure(TINY, threads=64, seconds=1).warnings}
    assert codes.isdisjoint({"host-limited", "run-queue-delay", "governor", "debug-build"})


def test_a_depth_1_read_is_the_sum_of_its_parts() -> None:
    profile = tomllib.loads(profiles()["tiny-test"])
    flash, link, controller = profile["flash"], profile["link"], profile["controller"]
    transfer = 4.096 * (1 + flash["bus_overhead_pct"]["value"] / 100) / flash["bus_mt_s"]["value"] * 1000
    parts = (
        link["command_us"]["value"]
        + controller["read_us"]["value"]
        + flash["read_us"]["value"][0]
        + flash["command_us"]["value"]
        + transfer
        + 4096 / link["bandwidth_mb_s"]["value"]
    )
    drive = _drive()
    drive.idle(1)
    read = drive.run(_workload(seconds=1)).summary()["read"]
    assert read["service_ns"]["mean"] / 1000 == pytest.approx(parts, rel=0.001)


def test_until_ends_the_result_at_its_row_exactly() -> None:
    seen: list[int] = []

    def at_the_third(rows: Any) -> bool:
        seen.append(len(rows))
        return len(rows) == 3

    measurement = _drive().run(_workload(threads=4, seconds=60, interval="100ms"), until=at_the_third)
    assert seen == [1, 2, 3]
    assert len(measurement.rows()["ios"]) == 3
    assert measurement.summary()["overshoot"]["ios"] <= 4


def test_an_exception_from_a_condition_carries_what_was_measured() -> None:
    def fails(rows: Any) -> bool:
        raise LabError("no", "stop")

    with pytest.raises(LabError) as caught:
        _drive().run(_workload(seconds=60), until=fails)
    assert caught.value.measurement is not None
    assert caught.value.measurement.summary()["engine"] == "sim"


def test_the_log_gives_the_measurement_back(tmp_path: Any) -> None:
    from ssdlab.model.measurement import Measurement

    path = tmp_path / "run.log"
    measurement = _drive().run(_workload(seconds=2), log_path=path)
    again = Measurement.from_journal(measurement.as_dict(), path)
    assert list(again.rows()["ios"]) == list(measurement.rows()["ios"])


def test_a_fork_and_a_restored_state_go_on_from_the_same_point() -> None:
    drive = _drive()
    writes = _workload(rw="randwrite", threads=4, seconds=1)
    drive.run(writes)
    fork, state = drive.native.fork(), drive.native.snapshot()
    resolved = writes.resolve(drive.capacity_bytes, drive.logical_block_bytes)
    first = drive.native.run(resolved).summary()["write"]
    assert fork.run(resolved).summary()["write"] == first
    drive.native.restore(state)
    assert drive.native.run(resolved).summary()["write"] == first
    with pytest.raises(UsageError, match="not one of this"):
        _drive().native.restore(state)


def test_time_passes_for_the_drive_only() -> None:
    drive = _drive()
    before = drive.native.now_ns
    drive.idle(3600)
    assert drive.native.now_ns - before == 3600 * 10**9


def test_trim_and_purge_leave_nothing_to_read() -> None:
    drive = _drive()
    assert drive.written(0, drive.capacity_bytes)
    drive.trim(0, 1 << 20)
    assert not drive.written(0, 4096)
    assert drive.written(1 << 20, 4096)
    with pytest.raises(Refused, match="never written"):
        drive.run(_workload(seconds=1))
    drive.native.purge()
    assert not drive.written(1 << 20, 4096)


def test_reads_of_a_new_drive_touch_no_flash_and_need_leave() -> None:
    new = _drive(allow_unwritten=True)
    full = _drive()
    quick = new.run(_workload(seconds=1)).summary()["read"]["service_ns"]["mean"]
    assert quick < full.run(_workload(seconds=1)).summary()["read"]["service_ns"]["mean"] / 2


def test_a_drive_opened_for_reading_is_not_written() -> None:
    drive = open_drive(TINY)
    with pytest.raises(Refused, match="opened for reading"):
        drive.run(_workload(rw="randwrite", seconds=1))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("sim:", "does not name a profile"),
        ("sim:tiny", "no profile 'tiny'"),
        ("sim:tiny-test,size=3", "size"),
        ("sim:tiny-test,scale=x", "not a whole number"),
        ("sim:tiny-test,scale=3", "scale is 3"),
        ("sim:tiny-test,scale=1,scale=1", "twice"),
        ("sim:tiny-test,spare=2", "spare is 2"),
        ("sim:tiny-test,spare=0", "spare is 0 %: no spare is left"),
        ("sim:tiny-test,seed=-1", "not a whole number of at least 0"),
        ("sim:tiny-test,power", "no value for power"),
        ("sim:tiny-test,power=-3W", "not a power limit"),
        ("sim:/no/such/profile.toml", "cannot read the profile /no/such/profile.toml: No such file"),
        ("sim:tiny-test,scale=99999999999", "too large"),
        ("sim:tiny-test,power=10", "not a power limit"),
        ("sim:tiny-test,power=nanW", "not a power limit"),
        ("sim:tiny-test,power=lowW", "not a power limit"),
        ("sim:tiny-test,power=10W", "no power model"),
        ("sim:tiny-test,trim=on", "no choice of trim 'on'"),
        ("sim:tiny-test,serial=", "serial= is not a valid serial"),
        ("sim:tiny-test,serial=a b", "serial=a b is not a valid serial"),
        ("sim:tiny-test,firmware=123456789", "firmware=123456789 is not a valid firmware"),
        ("sim:tiny-test,write-cache=1", "no choice of write-cache '1'"),
    ],
)
def test_bad_texts_are_refused(text: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        open_drive(text)


@pytest.mark.parametrize(
    ("text", "what", "advice"),
    [
        ("sim:nvme-tlc-client,spare=0%", "spare is 0 %: no spare", "another spare area"),
        ("sim:nvme-tlc-client,power=1W", "power is 1 W: below what", "more watts"),
        ("sim:nvme-tlc-client,power=ps9", "has no power states", "set no limit"),
        ("sim:nvme-tlc-client,scale=63", "the largest that does is 128", "another scale"),
    ],
)
def test_what_the_drive_was_asked_is_not_to_be_corrected_in_the_profile(
    text: str, what: str, advice: str
) -> None:
    with pytest.raises(UsageError, match=what) as refused:
        open_drive(text)
    assert advice in refused.value.advice and "profile that works" not in refused.value.advice


def test_a_write_cache_that_cannot_be_set_says_how_one_is_made() -> None:
    with (
        open_drive("sim:tiny-test") as drive,
        pytest.raises(Unsupported, match="made with write-cache=on"),
    ):
        drive.setting("write_cache").meant("off")


def test_a_text_reads_back() -> None:
    for text in (
        "sim:tiny-test,spare=25%,seed=7",
        "sim:tiny-test,scale=4,power=10.5W,trim=ignored,write-cache=off",
        "sim:tiny-test,power=ps1,trim=honoured,write-cache=on",
        "sim:tiny-test,serial=S6-1.A,firmware=F_2,seed=3",
    ):
        said = SimulatedText.parse(text)
        assert SimulatedText.parse(str(said)) == said
        assert str(said) == text.replace("25%", "0.25")
    assert str(SimulatedText("tiny-test")) == "sim:tiny-test"


@pytest.mark.parametrize("name", list(profiles()))
def test_each_profile_is_asked_for_by_its_file_and_gives_sources(name: str) -> None:
    from ssdlab import _core

    made = _core.check_profile(profiles()[name])
    if made["profile"].get("xpoint"):
        assert made["superblocks"] is None, "what is never collected has none"
    else:
        assert made["superblocks"] >= 2000
    assert 0 < made["effective_spare"] <= made["spare"]
    assert PREFIX + name == str(SimulatedText(name))
