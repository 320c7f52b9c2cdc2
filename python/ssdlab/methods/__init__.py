"""The review methods, one file each, and the registry of them; other packages may bring more."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from ssdlab.model.errors import Unsupported, unknown

if TYPE_CHECKING:
    from ssdlab.methods.method import Method
    from ssdlab.methods.plugins import Offered

REGISTRY = {
    "qd1": "ssdlab.methods.qd1",
    "peak-random-read": "ssdlab.methods.peak_random_read",
    "peak-sequential-read": "ssdlab.methods.peak_sequential_read",
    "steady-random-write": "ssdlab.methods.steady_random_write",
    "steady-sequential-write": "ssdlab.methods.steady_sequential_write",
    "mixed-random": "ssdlab.methods.mixed_random",
    "low-depths": "ssdlab.methods.low_depths",
    "whole-drive-fill": "ssdlab.methods.whole_drive_fill",
    "consistency": "ssdlab.methods.consistency",
    "trim-validation": "ssdlab.methods.trim_validation",
    "paced-burst": "ssdlab.methods.paced_burst",
    "rate-limit": "ssdlab.methods.rate_limit",
    "pts-iops": "ssdlab.methods.pts.iops",
    "pts-throughput": "ssdlab.methods.pts.throughput",
    "pts-latency": "ssdlab.methods.pts.latency",
    "latency-qd32": "ssdlab.methods.pts.latency_qd32",
    "pts-write-saturation": "ssdlab.methods.pts.write_saturation",
    "pts-host-idle-recovery": "ssdlab.methods.pts.idle_recovery",
    "pts-cross-stimulus-recovery": "ssdlab.methods.pts.cross_stimulus",
    "pts-composite": "ssdlab.methods.pts.composite",
    "pts-demand-intensity": "ssdlab.methods.pts.demand_intensity",
    "act": "ssdlab.methods.act.storage",
    "act-index": "ssdlab.methods.act.index",
    "act-search": "ssdlab.methods.act.search",
    "trace": "ssdlab.methods.trace",
}
"""Name of each method and the module that defines it as `METHOD`; loaded when asked for."""

SUITES = {
    "enterprise-review": "ssdlab.methods.suites.enterprise_review",
    "client-review": "ssdlab.methods.suites.client_review",
    "quick-look": "ssdlab.methods.suites.quick_look",
    "snia": "ssdlab.methods.suites.snia",
}
"""Name of each suite and the module that defines it as `SUITE`; loaded when asked for."""

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
    place = REGISTRY.get(name) or _UNLISTED.get(name)
    if place is not None:
        found: Method = import_module(place).METHOD
        return found
    others = methods_of_others()
    if name in others.methods:
        return others.methods[name]
    if broken := next((each for each in others.broken if each.name == name), None):
        raise Unsupported(broken.what, "update that package, or ask those who made it", method=name)
    raise unknown("method", name, [*REGISTRY, *others.methods], elsewhere="see ssdlab methods")


def all_methods() -> list[Method]:
    """Return every method of ssdlab itself, in the order a review prints them."""
    return [find_method(name) for name in REGISTRY]


def methods_of_others() -> Offered:
    """Return the methods that other packages bring along, and which of them cannot be used."""
    from ssdlab.methods.plugins import offered

    return offered({*REGISTRY, *_UNLISTED, *SUITES})
