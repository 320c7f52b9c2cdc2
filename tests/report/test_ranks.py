"""What is ranked and what is not: unlike depths, what differs by less than it varies, the host's part."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from report.reading import concluded, not_ranked
from ssdlab.analysis.places import places
from ssdlab.drives.ratings import MetricName, Rated
from ssdlab.methods.sweeps.result import PeakResult
from ssdlab.model.host_load import HostLoad
from ssdlab.report import page, source
from ssdlab.report.claims import UserClaim
from ssdlab.report.edition import PLAIN
from ssdlab.report.runs import Shown, shown
from ssdlab.report.sections import conclusion
from ssdlab.report.sections.claims import judged
from ssdlab.report.sections.top import TopChart, top
from ssdlab.report.sections.verdict import sentences
from ssdlab.report.source import Run
from ssdlab.report.standings import UNLIKE, standings
from ssdlab.results import drive_states
from ssdlab.results.drive_states import StateCheck
from ssdlab.results.earlier import as_of_now
from ssdlab.results.evidence import qualified
from ssdlab.results.metric import Load, Metric, Qualifier, of_points, of_search
from ssdlab.results.schema import Departure, Spread

IOPS = "peak_random_read_iops"
BUSY = HostLoad(cores=2, threads=8, cpu_busy_share=0.99, run_queue_delay_share=0.0)
Make = Callable[..., Path]


def swept(
    make_run: Make, drive: int, depth_at: int = 3, iops: float = 100_000.0, deviation: float = 0.0
) -> Run:
    """Return a depth sweep reported at one of its points, with figures of its own."""
    run = source.read_run(make_run(drive={"id": str(drive), "name": f"N{drive}", "kind": "block"}))
    result = run.result
    assert isinstance(result, PeakResult)
    spread = Spread(n=60, min=0.0, max=2 * iops, mean=iops, sd=deviation * iops)
    points = [point.model_copy(update={"spread_iops": spread}) for point in result.points]
    depth = points[depth_at].in_flight_asked
    figures = (
        Metric.more("peak_random_read_iops", "IOPS", iops, "IOPS"),
        Metric.less("peak_random_read_mean_ns", "mean latency", depth / iops * 1e9, "ns"),
        Metric.less("peak_random_read_p99_ns", "p99", 2 * depth / iops * 1e9, "ns"),
    )
    scalars = tuple(
        of_points(each, [points[depth_at]], load=Load(depth=depth) if each.unit == "ns" else None)
        for each in figures
    )
    changes: dict[str, Any] = {"points": tuple(points), "chosen": depth_at, "scalars": scalars}
    return replace(run, result=result.model_copy(update=changes))


def told(runs: tuple[Shown, ...], *figures: str) -> list[str]:
    return list(sentences(figures, standings(runs), runs))


def chart_of(runs: tuple[Shown, ...], name: str = IOPS) -> TopChart:
    (chart,) = top(runs, standings(runs), [name]).charts
    return chart


def test_latencies_at_unlike_depths_are_shown_with_them_and_not_ranked(make_run: Make) -> None:
    """Each drive's lowest depth of 95 % is its own: half the depth is half the wait, whatever the drive."""
    runs = shown([swept(make_run, 0, 2), swept(make_run, 1, 3, 200_000.0), swept(make_run, 2, 3)])
    found = standings(runs)
    for name in ("peak_random_read_mean_ns", "peak_random_read_p99_ns"):
        standing = found[name]
        assert standing.ranked == ()
        assert standing.why_not(standing.places) == "taken at depths 4 and 8"
        assert [standing.of(at).text.rpartition(" at ")[2] for at in range(3)] == [  # type: ignore[union-attr]
            "depth 4",
            "depth 8",
            "depth 8",
        ]
    assert len(found["peak_random_read_iops"].ranked) == 3, "throughput at the reported depth is the method"
    declared = ["peak_random_read_iops", "peak_random_read_mean_ns", "peak_random_read_p99_ns"]
    section = conclusion.section(runs, declared)
    assert not_ranked(section) == ["taken at depths 4 and 8 | all | peak random read (mean latency and p99)"]
    assert list(concluded(section)) == ["peak random read"]


def test_latencies_at_one_depth_are_ranked(make_run: Make) -> None:
    runs = shown([swept(make_run, 0), swept(make_run, 1, iops=200_000.0)])
    standing = standings(runs)["peak_random_read_mean_ns"]
    assert [place.shown.index for place in standing.ranked] == [1, 0]
    assert standing.unranked == ""


