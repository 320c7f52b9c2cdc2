"""Runs that change settings and are killed with SIGKILL at a moment by its number; also runs in the guest."""

from __future__ import annotations

import os
import random
import signal
from collections.abc import Callable
from pathlib import Path

MEASURED = """
[[step]]
do = "run"
rw = "randread"
bytes = "4k"
"""
"""A job that sets nothing."""
SEED = 20_261_122


def setting(**values: str | int) -> str:
    """A job that sets these settings, and then reads."""
    lines = "".join(f"{name.replace('_', '-')} = {value!r}\n" for name, value in values.items())
    return f'[[step]]\ndo = "conditions"\n{lines}{MEASURED}'


def moments(every: int, kills: int) -> list[int]:
    """So many of the moments that a run has, or all of them where it has fewer."""
    return random.Random(SEED).sample(range(1, every + 1), min(kills, every))


def run_job(drive: str, library: Path, job: str) -> Path:
    """Run a job to its end, but for the tables: they would take longest, and set nothing."""
    from ssdlab.lab.found import find_method
    from ssdlab.lab.job import read_job
    from ssdlab.runs.order import Order
    from ssdlab.runs.session import RunEnvironment, start

    order = Order(find_method("job"), read_job(job, "job"), drive, seed=1)
    return start(order, library, environment=RunEnvironment(finish=lambda folder, manifest, lock: manifest))


def killed_at(point: int, work: Callable[[], object]) -> int:
    """Do work in a child that kills itself at a moment by its number, and return how many have passed.

    The moments are those before and after each writing of the ledger and of a setting.
    """
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
            _arm(point, write)
            work()
        finally:
            os._exit(0)
    os.close(write)
    os.waitpid(child, 0)
    with os.fdopen(read, "rb") as passed:
        return len(passed.read())


def _arm(point: int, passed: int) -> None:
    import ssdlab.drives.settings.queue
    import ssdlab.drives.settings.write_cache
    import ssdlab.runs.conditions.ledger

    count = 0

    def moment() -> None:
        nonlocal count
        count += 1
        os.write(passed, b".")
        if count == point:
            os.kill(os.getpid(), signal.SIGKILL)

    def around(work: Callable[..., object]) -> Callable[..., object]:
        def watched(*words: object, **options: object) -> object:
            moment()
            done = work(*words, **options)
            moment()
            return done

        return watched

    for home, name in (
        (ssdlab.runs.conditions.ledger, "replace"),
        (ssdlab.drives.settings.queue, "write_file"),
        (ssdlab.drives.settings.write_cache.NvmeCache, "enable"),
    ):
        setattr(home, name, around(getattr(home, name)))
