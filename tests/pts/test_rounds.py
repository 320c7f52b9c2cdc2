"""The round loop: its order, when it stops, what it reports, and what it leaves out."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from methods.on_simulated import findings_of, run
from pts.scripted import GIB, Scripted, round_of
from ssdlab.lab.outcome import read_result
from ssdlab.methods.pts.findings import Window, findings, passed_over, tables
from ssdlab.methods.pts.iops import BLOCKS, MIXES, PtsIopsParams, cells_of, conclude, procedure
from ssdlab.methods.pts.result import PtsResult
from ssdlab.methods.pts.throughput import PtsThroughputParams
from ssdlab.methods.pts.throughput import procedure as throughput


def test_cells_and_rounds_are_in_the_written_order() -> None:
    scripted = Scripted(lambda label: 1000.0)
    procedure(scripted.lab(), PtsIopsParams())
    done = [request for request in scripted.asked if request.verb == "run"]
    assert len(done) == 5 * 56
    assert [request.label for request in done[:9]] == [
        "round 1, 100/0 1 MiB",
        "round 1, 100/0 128 KiB",
        "round 1, 100/0 64 KiB",
        "round 1, 100/0 32 KiB",
        "round 1, 100/0 16 KiB",
        "round 1, 100/0 8 KiB",
        "round 1, 100/0 4 KiB",
        "round 1, 100/0 512 B",
        "round 1, 95/5 1 MiB",
    ]
    shapes = [request.workload.streams[0] for request in done[:56] if request.workload]
    asked = [(stream.ops.read_pct, stream.block[0].bytes) for stream in shapes]  # type: ignore[union-attr]
    assert asked == [(mix, block) for mix in MIXES for block in BLOCKS]
    assert {(stream.workers, stream.depth, stream.stop.time_ns) for stream in shapes} == {(4, 32, 60 * 10**9)}
    first = ["conditions", "purge", "precondition", "stretch", "run"]
    assert [request.verb for request in scripted.asked[:5]] == first
    assert scripted.asked[0].args["required"] == {"scheduler": "none", "write_cache": "off"}
    wipc = scripted.asked[2].workload
    assert wipc is not None and wipc.streams[0].stop.bytes == 2 * 4 * GIB
    assert wipc.streams[0].block[0].bytes == 128 * 1024


def test_a_series_steady_from_round_7_stops_at_round_11() -> None:
    """Before, each round is 23 % below the one before, so that no window with one of them passes."""
    scripted = Scripted(lambda label: 1000.0 * max(1.0, 1.3 ** (7 - round_of(label))))
    procedure(scripted.lab(), PtsIopsParams())
    result = conclude(scripted.data(), PtsIopsParams())
    (group,) = result.groups
    assert (group.rounds, group.first, group.last, group.steady) == (11, 7, 11, True)
    assert all(each.mean == 1000.0 for each in group.tracked)


def test_one_variable_late_holds_the_others_back() -> None:
    def value(label: str) -> float:
        late = "65/35 64 KiB" in label
        return 1000.0 * max(1.0, 1.2 ** (3 - round_of(label))) if late else 500.0

    scripted = Scripted(value)
    procedure(scripted.lab(), PtsIopsParams())
    found = conclude(scripted.data(), PtsIopsParams()).groups[0]
    of_1_1 = Scripted(value)
    procedure(of_1_1.lab(), PtsIopsParams(rule="1.1"))
    assert found.rounds > 5
    assert conclude(of_1_1.data(), PtsIopsParams(rule="1.1")).groups[0].rounds == 5


def ordinals_of(result: PtsResult, name: str, first: int, last: int) -> tuple[int, ...]:
    """Return the steps of a cell in some rounds."""
    (own,) = (cell.ordinals for cell in result.groups[0].cells if cell.name == name)
    return own[first - 1 : last]


@pytest.mark.parametrize("reported", ["window", "four-after"])
def test_a_figure_has_the_steps_of_the_reported_rounds_of_what_it_tracks(reported: str) -> None:
    """Steady from round 7 on; the one before them is of no account, and nor are those after the four."""
    scripted = Scripted(lambda label: 1000.0 * max(1.0, 1.3 ** (7 - round_of(label))) + round_of(label))
    params = PtsIopsParams.build({"reported": reported, "fixed_rounds": "true"})
    procedure(scripted.lab(), params)
    result = conclude(scripted.data(), params)
    assert (result.groups[0].first, result.groups[0].last) == (7, 11)
    rounds = (7, 11) if reported == "window" else (12, 15)
    for figure in result.scalars:
        assert figure.steps == ordinals_of(result, figure.label, *rounds)
        assert not figure.qualifiers and not figure.chosen_among and figure.load is None
        assert figure.varies is not None and figure.varies.of == "rounds"
        assert figure.varies.amount == pytest.approx(rounds[1] - 7, rel=0.01)


def test_not_achieved_is_a_result() -> None:
    scripted = Scripted(lambda label: 100.0 if round_of(label) % 2 else 200.0)
    procedure(scripted.lab(), PtsIopsParams())
    result = conclude(scripted.data(), PtsIopsParams())
    (group,) = result.groups
    assert (group.rounds, group.first, group.last, group.steady) == (25, 21, 25, False)
    assert any("NOT ACHIEVED in 25 rounds" in each for each in findings_of(result))
    assert result.passed is None
    window = [ordinals_of(result, each.name, 21, 25) for each in group.tracked]
    for figure in result.scalars:
        (found,) = figure.qualifiers
        assert (found.code, found.why) == ("state-unproven", "steady state NOT ACHIEVED")
        assert found.steps == tuple(sorted(sum(window, ())))


def test_a_variable_that_keeps_the_limits_is_not_told_as_one_that_does_not() -> None:
    """One of the variables keeps the test from steady state; the others' own figures hold, and say so."""

    def value(label: str) -> float:
        return 100.0 if "65/35 64 KiB" in label and round_of(label) % 2 else 200.0

    scripted = Scripted(value)
    procedure(scripted.lab(), PtsIopsParams())
    result = conclude(scripted.data(), PtsIopsParams())
    (table,) = (each for each in tables(result) if "Within both limits" in each.head)
    held = {row[0].text: row[table.head.index("Within both limits")].text for row in table.rows}
    assert held == {"0/100 4 KiB": "yes", "65/35 64 KiB": "no", "100/0 1 MiB": "yes"}
    assert {row[table.head.index("Steady state, all variables")].text for row in table.rows} == {
        "NOT ACHIEVED"
    }
    (caveat,) = findings_of(result)[1:2]
    assert "NOT ACHIEVED in 25 rounds" in caveat and "65/35 64 KiB had a range of 71.4 %" in caveat
    broken = caveat.partition(": in rounds 21 to 25 ")[2]
    assert not broken.startswith(("0/100 4 KiB", "100/0 1 MiB")) and "; " not in broken.partition(" (")[0]
    assert [claim.holds for claim in findings(result)][1] is False


