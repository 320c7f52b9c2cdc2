"""What the library's commands cost at size: CPU time of adding a run, of a ranking, of `rank` and `runs`.

    python scripts/make_library.py FOLDER 100000; ssdlab library rebuild --library FOLDER
    python benches/library.py FOLDER

Adds `ADDED` runs to it, so the library grows with each call.
"""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "scripts"))
from make_library import make_run

from ssdlab.library.choosing import Choice
from ssdlab.library.index import Index
from ssdlab.library.ranking import rank
from ssdlab.results import catalogue
from ssdlab.results.store import run_folders

ADDED = 600
"""Enough for rows to be put together twice."""
ADD_S, QUERY_S, COMMAND_S = 0.020, 0.010, 0.4
FIGURE = "qd1_random_read_iops"
CHOICE = Choice(status="finished")
"""What `ssdlab rank` asks for."""


def cpu_s() -> float:
    """CPU time of this process until now."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def adding(library: Path) -> list[float]:
    """CPU time of each of `ADDED` additions, the checks of the runs' seals included."""
    first = 10**6 + len(run_folders(library))
    times = []
    for number in range(first, first + ADDED):
        folder = make_run(library, number)
        before = cpu_s()
        catalogue.add(library, folder)
        times.append(cpu_s() - before)
    return times


def ranking(library: Path) -> list[float]:
    """Time of a ranking on a kept connection, each with a look whether the catalogue has changed."""
    times = []
    with Index(library, kept=True) as index:
        for _ in range(20):
            before = cpu_s()
            index.refresh()
            rank(index, FIGURE, CHOICE, limit=40)
            times.append(cpu_s() - before)
    return times


def command(*words: str) -> float:
    """CPU time of a command, the median of five."""
    times = []
    for _ in range(5):
        process = subprocess.Popen([sys.executable, "-m", "ssdlab", *words], stdout=subprocess.DEVNULL)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        assert process.returncode == 0, words
        times.append(used.ru_utime + used.ru_stime)
    return statistics.median(times)


def main() -> None:
    """Print the figures beside those to reach."""
    library = Path(sys.argv[1])
    began = time.monotonic()
    added = adding(library)
    queries = ranking(library)
    print(f"{library}: {len(run_folders(library))} runs; CPU time")
    mean, most = statistics.mean(added) * 1e3, max(added) * 1e3
    print(f"  add             {mean:7.1f} ms mean, {most:.0f} ms at most    to reach: {ADD_S * 1e3:.0f} ms")
    print(f"  ranking, kept   {statistics.median(queries) * 1e3:7.1f} ms    to reach: {QUERY_S * 1e3:.0f} ms")
    for words in (("rank", FIGURE), ("runs",)):
        cost = command(*words, "--library", str(library))
        print(f"  ssdlab {words[0]:<8} {cost * 1e3:7.0f} ms    to reach: {COMMAND_S * 1e3:.0f} ms")
    print(f"  all of this     {time.monotonic() - began:7.0f} s")


if __name__ == "__main__":
    main()
