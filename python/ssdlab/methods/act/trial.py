"""One run of ACT's load, and what its two rules say of it. Shared by the test and the search."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self, cast

from ssdlab.analysis import act_verdict
from ssdlab.errors import UsageError
from ssdlab.methods.act.config import ActConfig, option_values, read_config
from ssdlab.methods.act.load import (
    READS,
    Arrivals,
    act_workload,
    derive_rates,
    preparation,
)
from ssdlab.methods.method import Params, param
from ssdlab.request import Until
from ssdlab.results.act import RULES, ActRates, ActSlice, ActVerdict, Rule
from ssdlab.units import NS_PER_S

if TYPE_CHECKING:
    from ssdlab.lab import Lab
    from ssdlab.request import Tables
    from ssdlab.results.run_folder import Step

VERSION = "6.6"
"""Of act_storage, whose definition of the load this is."""
READS_1X, WRITES_1X = 2000, 1000
LONG_TEST_S = 7200


class LoadParams(Params):
    """Of ACT's load, under the names of act_storage."""

    own: ClassVar[frozenset[str]] = frozenset({"load", "arrivals", "config", "slice_sec", "prepare"})

    load: int = param(1, "N of Nx: the two rates below, so many times", ge=1, le=10_000)
    arrivals: Arrivals = param(
        "act6",
        "of small I/Os: act6 as act_storage 6 (all threads tick together), act2019 as ACT before it (one "
        "even generator, 8 queues of 8 threads, latency from the queue), even, poisson",
    )
    config: str = param("", "file of act_storage that the options come from; what is set goes before it")
    test_duration_sec: int = param(86_400, "of the test", unit="s", quick=10, ge=1, le=31_536_000)
    slice_sec: int = param(
        3600, "of one slice: each has to pass by itself", unit="s", quick=5, ge=1, le=86_400
    )
    prepare: bool = param(True, "write the drive twice first, with zeroes and then with salt, as act_prep")
    read_reqs_per_sec: int = param(READS_1X, "client reads at 1x", unit="1/s", ge=0, le=100_000_000)
    write_reqs_per_sec: int = param(WRITES_1X, "client writes at 1x", unit="1/s", ge=0, le=100_000_000)
    service_threads: int = param(
        80,
        "that do the small I/Os; the original takes 5 for each CPU, so that its bursts depend on the host: "
        "this is what it takes with 16",
        ge=1,
        le=4096,
    )
    record_bytes: int = param(1536, "record, rounded up to 16 B and to whole blocks of the drive", unit="B")
    record_bytes_range_max: int = param(0, "greatest record, sizes even between; 0: one size", unit="B")
    large_block_op_kbytes: int = param(128, "large I/O", unit="KiB")
    replication_factor: int = param(1, "copies of each write")
    update_pct: int = param(0, "writes that read first", unit="%")
    defrag_lwm_pct: int = param(50, "fill at which a block is collected", unit="%")
    no_defrag_reads: bool = param(False, "collection does not read")
    compress_pct: int = param(100, "what data compresses to; 100: not at all", unit="%")
    disable_odsync: bool = param(False, "writes need not be durable when they complete")
    commit_to_device: bool = param(False, "each write goes to the drive at once, as a small one")
    tomb_raider: bool = param(False, "a thread reads the whole drive again and again")
    tomb_raider_sleep_usec: int = param(0, "pause between two of its reads", unit="us")
    max_lag_sec: int = param(10, "behind the load at which the test ends; 0: never", unit="s")

    @classmethod
    def build(cls, settings: Mapping[str, str] | None = None, *, quick: bool = False) -> Self:
        """Return the parameters of a run; those of a configuration file lie below what was set.

        Raises
        ------
        UsageError
            The file cannot be read, or something in it does not fit.
        """
        given = dict(settings or {})
        if given.get("config"):
            found = option_values(_read_file(Path(given["config"])))
            shared = {name: str(value) for name, value in found.items() if name in cls.model_fields}
            if quick:
                shared.pop("test_duration_sec", None)
            given = {**shared, **given}
        built = super().build(given, quick=quick)
        assert isinstance(built, cls)
        built.act_config()  # its bounds hold now, not when the drive has been prepared
        return built

    def act_config(self, load: int | None = None) -> ActConfig:
        """Return ACT's options at a load, by default the one asked for."""
        times = self.load if load is None else load
        names = [name for name in ActConfig.__dataclass_fields__ if name in type(self).model_fields]
        values: dict[str, Any] = {name: getattr(self, name) for name in names}
        values["read_reqs_per_sec"] *= times
        values["write_reqs_per_sec"] *= times
        return ActConfig(**values)

    @property
    def interval_s(self) -> int:
        """Length of a row: long tests have rows of 10 s where a slice is made of such."""
        return 10 if self.test_duration_sec > LONG_TEST_S and self.slice_sec % 10 == 0 else 1

    @property
    def rule(self) -> Rule:
        """The rule that a load's name goes by: that of the ACT whose arrivals these are."""
        return "2019" if self.arrivals == "act2019" else "6.x"


