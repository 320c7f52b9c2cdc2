"""Five nines of SNIA's tables: never blank, with the count and the bounds that they stand on; exact means."""

from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from methods.on_simulated import run
from ssdlab.analysis.percentiles import bounding_ranks, estimate, rank
from ssdlab.analysis.records import FIVE_NINES, by_record
from ssdlab.cli import main
from ssdlab.lab.outcome import read_result
from ssdlab.methods.pts.result import PtsResult, PtsSaturationResult
from ssdlab.report import page, source

DOCS = Path(__file__).parents[2] / "docs"
ERROR = Fraction(25, 1000)
"""What either bound may err, of 95 %."""


def below(count: int, samples: int, percent: Fraction) -> Fraction:
    """The chance that fewer than so many samples lie at or below a percentile, exactly."""
    share = percent / 100
    ways = (math.comb(samples, at) * share**at * (1 - share) ** (samples - at) for at in range(count))
    return sum(ways, Fraction(0))


@pytest.mark.parametrize("percent", [Fraction(50), Fraction(99)])
@pytest.mark.parametrize("samples", [1, 2, 5, 6, 20, 100, 299, 368, 369, 400])
@pytest.mark.long
def test_the_bounds_are_the_tightest_that_a_binomial_count_allows(samples: int, percent: Fraction) -> None:
    """By whole fractions: each side errs at most 2.5 %, and the next rank inwards errs more."""
    low, high = bounding_ranks(percent, samples)
    chances = [below(count, samples, percent) for count in range(samples + 2)]
    fit = [count for count in range(1, samples + 1) if chances[count] <= ERROR]
    assert low == max(fit, default=None)
    above = [count for count in range(1, samples + 1) if 1 - chances[count] <= ERROR]
    assert high == min(above, default=None)


def test_five_nines_are_bounded_from_above_only_by_many() -> None:
    """(1 - 1e-5)^n is 2.5 % at n = 368886.1: as many samples or fewer may all lie below the true value."""
    least = 368_887
    assert least == math.ceil(math.log(0.025) / math.log1p(-1e-5))
    assert f"Fewer than {least:,} I/Os" in (DOCS / "pts.md").read_text(encoding="utf-8")
    assert bounding_ranks(FIVE_NINES, least - 1)[1] is None
    assert bounding_ranks(FIVE_NINES, least)[1] == least


@given(st.lists(st.integers(1, 40), min_size=1, max_size=30))
def test_an_estimate_is_the_order_statistic_of_whatever_there_is(counts: list[int]) -> None:
    low_ns = np.arange(len(counts)) * 100
    found = estimate(low_ns, low_ns + 1, np.array(counts), FIVE_NINES)
    samples = np.repeat(low_ns, counts)
    assert found is not None and found.samples == len(samples)
    assert found.value_ns == samples[rank(FIVE_NINES, len(samples)) - 1]
    assert found.low_ns is not None and found.low_ns <= found.value_ns and found.high_ns is None


def test_no_samples_give_no_estimate() -> None:
    nothing = np.array([], dtype=np.int64)
    assert estimate(nothing, nothing, nothing, FIVE_NINES) is None


def test_the_mean_of_a_record_is_of_its_exact_sum() -> None:
    def column(*values: object) -> Any:
        return np.array(values)

    columns = {
        "row": column(0, 0, 0),
        "clock": np.array(["service"] * 3, dtype=object),
        "low_ns": column(1000, 3000, 1000),
        "high_ns": column(1016, 3032, 1016),
        "count": column(3, 1, 2),
        "sum_ns": column(6001, 0, 2003),  # a histogram of writes and one of reads
    }
    (found,) = by_record(columns, [3031.0])
    assert found.mean_ns == (6001 + 2003) / 6


@pytest.fixture(scope="module")
def latency(tmp_path_factory: pytest.TempPathFactory) -> Any:
    settings = {"seconds": "0.1", "most_rounds": "5", "overwrites": "1", "histogram_seconds": "0.2"}
    return run("pts-latency", tmp_path_factory.mktemp("tails"), **settings)


@pytest.mark.long
def test_five_nines_are_of_the_pooled_ios_of_the_window(latency: Any) -> None:
    """Against all I/Os of the five rounds, put together here from the buckets that the run keeps."""
    result, shown = read_result(latency), source.read_run(latency.path)
    assert isinstance(result, PtsResult)
    (group,) = result.groups
    for cell in group.cells:
        parts = [shown.buckets(ordinal) for ordinal in cell.ordinals[group.first - 1 : group.last]]
        kept = [part["clock"] == "service" for part in parts]
        low, count = (
            np.concatenate([part[name][which] for part, which in zip(parts, kept, strict=True)])
            for name in ("low_ns", "count")
        )
        samples = np.sort(np.repeat(low, count))
        assert cell.pooled is not None and cell.pooled.ios == len(samples)
        assert samples[rank(FIVE_NINES, len(samples)) - 1] <= cell.pooled.value_ns
        assert cell.pooled.value_ns <= max(each for each in cell.max_ns if each is not None)
        assert cell.pooled.low_ns is not None and cell.pooled.high_ns is None
        assert all(each is None for each in cell.five_nines_ns), "`measure --json` keeps its rule of ten"


def test_no_cell_of_the_tables_is_blank(latency: Any, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", str(latency.path), "--all"]) == 0
    printed = capsys.readouterr().out
    table = printed.partition("99.999 % of the I/Os of the reported rounds together")[2].splitlines()
    rows = [line for line in table if line.startswith(("100/0", "65/35", "0/100"))][:9]
    assert len(rows) == 9 and all("s " in row and "—" not in row for row in rows)
    assert all(row.rstrip().endswith("too few I/Os") for row in rows)
    text = page.render([source.read_run(latency.path)])
    assert "true value from" in text


def test_records_of_a_long_load_have_exact_means_and_five_nines(tmp_path: Path) -> None:
    settings = {"seconds": "0.1", "cycle": "2", "most_seconds": "1.5", "histogram_seconds": "0.2"}
    found = run("pts-write-saturation", tmp_path, **settings)
    result = read_result(found)
    assert isinstance(result, PtsSaturationResult)
    (step,) = [step for step in found.steps() if step.result.measurement is not None]
    side = step.measured.write
    assert side is not None
    records = result.records
    total = sum(ios * (mean or 0.0) for ios, mean in zip(records.ios, records.mean_ns, strict=True))
    # Every record is whole here, and the step's own mean is given to a tenth of a nanosecond.
    assert sum(records.ios) == side.ios
    assert abs(total / side.ios - side.response_mean_ns) <= 0.05 + 1e-9
    assert all(value is not None for value in records.five_nines_ns)
    assert result.histogram is not None
    assert all(value is not None for value in result.histogram.percentiles_ns.values())
    assert set(result.histogram.bounds_ns) == {"99.9", "99.99", "99.999"}
