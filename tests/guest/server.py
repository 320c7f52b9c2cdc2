"""Runs in the guest: imports ssdlab once and runs each command line in a fork, as importing takes long there.

An order `NAME.lab` holds the words of a command line as JSON, `NAME.code` Python code and its arguments;
answers are as those of the shell commands.
"""

from __future__ import annotations

import importlib
import json
import os
import pkgutil
import select
import signal
import sys
import traceback
from pathlib import Path

ORDERS = Path("/run/guest")
BELL = Path("/dev/ttyS2")
"""A byte comes here with each order."""
_LOOK_S = 2.0
"""How often orders are looked for without."""


def main() -> None:
    from ssdlab import cli, drives

    cli.build_app()
    # What commands on drives need; the rest (reports, the catalogue) is large and imported where it is used.
    for name in (
        *(
            "ssdlab.cli.conditions",
            "ssdlab.cli.drives",
            "ssdlab.cli.job",
            "ssdlab.cli.purge",
            "ssdlab.cli.run",
        ),
        *("ssdlab.host.environment", "ssdlab.model.measurement", "ssdlab.runs.session"),
    ):
        importlib.import_module(name)
    for module in pkgutil.walk_packages(drives.__path__, "ssdlab.drives."):
        importlib.import_module(module.name)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    bell = os.open(BELL, os.O_RDONLY | os.O_NOCTTY | os.O_NONBLOCK)
    while True:
        for order in sorted((*ORDERS.glob("*.lab"), *ORDERS.glob("*.code"))):
            words = json.loads(order.read_text())
            order.unlink()
            if os.fork() == 0:
                perform(cli.main if order.suffix == ".lab" else run_code, order.with_suffix(""), words)
        if select.select([bell], [], [], _LOOK_S)[0]:
            os.read(bell, 4096)


def run_code(words: list[str]) -> int:
    """Run Python code, the first of the words, with the others as its arguments."""
    code, *sys.argv[1:] = words
    try:
        exec(code, {"__name__": "__main__"})
    except Exception:
        traceback.print_exc()
        return 1
    return 0


def perform(command, base: Path, words: list[str]) -> None:
    """Run a command line with its output in files, and end this process."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    for descriptor, kind in ((1, "out"), (2, "err")):
        os.dup2(os.open(f"{base}.{kind}", os.O_WRONLY | os.O_CREAT | os.O_TRUNC), descriptor)
    status = command(words)
    sys.stdout.flush()
    sys.stderr.flush()
    draft = Path(f"{base}.rc.draft")
    draft.write_text(str(status))
    draft.rename(f"{base}.rc")
    os._exit(0)


if __name__ == "__main__":
    main()
