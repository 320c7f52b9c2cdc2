"""`ssdlab act`: read and write the files of Aerospike ACT: configurations, logs and bundles to publish."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping
from dataclasses import replace
from hashlib import sha256
from json import dumps, loads
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from ssdlab.analysis.act import LIMITS
from ssdlab.cli.completion import RunName
from ssdlab.cli.flags import Library, RunText, Settings, Times
from ssdlab.cli.output import print_json, print_line, say, table
from ssdlab.formats.act import IndexConfig, StorageConfig, derived, options
from ssdlab.formats.act_files import act_log, changed, config_of, echo, power_counts, write_config
from ssdlab.host.output_files import write_new
from ssdlab.model.errors import UsageError
from ssdlab.model.units import ends_text, fixed_share_text, share_text, span_text

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from ssdlab.formats.act import ActConfig
    from ssdlab.methods.act.result import ActResult, ActTry, ActVerdict
    from ssdlab.results.records import AnyRecord
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
    """Show the options in an ACT configuration file, and the load ACT derives from them.

    Parameters
    ----------
    file
        The file.
    index
        Read it as an act_index file [default: act_storage].
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
    device: Annotated[tuple[str, ...], Parameter(metavar="DRIVE")] = (),
    set: Settings = (),
    output: Path | None = None,
    library: Library = None,
    json: bool = False,
) -> None:
    """Write a configuration file for the original ACT: from defaults, another file, or a run.

    It lists every option in ACT's order, without comments.

    Parameters
    ----------
    file
        Start from this file's options.
    run
        Start from the options of this act or act-index run.
    index
        Write an act_index file [default: act_storage, or what the run used].
    load
        The N of Nx: multiply both rates by N.
    device
        Drive to name in the file; ACT will overwrite it. May be given several times.
    set
        Set an option: --set record-bytes=4096. May be given several times.
    output
        File to write instead of stdout; an existing file is not overwritten.
    json
        Print JSON, schema ssdlab.act-config/1.
    """
    if file is not None and run is not None:
        raise UsageError("--file and --run cannot be combined", "give one of them")
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
    """Warn if the file names no drive, because the original ACT refuses such a file."""
    if not made.device_names:
        say("the file names no drive, so ACT will refuse it: give --device, or add device-names to the file")


def _read(file: Path | None, index: bool) -> StorageConfig | IndexConfig:
    program: type[StorageConfig | IndexConfig] = IndexConfig if index else StorageConfig
    return program() if file is None else config_of(file, program)


def act_run(run: str, library: Path | None) -> tuple[RunFolder, ActResult]:
    """Check a finished act or act-index run against its seals, and return its folder and result."""
    from ssdlab.cli.ordering import library_of
    from ssdlab.lab.outcome import read_result
    from ssdlab.methods.act.result import ActResult
    from ssdlab.results.run_folder import RunFolder
    from ssdlab.results.store import find_run

    folder = RunFolder(find_run(run, library_of(library)))
    folder.verify()
    result = read_result(folder)
    if not isinstance(result, ActResult):
        raise UsageError(
            f"run {run} is not a finished act or act-index run",
            "name a finished one: see ssdlab runs",
            run=run,
        )
    return folder, result


def config_of_run(result: ActResult) -> StorageConfig | IndexConfig:
    """Return the ACT options that a run used."""
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


LOG_SCHEMA = "ssdlab.act-log/1"


def log(
    run: RunName,
    /,
    *,
    clock: Clock = "service",
    output: Path | None = None,
    library: Library = None,
    json: bool = False,
) -> None:
    """Print an act or act-index run as an ACT log, which act_latency.py reads.

    Parameters
    ----------
    run
        The run: its folder, its id, a prefix of the id or of its last letters, or `last`.
    clock
        Start of an I/O's latency: service (when issued, as ACT 6) or response (when due).
    output
        File to write instead of stdout; an existing file is not overwritten.
    json
        Print JSON, schema ssdlab.act-log/1: the `log`, or with --output its `path`.
    """
    folder, result = act_run(run, library)
    text = "\n".join(log_lines(folder, result, clock))
    if output is not None:
        write_new(output, text + "\n")
    if json:
        whole = {"log": text} if output is None else {"path": str(output.absolute())}
        print_json({"schema": LOG_SCHEMA, "run": folder.manifest.run_id, "clock": clock, **whole})
    elif output is None:
        print_line(text)
    else:
        print_line(f"written: {output}")


def log_lines(folder: RunFolder, result: ActResult, clock: Clock) -> Iterator[str]:
    """Yield an ACT log of the run, from the rows that ended within the requested time."""
    run = folder.manifest.run_id
    rows = folder.rows(result.ordinal)
    whole = rows["end_ns"] <= result.asked_s * 1e9
    count = int(rows["row"][whole].max()) + 1 if whole.any() else 0
    if not count:
        raise UsageError(f"run {run} is shorter than one row of the log", "use a longer run", run=run)
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
    import numpy as np  # takes 0.1 s to import, and other commands do not need it

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