@pytest.mark.parametrize(("deviation", "level"), [(0.001, False), (0.03, True)])
def test_what_differs_by_less_than_its_own_rows_deviate_is_level(
    make_run: Make, deviation: float, level: bool
) -> None:
    runs = shown([swept(make_run, 0, iops=101_300.0), swept(make_run, 1, deviation=deviation)])
    standing = standings(runs)["peak_random_read_iops"]
    first, second = standing.places
    assert [first.rank, second.rank] == ([1, 1] if level else [1, 2])
    why = "1.28 % apart, standard deviation 3.00 % within a run"
    assert chart_of(runs).foot == (f"N0 and N1 indistinguishable ({why})" if level else "")
    (text,) = told(runs, IOPS)
    assert ("leads" in text) is not level and ("indistinguishable" in text) is level
    row = concluded(conclusion.section(runs))["peak random read"]
    assert row["Best"].startswith("N0 and N1" if level else "N0, 101k IOPS")
    assert (row["Lead over next"] == f"indistinguishable: {why}") is level
    assert ("Last" in row) is not level


def test_runs_of_one_drive_tell_how_far_its_figure_varies(make_run: Make) -> None:
    again = [swept(make_run, 0, iops=each) for each in (100_000.0, 104_000.0)]
    standing = standings(shown([*again, swept(make_run, 1, iops=102_000.0)]))["peak_random_read_iops"]
    assert [place.rank for place in standing.places] == [1, 1]
    assert standing.why_level(standing.places[1]).endswith("repeats vary by up to 4.00 %")


def test_a_figure_that_the_host_limited_is_no_drives_rank(make_run: Make) -> None:
    fast, slow, third = (swept(make_run, at, iops=(3 - at) * 50_000.0) for at in range(3))
    assert isinstance(slow.result, PeakResult)
    (of_figure,) = slow.result.scalars[0].steps
    limited = tuple(
        replace(step, result=step.result.model_copy(update={"host": BUSY}))
        if step.ordinal == of_figure
        else step
        for step in slow.steps
    )
    runs = shown([fast, replace(slow, steps=limited, result=qualified(slow.result, limited)), third])
    standing = standings(runs)["peak_random_read_iops"]
    assert [place.shown.index for place in standing.ranked] == [0, 2]
    own = standing.of(1)
    assert own is not None and standing.why_not([own]) == "host-limited"
    assert own.rated is None, "what the host did is held against no rating"
    (led,) = told(runs, IOPS)
    assert led.startswith("N0 leads") and "150k IOPS" in led and "3.00 times as much" in led
    assert [(bar.unranked, bar.note) for bar in chart_of(runs).bars][1] == (True, "host-limited")


def test_the_host_in_another_step_takes_no_rank(make_run: Make) -> None:
    run = swept(make_run, 0)
    assert isinstance(run.result, PeakResult)
    (of_figure,) = run.result.scalars[0].steps
    limited = tuple(
        step
        if step.ordinal == of_figure
        else replace(step, result=step.result.model_copy(update={"host": BUSY}))
        for step in run.steps
    )
    runs = shown([replace(run, steps=limited, result=qualified(run.result, limited)), swept(make_run, 1)])
    assert len(standings(runs)["peak_random_read_iops"].ranked) == 2


@pytest.mark.parametrize(
    ("found", "ranks"),
    [
        ([(880, 960), (800, 880)], [1, 2]),  # what one held the other did not
        ([(880, 960), (840, 900)], [1, 1]),
        ([(440, None), (400, 440)], [1, 2]),
    ],
)
def test_ends_of_a_search_are_level_where_their_true_values_may_be(
    found: list[tuple[float, float | None]], ranks: list[int]
) -> None:
    varies = [None if (each := of_search(*ends)) is None else each.amount for ends in found]
    assert places([held for held, _ in found], varies) == ranks


def test_a_place_is_shared_with_its_best_by_the_larger_variation_of_both() -> None:
    wide, narrow = 5.0, 0.5
    assert places([100.0, 96.0, 94.0], [narrow, wide, narrow]) == [1, 1, 3]
    assert places([100.0, 96.0, 94.0], [wide, narrow, narrow]) == [1, 1, 3]
    assert places([100.0, 96.0, 94.0]) == [1, 2, 3]


def test_the_conclusion_counts_every_rating_that_has_a_figure_and_says_which_way_it_holds(
    make_run: Make,
) -> None:
    run = swept(make_run, 0, iops=100_000.0)
    power = Metric.less("peak_random_read_w", "power", 5.0, "W")
    ratings = tuple(
        Rated(metric=metric, value=value, source="x")
        for metric, value in (("random_read_iops", 100_500.0), ("max_read_w", 4.0))
    )
    result = run.result.model_copy(update={"scalars": (*run.result.scalars, power)})
    rated = replace(run, result=result, manifest=run.manifest.model_copy(update={"ratings": ratings}))
    section = conclusion.section(shown([rated]))
    assert section is not None
    assert section.lead[0].endswith(
        "1 of 2 ratings met within 1 % (minimum throughput and maximum power); "
        "peak random read (power) is 125 % of the rating."
    )


