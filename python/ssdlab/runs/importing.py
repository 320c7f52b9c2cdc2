"""Imports fio results as runs of the library; reads all files before it writes the first run.

Each file becomes a run, each job a step. A run id ends in letters derived from the file's SHA-256, so the
same file is recognised. The manifest is written last; a failure removes the folder.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from ssdlab.formats.fio.logs import Rows, is_log, over_time, without_result
from ssdlab.formats.fio.results import CLOCKS, load_of, load_words, read_fio
from ssdlab.host.documents import user_path
from ssdlab.host.durable import library_errors
from ssdlab.host.held_folder import HeldFolder
from ssdlab.lab.imported import (
    PROSE,
    Clock,
    ImportedFile,
    ImportedPoint,
    ImportedResult,
    ImportedSync,
)
from ssdlab.model.errors import LabError, Refused, UsageError, of_os
from ssdlab.model.units import and_listed
from ssdlab.results import tables
from ssdlab.results.compaction import close_run, write_table
from ssdlab.results.journal import boot_id, now, step_hash
from ssdlab.results.lease import RunLock
from ssdlab.results.lines import journal_bytes
from ssdlab.results.metric import Load, Metric, Qualifier, of_rows
from ssdlab.results.records import BeginRecord, EndRecord, OpenRecord, StepResult
from ssdlab.results.run_folder import JOURNAL, MANIFEST, read_manifest
from ssdlab.results.schema import DriveInfo, Latencies, Manifest, MethodInfo, Session, Spread
from ssdlab.results.settling import settling
from ssdlab.results.store import hold_library, make_run_folder, write_manifest
from ssdlab.results.tags import change_tags
from ssdlab.runs.provenance import tool

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from pydantic import JsonValue

    from ssdlab.formats.fio.logs import OverTime
    from ssdlab.formats.fio.results import FioResult, Job, Times
    from ssdlab.model.summary import Direction
    from ssdlab.results.records import AnyRecord

METHOD = "fio"
VERB = "import"
_LETTERS = "0123456789abcdefghjkmnpqrstvwxyz"
_ID_LETTERS = 6
_BEYOND = 10
"""Minimum number of I/Os beyond a percentile for it to count, as in every measurement."""
_OURS = {"clat": "service", "lat": "response"}
"""fio's clocks for which the tables of a run have columns, with the names of these columns."""
_SUFFIX = re.compile(r"\.[A-Za-z0-9]{1,8}")
_TERSE_CLOCK = "terse output does not name the clock of its percentiles; fio's default, clat, is assumed"


@dataclass(frozen=True)
class Import:
    """A file that was read, with its run.

    Attributes
    ----------
    known
        Folder of an earlier import of the same file; None if there is none.
    """

    path: Path
    manifest: Manifest
    result: ImportedResult
    journal: tuple[AnyRecord, ...]
    series: tables.Columns
    hist: tables.Columns
    known: Path | None = None


def read_imports(
    files: Sequence[Path], library: Path, *, drive: str | None = None, name: str | None = None
) -> list[Import]:
    """Read fio results, with the logs in the same folders.

    Parameters
    ----------
    files
        Result files, and optionally logs that one of them names.
    library
        Target library; nothing is written.
    drive
        Name of the drive; by default taken from the jobs.
    name
        New name of the job, for results with one job.

    Raises
    ------
    UsageError, HostError
        A file cannot be read or is given twice, or a log belongs to several results or none.
    """
    paths = [user_path(each) for each in files]
    read = [_read(path, drive, name) for path in paths if not is_log(path)]
    used = Counter(log.resolve() for _, logs in read for log in logs)
    if twice := next((log for log, times in used.items() if times > 1), None):
        raise UsageError(
            f"several of these results name {twice}, which holds only the I/Os of the last one",
            "put each result in a folder with its own logs",
            path=str(twice),
        )
    if lost := next((path for path in paths if is_log(path) and path.resolve() not in used), None):
        raise without_result(lost)
    found: dict[str, Import] = {}
    for each, _ in read:
        digest = each.result.files[0].sha256
        if digest in found:
            what = f"{each.path} is the same file as {found[digest].path}: it would count twice"
            raise UsageError(what, "give it once", path=str(each.path))
        found[digest] = _placed(each, library)
    return list(found.values())


