"""`ssdlab demo`: a whole quick review, and where its report is."""

from __future__ import annotations

import contextlib
import shutil
from pathlib import Path

from ssdlab import units
from ssdlab.cli.ordering import library_of, order
from ssdlab.cli.output import print_json, print_line, say
from ssdlab.cli.progress import RunProgress
from ssdlab.errors import HostError

SCHEMA = "ssdlab.demo/1"
METHODS = ("qd1", "peak-random-read", "peak-sequential-read")
READING = METHODS[1:]
SCRATCH_NAME = "ssdlab-demo.scratch"
SCRATCH_BYTES = 1 << 30
_SPARE_BYTES = 256 << 20
"""What must be left free beside the scratch file, for the runs and for everybody else."""


def demo(
    *,
    on: str | None = None,
    destroy: str | None = None,
    output: Path = Path("ssdlab-demo.html"),
    library: Path | None = None,
    json: bool = False,
) -> None:
    """Run a whole quick review and write its report: queue depth 1, then the peaks of reading.

    Without --on it is made on a scratch file in the present folder, which is removed afterwards: a review
    of this machine's disk through its file system. Takes about two minutes.

    Parameters
    ----------
    on
        A block device or a file to review instead. A device is only read, unless --destroy allows writing.
    destroy
        Identifier of the drive whose data may be lost (see `ssdlab drives`).
    output
        The report to write.
    library
        Folder of runs; by default ssdlab/runs in the XDG data folder.
    json
        Print where report and runs are as JSON, schema ssdlab.demo/1.
    """
    from ssdlab.results.store import run_words

    runs = library_of(library)
    with contextlib.ExitStack() as cleanup:
        if on is None:
            target, size = _scratch(cleanup), units.size_text(SCRATCH_BYTES)
            say(f"reviewing a scratch file of {units.capacity_text(SCRATCH_BYTES)}, {target}")
        else:
            target, size = on, None
        folders = _review(target, size, destroy, runs)
    written = _report(folders, output)
    if json:
        names = [folder.name for folder in folders]
        print_json({"schema": SCHEMA, "report": str(written), "library": str(runs), "runs": names})
    else:
        print_line(f"The report is {written}")
        for folder in folders:
            print_line(f"  its run: ssdlab show {run_words(folder)}", "dim")


def _scratch(cleanup: contextlib.ExitStack) -> str:
    path = Path.cwd() / SCRATCH_NAME
    free = shutil.disk_usage(path.parent).free
    if not path.exists() and free < SCRATCH_BYTES + _SPARE_BYTES:
        raise HostError(
            f"{path.parent} has {units.capacity_text(free)} free, and the demo needs "
            f"{units.capacity_text(SCRATCH_BYTES + _SPARE_BYTES)}",
            "make room, go to a folder with more, or name a drive or file with --on",
            free_bytes=free,
        )
    cleanup.callback(path.unlink, missing_ok=True)
    return str(path)


def _review(target: str, size: str | None, destroy: str | None, library: Path) -> list[Path]:
    from ssdlab.session import start

    folders = []
    names = METHODS if size is not None or destroy is not None else READING
    for name in names:
        say(f"{name}, quick")
        ordered = order(name, target, (), quick=True, size=size, destroy=destroy)
        with RunProgress() as progress:
            folders.append(start(ordered, library, [progress]))
    return folders


def _report(folders: list[Path], output: Path) -> Path:
    from ssdlab.report import page, source

    page.write([source.read_run(folder) for folder in folders], output)
    return output.absolute()