def test_every_limit_that_is_broken_is_named_with_its_direction() -> None:
    """By hand, over the last five of 25 rounds.

    4 KiB writes fall by 20 a round from 200 to 120: mean 160, range 80, and the line falls by 80: 50 % each.
    64 KiB jump between 100 and 200, three times 100: mean 140, range 100 or 71.4 %, a level line.
    1 MiB rise by 3 a round from 100 to 112: mean 106, range and rise 12 or 11.3 %; 20 % and 10 % are allowed.
    """

    def value(label: str) -> float:
        number = round_of(label)
        at = max(0, number - 21)
        if "0/100 4 KiB" in label:
            return 1000.0 / number if number < 21 else 200.0 - 20 * at
        if "65/35 64 KiB" in label:
            return 100.0 if number % 2 else 200.0
        return 100.0 + 3 * at

    scripted = Scripted(value)
    procedure(scripted.lab(), PtsIopsParams())
    result = conclude(scripted.data(), PtsIopsParams())
    (group,) = result.groups
    assert (group.steady, group.first, group.last) == (False, 21, 25)
    writes, mixed, reads = (window.failed for window in Window.each_of(group))
    assert writes.count("50.0 %") == 2 and "slope of -50.0 %" in writes
    assert "71.4 %" in mixed and "slope" not in mixed
    assert "slope of +11.3 %" in reads and "range" not in reads
    (caveat,) = findings_of(result)[1:2]
    assert all(each in caveat for each in (writes, mixed, reads))
    (stimulus,) = result.stimuli
    assert all(each in stimulus.outcome for each in (writes, mixed, reads))
    (table,) = (each for each in tables(result) if "Slope excursion" in each.head)
    slopes = [row[table.head.index("Slope excursion")].text for row in table.rows]
    assert ["falling" in each for each in slopes] == [True, False, False]
    assert ["rising" in each for each in slopes] == [False, False, True]


