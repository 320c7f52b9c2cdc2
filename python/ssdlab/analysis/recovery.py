"""How long a drive takes to come back to what it did before.

After another load, or while rests end, a series of records approaches a level. Recovery is the first record
that reaches it: later ones may fall below again, for a drive that collects garbage is not even, and a rule
over several records would need a length that the standard does not give.

Source: SNIA SSS PTS 2.0.2, cross stimulus recovery: time of the third load until its throughput is that of
the first.
"""

from __future__ import annotations

from collections.abc import Sequence


def recovery_s(values: Sequence[float], level: float, record_s: float) -> float | None:
    """Return when the first record that reaches the level ends, in seconds from the first's beginning.

    Parameters
    ----------
    values
        Of each record, in order.
    level
        What has to be reached, in their unit.
    record_s
        Length of a record.

    Returns
    -------
    float or None
        None if no record reaches it: not yet.
    """
    return next((number * record_s for number, value in enumerate(values, 1) if value >= level), None)