def _read(path: Path, drive: str | None, name: str | None) -> tuple[Import, tuple[Path, ...]]:
    result = read_fio(path)
    jobs = list(over_time(result))
    if name is not None:
        names = sorted({each.job.name for each in jobs})
        if len(names) > 1:
            what = f"{path} has the jobs {and_listed(names)}, but --name is for one job"
            raise UsageError(what, "leave --name out, or import the file by itself", path=str(path))
        jobs = [replace(each, job=replace(each.job, name=name)) for each in jobs]
    logs = tuple(dict.fromkeys(log for each in jobs for log in each.files))
    files = tuple(map(_file, (path, *logs)))
    at = result.at or datetime.fromtimestamp(path.stat().st_mtime, UTC)
    return _made(result, jobs, files, at, drive or _drive_of(result)), logs


def _file(path: Path) -> ImportedFile:
    try:
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
            return ImportedFile(name=path.name, bytes=file.tell(), sha256=digest)
    except OSError as error:
        raise of_os(error, f"cannot read {path}", "check that file", path=str(path)) from error


def _drive_of(result: FioResult) -> str:
    """Return the drive that the jobs name: by file, by folder, or by the disks that fio used."""
    for option in ("filename", "directory"):
        if named := [text for each in result.jobs if (text := each.options.get(option))]:
            return ", ".join(dict.fromkeys(named))
    if result.disks:
        return ", ".join(f"/dev/{each}" for each in result.disks)
    raise UsageError(f"{result.path} does not name its drive", "name it: --drive NAME", path=str(result.path))


def _placed(found: Import, library: Path) -> Import:
    """Return the import with a new run id, or with the run already imported from the same file."""
    digest = found.result.files[0].sha256
    number = int(digest, 16)
    names = [each.name for each in library.iterdir()] if library.is_dir() else []
    while True:
        letters = ""
        for _ in range(_ID_LETTERS):
            number, at = divmod(number, len(_LETTERS))
            letters += _LETTERS[at]
        there = [library / each for each in names if each.endswith(f"-{METHOD}-{letters}")]
        runs = [each for each in there if (each / MANIFEST).is_file()]
        of_file = [each for each in runs if digest in str(read_manifest(each).result)]
        if of_file:
            stored = read_manifest(of_file[0])
            result = ImportedResult.model_validate(stored.result)
            return replace(found, known=of_file[0], manifest=stored, result=result)
        if not there:
            break
    stamp = datetime.fromisoformat(found.manifest.created).strftime("%Y%m%d-%H%M")
    manifest = found.manifest.model_copy(update={"run_id": f"{stamp}-{METHOD}-{letters}"})
    return replace(found, manifest=manifest)


def save_import(library: Path, found: Import, tags: Sequence[str] = ()) -> Path:
    """Write an import to the library as a finished run, and return its folder.

    If the file was imported before, only the tags are added.

    Raises
    ------
    Refused
        The file has changed since it was read.
    HostError
        The library cannot be written; nothing of this file remains.
    """
    from ssdlab.results import catalogue

    if found.known is not None:
        if tags:
            with HeldFolder(library, follow=True) as held, settling(held, runs=[found.known.name]):
                change_tags(found.known, tags)
        return found.known
    manifest = found.manifest
    folder = make_run_folder(library, manifest.run_id)
    try:
        lock = RunLock(folder)
        try:
            with library_errors(folder):
                content = found.path.read_bytes()
                if hashlib.sha256(content).hexdigest() != found.result.files[0].sha256:
                    raise Refused(
                        f"{found.path} has changed since it was read", "import it again once it is complete"
                    )
                lock.folder.replace(kept_as(found.path), content)
                lock.folder.replace(JOURNAL, journal_bytes(list(found.journal), manifest.run_id))
                written = (
                    (tables.SERIES, found.series, tables.SERIES_COLUMNS, "ordinal, direction, row"),
                    (tables.HIST, found.hist, tables.HIST_COLUMNS, "ordinal, direction, clock, low_ns"),
                )
                kept = tuple(write_table(lock.folder, *each) for each in written)
                for tag in tags:
                    change_tags(folder, [tag])
            manifest = write_manifest(lock.folder, manifest.model_copy(update={"tables": kept}))
            catalogue.add(library, folder)
            close_run(lock.folder, manifest)
        finally:
            lock.release()
    except BaseException:
        with suppress(LabError):  # the library may be unwritable for this, too
            catalogue.remove(library, folder.name)
        with hold_library(library) as place:
            place.remove_tree(folder.name)
        raise
    return folder