def test_the_conclusion_counts_no_rating_of_another_state(make_run: Make) -> None:
    """Of a figure below a rating of another state it said that 0 of 1 ratings are kept."""
    run = swept(make_run, 0, iops=100_000.0)
    other = Rated(metric="random_read_iops", value=200_000.0, state="cached", source="x")
    manifest = run.manifest.model_copy(update={"ratings": (other,)})
    page = shown([replace(run, manifest=manifest)])
    section = conclusion.section(page)
    assert section is not None
    assert section.lead[0].endswith("Its rating is not compared: the drive state differs.")
    (table,) = section.exhibits[0].tables
    assert [cell.text for cell in table.rows[0]][4:7] == ["200k IOPS", "not compared: fresh", "cached"]
    (place,) = standings(page)["peak_random_read_iops"].places
    assert place.rated is None and place.other is not None
    (bar,) = chart_of(page).bars
    assert "rated 200k IOPS cached; this is fresh: not compared" in bar.note


def test_one_rating_is_told_as_one_and_ratings_without_a_figure_are_told_too(make_run: Make) -> None:
    def lead(metric: MetricName, *values: float) -> str:
        ratings = tuple(Rated(metric=metric, value=value, source="x") for value in values)
        run = swept(make_run, 0, iops=100_000.0)
        found = conclusion.section(
            shown([replace(run, manifest=run.manifest.model_copy(update={"ratings": ratings}))])
        )
        assert found is not None
        return found.lead[0].partition(": ")[2]

    assert lead("random_read_iops", 99e3) == (
        "The one rating compared is met within 1 % (minimum throughput)."
    )
    assert lead("max_write_w", 9.0, 8.0) == ("No rating applies to these tests.")


def test_those_that_share_a_place_are_named_together(make_run: Make) -> None:
    """Four shared the second place; one was named for 0.05 IOPS, and another as the only other drive."""
    speeds = (200_000.0, 100_003.0, 100_002.0, 100_001.0)
    runs = shown([swept(make_run, at, iops=each) for at, each in enumerate(speeds)])
    (text,) = told(runs, IOPS)
    assert text.startswith("N0 leads") and not re.search("N[123]", text)
    assert chart_of(runs).foot == "N1, N2 and N3 tied (within 1 %)"
    assert len(chart_of(runs).bars) == 4


def test_a_measurement_told_in_two_units_is_one_first_place(make_run: Make) -> None:
    runs = []
    for at, iops in enumerate((200_000.0, 100_000.0)):
        run = swept(make_run, at, iops=iops)
        twice = Metric.more("peak_random_read_mb_s", "throughput", iops * 4096 / 1e6, "MB/s")
        scalars = (run.result.scalars[0], twice.resting(steps=run.result.scalars[0].steps))
        runs.append(replace(run, result=run.result.model_copy(update={"scalars": scalars})))
    (row,) = concluded(conclusion.section(shown(runs))).values()
    assert row["Best"] == "N0, 200k IOPS" and row["Last"] == "N1, 100k IOPS"
    assert row["Lead over next"] == "2.00 times as much"


def of_method(run: Run, title: str, figure: str) -> Run:
    """Return a run as one of another method, with one figure of another name."""
    manifest = run.manifest.model_copy(
        update={"method": run.manifest.method.model_copy(update={"name": title, "title": title})}
    )
    scalar = run.result.scalars[0].model_copy(update={"name": figure})
    return replace(run, manifest=manifest, result=run.result.model_copy(update={"scalars": (scalar,)}))


def test_two_drives_of_one_model_have_two_labels_whatever_their_methods(make_run: Make) -> None:
    def of_drive(serial: str, title: str) -> Run:
        run = of_method(swept(make_run, 0), title, title)
        drive = run.manifest.drive.model_copy(update={"id": f"sim:x,serial={serial}"})
        return replace(run, manifest=run.manifest.model_copy(update={"drive": drive}))

    for methods in (("one", "two"), ("one", "one")):
        runs = shown([of_drive(f"A{'B' * at}", title) for at, title in enumerate(methods)])
        assert len({each.label for each in runs}) == len({each.style.short for each in runs}) == 2
        claim = UserClaim(sentence="x", figure="one", bound="at least 0", drive=runs[0].drive.name)
        (found,) = judged([claim], runs, {})
        assert found.mark == "not measured" and "matches several drives" in found.found
    (alone, again) = shown([of_drive("A", "one"), of_drive("A", "two")])
    assert alone.label == again.label, "of one drive its methods are one column"


def with_interface(run: Run, transport: str, drive: str | None = None) -> Run:
    """Return a run on a drive of this interface, as one of a review."""
    own = run.manifest.drive
    changes = {"identity": {**own.identity, "transport": transport}, "id": drive or own.id}
    manifest = run.manifest.model_copy(update={"drive": own.model_copy(update=changes)})
    return replace(run, manifest=manifest, review="r")


def of_review(make_run: Make, *drives: tuple[str, float]) -> tuple[Shown, ...]:
    return shown([with_interface(swept(make_run, at, iops=iops), of) for at, (of, iops) in enumerate(drives)])


