"""The power samples of a step: a file beside its log until the run is compacted.

A sealed line of JSON (rails, samples, SHA-256 of what follows), then the columns: start and end in ns since
the start of the step's measurement, or of the step where it measures nothing, and W for each rail.
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ssdlab.model.errors import HostError
from ssdlab.results.seal import Chain

if TYPE_CHECKING:
    from ssdlab.analysis.energy import Array
    from ssdlab.host.held_folder import HeldFolder
    from ssdlab.results import tables


SUFFIX = ".power"
_HEAD = ("rails", "samples", "sha256")


class StepPower(NamedTuple):
    """Samples of a step: shapes (n,), (n,) and (n, rails)."""

    rails: tuple[str, ...]
    start_ns: Array
    end_ns: Array
    watts: Array


def power_name(ordinal: int, attempt: int) -> str:
    """Return the file name of an attempt's power samples."""
    return f"{ordinal:04d}-{attempt}{SUFFIX}"


def write_power(steps: HeldFolder, name: str, power: StepPower) -> None:
    """Write the samples durably.

    Raises
    ------
    OSError
        When the file system is full or fails.
    """
    columns = (power.start_ns.astype("<i8"), power.end_ns.astype("<i8"), power.watts.astype("<f8"))
    body = b"".join(np.ascontiguousarray(each).tobytes() for each in columns)
    stated = (list(power.rails), len(power.start_ns), hashlib.sha256(body).hexdigest())
    head = dict(zip(_HEAD, stated, strict=True))
    steps.replace(name, Chain().write(json.dumps(head)) + body)


def read_power(steps: HeldFolder, name: str) -> StepPower:
    """Read the samples of a step.

    Raises
    ------
    HostError
        The file is damaged.
    """
    head, _, body = steps.read_bytes(name).partition(b"\n")
    try:
        stated = json.loads(Chain().read(head))
        rails, count = tuple(stated["rails"]), int(stated["samples"])
        # With more in it than that, it is a line with a seal that is none any more.
        whole = len(stated) == len(_HEAD) and stated["sha256"] == hashlib.sha256(body).hexdigest()
    except (ValueError, KeyError, TypeError):
        whole = False
    if not whole:
        path = steps.path / name
        raise HostError(
            f"{path} is damaged: it is not what was sealed",
            "check that disk; restore the file from a copy, or run the method again",
            path=str(path),
        )
    times = np.frombuffer(body, dtype="<i8", count=2 * count).reshape(2, count)
    watts = np.frombuffer(body, dtype="<f8", offset=16 * count).reshape(count, len(rails))
    return StepPower(rails, times[0], times[1], watts)


def power_columns(steps: HeldFolder) -> list[tables.Columns]:
    """Return the lines of the power table, a part for each rail of each attempt."""
    parts = []
    for name in steps.names():
        if not name.endswith(SUFFIX):
            continue
        ordinal, _, attempt = name.removesuffix(SUFFIX).partition("-")
        power = read_power(steps, name)
        count = len(power.start_ns)
        for at, rail in enumerate(power.rails):
            parts.append(
                {
                    "ordinal": np.full(count, int(ordinal), dtype=np.int32),
                    "attempt": np.full(count, int(attempt), dtype=np.int32),
                    "rail": np.full(count, rail, dtype=np.object_),
                    "start_ns": power.start_ns,
                    "end_ns": power.end_ns,
                    "mean_w": power.watts[:, at],
                }
            )
    return parts
