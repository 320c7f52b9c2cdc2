"""Demand intensity and the composite: order, what the points are chosen by, what is asked of the drive."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from methods.on_simulated import run
from methods.quick_runs import QuickResult
from methods.test_client_methods import assert_inside_its_plan
from report.reading import Page
from ssdlab import _core
from ssdlab.drives import open_drive
from ssdlab.lab.found import find_method
from ssdlab.lab.lab import Lab
from ssdlab.lab.outcome import read_result
from ssdlab.lab.verbs.steps import Request
from ssdlab.lab.verbs.workload import Precondition
from ssdlab.methods.pts import demand
from ssdlab.methods.pts.composite import ACCESS, SIZES_PCT, PtsCompositeParams, load_of
from ssdlab.methods.pts.demand import COUNTS, Chosen, Demand, choose, unwritten_reads
from ssdlab.methods.pts.demand_intensity import PtsDemandIntensityParams, procedure
from ssdlab.methods.pts.result import DemandResult
from ssdlab.model.errors import UsageError
from ssdlab.model.workload import Mix, Workload
from ssdlab.report import page, source
from ssdlab.results.metric import Load, Qualifier
from ssdlab.results.records import StepResult
from ssdlab.results.run_folder import RunFolder, Step
from ssdlab.runs.plan import Recorder

GIB = 1 << 30
MS = 1_000_000
Figures = Callable[[int, int, int], tuple[float, float]]
"""IOPS and mean response time in ns, by round, threads and depth."""


class Scripted:
    """An executor that writes down what it is asked, and whose grid gives what it is told."""

    def __init__(self, figures: Figures) -> None:
        self.figures = figures
        self.asked: list[Request] = []

    def perform(self, request: Request) -> Step:
        self.asked.append(request)
        measurement = None
        if request.workload is not None:
            (stream,) = request.workload.streams
            label = request.label
            number = int(label.removeprefix("round ").split(",")[0]) if label.startswith("round") else 0
            iops, mean = self.figures(number, stream.workers, stream.depth)
            side = {"ios": 1, "bytes": 8192, "response_ns": {"mean": mean, "max": mean, "p99.999": None}}
            measurement = {"iops": iops, "mb_s": iops, "read": side, "write": side}
        result = StepResult(seconds=0.0, measurement=measurement, facts={"purged": True})
        return Step(request.ordinal, 0, request.verb, request.label, dict(request.args), result)


def done(figures: Figures, params: PtsDemandIntensityParams | None = None) -> list[Request]:
    scripted = Scripted(figures)
    lab = Lab(scripted, capacity_bytes=4 * GIB, logical_block_bytes=512)
    procedure(lab, params or PtsDemandIntensityParams())
    return scripted.asked


def shape(request: Request) -> tuple[int, int, object, int | None]:
    assert request.workload is not None
    (stream,) = request.workload.streams
    return stream.workers, stream.depth, stream.ops, stream.stop.time_ns


def growing(number: int, threads: int, depth: int) -> tuple[float, float]:
    """Steady, and more IOPS with more in flight; beyond 64 only the response time grows."""
    in_flight = threads * depth
    return 1000.0 * min(in_flight, 64), 0.1 * MS * in_flight


def test_cells_and_rounds_are_in_the_written_order() -> None:
    asked = done(growing)
    assert [request.verb for request in asked[:3]] == ["conditions", "purge", "precondition"]
    assert asked[0].args["required"] == {"scheduler": "none", "write_cache": "off"}
    rounds = [request for request in asked if request.label.startswith("round")]
    assert len(rounds) == 5 * 50
    written = [(tc, qd) for tc in (32, 16, 8, 6, 4, 2, 1) for qd in (32, 16, 8, 6, 4, 2, 1)]
    expected = ["round 1, pre-write", *(f"round 1, TC{tc} QD{qd}" for tc, qd in written)]
    assert [request.label for request in rounds[:50]] == expected
    assert shape(rounds[0])[:2] == (32, 32) and shape(rounds[0])[3] == 300 * 10**9
    reads = {request.workload.streams[0].ops.read_pct for request in rounds[1:50] if request.workload}  # type: ignore[union-attr]
    assert reads == {65} and rounds[0].workload is not None and not rounds[0].workload.streams[0].reads
    # Thread count is workers and depth is of each: not the other way round.
    assert [shape(request)[:2] for request in rounds[1:50]] == written
    assert {shape(request)[3] for request in rounds[1:50]} == {60 * 10**9}
    assert asked[2].policy == "from-purge"
    assert {request.policy for request in asked[3:]} == {"re-precondition"}


def test_preconditioning_is_32_times_32_writes_sampled_each_half_hour() -> None:
    asked = done(growing)
    assert shape(asked[2])[:2] == (32, 32)
    load = asked[2].asked
    assert isinstance(load, Precondition)
    workload, until = load.workload, load.ends
    assert workload is not None and until is not None and not workload.streams[0].reads
    assert workload.interval_ns == 60 * 10**9
    assert workload.streams[0].stop.time_ns == (24 * 30 + 1) * 60 * 10**9, "25 samples: minutes 1 to 721"
    # Only minutes 1, 31, 61 count: what lies between swings wildly, and does not matter.
    minute = 60 * 10**9
    counts = [600 if at % 30 == 0 else 10 * at for at in range(200)]
    rows = [
        SimpleNamespace(start_ns=at * minute, end_ns=(at + 1) * minute, ios=ios, cells=())
        for at, ios in enumerate(counts)
    ]
    held = [count for count in range(1, 201) if until.holds(rows[:count])]
    assert held == [121, 151, 181]


def test_points_are_chosen_by_the_window_and_run_at_their_own_demand() -> None:
    """In the last round alone TC1 QD32 would be the highest; over the window it is TC2 QD16."""

    def figures(number: int, threads: int, depth: int) -> tuple[float, float]:
        known = {(2, 16): 9000.0, (1, 32): 9500.0 if number == 5 else 8800.0, (4, 1): 4900.0, (1, 1): 1000.0}
        iops = known.get((threads, depth), 8000.0)
        return iops, 6 * MS if threads == 32 else 2 * MS

    asked = done(figures)
    points = {request.label: shape(request)[:2] for request in asked if "IOPS, " in request.label}
    assert points == {
        "MaxIOPS, pre-write": (2, 16),
        "MaxIOPS, histogram": (2, 16),
        "MidIOPS, pre-write": (4, 1),
        "MidIOPS, histogram": (4, 1),
        "MinIOPS, pre-write": (1, 1),
        "MinIOPS, histogram": (1, 1),
    }
    last = [request for request in asked if request.label in points]
    assert [shape(request)[3] for request in last] == [3600 * 10**9, 600 * 10**9] * 3
    assert [request.workload.streams[0].reads for request in last if request.workload] == [
        False,
        True,
    ] * 3


def test_fixed_rounds_choose_by_the_first_steady_window() -> None:
    """Rounds 1 to 5 are steady, and what rounds 6 to 8 do is not reported."""

    def figures(number: int, threads: int, depth: int) -> tuple[float, float]:
        best = (8, 8) if number <= 5 else (2, 2)
        return (5000.0 if (threads, depth) == best else 1000.0), MS

    params = PtsDemandIntensityParams(fixed_rounds=True, most_rounds=8)
    asked = done(figures, params)
    assert len([request for request in asked if request.label.endswith("pre-write")]) == 8 + 3
    (highest,) = [request for request in asked if request.label == "MaxIOPS, histogram"]
    assert shape(highest)[:2] == (8, 8)


def test_without_a_cell_below_the_limit_only_the_least_is_measured() -> None:
    asked = done(lambda number, threads, depth: (1000.0, 7.0 * MS))
    assert [request.label for request in asked[-2:]] == ["MinIOPS, pre-write", "MinIOPS, histogram"]
    assert not any(request.label.startswith(("MaxIOPS", "MidIOPS")) for request in asked)


def grid(*cells: tuple[int, int, float, float]) -> list[Demand]:
    return [Demand(threads, depth, iops, art_ms * MS) for threads, depth, iops, art_ms in cells]


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        # The highest IOPS of all takes 5 ms or longer; half-way from 100 to 900 is 500.
        (
            [(1, 1, 100, 0.1), (2, 4, 510, 1), (4, 2, 480, 1), (8, 8, 900, 4.99), (32, 32, 1000, 5.0)],
            ((8, 8), (2, 4), (1, 1)),
        ),
        # Of two equally near the sooner answer, and of two equally high as well.
        (
            [(1, 1, 100, 0.1), (2, 1, 450, 2), (1, 2, 550, 1), (4, 4, 900, 3), (2, 8, 900, 2)],
            ((2, 8), (1, 2), (1, 1)),
        ),
        # More in flight can be less: the fewest in flight is no search for the lowest IOPS.
        ([(1, 1, 300, 0.1), (16, 16, 50, 40), (2, 2, 400, 0.2)], ((2, 2), (1, 1), (1, 1))),
        # A cell that is overloaded lies half-way too, and is no point to work at.
        ([(1, 1, 100, 0.1), (32, 32, 500, 80), (4, 2, 450, 1), (8, 8, 900, 4)], ((8, 8), (4, 2), (1, 1))),
        ([(2, 1, 300, 6), (4, 4, 900, 9)], (None, None, (2, 1))),
    ],
)
def test_the_three_points_of_a_grid(cells: Sequence[tuple[int, int, float, float]], expected: object) -> None:
    found = choose(grid(*cells), 5 * MS)
    assert isinstance(found, Chosen)
    places = [None if each is None else (each.threads, each.depth) for each in (found.highest, found.middle)]
    assert (*places, (found.lowest.threads, found.lowest.depth)) == expected


def test_an_empty_grid_is_refused() -> None:
    with pytest.raises(ValueError, match="without cells"):
        choose([], 5 * MS)


def test_reads_that_meet_nothing_are_counted_as_they_occur() -> None:
    """Against blocks that are really written at random, twice as many as there are, in the bands' shares."""
    rng = np.random.default_rng(1)
    blocks, parts = 200_000, [(0.5, 0.05), (0.3, 0.15), (0.2, 0.8)]
    starts = np.cumsum([0, *(round(blocks * span) for _, span in parts)])
    written = np.zeros(blocks, dtype=bool)
    met = 0.0
    for at, (share, _) in enumerate(parts):
        written[rng.integers(starts[at], starts[at + 1], round(2 * blocks * share))] = True
        met += share * float(1 - written[starts[at] : starts[at + 1]].mean())
    assert unwritten_reads(2.0, parts) == pytest.approx(met, rel=0.02)
    assert unwritten_reads(0.0, parts) == pytest.approx(1.0)


