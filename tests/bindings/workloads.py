"""Workloads in the resolved form that the native module takes, for tests of that seam alone."""

from __future__ import annotations

import json
from typing import Any

BLOCK_BYTES = 4096
MIB = 1 << 20


def stream(**changes: Any) -> dict[str, Any]:
    """A closed loop of random 4 KiB reads by one synchronous worker, for ever."""
    return {
        "name": "main",
        "ops": {"mix": {"read_pct": 100}},
        "block": [{"bytes": BLOCK_BYTES, "weight": 1}],
        "pattern": "uniform",
        "span": {"start": 0, "length": 16 * MIB},
        "workers": 1,
        "depth": 1,
        "engine": "sync",
        "batch": None,
        "polled": False,
        "arrival": {"closed": {"think_ns": 0}},
        "compressible_pct": 0,
        "direct": True,
        "dsync": False,
        "flush_every": None,
        "cpus": [],
        "stop": stop(),
        "log_ios": False,
    } | changes


def stop(**changes: Any) -> dict[str, Any]:
    """When a stream ends; by default when it is told to."""
    return {"time_ns": None, "bytes": None, "ios": None, "span_once": False} | changes


def workload(*streams: dict[str, Any], **changes: Any) -> str:
    """A workload of these streams, with rows of 100 ms."""
    fields = {"seed": 7, "interval_ns": 100_000_000, "ramp_ns": 0, "streams": list(streams or [stream()])}
    return json.dumps(fields | changes)


def even(rate: int, **changes: Any) -> dict[str, Any]:
    """A stream of evenly paced reads at `rate` I/Os per second, however fast the drive is."""
    arrival = {"process": "even", "rate": {"num": rate, "den": 1}, "backlog_ns": 10_000_000_000}
    return stream(arrival={"open": arrival}, **changes)
