"""Sustained I/O at low depths."""

from __future__ import annotations

from ssdlab.plugin import POWER, Declared, figure_names

DECLARED = (
    Declared(
        "low-depths",
        "procedure",
        True,
        "Sustained I/O at queue depths 1, 2 and 4, where client software works.",
        (
            *figure_names("low_depths_random_read", "mb_s", *POWER),
            *figure_names("low_depths_random_write", "mb_s", *POWER),
            *figure_names("low_depths_sequential_read", "mb_s", *POWER),
            *figure_names("low_depths_sequential_write", "mb_s", *POWER),
        ),
    ),
)
KINDS = ()
ORDER = 5
