"""A run as a reader sees it in a terminal, and as `--json` gives it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ssdlab import units
from ssdlab.analysis.efficiency import efficiency
from ssdlab.analysis.rated_shares import rated_shares
from ssdlab.cli.output import paint, print_fields, print_line, print_table
from ssdlab.cli.showing_act import print_act, print_search
from ssdlab.cli.showing_client import print_paced, print_trim
from ssdlab.cli.showing_power import power_cells, print_power
from ssdlab.cli.showing_pts import print_pts
from ssdlab.cli.showing_trace import print_trace
from ssdlab.drive_steps import told
from ssdlab.results.act import ActResult, ActSearchResult
from ssdlab.results.client import PacedBurstResult, TrimResult
from ssdlab.results.outcome import (
    ConsistencyResult,
    FillResult,
    MixedResult,
    PointsResult,
    RateLimitResult,
    SuiteResult,
)
from ssdlab.results.pts import PtsResult
from ssdlab.results.replay import TraceResult
from ssdlab.results.schema import JobResult, MeasureResult, PeakResult, Point, Qd1Result
from ssdlab.results.store import actual_status, run_words, short_id
from ssdlab.unfinished import finished_steps

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ssdlab.analysis.rated_shares import RatedShare
    from ssdlab.results.run_folder import RunFolder
    from ssdlab.results.schema import Manifest, Warned
    from ssdlab.results.variant import VariantInfo

SCHEMA = "ssdlab.show/1"
_TAILS = ("mean", "p99", "p99.99")
_ENGINES = {"sync": "threads of one synchronous I/O", "uring": "io_uring", "sim": "simulated"}


def as_json(run: RunFolder) -> dict[str, Any]:
    """Return a run as JSON holds it: manifest, finished steps, voided attempts, notes."""
    manifest = run.manifest.model_dump(mode="json", by_alias=True)
    manifest["status"] = actual_status(run.path, run.manifest)
    return {
        "schema": SCHEMA,
        "run": run.manifest.run_id,
        "folder": str(run.path),
        "status": manifest["status"],
        "result": manifest["result"],
        "rated": [
            {
                "figure": each.figure.name,
                "value": each.figure.value,
                "unit": each.figure.unit,
                "metric": each.rated.metric,
                "rated": each.rated.value,
                "state": each.rated.state,
                "source": each.rated.source,
                "share": each.share,
            }
            for each in shares_of(run)
        ],
        "manifest": manifest,
        "steps": [
            {"ordinal": s.ordinal, "attempt": s.attempt, "verb": s.verb, "label": s.label}
            | {"result": s.result.model_dump(mode="json")}
            for s in run.steps()
        ],
        "voided": [
            {"ordinal": v.ordinal, "attempt": v.attempt, "label": v.label, "why": v.why} for v in run.voided()
        ],
        "notes": [note.model_dump() for note in run.notes()],
    }


def print_result(run: RunFolder) -> None:
    """Print a run: header, result, what to know about it, notes."""
    manifest = run.manifest
    status = actual_status(run.path, manifest)
    print_line(f"{manifest.method.title}: {manifest.drive.name}", "bold")
    print_fields(_header(manifest, status))
    if run.result is None:
        _print_unfinished(run, status)
    elif isinstance(run.result, SuiteResult):
        from ssdlab.cli.suites import print_suite

        print_suite(run, run.result)
    elif isinstance(run.result, PeakResult):
        _print_peak(run.result)
    elif isinstance(run.result, Qd1Result):
        _print_points(run.result.corners)
        _print_points(run.result.block_sizes)
    elif isinstance(run.result, JobResult | PointsResult):
        _print_points(run.result.points)
    elif isinstance(run.result, MixedResult):
        _print_mixed(run.result)
    elif isinstance(run.result, ConsistencyResult):
        _print_consistency(run.result)
    elif isinstance(run.result, FillResult):
        _print_fill(run.result)
    elif isinstance(run.result, RateLimitResult):
        _print_rates(run.result)
    elif isinstance(run.result, TrimResult):
        print_trim(run.result)
    elif isinstance(run.result, PacedBurstResult):
        print_paced(run.result)
    elif isinstance(run.result, PtsResult):
        print_pts(run.result)
    elif isinstance(run.result, ActResult):
        print_act(run.result)
    elif isinstance(run.result, ActSearchResult):
        print_search(run.result)
    elif isinstance(run.result, TraceResult):
        print_trace(run.result)
    elif isinstance(run.result, MeasureResult):
        from ssdlab.cli.figures import print_measurement

        print_line()
        print_measurement(run.result.measurement)
    _print_ratings(run)
    _print_proofs(run)
    _print_remarks(run)


def _print_ratings(run: RunFolder) -> None:
    """Print each result that has a rating as a share of it."""
    shares = shares_of(run)
    if not shares:
        return
    print_line()
    print_table([rating_row(each.figure.label, each) for each in shares], ("rated", "", "", ""), right=(1,))


def rating_row(name: str, each: RatedShare) -> tuple[str, str, str, str]:
    """Return a row that tells a result as a share of its rating."""
    return (
        name,
        units.figure_text(each.figure.value, each.figure.unit),
        f"{each.share:.0%} of the rated {units.figure_text(each.rated.value, each.unit)}",
        f"{each.rated.state or 'state not said'}, {each.rated.source}",
    )


def shares_of(run: RunFolder) -> tuple[RatedShare, ...]:
    """Return the headline figures of a run as shares of what the drive is rated for."""
    return () if run.result is None else rated_shares(run.result.scalars, run.manifest.ratings)


def _header(manifest: Manifest, status: str) -> list[tuple[str, object]]:
    drive = manifest.drive
    return [
        ("run", f"{manifest.run_id} (short: {short_id(manifest.run_id)}), {status}"),
        ("drive", f"{drive.text}, {units.capacity_text(drive.capacity_bytes)}, {drive.id}"),
        ("variant", None if drive.variant is None else _variant(drive.variant)),
        ("engine", _ENGINES.get(manifest.engine, manifest.engine)),
        ("begun", manifest.created),
        ("quick", "yes: see what it costs below" if manifest.quick else None),
    ]


def _variant(variant: VariantInfo) -> str:
    """Say what was made of the drive, and by what its spare."""
    words, usable = list(variant.words), variant.usable
    if usable is not None:
        size = units.capacity_text(usable.length)
        words.append(f"{size} used, {100 * usable.spare:.3g} % of the {usable.of} spare by the {usable.by}")
    return ", ".join(words)


def _print_unfinished(run: RunFolder, status: str) -> None:
    if run.manifest.children:
        _print_unfinished_suite(run, status)
        return
    print_line()
    finished = len(run.steps())
    counted = "1 step is" if finished == 1 else f"{finished} steps are"
    print_line(f"{counted} finished; there is no result yet.")
    if run.manifest.failure is not None:
        print_line(f"It stopped: {run.manifest.failure.what}")
    if status != "running" and (points := finished_steps(run).points):
        _print_points(points)
        print_line()
    verb = "watch" if status == "running" else "resume"
    print_line(f"ssdlab {verb} {run_words(run.path)}")


def _print_unfinished_suite(run: RunFolder, status: str) -> None:
    from ssdlab.cli.suites import print_suite_state

    print_suite_state(run)
    if run.manifest.failure is not None:
        print_line(f"It stopped: {run.manifest.failure.what}")
    print_line(f"ssdlab {'watch' if status == 'running' else 'resume'} {run_words(run.path)}")


def _print_peak(result: PeakResult) -> None:
    chosen, best = result.points[result.chosen], result.points[result.best]
    print_line()
    print_line(
        f"{units.count_text(chosen.iops or 0)} IOPS, {units.throughput_text(chosen.mb_s or 0)} at depth "
        f"{chosen.in_flight_asked}: the lowest with {result.share:.0%} of the best "
        f"({units.count_text(best.iops or 0)} IOPS at depth {best.in_flight_asked})",
        "bold",
    )
    _print_points(result.points, mark=result.chosen)


def _print_mixed(result: MixedResult) -> None:
    print_line()
    rows = []
    for point in result.points:
        name = f"{point.read_pct} % reads, depth {point.depth}"
        marked = point.read_pct == result.headline_read_pct
        speeds = (units.throughput_text(each) for each in (point.mb_s, point.read_mb_s, point.write_mb_s))
        power = power_cells(point.mean_w, efficiency("mixed", point.iops, point.mb_s, point.mean_w))
        rows.append((f"{name} {paint('<', 'accent')}" if marked else name, *speeds, *power))
    print_table(rows, ("", "throughput", "reads", "writes", "power", "efficiency"), right=(1, 2, 3, 4, 5))


def _print_consistency(result: ConsistencyResult) -> None:
    print_line()
    rows = [
        (
            f"{entry.name}, {part.name}",
            units.span_text(part.from_s),
            *(units.count_text(each) for each in (part.floor, part.p1, part.mean, part.deviation)),
        )
        for entry in result.entries
        for part in entry.stretches
    ]
    print_table(rows, ("IOPS", "from", "floor", "1 %", "mean", "deviation"), right=(1, 2, 3, 4, 5))
    for entry in result.entries:
        found = efficiency("random", entry.iops, entry.mb_s, entry.mean_w)
        print_power(f"{entry.name}, all of it: ", entry.mean_w, found)


def _print_fill(result: FillResult) -> None:
    print_line()
    speeds = [units.throughput_text(each) for each in (result.mean_mb_s, result.last_mb_s)]
    print_line(f"{speeds[0]} over the whole drive, {speeds[1]} over its last 16 GB", "bold")
    print_power("", result.mean_w, efficiency("sequential", 0.0, result.mean_mb_s, result.mean_w))
    if result.cache_bytes is None:
        print_line("no end of a cache was found")
        return
    before, after = (units.throughput_text(each or 0.0) for each in (result.before_mb_s, result.after_mb_s))
    print_line(
        f"a cache ends after {units.capacity_text(result.cache_bytes)}: {before} before, {after} after"
    )


def _print_rates(result: RateLimitResult) -> None:
    print_line()
    bound = f"{result.percentile} under {units.latency_text(result.bound_ns)}"
    held = "no rate" if result.highest_held is None else f"{units.count_text(result.highest_held)} IOPS"
    print_line(f"{held} with {bound}", "bold")
    print_line()
    rows = [
        (
            units.count_text(each.rate),
            *(_latency(each.response_ns.get(key)) for key in ("mean", "p99", "p99.9")),
            "held" if each.held else each.why,
        )
        for each in result.tries
    ]
    print_table(rows, ("offered IOPS", "mean", "p99", "p99.9", ""), right=(0, 1, 2, 3))


def _print_points(points: Sequence[Point], mark: int | None = None) -> None:
    print_line()
    rows: list[tuple[str, ...]] = []
    metered = any(point.mean_w is not None for point in points)
    heads = ("", "IOPS", "throughput", *_TAILS, *(("power", "efficiency") if metered else ()), "")
    for index, point in enumerate(points):
        name = f"{point.label} {paint('<', 'accent')}" if index == mark else point.label
        if point.missing is not None:
            rows.append((name, "-", *("" for _ in heads[3:]), point.missing))
            continue
        limit = point.attribution.limit if point.attribution else ""
        tails = [_latency((point.response_ns or {}).get(key)) for key in _TAILS]
        iops, mb_s = units.count_text(point.iops or 0), units.throughput_text(point.mb_s or 0)
        power = power_cells(point.mean_w, point.efficiency) if metered else ()
        rows.append((name, iops, mb_s, *tails, *power, "host in the tail" if limit == "host" else ""))
    print_table(rows, heads, right=range(1, len(heads) - 1))


def _grouped(warnings: Iterable[Warned]) -> list[str]:
    """Return one line for each kind of warning; all of them are in --json and on the report page."""
    by_code: dict[str, list[Warned]] = {}
    for warned in warnings:
        by_code.setdefault(warned.code, []).append(warned)
    return [
        each[0].what + (f" (and {len(each) - 1} more such steps)" if len(each) > 1 else "")
        for each in by_code.values()
    ]


def _latency(latency_ns: float | None) -> str:
    return "-" if latency_ns is None else units.latency_text(latency_ns)


def _print_proofs(run: RunFolder) -> None:
    """Print what purges and trims came to."""
    found = [(step.label, text) for step in run.steps() if (text := told(step)) is not None]
    if found:
        print_line()
        print_fields(found)


def _print_remarks(run: RunFolder) -> None:
    manifest = run.manifest
    result = run.result
    lines = [("caveat", text) for text in (result.caveats if result is not None else ())]
    lines += [("departure", f"{each.what}. {each.why}") for each in manifest.departures]
    lines += [("warning", text) for text in _grouped(manifest.warnings)]
    lines += [("voided", f"step {v.ordinal + 1}, attempt {v.attempt}: {v.why}") for v in run.voided()]
    lines += [("note", f"{each.at}  {each.text}") for each in run.notes()]
    if lines:
        print_line()
    for kind, text in lines:
        print_line(f"{paint(kind + ':', 'warn')} {text}")
