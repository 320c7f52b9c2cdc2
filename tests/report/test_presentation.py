"""Every kind of Result is shown everywhere: in the terminal, on the page, and by its cards."""

from __future__ import annotations

from typing import get_args

import pytest

from ssdlab.methods.results.outcome import AnyResult
from ssdlab.report.presentation import PRESENTATIONS, found

KINDS = {one.model_fields["kind"].default: one for one in get_args(AnyResult)}


def test_each_kind_has_its_line() -> None:
    assert set(PRESENTATIONS) == set(KINDS) - {"suite"}, "a suite is shown by its runs; add the others"


@pytest.mark.parametrize("kind", PRESENTATIONS)
def test_each_place_is_a_function(kind: str) -> None:
    for place in filter(None, PRESENTATIONS[kind]):
        assert callable(found(place)), place
