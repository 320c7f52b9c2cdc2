"""`ssdlab run`: run a method on a drive."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from ssdlab.cli.ordering import library_of, order, print_run
from ssdlab.cli.progress import RunProgress


def run(
    name: str,
    drive: str,
    /,
    *,
    set: Annotated[tuple[str, ...], Parameter(name="--set", negative=())] = (),
    quick: bool = False,
    size: str | None = None,
    destroy: str | None = None,
    seed: int | None = None,
    library: Path | None = None,
    json: bool = False,
) -> None:
    """Run a method on a drive, and keep the run in the library.

    Stopped by Ctrl-C, a kill or a crash, it goes on with `ssdlab resume`; nothing finished is done twice.

    Parameters
    ----------
    name
        The method: see `ssdlab methods`.
    drive
        A block device such as /dev/nvme0n1, or a file (with --size when it must be made).
    set
        Set a parameter of the method: --set seconds=30. May be given several times.
    quick
        Take the method's quick presets: minutes instead of hours, and a result that says so.
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
    from ssdlab.session import start

    ordered = order(name, drive, set, quick=quick, size=size, destroy=destroy, seed=seed)
    with RunProgress() as progress:
        folder = start(ordered, library_of(library), [progress])
    print_run(folder, json=json)