def within(count: int, total: int, share: float) -> bool:
    """Whether a count lies within five standard deviations of a binomial."""
    return abs(count - total * share) <= 5 * (total * share * (1 - share)) ** 0.5


def recorded(workload: Workload, tmp_path: Path) -> tuple[dict[str, Any], int]:
    """Return the I/Os of a workload on a simulated drive, and the drive's capacity."""
    (stream,) = workload.streams
    logged = workload.model_copy(update={"streams": (stream.model_copy(update={"log_ios": True}),)})
    log = tmp_path / "ios.log"
    with open_drive("sim:tiny-test,scale=4", destroy="sim:tiny-test,scale=4", writing=True) as drive:
        drive.run(logged, log_path=log)
        return _core.read_log(log).ios(), drive.capacity_bytes


@pytest.mark.parametrize(("count", "length"), [(4, 256 << 20), (1024, 1 << 20)])
def test_segments_of_the_active_range_get_all_of_the_random_io_alike(
    tmp_path: Path, count: int, length: int
) -> None:
    """Every offset of a test as it is planned lies within one of the pieces, and each gets its share."""
    mib = 1 << 20
    made = find_method("pts-latency").params.build(
        {
            "active_range_amount": "1GiB",
            "active_range_segments": str(count),
            "seconds": "1",
            "overwrites": "1",
        }
    )
    with open_drive("sim:tiny-test,scale=4", destroy="sim:tiny-test,scale=4", writing=True) as drive:
        capacity = drive.capacity_bytes
    done: list[Any] = []

    class Kept(Recorder):
        def perform(self, request: Request) -> Step:
            done.append(request)
            return super().perform(request)

    lab = Lab(Kept(), capacity_bytes=capacity, logical_block_bytes=512)
    find_method("pts-latency").procedure(lab, made)
    stride = capacity // count // mib * mib
    works = [getattr(each.asked, "workload", None) for each in done]
    spans = [
        each.streams[0].span_bytes(capacity, 512)
        for each, request in zip(works, done, strict=True)
        if each is not None and request.verb == "precondition"
    ]
    assert spans == [(0, capacity // mib * mib)], "the whole range is written over before"
    (random, *_) = (
        each for each, request in zip(works, done, strict=True) if each is not None and request.verb == "run"
    )
    writes = random.model_copy(
        update={"streams": (random.streams[0].model_copy(update={"ops": Mix(read_pct=0)}),)}
    )
    ios, _ = recorded(writes, tmp_path)
    offsets, total = ios["offset"], len(ios["offset"])
    assert total > 10_000
    assert ((offsets % stride) + ios["length"] <= length).all()
    for at in range(count):
        assert within(int((offsets // stride == at).sum()), total, 1 / count)


def test_the_composite_has_the_shares_that_the_specification_gives(tmp_path: Path) -> None:
    assert sum(SIZES_PCT.values()) == 100
    assert sum(band.access_weight for band in ACCESS.bands) == 100
    assert sum(band.span_weight for band in ACCESS.bands) == 100
    params = PtsCompositeParams()
    workload = load_of(params, 512).workload((32, 32), 2.0)
    ios, capacity = recorded(workload, tmp_path)
    offsets, lengths, total = ios["offset"], ios["length"], len(ios["offset"])
    assert total > 20_000
    for size, pct in SIZES_PCT.items():
        assert within(int((lengths == size).sum()), total, pct / 100), size
    places = offsets / capacity
    for low, high, share in ((0.0, 0.05, 0.5), (0.05, 0.2, 0.3), (0.2, 1.0, 0.2)):
        assert within(int(((places >= low) & (places < high)).sum()), total, share), (low, high)
    assert not (offsets % lengths).any(), "each lies at a multiple of its own size"
    assert within(int((ios["direction"] == 0).sum()), total, 0.4)


def test_sectors_of_4_kib_leave_the_small_sizes_out_and_say_so() -> None:
    load = load_of(PtsCompositeParams(), 4096)
    assert {block.bytes: block.weight for block in load.blocks} == {
        4096: 67,
        8192: 10,
        16_384: 7,
        32_768: 3,
        65_536: 3,
    }
    assert [size / 1024 for size in load.left_out_bytes] == [0.5, 1, 1.5, 2, 2.5, 3, 3.5]
    scripted = Scripted(growing)
    with pytest.raises(UsageError, match="sectors are of 4 KiB"):
        procedure(
            Lab(scripted, capacity_bytes=4 * GIB, logical_block_bytes=4096),
            PtsDemandIntensityParams(block=512),
        )
    assert scripted.asked == []


SHORT = {
    "seconds": "20ms",
    "cycle": "2",
    "thread_counts": "1,4,32",
    "depths": "1,8,32",
    "most_samples": "6",
    "most_rounds": "6",
    "pre_write_seconds": "50ms",
    "settle_seconds": "100ms",
    "histogram_seconds": "200ms",
}


@pytest.fixture(scope="module", params=["pts-demand-intensity", "pts-composite"])
def short(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    return run(request.param, tmp_path_factory.mktemp(request.param), **SHORT)


def result_of(folder: RunFolder) -> DemandResult:
    result = read_result(folder)
    assert isinstance(result, DemandResult)
    return result


@pytest.mark.long
def test_a_run_comes_to_its_points_within_its_plan(short: RunFolder) -> None:
    result = result_of(short)
    assert_inside_its_plan(short)
    assert [(cell.threads, cell.depth) for cell in result.cells] == [
        (tc, qd) for tc in (32, 4, 1) for qd in (32, 8, 1)
    ]
    assert {len(cell.iops) for cell in (*result.cells, result.pre_writes)} == {result.rounds.rounds}
    ordinals = [each.ordinals[0] for each in (result.pre_writes, *result.cells)]
    assert ordinals == list(range(ordinals[0], ordinals[0] + 10)), "nothing in between"
    window = slice(result.rounds.first - 1, result.rounds.last)
    swift = [cell for cell in result.cells if np.mean(cell.mean_ns[window]) < 5 * MS]
    best = max(swift, key=lambda cell: float(np.mean(cell.iops[window])))
    highest = result.points[0]
    assert (highest.name, highest.threads, highest.depth) == ("MaxIOPS", best.threads, best.depth)
    steps = {step.ordinal: step for step in short.steps()}
    for point in result.points:
        assert point.ordinal is not None and point.histogram is not None
        (stream,) = steps[point.ordinal].args["workload"]["streams"]  # type: ignore[index,call-overload]
        assert (stream["workers"], stream["depth"]) == (point.threads, point.depth)
        measured: Any = steps[point.ordinal].result.measurement
        assert sum(point.histogram.count) == measured["read"]["ios"] + measured["write"]["ios"]
        assert point.histogram.max_ns == max(
            measured[side]["response_ns"]["max"] for side in ("read", "write")
        )
    share = measured["read"]["ios"] / sum(point.histogram.count)
    assert share == pytest.approx(result.read_pct / 100, abs=0.05)


def test_a_figure_of_the_rounds_has_their_verdict_and_not_that_of_the_preconditioning(
    short: RunFolder,
) -> None:
    """Fills of the preconditioning are those of its own samples: the rounds were done after more."""
    result = result_of(short)
    before = result.samples.model_copy(update={"steady": False, "fills": 0.2})
    rounds = result.rounds.model_copy(update={"steady": True, "fills": 3.0})
    found = result.model_copy(update={"samples": before, "rounds": rounds})
    assert found.steady is False and [each.steady for each in found.windows] == [False, True]

    def unproven(**verdict: object) -> list[Qualifier]:
        own = rounds.model_copy(update=verdict)
        figures = list(demand._scalars(result.test, result.points, own, result.cells))
        assert figures and all(each.qualifiers == figures[0].qualifiers for each in figures)
        return [*figures[0].qualifiers]

    assert unproven() == []
    window = result.cells[0].ordinals[rounds.first - 1 : rounds.last]
    for fills, why in ((0.9, "not assessed: only 0.900 drive writes"), (3.0, "NOT ACHIEVED")):
        (shown,) = unproven(steady=False, fills=fills)
        assert (shown.code, shown.steps, shown.why) == ("state-unproven", window, f"steady state {why}")


def test_no_cpu_share_is_made_up_for_a_simulated_drive(short: RunFolder) -> None:
    result = result_of(short)
    assert result.simulated
    assert all(share is None for cell in result.cells for share in cell.cpu_busy_share)
    html = page.render([source.read_run(short.path)])
    assert "not applicable: the drive is simulated" in html


def test_every_page_of_the_specification_is_there(short: RunFolder) -> None:
    result = result_of(short)
    last = 15 if result.test == "composite" else 14
    html = page.render([source.read_run(short.path)])
    numbered = [int(number) for number in re.findall(r"<h3>[^<]*\bP(\d+): ", html)]
    assert numbered == list(range(1, last + 1))
    assert html.count(", MRT ") >= 3
    data = Page.of(html).data
    highest = data["charts"][f"pts-{result.test}-p7"]["views"][0]["lines"]
    assert [line["name"] for line in highest] == ["TC1", "TC4", "TC32"]


def test_the_grid_is_that_of_the_specification() -> None:
    assert COUNTS == (1, 2, 4, 6, 8, 16, 32)
    params = PtsDemandIntensityParams()
    assert len(params.grid) == 49 and params.shape == (32, 32)
    with pytest.raises(UsageError):
        PtsDemandIntensityParams.build({"depths": "4,2"})


@pytest.mark.parametrize("name", ["pts-demand-intensity", "pts-composite"])
def test_a_latency_says_at_which_demand_it_is_and_a_rate_is_of_its_own(
    name: str, quick_result: QuickResult
) -> None:
    """Each drive has its own demand: latencies of two drives compare at it, rates are what was chosen by."""
    result = quick_result(name)
    points = {point.name.lower(): Load(threads=point.threads, depth=point.depth) for point in result.points}
    first, last = result.rounds.reported
    ordinals = {(cell.threads, cell.depth): cell.ordinals[first - 1 : last] for cell in result.cells}
    for figure in result.scalars:
        own = points[figure.name.removesuffix("_art").rpartition("_")[2]]
        assert figure.load == (own if figure.unit == "µs" else None)
        assert own.threads is not None and figure.steps == ordinals[own.threads, own.depth] != ()
        decided = {*figure.steps, *figure.chosen_among}
        assert decided.issuperset(sum((ordinals[each.threads, each.depth] for each in points.values()), ()))
        highest = points["maxiops"]
        above = [each for each in ordinals if each[0] == highest.threads and each[1] > highest.depth]
        assert not above or decided.issuperset(ordinals[min(above)]), "the next above MaxIOPS decides"
        assert figure.varies is not None and figure.varies.of == "rounds"
