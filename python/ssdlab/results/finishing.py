"""Finishes a run: a separate process (`compaction`) writes its tables."""

from __future__ import annotations

import json
import subprocess
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ssdlab.host.programs import WORKING_FOLDER, fixed_environment, own_module
from ssdlab.model.errors import HostError, Interrupted, Refused, error_of
from ssdlab.results.run_folder import read_manifest
from ssdlab.results.unwritten_tables import continue_words

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from ssdlab.results.lease import RunLock
    from ssdlab.results.schema import Manifest


def finish_run(folder: Path, manifest: Manifest, lock: RunLock) -> Manifest:
    """Compact a finished run in a child process, enter it in the catalogue, and make it immutable.

    Parameters
    ----------
    lock
        The caller's lock of the run folder. The child shares it, so that the run cannot be resumed while the
        child of a killed parent still works.

    Raises
    ------
    HostError
        The library's file system is full or fails: result and step logs are kept for `ssdlab resume`. Or a
        log is damaged.
    Refused
        The run is damaged.
    Interrupted
        A signal came: result and step logs are kept.
    """
    with explaining_stops(folder, manifest):
        done = subprocess.run(
            own_module("ssdlab.results.compaction", str(lock.folder.fileno()), str(folder.absolute())),
            check=False,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            pass_fds=lock.descriptors,
            env=fixed_environment(),
            cwd=WORKING_FOLDER,
        )
    try:
        answer = json.loads(done.stdout)
    except ValueError:
        answer = {"what": f"the tables of {folder.name} could not be written: {done.stderr.strip()[-300:]}"}
    if answer.get("error") == Refused.kind or answer.get("facts", {}).get("damaged"):
        raise error_of(answer)
    if "tables" not in answer:
        raise HostError(
            answer["what"],
            f"the result and all rows are kept: fix the cause, then {continue_words(folder)}",
            path=str(folder),
        )
    return read_manifest(folder)


@contextmanager
def explaining_stops(folder: Path, manifest: Manifest) -> Iterator[None]:
    """Turn a signal after the last step into an error that says what is kept and how to continue.

    Raises
    ------
    Interrupted
        A signal came.
    """
    try:
        yield
    except KeyboardInterrupt as error:
        raise Interrupted(
            "stopped by a signal while writing the tables: the result and all rows are kept",
            continue_words(folder),
            run=manifest.run_id,
            folder=str(folder),
        ) from error
