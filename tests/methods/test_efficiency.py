"""Power and ratings: work for each watt where a meter is, nothing where none is; shares of what is rated."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lab.fake_drive import FakeDrive, run_on
from methods.on_simulated import run
from ssdlab.analysis.ratios import efficiency
from ssdlab.cli import main
from ssdlab.cli.showing_figures import rating_json, rating_text
from ssdlab.drives.ratings import Rated, rated_values
from ssdlab.lab.found import find_method
from ssdlab.lab.outcome import read_result
from ssdlab.lab.rated_shares import other_ratings, rated_shares
from ssdlab.methods.mixed_random.result import MixedResult
from ssdlab.methods.sweeps.result import PeakResult
from ssdlab.report.sections.ratings import format_share
from ssdlab.results.run_folder import RunFolder
from ssdlab.results.schema import Metric

NO_METER = ("--meter", "none")
METERED = "sim:samsung-950-pro-512gb,scale=64"
PEAK = {"depths": "1,8", "seconds": "0.2", "ramp_seconds": "0"}


def test_efficiency_is_work_by_power_in_the_unit_of_its_pattern() -> None:
    assert efficiency("random", 90_000.0, 368.64, 4.5).value == pytest.approx(20.0)
    assert efficiency("mixed", 90_000.0, 360.0, 4.5).value == pytest.approx(80.0)
    assert efficiency("sequential", 4000.0, 540.0, 2.7).unit == "MB/s/W"
    for mean_w in (None, 0.0):
        assert efficiency("random", 90_000.0, 368.64, mean_w) is None


def test_a_metered_drive_has_its_power_at_each_point(tmp_path: Path) -> None:
    folder = run("peak-random-read", tmp_path, METERED, **PEAK)
    result = read_result(folder)
    assert isinstance(result, PeakResult)
    for point in result.points:
        step = next(step for step in folder.steps() if step.ordinal == point.ordinal)
        power = step.result.measurement["power"]
        assert power["source"] == "model"
        assert point.mean_w == power["mean_w"] > 0
        # Energy of the window and its mean are one thing: the window is that of the throughput.
        assert power["energy_j"] == pytest.approx(power["mean_w"] * point.seconds, rel=1e-6)
        assert point.efficiency.value == pytest.approx(point.iops / 1e3 / power["mean_w"])
    figures = {each.name: each for each in result.scalars}
    chosen = result.points[result.chosen]
    assert figures["peak_random_read_w"].value == chosen.mean_w
    assert figures["peak_random_read_kiops_per_w"].value == chosen.efficiency.value


def test_without_a_meter_there_is_no_figure_of_power(tmp_path: Path) -> None:
    method = find_method("peak-random-read")
    result = read_result(RunFolder(run_on(FakeDrive(), method, method.params.build(PEAK), tmp_path)))
    assert isinstance(result, PeakResult)
    assert all(point.mean_w is None and point.efficiency is None for point in result.points)
    assert not [each for each in result.scalars if each.unit in ("W", "kIOPS/W", "MB/s/W")]


def scalar(name: str, value: float | None, unit: str = "IOPS") -> Metric:
    return Metric(name=name, label=name, value=value, unit=unit, better="higher")


@pytest.mark.long
def test_no_meter_means_none_on_a_simulated_drive_too(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    brief = ["--quick", "--set", "depths=1", "--set", "seconds=50ms", "--set", "ramp_seconds=0"]
    for meter in ((), NO_METER):
        words = ["run", "peak-random-read", METERED, *brief, *meter, "--library", str(tmp_path), "--json"]
        assert main(words) == 0
        result = json.loads(capsys.readouterr().out)["result"]
        assert (result["points"][0]["mean_w"] is None) is bool(meter)
        assert any(each["unit"] == "W" for each in result["scalars"]) is not bool(meter)
    assert (
        main(["measure", METERED, "--rw", "randread", "--seconds", "0.05", "--meter", "none", "--json"]) == 0
    )
    assert json.loads(capsys.readouterr().out)["power"] is None


def test_a_result_is_held_against_the_rating_of_its_own_state() -> None:
    fresh = Rated(metric="sequential_write_mb_s", value=1500.0, state="fresh", source="data-sheet")
    steady = Rated(metric="sequential_write_mb_s", value=500.0, state="steady", source="data-sheet")
    figures = [
        scalar("steady_sequential_write_mb_s", 450.0, "MB/s"),
        scalar("fill_mb_s", 1200.0, "MB/s"),
        scalar("qd1_random_read_mean_ns", 120_000.0, "ns"),
        scalar("peak_random_read_iops", 1000.0),
        scalar("steady_random_write_iops", None),
    ]
    found = rated_shares(figures, [fresh, steady, Rated(metric="depth_1_read_us", value=100.0, source="x")])
    assert [(each.figure.name, each.rated.value, each.share) for each in found] == [
        ("steady_sequential_write_mb_s", 500.0, 0.9),
        ("fill_mb_s", 1500.0, 0.8),
        ("qd1_random_read_mean_ns", 100.0, pytest.approx(1.2)),
    ]
    latency = scalar("qd1_random_read_mean_ns", 83_000.0, "ns").model_copy(update={"better": "lower"})
    (read,) = rated_shares([latency], [Rated(metric="depth_1_read_us", value=100.0, source="x")])
    assert format_share(read).endswith(", lower is better")
    assert ", lower is better" in rating_text(read)
    assert not format_share(found[0]).endswith("better")
    mix = scalar("mixed_random_qd32_mb_s", 2048.0, "MB/s")
    rated = Rated(metric="mixed_70_30_iops", value=400_000.0, state="steady", source="x")
    (mixed,) = rated_shares([mix], [rated])
    assert rating_text(mixed).startswith("500k IOPS, 125 % of the rated 400k IOPS"), "one unit in a line"


def test_a_rating_of_another_state_is_told_and_not_compared() -> None:
    """A steady 26.4k IOPS was 20.6 % of a rating within the cache, and its power kept a fresh rating."""
    figures = [
        scalar("steady_random_write_iops", 4780.0),
        scalar("steady_sequential_write_w", 3.0, "W"),
        scalar("fill_mb_s", 285.0, "MB/s"),
        scalar("fill_cached_mb_s", 558.0, "MB/s"),
        scalar("peak_random_read_iops", None),
    ]

    def rated(metric: str, value: float, state: str | None) -> Rated:
        return Rated(metric=metric, value=value, state=state, source="data-sheet")

    ratings = [
        rated("random_write_iops", 110_000.0, "fresh"),
        rated("active_write_w", 5.0, "fresh"),
        rated("sequential_write_mb_s", 560.0, "cached"),
        rated("random_read_iops", 90_000.0, "steady"),
    ]
    (cached,) = rated_shares(figures, ratings)
    assert (cached.figure.name, round(cached.share, 3)) == ("fill_cached_mb_s", 0.996)
    told = other_ratings(figures, ratings)
    assert [each.words for each in told] == [
        "rated 110k IOPS fresh; this is steady state: not compared",
        "rated 5.00 W fresh; this is steady state: not compared",
        "rated 560 MB/s cached; this is a whole fill: not compared",
    ]
    read = scalar("peak_random_read_iops", 99_000.0)
    (share,) = rated_shares([read], ratings)
    assert share.share == 1.1, "steady state is that of a drive that was written"
    (own,) = rated_shares([read], [ratings[-1], rated("random_read_iops", 99_000.0, "fresh")])
    assert own.rated.state == "fresh", "its own state goes before another that speaks of it"
    assert rating_text(told[0]) == f"4.78k IOPS, {told[0].words} (data-sheet)"
    assert rating_json(told[0])["share"] is None
    unsaid = [rated("random_write_iops", 110_000.0, None), rated("max_write_w", 5.0, None)]
    (most,) = rated_shares(figures, unsaid)
    assert most.rated.metric == "max_write_w", "what no load draws more than holds in every state"
    (other,) = other_ratings(figures, unsaid)
    assert other.words == "rated 110k IOPS, state not stated; this is steady state: not compared"


def test_power_is_held_against_the_rating_of_its_load_or_the_most_that_any_draws() -> None:
    """A maker who states no power of the load itself states what no load draws more than."""
    watts = ("peak_random_read_w", "peak_sequential_read_w", "steady_random_write_w", "fill_w", "idle_w")
    figures = [scalar(name, 2.0, "W").model_copy(update={"better": "lower"}) for name in watts]
    active, most_read, most_write, idle = (
        Rated(metric=metric, value=value, source="x")
        for metric, value in (
            ("active_read_w", 2.5),
            ("max_read_w", 4.0),
            ("max_write_w", 1.9),
            ("idle_w", 2.0),
        )
    )
    found = rated_shares(figures, [active, most_read, most_write, idle])
    assert {each.figure.name: each.rated.metric for each in found} == {
        "peak_random_read_w": "max_read_w",
        "peak_sequential_read_w": "active_read_w",
        "steady_random_write_w": "max_write_w",
        "fill_w": "max_write_w",
        "idle_w": "idle_w",
    }
    assert {each.holds for each in found} == {"maximum power"}
    assert [each.kept(0.01) for each in found] == [True, True, False, False, True]
    by_most = {each.figure.name: each.rated.metric for each in rated_shares(figures, [most_read])}
    assert by_most == {"peak_random_read_w": "max_read_w", "peak_sequential_read_w": "max_read_w"}


def test_a_drive_record_rates_a_real_drive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "ssdlab" / "drives"
    folder.mkdir(parents=True)
    (folder / "it.toml").write_text(
        'model = "Fake 1"\nrated_read_iops = 100000\nrated_write_mb_s = 500\nrated_active_w = 6\n'
    )
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    drive = FakeDrive(identity_changes={"model": "Fake 1"})
    found = {each.metric: each.value for each in rated_values(drive.identity)}
    assert found == {
        "random_read_iops": 100_000.0,
        "sequential_write_mb_s": 500.0,
        "active_read_w": 6.0,
        "active_write_w": 6.0,
    }
    assert rated_values(FakeDrive().identity) == ()
    method = find_method("peak-random-read")
    kept = RunFolder(run_on(drive, method, method.params.build(PEAK), tmp_path / "library"))
    (share,) = rated_shares(read_result(kept).scalars, kept.manifest.ratings)
    assert share.share == pytest.approx(read_result(kept).points[read_result(kept).chosen].iops / 100_000)


def test_mixes_have_their_power_too(tmp_path: Path) -> None:
    settings = {"round_seconds": "0.2", "least_seconds": "0.2", "overwrites": "0", "most_seconds": "2"}
    brief = {"seconds": "0.2", "ramp_seconds": "0", "depths": "8"}
    result = read_result(run("mixed-random", tmp_path, METERED, **settings, **brief))
    assert isinstance(result, MixedResult)
    assert all(point.mean_w > 0 for point in result.points)
    (watts,) = [each.value for each in result.scalars if each.name == "mixed_random_qd8_w"]
    assert watts == next(point.mean_w for point in result.points if point.read_pct == 70)
