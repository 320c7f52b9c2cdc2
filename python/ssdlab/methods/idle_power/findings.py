"""A drive at rest: its findings, and the tables of power features, power states and rests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ssdlab.plugin import Amount, Claim, Evidence, Table, cells, saving_words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ssdlab.plugin import PowerState

    from .result import IdlePowerResult

IN_THE_NOISE = "not told apart"
"""Of a wake-up that lies inside the spread of the reads."""


def findings(result: IdlePowerResult) -> Iterator[Claim]:
    """Yield what it draws awake and at the least, how long it takes to wake, and what it lacks."""
    for lack in result.lacks:
        yield Claim("{lack}", others={"lack": lack})
    if not result.rests:
        return
    if all(each.mean_w is None for each in result.rests):
        rests = tuple(each.ordinal for each in result.rests)
        yield Claim("nothing metered the drive: there are no watts", evidence=Evidence(rests))
    awake, lowest = result.rests[0], result.lowest
    if lowest is not None:
        yield Claim(
            "At rest it draws {figure} awake, and {least} at the least ({label})",
            figure=Amount(awake.mean_w, "W"),
            evidence=Evidence((awake.ordinal, lowest.ordinal)),
            others={"least": Amount(lowest.mean_w, "W"), "label": lowest.label},
        )
    if len(result.rests) < 2:
        return
    slowest = result.slowest
    if slowest is None:
        yield Claim(
            "No wake-up was told apart: the first reads after a rest took no longer than those right behind "
            "them",
            evidence=Evidence(tuple(each.ordinal for each in result.rests)),
        )
        return
    yield Claim(
        "Waking from {label} adds {time} to a read of {read}: the longest wake-up, by medians of {reads}",
        evidence=Evidence((slowest.ordinal,)),
        others={
            "label": slowest.label,
            "time": Amount(slowest.wake_ns, "ns"),
            "read": Amount(slowest.awake_ns, "ns"),
            "reads": f"{slowest.reads} read{'' if slowest.reads == 1 else 's'}",
        },
    )


def rests(result: IdlePowerResult) -> Table:
    """Return watts and wake-up of each way to rest."""
    head = ("At rest", "W", "Error, W", "Wake-up", "First read", "Least", "Most", "Awake", "Reads")
    rows = tuple(
        (
            cells.words(each.label),
            cells.plain(each.mean_w),
            cells.plain(each.error_w),
            cells.latency(each.wake_ns) if each.wake_ns is not None else cells.words(IN_THE_NOISE),
            cells.latency(each.first_ns),
            cells.latency(each.first_min_ns),
            cells.latency(each.first_max_ns),
            cells.latency(each.awake_ns),
            cells.count(each.reads),
        )
        for each in result.rests
    )
    brief = ("At rest", "W", "Wake-up", "First read", "Least", "Most", "Awake")
    return Table("Power at rest, and the first read after it", head, rows, brief=brief)


def states(result: IdlePowerResult) -> Table:
    """Return the power states, as the drive tells them."""
    head = ("State", "I/O", "Most, W", "Idle, W", "Active, W", "Entry", "Exit", "By itself after")
    rows = tuple(map(_state, result.states))
    return Table("Power states, as the drive tells them", head, rows)


def _state(state: PowerState) -> tuple[cells.Cell, ...]:
    return (
        cells.words(state.name),
        cells.words("yes" if state.operational else "no"),
        cells.plain(state.max_w),
        cells.plain(state.idle_w),
        cells.plain(state.active_w),
        cells.latency(None if state.entry_us is None else state.entry_us * 1e3),
        cells.latency(None if state.exit_us is None else state.exit_us * 1e3),
        cells.latency(None if state.after_ms is None else state.after_ms * 1e6),
    )


def features(result: IdlePowerResult) -> Table:
    """Return what it has for saving power, and what it lacks."""
    resting = [state.name for state in result.states if not state.operational]
    working = [state.name for state in result.states if state.operational]
    rows = [
        ("Protocol", {"nvme": "NVMe", "sata": "SATA"}[result.protocol]),
        ("States for work", ", ".join(working) or "none"),
        ("States to rest in", ", ".join(resting) or "none"),
        ("Saves power by itself", "no" if result.saving is None else saving_words(result.saving)),
        *(("Lacks", lack) for lack in result.lacks),
    ]
    lines = tuple((cells.words(name), cells.words(value)) for name, value in rows)
    return Table("Power features", ("Feature", ""), lines)


def tables(result: IdlePowerResult) -> tuple[Table, ...]:
    """Return features, states and rests."""
    return (features(result), states(result), rests(result))
