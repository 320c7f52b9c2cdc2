"""`ssdlab demo`: run a quick review and write its report."""

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
"""The default drive: a model with published reviews, scaled so that hours of writing take seconds."""


class Chapter(NamedTuple):
    """One method of the review, with its changes to the quick presets."""

    method: str
    settings: tuple[str, ...] = ()


REAL = (Chapter("qd1"), Chapter("peak-random-read"), Chapter("peak-sequential-read"))
"""Methods for a drive in real time: each point takes seconds."""
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
"""Methods for a simulated drive, which is faster than real time: long enough to reach steady state."""
SCRATCH_BYTES = 1 << 30
_SPARE_BYTES = 256 << 20
"""Space that must stay free beyond the scratch file, for the runs and other users."""


def demo(
    *,
    on: DriveText = None,
    destroy: Identifier = None,
    output: Annotated[Path, Parameter(name=["--output", "-o"])] = Path("ssdlab-demo.html"),
    library: Library = None,
    json: bool = False,
) -> None:
    """Run a quick review and write its report.

    By default it reviews a simulated data-centre drive in under a minute, and touches no disk. It measures
    queue depth 1, peak reads, steady state, mixes and consistency. With --on FILE it measures the disk that
    holds FILE at queue depth 1 and at peak reads, in about two minutes.

    Parameters
    ----------
    on
        The block device, file or simulated drive to review instead. A file that does not exist
        is created with 1 GiB and removed afterwards. Without write access only the read methods run.
    destroy
        Identifier of the drive whose data may be lost (see `ssdlab drives`).
    output
        Report file to write; only an older ssdlab report is replaced.
    json
        Print the paths of report and runs as JSON, schema ssdlab.demo/1.
    """
    from ssdlab.report import page
    from ssdlab.results.store import run_words

    page.place(output).close()  # fail now if the report cannot be written
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
    print_line(f"Report: {written}")
    for folder in folders:
        print_line(f"  run: ssdlab show {run_words(folder)}", "dim")
    if on is None:
        print_line(
            "To test a drive: ssdlab demo --on /dev/...; a file on this disk: ssdlab demo --on FILE", "dim"
        )


def _prepare_scratch(path: Path, cleanup: contextlib.ExitStack) -> None:
    """Check that the scratch file can be created and has room, and let `cleanup` remove it.

    Raises
    ------
    HostError
        The file system has too little room.
    UsageError, Refused
        The device or the folder does not exist.
    """
    folder = path.absolute().parent
    if folder.is_dir():
        free = shutil.disk_usage(folder).free
        if free < SCRATCH_BYTES + _SPARE_BYTES:
            raise HostError(
                f"{folder} has {units.capacity_text(free)} free, and the demo needs "
                f"{units.capacity_text(SCRATCH_BYTES + _SPARE_BYTES)}",
                "free some space, or name a file on a larger file system",
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
    """Choose the methods by the drive's time, virtual or real, and by write permission."""
    if target.startswith(PREFIX):
        say(f"reviewing a simulated drive, {target}")
        return SIMULATED
    if scratch or destroy is not None or look(target, destroy=destroy).writing is None:
        return REAL
    say(f"{target} may not be written: only the read methods run")
    return READING


@contextlib.contextmanager
def _stopped_for_good(scratch: bool) -> Iterator[None]:
    """Advise to repeat a stopped demo: its run cannot be resumed, because its scratch file is removed."""
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
