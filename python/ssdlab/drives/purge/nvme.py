"""NVMe: Sanitize, which continues in the drive, and Format with secure erase, which blocks until done.

Source: NVM Express Base Specification 2.0c, 5.14 (Format NVM), 5.24 (Sanitize), 8.21 (Sanitize Operations),
figure 247 (Sanitize Status log), figure 275 (SANICAP, FNA).
"""

from __future__ import annotations

from ssdlab.drives.admin import nvme
from ssdlab.drives.admin.fields import Malformed
from ssdlab.drives.admin.nvme import commands
from ssdlab.drives.purge.method import (
    PurgeMethod,
    PurgeRejected,
    Sibling,
    Subject,
    Work,
    overwrite_s,
    patience_s,
)
from ssdlab.drives.purge.record import PurgeMethodName
from ssdlab.host.consent import consent_id
from ssdlab.model.errors import DriveError

SANITIZES: dict[PurgeMethodName, int] = {
    "nvme-sanitize-block": commands.BLOCK_ERASE,
    "nvme-sanitize-crypto": commands.CRYPTO_ERASE,
    "nvme-sanitize-overwrite": commands.OVERWRITE,
}
FORMATS: dict[PurgeMethodName, int] = {
    "nvme-format-crypto": commands.ERASE_CRYPTO,
    "nvme-format-user-data": commands.ERASE_USER_DATA,
}
_ACTION_BITS = 0x7
_BUSY_S = 300.0
"""A busy drive may answer late, and the kernel resets a drive that does not answer in time."""
_KERNEL_MAX_S = 4e6
"""The kernel holds time limits as milliseconds in 32 bits."""


def purge_methods(subject: Subject) -> tuple[PurgeMethod, ...]:
    """Return the purge methods of an NVMe drive, including unsupported ones."""
    nvme_details = subject.details.nvme
    controller = None if nvme_details is None else nvme_details.controller
    if nvme_details is None or controller is None:
        why = dict(subject.details.unanswered).get("controller", "no answer")
        silent = f"the drive's features are unknown (Identify Controller: {why})"
        return tuple(PurgeMethod(method, obstacle=silent) for method in (*SANITIZES, *FORMATS))
    others = _siblings(subject, nvme_details.active_namespaces)
    can = controller.sanitize
    capacity = subject.identity.capacity_bytes
    found = []
    for method, action in SANITIZES.items():
        kind = method.rpartition("-")[2]
        estimate_s = getattr(nvme_details.sanitize, f"{kind}_s", None)
        otherwise = overwrite_s(capacity) if kind == "overwrite" else patience_s(None)
        found.append(
            PurgeMethod(
                method,
                obstacle=None if getattr(can, kind) else "the drive does not offer it (SANICAP)",
                hits=others,
                limit_s=patience_s(estimate_s, otherwise),
                estimate_s=estimate_s,
                commands=(_sanitize_text(subject, action),),
            )
        )
    hits = others if controller.format_all or controller.erase_all else ()
    for method, setting in FORMATS.items():
        missing = not controller.format or (setting == commands.ERASE_CRYPTO and not controller.erase_crypto)
        found.append(
            PurgeMethod(
                method,
                obstacle="the drive does not offer it (OACS, FNA)" if missing else None,
                hits=hits,
                commands=(_format_text(subject, setting),),
            )
        )
    return tuple(found)


def status(subject: Subject) -> nvme.SanitizeStatus:
    """Read the Sanitize Status log.

    Raises
    ------
    DriveError
        The log could not be read, or is invalid.
    """
    words = nvme.LOG_BYTES // 4 - 1
    reply = subject.port.nvme(
        nvme.GET_LOG,
        nsid=nvme.ALL_NAMESPACES,
        cdw=(nvme.LOG_SANITIZE | words << 16,),
        read_bytes=nvme.LOG_BYTES,
        limit_s=_BUSY_S,
    )
    why = nvme.status_text(reply.status)
    if not reply.status:
        try:
            return nvme.sanitize_status(reply.data)
        except Malformed as error:
            why = str(error)
    raise DriveError(
        f"the Sanitize Status log of {subject.identity.path} cannot be read: {why}",
        "the drive may be working: keep it powered, and purge it again later",
        reason="unanswered",
    )


def running(subject: Subject) -> PurgeMethodName | None:
    """Return the sanitize running in the drive, whichever program began it; None if there is none."""
    nvme_details = subject.details.nvme
    if nvme_details is None or nvme_details.sanitize is None or nvme_details.sanitize.state != "running":
        return None
    action = nvme_details.sanitize.action & _ACTION_BITS
    return next((name for name, value in SANITIZES.items() if value == action), "nvme-sanitize-block")


