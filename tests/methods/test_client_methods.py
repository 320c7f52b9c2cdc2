"""TRIM validation and paced bursts on simulated drives built so that the answer is known."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lab.fake_drive import FakeDrive, run_on
from methods.on_simulated import SMALL, findings_of, run
from ssdlab.analysis.percentiles import BUCKET_WIDTH
from ssdlab.drives.simulated.profiles import profile_text
from ssdlab.host.held_folder import HeldFolder
from ssdlab.lab.found import find_method
from ssdlab.lab.outcome import read_result
from ssdlab.lab.parts.search import search_highest
from ssdlab.methods.paced_burst.desktop_load import FACTOR, _failure
from ssdlab.methods.paced_burst.findings import findings
from ssdlab.methods.paced_burst.procedure import PacedBurstParams, lay_out
from ssdlab.methods.paced_burst.result import PacedBurstResult
from ssdlab.methods.trim_validation.result import TrimResult
from ssdlab.methods.trim_validation.result import findings as trim_findings
from ssdlab.methods.trim_validation.result import verdict as verdict_of
from ssdlab.model.errors import DriveError, UsageError
from ssdlab.results import tables
from ssdlab.results.claim import Amount, Evidence, sentence
from ssdlab.results.run_folder import RunFolder
from ssdlab.runs.order import Order, plan_on, plan_order

BRIEF = {"torture_seconds": "20", "sustained_seconds": "2"}


def trimmed(library: Path, drive: str, **settings: str) -> TrimResult:
    found = run("trim-validation", library, drive, **{**BRIEF, **settings})
    assert isinstance(read_result(found), TrimResult)
    assert_inside_its_plan(found)
    return read_result(found)


def assert_inside_its_plan(found: RunFolder) -> None:
    """Seconds are the drive's: no time passes outside of steps."""
    manifest = found.manifest
    method = find_method(manifest.method.name)
    params = method.params.model_validate(manifest.params)
    plan = plan_order(Order(method, params, manifest.drive.text, destroy=manifest.drive.text))
    seconds, written = 0.0, 0
    for step in found.steps():
        measured: Any = step.result.measurement or {}
        seconds += measured.get("elapsed_s", 0.0) if measured else float(str(step.args.get("seconds", 0)))
        written += (measured.get("write") or {}).get("bytes", 0)
    assert plan.seconds.lower * 0.999 <= seconds <= plan.seconds.upper
    assert plan.bytes_written.lower <= written <= plan.bytes_written.upper


def test_a_drive_that_honours_trim_is_as_fast_as_clean(tmp_path: Path) -> None:
    result = trimmed(tmp_path, SMALL)
    assert result.verdict == "works"
    assert result.recovered >= 0.95
    assert result.regained is not None
    assert result.regained > 0.9
    assert result.before is not None
    assert result.before.mean_mb_s < 0.7 * result.clean.mean_mb_s
    assert result.trim.reached_device is True
    assert result.purged
    assert [plot.name for plot in (result.clean, result.before, result.after)] == [
        "clean",
        "before TRIM",
        "after TRIM",
    ]


def test_a_drive_that_ignores_trim_writes_after_it_as_before(tmp_path: Path) -> None:
    """Both are written from one state of the drive, so that its TRIM is all that could tell them apart."""
    result = trimmed(tmp_path, f"{SMALL},trim=ignored")
    assert result.verdict == "fails"
    assert result.before is not None
    assert result.after.mean_mb_s == pytest.approx(result.before.mean_mb_s, rel=0.001)
    assert result.regained == pytest.approx(0.0, abs=0.01)
    verdict = sentence(next(trim_findings(result)))
    assert "under 1 % of the loss over all blocks recovered" in verdict
    (row,) = verdict_of(result).rows
    assert [cell.text for cell in row].count("under 1 %") == 1
    assert result.recovered < 0.7