def verdict(runs: tuple[Shown, ...]) -> tuple[str, ...]:
    return sentences([IOPS], standings(runs), runs, runs[0])


def test_the_reviewed_drive_is_told_first_and_against_drives_of_its_interface(make_run: Make) -> None:
    """A review of a SATA drive named the NVMe drive that led, and the reviewed drive nowhere."""
    drives = (("sata", 50e3), ("sata", 80e3), ("sata", 50.1e3), ("sata", 60e3), ("nvme", 400e3))
    first, led = verdict(of_review(make_run, *drives))
    assert first.startswith("N0: 50.0k IOPS")
    assert "place 3 of 4 SATA drives behind N1, tied with N2" in first
    assert led.startswith("Among SATA drives, N1 leads") and "33.3 % more than the next" in led
    (first,) = verdict(of_review(make_run, ("nvme", 400e3), ("sata", 50e3), ("sata", 60e3)))[:1]
    assert "6.67 times as much as N2" in first


def test_the_conclusion_gives_margins_within_an_interface(make_run: Make) -> None:
    """That a NVMe drive is ahead of SATA drives is no finding, and hid what lies between those."""
    runs = of_review(make_run, ("sata", 50e3), ("sata", 60e3), ("nvme", 400e3), ("sata", 50.1e3))
    row = concluded(conclusion.section(runs))["peak random read"]
    assert (row["Interface"], row["Best"]) == ("SATA", "N1, 60.0k IOPS")
    assert row["Lead over next"] == "19.8 % more"
    assert row["Last"] == "N3 and N0, 50.0k to 50.1k IOPS"
    assert row["Best of all drives"] == "N2, 400k IOPS"
    alone = concluded(conclusion.section(of_review(make_run, ("sata", 50e3), ("nvme", 400e3))))
    assert alone["peak random read"]["Best"] == "N1, 400k IOPS"


def of_scalars(one: Shown, **changes: Any) -> Run:
    """Return a run whose throughput is changed."""
    run = one.run
    scalars = tuple(
        each.model_copy(update=changes) if each.name == IOPS else each for each in run.result.scalars
    )
    return replace(run, result=run.result.model_copy(update={"scalars": scalars}))


def unfit(one: Shown) -> Run:
    return of_scalars(one, qualifiers=(Qualifier(code="host-limited"),))


def rows_of(runs: tuple[Shown, ...]) -> dict[str, dict[str, str]]:
    """Return the rows of the conclusion on one figure, by interface."""
    section = conclusion.section(runs, [IOPS])
    assert section is not None
    table = next(table for each in section.exhibits for table in each.tables if table.head[0] == "Figure")
    rows = [dict(zip(table.head, (cell.text for cell in row), strict=True)) for row in table.rows]
    return {row.get("Interface", ""): row for row in rows}


@pytest.mark.parametrize(
    "order", [("sata", "nvme", "sas"), ("nvme", "sas", "sata"), ("sas", "sata", "nvme")], ids=" ".join
)
def test_of_interfaces_with_as_many_drives_the_first_of_the_page_is_told(
    make_run: Make, order: tuple[str, ...]
) -> None:
    """Otherwise the order of a set decides, which differs from process to process."""
    drives = [(kind, iops) for at, kind in enumerate(order) for iops in (50e3 + at * 1e5, 80e3 + at * 1e5)]
    told_of = told(of_review(make_run, *drives), IOPS)[1]
    assert told_of.startswith(f"Among {'NVMe' if order[0] == 'nvme' else order[0].upper()} drives, N1 leads")


@pytest.mark.parametrize(
    "drives",
    [(("sata", 50e3), ("nvme", 50.1e3)), (("sata", 50e3), ("sata", 30e3), ("nvme", 50.1e3))],
)
def test_a_tie_of_drives_of_two_interfaces_is_told(
    make_run: Make, drives: tuple[tuple[str, float], ...]
) -> None:
    runs = of_review(make_run, *drives)
    (tied,) = told(runs, IOPS)
    assert f"N{len(drives) - 1} and N0 are tied" in tied
    assert all("Best of all drives" not in row for row in rows_of(runs).values()), "both are"


def test_a_tie_within_an_interface_is_told_beside_the_drive_that_leads_all(make_run: Make) -> None:
    led, tied = told(
        of_review(make_run, ("sata", 50e3), ("sata", 50.1e3), ("sata", 40e3), ("nvme", 400e3)), IOPS
    )
    assert led.startswith("N3 (NVMe) leads") and tied.startswith("N1 and N0 are tied")


def test_best_of_all_are_those_that_are_tied_and_only_of_those_ranked(make_run: Make) -> None:
    drives = (("sata", 50e3), ("sata", 60e3), ("nvme", 400e3), ("nvme", 401e3), ("nvme", 900e3))
    runs = of_review(make_run, *drives)
    assert rows_of(runs)["SATA"]["Best of all drives"].startswith("N4, ")
    best = rows_of(shown([*(each.run for each in runs[:4]), unfit(runs[4])]))["SATA"]["Best of all drives"]
    assert best.startswith("N3 and N2 among those ranked, 400k")


