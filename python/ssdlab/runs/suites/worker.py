"""A run of a suite in its own process: `python -m ssdlab.runs.suites.worker SUITE PART [PAUSE_AFTER]`.

It ends with the process that started it: its standard input is a pipe to which nobody writes. When the pipe
is closed, the run stops as if by a signal. An error is printed as one JSON object.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from pathlib import Path
from typing import Any

from ssdlab.model.errors import of_python
from ssdlab.results.run_folder import read_manifest
from ssdlab.runs.runner import Paused
from ssdlab.runs.session import RunEnvironment
from ssdlab.runs.suites.children import work_on


def main(words: list[str]) -> int:
    threading.Thread(target=_stop_with_the_suite, daemon=True).start()
    folder, part = Path(words[0]), words[1]
    suite = read_manifest(folder)
    child = next(each for each in (*suite.redoing, *suite.children) if each.part == part)
    options: dict[str, Any] = {"pause_after": int(words[2])} if len(words) > 2 else {}
    try:
        work_on(suite, folder.parent, child, environment=RunEnvironment(**options))
    except Paused:
        return 0
    except BaseException as error:
        reported = of_python(error)
        if reported is None:
            raise
        print(json.dumps(reported.as_dict()), flush=True)
        return reported.exit_status
    return 0


def _stop_with_the_suite() -> None:
    while os.read(sys.stdin.fileno(), 1):
        pass
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
