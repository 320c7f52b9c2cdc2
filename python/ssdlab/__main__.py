"""`python -m ssdlab` is the command `ssdlab`."""

import atexit
import os
import sys
from typing import NoReturn


def main() -> int:
    """Run the command line of this process and return its exit status; signals are taken before all else."""
    from ssdlab.host.ending_signals import EndingSignals

    signals = EndingSignals().take()
    from ssdlab.cli import main as run

    return run(signals=signals)


def command() -> NoReturn:
    """Be the command `ssdlab`: run the command line as this process, and end with its exit status."""
    statuses: list[int] = []
    atexit.register(_leave, statuses)  # the first that is registered is the last that is called
    statuses.append(main())
    sys.exit(statuses[0])


def _leave(statuses: list[int]) -> None:
    """End the process when all is done that is done at its end.

    What is left is memory. Python would look through all of it for garbage and take modules apart: as long as
    it takes to read a run.
    """
    if not statuses:
        return
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except Exception:  # whatever it is, Python's own end tells it
        return
    os._exit(statuses[0])


if __name__ == "__main__":
    from ssdlab.host.programs import forget_working_folder

    forget_working_folder()
    command()