def kept_as(path: Path) -> str:
    """Return the name for the imported file in its run folder, where some names are reserved."""
    return f"imported{path.suffix}" if _SUFFIX.fullmatch(path.suffix) else "imported"


# --- contents of an imported run ---------------------------------------------------------------------------


def _made(
    result: FioResult, jobs: Sequence[OverTime], files: tuple[ImportedFile, ...], at: datetime, drive: str
) -> Import:
    moment = at.strftime("%Y-%m-%dT%H:%M:%SZ")
    points: list[ImportedPoint] = []
    syncs: list[ImportedSync] = []
    figures: list[Metric] = []
    journal: list[AnyRecord] = [OpenRecord(at=moment, boot_id=boot_id())]
    series, hist = [], []
    notes = [_TERSE_CLOCK] if result.terse else []
    labels = _labels([each.job for each in jobs])
    slugs = _slugs(labels)
    for ordinal, (each, label, slug) in enumerate(zip(jobs, labels, slugs, strict=True)):
        job = each.job
        own, sync = _points(each, label, ordinal), _sync(job, label, ordinal)
        points += own
        syncs += [sync] if sync else []
        notes += [f"{label}: {why}" for why in (*each.notes, *_lacking(job))]
        figures += [figure.qualified(_matter(job, ordinal)) for figure in _figures(job, own, sync, slug)]
        series += [_series(rows, label, ordinal, closed=not load_of(job.options).paced) for rows in each.rows]
        hist += list(_hist(job, label, ordinal))
        journal += _step(job, own, label, ordinal, moment)
    stored = ImportedResult(
        quick=False,
        scalars=tuple(figures),
        program=result.version,
        files=files,
        points=tuple(points),
        syncs=tuple(syncs),
        notes=tuple(dict.fromkeys(notes)),
    )
    manifest = Manifest(
        run_id="",
        status="finished",
        method=MethodInfo(
            name=METHOD,
            version=1,
            title="Imported from fio",
            prose=PROSE,
            destructive=any(set(each.job.sides) - {"read"} for each in jobs),
        ),
        quick=False,
        params={},
        drive=DriveInfo(
            text=drive,
            kind="imported",
            id=drive,
            name=drive,
            capacity_bytes=0,
            logical_block_bytes=0,
            identity={"kind": "imported"},
        ),
        engine=METHOD,
        seed=0,
        environment={"imported": now(), "fio": result.version, "disks": list(result.disks)},
        tool={**tool(), "imported_from": result.version},
        created=moment,
        sessions=(Session(started=moment, ended=moment, status="finished"),),
        result=stored.model_dump(mode="json"),
    )
    return Import(
        result.path,
        manifest,
        stored,
        tuple(journal),
        tables.concatenate(series, tables.SERIES_COLUMNS),
        tables.concatenate(hist, tables.HIST_COLUMNS),
    )


def _labels(jobs: Sequence[Job]) -> list[str]:
    """Return a label for each job: its name, with client and group where the name is not unique."""
    found: list[str] = []
    for job in jobs:
        of_host = [each for each in jobs if each.name == job.name]
        host = f" on {job.host}" if job.host and len(of_host) > 1 else ""
        alike = [each for each in of_host if each.host == job.host]
        group = f" of group {job.group}" if len({each.group for each in alike}) > 1 else ""
        label = f"{job.name or 'unnamed job'}{host}{group}"
        same = sum(each == label or each.startswith(f"{label} (") for each in found)
        found.append(f"{label} ({same + 1})" if same else label)
    return found


def _slugs(labels: Iterable[str]) -> list[str]:
    found: list[str] = []
    for label in labels:
        slug = re.sub(r"[^a-z0-9]+", "_", label.lower()).strip("_") or "job"
        same = sum(each == slug or each.startswith(f"{slug}__") for each in found)
        found.append(f"{slug}__{same + 1}" if same else slug)
    return found


