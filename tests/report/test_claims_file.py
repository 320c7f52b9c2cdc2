"""The file of a user's claims: what is wrong with it is told with its place."""

from __future__ import annotations

from pathlib import Path

import pytest

from ssdlab.model.errors import UsageError
from ssdlab.report.claims import read_claims


@pytest.mark.parametrize("text", ['claim = ["a", "b"]', "claim = [1]", "claim = [[{}]]"])
def test_a_claim_that_is_no_table_is_told_as_that(tmp_path: Path, text: str) -> None:
    (tmp_path / "claims.toml").write_text(text)
    with pytest.raises(UsageError, match="claim 1: a claim is not a table: ") as error:
        read_claims(tmp_path / "claims.toml")
    assert "write each as [[claim]]" in error.value.advice
