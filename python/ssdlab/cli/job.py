"""`ssdlab job`: a user's own sequence of steps."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ssdlab.cli.flags import chosen, takes
from ssdlab.cli.ordering import OrderOptions, library_of, of_order, ordered_with, print_run
from ssdlab.cli.plan import dry_run as show_effects
from ssdlab.cli.progress import RunProgress
from ssdlab.model.options import DriveOptions
from ssdlab.runs.conditions.variant import Variant


@takes(DriveOptions, OrderOptions, Variant)
def job(
    file: Path,
    drive: str,
    /,
    *,
    json: bool = False,
    **options: Any,  # noqa: ANN401 - those models check them
) -> None:
    """Run the steps of a TOML file on a drive: fill, run, precondition, idle, trim, flush, conditions ...

    Each step is a [[step]] table with `do = "run"` and its options; those of a run step are the options of
    `ssdlab measure`. The whole file is checked before anything is touched.

    Parameters
    ----------
    file
        The TOML file.
    drive
        A block device such as /dev/nvme0n1, a file (with --size when it must be made), or a simulated
        drive: sim:NAME, or made smaller sim:NAME,scale=64 (see `ssdlab sim list`).
    json
        Print the result as JSON, schema ssdlab.show/1.
    """
    from ssdlab.host.documents import read_document, user_path
    from ssdlab.lab.found import find_method
    from ssdlab.lab.job import read_job
    from ssdlab.runs.session import start

    advice = "give the path of a TOML file with a [[step]] table for each step"
    text = read_document(user_path(file), "job", advice)
    params = read_job(text, file.name)
    asked = chosen(OrderOptions, options)
    ordered = ordered_with(find_method("job"), params, drive, **of_order(options))
    if asked.dry_run:
        show_effects(ordered, json=json)
        return
    with RunProgress() as progress:
        folder = start(ordered, library_of(asked.library), [progress])
    print_run(folder, json=json)
