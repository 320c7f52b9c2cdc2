"""docs/report.md names every kind of result, and the methods that have it."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

from ssdlab.lab.folders import REGISTRY
from ssdlab.lab.found import find_method
from ssdlab.lab.kinds import KINDS

TEXT = (Path(__file__).parents[2] / "docs" / "report.md").read_text(encoding="utf-8")


def test_the_table_has_every_kind_with_its_methods() -> None:
    rows = dict(re.findall(r"^\| `([\w-]+)` \| (.+?) \| .+ \|$", TEXT, re.MULTILINE))
    methods: dict[str, set[str]] = defaultdict(set)
    for name in REGISTRY:
        kind = find_method(name).result
        assert kind is not None
        methods[kind.name].add(name)
    assert rows.keys() == KINDS.keys()
    assert {kind: set(re.findall(r"`([\w-]+)`", rows[kind])) for kind in methods} == methods