def _points(each: OverTime, label: str, ordinal: int) -> list[ImportedPoint]:
    job = each.job
    asked = load_of(job.options)
    spreads = {rows.direction: _spread(rows) for rows in each.rows}
    found = []
    for direction, side in job.sides.items():
        clocks = {
            clock: _latencies(side.times[clock], side.counted) for clock in CLOCKS if clock in side.times
        }
        found.append(
            ImportedPoint(
                label=label if len(job.sides) == 1 else f"{label}, {direction}s",
                job=label,
                ordinal=ordinal,
                direction=direction,
                pattern=asked.pattern,
                block=asked.block,
                jobs=asked.jobs if asked.jobs and asked.jobs > job.threads else job.threads,
                depth=asked.depth,
                engine=asked.engine,
                seconds=side.runtime_ms / 1e3,
                ios=side.ios,
                bytes=side.bytes,
                short=side.short,
                dropped=side.dropped,
                iops=side.iops,
                mb_s=side.mb_s,
                spread_iops=spreads.get(direction),
                clock=_clock(clocks),
                clocks=clocks,
                closed=bool(job.options) and not asked.paced,
            )
        )
    return found


def _clock(clocks: dict[Clock, Latencies]) -> Clock | None:
    """Return the clock of the headline figures: the first with percentiles, preferably `lat`."""
    ours: tuple[Clock, ...] = ("lat", "clat")
    stated = [clock for clock in ours if clock in clocks]
    return next(
        (clock for clock in stated if any(name.startswith("p") for name in clocks[clock])),
        stated[0] if stated else None,
    )


def _latencies(times: Times, counted: float) -> Latencies:
    samples = counted if times.samples is None else times.samples
    found: Latencies = {"min": times.min_ns, "mean": times.mean_ns, "max": times.max_ns}
    for name, value in times.percentiles.items():
        beyond = samples - math.ceil(round(float(name[1:]) / 100 * samples, 6))
        found[name] = value if beyond >= _BEYOND else None
    return found


def _spread(rows: Rows) -> Spread | None:
    full = ~rows.partial
    if not full.any():
        return None
    iops = rows.ios[full] / (rows.end_ms - rows.start_ms)[full] * 1e3
    sd = float(iops.std(ddof=1)) if len(iops) > 1 else 0.0
    return Spread(n=len(iops), min=float(iops.min()), max=float(iops.max()), mean=float(iops.mean()), sd=sd)


def _sync(job: Job, label: str, ordinal: int) -> ImportedSync | None:
    if job.sync is None:
        return None
    return ImportedSync(
        label=f"{label}, syncs",
        job=label,
        ordinal=ordinal,
        syncs=job.sync.samples,
        latencies=_latencies(job.sync, job.sync.samples or 0),
    )


def _lacking(job: Job) -> Iterator[str]:
    """Yield which figures a job lacks, and why."""
    if job.mixed:
        yield "no figures: fio added up reads and writes (unified_rw_reporting), so neither is known"
    elif not job.sides:
        yield f"no figures: fio counted no I/O{f', and ended with: {job.error_words}' if job.error else ''}"
    elif job.error:
        yield f"fio ended with an error ({job.error_words}): its figures end there"
    untold = any("clat" in side.times and not side.times["clat"].percentiles for side in job.sides.values())
    if job.threads > 1 and untold:
        yield f"no percentiles: fio gave them per thread ({job.threads} threads), without bins (JSON+)"
    if job.sides and load_of(job.options).paced:
        yield "no response times: I/Os were paced, but fio's lat starts at submission"


def _matter(job: Job, ordinal: int) -> Iterator[Qualifier]:
    if job.error or job.errors:
        why = f"fio ended with: {job.error_words}" if job.error else f"{job.errors} I/Os failed"
        yield Qualifier(code="failed-io", steps=(ordinal,), why=why)
    yield Qualifier(code="imported")


def _figures(
    job: Job, points: Sequence[ImportedPoint], sync: ImportedSync | None, slug: str
) -> Iterator[Metric]:
    for point in points:
        asked = load_words(job.options)
        load = Load(threads=point.jobs, depth=point.depth or 1, options=asked) if asked else None
        name = f"{slug}_{point.direction}"
        of: dict[str, Any] = {"steps": (point.ordinal,), "load": load}
        yield Metric.more(
            f"{name}_iops",
            f"{point.label} IOPS",
            point.iops,
            "IOPS",
            varies=of_rows(point.iops, point.spread_iops),
            **of,
        )
        yield Metric.more(f"{name}_mb_s", f"{point.label} throughput", point.mb_s, "MB/s", **of)
        yield from _latency_figures(
            f"{name}_{point.clock}", f"{point.label} {point.clock}", point.latencies, of
        )
        if sync is not None:
            yield from _latency_figures(f"{slug}_sync", sync.label, sync.latencies, of)
            sync = None


