"""The review methods, one file each, and the registry of them; other packages may bring more."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ssdlab.model.errors import Unsupported, UsageError, unknown

if TYPE_CHECKING:
    from ssdlab.methods.method import Method
    from ssdlab.methods.plugins import Offered


class Listed(NamedTuple):
    """A method or suite as a list shows it, without loading it: `writes` and `line` say what it says itself.

    Attributes
    ----------
    place
        Module that defines it; of a suite the file.
    writes
        Whether it writes to the drive with the parameters it has by default.
    line
        The first of its prose.
    """

    place: str
    writes: bool
    line: str


REGISTRY = {
    "qd1": Listed(
        "ssdlab.methods.qd1", True, "What the drive does with one I/O at a time: latency bare of queueing."
    ),
    "peak-random-read": Listed(
        "ssdlab.methods.peak_random_read",
        False,
        "How many 4 KiB random reads a second the drive serves, and how long each takes then.",
    ),
    "peak-sequential-read": Listed(
        "ssdlab.methods.peak_sequential_read",
        False,
        "How fast the drive reads sequentially, and how many readers that takes.",
    ),
    "steady-random-write": Listed(
        "ssdlab.methods.steady_random_write",
        True,
        "What random writes a drive keeps up for hours, once it is full and every block has been "
        "written before.",
    ),
    "steady-sequential-write": Listed(
        "ssdlab.methods.steady_sequential_write",
        True,
        "What sequential writes a drive keeps up for hours, once it is full.",
    ),
    "mixed-random": Listed(
        "ssdlab.methods.mixed_random",
        True,
        "How a drive stands reads and writes at once, over every share of reads.",
    ),
    "read-under-writes": Listed(
        "ssdlab.methods.read_under_writes",
        True,
        "How long reads take while the drive is written, over how much is read and how much is written.",
    ),
    "low-depths": Listed(
        "ssdlab.methods.low_depths",
        True,
        "What a drive sustains with one, two and four I/Os in flight, where client software works.",
    ),
    "whole-drive-fill": Listed(
        "ssdlab.methods.whole_drive_fill",
        True,
        "How fast a fresh drive writes from its first block to its last, and where its speed falls for good.",
    ),
    "consistency": Listed(
        "ssdlab.methods.consistency",
        True,
        "How evenly a drive writes, second by second, and what more spare area changes.",
    ),
    "trim-validation": Listed(
        "ssdlab.methods.trim_validation",
        True,
        "Whether TRIM gives a drive its clean speed back after it was written at random for an hour.",
    ),
    "paced-burst": Listed(
        "ssdlab.methods.paced_burst",
        True,
        "How a drive stands writes that come in bursts beside large reads, as on a desktop.",
    ),
    "rate-limit": Listed(
        "ssdlab.methods.rate_limit",
        False,
        "How much load a drive can be offered before its tail latency passes a bound.",
    ),
    "idle-power": Listed(
        "ssdlab.methods.idle_power",
        False,
        "What a drive draws at rest in each of its power states, and how long it takes to wake from each.",
    ),
    "energy-per-job": Listed(
        "ssdlab.methods.energy_per_job",
        True,
        "How much energy a drive takes for a fixed amount of work.",
    ),
    "pts-iops": Listed(
        "ssdlab.methods.pts.iops",
        True,
        "SNIA's IOPS test: random I/O of eight sizes and seven mixes, round after round until steady.",
    ),
    "pts-throughput": Listed(
        "ssdlab.methods.pts.throughput",
        True,
        "SNIA's throughput test: sequential I/O of 1024 and 128 KiB until steady.",
    ),
    "pts-latency": Listed(
        "ssdlab.methods.pts.latency",
        True,
        "SNIA's latency test: one I/O at a time, until steady, then twenty minutes of writes one by one.",
    ),
    "latency-qd32": Listed(
        "ssdlab.methods.pts.latency_qd32",
        True,
        "Latency at 32 I/Os in flight, as a review practice has it beside SNIA's matrix: mean and maximum.",
    ),
    "pts-write-saturation": Listed(
        "ssdlab.methods.pts.write_saturation",
        True,
        "SNIA's write saturation test: random writes from the fresh drive on, until it is saturated.",
    ),
    "pts-host-idle-recovery": Listed(
        "ssdlab.methods.pts.idle_recovery",
        True,
        "SNIA's host idle recovery test: what a drive gains while the host leaves it alone.",
    ),
    "pts-cross-stimulus-recovery": Listed(
        "ssdlab.methods.pts.cross_stimulus",
        True,
        "SNIA's cross stimulus recovery test: sequential writes, random ones, and sequential ones again.",
    ),
    "pts-composite": Listed(
        "ssdlab.methods.pts.composite",
        True,
        "SNIA's composite block-size workload: twelve sizes at once, most of them in a small part "
        "of the drive.",
    ),
    "pts-demand-intensity": Listed(
        "ssdlab.methods.pts.demand_intensity",
        True,
        "SNIA's demand intensity test: what a drive gives under more and more demand, and how "
        "long each I/O takes.",
    ),
    "act": Listed(
        "ssdlab.methods.act.storage",
        True,
        "Aerospike's certification test of a drive: a fixed load for a day, and limits on how "
        "many reads are slow.",
    ),
    "act-index": Listed(
        "ssdlab.methods.act.index",
        True,
        "Aerospike's certification test of a drive that holds a primary index: lookups beside its updates.",
    ),
    "act-search": Listed(
        "ssdlab.methods.act.search", True, "The highest load of ACT at which a drive keeps the limits."
    ),
    "act-certify": Listed(
        "ssdlab.methods.act.certify",
        True,
        "A certificate of ACT from nothing known: the highest load, a day at it, and a day at twice of it.",
    ),
    "trace": Listed(
        "ssdlab.methods.trace",
        True,
        "How a drive does a recorded workload, as timed, faster, or as fast as it can.",
    ),
}
"""Every method by its name; its module has it as `METHOD`."""

SUITES = {
    "enterprise-review": Listed(
        "enterprise-review.toml",
        True,
        "An enterprise drive as reviews judge one: alone, at its peaks, in steady state, and "
        "under mixed load.",
    ),
    "client-review": Listed(
        "client-review.toml",
        True,
        "A client drive as reviews judge one: fresh and full, in bursts and without a pause.",
    ),
    "quick-look": Listed("quick-look.toml", True, "A first look at a drive, in under ten minutes."),
    "snia": Listed(
        "snia.toml",
        True,
        "All eight tests of SNIA's Solid State Storage Performance Test Specification, in one report.",
    ),
    "review-dc500": Listed(
        "review-dc500.toml",
        True,
        "AnandTech's review of the Kingston DC500 (2019): depth 1, peaks, steady state, mixed load.",
    ),
    "review-c916": Listed(
        "review-c916.toml",
        True,
        "AnandTech's review of the Memblaze PBlaze5 C916 (2019): mixed load and ACT, with a limit of 10 W.",
    ),
    "review-dc400": Listed(
        "review-dc400.toml",
        True,
        "TheSSDReview's review of the Kingston DC400 (2016): SNIA's matrix in 25 rounds, latency at QD 32.",
    ),
    "review-xp941": Listed(
        "review-xp941.toml",
        True,
        "AnandTech's review of the Samsung XP941 (2014): consistency with more spare area, TRIM, a trace.",
    ),
    "review-600p": Listed(
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