BUNDLE_SCHEMA = "ssdlab.act-bundle/2"
"""Version 2: verdicts are words, only a 24 h test can have `passed`, and tester and dates are added."""
UNKNOWN = "unknown"


def bundle(
    run: RunName,
    /,
    *,
    output: Path,
    device: Annotated[tuple[str, ...], Parameter(metavar="DRIVE")] = (),
    tester: Annotated[str | None, Parameter(metavar="NAME")] = None,
    redact: bool = False,
    library: Library = None,
    json: bool = False,
) -> None:
    """Write a run of act, act-index or act-certify for publication: a folder with ACT's own files.

    The folder holds a summary (summary.txt), the configuration (act.conf), and the log by ACT's clock
    (act.log). It also holds the verdicts with and without the delivery test (verdicts.json), and the host and
    the drive (host.json). SHA256SUMS has the digests of these files; verdicts.json has the seal of the run.

    A test of less than 24 h, or with an hour without reads, is a trial and cannot pass.

    Parameters
    ----------
    run
        The run: its folder, its id, a prefix of the id or of its last letters, or `last`.
    output
        Folder to create; it must not exist.
    device
        Drive to name in the configuration; ACT will overwrite it. May be given several times.
    tester
        Tester and lab [default: `tested_by` of the run's platform].
    redact
        Leave out serial numbers and host names, as `library pack --redact` does.
    json
        Print the content of verdicts.json as JSON, schema ssdlab.act-bundle/2, with folder and files.
    """
    folder, result = act_run(run, library)
    config = changed(config_of_run(result), {}, devices=device)
    verdicts = _verdicts(folder, result, tester) | {"redacted": redact}
    content: dict[str, object] = {
        "summary.txt": "\n".join(_summary(folder, result, verdicts)) + "\n",
        "act.conf": write_config(config),
        "act.log": "\n".join(log_lines(folder, result, "service")) + "\n",
        "verdicts.json": verdicts,
        "host.json": _host(folder),
    }
    if redact:
        from ssdlab.library.redacting import Redaction

        content = Redaction(secrets.token_bytes(16)).redacted(folder, content)
    files = {name: each if isinstance(each, str) else _json(each) for name, each in content.items()}
    sums = (f"{sha256(text.encode()).hexdigest()}  {name}" for name, text in files.items())
    files["SHA256SUMS"] = "\n".join(sums) + "\n"
    try:
        output.mkdir()
    except OSError as error:
        why = f"{output} cannot be created: {error.strerror}"
        raise UsageError(why, "name a folder that does not exist yet") from error
    for name, text in files.items():
        write_new(output / name, text)
    tell_of_no_drive(config)
    if json:
        print_json({**loads(files["verdicts.json"]), "folder": str(output.absolute()), "files": list(files)})
    else:
        print_line(f"written: {output}: {', '.join(files)}")


def _verdicts(folder: RunFolder, result: ActResult, tester: str | None) -> dict[str, Any]:
    manifest = folder.manifest
    platform = manifest.environment.get("platform")
    noted = platform.get("tested_by") if isinstance(platform, dict) else None
    return {
        "schema": BUNDLE_SCHEMA,
        "run": manifest.run_id,
        "sealed": manifest.model_dump(mode="json")["sealed"],
        "tester": tester or noted,
        "begin": manifest.sessions[0].started,
        "end": manifest.sessions[-1].ended,
        "simulated": manifest.drive.capabilities.virtual_time,
        "tests": _times(folder.journal(), result.ordinal),
        "program": f"{result.program} {result.act_version}",
        "load": result.load or None,
        "load_words": result.load_text,
        "changed": dict(result.changed),
        "arrivals": result.arrivals,
        "service_threads": result.service_threads,
        "quick": result.quick,
        "asked_s": result.asked_s,
        "ran_s": result.ran_s,
        "trial": bool(result.trial),
        "why_trial": result.trial,
        "judged": result.judged,
        "completed": result.completed,
        "stopped": result.stopped,
        "delivery": None if result.delivery is None else result.delivery.model_dump(mode="json"),
        "verdicts": [_verdict(result, each) for each in result.verdicts],
        "stress_completed": result.stress_completed,
        "stress_stopped": result.stress_stopped,
        "certified": result.certified,
        "search": [_tried(each) for each in result.tries],
    }


def _times(journal: list[AnyRecord], first: int) -> list[dict[str, str | None]]:
    """Return start and end of each test by the host's clock; the test at the requested load comes first."""
    begun = {each.ordinal: each for each in journal if each.t == "begin" and each.ordinal >= first}
    ended = {each.ordinal: each.at for each in journal if each.t == "end"}
    return [
        {"test": each.label, "begin": each.at, "end": ended.get(ordinal)}
        for ordinal, each in begun.items()
        if each.verb == "run"
    ]