def _read_file(path: Path) -> ActConfig:
    try:
        return read_config(path.read_text(encoding="utf-8"), str(path))
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(
            f"{path} cannot be read: {error}", "give a configuration file of act_storage", path=str(path)
        ) from error


def prepare(lab: Lab, *, wanted: bool) -> None:
    """Write the whole span twice, as act_prep does."""
    if wanted:
        for salt in (False, True):
            lab.precondition(preparation(salt), label="salt" if salt else "zero")


def offer(lab: Lab, p: LoadParams, load: int, label: str, *, certain: bool = True) -> Step:
    """Run the load until its end, or until the drive falls behind by more than ACT allows."""
    workload = act_workload(
        p.act_config(load),
        arrivals=p.arrivals,
        threads=p.service_threads,
        logical_block_bytes=lab.logical_block_bytes,
        interval_ns=p.interval_s * NS_PER_S,
    )
    until = Until("lag", {"max_lag_sec": p.max_lag_sec}, lambda rows: bool(rows[-1].dropped))
    return lab.run(workload, label=label, until=until, certain=certain)


def rates_of(p: LoadParams, load: int | None = None) -> ActRates:
    """Return the derived rates as a result keeps them."""
    found = derive_rates(p.act_config(load))
    return ActRates(
        record_stored_bytes=found.record_stored_bytes,
        record_stored_range_max_bytes=found.record_stored_range_max_bytes,
        records_per_block=found.records_per_block,
        internal_read_reqs=found.reads,
        internal_write_reqs=found.internal_writes,
        large_block_reads=float(found.large_reads),
        large_block_writes=float(found.large_writes),
    )


def why_stopped(step: Step, p: LoadParams) -> str:
    """Return why a test ended before its time; empty if it did not."""
    summary = cast("dict[str, Any]", step.result.measurement)
    late = [each["name"] for each in summary["streams"] if _dropped(each)]
    if late:
        return f"{' and '.join(late)} fell further behind than allowed after {summary['elapsed_s']:.0f} s"
    if summary["elapsed_s"] < 0.999 * p.test_duration_sec:
        return f"it ended after {summary['elapsed_s']:.0f} s"
    return ""


def slices_of(data: Tables, step: Step, p: LoadParams, load: int | None = None) -> tuple[ActSlice, ...]:
    """Return the slices of a test by both clocks."""
    rows, buckets = data.rows(step), data.row_buckets(step)
    asked = float(derive_rates(p.act_config(load)).reads)
    mine = rows["stream"] == READS
    whole = rows["row"][mine & ~rows["partial"]]
    count = int(whole.max()) + 1 if whole.size else 0
    found = {}
    for clock in RULES.values():
        ours = (buckets["stream"] == READS) & (buckets["clock"] == clock)
        edges = (buckets["low_ns"][ours], buckets["high_ns"][ours], buckets["count"][ours])
        found[clock] = act_verdict.slices(
            buckets["row"][ours], edges, count, p.slice_sec // p.interval_s, p.slice_sec
        )
    done = _done_by_slice(rows, mine, p)
    return tuple(
        ActSlice(
            number=response.number,
            ios=done.get(response.number - 1, 0),
            rate=done.get(response.number - 1, 0) / p.slice_sec,
            asked=asked,
            response={str(ms): share for ms, share in response.over.items()},
            service={str(ms): share for ms, share in service.over.items()},
        )
        for response, service in zip(found["response"], found["service"], strict=True)
    )


def verdict_of(rule: Rule, slices: Sequence[ActSlice], stopped: str) -> ActVerdict:
    """Judge all slices by one rule: each has to pass, and to have been given the load."""
    shares = [getattr(each, RULES[rule]) for each in slices]
    worst = {str(ms): max((one[str(ms)] for one in shares), default=0.0) for ms in act_verdict.THRESHOLDS_MS}
    why = stopped or next(_failures(rule, slices), "")
    if not slices and not why:
        why = "the test is shorter than one slice"
    return ActVerdict(rule=rule, passed=not why, worst=worst, why=why)


def _failures(rule: Rule, slices: Sequence[ActSlice]) -> Iterator[str]:
    for each in slices:
        if each.done_share < act_verdict.LEAST_DONE:
            yield f"slice {each.number}: only {each.done_share:.1%} of the reads asked for were done"
        for ms, limit in act_verdict.LIMITS.items():
            share = getattr(each, RULES[rule])[str(ms)]
            if share >= limit:
                yield (
                    f"slice {each.number}: {share:.2%} of the reads took {ms} ms or longer, "
                    f"not under {limit:.1%}"
                )


def _dropped(stream: Mapping[str, Any]) -> int:
    return sum((stream.get(side) or {}).get("dropped", 0) for side in ("read", "write"))


def _done_by_slice(rows: Mapping[str, Any], mine: Any, p: LoadParams) -> dict[int, int]:  # noqa: ANN401
    done: dict[int, int] = {}
    for row, ios in zip(rows["row"][mine], rows["ios"][mine], strict=True):
        at = int(row) // (p.slice_sec // p.interval_s)
        done[at] = done.get(at, 0) + int(ios)
    return done
