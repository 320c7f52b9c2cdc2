"""A replay as a reader sees it in a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ssdlab.cli.output import print_fields, print_line, print_table
from ssdlab.model import units

if TYPE_CHECKING:
    from ssdlab.methods.results.replay import TraceResult

_SERVICE = ("mean", "p50", "p99", "max")


def print_trace(result: TraceResult) -> None:
    """Print the figures of a storage-bench page, and how far the host kept up."""
    source, done = result.source, result.done
    print_line()
    rate = "nothing was moved" if done.mb_s is None else f"{units.throughput_text(done.mb_s)} while busy"
    service = (
        "" if done.service_mean_ns is None else f", {units.latency_text(done.service_mean_ns)} a service"
    )
    energy = "" if done.energy_j is None else f", {units.significant(done.energy_j)} J"
    print_line(rate + service + energy, "bold")
    print_line()
    rows = [
        (name, *(_latency(service.get(key)) for key in _SERVICE), _latency(done.response_ns[name].get("p99")))
        for name, service in done.service_ns.items()
    ]
    print_table(rows, ("service time", *_SERVICE, "response p99"), right=range(1, 6))
    print_line()
    how = "as fast as possible" if result.laid.speed == "max" else f"at {result.laid.speed} x its speed"
    lateness = f"p99 {_latency(done.lateness_ns.get('p99'))}, max {_latency(done.lateness_ns.get('max'))}"
    print_fields(
        [
            ("trace", f"{source.file} ({source.format}), {how}"),
            ("replayed", f"{done.ios} of {result.laid.ios} I/Os in {units.span_text(done.seconds)}"),
            ("busy", f"{units.span_text(done.busy_s)}, in flight {units.significant(done.in_flight)}"),
            ("lateness", f"{lateness}; {done.late} late, {done.dropped} dropped, {done.failed} failed"),
        ]
    )


def _latency(latency_ns: float | None) -> str:
    return "-" if latency_ns is None else units.latency_text(latency_ns)
