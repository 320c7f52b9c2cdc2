"""The table of a time line."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ssdlab.report.sections.over_time import _quantiles


@given(
    st.lists(st.floats(0, 1e9), min_size=1, max_size=300), st.lists(st.floats(0, 1), min_size=1, max_size=4)
)
def test_quantiles_are_those_of_numpy(values: list[float], shares: list[float]) -> None:
    found = _quantiles(np.array(values), shares)
    assert found == pytest.approx(np.quantile(np.array(values), shares).tolist(), rel=1e-9, abs=1e-6)
