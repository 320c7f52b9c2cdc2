"""The review methods, one file each, and the registry of them; other packages may bring more."""

from __future__ import annotations

from fnmatch import fnmatchcase
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from ssdlab.methods.declared import (
    IOPS_OF_MB_S,
    MAX_READ_W,
    MAX_WRITE_W,
    POWER,
    SWEEP,
    Declared,
    RatedAs,
    of,
)
from ssdlab.model.errors import Unsupported, UsageError, unknown

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ssdlab.methods.method import Method
    from ssdlab.methods.plugins import Offered


REGISTRY = {
    "qd1": Declared(
        "ssdlab.methods.qd1",
        True,
        "What the drive does with one I/O at a time: latency bare of queueing.",
        (
            *of("qd1_random_read", "iops", "mean_ns", *POWER),
            *of("qd1_random_write", "iops", "mean_ns", *POWER),
            *of("qd1_sequential_read", "mb_s", "mean_ns", *POWER),
            *of("qd1_sequential_write", "mb_s", "mean_ns", *POWER),
        ),
        rated={
            "qd1_random_read_mean_ns": (RatedAs("depth_1_read_us", 1e-3),),
            "qd1_random_write_mean_ns": (RatedAs("depth_1_write_us", 1e-3, "steady"),),
        },
        top=(1, "qd1_random_read_iops"),
    ),
    "peak-random-read": Declared(
        "ssdlab.methods.peak_random_read",
        False,
        "How many 4 KiB random reads a second the drive serves, and how long each takes then.",
        of("peak_random_read", *SWEEP),
        rated={
            "peak_random_read_iops": (RatedAs("random_read_iops"),),
            "peak_random_read_w": (MAX_READ_W,),
        },
        top=(2, "peak_random_read_iops"),
    ),
    "peak-sequential-read": Declared(
        "ssdlab.methods.peak_sequential_read",
        False,
        "How fast the drive reads sequentially, and how many readers that takes.",
        of("peak_sequential_read", *SWEEP),
        rated={
            "peak_sequential_read_mb_s": (RatedAs("sequential_read_mb_s"),),
            "peak_sequential_read_w": (RatedAs("active_read_w"), MAX_READ_W),
        },
        top=(7, "peak_sequential_read_mb_s"),
    ),
    "steady-random-write": Declared(
        "ssdlab.methods.steady_random_write",
        True,
        "What random writes a drive keeps up for hours, once it is full and every block has been "
        "written before.",
        of("steady_random_write", *SWEEP),
        rated={
            "steady_random_write_iops": (RatedAs("random_write_iops", 1.0, "steady"),),
            "steady_random_write_w": (MAX_WRITE_W,),
        },
        top=(3, "steady_random_write_iops"),
    ),
    "steady-sequential-write": Declared(
        "ssdlab.methods.steady_sequential_write",
        True,
        "What sequential writes a drive keeps up for hours, once it is full.",
        of("steady_sequential_write", *SWEEP),
        rated={
            "steady_sequential_write_mb_s": (RatedAs("sequential_write_mb_s", 1.0, "steady"),),
            "steady_sequential_write_w": (RatedAs("active_write_w", 1.0, "steady"), MAX_WRITE_W),
        },
        top=(8, "steady_sequential_write_mb_s"),
    ),
    "mixed-random": Declared(
        "ssdlab.methods.mixed_random",
        True,
        "How a drive stands reads and writes at once, over every share of reads.",
        of("mixed_random_qd*", "mb_s", *POWER),
        rated={"mixed_random_qd32_mb_s": (RatedAs("mixed_70_30_iops", IOPS_OF_MB_S, "steady"),)},
        top=(4, "mixed_random_qd32_mb_s"),
    ),
    "read-under-writes": Declared(
        "ssdlab.methods.read_under_writes",
        True,
        "How long reads take while the drive is written, over how much is read and how much is written.",
        of("read_under_writes", "mean_ns", "p99_ns", "p99_times", *POWER),
    ),
    "low-depths": Declared(
        "ssdlab.methods.low_depths",
        True,
        "What a drive sustains with one, two and four I/Os in flight, where client software works.",
        (
            *of("low_depths_random_read", "mb_s", *POWER),
            *of("low_depths_random_write", "mb_s", *POWER),
            *of("low_depths_sequential_read", "mb_s", *POWER),
            *of("low_depths_sequential_write", "mb_s", *POWER),
        ),
    ),
    "whole-drive-fill": Declared(
        "ssdlab.methods.whole_drive_fill",
        True,
        "How fast a fresh drive writes from its first block to its last, and where its speed falls for good.",
        of("fill", "mb_s", "cached_mb_s", *POWER),
        rated={
            "fill_mb_s": (RatedAs("sequential_write_mb_s", 1.0, "fresh", "a whole fill"),),
            "fill_cached_mb_s": (RatedAs("sequential_write_mb_s", 1.0, "cached"),),
            "fill_w": (RatedAs("active_write_w", 1.0, "fresh", "a whole fill"), MAX_WRITE_W),
        },
        top=(11, "fill_mb_s"),
    ),
    "consistency": Declared(
        "ssdlab.methods.consistency",
        True,
        "How evenly a drive writes, second by second, and what more spare area changes.",
        (*of("consistency_stock", "iops", *POWER), *of("consistency_spare_*", "iops", *POWER)),
        rated={"consistency_stock_iops": (RatedAs("random_write_iops", 1.0, "steady"),)},
        top=(9, "consistency_stock_iops"),
    ),
    "trim-validation": Declared(
        "ssdlab.methods.trim_validation",
        True,
        "Whether TRIM gives a drive its clean speed back after it was written at random for an hour.",
        ("trim_recovered", *of("trim_clean", *POWER)),
        top=(10, "trim_recovered"),
    ),
    "paced-burst": Declared(
        "ssdlab.methods.paced_burst",
        True,
        "How a drive stands writes that come in bursts beside large reads, as on a desktop.",
        of(
            "paced",
            "load_s",
            "load_service_s",
            "read_mb_s",
            "write_mb_s",
            "safe_mb_s",
            "safe_beyond_mb_s",
            *POWER,
        ),
        top=(6, "paced_load_s"),
    ),
    "rate-limit": Declared(
        "ssdlab.methods.rate_limit",
        False,
        "How much load a drive can be offered before its tail latency passes a bound.",
        ("rate_under_*_ms_*",),
    ),
    "idle-power": Declared(
        "ssdlab.methods.idle_power",
        False,
        "What a drive draws at rest in each of its power states, and how long it takes to wake from each.",
        ("idle_w", "least_idle_w", "wake_up_us"),
        rated={"idle_w": (RatedAs("idle_w"),)},
    ),
    "energy-per-job": Declared(
        "ssdlab.methods.energy_per_job",
        True,
        "How much energy a drive takes for a fixed amount of work.",
        tuple(
            name
            for job in ("steady_random_writes", "steady_sequential_writes", "fill", "reads", "trace")
            for name in of(job, "j", "j_per_gb", "w", "s")
        ),
    ),
    "pts-iops": Declared(
        "ssdlab.methods.pts.iops",
        True,
        "SNIA's IOPS test: random I/O of eight sizes and seven mixes, round after round until steady.",
        ("pts_iops_*",),
    ),
    "pts-throughput": Declared(
        "ssdlab.methods.pts.throughput",
        True,
        "SNIA's throughput test: sequential I/O of 1024 and 128 KiB until steady.",
        ("pts_throughput_*",),
    ),
    "pts-latency": Declared(
        "ssdlab.methods.pts.latency",
        True,
        "SNIA's latency test: one I/O at a time, until steady, then twenty minutes of writes one by one.",
        ("pts_latency_*",),
    ),
    "latency-qd32": Declared(
        "ssdlab.methods.pts.latency_qd32",
        True,
        "Latency at 32 I/Os in flight, as a review practice has it beside SNIA's matrix: mean and maximum.",
        ("pts_latency_*",),
    ),
    "pts-write-saturation": Declared(
        "ssdlab.methods.pts.write_saturation",
        True,
        "SNIA's write saturation test: random writes from the fresh drive on, until it is saturated.",
        ("pts_write_saturation_iops",),
    ),
    "pts-host-idle-recovery": Declared(
        "ssdlab.methods.pts.idle_recovery",
        True,
        "SNIA's host idle recovery test: what a drive gains while the host leaves it alone.",
        ("pts_idle_recovery_baseline_iops", "pts_idle_recovery_iops"),
    ),
    "pts-cross-stimulus-recovery": Declared(
        "ssdlab.methods.pts.cross_stimulus",
        True,
        "SNIA's cross stimulus recovery test: sequential writes, random ones, and sequential ones again.",
        ("pts_cross_stimulus_mb_s",),
    ),
    "pts-composite": Declared(
        "ssdlab.methods.pts.composite",
        True,
        "SNIA's composite block-size workload: twelve sizes at once, most of them in a small part "
        "of the drive.",
        ("pts_composite_*",),
    ),
    "pts-demand-intensity": Declared(
        "ssdlab.methods.pts.demand_intensity",
        True,
        "SNIA's demand intensity test: what a drive gives under more and more demand, and how "
        "long each I/O takes.",
        ("pts_demand_intensity_*",),
    ),
    "act": Declared(
        "ssdlab.methods.act.storage",
        True,
        "Aerospike's certification test of a drive: a fixed load for a day, and limits on how "
        "many reads are slow.",
        ("act_load_passed",),
    ),
    "act-index": Declared(
        "ssdlab.methods.act.index",
        True,
        "Aerospike's certification test of a drive that holds a primary index: lookups beside its updates.",
        ("act_index_load_passed",),
    ),
    "act-search": Declared(
        "ssdlab.methods.act.search",
        True,
        "The highest load of ACT at which a drive keeps the limits.",
        ("act_score", *of("act_score", "by_rule", "per_w", "w")),
        top=(5, "act_score"),
    ),
    "act-certify": Declared(
        "ssdlab.methods.act.certify",
        True,
        "A certificate of ACT from nothing known: the highest load, a day at it, and a day at twice of it.",
        ("act_load_passed",),
    ),
    "trace": Declared(
        "ssdlab.methods.trace",
        True,
        "How a drive does a recorded workload, as timed, faster, or as fast as it can.",
        of("trace", "mb_s", "service_ns", "read_p99_ns", "write_p99_ns", "energy_j"),
    ),
}
"""Every method by its name; its module has it as `METHOD`."""

