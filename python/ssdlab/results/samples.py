"""The samples of one attempt at a step, until the run is compacted: `steps/NNNN-A.samples`.

One line for each: a checksum, and the figures as JSON. A drive that is sampled as it works adds a line each
second, so that a kill loses one; a reader stops at the first line that is not whole.
"""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from threading import Lock
from typing import TYPE_CHECKING, Any

from ssdlab.model.telemetry import FIGURES, Sample

if TYPE_CHECKING:
    from collections.abc import Callable

    from ssdlab.host.held_folder import HeldFolder

_ENDING = ".samples"


def samples_name(ordinal: int, attempt: int) -> str:
    """Return the file name of an attempt's samples."""
    return f"{ordinal:04d}-{attempt}{_ENDING}"


def sample_files(steps: HeldFolder) -> list[tuple[int, int, str]]:
    """Return ordinal, attempt and name of each such file, in order."""
    found = []
    for name in steps.names():
        ordinal, _, attempt = name.removesuffix(_ENDING).partition("-")
        if name.endswith(_ENDING) and ordinal.isdigit() and attempt.isdigit():
            found.append((int(ordinal), int(attempt), name))
    return sorted(found)


def write_samples(steps: HeldFolder, name: str, samples: Iterable[Sample]) -> None:
    """Put the samples of a finished attempt into its file, durably, in place of what was kept meanwhile."""
    steps.replace(name, b"".join(map(_line, samples)))


@contextmanager
def kept_as_taken(steps: HeldFolder, name: str) -> Iterator[Callable[[Sample], None]]:
    """Give what adds a sample to a file; the file is made with the first.

    It may be called by a thread that comes late: nothing is added after the end of the block, when the number
    of the descriptor may be another file's.
    """
    descriptor, over, lock = -1, False, Lock()

    def keep(sample: Sample) -> None:
        nonlocal descriptor
        with lock:
            if over:
                return
            if descriptor < 0:
                descriptor = steps.append_to(name)
            os.write(descriptor, _line(sample))

    try:
        yield keep
    finally:
        with lock:
            over = True
            if descriptor >= 0:
                os.close(descriptor)


def read_samples(steps: HeldFolder, name: str) -> list[Sample]:
    """Return the samples of a file, up to the first line that is not whole; none if there is no file."""
    try:
        content = steps.read_bytes(name)
    except FileNotFoundError:
        return []
    found = []
    for line in content.split(b"\n")[:-1]:
        checksum, _, text = line.partition(b" ")
        if checksum != b"%08x" % zlib.crc32(text):
            break
        at_ns, *figures = json.loads(text)
        found.append(Sample(at_ns, **dict(zip(FIGURES, figures, strict=False))))
    return found


def _line(sample: Sample) -> bytes:
    values: list[Any] = [sample.at_ns, *(getattr(sample, name) for name in FIGURES)]
    text = json.dumps(values, separators=(",", ":")).encode()
    return b"%08x %s\n" % (zlib.crc32(text), text)
