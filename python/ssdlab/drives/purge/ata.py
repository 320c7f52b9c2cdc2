"""SATA: the Security feature set, by hdparm.

An erase needs a password, which locks the drive after a power cycle. ssdlab always uses the same documented
password (`PASSWORD`), and removes it in any case; after a kill, the next purge removes it. If the firmware
froze the feature set at boot, the user must undo that first.

Sources: ACS-5 4.18 (Security feature set), 7.34 to 7.39 (SECURITY commands), 7.13 (IDENTIFY DEVICE words 82,
85, 89, 90, 128).
"""

from __future__ import annotations

from contextlib import suppress

from ssdlab.drives.admin import ata
from ssdlab.drives.admin.fields import Malformed
from ssdlab.drives.purge.method import PurgeMethod, PurgeRejected, Subject, Work, patience_s
from ssdlab.drives.purge.record import PurgeMethodName
from ssdlab.model.errors import DriveError, LabError

PASSWORD = "ssdlab"
"""User password of the drive during an erase."""

OPTIONS: dict[PurgeMethodName, str] = {
    "ata-security-erase-enhanced": "--security-erase-enhanced",
    "ata-security-erase": "--security-erase",
}
_SHORT_S = 60.0
_OTHERWISE_S = 4 * 3600.0
_FROZEN = (
    "its Security feature set is frozen, as firmware does at boot: suspend the computer and wake it again, "
    "or unplug the drive's power for some seconds while the computer runs"
)
_UNANNOUNCED = "the drive does not announce the Security feature set (IDENTIFY DEVICE word 82)"


def purge_methods(subject: Subject) -> tuple[PurgeMethod, ...]:
    """Return the purge methods of a SATA drive, including unsupported ones."""
    ata_details = subject.details.ata
    device = None if ata_details is None else ata_details.device
    if device is None:
        why = dict(subject.details.unanswered).get("identify", "no answer")
        return tuple(
            PurgeMethod(m, obstacle=f"the drive's security state is unknown ({why})") for m in OPTIONS
        )
    found = []
    for method in OPTIONS:
        enhanced = method == "ata-security-erase-enhanced"
        minutes = device.security.enhanced_minutes if enhanced else device.security.erase_minutes
        estimate_s = None if minutes is None else minutes * 60.0
        missing = device.security.supported and enhanced and not device.security.enhanced
        found.append(
            PurgeMethod(
                method,
                obstacle="the drive has no enhanced erase" if missing else _obstacle(device.security),
                named_only=None if device.security.supported else _UNANNOUNCED,
                limit_s=patience_s(estimate_s, _OTHERWISE_S),
                estimate_s=estimate_s,
                commands=tuple(" ".join(words) for words in _commands(subject, method)),
            )
        )
    return tuple(found)


def erase(work: Work) -> str:
    """Erase by SECURITY ERASE UNIT, remove the password, and return the drive's security state."""
    subject = work.subject
    set_password, erase_all, _ = _commands(subject, work.method.name)
    before = _security(subject)
    if before.enabled and not _without_password(work):
        raise PurgeRejected("it has a password that ssdlab did not set")
    at_work = False
    try:
        _run(work, set_password, _SHORT_S, "the password for the erase is set")
        if before.supported and not _security(subject).enabled:
            raise PurgeRejected("it rejected the password that an erase needs")
        at_work = True
        _run(work, erase_all, work.watch.left_s, "the drive is erasing")
        at_work = False
    finally:
        # A drive that is still erasing answers nothing. It drops the password when done, or the next purge
        # removes it.
        removed = at_work or _without_password(work)
    if not removed:
        raise _left_behind(subject, work.method.name)
    return security_text(_security(subject))


def clear_password(work: Work) -> bool:
    """Remove a password that a killed purge left behind; return whether none is set now."""
    with suppress(DriveError):
        if _security(work.subject).locked:
            path = work.subject.identity.path
            words = ("hdparm", "--user-master", "u", "--security-unlock", PASSWORD, path)
            _run(work, words, _SHORT_S, "the drive is unlocked")
    return _without_password(work)


def security_text(security: ata.Security) -> str:
    words = {
        "supported": security.supported,
        "password set": security.enabled,
        "locked": security.locked,
        "frozen": security.frozen,
    }
    return "security: " + ", ".join(f"{name} {'yes' if value else 'no'}" for name, value in words.items())


def _obstacle(security: ata.Security) -> str | None:
    if security.frozen:
        return _FROZEN
    if security.locked:
        return "it is locked with a password: unlock it first (hdparm --security-unlock)"
    if security.attempts_exhausted:
        return "it accepts no more passwords until it is power-cycled"
    return None


def _commands(subject: Subject, method: PurgeMethodName) -> tuple[tuple[str, ...], ...]:
    path = subject.identity.path
    options = ("--security-set-pass", OPTIONS[method], "--security-disable")
    return tuple(("hdparm", "--user-master", "u", option, PASSWORD, path) for option in options)


def _run(work: Work, words: tuple[str, ...], limit_s: float, what: str) -> None:
    """Run hdparm, and ignore its exit status, which is 0 even if the drive refused."""
    work.sent.append(" ".join(words))
    port = work.subject.port
    work.watch.during(lambda: port.tool(*words, limit_s=limit_s), what)


def _without_password(work: Work) -> bool:
    """Remove the password if one is set, and return whether none is set now.

    `work.watch` is not used, because this must be done even if the purge is stopped.
    """
    subject = work.subject
    words = _commands(subject, work.method.name)[2]
    for attempt in range(2):
        try:
            if not _security(subject).enabled:
                return True
            if attempt == 0:
                work.sent.append(" ".join(words))
                subject.port.tool(*words, limit_s=_SHORT_S)
        except LabError:
            return False
    return False


def _security(subject: Subject) -> ata.Security:
    reply = subject.port.scsi(ata.identify_cdb(), read_bytes=ata.PAGE_BYTES)
    why = "it refused the command"
    if not reply.status and not reply.transport:
        try:
            return ata.device(reply.data).security
        except Malformed as error:
            why = str(error)
    raise DriveError(
        f"the security state of {subject.identity.path} cannot be read: {why}",
        f"if a password is still set, remove it: hdparm --security-disable {PASSWORD}",
        reason="unanswered",
    )


def _left_behind(subject: Subject, method: PurgeMethodName) -> DriveError:
    path = subject.identity.path
    return DriveError(
        f"{method} of {path} left its password set, and the drive does not remove it",
        "remove it before powering off the drive: "
        f"hdparm --user-master u --security-disable {PASSWORD} {path}",
        reason="password",
        method=method,
        password=PASSWORD,
        drive_log=None,
    )
