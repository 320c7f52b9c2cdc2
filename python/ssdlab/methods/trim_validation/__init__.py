"""Whether TRIM restores a drive's clean speed."""

from __future__ import annotations

from typing import Any

from ssdlab.plugin import POWER, Declared, ResultKind, figure_names

TRIM: ResultKind[Any] = ResultKind(
    "trim",
    f"{__name__}.result:TrimResult",
    section=f"{__name__}.page:section",
    findings=f"{__name__}.result:findings",
    tables=f"{__name__}.result:tables",
)

DECLARED = (
    Declared(
        "trim-validation",
        "procedure",
        True,
        "Whether TRIM restores the clean write speed after an hour of random writes.",
        ("trim_recovered", *figure_names("trim_clean", *POWER)),
        top=(10, "trim_recovered"),
    ),
)
KINDS = (TRIM,)
ORDER = 8
