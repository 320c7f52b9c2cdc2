"""The last that is done to a finished run: its tables are written, by a program of its own (`compaction`)."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterable
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np

from ssdlab.host.programs import WORKING_FOLDER, fixed_environment, own_module
from ssdlab.model.errors import HostError, Interrupted, Refused, error_of
from ssdlab.results.metered import LIMIT_S, drawn
from ssdlab.results.run_folder import read_manifest
from ssdlab.results.step_log import POWER_SUFFIX, StepPower, power_name, read_power
from ssdlab.results.unwritten_tables import continue_words

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pydantic import JsonValue

    from ssdlab.host.held_folder import HeldFolder
    from ssdlab.results.lease import RunLock
    from ssdlab.results.run_folder import Step
    from ssdlab.results.schema import Manifest

_NEARLY = 0.99
"""A step of that part of `LIMIT_S` is as long: its first and last samples may lie across its ends."""


def energy_of(folder: HeldFolder, steps: Iterable[Step]) -> dict[str, JsonValue]:
    """Return energy, metered time and the highest mean over `LIMIT_S` of the steps that count.

    Where no step is as long it is the highest of whole steps. Empty where nothing was metered.
    """
    there = {name for name in folder.names() if name.endswith(POWER_SUFFIX)}
    energy_j, metered_s = 0.0, 0.0
    highest = (0.0, 0.0)
    for step in steps:
        for attempt in step.result.segments or (step.attempt,):
            if (name := power_name(step.ordinal, attempt)) not in there:
                continue
            power = read_power(folder, name)
            lengths_s = (power.end_ns - power.start_ns) / 1e9
            energy_j += float((power.watts.sum(axis=1) * lengths_s).sum())
            metered_s += float(lengths_s.sum())
            over = (_over_s(float(lengths_s.sum())), highest_mean_w(power))
            highest = max(highest, over, key=_as_long_as_a_limit)
    if not metered_s:
        return {}
    over_s, highest_w = highest
    return drawn(energy_j, metered_s, highest_w, over_s)


def _over_s(step_s: float) -> float:
    return LIMIT_S if step_s >= LIMIT_S * _NEARLY else round(step_s, 3)


def _as_long_as_a_limit(highest: tuple[float, float]) -> tuple[bool, float]:
    """Compare means over a time: those over less than `LIMIT_S` say nothing of a limit, and come behind."""
    over_s, mean_w = highest
    return over_s >= LIMIT_S, mean_w


def highest_mean_w(power: StepPower, over_s: float = LIMIT_S) -> float:
    """Return the highest mean over a time, of whole samples, or over all of them where that is higher.

    A step that draws most at both its ends has a higher mean than any ten seconds of it.
    """
    watts = power.watts.sum(axis=1)
    lengths_s = (power.end_ns - power.start_ns) / 1e9
    ends = np.cumsum(lengths_s)
    if not len(ends):
        return 0.0
    energy = np.concatenate([[0.0], np.cumsum(watts * lengths_s)])
    starts = ends - lengths_s
    last = np.searchsorted(ends, starts + over_s * (1 - 1e-9))
    first = np.flatnonzero(last < len(ends))
    last = last[first]
    means = (energy[last + 1] - energy[first]) / (ends[last] - starts[first])
    return float(max(energy[-1] / ends[-1], means.max(initial=0.0)))


def finish_run(folder: Path, manifest: Manifest, lock: RunLock) -> Manifest:
    """Compact a finished run in a child process, enter it in the catalogue, and make it immutable.

    Parameters
    ----------
    folder, manifest
        The run.
    lock
        The caller's hold of the folder. The child shares it, so that nobody resumes the run beside a child
        whose parent was killed.

    Raises
    ------
    HostError
        When the library's file system is full or fails; the result and the step logs are kept, and `ssdlab
        resume` does the rest later. Or a log is damaged.
    Refused
        The run is damaged.
    Interrupted
        By a signal; likewise.
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
            f"the result and all rows are kept; when the cause is gone, {continue_words(folder)}",
            path=str(folder),
        )
    return read_manifest(folder)


@contextmanager
def explaining_stops(folder: Path, manifest: Manifest) -> Iterator[None]:
    """Say of a signal that comes after the last step what is kept, and how to go on.

    Raises
    ------
    Interrupted
        One came.
    """
    try:
        yield
    except KeyboardInterrupt as error:
        raise Interrupted(
            "stopped by a signal while the tables were written: the result and all rows are kept",
            continue_words(folder),
            run=manifest.run_id,
            folder=str(folder),
        ) from error
