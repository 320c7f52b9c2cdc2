"""Where the cache of a drive ends: at the size that its profile gives, or nowhere that a fill could show."""

from __future__ import annotations

from pathlib import Path
from statistics import harmonic_mean

import pytest

from methods.on_simulated import findings_of, run
from ssdlab.analysis.over_position import beside_drop, drop_bytes
from ssdlab.cli import main
from ssdlab.drives.simulated.profiles import check_profile, profile_text
from ssdlab.lab.outcome import read_result
from ssdlab.methods.paced_burst.result import PacedBurstResult
from ssdlab.methods.whole_drive_fill.result import FillResult, findings
from ssdlab.results.claim import sentence


@pytest.mark.parametrize("edge", [6.0, 6.25, 6.5, 7.0, 7.9])
def test_an_edge_within_a_part_is_found_by_the_time_that_the_part_took(edge: float) -> None:
    speeds = [500.0 if at + 1 <= edge else 100.0 for at in range(20)]
    share = edge - int(edge)
    if share:
        speeds[int(edge)] = harmonic_mean([500.0, 100.0], weights=[share, 1 - share])
    for at in (6, 7):
        if abs(at - edge) <= 1:
            assert drop_bytes(speeds, 10.0, at) == pytest.approx(10 * edge)
            assert beside_drop(speeds, at) == pytest.approx((500.0, 100.0))


def filled(name: str, scale: int, library: Path) -> FillResult:
    result = read_result(run("whole-drive-fill", library, f"sim:{name},scale={scale}"))
    assert isinstance(result, FillResult)
    return result


@pytest.mark.parametrize(
    ("name", "scale"),
    [
        ("intel-600p-512gb", 64),
        pytest.param("nvme-tlc-client", 32, marks=pytest.mark.slow),
        pytest.param("nvme-qlc-client", 48, marks=pytest.mark.slow),
    ],
)
def test_the_edge_stands_at_the_size_of_the_cache(name: str, scale: int, tmp_path: Path) -> None:
    """The write buffer is as large on a small drive as on a large one: so small a scale makes it small."""
    result = filled(name, scale, tmp_path)
    size = check_profile(name)["profile"]["slc_cache"]["size_gb"]["value"] * 1e9
    assert result.cache_bytes is not None
    assert result.cache_bytes * scale == pytest.approx(size, rel=0.05)
    assert any("falls permanently after" in sentence(claim) for claim in findings(result))


def test_the_speed_before_the_edge_has_nothing_of_the_part_that_it_lies_in(tmp_path: Path) -> None:
    """A cache of three parts and a bit, faster than the link of 3,500 MB/s."""
    text = profile_text("nvme-tlc-client").replace('mode = { value = "dynamic"', 'mode = { value = "static"')
    lines = [line for line in text.splitlines() if not line.startswith("pct_of_empty")]
    path = tmp_path / "static.toml"
    path.write_text("\n".join(lines).replace("size_gb = { value = 72.0", "size_gb = { value = 14.5"))
    result = filled(str(path), 16, tmp_path / "library")
    assert result.cache_bytes is not None
    assert result.before_mb_s == pytest.approx(3500, rel=0.005)


def test_a_fall_is_told_as_it_was_seen_for_a_fill_does_not_know_its_cause(tmp_path: Path) -> None:
    """That drive has no cache of one bit a cell: it collects from there on."""
    result = filled("samsung-983-dct-960gb,write-cache=off", 64, tmp_path)
    assert result.cache_bytes is not None
    (said,) = (sentence(claim) for claim in findings(result) if "falls" in claim.says)
    assert "The speed falls permanently after" in said
    assert "the SLC cache ends there" in said


@pytest.mark.parametrize(
    ("name", "scale"),
    [
        ("tiny-test", 4),
        # Its flash is faster than its link without a cache too.
        ("samsung-850-evo-4tb", 96),
    ],
)
@pytest.mark.long
def test_elsewhere_the_page_says_that_there_is_none(
    name: str, scale: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    result = filled(name, scale, tmp_path / "library")
    assert result.cache_bytes is None
    (folder,) = (path for path in (tmp_path / "library").iterdir() if (path / "manifest.json").exists())
    page = tmp_path / "page.html"
    assert main(["report", str(folder), "-o", str(page)]) == 0
    assert "No end of an SLC cache" in page.read_text(encoding="utf-8")


@pytest.mark.long
def test_where_heat_has_begun_to_slow_the_drive_no_cache_is_told(tmp_path: Path) -> None:
    """Its flash is faster than its link without a cache; its controller gets hot while it is filled."""
    result = filled("samsung-950-pro-512gb", 4, tmp_path)
    assert (result.cache_bytes, result.before_mb_s, result.after_mb_s) == (None, None, None)
    assert result.hot_drop_bytes is not None
    said = [sentence(claim) for claim in findings(result)]
    assert any(each.startswith("End of SLC cache not judged: the speed falls after") for each in said)
    assert not any("No end of an SLC cache" in each for each in said)


@pytest.mark.slow
def test_paced_bursts_take_no_heat_for_a_cache_either(tmp_path: Path) -> None:
    result = read_result(run("paced-burst", tmp_path, "sim:samsung-950-pro-512gb,scale=4"))
    assert isinstance(result, PacedBurstResult)
    assert result.hot_fill
    assert (result.cache_bytes, result.beyond) == (None, ())
    assert any("cache not judged" in each for each in findings_of(result))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["nvme-tlc-enterprise", "dramless-client", "samsung-983-dct-960gb"])
def test_a_write_buffer_is_no_cache(name: str, tmp_path: Path) -> None:
    result = filled(name, 64, tmp_path)
    assert result.cache_bytes is None
    assert any("No end of an SLC cache" in sentence(claim) for claim in findings(result))
