"""`python -m ssdlab` is the command `ssdlab`."""

import atexit
import os
import sys
from typing import NoReturn


def main() -> int:
    """Run the command line of this process and return its exit status; take over signals first."""
    from ssdlab.host.ending_signals import EndingSignals

    signals = EndingSignals().take()
    from ssdlab.cli import main as run

    return run(signals=signals)


def command() -> NoReturn:
    """Run the command line of this process, and end the process with its exit status."""
    statuses: list[int] = []
    atexit.register(_leave, statuses)  # registered first, so it is called last
    statuses.append(main())
    sys.exit(statuses[0])


def _leave(statuses: list[int]) -> None:
    """End the process at once, after all other exit handlers.

    Python would still search all memory for garbage and take modules apart, which takes as long as reading a
    run.
    """
    if not statuses:
        return
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except Exception:  # Python reports it when it ends
        return
    os._exit(statuses[0])


if __name__ == "__main__":
    from ssdlab.host.programs import forget_working_folder

    forget_working_folder()
    command()