def test_a_drive_that_writes_in_place_has_nothing_to_give_back(tmp_path: Path) -> None:
    result = trimmed(tmp_path, "sim:xpoint,scale=256", torture_seconds="1", sustained_seconds="0.1")
    assert result.verdict == "no contrast"
    assert result.regained is None
    assert any("almost nothing to restore" in each for each in findings_of(result))


def test_a_real_drive_gets_its_contrast_from_a_second_cycle() -> None:
    """Nothing is written between the random writes and TRIM."""
    method = find_method("trim-validation")
    real = [step.label for step in plan_on(method, method.params(), FakeDrive()).steps]
    assert real == [
        "conditions",
        "trial of TRIM",
        "purge",
        "clean",
        "clean, going on",
        "random writes",
        "TRIM",
        "after TRIM",
        "after TRIM, going on",
        "purge again",
        "fill, 1 x",
        "random writes again",
        "before TRIM",
        "before TRIM, going on",
    ]


def test_a_drive_without_trim_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    class Without(FakeDrive):
        def trim(self, *args: Any, **options: Any) -> Any:
            raise DriveError("/dev/fake0 takes no discard", "use another drive", reason="no-trim")

    drive = Without()
    method = find_method("trim-validation")
    with pytest.raises(DriveError, match="no discard"):
        run_on(drive, method, method.params(), tmp_path)
    assert drive.runs == []
    assert ("purge", None) not in drive.done


# --- paced bursts ---

LOAD = {
    "span": "256MB",
    "every_seconds": "4",
    "read": "20MB",
    "reads": "3",
    "read_every_seconds": "4",
    "rest_seconds": "5",
    "rate_seconds": "5",
    "first": "40",
    "most": "320",
    "resolution": "0.2",
}
BURST_MB = 40.0
WITHIN_THE_CACHE = {
    **LOAD,
    "span": "64MB",
    "burst": "5MB",
    "rate_seconds": "1",
    "first": "10",
    "most": "320",
}
"""Of a cache of 500 MB: no try within the span writes as much."""


def cached(folder: Path, size_mb: float, capacity_bytes: int = 16 << 30) -> str:
    """A drive whose cells are fast with one bit, slow with three, and folded as soon as it is left alone.

    A quarter of these bytes: what the host does not get is spare, of which the cache is made.
    """
    text = profile_text("tiny-test")
    for old, new in (
        ("size_mib = { value = 8.0", "size_mib = { value = 1.0"),
        ("= 1700.0", "= 10000.0"),
        ("erase_ms = { value = 5.0", "erase_ms = { value = 15.0"),
        (f"value = {16 << 30}", f"value = {capacity_bytes}"),
    ):
        assert text.count(old) == 1
        text = text.replace(old, new)
    figures = {"size_gb": 4 * size_mb / 1e3, "read_us": 30.0, "program_us": 200.0}
    text += '\n[slc_cache]\nmode = { value = "static", source = "chosen" }\n'
    text += 'when_full = { value = "direct", source = "chosen" }\n'
    text += "".join(f'{name} = {{ value = {value}, source = "chosen" }}\n' for name, value in figures.items())
    text += '[idle]\nafter_ms = { value = 50.0, source = "chosen" }\n'
    text += 'free_pct = { value = 1.0, source = "chosen" }\n'
    profile = folder / f"cache-{size_mb:g}.toml"
    profile.write_text(text)
    return f"sim:{profile},scale=4"


def paced(folder: Path, size_mb: float) -> tuple[RunFolder, PacedBurstResult]:
    found = run("paced-burst", folder / f"{size_mb:g}", cached(folder, size_mb), **LOAD)
    assert isinstance(read_result(found), PacedBurstResult)
    return found, read_result(found)


def single_ios(found: RunFolder, ordinal: int, direction: str) -> tables.Columns:
    where = f"ordinal = {ordinal} AND direction = '{direction}'"
    return tables.read(HeldFolder(found.path), tables.IOS, tables.IO_COLUMNS, where, "submit_ns")