def test_the_only_drive_of_an_interface_has_a_row(make_run: Make) -> None:
    rows = rows_of(of_review(make_run, ("sata", 50e3), ("sata", 60e3), ("nvme", 20e3)))
    assert set(rows) == {"SATA", "NVMe"}
    assert rows["NVMe"]["Best"].startswith("N2, 20.0k") and rows["NVMe"]["Last"] == "—"
    assert rows["NVMe"]["Best of all drives"].startswith("N1, 60.0k")
    rows = rows_of(of_review(make_run, ("sata", 50e3), ("sata", 60e3), ("nvme", 90e3)))
    assert set(rows) == {"SATA"} and rows["SATA"]["Best of all drives"].startswith("N2, 90.0k")
    rows = rows_of(of_review(make_run, ("sata", 50e3), ("sata", 90e3), ("nvme", 90e3)))
    assert set(rows) == {"SATA", "NVMe"}, "tied, so that no row names it as best of all"


@pytest.mark.parametrize("why", [(), (Qualifier(code="not-judged"),)], ids=["none", "withheld"])
def test_not_all_drives_are_tied_if_one_has_no_value(make_run: Make, why: tuple[Qualifier, ...]) -> None:
    speeds = (("sata", 50e3), ("sata", 50.1e3), ("sata", 50.2e3), ("sata", 50.3e3), ("nvme", 64e3))
    runs = of_review(make_run, *speeds)
    assert "All SATA drives" in verdict(runs)[1] and "All SATA drives" in chart_of(runs).foot
    lacking = shown(
        [*(each.run for each in runs[:3]), of_scalars(runs[3], value=None, qualifiers=why), runs[4].run]
    )
    assert "N2, N1 and N0 are tied" in verdict(lacking)[1]
    assert chart_of(lacking).foot.startswith("N2, N1 and N0 tied")
    without = shown([*(each.run for each in lacking[:3]), of_scalars(runs[3], name="other"), runs[4].run])
    assert "N2, N1 and N0 are tied" in verdict(without)[1]


def test_a_drive_without_a_value_or_a_reason_has_a_bar(make_run: Make) -> None:
    """A drive that failed every load has no score; it was on no card and in no count of those without."""
    runs = of_review(make_run, ("sata", 50e3), ("sata", 60e3))
    runs = shown([runs[0].run, of_scalars(runs[1], value=None)])
    chart = chart_of(runs)
    assert [(bar.shown.index, bar.text, bar.share, bar.unranked) for bar in chart.bars] == [
        (0, "50.0k", 1.0, False),
        (1, "none", None, True),
    ]
    assert chart.foot == ""


def test_an_unranked_drive_of_another_interface_hides_no_order(make_run: Make) -> None:
    runs = of_review(
        make_run, ("sata", 50e3), ("sata", 60e3), ("sata", 40e3), ("nvme", 400e3), ("nvme", 900e3)
    )
    runs = shown([*(each.run for each in runs[:4]), unfit(runs[4])])
    led, rest = told(runs, IOPS)
    assert led.startswith("Among SATA drives, N1 leads")
    assert "across interfaces (N4 ahead, but without a rank (host-limited))" in rest
    first, led, _ = verdict(runs)
    assert "place 2 of 3 SATA drives behind N1" in first and led.startswith("Among SATA drives, N1 leads")
    runs = shown([*(each.run for each in runs[:3]), unfit(runs[4])])
    best, *_ = sentences([IOPS], standings(runs), runs, runs[1])
    assert best.startswith("N1: 60.0k IOPS") and "20.0 % more than N0" in best


def test_of_many_tied_drives_some_are_named(make_run: Make) -> None:
    tied, _ = verdict(of_review(make_run, *(("sata", 50e3),) * 7, ("sata", 80e3)))
    assert tied.endswith("tied with N1, N2, N3 and 3 more.")
    (tied,) = told(of_review(make_run, *(("sata", 50e3),) * 7, ("sata", 40e3)), IOPS)
    assert tied.startswith("N0, N1, N2 and 4 more are tied")


def test_cards_compare_drives_and_tell_the_unit_or_its_direction(make_run: Make) -> None:
    """A card of one drive stood beside those of all; one in µs and ms said nowhere that less is better."""
    slow, fast = (swept(make_run, at, iops=each) for at, each in enumerate((1e3, 100e3)))
    assert isinstance(fast.result, PeakResult)
    only = Metric.more("only", "only", 1.0, "IOPS")
    one = replace(fast, result=fast.result.model_copy(update={"scalars": (*fast.result.scalars, only)}))
    runs = shown([slow, one])
    charts = top(runs, standings(runs), []).charts
    assert "only" not in [name for chart in charts for name in chart.names]
    assert chart_of(runs, "only").foot == "1 drive without this figure"
    name = "peak_random_read_mean_ns"
    assert chart_of(runs, name).unit == "" and chart_of(runs, name).better == "lower"
    html = page.render([slow, one], edition=replace(PLAIN, review={"tiles": [name]}))
    (label,) = re.findall(r'<p class="label">(.*?)</p>', html)
    assert "<span>lower is better</span>" in label


