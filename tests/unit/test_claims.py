"""What a claim says of its figure agrees with what it says of its bound."""

from __future__ import annotations

import re
from typing import get_args

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ssdlab.results.claim import Amount, Bound, Claim, Sense, clause


@given(
    share=st.floats(0.001, 200),
    limit=st.floats(0.001, 200).map(lambda limit: float(f"{limit:.3g}")),
    sense=st.sampled_from(get_args(Sense)),
)
@example(share=99.499, limit=99.5, sense="at least")
@example(share=4.996, limit=5.0, sense="under")
@example(share=100 * 0.07, limit=7.0, sense="at most")
def test_the_text_of_a_share_keeps_its_bound_where_the_share_does(
    share: float, limit: float, sense: Sense
) -> None:
    bound = Bound(sense, Amount(limit, "%"))
    text = clause(Claim("{figure}, {bound}", figure=Amount(share, "%"), bound=bound))
    told, least = map(float, re.findall(r"[0-9.]+(?= %)", text))
    assert told == pytest.approx(share, rel=0.005)
    if abs(share - limit) > 1e-6 * limit:
        shown = Bound(sense, Amount(least, "%"))
        assert shown.kept_by(Amount(told, "%")) == bound.kept_by(Amount(share, "%"))


def test_a_share_far_from_its_bound_has_three_digits() -> None:
    bound = Bound("at least", Amount(99.5, "%"))
    assert clause(Claim("{figure}", figure=Amount(62.3456, "%"), bound=bound)) == "62.3 %"
    assert clause(Claim("{figure}", figure=Amount(99.49949, "%"), bound=bound)) == "99.499 %"
