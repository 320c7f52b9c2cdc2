"""Short names: what all have in common is left out, and what differs never is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ssdlab.report.runs import LONGEST, short_names

SERIES = [f"Northwind Enterprise Data Centre Series NX{4100 + 17 * n}" for n in range(8)]


@pytest.mark.parametrize(
    ("labels", "short"),
    [
        (["Elm E8"], ["Elm E8"]),
        (["Elm E8", "Elm E8"], ["Elm E8", "Elm E8"]),
        (["Elm E8 · threads", "Elm E8 · io_uring"], ["threads", "io_uring"]),
        (
            [
                "simulated kingston-dc500r-3.84tb, 1/64 of its size",
                "simulated kingston-dc500m-3.84tb, 1/64 of its size",
            ],
            ["dc500r", "dc500m"],
        ),
        (["Elm E8", "Elm E8, at most 10 W"], ["Elm E8", "Elm E8 · at most 10 W"]),
        (["Elm E8", "Elm E9, at most 10 W", "Elm E9"], ["Elm E8", "Elm E9 · at most 10 W", "Elm E9"]),
        (["Elm 883 DCT 960 GB", "Elm 983 DCT 960 GB"], ["Elm 883", "Elm 983"]),
        (["Elm 883 960 GB", "Oak 9 960 GB"], ["Elm 883", "Oak 9"]),
        (["X" * 40 + "1", "X" * 40 + "2"], ["…XXXXX1", "…XXXXX2"]),
        (
            ["Kingston DC500M 3.84 TB B", "Kingston DC500M 3.84 TB B, 25 % spare"],
            ["Kingston DC500M 3.84 TB B", "Kingston DC500M 3.84 TB B · 25 % spare"],
        ),
    ],
)
def test_what_differs_stays(labels: list[str], short: list[str]) -> None:
    assert list(short_names(labels)) == short


def test_eight_drives_of_one_series_have_eight_short_names() -> None:
    found = short_names(SERIES)
    assert len(set(found)) == 8
    assert max(map(len, found)) <= LONGEST


WORDS = st.lists(
    st.sampled_from(["simulated", "elm", "E8", "10", "W", "1.92", "TB", "x" * 30]), min_size=1, max_size=5
)
LABELS = st.lists(
    st.builds(
        lambda parts: ", ".join(" ".join(words) for words in parts), st.lists(WORDS, min_size=1, max_size=3)
    ),
    min_size=1,
    max_size=9,
)


@given(LABELS)
def test_labels_that_differ_have_short_names_that_differ(labels: list[str]) -> None:
    found = short_names(labels)
    assert all(found)
    assert len(set(zip(labels, found, strict=True))) == len(set(labels)) == len(set(found))
