"""Caveats of 0.2: what findings, departures and qualifiers of today say is dropped, all others are kept."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ssdlab.results.earlier import _KNOWN, manifest_as_of_now

KNOWN = st.builds(str.__add__, st.sampled_from(_KNOWN), st.text(max_size=9))
OTHER = st.text(max_size=20).filter(lambda text: not text.startswith(_KNOWN))
WARNING = {"code": "few-samples", "what": "few", "advice": ""}


def stored(*caveats: object, warnings: Any = (WARNING,)) -> dict[str, Any]:
    return {"warnings": list(warnings), "result": {"kind": "peak", "scalars": [], "caveats": list(caveats)}}


def kept(manifest: dict[str, Any]) -> list[str]:
    return [each["what"] for each in manifest["warnings"] if each["code"] == "caveat"]


@given(st.lists(KNOWN | OTHER, max_size=6))
def test_what_is_not_said_today_is_kept_in_order_and_nothing_else(caveats: list[str]) -> None:
    given_one = stored(*caveats)
    before = copy.deepcopy(given_one)
    read = manifest_as_of_now(given_one)
    assert kept(read) == [each for each in caveats if not each.startswith(_KNOWN)]
    assert read["warnings"][0] == WARNING
    assert "caveats" not in read["result"]
    assert given_one == before, "what is stored stays as it is"
    assert manifest_as_of_now(read) == read


@pytest.mark.parametrize(
    ("caveat", "said"),
    [
        ("quick: 1.5 s at each depth instead of 60 s, so the spread between runs is wider", False),
        ("the drive was not purged before, so what is called clean may not be", False),
        ("the highest depth tried was chosen: throughput may still rise beyond it", False),
        ("the host took part in the latencies at the chosen depth: busy", False),
        ("the discard did not reach the device: host or driver kept it, not the drive", True),
        ("a caveat of a plug-in that is not installed", True),
    ],
)
def test_caveats_as_they_were_written(caveat: str, said: bool) -> None:
    assert kept(manifest_as_of_now(stored(caveat))) == ([caveat] if said else [])


def test_odd_manifests_are_given_back() -> None:
    assert manifest_as_of_now({"result": None, "warnings": []}) == {"result": None, "warnings": []}
    without = {"result": {"kind": "peak", "scalars": []}, "warnings": [WARNING]}
    assert manifest_as_of_now(without) == without
    assert kept(manifest_as_of_now({"result": {"caveats": "none"}})) == []
    assert kept(manifest_as_of_now({"result": {"caveats": ["x"]}})) == ["x"]