SUITES = {
    "enterprise-review": Declared(
        "enterprise-review.toml",
        True,
        "An enterprise drive as reviews judge one: alone, at its peaks, in steady state, and "
        "under mixed load.",
    ),
    "client-review": Declared(
        "client-review.toml",
        True,
        "A client drive as reviews judge one: fresh and full, in bursts and without a pause.",
    ),
    "quick-look": Declared("quick-look.toml", True, "A first look at a drive, in under ten minutes."),
    "snia": Declared(
        "snia.toml",
        True,
        "All eight tests of SNIA's Solid State Storage Performance Test Specification, in one report.",
    ),
    "review-dc500": Declared(
        "review-dc500.toml",
        True,
        "AnandTech's review of the Kingston DC500 (2019): depth 1, peaks, steady state, mixed load.",
    ),
    "review-c916": Declared(
        "review-c916.toml",
        True,
        "AnandTech's review of the Memblaze PBlaze5 C916 (2019): mixed load and ACT, with a limit of 10 W.",
    ),
    "review-dc400": Declared(
        "review-dc400.toml",
        True,
        "TheSSDReview's review of the Kingston DC400 (2016): SNIA's matrix in 25 rounds, latency at QD 32.",
    ),
    "review-xp941": Declared(
        "review-xp941.toml",
        True,
        "AnandTech's review of the Samsung XP941 (2014): consistency with more spare area, TRIM, a trace.",
    ),
    "review-600p": Declared(
        "review-600p.toml",
        True,
        "PC Perspective's review of the Intel 600p (2016): bursts of writes beside reads, load time, tails.",
    ),
}
"""Every suite by its name; `place` is its declaration, in the folder `suites`."""

