"""Tests of one long load: when they end, in which order they write, and what they say of known series."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from methods.on_simulated import run
from report.reading import Page
from ssdlab.analysis.records import FIVE_NINES, by_record
from ssdlab.analysis.write_saturation import REASONS, Ended, StopRule, ended
from ssdlab.cli.ordering import print_run
from ssdlab.drives.simulated.profiles import profiles
from ssdlab.lab.found import find_method
from ssdlab.lab.lab import Lab
from ssdlab.lab.method import Method, RunData
from ssdlab.lab.outcome import read_result
from ssdlab.lab.verbs.steps import Request
from ssdlab.lab.verbs.workload import WorkloadVerb
from ssdlab.methods.pts import cross_stimulus, idle_recovery, write_saturation
from ssdlab.methods.pts import recovery_page as pts_recovery
from ssdlab.methods.pts import saturation_page as pts_saturation
from ssdlab.methods.pts.cross_stimulus import recovery_s
from ssdlab.methods.pts.result import (
    PtsCrossStimulusResult,
    PtsIdleRecoveryResult,
    PtsRecords,
    PtsSaturationResult,
    PtsSeriesResult,
)
from ssdlab.methods.pts.series import rested
from ssdlab.methods.pts.series_findings import course, cross_findings
from ssdlab.methods.pts.write_saturation import load_of
from ssdlab.model.errors import UsageError
from ssdlab.model.summary import Pause
from ssdlab.report import page, source
from ssdlab.report.runs import shown
from ssdlab.results.claim import sentence
from ssdlab.results.records import StepResult
from ssdlab.results.run_folder import RunFolder, Step
from ssdlab.runs.order import plan_on

MINUTE_NS = 60 * 10**9
CAPACITY_BYTES = 1 << 30
RULE = StopRule(written_bytes=10**15, records=360, cycle=31)


class Scripted:
    """An executor whose loads give so many 4 KiB writes a record as it is told, and ask when to stop."""

    def __init__(self, ios: Any) -> None:
        self.ios = ios
        self.asked: list[Request] = []
        self.steps: list[Step] = []
        self.rows: dict[int, list[int]] = {}

    def perform(self, request: Request) -> Step:
        self.asked.append(request)
        measurement = None
        if request.workload is not None:
            rows = self._load(request)
            self.rows[request.ordinal] = rows
            measurement = {"write": {"ios": sum(rows), "bytes": 4096 * sum(rows)}}
        facts: Any = {"purged": True} if request.verb == "purge" else {}
        result = StepResult(seconds=0.0, measurement=measurement, facts=facts)
        self.steps.append(Step(request.ordinal, 0, request.verb, request.label, dict(request.args), result))
        return self.steps[-1]

    def _load(self, request: Request) -> list[int]:
        assert request.workload is not None
        (stream,) = request.workload.streams
        assert stream.stop.time_ns is not None
        length_ns = request.workload.interval_ns
        rows: list[Any] = []
        for at in range(stream.stop.time_ns // length_ns):
            ios = self.ios(request.label, at)
            cell = SimpleNamespace(direction="write", bytes=4096 * ios)
            rows.append(
                SimpleNamespace(ios=ios, start_ns=at * length_ns, end_ns=(at + 1) * length_ns, cells=[cell])
            )
            assert isinstance(request.asked, WorkloadVerb)
            if request.asked.ends is not None and request.asked.ends.holds(rows):
                break
        return [row.ios for row in rows]

    def lab(self) -> Lab:
        return Lab(self, capacity_bytes=CAPACITY_BYTES, logical_block_bytes=512)

    def data(self) -> RunData:
        return RunData(tuple(self.steps), CAPACITY_BYTES, 512, rows=self._rows, row_buckets=self._buckets)

    def _rows(self, step: Step) -> dict[str, Any]:
        ios = np.array(self.rows[step.ordinal])
        length_ns = int(step.args["workload"]["interval_ns"])  # type: ignore[call-overload,index]
        at = np.arange(ios.size)
        return {
            "row": at,
            "start_ns": at * length_ns,
            "end_ns": (at + 1) * length_ns,
            "partial": np.zeros(ios.size, dtype=bool),
            "direction": np.full(ios.size, "write", dtype=object),
            "ios": ios,
            "bytes": 4096 * ios,
            "response_max_ns": np.full(ios.size, 5000.0),
        }

    def _buckets(self, step: Step) -> dict[str, Any]:
        ios = np.array(self.rows[step.ordinal])
        return {
            "row": np.arange(ios.size),
            "clock": np.full(ios.size, "service", dtype=object),
            "low_ns": np.full(ios.size, 1000),
            "high_ns": np.full(ios.size, 1001),
            "count": ios,
        }


def loads(scripted: Scripted) -> list[Any]:
    return [request for request in scripted.asked if request.workload is not None]


# --- what ends write saturation ---


def test_steady_state_takes_five_samples_of_31_minutes() -> None:
    even = [1000.0] * 360
    assert ended(even[:154], [1] * 154, RULE) is None
    assert ended(even, [1] * 360, RULE) == Ended("steady", 155)
    assert ended(even, [1] * 360, StopRule(10**15, 360, 31, steady=False)) == Ended("time", 360)


def test_only_the_31st_minute_is_a_sample() -> None:
    wild = [1000.0 if at % 31 == 30 else 1000.0 + at % 7 * 500 for at in range(360)]
    assert ended(wild, [1] * 360, RULE) == Ended("steady", 155)
    sampled_wild = [1000.0 + at // 31 % 2 * 500 for at in range(360)]
    assert ended(sampled_wild, [1] * 360, RULE) == Ended("time", 360)


def test_what_comes_first_ends_it() -> None:
    even = [1000.0] * 360
    fourfold = StopRule(4 * CAPACITY_BYTES, 360, 31)
    assert ended(even, [CAPACITY_BYTES // 25] * 360, fourfold) == Ended("capacity", 101)
    assert ended(even, [CAPACITY_BYTES // 50] * 360, fourfold) == Ended("steady", 155)
    falling = [1000.0 * 0.99**at for at in range(360)]
    assert ended(falling[:359], [1] * 359, fourfold) is None
    assert ended(falling, [1] * 360, fourfold) == Ended("time", 360)


@pytest.mark.parametrize(
    ("ios", "reason", "records"),
    [
        (lambda _, at: CAPACITY_BYTES // 4096 // 100, "steady", 155),
        (lambda _, at: round(10_000 * 0.98**at), "time", 360),
        (lambda _, at: 2 * CAPACITY_BYTES // 4096 // 5 + 1, "capacity", 10),
    ],
)
def test_each_reason_is_followed_by_the_histogram_without_a_pause(
    ios: Any, reason: str, records: int
) -> None:
    params = write_saturation.PtsWriteSaturationParams()
    scripted = Scripted(ios)
    write_saturation.procedure(scripted.lab(), params)
    assert [request.verb for request in scripted.asked] == ["conditions", "purge", "run"]
    (load,) = loads(scripted)
    assert load.policy == "from-purge"
    (stream,) = load.workload.streams
    assert (stream.workers, stream.depth, stream.block[0].bytes, stream.ops.read_pct) == (4, 32, 4096, 0)
    assert load.workload.interval_ns == MINUTE_NS
    result = write_saturation.conclude(scripted.data(), params)
    assert isinstance(result, PtsSaturationResult)
    assert (result.reason, result.ended) == (reason, records)
    assert len(result.records.iops) == records + 20
    assert result.histogram is not None and result.histogram.seconds == 1200
    assert sum(result.histogram.count) == sum(scripted.rows[load.ordinal][records:])
    judged = {"steady": [True], "time": [False], "capacity": []}
    assert [window.steady for window in result.windows] == judged[reason], "ten records are no five samples"
    why = {"time": "NOT ACHIEVED", "capacity": "not assessed: 0 samples are too few"}.get(reason)
    (figure,) = result.scalars
    found = [(each.code, each.steps, each.why) for each in figure.qualifiers]
    assert found == ([("state-unproven", (load.ordinal,), f"steady state {why}")] if why else [])
    assert figure.steps == (load.ordinal,) and (figure.varies is None) is (reason == "capacity")


@pytest.mark.parametrize(
    ("minute", "seconds", "steady"),
    [(10, 900, True), (80, 70, True), (80, 80, False), (154.5, 80, False), (160, 900, True)],
)
def test_only_a_pause_within_the_judged_window_keeps_it_from_being_judged(
    minute: float, seconds: int, steady: bool
) -> None:
    """The window goes from the 31st minute to the 155th, the histogram on to the 175th: 1 % is 75 s."""
    params = write_saturation.PtsWriteSaturationParams()
    scripted = Scripted(lambda _, at: CAPACITY_BYTES // 4096 // 100)
    write_saturation.procedure(scripted.lab(), params)
    begins_ns = round(minute * MINUTE_NS)
    pause = Pause(start_ns=begins_ns, end_ns=begins_ns + 1, length_ns=seconds * 10**9)
    (at,) = (at for at, step in enumerate(scripted.steps) if step.verb == "run")
    step = scripted.steps[at]
    scripted.steps[at] = replace(step, result=step.result.model_copy(update={"pauses": (pause,)}))
    result = write_saturation.conclude(scripted.data(), params)
    assert (result.samples.first, result.samples.last, result.ended) == (1, 5, 155)
    assert result.samples.steady is steady and (not result.samples.doubts) is steady


def test_optional_stimuli_and_a_longer_limit() -> None:
    params = write_saturation.PtsWriteSaturationParams.build(
        {"stimulus": "sequential-128k-video", "most_seconds": "7h", "until_steady": "false"}
    )
    scripted = Scripted(lambda _, at: 1)
    write_saturation.procedure(scripted.lab(), params)
    (stream,) = loads(scripted)[0].workload.streams
    assert (stream.ops.read_pct, stream.block[0].bytes, stream.pattern.kind) == (90, 128 * 1024, "sequential")
    result = write_saturation.conclude(scripted.data(), params)
    assert (result.stimulus, result.reason, result.ended) == ("SEQ 128 KiB 90/10", "time", 420)


def test_the_composite_leaves_out_what_the_sectors_do_not_allow() -> None:
    load = load_of("composite", 4096)
    assert (load.name, load.read_pct, len(load.blocks), len(load.left_out_bytes)) == ("CBW 40/60", 40, 5, 7)
    assert load.workload((4, 32), 60.0, record_s=60.0).interval_ns == MINUTE_NS


def test_the_course_is_told_at_every_half_fill() -> None:
    assert course([0.2, 0.4, 0.6, 0.9, 1.6, 1.7, 2.1]) == [2, 4, 6]
    assert course([0.2, 0.6, 0.7]) == [1, 2]
    assert course([]) == []


# --- order and times of the others ---


def test_cross_stimulus_writes_three_loads_in_order_without_pauses() -> None:
    scripted = Scripted(lambda label, at: {"group 1": 100, "group 2": 50}.get(label, 40 + at))
    params = cross_stimulus.PtsCrossStimulusParams()
    cross_stimulus.procedure(scripted.lab(), params)
    assert [request.verb for request in scripted.asked] == ["conditions", "purge", "run", "run", "run"]
    told = [
        (
            request.workload.streams[0].pattern.kind,
            request.workload.streams[0].block[0].bytes,
            request.workload.streams[0].stop.time_ns,
            request.workload.streams[0].workers,
            request.workload.streams[0].depth,
            request.workload.interval_ns,
            request.policy,
        )
        for request in loads(scripted)
    ]
    hour_ns = 60 * MINUTE_NS
    sequential = ("sequential", 1 << 20, 8 * hour_ns, 1, 32, MINUTE_NS, "from-purge")
    assert told == [sequential, ("uniform", 8192, 6 * hour_ns, 1, 32, MINUTE_NS, "from-purge"), sequential]
    result = cross_stimulus.conclude(scripted.data(), params)
    # 40 in the first minute of the third load and one more each minute: 100 in the 61st.
    assert result.recovery_s == 61 * 60
    assert [len(group.records.iops) for group in result.groups] == [480, 360, 480]
    assert result.groups[1].end_mb_s == pytest.approx(50 * 4096 / 60 / 1e6)
    assert result.steady is None
    (figure,) = result.scalars
    assert figure.steps == (result.groups[-1].records.ordinal,) and not figure.qualifiers


def test_a_recovery_by_one_record_says_how_many_were_slower_again() -> None:
    # At the level in the second minute, and below it in every other one after that.
    scripted = Scripted(lambda label, at: {"group 1": 100, "group 2": 50}.get(label, 100 * (at % 2) + 40))
    params = cross_stimulus.PtsCrossStimulusParams()
    cross_stimulus.procedure(scripted.lab(), params)
    result = cross_stimulus.conclude(scripted.data(), params)
    assert result.recovery_s == 2 * 60
    (said, *_) = [sentence(claim) for claim in cross_findings(result)]
    assert "recovered after 2 min 00 s" in said
    assert "239 of the 478 later ones were slower again" in said


def test_recovery_is_the_first_record_that_reaches_the_level() -> None:
    assert recovery_s([1.0, 5.0, 9.99, 10.0, 3.0], 10.0, 60.0) == 240.0
    assert recovery_s([1.0, 9.99], 10.0, 60.0) is None
    assert recovery_s([], 10.0, 60.0) is None
    assert recovery_s([10.0], 10.0, 5.0) == 5.0


def test_idle_recovery_rests_between_bursts_and_returns_to_the_baseline() -> None:
    scripted = Scripted(lambda label, at: 900)
    params = idle_recovery.PtsIdleRecoveryParams()
    idle_recovery.procedure(scripted.lab(), params)
    assert [request.verb for request in scripted.asked] == [
        "conditions",
        "purge",
        "precondition",
        *["stretch", "run", "run"] * 5,
    ]
    first, *others = loads(scripted)
    assert first.policy == "from-purge" and {other.policy for other in others} == {"re-precondition"}
    assert first.workload.streams[0].stop.time_ns == 25 * 30 * MINUTE_NS
    assert len(scripted.rows[first.ordinal]) == 150, "steady from the first round on: five rounds"
    burst_ns = 5 * 10**9
    for number, rest in enumerate((1, 2, 3, 5, 10)):
        bursts, back = (load.workload.streams[0] for load in others[2 * number : 2 * number + 2])
        every_ns = (1 + rest) * burst_ns
        assert (bursts.arrival.on_ns, bursts.arrival.every_ns) == (burst_ns, every_ns)
        assert bursts.stop.time_ns == 360 * every_ns
        assert (back.arrival.kind, back.stop.time_ns) == ("closed", 1800 * 10**9)
        assert (bursts.workers, bursts.depth, bursts.block[0].bytes) == (4, 32, 4096)


def test_idle_recovery_compares_the_bursts_with_the_window() -> None:
    def ios(label: str, at: int) -> int:
        if label == "WDPC":
            return 60 * 100 if at % 30 == 29 else 60 * 500
        if label.startswith("bursts, 25.0 s"):
            return 0 if at % 6 else 5 * (9000 if at == 0 else 150)
        return 5 * 100

    scripted = Scripted(ios)
    params = idle_recovery.PtsIdleRecoveryParams()
    idle_recovery.procedure(scripted.lab(), params)
    result = idle_recovery.conclude(scripted.data(), params)
    assert isinstance(result, PtsIdleRecoveryResult)
    assert (result.baseline_iops, result.samples.first, result.samples.last) == (100.0, 1, 5)
    found = {wait.idle_s: wait for wait in result.waits}
    assert list(found) == [5.0, 10.0, 15.0, 25.0, 50.0]
    # The first burst goes on from writes without rests: it is kept, and in no figure of the rest.
    assert len(found[25.0].bursts.iops) == 360 and found[25.0].bursts.iops[0] == 9000.0
    headline = {scalar.name: scalar for scalar in result.scalars}
    resting, baseline = headline["pts_idle_recovery_iops"], headline["pts_idle_recovery_baseline_iops"]
    assert resting.value == found[50.0].mean_iops == 100.0
    assert resting.steps == (found[50.0].bursts.ordinal,) and baseline.steps == (result.writes.ordinal,)
    assert result.steady and not resting.qualifiers and not baseline.qualifiers
    assert (found[25.0].mean_iops, found[25.0].of_baseline, found[25.0].back_iops) == (150.0, 1.5, 100.0)
    (window,) = result.windows
    assert window.fills == pytest.approx(5 * (29 * 30_000 + 6_000) * 4096 / CAPACITY_BYTES)


def test_of_the_maxima_of_a_wait_state_that_of_its_first_burst_is_left_out() -> None:
    """Two bursts with rests of two of them; I/Os in flight at the end of one are done in its rest."""
    columns = {
        "iops": (800.0, 1.0, 0.0, 200.0, 0.0, 0.0),
        "mb_s": (1.0,) * 6,
        "mean_ns": (1.0, 90.0, None, 5.0, 7.0, None),
        "five_nines_ns": (1.0,) * 6,
        "max_ns": (90.0, 99.0, None, 5.0, 7.0, None),
        "written_bytes": (1,) * 6,
    }
    every = PtsRecords(ordinal=1, seconds=5.0, **columns)
    wait = rested(every, every, 2, 5.0, 100.0)
    assert (wait.mean_iops, wait.of_baseline, wait.mean_ns, wait.max_ns) == (200.0, 2.0, 5.0, 7.0)
    assert wait.bursts.iops == (800.0, 200.0)


def test_without_a_steady_window_neither_figure_of_idle_recovery_is_proven() -> None:
    scripted = Scripted(lambda label, at: 900 if at // 30 % 2 else 600)
    params = idle_recovery.PtsIdleRecoveryParams.build({"rests": "1", "bursts": "2"})
    idle_recovery.procedure(scripted.lab(), params)
    result = idle_recovery.conclude(scripted.data(), params)
    assert result.steady is False
    for figure in result.scalars:
        (found,) = figure.qualifiers
        assert (found.code, found.steps) == ("state-unproven", (result.writes.ordinal,))


def test_one_burst_has_no_mean_after_a_rest() -> None:
    with pytest.raises(UsageError, match="bursts"):
        idle_recovery.PtsIdleRecoveryParams.build({"bursts": "1"})


def test_the_sample_may_be_the_first_record_of_a_round() -> None:
    scripted = Scripted(lambda label, at: 600 if at % 30 == 0 else 1200)
    params = idle_recovery.PtsIdleRecoveryParams.build({"sample": "first", "rests": "1", "bursts": "2"})
    idle_recovery.procedure(scripted.lab(), params)
    assert idle_recovery.conclude(scripted.data(), params).baseline_iops == 10.0


# --- what records say ---


def test_records_hold_reads_and_writes_by_their_number() -> None:
    def column(*values: object) -> Any:
        return np.array(values)

    columns = {
        "row": column(0, 0, 1, -1, 7),
        "clock": np.array(["service"] * 5, dtype=object),
        "low_ns": column(1000, 3000, 1000, 9000, 9000),
        "high_ns": column(1001, 3001, 1001, 9001, 9001),
        "count": column(3_000_000, 1_000_000, 5, 100, 100),
    }
    first, second, empty = by_record(columns, [2500.0, 1000.0, 0.0])
    # 3000 is the middle of a bucket, and cannot be reached: the greatest was 2500.
    assert first.mean_ns == pytest.approx(0.75 * 1000 + 0.25 * 2500)
    assert first.percentile(FIVE_NINES) == 2500.0
    assert (second.mean_ns, second.samples) == (1000.0, 5)
    assert (empty.mean_ns, empty.samples) == (None, 0)


# --- on simulated drives ---

METHODS = ("pts-write-saturation", "pts-cross-stimulus-recovery", "pts-host-idle-recovery")
SHORT = {
    "pts-write-saturation": {
        "seconds": "0.1",
        "cycle": "2",
        "most_seconds": "1.5",
        "histogram_seconds": "0.2",
    },
    "pts-cross-stimulus-recovery": {"seconds": "0.1", "sequential_seconds": "0.5", "random_seconds": "0.5"},
    "pts-host-idle-recovery": {
        "seconds": "0.1",
        "cycle": "2",
        "most_rounds": "5",
        "burst_seconds": "0.1",
        "bursts": "3",
        "return_seconds": "0.3",
    },
}


SECTIONS = {
    "pts-write-saturation": pts_saturation.section,
    "pts-host-idle-recovery": pts_recovery.idle_section,
    "pts-cross-stimulus-recovery": pts_recovery.cross_section,
}
PAGES = {
    "pts-write-saturation": ("time", "written", "fills", "response", "window", "histogram"),
    "pts-host-idle-recovery": ("preconditioning", "window", "course", "response"),
    "pts-cross-stimulus-recovery": ("course", "transition-1", "transition-2", "mean", "max"),
}
"""Sections 4.4 to 4.6 of the pages that the specification asks for."""


@pytest.fixture(scope="module", params=METHODS)
def short(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    return run(request.param, tmp_path_factory.mktemp("series"), **SHORT[request.param])


def test_a_run_gives_a_verdict_within_its_plan(short: RunFolder) -> None:
    result, name = read_result(short), short.manifest.method.name
    method: Method = find_method(name)
    drive: Any = short.manifest.drive
    planned = plan_on(method, method.params.build(SHORT[name]), drive)
    written = sum(
        int(step.result.measurement["write"]["bytes"])  # type: ignore[index,call-overload,arg-type]
        for step in short.steps()
        if step.result.measurement is not None
    )
    assert planned.bytes_written.lower <= written <= planned.bytes_written.upper
    assert [step.label for step in planned.steps] == [step.label for step in short.steps()]
    codes = {departure.code for departure in short.manifest.departures}
    assert {"simulated-drive", "parameter-seconds"} <= codes
    assert isinstance(result, PtsSeriesResult) and result.fills * result.capacity_bytes == written
    if isinstance(result, PtsSaturationResult):
        assert result.reason is not None and result.histogram is not None
    elif isinstance(result, PtsCrossStimulusResult):
        assert [len(group.records.iops) for group in result.groups] == [5, 5, 5]
    else:
        assert isinstance(result, PtsIdleRecoveryResult)
        assert all(len(wait.bursts.iops) == 3 for wait in result.waits)


def test_every_page_of_the_specification_is_there_with_its_header(short: RunFolder) -> None:
    name = short.manifest.method.name
    html = page.render([source.read_run(short.path)])
    data = Page.of(html).data
    drawn = [key.removeprefix(f"{name}-") for key in data["charts"] if key.startswith(name)]
    assert tuple(drawn) == PAGES[name]
    total = len(PAGES[name])
    for number in range(1, total + 1):
        assert html.count(f"page {number} of {total}") == 1
    assert all(view["lines"] for key in data["charts"] for view in data["charts"][key]["views"])


def test_only_records_without_rests_are_said_to_have_no_pauses(short: RunFolder) -> None:
    """Idle is the stimulus of the bursts; everything else is written on and on."""
    section = SECTIONS[short.manifest.method.name](shown([source.read_run(short.path)]))
    for figure in section.figures:
        told = " ".join((figure.lead, *figure.measured))
        of_bursts = figure.id in ("pts-host-idle-recovery-course", "pts-host-idle-recovery-response")
        if of_bursts:
            assert "no pause" not in told and "without pause" not in told
            assert "rest" in told
        elif not figure.id.endswith(("-window", "-histogram")):
            assert "pauses" in told


def test_the_terminal_says_what_came_of_it(short: RunFolder, capsys: pytest.CaptureFixture[str]) -> None:
    assert print_run(short.path, json=False, whole=True) == 0
    printed = capsys.readouterr().out
    result = read_result(short)
    if isinstance(result, PtsSaturationResult):
        proven = result.reason != "steady" or result.samples.steady
        how = REASONS[result.reason] if proven and result.reason else "the steady-state criterion"
        assert f"ended by {how}" in " ".join(printed.split())
        assert "Every half drive fill, and the last record" in printed
    elif isinstance(result, PtsIdleRecoveryResult):
        assert "Mean of each wait state against the baseline" in printed
        assert printed.count("%") > len(result.waits)
    else:
        assert "recovered when a record reaches the mean of group 1" in printed
        assert "RND 8 KiB 0/100" in printed


@pytest.mark.long
def test_rests_give_back_what_the_drive_collects_in_them(tmp_path: Path) -> None:
    """Longer rests give back more to a drive that collects while idle, and nothing to one that does not."""
    plain = profiles()["tiny-test"]
    idle = """
[idle]
after_ms = { value = 20.0, source = "recalled" }
free_pct = { value = 10.0, source = "recalled" }
"""
    gains = {}
    for name, text in (("never", plain), ("idle", plain + idle)):
        file = tmp_path / f"{name}.toml"
        file.write_text(text.replace('name = "tiny-test"', f'name = "{name}"'))
        settings = {"seconds": "1", "cycle": "6", "burst_seconds": "1", "bursts": "4", "rests": "1,4"}
        result = read_result(
            run(
                "pts-host-idle-recovery",
                tmp_path / name,
                f"sim:{file},scale=4",
                return_seconds="1",
                **settings,
            )
        )
        assert isinstance(result, PtsIdleRecoveryResult)
        gains[name] = [wait.of_baseline for wait in result.waits]
    assert gains["never"] == pytest.approx([1.0, 1.0], abs=0.1)
    assert gains["idle"][0] > 1.3
    assert gains["idle"][1] > gains["idle"][0] + 0.5
