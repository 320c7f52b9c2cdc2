"""`ssdlab demo`: a whole quick review, and where its report is."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from ssdlab import units
from ssdlab.cli.ordering import library_of, order
from ssdlab.cli.output import print_json, print_line, say
from ssdlab.cli.progress import RunProgress
from ssdlab.drives.base import SIMULATED_PREFIX as PREFIX
from ssdlab.errors import HostError, Interrupted

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
    output: Annotated[Path, Parameter(name=["--output", "-o"])] = Path("ssdlab-demo.html"),
    library: Path | None = None,
    json: bool = False,
) -> None:
    """Run a whole quick review and write its report: queue depth 1, then the peaks of reading.

    Without --on it is made on a scratch file in the present folder, which is removed afterwards: a review
    of this machine's disk through its file system. Takes about two minutes.

    Parameters
    ----------
    on
        What to review instead: a block device, a file or a simulated drive. A file that does not exist is
        made as the scratch file is. Where writing is not allowed, only the reading methods run.
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
    target = on or str(Path.cwd() / SCRATCH_NAME)
    with contextlib.ExitStack() as cleanup:
        scratch = on is None or not (on.startswith(PREFIX) or Path(on).exists())
        if scratch:
            _prepare_scratch(Path(target), cleanup)
        with _stopped_for_good(scratch):
            folders = _review(target, destroy, runs, scratch=scratch)
    written = _report(folders, output)
    if json:
        names = [folder.name for folder in folders]
        print_json({"schema": SCHEMA, "report": str(written), "library": str(runs), "runs": names})
    else:
        print_line(f"The report is {written}")
        for folder in folders:
            print_line(f"  its run: ssdlab show {run_words(folder)}", "dim")


def _prepare_scratch(path: Path, cleanup: contextlib.ExitStack) -> None:
    """See that there is room and that the file is removed afterwards; one that is not ours is refused.

    Raises
    ------
    HostError
        The file system has too little room.
    Refused
        There is a file of that name which ssdlab did not make.
    """
    from ssdlab.drives import look

    if path.exists() and (refusal := look(path, size=SCRATCH_BYTES).writing) is not None:
        raise refusal.error(str(path))
    folder = path.absolute().parent
    if folder.is_dir() and not path.exists():
        free = shutil.disk_usage(folder).free
        if free < SCRATCH_BYTES + _SPARE_BYTES:
            raise HostError(
                f"{folder} has {units.capacity_text(free)} free, and the demo needs "
                f"{units.capacity_text(SCRATCH_BYTES + _SPARE_BYTES)}",
                "make room, go to a folder with more, or name a drive or file with --on",
                free_bytes=free,
            )
    cleanup.callback(path.unlink, missing_ok=True)
    say(f"reviewing a scratch file of {units.capacity_text(SCRATCH_BYTES)}, {path}")


def _review(target: str, destroy: str | None, library: Path, *, scratch: bool) -> list[Path]:
    from ssdlab.drives import look
    from ssdlab.session import start

    size = units.size_text(SCRATCH_BYTES) if scratch else None
    may_write = scratch or look(target, destroy=destroy).writing is None
    if destroy is None and not may_write:
        say(f"{target} may not be written: only the reading methods run")
    folders = []
    for name in METHODS if may_write or destroy is not None else READING:
        say(f"{name}, quick")
        ordered = order(name, target, (), quick=True, size=size, destroy=destroy)
        with RunProgress() as progress:
            folders.append(start(ordered, library, [progress]))
    return folders


@contextlib.contextmanager
def _stopped_for_good(scratch: bool) -> Iterator[None]:
    """Say that a demo begins anew: its scratch file goes with it, so its run cannot be resumed."""
    try:
        yield
    except (Interrupted, KeyboardInterrupt) as error:
        if not scratch:
            raise
        raise Interrupted("the demo was stopped by a signal", "run it again") from error


def _report(folders: list[Path], output: Path) -> Path:
    from ssdlab.report import page, source

    page.write([source.read_run(folder) for folder in folders], output)
    return output.absolute()
