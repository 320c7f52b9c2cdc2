"""The substitutes that any block device has: all that can be addressed is discarded, or written over."""

from __future__ import annotations

from ssdlab.drives.purge.method import PurgeMethod, PurgeRejected, Subject, Work, overwrite_s
from ssdlab.host.attributes import disk_of
from ssdlab.host.sysfs import number
from ssdlab.model.errors import DriveError, HostError

_DISCARD_BYTES = 16 << 30
_WRITE_BYTES = 4 << 20
_DISCARD_S_PER_TB = 300.0


def purge_methods(subject: Subject) -> tuple[PurgeMethod, ...]:
    """Return both; a device without discards supports only one."""
    size, path = subject.identity.capacity_bytes, subject.identity.path
    limit_bytes = number(disk_of(subject.node) / "queue" / "discard_max_bytes")
    return (
        PurgeMethod(
            "discard",
            obstacle=None if limit_bytes else "the device takes no discards",
            limit_s=600.0 + size / 1e12 * _DISCARD_S_PER_TB,
            commands=(f"discard bytes 0 to {size} of {path}",),
        ),
        PurgeMethod(
            "zero-fill",
            limit_s=overwrite_s(size),
            commands=(f"write zeroes to bytes 0 to {size} of {path}",),
        ),
    )


def discard(work: Work) -> None:
    """Discard everything, a part at a time."""
    work.sent.extend(work.method.commands)
    size = work.medium.size_bytes
    for at in range(0, size, _DISCARD_BYTES):
        length = min(_DISCARD_BYTES, size - at)
        try:
            _discard_part(work, at, length)
        except (DriveError, HostError) as error:
            raise PurgeRejected(error.what) from error
        work.watch.look((at + length) / size, "blocks are discarded")


def zero_fill(work: Work) -> None:
    """Write zeroes over everything, and make them durable."""
    work.sent.extend(work.method.commands)
    size = work.medium.size_bytes
    zeroes = bytes(_WRITE_BYTES)
    for at in range(0, size, _WRITE_BYTES):
        length = min(_WRITE_BYTES, size - at)
        try:
            work.medium.write(at, zeroes[:length])
        except OSError as error:
            raise DriveError(
                f"{work.subject.identity.path} failed to take zeroes at byte {at}: {error.strerror or error}",
                "look into the kernel's log (dmesg); the drive may be failing",
                reason="failed",
                method=work.method.name,
                offset=at,
                errno=error.errno,
            ) from error
        work.watch.look((at + length) / size, "zeroes are written")
    work.medium.flush()


def _discard_part(work: Work, at: int, length: int) -> None:
    work.watch.during(lambda: work.medium.discard(at, length), "blocks are discarded")
