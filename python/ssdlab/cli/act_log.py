"""`ssdlab act log`: a run as ACT's own log."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ssdlab.cli.act import config_of_run
from ssdlab.cli.output import print_line
from ssdlab.model.errors import UsageError

if TYPE_CHECKING:
    import numpy.typing as npt

    from ssdlab.methods.results.act import ActResult
    from ssdlab.results.run_folder import RunFolder

STORAGE = {
    "reads": (("service", "read"),),
    "{device}-reads": (("service", "read"),),
    "large-block-reads": (("large-block-reads", "read"),),
    "large-block-writes": (("large-block-writes", "write"),),
    "writes": (("service", "write"),),
    "{device}-writes": (("service", "write"),),
}
"""Histograms of act_storage, and the streams and directions that they count."""
INDEX = {
    "reads": (("service", "read"), ("cache", "read")),
    "{device}-reads": (("service", "read"), ("cache", "read")),
    "writes": (("cache", "write"),),
    "{device}-writes": (("cache", "write"),),
}
Clock = Literal["service", "response"]


def log(
    run: str, /, *, clock: Clock = "service", output: Path | None = None, library: Path | None = None
) -> None:
    """Print what ACT would have printed of a run of act or act-index: act_latency.py reads it.

    Parameters
    ----------
    run
        The run: its folder, its id, or the beginning of its id or of its last letters.
    clock
        From when an I/O counts: service, when a thread issued it, as in ACT 6; response, when it was due.
    output
        Write it here, not to stdout. A file that exists is not overwritten.
    library
        Folder of runs; by default ssdlab/runs in the XDG data folder.
    """
    from ssdlab.cli.act import write_new

    lines = "\n".join(_lines(run, clock, library))
    if output is None:
        print_line(lines)
    else:
        write_new(output, lines + "\n")
        print_line(f"written: {output}")


def _lines(run: str, clock: Clock, library: Path | None) -> Iterator[str]:
    from ssdlab.cli.act import act_run
    from ssdlab.formats.act.log import act_log

    folder, result = act_run(run, library)
    rows = folder.rows(result.ordinal)
    whole = rows["end_ns"] <= result.asked_s * 1e9
    count = int(rows["row"][whole].max()) + 1 if whole.any() else 0
    if not count:
        raise UsageError(f"run {run} has no whole row", "a longer one has", run=run)
    seconds = round(int(rows["end_ns"].min()) / 1e9)
    drive = folder.manifest.drive
    config = replace(config_of_run(result), device_names=(drive.text,), report_interval_sec=seconds)
    remark = (
        f"# Written by ssdlab of its run {folder.manifest.run_id}: what {result.program} would have printed. "
        f"Latency counts from when an I/O was {'issued' if clock == 'service' else 'due'}."
    )
    title = f"ACT version {result.act_version}"
    found = f"{drive.text} size = {drive.capacity_bytes} bytes"
    if result.program == "act_storage":
        blocks = drive.capacity_bytes // (1024 * int(str(result.config["large_block_op_kbytes"])))
        found += f", {blocks} large blocks, minimum IO size = {drive.logical_block_bytes} bytes"
    yield from act_log(config, title, found, _counts(folder, result, clock, count), remark)


def _counts(
    folder: RunFolder, result: ActResult, clock: Clock, rows: int
) -> Mapping[str, npt.NDArray[np.int64]]:
    from ssdlab.formats.act.log import power_counts

    buckets: Mapping[str, Any] = folder.histograms(result.ordinal, by_row=True)
    drive = folder.manifest.drive
    found: dict[str, npt.NDArray[np.int64]] = {}
    for name, counted in (INDEX if result.program == "act_index" else STORAGE).items():
        mine = np.zeros(len(buckets["row"]), dtype=bool)
        for stream, direction in counted:
            mine |= (buckets["stream"] == stream) & (buckets["direction"] == direction)
        mine &= (buckets["clock"] == clock) & (buckets["row"] < rows)
        if mine.any():
            edges = (buckets["low_ns"][mine], buckets["high_ns"][mine], buckets["count"][mine])
            found[name.format(device=drive.text)] = power_counts(buckets["row"][mine], edges, rows)
    return found