def test_what_4_kib_sectors_cannot_do_is_left_empty_with_the_reason() -> None:
    params = PtsIopsParams()
    cells, missing = cells_of(params, 4096)
    assert len(cells) == 49 and len(missing) == 7
    assert all("sectors are of 4 KiB" in str(cell.missing) for cell in missing)
    scripted = Scripted(lambda label: 1.0)
    procedure(scripted.lab(4096), params)
    result = conclude(scripted.data(4096), params)
    assert result.left_out == ("512 B",) and "sectors are of 4 KiB" in result.left_out_why


def test_the_client_setting_uses_three_quarters_with_the_cache_on() -> None:
    scripted = Scripted(lambda label: 1.0)
    procedure(scripted.lab(), PtsIopsParams(setting="client"))
    assert scripted.asked[0].args["required"] == {"scheduler": "none", "write_cache": "on"}
    limit = next(request for request in scripted.asked if request.verb == "limit")
    assert limit.args["usable_bytes"] == 3 * GIB


def test_sequential_minutes_go_on_where_the_last_stopped() -> None:
    scripted = Scripted(lambda label: 1.0)
    throughput(scripted.lab(), PtsThroughputParams())
    cursors = [
        request.workload.streams[0].pattern.cursors  # type: ignore[union-attr]
        for request in scripted.asked
        if request.verb == "run" and request.workload and "1 MiB, round" in request.label
    ]
    # A read and a write of 4096 B each are all that a scripted minute moves.
    assert cursors[2:4] == [(8192,), (8192,)]
    assert len([request for request in scripted.asked if request.verb == "purge"]) == 2


@pytest.mark.parametrize("name", ["pts-throughput", "pts-latency"])
@pytest.mark.long
def test_on_a_simulated_drive_latency_of_one_io_is_the_inverse_of_its_rate(tmp_path: Path, name: str) -> None:
    settings = {"seconds": "0.2", "most_rounds": "5", "overwrites": "1"}
    if name == "pts-latency":
        settings["histogram_seconds"] = "0.2"
    result = read_result(run(name, tmp_path, **settings))
    assert isinstance(result, PtsResult)
    assert result.purged and all(group.rounds == 5 for group in result.groups)
    if name == "pts-latency":
        assert (result.threads, result.depth) == (1, 1)
        for cell in result.groups[0].cells:
            for rate, mean in zip(cell.iops, cell.mean_ns, strict=True):
                assert rate * mean == pytest.approx(1e9, rel=0.02)
    else:
        assert [group.group for group in result.groups] == ["1 MiB", "128 KiB"]


def practised(value: Callable[[str], float]) -> PtsResult:
    """Return the result of a scripted drive under the review's practice."""
    params = PtsIopsParams.build({"practice": "review-uring"})
    scripted = Scripted(value)
    procedure(scripted.lab(), params)
    return conclude(scripted.data(), params)


def test_a_window_that_a_later_round_leaves_is_passed_over_and_named() -> None:
    """Even at 1000, then from round 8 on at 750: 25 % below, where 20 % are allowed."""
    result = practised(lambda label: 1000.0 if round_of(label) < 8 else 750.0)
    (group,) = result.groups
    assert (group.first, group.last, group.reported, group.steady) == (8, 12, (13, 16), True)
    claim = passed_over(group)
    assert claim is not None and claim.figure is not None and claim.figure.value == pytest.approx(25)
    assert claim.others["earlier"] == "rounds 1 to 5" and claim.others["round"] == "8"
    assert claim.others["side"] == "below" and claim.holds is False
    assert claim in list(findings(result))


def test_a_window_that_lasts_has_none_before_it() -> None:
    (group,) = practised(lambda label: 1000.0 if round_of(label) < 8 else 850.0).groups
    assert (group.first, group.last) == (1, 5) and passed_over(group) is None


def test_findings_give_the_means_of_the_reported_rounds() -> None:
    """The mean of the window, rounds 1 to 5, is 1003; that of rounds 6 to 9, which are reported, 1007.5."""
    result = practised(lambda label: 1000.0 + round_of(label))
    claim = list(findings(result))[1]
    assert result.groups[0].tracked[0].mean == 1003
    assert claim.others["reported"] == "rounds 6 to 9"
    assert str(claim.others["values"]).startswith("0/100 4 KiB 1.01k IOPS")
    assert {figure.value for figure in result.scalars} == {1007.5}