def test_ties_say_who_and_by_how_much(make_run: Make) -> None:
    """Of two pairs 13 % apart it was said that the drives are tied."""
    runs = of_review(
        make_run, *((("sata", each)) for each in (43.9e3, 43.9e3, 49.6e3, 49.6e3)), ("nvme", 64e3)
    )
    first, tied = verdict(runs)
    assert "place 3 of 4 SATA drives behind N2 and N3" in first and "tied with N1" in first
    assert tied.startswith("N2 and N3 are tied (equal) in peak random read")
    runs = of_review(make_run, *((("sata", each)) for each in (50e3, 50.1e3, 50.2e3)), ("nvme", 64e3))
    assert verdict(runs)[1].startswith("All SATA drives are tied (within 1 %) in")


def test_a_variant_of_the_reviewed_drive_is_told_against_it(make_run: Make) -> None:
    runs = [
        with_interface(swept(make_run, at, iops=each), "nvme") for at, each in enumerate((90e3, 40e3, 95e3))
    ]
    limited = with_interface(runs[1], "nvme", runs[0].manifest.drive.id)
    first, variant, *_ = verdict(shown([runs[0], limited, runs[2]]))
    assert "behind N2" in first
    assert variant.startswith("N1: 40.0k IOPS instead of 90.0k IOPS") and "55.6 % less" in variant


def test_a_made_up_example_never_leads_the_verdict_and_is_called_one(make_run: Make) -> None:
    replay, sweep = (of_method(swept(make_run, 0), title, title) for title in ("replay", "sweep"))
    made_up = replay.result.scalars[0].qualified([Qualifier(code="example")])
    replay = replace(replay, result=replay.result.model_copy(update={"scalars": (made_up,)}))
    other = of_method(swept(make_run, 1, iops=50_000.0), "sweep", "sweep")
    runs = shown([replay, sweep, other])
    (text,) = told(runs, "replay", "sweep")
    assert text.startswith("N0 leads in sweep with 100k IOPS")
    (bar,) = chart_of(runs, "replay").bars
    assert bar.note == "made-up load"


def test_what_has_no_order_says_why(make_run: Make) -> None:
    runs = shown([swept(make_run, at, 2 + at, 400_000.0 / (at + 1)) for at in range(2)])
    why = "taken at depths 4 and 8"
    assert told(runs, "peak_random_read_mean_ns") == [
        f"No ranking yet for peak random read (mean latency) ({why})."
    ]
    assert chart_of(runs, "peak_random_read_mean_ns").foot == f"Not ranked: {why}"


class Certified(PeakResult):
    """A result that passes a drive."""

    @property
    def passed(self) -> bool | None:
        """It does."""
        return True


def test_a_method_that_passes_or_fails_a_drive_is_told_without_a_figure(make_run: Make) -> None:
    run = of_method(swept(make_run, 0), "certificate", "none")
    result = Certified.model_construct(**{**dict(run.result), "scalars": ()})
    runs = shown([replace(run, result=result), swept(make_run, 1)])
    assert "Certificate: passed by N0." in told(runs, IOPS)


def test_what_forbids_a_rank_stands_first_below_a_bar(make_run: Make) -> None:
    found = (Qualifier(code="placed"), Qualifier(code="not-judged"))
    runs = []
    for at in range(2):
        run = swept(make_run, at)
        scalars = tuple(each.qualified(found) for each in run.result.scalars)
        runs.append(replace(run, result=run.result.model_copy(update={"scalars": scalars})))
    assert {bar.note for bar in chart_of(shown(runs)).bars} == {"not judged, prepared, not written"}


def test_a_sweep_of_an_older_version_keeps_its_depth_and_has_no_steps(make_run: Make) -> None:
    """What such a run stored is ranked as what one of today does."""
    old = []
    for at, depth in enumerate((4, 8)):
        run = swept(make_run, at)
        stored = [
            {name: each.model_dump()[name] for name in ("name", "label", "value", "unit", "better")}
            for each in run.result.scalars
        ]
        stored[-1]["taken_at"] = f"depth {depth}"
        read = as_of_now({"kind": "peak", "scalars": stored})
        assert read is not None
        scalars = tuple(map(Metric.model_validate, read["scalars"]))
        assert all(each.steps == () and each.varies is None for each in scalars)
        old.append(replace(run, result=run.result.model_copy(update={"scalars": scalars})))
    found = standings(shown(old))
    assert found["peak_random_read_p99_ns"].unranked == "taken at depths 4 and 8"
    assert len(found[IOPS].ranked) == 2


