"""`ssdlab demo`: a whole quick review, and where its report is."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, NamedTuple

from cyclopts import Parameter

from ssdlab.cli.flags import DriveText, Identifier, Library
from ssdlab.cli.ordering import library_of, order
from ssdlab.cli.output import print_json, print_line, say
from ssdlab.cli.progress import RunProgress
from ssdlab.drives import look
from ssdlab.drives.opening import check_no_profile
from ssdlab.model import units
from ssdlab.model.capabilities import SIMULATED_PREFIX as PREFIX
from ssdlab.model.errors import HostError, Interrupted

SCHEMA = "ssdlab.demo/1"
DRIVE = "sim:kingston-dc500r-3.84tb,scale=128"
"""What is reviewed by default: a drive with known reviews, so small that hours of writing take seconds."""


class Chapter(NamedTuple):
    """One method of the review, with what differs from its quick presets."""

    method: str
    settings: tuple[str, ...] = ()


REAL = (Chapter("qd1"), Chapter("peak-random-read"), Chapter("peak-sequential-read"))
"""On a drive whose time is ours: seconds for each point."""
READING = REAL[1:]
_STEADY = ("overwrites=2", "most_seconds=7200", "round_seconds=30")
SIMULATED = (
    Chapter("qd1", ("seconds=5", "size_seconds=8")),
    Chapter("peak-random-read", ("seconds=3",)),
    Chapter("peak-sequential-read", ("seconds=3",)),
    Chapter("steady-random-write", (*_STEADY, "seconds=10")),
    Chapter("mixed-random", (*_STEADY, "seconds=3")),
    Chapter("consistency", ("seconds=420", "round_seconds=20")),
)
"""On a simulated drive, whose time passes faster: long enough for steady state, and proof of it."""
SCRATCH_BYTES = 1 << 30
_SPARE_BYTES = 256 << 20
"""What must be left free beside the scratch file, for the runs and for everybody else."""


def demo(
    *,
    on: DriveText = None,
    destroy: Identifier = None,
    output: Annotated[Path, Parameter(name=["--output", "-o"])] = Path("ssdlab-demo.html"),
    library: Library = None,
    json: bool = False,
) -> None:
    """Run a whole quick review and write its report.

    Without --on it is made on a simulated drive of the kind that servers have: queue depth 1, peaks of
    reading, steady state, mixes, consistency. No disk is touched, and it takes less than a minute. With --on
    FILE it is made on this machine's disk, in about two minutes: queue depth 1, then the peaks of reading.

    Parameters
    ----------
    on
        What to review instead: a block device, a file or another simulated drive. A file that does not
        exist is a scratch file: it is made with 1 GiB and removed afterwards. Where writing is not allowed,
        only the reading methods run.
    destroy
        Identifier of the drive whose data may be lost (see `ssdlab drives`).
    output
        The report to write. An older page of ssdlab is replaced, and nothing else.
    json
        Print where report and runs are as JSON, schema ssdlab.demo/1.
    """
    from ssdlab.report import page
    from ssdlab.results.store import run_words

    page.place(output).close()  # before minutes go into what it is to show
    runs = library_of(library)
    target = DRIVE if on is None else on
    with contextlib.ExitStack() as cleanup:
        scratch = not target.startswith(PREFIX) and not Path(target).exists()
        if scratch:
            check_no_profile(target)
            _prepare_scratch(Path(target), cleanup)
        with _stopped_for_good(scratch):
            folders = _review(target, destroy, runs, scratch=scratch)
    written = _report(folders, output)
    if json:
        names = [folder.name for folder in folders]
        print_json({"schema": SCHEMA, "report": str(written), "library": str(runs), "runs": names})
        return
    print_line(f"The report is {written}")
    for folder in folders:
        print_line(f"  its run: ssdlab show {run_words(folder)}", "dim")
    if on is None:
        print_line("A drive of your own: ssdlab demo --on /dev/..., its disk: ssdlab demo --on FILE", "dim")


def _prepare_scratch(path: Path, cleanup: contextlib.ExitStack) -> None:
    """See that the file can be made, that there is room, and that it is removed afterwards.

    Raises
    ------
    HostError
        The file system has too little room.
    UsageError, Refused
        It is a device that is not there, or in a folder that is not there.
    """
    folder = path.absolute().parent
    if folder.is_dir():
        free = shutil.disk_usage(folder).free
        if free < SCRATCH_BYTES + _SPARE_BYTES:
            raise HostError(
                f"{folder} has {units.capacity_text(free)} free, and the demo needs "
                f"{units.capacity_text(SCRATCH_BYTES + _SPARE_BYTES)}",
                "make room, or name a file in a folder with more",
                free_bytes=free,
            )
    if (refusal := look(path, size=SCRATCH_BYTES).writing) is not None:
        raise refusal.error(str(path))
    cleanup.callback(path.unlink, missing_ok=True)
    say(f"reviewing a scratch file of {units.capacity_text(SCRATCH_BYTES)}, {path}")


def _review(target: str, destroy: str | None, library: Path, *, scratch: bool) -> list[Path]:
    from ssdlab.runs.session import start

    size_bytes = SCRATCH_BYTES if scratch else None
    folders = []
    chapters = _chapters(target, destroy, scratch=scratch)
    for place, (method, settings) in enumerate(chapters, 1):
        say(f"{place}/{len(chapters)} {method}, quick")
        ordered = order(method, target, settings, quick=True, size_bytes=size_bytes, destroy=destroy)
        with RunProgress() as progress:
            folders.append(start(ordered, library, [progress]))
    return folders


def _chapters(target: str, destroy: str | None, *, scratch: bool) -> tuple[Chapter, ...]:
    """Choose what the review consists of: what the drive allows, and what its time does."""
    if target.startswith(PREFIX):
        say(f"reviewing a simulated drive, {target}")
        return SIMULATED
    if scratch or destroy is not None or look(target, destroy=destroy).writing is None:
        return REAL
    say(f"{target} may not be written: only the reading methods run")
    return READING


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
