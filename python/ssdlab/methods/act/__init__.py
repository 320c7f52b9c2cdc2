"""Aerospike's ACT: certification tests of drives, and the search for a drive's highest load."""

from __future__ import annotations

from typing import Any

from ssdlab.plugin import Declared, ResultKind, figure_names

ACT: ResultKind[Any] = ResultKind(
    "act",
    f"{__name__}.result:ActResult",
    section=f"{__name__}.page:section",
    findings=f"{__name__}.findings:findings",
    tables=f"{__name__}.findings:tables",
)

ACT_SEARCH: ResultKind[Any] = ResultKind(
    "act-search",
    f"{__name__}.result:ActSearchResult",
    section=f"{__name__}.page:search_section",
    findings=f"{__name__}.findings:search_findings",
    tables=f"{__name__}.findings:search_tables",
)

DECLARED = (
    Declared(
        "act",
        "storage",
        True,
        "Aerospike's certification test: a fixed load for a day, with limits on slow reads.",
        ("act_load_passed",),
    ),
    Declared(
        "act-index",
        "index",
        True,
        "Aerospike's certification test for an index drive: lookups during index updates.",
        ("act_index_load_passed",),
    ),
    Declared(
        "act-search",
        "search",
        True,
        "The highest ACT load that a drive passes.",
        ("act_score", *figure_names("act_score", "by_rule", "per_w", "w")),
        top=(5, "act_score"),
    ),
    Declared(
        "act-certify",
        "certify",
        True,
        "An ACT certificate from scratch: the highest load, a day at it, and a day at twice that load.",
        ("act_load_passed",),
    ),
)
KINDS = (ACT, ACT_SEARCH)
ORDER = 14
