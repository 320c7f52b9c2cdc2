"""Runs in the guest: imports ssdlab once and runs each command line in a fork, as importing takes long there.

An order appears in `new`: `NAME.cmd` is a shell command, `NAME.lab` the words of a command line as JSON (of
`NAME.bare` one whose run gets no tables), `NAME.code` Python code and its arguments. Each is run beside the
others. It leaves NAME.out and NAME.err, and at its end its status, a line of NAME.rc.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import pkgutil
import select
import signal
import sys
import traceback
from pathlib import Path

from pydantic import BaseModel

ORDERS = Path("/run/guest")
NEW = ORDERS / "new"
"""Orders alone: the folder of the answers grows, and a long one is slow to list."""
BELL = Path("/dev/ttyS1")
"""A byte comes here with each order: to look for them all the time takes much of an emulated CPU."""
SHELL = '(eval "$1") >"$2.out" 2>"$2.err" </dev/null; echo $? >"$2.rc"'
_LOOK_S = 2.0
"""How often orders are looked for without."""


def main() -> None:
    gc.disable()  # what is imported stays: to look through it for garbage again and again takes time
    from ssdlab import cli, drives

    cli.build_app()
    # What commands on drives need; the rest (reports, DuckDB) is large and imported where it is used.
    for name in (
        *(
            "ssdlab.cli.conditions",
            "ssdlab.cli.drives",
            "ssdlab.cli.measure",
            "ssdlab.cli.purge",
            "ssdlab.cli.run",
            "ssdlab.cli.showing",
        ),
        *("ssdlab.host.environment", "ssdlab.host.platform", "ssdlab.lab.job", "ssdlab.model.measurement"),
        *("ssdlab.lab.parts.points", "ssdlab.power", "ssdlab.results.catalogue"),
        *("ssdlab.runs.measure", "ssdlab.runs.session"),
    ):
        importlib.import_module(name)
    for module in pkgutil.walk_packages(drives.__path__, "ssdlab.drives."):
        importlib.import_module(module.name)
    complete(BaseModel)
    gc.freeze()  # nor do the forks look through it, each of which would copy it so
    gc.enable()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    bell = os.open(BELL, os.O_RDONLY | os.O_NOCTTY | os.O_NONBLOCK)
    draft = ORDERS / "booted.draft"
    draft.write_text(Path("/proc/uptime").read_text().split()[0])
    draft.rename(ORDERS / "booted")
    while True:
        for order in sorted(NEW.iterdir()):
            base = ORDERS / order.stem
            content = order.read_text()
            order.unlink()
            if order.suffix == ".cmd":
                run_shell(base, content)
            elif os.fork() == 0:
                command = {".lab": cli.main, ".bare": run_without_tables, ".code": run_code}[order.suffix]
                perform(command, base, json.loads(content))
        if select.select([bell], [], [], _LOOK_S)[0]:
            os.read(bell, 4096)


def complete(model: type[BaseModel]) -> None:
    """Build the models that pydantic would build at their first use, in each fork again."""
    for each in model.__subclasses__():
        each.model_rebuild(raise_errors=False)
        complete(each)


def run_shell(base: Path, command: str) -> None:
    """Begin a shell command. Not by a fork: to copy this process takes longer than most commands do."""
    ours = (signal.SIGCHLD, signal.SIGPIPE, signal.SIGXFSZ)
    words = ("sh", "-c", SHELL, "sh", command, str(base))
    os.posix_spawn("/bin/sh", words, os.environ, setsigdef=ours)


def run_without_tables(words: list[str]) -> int:
    """Run a command line; of a run the result and the logs are kept, and no tables made of them."""
    from ssdlab import cli
    from ssdlab.results import finishing

    finishing.finish_run = lambda folder, manifest, lock: manifest
    return cli.main(words)


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
    Path(f"{base}.rc").write_text(f"{status}\n")
    os._exit(0)


if __name__ == "__main__":
    main()
