"""All benchmarks, one after the other: `make bench`.

    python benches/run.py [--folder DIR] [--agreement]

The agreement with fio takes half an hour and is left out unless asked for.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import fio
import fio_agreement
import lean
import serve
import sim
import startup


def main() -> None:
    """Run them; exit status 1 if a figure is not reached."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", type=Path, help="where scratch files go; on ext4, not tmpfs")
    parser.add_argument("--pairs", type=int, default=11)
    parser.add_argument("--agreement", action="store_true", help="compare with fio on a written file too")
    arguments = parser.parse_args()
    good = lean.lean(arguments.folder, arguments.pairs)
    startup.main()
    if fio.is_here():
        good &= serve.agreement(arguments.folder)
    good &= sim.main()
    if arguments.agreement and fio.is_here():
        size_bytes = 1 << 30
        rounds, seconds = fio_agreement.ROUNDS, fio_agreement.SECONDS
        good &= fio_agreement.agreement(
            arguments.folder, rounds, seconds, size_bytes, list(fio_agreement.workloads())
        )
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
