"""The catalogue of figure qualifiers keeps its own rules; its page is made of it."""

from __future__ import annotations

import pytest

from ssdlab.results.qualifiers import CATALOGUE


@pytest.mark.parametrize("code", CATALOGUE)
def test_an_entry_is_short_and_says_what_to_do(code: str) -> None:
    kind = CATALOGUE[code]
    assert 1 <= len(kind.label.split()) <= 3 and len(kind.sentence.split()) <= 25
    assert kind.sentence.endswith(".") and kind.sentence[0].isupper()
    assert kind.advice or not kind.forbids, "what forbids a use says what to do"
