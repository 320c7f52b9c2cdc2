"""SAS and other SCSI drives: SANITIZE and FORMAT UNIT, begun by one command and polled by others.

Sources: SBC-4 5.34 (SANITIZE), 5.4 (FORMAT UNIT); SPC-6 6.36 (REPORT SUPPORTED OPERATION CODES), 6.39
(REQUEST SENSE), 4.4 (sense data).
"""

from __future__ import annotations

from ssdlab.drives.admin import scsi
from ssdlab.drives.purge.method import PurgeMethod, PurgeRejected, Subject, Work, overwrite_s
from ssdlab.drives.purge.record import PurgeMethodName
from ssdlab.model.errors import DriveError

_ACTIONS: dict[PurgeMethodName, str] = {"scsi-sanitize-block": "block", "scsi-sanitize-crypto": "crypto"}
METHODS: tuple[PurgeMethodName, ...] = (*_ACTIONS, "scsi-format")
_NO_SENSE = 0


def purge_methods(subject: Subject) -> tuple[PurgeMethod, ...]:
    """Return the purge methods of a SCSI drive, including unsupported ones."""
    return tuple(
        PurgeMethod(
            method,
            obstacle=_obstacle(subject, method),
            limit_s=overwrite_s(subject.identity.capacity_bytes),
            commands=(_text(subject, method),),
        )
        for method in METHODS
    )


def erase(work: Work) -> str:
    """Begin SANITIZE or FORMAT UNIT, wait for its end, and return the drive's sense data in words."""
    subject, method = work.subject, work.method.name
    work.sent.append(_text(subject, method))
    if method in _ACTIONS:
        reply = subject.port.scsi(scsi.sanitize_cdb(_ACTIONS[method]))
    else:
        reply = subject.port.scsi(scsi.format_cdb(), data=scsi.FORMAT_LIST)
    if reply.status or reply.transport:
        raise PurgeRejected(f"the drive refused the command ({_sense_text(scsi.sense(reply.sense))})")
    while (now := _sense(subject)) is not None and now.working is not None:
        work.watch.look(now.share, "the drive is erasing")
        work.watch.pause()
    drive_log = _sense_text(now)
    if now is not None and now.key != _NO_SENSE:
        raise DriveError(
            f"{method} of {subject.identity.path} failed: {drive_log}",
            "purge it again, or use another method (--method): until then it may refuse I/O",
            reason="failed",
            method=method,
            drive_log=drive_log,
        )
    return f"REQUEST SENSE: {drive_log}"


def _obstacle(subject: Subject, method: PurgeMethodName) -> str | None:
    opcode, action = (0x48, scsi.SANITIZE_ACTIONS[_ACTIONS[method]]) if method in _ACTIONS else (0x04, None)
    try:
        reply = subject.port.scsi(scsi.supported_cdb(opcode, action), read_bytes=scsi.SUPPORTED_BYTES)
    except DriveError as error:
        return f"the drive's features are unknown ({error.what})"
    if reply.status or reply.transport:
        return "the drive does not report its commands"
    return None if scsi.is_supported(reply.data) else "the drive does not offer it"


def _sense(subject: Subject) -> scsi.Sense | None:
    reply = subject.port.scsi(scsi.request_sense_cdb(), read_bytes=scsi.SENSE_BYTES)
    return scsi.sense(reply.data)


def _sense_text(found: scsi.Sense | None) -> str:
    if found is None:
        return "no sense data"
    return f"sense key {found.key:x}h, code {found.code:02x}h/{found.qualifier:02x}h"


def _text(subject: Subject, method: PurgeMethodName) -> str:
    name = f"SANITIZE (48h), {_ACTIONS[method]} erase" if method in _ACTIONS else "FORMAT UNIT (04h)"
    return f"SCSI {name}, to {subject.identity.path}"
