"""Energy for a fixed amount of work."""

from __future__ import annotations

from typing import Any

from ssdlab.plugin import Declared, ResultKind, figure_names

ENERGY_JOB: ResultKind[Any] = ResultKind(
    "energy-job",
    f"{__name__}.result:EnergyJobResult",
    findings=f"{__name__}.result:findings",
    tables=f"{__name__}.result:tables",
)

DECLARED = (
    Declared(
        "energy-per-job",
        "procedure",
        True,
        "The energy that a drive takes for a fixed amount of work.",
        tuple(
            name
            for job in ("steady_random_writes", "steady_sequential_writes", "fill", "reads", "trace")
            for name in figure_names(job, "j", "j_per_gb", "w", "s")
        ),
    ),
)
KINDS = (ENERGY_JOB,)
ORDER = 12