def _latency_figures(name: str, label: str, stated: Latencies, of: dict[str, Any]) -> Iterator[Metric]:
    for key in ("mean", "p99", "p99.9"):
        if key in stated:
            yield Metric.less(f"{name}_{key}_ns", f"{label} {key}", stated[key], "ns", **of).sampled()


def _step(
    job: Job, points: Sequence[ImportedPoint], label: str, ordinal: int, moment: str
) -> Iterator[AnyRecord]:
    args: dict[str, JsonValue] = {"job": job.name, "options": dict(job.options)}
    seconds = max((side.runtime_ms for side in job.sides.values()), default=0) / 1e3
    result = StepResult(
        seconds=seconds,
        measurement=_summary(job, points, seconds),
        facts={**job.facts, "error": job.error, "failed": job.errors},
    )
    yield BeginRecord(
        ordinal=ordinal,
        attempt=1,
        verb=VERB,
        label=label,
        args=args,
        hash=step_hash(VERB, args),
        policy="restart",
        at=moment,
    )
    yield EndRecord(ordinal=ordinal, attempt=1, result=result, at=moment)


def _summary(job: Job, points: Sequence[ImportedPoint], seconds: float) -> dict[str, JsonValue] | None:
    """Return a job's measurement in ssdlab's form, for exports; None if fio does not give I/O counts."""
    if not points or any(point.ios is None for point in points):
        return None
    sides: dict[str, JsonValue] = {
        point.direction: {
            "requested": point.ios,
            "ios": point.ios,
            "bytes": point.bytes,
            "iops": point.iops,
            "mb_s": point.mb_s,
            "service_ns": dict(point.clocks.get("clat", {})),
            "response_ns": dict(point.clocks.get("lat", {})) if point.closed else {},
        }
        for point in points
    }
    rates: dict[str, JsonValue] = {
        "iops": sum(point.iops for point in points),
        "mb_s": sum(point.mb_s for point in points),
        "elapsed_s": seconds,
        "engine": METHOD,
    }
    return rates | sides


def _key(lines: int, label: str, direction: Direction, ordinal: int) -> dict[str, Any]:
    return {
        "ordinal": np.full(lines, ordinal, dtype=np.int32),
        "attempt": np.ones(lines, dtype=np.int32),
        "stream": np.full(lines, label, dtype=np.object_),
        "direction": np.full(lines, direction, dtype=np.object_),
    }


def _series(rows: Rows, label: str, ordinal: int, *, closed: bool) -> tables.Columns:
    lines = len(rows.ios)
    nothing = np.zeros(lines, dtype=np.int64)
    unknown = np.full(lines, np.nan)
    columns = {
        **_key(lines, label, rows.direction, ordinal),
        "row": np.arange(lines, dtype=np.int32),
        "start_ns": (rows.start_ms * 1e6).astype(np.int64),
        "end_ns": (rows.end_ms * 1e6).astype(np.int64),
        "ios": rows.ios,
        "bytes": rows.bytes,
        "partial": rows.partial,
        **{name: nothing for name in ("failed", "dropped", "late", "in_flight_max")},
        **{name: nothing.astype(np.bool_) for name in ("ramp", "paused")},
        "in_flight_mean": unknown,
    }
    for clock, ours in _OURS.items():
        for name, column in {"p50": "p50", "p99": "p99", "p99.9": "p999", "max": "max"}.items():
            stated = rows.quantiles.get((cast("Clock", clock), name), unknown)
            columns[f"{ours}_{column}_ns"] = stated if closed or ours == "service" else unknown
    return columns


def _hist(job: Job, label: str, ordinal: int) -> Iterator[tables.Columns]:
    for direction, side in job.sides.items():
        for clock, ours in _OURS.items():
            stated = side.times.get(cast("Clock", clock))
            if stated is None or stated.bins is None or (ours == "response" and load_of(job.options).paced):
                continue
            edges = sorted(stated.bins.counts)
            yield {
                **_key(len(edges), label, direction, ordinal),
                "row": np.full(len(edges), tables.TOTAL_ROW, dtype=np.int32),
                "clock": np.full(len(edges), ours, dtype=np.object_),
                "low_ns": np.array([low for low, _ in edges]) * stated.bins.unit_ns,
                "high_ns": np.array([high for _, high in edges]) * stated.bins.unit_ns,
                "count": np.array([stated.bins.counts[each] for each in edges]),
            }
