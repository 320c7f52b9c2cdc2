"""Every kind of Result is shown everywhere: in the terminal, on the page, and by its cards."""

from __future__ import annotations

from typing import get_args

import pytest

from ssdlab.methods.results.outcome import AnyResult, UnknownResult
from ssdlab.report.presentation import PRESENTATIONS, UNKNOWN, found, presentation_of

KINDS = {one.model_fields["kind"].default: one for one in get_args(AnyResult) if one is not UnknownResult}


def test_each_kind_has_its_line() -> None:
    assert set(PRESENTATIONS) == set(KINDS) - {"suite"}, "a suite is shown by its runs; add the others"


@pytest.mark.parametrize("kind", [*PRESENTATIONS, "never heard of"])
def test_each_place_is_a_function(kind: str) -> None:
    for place in filter(None, presentation_of(kind)):
        assert callable(found(place)), place


def test_what_nobody_knows_is_shown_as_such() -> None:
    assert presentation_of("never heard of") is UNKNOWN
