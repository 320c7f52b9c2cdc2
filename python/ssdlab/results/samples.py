"""The samples of one attempt at a step, until the run is compacted: `steps/NNNN-A.samples`.

One line for each: a checksum, and the figures as JSON. A drive that is sampled as it works adds a line each
second, so that a kill loses one; a reader stops at the first line that is not whole. The file of an attempt
that ended its step has a last line, a checksum over all before it.
"""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from threading import Lock
from typing import TYPE_CHECKING, Any

from ssdlab.model.errors import Refused
from ssdlab.model.telemetry import FIGURES, Sample
from ssdlab.results.lines import RESTORE

if TYPE_CHECKING:
    from collections.abc import Callable

    from ssdlab.host.held_folder import HeldFolder

_ENDING = ".samples"
_END = b"end"


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
    lines = b"".join(map(_line, samples))
    steps.replace(name, lines + b"%08x %s\n" % (zlib.crc32(lines), _END))


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


def read_samples(steps: HeldFolder, name: str, *, ended: bool = False) -> list[Sample]:
    """Return the samples of a file, up to the first line that is not whole; none if there is no file.

    Raises
    ------
    Refused
        The attempt `ended` its step, and the file is not whole. One from before there were last lines is.
    """
    try:
        content = steps.read_bytes(name)
    except FileNotFoundError:
        return []
    found = []
    lines, _, torn = content.rpartition(b"\n")
    at, whole = 0, not torn
    for line in lines.split(b"\n") if lines else ():
        checksum, _, text = line.partition(b" ")
        is_end = text == _END
        if not whole or checksum != b"%08x" % zlib.crc32(content[:at] if is_end else text):
            whole = False
            break
        at += len(line) + 1
        if is_end:
            whole = at == len(content)
        else:
            at_ns, *figures = json.loads(text)
            found.append(Sample(at_ns, **dict(zip(FIGURES, figures, strict=False))))
    if ended and not whole:
        path = str(steps.path / name)
        raise Refused(f"{path} is damaged: it is not what was sealed", RESTORE, path=path)
    return found


def _line(sample: Sample) -> bytes:
    values: list[Any] = [sample.at_ns, *(getattr(sample, name) for name in FIGURES)]
    text = json.dumps(values, separators=(",", ":")).encode()
    return b"%08x %s\n" % (zlib.crc32(text), text)