_UNLISTED = {"job": "ssdlab.methods.job"}
"""What has a command of its own and is found here only to be resumed."""


def find_method(name: str) -> Method:
    """Return a method by its name.

    Raises
    ------
    UsageError
        With the nearest name, when there is none.
    Unsupported
        Another package brings it along, and it cannot be used.
    """
    place = REGISTRY[name].place if name in REGISTRY else _UNLISTED.get(name)
    if place is not None:
        found: Method = import_module(place).METHOD
        return found
    others = methods_of_others(name)
    if name in others.methods:
        return others.methods[name]
    if broken := next((each for each in others.broken if each.name == name), None):
        raise Unsupported(broken.what, "update that package, or ask those who made it", method=name)
    from ssdlab.methods.plugins import names

    if Path(name).is_file():
        raise not_a_declaration(name)
    raise unknown("method", name, [*REGISTRY, *names()], elsewhere="see ssdlab methods")


def not_a_declaration(name: str) -> UsageError:
    """Return the refusal to run a file that is something else, with what can be run."""
    return UsageError(
        f"{name} is a file that declares no review",
        "name a method, a suite or a review (see ssdlab methods), or a declaration of your own, NAME.toml "
        "(see docs/reviews.md); a job file is run by ssdlab job, a recorded workload by the method trace",
        path=name,
    )


def all_methods() -> list[Method]:
    """Return every method of ssdlab itself, in the order a review prints them."""
    return [find_method(name) for name in REGISTRY]


def methods_of_others(only: str | None = None) -> Offered:
    """Return the methods that other packages bring along, and which of them cannot be used.

    With `only`, those of that name: no other package is imported.
    """
    from ssdlab.methods.plugins import offered

    return offered({*REGISTRY, *_UNLISTED, *SUITES}, only)


def figures_of(methods: Iterable[str]) -> tuple[str, ...] | None:
    """Return what the headline figures of these methods can be called; None where one is of a package."""
    names: list[str] = []
    for method in methods:
        if method not in REGISTRY:
            return None
        names += REGISTRY[method].figures
    return tuple(dict.fromkeys(names))


def is_figure(name: str, names: Iterable[str]) -> bool:
    """Say whether a figure's name is one of these."""
    return any(fnmatchcase(name, each) for each in names)


def top_figures() -> list[str]:
    """Return what a reader looks for first, where a review does not say."""
    return [name for _, name in sorted(each.top for each in REGISTRY.values() if each.top is not None)]


def rated_as(figure: str) -> tuple[RatedAs, ...]:
    """Return what makers rate a headline figure by."""
    return next((each.rated[figure] for each in REGISTRY.values() if figure in each.rated), ())
