"""`ssdlab job`: a user's own sequence of steps."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ssdlab.cli.flags import Library, Rig, chosen, takes
from ssdlab.cli.ordering import OrderOptions, library_of, of_order, ordered_with, print_run, target_of
from ssdlab.cli.output import say
from ssdlab.cli.plan import dry_run as show_effects
from ssdlab.cli.progress import RunProgress
from ssdlab.model.options import DriveOptions
from ssdlab.runs.conditions.variant import Variant

if TYPE_CHECKING:
    from ssdlab.lab.job import JobParams

_OF_FIO = (".fio", ".job")
_GLOBAL = re.compile(r"^[ \t]*\[global\]", re.MULTILINE)


@takes(DriveOptions, OrderOptions, Variant)
def job(
    file: Path,
    drive: str,
    /,
    *,
    rig: Rig = None,
    library: Library = None,
    json: bool = False,
    **options: Any,  # noqa: ANN401 - those models check them
) -> None:
    """Run the steps of a TOML file, or the jobs of a fio job file, on a drive.

    Each [[step]] table has `do` and its options: `do = "run"` takes the options of `ssdlab measure`. Other
    steps fill, precondition, idle, trim, flush or set conditions. The whole file is checked before the drive
    is touched.

    Parameters
    ----------
    file
        A TOML file, or a fio job file: one ending in .fio or .job or with a [global] section. fio's
        `filename` is ignored: DRIVE is used.
    drive
        A block device such as /dev/nvme0n1, a file (with --size to create it), or a simulated drive:
        sim:NAME, or scaled down: sim:NAME,scale=64 (see `ssdlab sim list`).
    json
        Print the result as JSON, schema ssdlab.show/1.
    """
    from ssdlab.host.documents import read_document, user_path
    from ssdlab.lab.found import find_method
    from ssdlab.lab.job import read_job
    from ssdlab.model.errors import UsageError
    from ssdlab.runs.session import start

    advice = "give a TOML file with a [[step]] table for each step, or a fio job file"
    path = user_path(file)
    text = read_document(path, "job", advice)
    if path.suffix in _OF_FIO or _GLOBAL.search(text):
        if given := next((name for name in ("usable", "spare") if options.get(name) is not None), None):
            raise UsageError(
                f"a fio job file covers the whole drive, but --{given} uses only part of it",
                "give size= in the job, or write the job as TOML",
            )
        params = _of_fio(text, path, drive, options.get("size"))
    else:
        params = read_job(text, file.name)
    asked = chosen(OrderOptions, options)
    ordered = ordered_with(find_method("job"), params, drive, **of_order(options, rig))
    if asked.dry_run:
        show_effects(ordered, json=json)
        return
    with RunProgress() as progress:
        folder = start(ordered, library_of(library), [progress])
    print_run(folder, json=json)


def _of_fio(text: str, path: Path, drive: str, size: str | None) -> JobParams:
    """Return the steps of a fio job file for a drive of that capacity, and say what differs from fio."""
    from ssdlab.formats.fio.sections import read_sections
    from ssdlab.formats.fio.stages import read_stages
    from ssdlab.lab.job import steps_of_fio

    sections = read_sections(text, path.name, path.parent)
    stages, remarks = read_stages(sections, target_of(drive, size))
    for sentence in remarks:
        say(sentence)
    return steps_of_fio(stages, remarks)
