"""The document has the catalogue of what stands with a figure, and the catalogue keeps its own rules."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ssdlab.results.qualifiers import ALL_USES, CATALOGUE

RUNS = Path(__file__).parents[2] / "docs" / "runs.md"


def test_the_document_has_the_catalogue() -> None:
    table = RUNS.read_text(encoding="utf-8").partition("### Figure qualifiers")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| `([a-z-]+)` \| (.+?) \| (.+?) \| (.+?) \|$", table, re.MULTILINE)
    uses = {ALL_USES: "anything", frozenset(): "may be used"}
    assert rows == [
        (code, kind.label, kind.sentence, uses.get(kind.forbids, ", ".join(sorted(kind.forbids))))
        for code, kind in CATALOGUE.items()
    ]


@pytest.mark.parametrize("code", CATALOGUE)
def test_an_entry_is_short_and_says_what_to_do(code: str) -> None:
    kind = CATALOGUE[code]
    assert 1 <= len(kind.label.split()) <= 3 and len(kind.sentence.split()) <= 25
    assert kind.sentence.endswith(".") and kind.sentence[0].isupper()
    assert kind.advice or not kind.forbids, "what forbids a use says what to do"