def test_a_figure_that_is_not_what_it_is_called_stands_small(make_run: Make) -> None:
    run = swept(make_run, 0, iops=100_000.0)
    hot = tuple(each.qualified([Qualifier(code="throttled")]) for each in run.result.scalars)
    heated = replace(run, result=run.result.model_copy(update={"scalars": hot}))
    assert 'class="row unshown"' not in page.render([run])
    assert 'class="row unshown"' in page.render([heated])


def test_every_column_without_a_rank_says_why(make_run: Make) -> None:
    """A second review of the drives had neither rank nor reason, and was said to have none of the figures."""
    speeds = (("one", 200e3, 100e3), ("other", 201e3, 101e3))
    runs = [
        replace(swept(make_run, at, iops=iops), review=f"20261125-2321-{name}-aaaaaa")
        for name, *both in speeds
        for at, iops in enumerate(both)
    ]
    found = shown(runs)
    standing = standings(found)[IOPS]
    assert [place.instead for place in standing.further] == [
        "N0 · one counts for this drive",
        "N1 · one counts for this drive",
    ]
    assert [bar.shown.index for bar in chart_of(found).bars] == [2, 0, 3, 1], "each has its bar"


@pytest.mark.parametrize(
    ("changes", "alike"),
    [
        ({}, True),
        ({"tool": {"version": "0.0.1"}}, True),  # the method's version says what counts
        ({"departures": (Departure(code="x", what="y"),)}, False),
        ({"quick": True}, False),
    ],
)
def test_what_runs_have_in_common_that_are_ranked(
    make_run: Make, changes: dict[str, Any], alike: bool
) -> None:
    other = swept(make_run, 1)
    other = replace(other, manifest=other.manifest.model_copy(update=changes))
    standing = standings(shown([swept(make_run, 0), other]))[IOPS]
    assert (len(standing.ranked), standing.unlike) == ((2, "") if alike else (0, UNLIKE))


def test_of_three_the_two_that_are_alike_are_ranked_and_the_third_stands_apart(make_run: Make) -> None:
    odd = swept(make_run, 2, iops=900_000.0)
    odd = replace(odd, manifest=odd.manifest.model_copy(update={"quick": True}))
    runs = shown([swept(make_run, 0), swept(make_run, 1, iops=300_000.0), odd])
    standing = standings(runs)[IOPS]
    assert [(each.shown.index, each.rank) for each in standing.places] == [(1, 1), (0, 2), (2, None)]
    assert standing.unlike == "" and "quick" in standing.places[2].unlike
    (bar,) = [each for each in chart_of(runs).bars if each.shown.index == 2]
    assert bar.unranked and standing.places[2].unlike in bar.note
    (text,) = told(runs, IOPS)
    assert "N1 leads" in text


def test_the_runs_that_are_fit_are_ranked_though_more_unfit_ones_are_alike(make_run: Make) -> None:
    unproven = (Qualifier(code="state-unproven"),)
    made = []
    for at in range(5):
        run = swept(make_run, at, iops=100_000.0 + 9_000 * at)
        if at < 3:
            figures = [each.qualified(unproven) for each in run.result.scalars]
            run = replace(
                run,
                manifest=run.manifest.model_copy(update={"quick": True}),
                result=run.result.model_copy(update={"scalars": tuple(figures)}),
            )
        made.append(run)
    standing = standings(shown(made))[IOPS]
    assert [each.shown.index for each in standing.ranked] == [4, 3]


@pytest.mark.parametrize("odd", [False, True])
def test_latencies_at_unlike_depths_have_no_rank_whatever_stands_beside_them(
    make_run: Make, odd: bool
) -> None:
    """Each drive of a sweep is reported at a depth of its own."""
    made = [swept(make_run, at, depth_at=depth) for at, depth in enumerate((2, 2, 2, 4))]
    if odd:
        quick = swept(make_run, 9, depth_at=2)
        made.append(replace(quick, manifest=quick.manifest.model_copy(update={"quick": True})))
    standing = standings(shown(made))["peak_random_read_mean_ns"]
    assert standing.ranked == () and "depths" in standing.unlike


@pytest.mark.parametrize(("kind", "text"), [("sim", "sim:tiny-test"), ("file", "x.img"), ("block", "/dev/x")])
def test_drives_of_unlike_kinds_are_not_ranked_together(make_run: Make, kind: str, text: str) -> None:
    other = swept(make_run, 1)
    drive = other.manifest.drive.model_copy(update={"kind": kind, "text": text})
    other = replace(other, manifest=other.manifest.model_copy(update={"drive": drive}))
    standing = standings(shown([swept(make_run, 0), other]))[IOPS]
    assert len(standing.ranked) == (2 if kind == "block" else 0)