def sanitize(work: Work) -> str:
    """Begin a sanitize, wait for its end, and return the drive's log in words."""
    action = SANITIZES[work.method.name]
    work.sent.append(_sanitize_text(work.subject, action))
    reply = work.subject.port.nvme(nvme.SANITIZE, cdw=commands.sanitize_words(action))
    if reply.status:
        raise PurgeRejected(f"the drive answered {nvme.status_text(reply.status)}")
    return follow(work)


def follow(work: Work) -> str:
    """Wait for the end of a running sanitize, and return the drive's log in words."""
    subject, action = work.subject, SANITIZES[work.method.name]
    while (now := status(subject)).state == "running":
        work.watch.look(now.share, "the drive is sanitizing")
        work.watch.pause()
    drive_log = _log_text(now)
    if now.state == "failed":
        work.sent.append("sanitize, action 1 (exit failure mode)")
        subject.port.nvme(nvme.SANITIZE, cdw=commands.sanitize_words(commands.EXIT_FAILURE))
        raise DriveError(
            f"{work.method.name} of {subject.identity.path} failed: {drive_log}",
            "try another method (--method), or replace the drive; it was commanded to leave that state",
            reason="failed",
            method=work.method.name,
            drive_log=drive_log,
        )
    if now.state not in {"done", "done-deallocated"} or now.action & _ACTION_BITS != action:
        raise DriveError(
            f"{subject.identity.path} accepted {work.method.name}, but does not log it: {drive_log}",
            "try another method (--method); this one did not purge the drive",
            reason="not-purged",
            method=work.method.name,
            drive_log=drive_log,
        )
    return drive_log


def format_namespace(work: Work) -> str:
    """Format the namespace with secure erase, keeping its LBA format; return its used blocks in words."""
    subject, setting = work.subject, FORMATS[work.method.name]
    nsid = subject.identity.nsid or 1
    work.sent.append(_format_text(subject, setting))
    try:
        page = _identify(subject, nsid)
        words, tells = commands.format_words(page, setting), commands.format_share(page) is not None
    except Malformed as error:
        raise PurgeRejected(f"its LBA format is unknown: {error}") from error
    limit_s = min(work.watch.left_s, _KERNEL_MAX_S)
    reply = work.watch.during(
        lambda: subject.port.nvme(nvme.FORMAT, nsid=nsid, cdw=words, limit_s=limit_s),
        "the drive is formatting the namespace",
        # A drive without progress reports is not polled: the kernel resets a drive that does not answer.
        lambda: _share(subject, nsid) if tells else None,
    )
    if reply.status:
        raise PurgeRejected(f"the drive answered {nvme.status_text(reply.status)}")
    try:
        space = nvme.namespace(_identify(subject, nsid))
    except Malformed as error:
        return f"Identify Namespace: {error}"
    used = "an unknown number" if space.used_blocks is None else space.used_blocks
    return f"Identify Namespace: {used} of {space.size_blocks} blocks in use"


def _identify(subject: Subject, nsid: int) -> bytes:
    reply = subject.port.nvme(
        nvme.IDENTIFY,
        nsid=nsid,
        cdw=(nvme.CNS_NAMESPACE,),
        read_bytes=nvme.PAGE_BYTES,
        limit_s=_BUSY_S,
    )
    if reply.status:
        raise Malformed(f"the drive answered {nvme.status_text(reply.status)}")
    return reply.data


def _share(subject: Subject, nsid: int) -> float | None:
    try:
        return commands.format_share(_identify(subject, nsid))
    except (Malformed, DriveError):
        return None  # many drives answer nothing while they format


def _siblings(subject: Subject, active: tuple[int, ...]) -> tuple[Sibling, ...]:
    """Return the other namespaces, including those that only the controller reports and Linux does not."""
    identity, files = subject.identity, subject.files
    found, shown = [], {identity.nsid}
    for name in identity.siblings:
        node = files.node_named(name)
        nsid = int(name.rpartition("n")[2])
        shown.add(nsid)
        named = f"{identity.serial}/{nsid}" if node is None else consent_id(files, node)
        found.append(Sibling(name, named, node))
    hidden = (nsid for nsid in active if nsid not in shown)
    return (*found, *(Sibling(f"namespace {nsid}", f"{identity.serial}/{nsid}", None) for nsid in hidden))


def _sanitize_text(subject: Subject, action: int) -> str:
    word = commands.sanitize_words(action)[0]
    return f"NVMe Sanitize (84h) to the controller of {subject.identity.path}, dword 10 {word:#x}"


def _format_text(subject: Subject, setting: int) -> str:
    return (
        f"NVMe Format NVM (80h) to namespace {subject.identity.nsid or 1} of {subject.identity.path}, "
        f"secure erase setting {setting}, LBA format unchanged"
    )


def _log_text(found: nvme.SanitizeStatus) -> str:
    clean = ", nothing written since" if found.erased else ""
    return f"Sanitize Status: {found.state}, command dword 10 {found.action:#x}{clean}"
