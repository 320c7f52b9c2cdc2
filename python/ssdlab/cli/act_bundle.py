"""`ssdlab act bundle`: what is published of a certificate, in one folder."""

from __future__ import annotations

from hashlib import sha256
from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from ssdlab.cli.act import act_run, config_of_run, log_lines, tell_of_no_drive
from ssdlab.cli.completers import RunName
from ssdlab.cli.output import print_line
from ssdlab.formats.act_files import changed, write_config
from ssdlab.host.output_files import write_new
from ssdlab.model.errors import UsageError

if TYPE_CHECKING:
    from ssdlab.methods.results.act import ActResult
    from ssdlab.results.run_folder import RunFolder

SCHEMA = "ssdlab.act-bundle/1"


def bundle(
    run: RunName,
    /,
    *,
    output: Path,
    device: Annotated[tuple[str, ...], Parameter(metavar="DRIVE", negative=())] = (),
    library: Path | None = None,
) -> None:
    """Write what is published of a run of act, act-index or act-certify: a folder with ACT's own files.

    The configuration (act.conf), the log by ACT's clock (act.log), both verdicts with and without the
    delivery test (verdicts.json), the host and the drive (host.json), and the digests of these files and of
    the run (SHA256SUMS, and the seal in verdicts.json).

    Parameters
    ----------
    run
        The run: its folder, its id, the beginning of its id or of its last letters, or `last`.
    output
        Folder to make; none that exists is touched.
    device
        Drive that the configuration names, which ACT will overwrite. May be given several times.
    library
        Folder of runs; by default ssdlab/runs in the XDG data folder.
    """
    folder, result = act_run(run, library)
    config = changed(config_of_run(result), {}, devices=device)
    files = {
        "act.conf": write_config(config),
        "act.log": "\n".join(log_lines(folder, result, "service")) + "\n",
        "verdicts.json": _json(_verdicts(folder, result)),
        "host.json": _json(_host(folder)),
    }
    sums = (f"{sha256(text.encode()).hexdigest()}  {name}" for name, text in files.items())
    files["SHA256SUMS"] = "\n".join(sums) + "\n"
    try:
        output.mkdir()
    except OSError as error:
        why = f"{output} cannot be made: {error.strerror}"
        raise UsageError(why, "name a folder that does not exist") from error
    for name, text in files.items():
        write_new(output / name, text)
    tell_of_no_drive(config)
    print_line(f"written: {output}: {', '.join(files)}")


def _verdicts(folder: RunFolder, result: ActResult) -> dict[str, Any]:
    delivered = None if result.delivery is None else result.delivery.delivered
    return {
        "schema": SCHEMA,
        "run": folder.manifest.run_id,
        "sealed": folder.manifest.model_dump(mode="json")["sealed"],
        "program": f"{result.program} {result.act_version}",
        "load": result.load,
        "arrivals": result.arrivals,
        "quick": result.quick,
        "judged": result.judged,
        "completed": result.completed,
        "stopped": result.stopped,
        "delivery": None if result.delivery is None else result.delivery.model_dump(mode="json"),
        "verdicts": [
            {
                **each.model_dump(mode="json"),
                "without_delivery_test": each.passed,
                "with_delivery_test": each.passed and delivered is not False,
            }
            for each in result.verdicts
        ],
        "stress_completed": result.stress_completed,
        "stress_stopped": result.stress_stopped,
        "certified": result.certified,
        "caveats": list(result.caveats),
        "search": [each.model_dump(mode="json") for each in result.tries],
    }


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