def test_a_drive_in_another_spare_share_is_an_entry_that_is_ranked(make_run: Make) -> None:
    made = []
    for at, text in enumerate(("sim:tiny-test", "sim:tiny-test,spare=0.25")):
        run = swept(make_run, at)
        drive = run.manifest.drive.model_copy(update={"kind": "sim", "text": text})
        made.append(replace(run, manifest=run.manifest.model_copy(update={"drive": drive})))
    assert len(standings(shown(made))[IOPS].ranked) == 2


def test_power_by_two_meters_is_not_ranked(make_run: Make) -> None:
    made = []
    for at, meter in enumerate(("one", "other")):
        run = swept(make_run, at)
        watts = Metric.less("peak_random_read_w", "power", 5.0 + at, "W")
        environment = run.manifest.environment | {"meter": {"use": "pmt", "name": meter}}
        made.append(
            replace(
                run,
                manifest=run.manifest.model_copy(update={"environment": environment}),
                result=run.result.model_copy(update={"scalars": (*run.result.scalars, watts)}),
            )
        )
    found = standings(shown(made))
    assert (found["peak_random_read_w"].unlike, found[IOPS].unlike) == (UNLIKE, "")


@pytest.mark.parametrize(("error", "ranks"), [(0.1, [1, 2]), (3.0, [1, 1])])
def test_figures_closer_than_their_meter_may_be_off_are_level(
    make_run: Make, error: float, ranks: list[int]
) -> None:
    made = []
    for at in range(2):
        run = swept(make_run, at)
        watts = Metric.less("peak_random_read_w", "power", 5.0 + at, "W", error=error)
        made.append(replace(run, result=run.result.model_copy(update={"scalars": (watts,)})))
    assert [each.rank for each in standings(shown(made))["peak_random_read_w"].places] == ranks


def test_a_run_that_is_unfit_is_no_repeat_of_one_that_is_fit(make_run: Make) -> None:
    """What heat did to another run says nothing of how far the drive varies."""
    hot = swept(make_run, 0, iops=50_000.0)
    scalars = tuple(each.qualified([Qualifier(code="throttled")]) for each in hot.result.scalars)
    hot = replace(hot, result=hot.result.model_copy(update={"scalars": scalars}))
    runs = shown([swept(make_run, 0), hot, swept(make_run, 1, iops=90_000.0)])
    assert [each.rank for each in standings(runs)[IOPS].ranked] == [1, 2]


@pytest.mark.parametrize(
    ("code", "reason"),
    [("host-limited", "qualify (host-limited)"), ("not-fresh", "qualify (not fresh)"), ("placed", "")],
)
def test_a_figure_that_is_unfit_for_ratings_is_held_against_none(
    make_run: Make, code: str, reason: str
) -> None:
    run = swept(make_run, 0)
    scalars = tuple(each.qualified([Qualifier(code=code)]) for each in run.result.scalars)
    rated = run.manifest.model_copy(
        update={"ratings": (Rated(metric="random_read_iops", value=99e3, source="x"),)}
    )
    run = replace(run, manifest=rated, result=run.result.model_copy(update={"scalars": scalars}))
    section = conclusion.section(shown([run]))
    assert section is not None and (f"the rated figures do not {reason}" in section.lead[0]) == bool(reason)
    assert bool(section.exhibits) is not bool(reason), "a table of what was compared"


def test_labels_of_a_figure_stand_below_its_bar_of_one_without_a_value_too(
    make_run: Make,
) -> None:
    run = swept(make_run, 0)
    first, *others = run.result.scalars
    found = (Qualifier(code="throttled", steps=(1,)), Qualifier(code="host-limited"))
    several = (first.qualified(found), *others)
    runs = shown([replace(run, result=run.result.model_copy(update={"scalars": several}))])
    assert chart_of(runs).bars[0].note == "throttled, host-limited"

    check = StateCheck(
        kind="window",
        unit="IOPS",
        what="the fill",
        before=400.0,
        then="the mix",
        after=100.0,
        held=False,
        ordinals=(1,),
    )
    moved = run.result.model_copy(
        update={
            "checks": (check,),
            "scalars": tuple(each.withheld(drive_states.moved([check])) for each in run.result.scalars),
        }
    )
    chart = chart_of(shown([replace(run, result=moved)]))
    (bar,) = chart.bars
    assert (bar.text, bar.share, bar.note, chart.names) == ("—", None, "state moved", ())


def test_a_bound_from_below_is_one_in_a_bar(make_run: Make) -> None:
    run = swept(make_run, 0)
    score = Metric.more("x_score", "score", 24.0, "x", bound="at least").qualified(
        [Qualifier(code="search-ceiling")]
    )
    (bar,) = chart_of(
        shown([replace(run, result=run.result.model_copy(update={"scalars": (score,)}))]), "x_score"
    ).bars
    assert (bar.text, bar.note) == ("at least 24x", "search ceiling")
