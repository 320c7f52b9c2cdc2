"""`python -m ssdlab` is the command `ssdlab`."""

import sys


def main() -> int:
    """Run the command line of this process and return its exit status; signals are taken before all else."""
    from ssdlab.host.ending_signals import EndingSignals

    signals = EndingSignals().take()
    from ssdlab.cli import main as run

    return run(signals=signals)


if __name__ == "__main__":
    from ssdlab.host.programs import forget_working_folder

    forget_working_folder()
    sys.exit(main())