@pytest.fixture(scope="module")
def within(tmp_path_factory: pytest.TempPathFactory) -> tuple[RunFolder, PacedBurstResult]:
    """Of a cache of 25 MB, which ends inside each burst."""
    return paced(tmp_path_factory.mktemp("within"), 25.0)


def test_a_cache_that_ends_inside_the_burst_is_seen_to_end(
    within: tuple[RunFolder, PacedBurstResult],
) -> None:
    found, result = within
    ios = single_ios(found, result.loads[0].ordinal, "write")
    bursts = np.unique(ios["intended_ns"])
    assert (np.diff(bursts) == 4e9).all()
    for due in bursts:
        ours = ios["intended_ns"] == due
        done_s = np.sort(ios["submit_ns"][ours] + ios["latency_ns"][ours] - due) / 1e9
        written_mb = np.arange(1, done_s.size + 1) * 4096 / 1e6
        assert written_mb[-1] == pytest.approx(BURST_MB, rel=1e-3)
        speeds = 1 / np.diff(np.interp(np.arange(0, 40, 1.0), written_mb, done_s))
        # Before that the die that finishes a word line of three bits may hold the buffer up; it recovers.
        slow = int(np.flatnonzero(speeds > 0.5 * speeds[0])[-1]) + 1
        assert slow == pytest.approx(25, abs=2), "the cache and what the buffer holds"


def test_paced_writes_are_fast_and_saturated_ones_are_not(
    tmp_path: Path, within: tuple[RunFolder, PacedBurstResult]
) -> None:
    _, beyond = paced(tmp_path, 150.0)
    speeds = {}
    for name, result in (("within", within[1]), ("beyond", beyond)):
        for load in result.loads:
            side = load.side("write")
            assert side is not None
            speeds[name, load.name] = side.mb_s
    assert speeds["beyond", "paced"] > 8 * speeds["beyond", "saturated"]
    assert speeds["within", "paced"] < 0.3 * speeds["beyond", "paced"]
    assert speeds["within", "saturated"] == pytest.approx(speeds["beyond", "saturated"], rel=0.2)


def test_the_safe_rate_is_what_is_folded_away(within: tuple[RunFolder, PacedBurstResult]) -> None:
    """A cache that holds no burst is no help: what is sustained is what the slow cells take."""
    result = within[1]
    saturated = result.loads[1].side("write")
    assert saturated is not None
    assert result.safe_mb_s == pytest.approx(saturated.mb_s, rel=0.3)
    assert [each.held for each in result.rates] == sorted((each.held for each in result.rates), reverse=True)
    assert all(each.held == (not each.why) for each in result.rates)
    held = next(each for each in result.rates if each.rate == result.safe_mb_s)
    assert f"{Amount(held.written_bytes, 'bytes')} written" in " ".join(map(sentence, findings(result)))


@pytest.mark.long
def test_the_safe_rate_is_measured_beyond_a_cache_that_holds_the_span(tmp_path: Path) -> None:
    """Within the span the rate is that of the cache; over twice the cache it is what the slow cells take."""
    found = run("paced-burst", tmp_path, cached(tmp_path, 500.0, capacity_bytes=8 << 30), **WITHIN_THE_CACHE)
    result = read_result(found)
    assert isinstance(result, PacedBurstResult)
    saturated = paced(tmp_path, 25.0)[1].loads[1].side("write")
    assert saturated is not None
    assert result.cache_bytes == pytest.approx(500e6, rel=0.2)
    assert result.safe_mb_s is not None
    assert result.safe_mb_s > 2 * saturated.mb_s, "all that was written fits into the cache"
    assert result.beyond_span_bytes is not None
    assert result.beyond_span_bytes >= 2 * result.cache_bytes
    assert result.safe_beyond_mb_s is not None
    assert result.safe_beyond_mb_s <= saturated.mb_s
    held = next(each for each in result.beyond if each.rate == result.safe_beyond_mb_s)
    assert held.written_bytes >= 1.95 * result.cache_bytes
    said = [sentence(claim) for claim in findings(result)]
    assert any("twice the" in each and "after which the fill slowed" in each for each in said)
    assert any("; the fill slowed after" in each for each in said)
    assert_inside_its_plan(found)