def _verdict(result: ActResult, verdict: ActVerdict) -> dict[str, object]:
    """Return one rule's verdict as JSON; `passed` of a trial is False or None, since a trial cannot pass."""
    kept = verdict.passed
    delivered = result.delivery is None or result.delivery.delivered is not False
    return {
        "rule": verdict.rule,
        "verdict": _word(result, verdict),
        "passed": kept if not result.trial else False if kept is False and result.judged else None,
        "limits_kept": kept,
        "limits_kept_and_delivered": kept and delivered,
        "worst": verdict.worst,
        "why": verdict.why,
    }


def _word(result: ActResult, verdict: ActVerdict) -> str:
    if verdict.passed is None:
        return "trial, not judged" if result.trial else "not judged"
    if result.trial:
        return f"trial, limits {'kept' if verdict.passed else 'not kept'}"
    return "passed" if verdict.passed else "failed"


def _tried(tried: ActTry) -> dict[str, object]:
    """Return one load of a search as JSON. A search test cannot pass: `passed` becomes `limits_kept`."""
    found = tried.model_dump(mode="json")
    return {("limits_kept" if name == "passed" else name): value for name, value in found.items()}


def _summary(folder: RunFolder, result: ActResult, verdicts: dict[str, Any]) -> Iterator[str]:
    manifest = folder.manifest
    yield f"{_title(result)}: {result.load_text}, {verdicts['program']}, {manifest.drive_names}"
    yield ""
    rows = [
        ("tested by", verdicts["tester"] or UNKNOWN),
        ("begin", _stamp(verdicts["begin"])),
        ("end", _stamp(verdicts["end"])),
        *(
            (each["test"], ends_text(_stamp(each["begin"]), _stamp(each["end"])))
            for each in verdicts["tests"]
        ),
        ("ran", f"{span_text(result.ran_s)} of {span_text(result.asked_s)}"),
        ("drive", f"{manifest.drive_names}, {manifest.drive.capacity_bytes} bytes"),
        ("simulated", "simulated (virtual time)" if verdicts["simulated"] else ""),
        ("arrivals", f"{result.arrivals}, {result.service_threads} service threads"),
        ("run", f"{manifest.run_id}, ssdlab {manifest.tool.get('version', UNKNOWN)}"),
        ("journal seal", "" if manifest.sealed is None else manifest.sealed.journal_seal),
    ]
    yield from table([row for row in rows if row[1]])
    yield ""
    for each in result.verdicts:
        why = f": {each.why}" if each.why else ""
        yield f"Rule of {each.rule}: {_word(result, each)}{why}"
    delivered = {None: "not judged", True: "yes", False: "no"}
    if result.delivery is not None:
        why = f": {result.delivery.why}" if result.delivery.why else ""
        yield f"Load delivered (not an ACT rule): {delivered[result.delivery.delivered]}{why}"
    if result.stress_completed is not None:
        why = f": {result.stress_stopped}" if result.stress_stopped else ""
        yield f"Completed at twice the load: {delivered[result.stress_completed]}{why}"
    if result.trial:
        yield f"Trial, not a certificate: {result.trial}"
    yield ""
    yield from _slices(result)


def _title(result: ActResult) -> str:
    if result.certified:
        return f"ACT certificate, rule of {result.rule}"
    return "ACT trial" if result.trial else "ACT test, not a certificate"


def _slices(result: ActResult) -> Iterator[str]:
    """Yield a table with the share of slow reads in each slice, under both rules, and the limits."""
    yield f"% of reads at or above each latency, in slices of {span_text(result.slice_s)}"
    heads = ["slice", *(f"{rule}: {ms} ms" for rule in ("2019", "6.x") for ms in LIMITS), "reads/s", "done"]
    rows = [
        (
            str(each.number),
            *(f"{100 * over[str(ms)]:.2f}" for over in (each.response, each.service) for ms in LIMITS),
            f"{each.rates[result.rule]:.1f}",
            share_text(each.done_share),
        )
        for each in result.slices
    ]
    rows.append(("under", *(fixed_share_text(limit) for _ in range(2) for limit in LIMITS.values()), "", ""))
    yield from table(rows, heads, right=range(len(heads)))


def _stamp(at: str | None) -> str:
    return UNKNOWN if at is None else f"{at[:10]} {at[11:19]} UTC"


def _host(folder: RunFolder) -> dict[str, Any]:
    manifest = folder.manifest
    return {
        "drive": manifest.drive.model_dump(mode="json"),
        "environment": manifest.environment,
        "tool": manifest.tool,
        "seed": manifest.seed,
        "created": manifest.created,
    }


def _json(value: object) -> str:
    return dumps(value, indent=1, ensure_ascii=False) + "\n"
