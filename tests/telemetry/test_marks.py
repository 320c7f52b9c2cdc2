"""Marks of samples and readings: what happened to a drive, at its place, and nothing that did not happen."""

from __future__ import annotations

from pathlib import Path

import pytest

from ssdlab.drives.telemetry.sources import LinkErrors
from ssdlab.model.telemetry import DriveHealth, Sample, StepTelemetry, changes_between
from ssdlab.runs.observe import marks_of

S = 1_000_000_000


def reading(**told: object) -> DriveHealth:
    return DriveHealth(source="nvme", **told)


def sampled(**figures: list) -> list[Sample]:
    """Samples of seconds 1, 2 ...; each figure with its values."""
    lengths = {len(values) for values in figures.values()}
    (length,) = lengths
    rows = [{name: values[at] for name, values in figures.items()} for at in range(length)]
    return [Sample((at + 1) * S, **row) for at, row in enumerate(rows)]


def test_a_drive_that_is_well_has_no_marks() -> None:
    samples = sampled(temperature_c=[40, 69, 71], throttle_events=[3, 3, 3], media_errors=[7, 7, 7])
    well = reading(throttle_events=3, throttled_s=0, media_errors=7, used_pct=99)
    assert marks_of(samples, well, well, 3 * S) == ()


@pytest.mark.parametrize("counter", ["throttle_events", "throttled_s"])
def test_heat_is_marked_from_the_sample_before_its_counter_grew(counter: str) -> None:
    """NVMe's thermal management counters say that it happened between two samples, and not when it ended."""
    samples = sampled(temperature_c=[60, 70, 71, 72, 68], **{counter: [5, 5, 6, 7, 7]})
    (mark,) = marks_of(samples, reading(**{counter: 5}), reading(**{counter: 7}), 5 * S)
    assert (mark.code, mark.at_ns, mark.until_ns, mark.temperature_c) == ("throttled", 2 * S, 4 * S, 71)
    assert "71 °C" in mark.what


def test_heat_in_the_first_second_is_seen_against_the_reading_before() -> None:
    samples = sampled(temperature_c=[80], throttle_events=[1])
    (mark,) = marks_of(samples, reading(throttle_events=0), None, S)
    assert (mark.at_ns, mark.until_ns) == (0, S)
    assert marks_of(samples, None, None, S) == (), "without a reading before it may have been years ago"


def test_two_stretches_of_heat_are_two_marks() -> None:
    samples = sampled(limit_w=[None, 3.5, 3.5, None, None, 2.5], temperature_c=[70.0, 75, 74, 70, 72, 83])
    marks = marks_of(samples, None, None, 6 * S)
    assert [(mark.at_ns // S, mark.until_ns // S) for mark in marks] == [(1, 3), (5, 6)]
    assert "limited to 3.5 W" in marks[0].what


def test_media_errors_stand_where_they_were_counted() -> None:
    samples = sampled(media_errors=[2, 2, 5, 5])
    (mark,) = marks_of(samples, reading(media_errors=2), reading(media_errors=5), 4 * S)
    assert (mark.code, mark.at_ns, mark.what) == ("media-errors", 3 * S, "3 media errors")


def test_errors_of_a_drive_that_is_asked_between_steps_only_stand_at_the_end() -> None:
    samples = sampled(cpu_busy_share=[0.1, 0.2])
    (mark,) = marks_of(samples, reading(media_errors=0), reading(media_errors=1), 2 * S)
    assert (mark.at_ns, mark.what) == (2 * S, "1 media error")


def test_a_link_that_was_trained_again() -> None:
    samples = sampled(link_retrains=[1, 1, 3])
    (mark,) = marks_of(samples, reading(link_retrains=1), reading(link_retrains=3), 3 * S)
    assert (mark.code, mark.what) == ("link-changed", "the link retrained 2 times")


def test_the_error_flag_and_worn_out_flash() -> None:
    failing = reading(failing=("spare is low",), used_pct=100)
    flag, worn = marks_of((), reading(), failing, 9 * S)
    assert (flag.code, worn.code) == ("drive-failing", "worn-out")
    assert "spare is low" in flag.what
    assert "since this step" in flag.what
    assert "since" not in marks_of((), failing, failing, 9 * S)[0].what


def test_changes_are_those_of_counters_that_both_readings_have() -> None:
    before = reading(host_written_bytes=10, nand_written_bytes=20, temperature_c=40, used_pct=1)
    after = reading(
        host_written_bytes=110, nand_written_bytes=270, temperature_c=50, used_pct=2, media_errors=1
    )
    changes = changes_between(before, after)
    assert changes == {"host_written_bytes": 100, "nand_written_bytes": 250}
    told = StepTelemetry(sources=(), samples=0, began_ns=0, ended_ns=0, changes=changes)
    assert told.write_amplification == 2.5


def test_what_the_kernel_counts_on_the_pcie_link_is_marked_by_its_growth(tmp_path: Path) -> None:
    count = tmp_path / "aer_dev_correctable"
    count.write_text("RxErr 3\nTOTAL_ERR_COR 3\n")
    errors = LinkErrors(tmp_path)
    errors.begin()
    assert errors.marks(5) == []
    count.write_text("RxErr 5\nTOTAL_ERR_COR 5\n")
    (mark,) = errors.marks(7)
    assert (mark.code, mark.at_ns) == ("link-errors", 7)
    assert errors.marks(9) == []


def test_transfers_that_the_link_got_wrong_are_a_mark() -> None:
    before, after = (DriveHealth(source="ata", link_errors=count) for count in (2, 4))
    assert [each.code for each in marks_of([], before, after, 9)] == ["link-errors"]
    assert marks_of([], after, after, 9) == ()
