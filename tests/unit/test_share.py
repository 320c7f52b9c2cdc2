"""A share is written with a percent sign or without, in every option that has one."""

from __future__ import annotations

import pytest

from ssdlab.model.errors import UsageError
from ssdlab.model.options import MeasureOptions, parse_share
from ssdlab.runs.conditions.variant import Variant


@pytest.mark.parametrize(("text", "share"), [("25%", 0.25), ("0.25", 0.25), (" 7 %", 0.07), (".5", 0.5)])
def test_both_forms_are_the_same_share_in_both_options(text: str, share: float) -> None:
    assert parse_share(text) == share
    assert Variant.model_validate({"spare": text}).spare == share
    made = MeasureOptions.model_validate({"spare": text, "precondition": "one-pass", "rw": "randwrite"})
    assert made.spare == share


@pytest.mark.parametrize(("text", "advice"), [("25", "write 25%, or 0.25"), ("4000", "such as 25%, or 0.25")])
def test_a_number_above_one_may_mean_either_and_both_are_named(text: str, advice: str) -> None:
    for options in (Variant, MeasureOptions):
        with pytest.raises(UsageError, match="more than 1") as refused:
            options.model_validate({"spare": text})
        assert advice in refused.value.advice


def test_what_is_no_share_is_told_so() -> None:
    with pytest.raises(UsageError, match="is not a percentage"):
        parse_share("much")
