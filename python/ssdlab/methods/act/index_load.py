"""The load of act_index on one drive: lookups by service threads, and the cache threads' reads and writes.

All I/Os are of 4 KiB. A cache thread does a bundle of 100 reads and writes in turn, as fast as they go, and
waits for its next bundle; all cache threads begin theirs together. Here reads and writes of a bundle come in
chance order, one to one on average, and any of the cache threads does the next of them.
"""

from __future__ import annotations

from fractions import Fraction

from ssdlab.formats.act.config import IndexConfig
from ssdlab.formats.act.rates import index_rates
from ssdlab.methods.act.arrivals import Arrivals, lag_ns, service_arrival, threads_of
from ssdlab.methods.act.load import SERVICE
from ssdlab.model.arrival import Bursts, Open
from ssdlab.model.units import NS_PER_S
from ssdlab.model.workload import Block, Mix, Ratio, Stop, Stream, Workload

CACHE = "cache"
IO_BYTES = 4096
PAIRS_A_BUNDLE = 100


def index_workload(config: IndexConfig, *, arrivals: Arrivals, threads: int, interval_ns: int) -> Workload:
    """Return the streams of act_index; the parameters are those of `storage_workload`.

    With arrivals `even` and `poisson` the cache threads have no bundles: their I/Os come so too.
    """
    rates = index_rates(config)
    stop = Stop(time_ns=config.test_duration_sec * NS_PER_S)
    allowed_ns = lag_ns(config.max_lag_sec, config.test_duration_sec)
    service = Stream(
        name=SERVICE,
        ops=Mix(read_pct=100),
        block=(Block(bytes=IO_BYTES),),
        workers=threads_of(arrivals, threads),
        arrival=service_arrival(arrivals, Fraction(rates.service_reads), allowed_ns),
        stop=stop,
    )
    if not rates.cache_pairs:
        return Workload.of(service, interval_ns=interval_ns)
    cache = Stream(
        name=CACHE,
        ops=Ratio(read_weight=1, write_weight=1),
        block=(Block(bytes=IO_BYTES),),
        workers=config.cache_threads,
        arrival=_cache_arrival(config, arrivals, rates.cache_pairs, allowed_ns),
        dsync=not config.disable_odsync,
        stop=stop,
    )
    return Workload.of(service, cache, interval_ns=interval_ns)


def _cache_arrival(config: IndexConfig, arrivals: Arrivals, pairs: int, allowed_ns: int) -> Bursts | Open:
    if arrivals in ("even", "poisson"):
        return Open(process=arrivals, rate=Fraction(2 * pairs), backlog_ns=allowed_ns)
    bundles = PAIRS_A_BUNDLE * config.cache_threads
    return Bursts(bytes=2 * bundles * IO_BYTES, every_ns=round(Fraction(bundles * NS_PER_S, pairs)))
