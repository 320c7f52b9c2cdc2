"""`ssdlab job`: a user's own sequence of steps."""

from __future__ import annotations

from pathlib import Path

from ssdlab.cli.ordering import library_of, print_run, size_of
from ssdlab.cli.progress import RunProgress
from ssdlab.errors import UsageError


def job(
    file: Path,
    drive: str,
    /,
    *,
    size: str | None = None,
    destroy: str | None = None,
    seed: int | None = None,
    library: Path | None = None,
    json: bool = False,
) -> None:
    """Run the steps of a TOML file on a drive: fill, run, precondition, idle, trim, flush, limit, note.

    Each step is a [[step]] table with `do = "run"` and its options; those of a run step are the options of
    `ssdlab measure`. The whole file is checked before anything is touched.

    Parameters
    ----------
    file
        The TOML file.
    drive
        A block device such as /dev/nvme0n1, or a file (with --size when it must be made).
    size
        Make the file with this size if it is missing: 4GiB.
    destroy
        Identifier of the drive whose data may be lost (see `ssdlab drives`).
    seed
        Seed of all random draws; by default one is drawn and recorded.
    library
        Folder of runs; by default ssdlab/runs in the XDG data folder.
    json
        Print the result as JSON, schema ssdlab.show/1.
    """
    from ssdlab.methods import find_method
    from ssdlab.methods.job import read_job
    from ssdlab.session import Order, start

    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(
            f"cannot read {file}: {error}", "name a TOML file of steps", path=str(file)
        ) from error
    params = read_job(text, file.name)
    ordered = Order(find_method("job"), params, drive, False, size_of(size), destroy, seed)
    with RunProgress() as progress:
        folder = start(ordered, library_of(library), [progress])
    print_run(folder, json=json)