def test_without_going_beyond_it_the_rate_is_that_of_the_cache(tmp_path: Path) -> None:
    found = read_result(
        run(
            "paced-burst",
            tmp_path,
            cached(tmp_path, 500.0, capacity_bytes=8 << 30),
            **{**WITHIN_THE_CACHE, "beyond_seconds": "0"},
        )
    )
    assert isinstance(found, PacedBurstResult)
    assert found.beyond == ()
    assert any("beyond the" in each and "not tried" in each for each in findings_of(found))


def test_what_is_counted_is_busy_time(within: tuple[RunFolder, PacedBurstResult]) -> None:
    found, result = within
    load = result.loads[0]
    for side in load.sides:
        ios = single_ios(found, load.ordinal, side.direction)
        assert len(ios["latency_ns"]) == side.ios
        assert ios["length"].sum() == side.bytes
        assert side.latencies_s == pytest.approx(ios["latency_ns"].sum() / 1e9)
        # Two of each direction overlap, so the sum of their service times is longer by up to that.
        assert 1.0 < side.latencies_s / side.busy_s <= 2.0
        assert side.mb_s == pytest.approx(side.bytes / side.busy_s / 1e6)
        assert side.service_mb_s == pytest.approx(side.bytes / ios["latency_ns"].sum() * 1e3)
        assert side.busy_s < 0.2 * load.seconds, "idle time was counted"
    reads = load.side("read")
    assert reads is not None
    assert result.load_s == reads.busy_s
    figures = {each.name: each.value for each in result.scalars}
    assert figures["paced_load_s"] == reads.busy_s
    assert figures["paced_load_service_s"] == reads.latencies_s > reads.busy_s
    assert sum(result.reads_s) == pytest.approx(reads.busy_s, rel=0.02)
    assert len(result.reads_s) == 3


def test_no_more_are_in_flight_together_than_the_review_has(
    within: tuple[RunFolder, PacedBurstResult],
) -> None:
    """Of reads and writes together, counted from the I/Os themselves."""
    found, result = within
    both = [single_ios(found, result.loads[0].ordinal, name) for name in ("read", "write")]
    begins = np.concatenate([each["submit_ns"] for each in both])
    ends = begins + np.concatenate([each["latency_ns"] for each in both])
    # Of one that ends as another begins, the end comes first.
    at = np.concatenate([ends, begins])
    change = np.concatenate([np.full(ends.size, -1), np.full(begins.size, 1)])
    in_flight = np.cumsum(change[np.lexsort((change, at))])
    assert in_flight.max() == 4
    assert "depth" not in {each.code for each in found.manifest.departures}


@pytest.mark.parametrize(("settings", "streams"), [({}, (2, 2, 4)), ({"depth_of": "each"}, (4, 4, 4))])
def test_depth_is_that_of_both_or_of_each(settings: dict[str, str], streams: tuple[int, ...]) -> None:
    params = find_method("paced-burst").params.build(settings)
    assert isinstance(params, PacedBurstParams)
    layout = lay_out(1 << 40, params)
    writes, reads = layout.both(paced=True).streams
    assert (writes.depth, reads.depth, layout.writes().depth) == streams


@pytest.mark.long
def test_more_in_flight_than_the_review_has_is_a_departure(tmp_path: Path) -> None:
    drive = cached(tmp_path, 500.0, capacity_bytes=8 << 30)
    short = {**WITHIN_THE_CACHE, "beyond_seconds": "0", "first": "4000"}
    (departure,) = run("paced-burst", tmp_path, drive, **short, depth_of="each").manifest.departures
    assert departure.code == "depth"
    assert departure.what.startswith("at most 8 I/Os in flight") and "at most 4" in departure.what


