"""Makes finished run folders of invented drives, for tests of what reads them (report, show, catalogue).

The invented drive answers a read in `latency_ns` and does at most `cap_iops`; its latencies are lognormal
and seeded. The figures of the manifest, the journal, `series.parquet` and `hist.parquet` agree with each
other, as those of a real run do. From the command line: `python tests/lab/synthetic.py FOLDER
[peak-random-read|peak-sequential-read|qd1]`.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np

from ssdlab.host.held_folder import HeldFolder
from ssdlab.methods.qd1.result import Qd1Result
from ssdlab.methods.sweeps.result import PeakResult
from ssdlab.model.host_load import HostLoad
from ssdlab.results import tables
from ssdlab.results.lines import journal_bytes
from ssdlab.results.records import BeginRecord, EndRecord, OpenRecord, StepResult, VoidRecord
from ssdlab.results.run_folder import JOURNAL, MANIFEST
from ssdlab.results.schema import (
    Attribution,
    DriveInfo,
    Manifest,
    MethodInfo,
    Metric,
    ParameterInfo,
    Point,
    Session,
    Spread,
    TableInfo,
    Warned,
)
from ssdlab.results.seal import file_digest, open_document, seal_document
from ssdlab.results.store import write_manifest

AT = "2026-11-21T09:00:00Z"
BOOT = "00000000-0000-0000-0000-000000000001"
DEPTHS = tuple(2**k for k in range(10))
PERCENTILES = (("p50", 50), ("p90", 90), ("p99", 99), ("p99.9", 99.9), ("p99.99", 99.99), ("p99.999", 99.999))
SAMPLES = 20_000


def bucket_edges(ns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Log-linear buckets of 64 to the octave: low and high (exclusive) edge of the bucket of each value."""
    octave = np.maximum(np.floor(np.log2(np.maximum(ns, 1))).astype(np.int64) - 6, 0)
    low = (ns.astype(np.int64) >> octave) << octave
    return low, low + (1 << octave)


