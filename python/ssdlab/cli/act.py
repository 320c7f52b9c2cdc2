"""`ssdlab act`: configuration files of Aerospike ACT, a run as its log, and results in a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from ssdlab.cli.completers import RunName
from ssdlab.cli.kinds import RunText, Settings, Times
from ssdlab.cli.output import print_json, print_line, say
from ssdlab.formats.act import IndexConfig, StorageConfig, derived, options
from ssdlab.formats.act_files import act_log, changed, config_of, echo, power_counts, write_config
from ssdlab.host.output_files import write_new
from ssdlab.model.errors import UsageError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from ssdlab.formats.act import ActConfig
    from ssdlab.methods.act.result import ActResult
    from ssdlab.results.run_folder import RunFolder


SCHEMA = "ssdlab.act-config/1"
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


def show(file: Path, /, *, index: bool = False, json: bool = False) -> None:
    """Tell what a configuration file of ACT says, and the load that ACT derives from it.

    Parameters
    ----------
    file
        The file.
    index
        It is one of act_index; without, of act_storage.
    json
        Print JSON, schema ssdlab.act-config/1.
    """
    read = _read(file, index)
    tell_of_no_drive(read)
    _print(read, json=json)


def config(
    *,
    file: Path | None = None,
    run: RunText = None,
    index: bool = False,
    load: Times = 1,
    device: Annotated[tuple[str, ...], Parameter(metavar="DRIVE", negative=())] = (),
    set: Settings = (),
    output: Path | None = None,
    library: Path | None = None,
    json: bool = False,
) -> None:
    """Write a configuration file for the original ACT: of defaults, of another file, or of a run.

    It has every option, in ACT's own order and without comments, so that it reads back as the same.

    Parameters
    ----------
    file
        Begin with this file's options.
    run
        Begin with the options of this run of act or act-index.
    index
        Write one for act_index; without, for act_storage. A run says it by itself.
    load
        N of Nx: the two rates so many times.
    device
        Drive that the file names, which ACT will overwrite. May be given several times.
    set
        Set an option: --set record-bytes=4096. May be given several times.
    output
        Write it here, not to stdout. A file that exists is not overwritten.
    library
        Folder of runs; by default ssdlab/runs in the XDG data folder.
    json
        Print JSON, schema ssdlab.act-config/1.
    """
    if file is not None and run is not None:
        raise UsageError("--file and --run are two beginnings", "give one of them")
    begun = config_of_run(act_run(run, library)[1]) if run is not None else _read(file, index)
    made = changed(begun, _settings(set), load=load, devices=device)
    tell_of_no_drive(made)
    if output is not None:
        write_new(output, write_config(made))
    if json:
        _print(made, json=True)
    elif output is None:
        print_line(write_config(made).rstrip("\n"))
    else:
        print_line(f"written: {output}")


def tell_of_no_drive(made: ActConfig) -> None:
    """Say that the original refuses the file as it is: a run's drive need not be there for it."""
    if not made.device_names:
        say("it names no drive, and the original refuses it so: give --device, or write device-names into it")


def _read(file: Path | None, index: bool) -> StorageConfig | IndexConfig:
    program: type[StorageConfig | IndexConfig] = IndexConfig if index else StorageConfig
    return program() if file is None else config_of(file, program)


def act_run(run: str, library: Path | None) -> tuple[RunFolder, ActResult]:
    """Return a finished run of act or act-index."""
    from ssdlab.cli.ordering import library_of
    from ssdlab.lab.outcome import read_result
    from ssdlab.methods.act.result import ActResult
    from ssdlab.results.run_folder import RunFolder
    from ssdlab.results.store import find_run

    folder = RunFolder(find_run(run, library_of(library)))
    folder.verify()
    result = read_result(folder)
    if not isinstance(result, ActResult):
        raise UsageError(f"run {run} is no finished run of act or act-index", "name one that is", run=run)
    return folder, result


def config_of_run(result: ActResult) -> StorageConfig | IndexConfig:
    """Return the options that a run had, as the original takes them."""
    options: dict[str, Any] = dict(result.config)
    return IndexConfig(**options) if result.program == "act_index" else StorageConfig(**options)


def _settings(words: tuple[str, ...]) -> dict[str, str]:
    from ssdlab.cli.ordering import settings

    return {name.replace("_", "-"): value for name, value in settings(words).items()}


def _print(made: ActConfig, *, json: bool) -> None:
    if not json:
        print_line(echo(made).rstrip("\n"))
        return
    print_json(
        {
            "schema": SCHEMA,
            "program": made.program,
            "device_names": list(made.device_names),
            "options": options(made),
            "derived": derived(made),
        }
    )


def log(
    run: RunName, /, *, clock: Clock = "service", output: Path | None = None, library: Path | None = None
) -> None:
    """Print what ACT would have printed of a run of act or act-index: act_latency.py reads it.

    Parameters
    ----------
    run
        The run: its folder, its id, the beginning of its id or of its last letters, or `last`.
    clock
        From when an I/O counts: service, when a thread issued it, as in ACT 6; response, when it was due.
    output
        Write it here, not to stdout. A file that exists is not overwritten.
    library
        Folder of runs; by default ssdlab/runs in the XDG data folder.
    """
    folder, result = act_run(run, library)
    lines = "\n".join(log_lines(folder, result, clock))
    if output is None:
        print_line(lines)
    else:
        write_new(output, lines + "\n")
        print_line(f"written: {output}")


def log_lines(folder: RunFolder, result: ActResult, clock: Clock) -> Iterator[str]:
    """Yield what ACT would have printed of a test."""
    run = folder.manifest.run_id
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
    if isinstance(config, StorageConfig):
        blocks = drive.capacity_bytes // (1024 * config.large_block_op_kbytes)
        found += f", {blocks} large blocks, minimum IO size = {drive.logical_block_bytes} bytes"
    yield from act_log(config, title, found, _counts(folder, result, clock, count), remark)


def _counts(
    folder: RunFolder, result: ActResult, clock: Clock, rows: int
) -> Mapping[str, npt.NDArray[np.int64]]:
    import numpy as np  # a tenth of a second, which the other commands need not wait for

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