def test_a_paced_run_falls_inside_its_plan(within: tuple[RunFolder, PacedBurstResult]) -> None:
    assert_inside_its_plan(within[0])


def test_reads_lie_outside_the_span_and_no_two_in_one_place(
    within: tuple[RunFolder, PacedBurstResult],
) -> None:
    found, result = within
    writes, reads = (single_ios(found, result.loads[0].ordinal, name) for name in ("write", "read"))
    assert (writes["offset"] + writes["length"]).max() <= result.span_bytes <= reads["offset"].min()
    assert np.unique(reads["offset"]).size == reads["offset"].size
    blocks, drawn = result.span_bytes / 4096, writes["offset"].size
    hit = blocks * (1 - np.exp(-drawn / blocks))
    assert np.unique(writes["offset"]).size == pytest.approx(hit, rel=0.02), "not uniform over the span"


def test_by_time_rare_long_ios_weigh_by_their_length(within: tuple[RunFolder, PacedBurstResult]) -> None:
    """Held against the I/Os themselves; a bucket of the histogram is 1.6 % wide."""
    found, result = within
    for side in result.loads[0].sides:
        waited = np.sort(single_ios(found, result.loads[0].ordinal, side.direction)["latency_ns"])
        half = waited[np.searchsorted(np.cumsum(waited), waited.sum() / 2)]
        if side.by_time["p50"] is None:
            assert waited[-10] < 1.016 * half, "ten are longer, and told apart from it"
        else:
            assert side.by_time["p50"] == pytest.approx(half, rel=0.016)
    saturated = result.loads[1].side("write")
    assert saturated is not None
    counted, timed, mean = saturated.by_count["p50"], saturated.by_time["p50"], saturated.by_count["mean"]
    assert counted is not None
    assert timed is not None
    assert mean is not None
    assert timed > mean > counted, "most writes wait for little, and most of the time is waited by the others"


def test_a_drive_too_small_for_span_and_reads_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="too small") as raised:
        run("paced-burst", tmp_path, SMALL)
    assert raised.value.facts["needed_bytes"] > raised.value.facts["usable_bytes"]
    assert not list(tmp_path.glob("2*"))


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"depth": "5"}, "4"),
        ({"depth": "1"}, "depth_of=each"),
        ({"burst": "1k"}, "block"),
        ({"block": "128k"}, "64 KiB"),
        ({"span": "1k"}, "1 MiB"),
    ],
)
def test_what_does_not_fit_names_its_bound(settings: dict[str, str], words: str) -> None:
    method = find_method("paced-burst")
    with pytest.raises(UsageError, match=words):
        plan_on(method, method.params.build(settings), FakeDrive(capacity_bytes=1 << 40))


def test_a_rate_passes_within_the_width_of_a_bucket_of_its_bound() -> None:
    """Of a drive whose p99 doubled, the middles of the buckets differed by a factor of 2.00002."""
    unloaded_ns, doubled_ns = 57_087.0, 114_175.0
    assert doubled_ns > FACTOR * unloaded_ns
    assert _failure(0, doubled_ns, unloaded_ns, Evidence()) is None
    above_ns = FACTOR * unloaded_ns * (1 + BUCKET_WIDTH) + 1
    assert _failure(0, above_ns, unloaded_ns, Evidence()) is not None


@pytest.mark.parametrize("limit", [4, 5, 7, 99, 640, 999])
def test_the_search_ends_at_the_limit_within_its_resolution(limit: int) -> None:
    tried = []

    def holds(rate: int, certain: bool) -> bool:
        tried.append((rate, certain))
        return rate <= limit

    search_highest(5, 1000, 0.1, holds)
    held = max((rate for rate, _ in tried if rate <= limit), default=0)
    failed = min((rate for rate, _ in tried if rate > limit), default=None)
    assert failed is not None
    assert held <= limit < failed
    assert failed - held <= max(1, 0.1 * failed)
    assert [certain for _, certain in tried] == [True] + [False] * (len(tried) - 1)