class Run:
    """Collects steps and writes the folder."""

    def __init__(self, seed: int, seconds: int, latency_ns: float, cap_iops: float) -> None:
        self.random = np.random.default_rng(seed)
        self.seconds, self.latency_ns, self.cap_iops = seconds, latency_ns, cap_iops
        self.records: list = [OpenRecord(at=AT, boot_id=BOOT)]
        self.series: list[tables.Columns] = []
        self.hist: list[tables.Columns] = []
        self.ordinal = 0

    def point(self, label: str, direction: str, pattern: str, block: int, workers: int) -> Point:
        iops = min(workers / self.latency_ns * 1e9, self.cap_iops * min(1, 4096 / block * 4))
        mean = workers / iops * 1e9
        latencies = self.random.lognormal(np.log(mean) - 0.02, 0.2, SAMPLES)
        latencies[: SAMPLES // 1000] *= 8
        per_row = np.maximum(self.random.normal(iops, iops * 0.02, self.seconds), 1).astype(np.int64)
        ios = int(per_row.sum())
        quantiles = {
            name: float(np.percentile(latencies, p)) if ios * (1 - p / 100) >= 10 else None
            for name, p in PERCENTILES
        }
        service = {"min": latencies.min(), "mean": latencies.mean(), "max": latencies.max(), **quantiles}
        host = HostLoad(
            cores=2,
            threads=workers,
            cpu_busy_share=min(0.1 + workers / 300, 1),
            run_queue_delay_share=workers / 2000,
        )
        spread = Spread(
            n=self.seconds, min=per_row.min(), max=per_row.max(), mean=per_row.mean(), sd=float(per_row.std())
        )
        self._tables(direction, per_row, block, latencies, workers)
        summary = self._summary(direction, ios, block, service, workers)
        self._journal(label, {"workers": workers, "block_bytes": block}, summary, spread, host)
        limit = "host" if workers > host.cores * 16 else "drive"
        reasons = (f"{workers} threads on {host.cores} cores",) if limit == "host" else ()
        return Point(
            label=label,
            direction=direction,
            pattern=pattern,
            block_bytes=block,
            workers=workers,
            depth=1,
            engine="sync",
            ordinal=self.ordinal - 1,
            seconds=self.seconds,
            ios=ios,
            failed=0,
            iops=ios / self.seconds,
            mb_s=ios * block / self.seconds / 1e6,
            spread_iops=spread,
            in_flight=workers * 0.99,
            little_ratio=1.0,
            service_ns=service,
            response_ns=service,
            cpu_per_io_ns=4200.0,
            host=host,
            attribution=Attribution(limit=limit, reasons=reasons),
        )

    def _summary(self, direction: str, ios: int, block: int, service: dict, workers: int) -> dict:
        one = {
            "requested": ios,
            "ios": ios,
            "failed": 0,
            "dropped": 0,
            "late": 0,
            "bytes": ios * block,
            "errors": {},
            "service_ns": service,
            "response_ns": service,
        }
        return {
            "schema": "ssdlab.measurement/1",
            "iops": ios / self.seconds,
            "mb_s": ios * block / self.seconds / 1e6,
            "elapsed_s": float(self.seconds),
            "read": None,
            "write": None,
            "trim": None,
            direction: one,
            "intervals": self.seconds,
            "requested_iops": None,
            "in_flight": workers * 0.99,
            "cpu": {"user_s": 0.4, "sys_s": 3.8, "per_io_ns": 4200.0},
            "power": None,
            "seed": 7,
            "engine": "sync",
            "warnings": [],
            "drive": {"id": "SYNTH-1"},
        }

    def _journal(self, label: str, args: dict, summary: dict, spread: Spread, host: HostLoad) -> None:
        begin = BeginRecord(
            ordinal=self.ordinal,
            attempt=1,
            verb="run",
            label=label,
            args=args,
            hash="0" * 16,
            policy="restart",
            at=AT,
        )
        result = StepResult(seconds=self.seconds + 0.1, measurement=summary, spread_iops=spread, host=host)
        self.records += [begin, EndRecord(ordinal=self.ordinal, attempt=1, result=result, at=AT)]
        self.ordinal += 1

    def _tables(
        self, direction: str, per_row: np.ndarray, block: int, latencies: np.ndarray, workers: int
    ) -> None:
        n = len(per_row)
        p50, p99, p999 = np.percentile(latencies, (50, 99, 99.9))
        key = {"ordinal": self.ordinal, "attempt": 1, "stream": "main", "direction": direction}
        start = np.arange(n) * 1_000_000_000
        columns: dict = {
            **key,
            "row": np.arange(n),
            "start_ns": start,
            "end_ns": start + 1_000_000_000,
            "ramp": False,
            "partial": False,
            "paused": False,
            "ios": per_row,
            "bytes": per_row * block,
            "failed": 0,
            "dropped": 0,
            "late": 0,
            "in_flight_mean": workers * 0.99,
            "in_flight_max": workers,
        }
        for kind in ("service", "response"):
            columns |= {f"{kind}_p50_ns": p50, f"{kind}_p99_ns": p99, f"{kind}_p999_ns": p999}
            columns[f"{kind}_max_ns"] = latencies.max()
        self.series.append(
            {k: np.broadcast_to(np.asarray(v, dtype=object), (n,)) for k, v in columns.items()}
        )
        low, high = bucket_edges(latencies)
        edges, first, share = np.unique(low, return_index=True, return_counts=True)
        count = np.floor(share / len(latencies) * per_row.sum()).astype(np.int64)
        count[np.argmax(count)] += per_row.sum() - count.sum()
        for kind in ("service", "response"):
            self.hist.append(
                {
                    **{k: np.full(len(edges), v, dtype=object) for k, v in key.items()},
                    "row": np.full(len(edges), -1),
                    "clock": np.full(len(edges), kind, dtype=object),
                    "low_ns": edges,
                    "high_ns": high[first],
                    "count": count,
                }
            )

    def write(self, folder: Path, manifest: Manifest) -> Path:
        folder.mkdir(parents=True)
        (folder / JOURNAL).write_bytes(journal_bytes(self.records, manifest.run_id))
        infos = []
        for name, parts, columns in (
            (tables.SERIES, self.series, tables.SERIES_COLUMNS),
            (tables.HIST, self.hist, tables.HIST_COLUMNS),
        ):
            rows = tables.write(
                HeldFolder(folder, writing=True),
                name,
                tables.concatenate(parts, columns),
                columns,
                "ordinal, attempt, row",
            )
            infos.append(TableInfo(name=name, rows=rows, sha256=file_digest(HeldFolder(folder), name)))
        write_manifest(folder, manifest.model_copy(update={"tables": tuple(infos)}))
        return folder


def edited(folder: Path, **changes: object) -> None:
    """Change top-level fields of a run's manifest, whatever they then mean, and seal it anew."""
    path = folder / MANIFEST
    stored = json.loads(open_document(path.read_bytes())[0]) | changes
    path.write_text(seal_document(json.dumps(stored, indent=1, ensure_ascii=False)))


def make_finished_run(
    folder: Path,
    method: str = "peak-random-read",
    *,
    seed: int = 7,
    seconds: int = 60,
    latency_ns: float = 80_000.0,
    cap_iops: float = 200_000.0,
) -> Path:
    """Write a finished run of `method` into the new folder `folder/ID` and return that folder."""
    run = Run(seed, seconds, latency_ns, cap_iops)
    result = _qd1(run) if method == "qd1" else _peak(run, "random" if "random" in method else "sequential")
    at, first = next((at, each) for at, each in enumerate(run.records) if isinstance(each, BeginRecord))
    run.records[at:at] = [
        first.model_copy(update={"attempt": 0}),
        VoidRecord(ordinal=0, attempt=0, why="interrupted at the first attempt", at=AT),
    ]
    run_id = f"20261121-0900-{method}-{seed:08d}"
    return run.write(folder / run_id, _manifest(run_id, method, seconds, result.model_dump(mode="json")))


def _peak(run: Run, pattern: str) -> PeakResult:
    block = 4096 if pattern == "random" else 131072
    points = tuple(run.point(f"depth {depth}", "read", pattern, block, depth) for depth in DEPTHS)
    iops = [point.iops or 0 for point in points]
    best = int(np.argmax(iops))
    chosen = next(i for i, value in enumerate(iops) if value >= 0.95 * iops[best])
    name = f"{pattern}_read"
    scalars = (
        Metric(
            name=f"{name}_iops",
            label="IOPS at the reported depth",
            value=iops[chosen],
            unit="IOPS",
            better="higher",
        ),
        Metric(
            name=f"{name}_depth",
            label="reported depth",
            value=points[chosen].workers,
            unit="",
            better="lower",
        ),
    )
    return PeakResult(
        quick=False,
        direction="read",
        pattern=pattern,
        block_bytes=block,
        engine="sync",
        share=0.95,
        points=points,
        chosen=chosen,
        best=best,
        threshold_iops=0.95 * iops[best],
        sweep_min_iops=min(iops),
        sweep_max_iops=max(iops),
        scalars=scalars,
    )


def _qd1(run: Run) -> Qd1Result:
    corners = (
        ("random", "read", 4096),
        ("random", "write", 4096),
        ("sequential", "read", 131072),
        ("sequential", "write", 131072),
    )
    taken = tuple(
        run.point(f"{pattern} {direction}", direction, pattern, block, 1)
        for pattern, direction, block in corners
    )
    sizes = []
    for pattern, direction, _ in corners[:2]:
        for block in (512 * 2**k for k in range(12)):
            if block < 4096:
                sizes.append(
                    Point(
                        label=f"{pattern} {direction} {block} B",
                        direction=direction,
                        pattern=pattern,
                        block_bytes=block,
                        workers=1,
                        depth=1,
                        engine="sync",
                        missing="the drive's logical block is 4096 B",
                    )
                )
            else:
                sizes.append(run.point(f"{pattern} {direction} {block} B", direction, pattern, block, 1))
    scalars = tuple(
        Metric(
            name=f"qd1_{p.pattern}_{p.direction}_iops",
            label=p.label,
            value=p.iops,
            unit="IOPS",
            better="higher",
        )
        for p in taken
    )
    return Qd1Result(quick=False, engine="sync", corners=taken, block_sizes=tuple(sizes), scalars=scalars)


def _manifest(run_id: str, method: str, seconds: int, result: dict) -> Manifest:
    parameter = ParameterInfo(name="seconds", unit="s", reason="time at each depth", default=60, quick=3)
    info = MethodInfo(
        name=method,
        version=1,
        title=method.replace("-", " "),
        prose="An invented run.",
        destructive=False,
        needs=("span written",),
        conditions={"scheduler": "none"},
        parameters=(parameter,),
    )
    drive = DriveInfo(
        text="/dev/synth0",
        kind="block",
        id="SYNTH-1",
        name="Synthetic S1 <1 & 2>",
        capacity_bytes=2**40,
        logical_block_bytes=4096,
        identity={"model": "Synthetic S1", "serial": "SYNTH-1", "firmware": "1.0"},
    )
    warning = Warned(
        code="host-limited", what="more threads than cores from depth 4 on", advice="see the attribution"
    )
    return Manifest(
        run_id=run_id,
        status="finished",
        method=info,
        quick=False,
        params={"seconds": seconds},
        drive=drive,
        engine="sync",
        seed=7,
        environment={"kernel": "6.18", "cpu": {"model": "synthetic", "cores": 2}},
        tool={"version": "0.1.0", "profile": "release"},
        created=AT,
        sessions=(Session(started=AT, ended=AT, status="finished", boot_id=BOOT),),
        warnings=(warning,),
        result=result,
    )


if __name__ == "__main__":
    print(make_finished_run(Path(sys.argv[1]), *sys.argv[2:3]))
