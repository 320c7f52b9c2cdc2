"""docs/profiles.md is what `make profiles` writes: every rating of every drive, the missed ones too."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ssdlab.drives.ratings import METRICS, Ratings
from ssdlab.drives.simulated.profiles import check_profile, shipped_ratings
from ssdlab.runs.rating_limits import limiting

PAGE = (Path(__file__).parents[2] / "docs" / "profiles.md").read_text(encoding="utf-8")
RATINGS = shipped_ratings()


def section(name: str) -> str:
    return PAGE.split(f"\n## {name}\n")[1].split("\n## ")[0]


@pytest.mark.parametrize("name", RATINGS)
def test_every_rating_stands_on_the_page(name: str) -> None:
    rows = [line for line in section(name).splitlines() if re.match(r"\| (?!rating|--)", line)]
    ratings = Ratings.parse(RATINGS[name]).rating
    assert len(rows) == len(ratings)
    for row, rating in zip(rows, ratings, strict=True):
        cells = [cell.strip() for cell in row.strip("|").split("|")]
        printed = float(re.sub(r"[^0-9.]", "", cells[2].split(METRICS[rating.metric].unit)[0]))
        assert cells[0].startswith(METRICS[rating.metric].title)
        assert (cells[1], cells[6]) == (rating.state, rating.use)
        assert printed == pytest.approx(rating.value, rel=0.01)


@pytest.mark.parametrize("name", RATINGS)
def test_no_drive_does_more_than_the_part_that_limits_it(name: str) -> None:
    """The closed form of the slowest part bounds what was simulated; 2 % are the ends of a short run.

    Steady random writes are half the drive; an SLC cache, empty after the rest before, takes its size of it.
    """
    shares = re.findall(r"\((\d+) %\)", section(name))
    ratings = Ratings.parse(RATINGS[name]).rating
    made = check_profile(name)
    assert len(shares) == sum(limiting(made, rating) is not None for rating in ratings)
    cache = made["profile"].get("slc_cache")
    cached_pct = 200e9 * cache["size_gb"]["value"] / made["capacity_bytes"] if cache else 0.0
    assert all(int(share) <= 102 + cached_pct for share in shares)
