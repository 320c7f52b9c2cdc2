"""Refuses the wrong file: the guard of a target that is a file or will become one.

`file_facts` gathers the facts; `judge_file` is pure.
"""

from __future__ import annotations

import errno
import fcntl
import os
import signal
import stat
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from ssdlab.drives.guard import usage
from ssdlab.drives.guard.judge import Intent, Refusal, unseen
from ssdlab.drives.guard.mark import Ownership, ownership, read_mark
from ssdlab.drives.guard.usage import Export
from ssdlab.host.openers import Opener
from ssdlab.host.rights import Unseen
from ssdlab.host.sysfs import HostFiles
from ssdlab.model.printable import quoted, shell_word
from ssdlab.model.units import bytes_text

# Whether anybody else has a file open: the kernel shows it by granting or refusing a lease.
#
# A write lease is granted only while no other open file description of the inode exists, in any process,
# any namespace or the kernel itself: descriptors, mappings whose descriptor is closed, files registered in
# a ring, descriptors in transit over a socket, loop devices, swap. Source: fcntl(2), F_SETLEASE.

Lease = Literal["free", "held", "unknown"]
"""`free`: nobody else has the file open. `unknown`: the kernel grants no lease.

It grants none on another user's file without CAP_LEASE, and in some file systems."""


def probe(descriptor: int) -> Lease:
    """Take a write lease on an open file and release it at once.

    Our other descriptors count as foreign, except duplicates of this one. A process that opens the file
    meanwhile waits a few microseconds (with O_NONBLOCK it gets EWOULDBLOCK).
    """
    return _asked(descriptor, fcntl.F_WRLCK)


def only_read_elsewhere(descriptor: int) -> bool:
    """Return whether certainly no process, including this one, has the file open for writing."""
    reading = fcntl.fcntl(descriptor, fcntl.F_GETFL) & os.O_ACCMODE == os.O_RDONLY
    return reading and _asked(descriptor, fcntl.F_RDLCK) == "free"


def _asked(descriptor: int, kind: int) -> Lease:
    try:
        # The kernel signals us when somebody breaks the lease. SIGIO, the default, would end this process.
        fcntl.fcntl(descriptor, fcntl.F_SETSIG, signal.SIGURG)
        fcntl.fcntl(descriptor, fcntl.F_SETLEASE, kind)
    except OSError as error:
        return "held" if error.errno == errno.EAGAIN else "unknown"
    fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_UNLCK)
    return "free"


_PATIENCE_S = 1.0
"""Seconds an unknown process may have the file open before it counts: indexers open each new file."""

_LOOK_AGAIN_S = 0.1

_KINDS = (
    (stat.S_ISREG, "file"),
    (stat.S_ISDIR, "directory"),
    (stat.S_ISLNK, "symbolic link"),
    (stat.S_ISFIFO, "pipe"),
    (stat.S_ISSOCK, "socket"),
    (stat.S_ISCHR, "character device"),
)


@dataclass(frozen=True, slots=True)
class FileFacts:
    """All facts of a file for the guard.

    Attributes
    ----------
    path, name
        Path with its folder resolved, and the file's name in it, which is also the identifier for consent.
    kind
        `missing`, `file`, `directory`, `symbolic link` and so on.
    leads_to
        Target of a symbolic link.
    size_bytes, links
        Size in bytes, and number of names (hard links).
    ownership
        Whether ssdlab created it.
    readable, writable
        Permissions of this user; for a missing file, `writable` is whether it can be created.
    folder
        Whether its folder exists.
    free_bytes
        Free space for this user, including the space that the file already occupies.
    swap, loops, exports, openers
        Users of the file: swap space, loop devices on it, exports of the kernel, processes that have it open.
    lease
        Whether anybody else has it open at all, according to the kernel; `read` if all others only read.
    unseen
        What could not be inspected.
    """

    path: str
    name: str
    kind: str = "file"
    leads_to: str | None = None
    size_bytes: int = 0
    links: int = 1
    ownership: Ownership = "foreign"
    readable: bool = True
    writable: bool = True
    folder: bool = True
    free_bytes: int = 0
    swap: bool = False
    loops: tuple[str, ...] = ()
    exports: tuple[Export, ...] = ()
    openers: tuple[Opener, ...] = ()
    lease: Lease | Literal["read"] = "unknown"
    unseen: tuple[Unseen, ...] = ()


def file_facts(
    files: HostFiles, path: Path, descriptor: int | None = None, token: str | None = None
) -> FileFacts:
    """Gather the facts against using a file.

    Parameters
    ----------
    path
        Absolute path. Its folder is resolved, its last part is not: a symbolic link is judged as one.
    descriptor
        A descriptor of the file itself, if it is open. Then every fact is about that file, wherever the path
        leads by now, and the path only gives the name. Other descriptors of this process count for the lease
        alone.
    token
        Token of the run that resumes with the file after it was cut short; see `ownership`.
    """
    if descriptor is not None:
        return _facts_of(files, path, descriptor, ours=True, token=token)
    folder = os.path.isdir(path.parent)  # noqa: PTH112 - Path.is_dir raises where a folder may not be entered
    try:
        status = path.lstat()
    except PermissionError:
        return FileFacts(path=str(path), name=path.name, readable=False, writable=False)
    except OSError:
        return FileFacts(
            path=str(path),
            name=path.name,
            kind="missing",
            folder=folder,
            writable=folder and os.access(path.parent, os.W_OK | os.X_OK),
            free_bytes=_free_bytes_now(path.parent) if folder else 0,
        )
    kind = _kind(status)
    if kind != "file":
        return FileFacts(path=str(path), name=path.name, kind=kind, leads_to=_link_target(path))
    try:
        opened = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError:
        return FileFacts(path=str(path), name=path.name, readable=False, writable=os.access(path, os.W_OK))
    try:
        return _facts_of(files, path, opened, ours=False)
    finally:
        os.close(opened)


def _link_target(path: Path) -> str | None:
    """Return the target of a link; None if there is no link, or no longer."""
    try:
        return str(path.readlink())
    except OSError:
        return None


def _free_bytes_now(folder: Path) -> int:
    """Return the free space of a folder; 0 if the folder has just been removed."""
    try:
        return free_bytes(folder)
    except OSError:
        return 0


def _facts_of(
    files: HostFiles, path: Path, descriptor: int, *, ours: bool, token: str | None = None
) -> FileFacts:
    """Gather the facts of an open file; `ours` is whether this process holds it as its target."""
    status = os.fstat(descriptor)
    kind = _kind(status)
    if kind != "file":
        return FileFacts(path=str(path), name=path.name, kind=kind)
    room = os.fstatvfs(descriptor)
    itself = f"/proc/self/fd/{descriptor}"
    facts = FileFacts(
        path=str(path),
        name=path.name,
        size_bytes=status.st_size,
        links=status.st_nlink,
        ownership=ownership(descriptor, read_mark(descriptor, path), token),
        readable=os.access(itself, os.R_OK),
        writable=os.access(itself, os.W_OK),
        free_bytes=room.f_bavail * room.f_frsize + status.st_blocks * 512,
    )
    deadline = time.monotonic() + _PATIENCE_S
    while True:
        facts = _with_users(files, facts, descriptor, ours=ours)
        if not _held_by_nobody_known(facts) or time.monotonic() >= deadline:
            return facts
        time.sleep(_LOOK_AGAIN_S)


def _with_users(files: HostFiles, facts: FileFacts, descriptor: int, *, ours: bool) -> FileFacts:
    status = os.fstat(descriptor)
    file = (status.st_dev, status.st_ino)
    lease: Lease | Literal["read"] = probe(descriptor)
    if lease == "held" and only_read_elsewhere(descriptor):
        lease = "read"
    tables, opened = usage.look_around(files, file, descriptor)
    openers = opened.files.get(file, ())
    others = tuple(one for one in openers if not (ours and one.pid == os.getpid()))
    return replace(
        facts,
        swap=usage.swap_on(tables, file, suspicious=lease != "free"),
        loops=usage.loops_on(tables, file),
        exports=usage.servers_of(tables, file),
        openers=others,
        lease=lease,
        unseen=(*opened.unseen, *tables.unseen),
    )


def _held_by_nobody_known(facts: FileFacts) -> bool:
    known = facts.swap or facts.loops or facts.exports or facts.openers
    return facts.lease == "held" and not known


def _kind(status: os.stat_result) -> str:
    return next((word for test, word in _KINDS if test(status.st_mode)), "special file")


def judge_file(facts: FileFacts, intent: Intent, size_bytes: int | None) -> Refusal | None:
    """Return why a file must not be used as intended, or None.

    `size_bytes` is the requested size, None for "as it is". A file that is missing or ours may be laid out,
    which writes it even if only reads are intended.
    """
    if facts.kind == "missing":
        return _cannot_be_made(facts, size_bytes)
    return (
        _no_plain_file(facts)
        or _in_use(facts)
        or _unfit(facts, size_bytes)
        or _perhaps_in_use(facts, intent)
        or _not_ours(facts, intent)
    )


def free_bytes(place: Path | int) -> int:
    """Return the bytes that plain users can still write to the file system of a folder or an open file."""
    status = os.statvfs(place)
    return status.f_bavail * status.f_frsize


def _cannot_be_made(facts: FileFacts, size_bytes: int | None) -> Refusal | None:
    if not facts.folder:
        return Refusal(
            "no-folder",
            f"{facts.path} does not exist, and its folder does not either",
            "name a file in a folder that exists",
        )
    if size_bytes is None:
        return Refusal(
            "no-size",
            f"{facts.path} does not exist",
            "to create and fill it, give its size: --size 4GiB",
        )
    if not facts.writable:
        return Refusal(
            "permission",
            f"{facts.path} cannot be created: its folder is not writable",
            "name a file in another folder",
        )
    return _no_space(facts, size_bytes)


def _no_space(facts: FileFacts, size_bytes: int) -> Refusal | None:
    if size_bytes <= facts.free_bytes:
        return None
    return Refusal(
        "no-space",
        f"{facts.path} would need {bytes_text(size_bytes)}, and its file system has "
        f"{bytes_text(facts.free_bytes)} free",
        "give a smaller --size, or name a file on another file system",
    )


def _no_plain_file(facts: FileFacts) -> Refusal | None:
    if facts.kind == "file":
        return None
    advice = {
        "symbolic link": f"name its target{f': {facts.leads_to}' if facts.leads_to else ''}",
        "directory": f"name a file in it: {facts.path}/scratch.bin --size 4GiB",
        "character device": "name the block device: the namespace /dev/nvme0n1, not /dev/nvme0",
    }.get(facts.kind, "name a file or a block device")
    return Refusal("no-file", f"{facts.path} is a {facts.kind}, neither a file nor a block device", advice)


def _in_use(facts: FileFacts) -> Refusal | None:
    if facts.swap:
        return Refusal(
            "swap", f"{facts.path} is swap space", f"switch it off first: swapoff {shell_word(facts.path)}"
        )
    if facts.loops:
        return Refusal(
            "held",
            f"{facts.path} is the backing file of /dev/{facts.loops[0]}",
            f"name that device, or detach it first: losetup -d /dev/{facts.loops[0]}",
        )
    if facts.exports:
        export = facts.exports[0]
        return Refusal(
            "held", f"{facts.path} is in use: {export.server} serves it", f"stop that first: {export.end}"
        )
    opener = next((one for one in facts.openers if one.writing), None)
    if opener is not None:
        return Refusal(
            "open",
            f"{facts.path} is {opener.how} for writing in process {opener.pid} ({opener.command})",
            "end that process first, or wait for it",
        )
    return None


def _perhaps_in_use(facts: FileFacts, intent: Intent) -> Refusal | None:
    """Return the refusal of a file that may have a user who cannot be seen.

    A granted lease means that there is no other user. A refused lease is accepted if all users were seen and
    only read the file. If the kernel gives no lease, it is enough that every process could be inspected.
    """
    if facts.lease == "free" or not (intent.writing or facts.lease == "held"):
        return None
    if facts.lease == "held" and (facts.unseen or not facts.openers):
        return Refusal(
            "open",
            f"{facts.path} is open elsewhere, by a user that cannot be seen",
            facts.unseen[0].remedy if facts.unseen else "find what uses or serves it, and wait for it to end",
        )
    return unseen(facts.path, facts.unseen) if facts.unseen else None


def _unfit(facts: FileFacts, size_bytes: int | None) -> Refusal | None:
    if not facts.readable:
        return Refusal(
            "permission",
            f"{facts.path} is not readable by this user",
            "name another file, or run as its owner",
        )
    if size_bytes is not None and size_bytes != facts.size_bytes:
        return Refusal(
            "size",
            f"{facts.path} exists with {bytes_text(facts.size_bytes)}, but --size asks for "
            f"{bytes_text(size_bytes)}",
            "leave --size out to use it as it is, or remove the file first",
        )
    if facts.size_bytes == 0:
        return Refusal("empty", f"{facts.path} is empty", "remove it, and let --size 4GiB create it")
    return None


def _not_ours(facts: FileFacts, intent: Intent) -> Refusal | None:
    if intent.destroy is not None and intent.destroy != facts.name:
        return Refusal(
            "wrong-consent",
            f"--destroy {quoted(intent.destroy)} is not the name of {facts.path}",
            f"if all data in it may be lost, give its name: --destroy {quoted(facts.name)}",
        )
    if not intent.writing:
        return None
    if not facts.writable:
        return Refusal(
            "permission",
            f"{facts.path} is not writable by this user",
            "name another file, or run as its owner",
        )
    if facts.links > 1:
        return Refusal(
            "hard-linked",
            f"{facts.path} has {facts.links} names (hard links), and writing would change all of them",
            "name a file with one name; to create one: --size 4GiB",
        )
    if facts.ownership == "ours" or intent.destroy is not None:
        return None
    why = {
        "changed": "was changed by another program since ssdlab made it",
        "unknown": "may have been changed since an ssdlab was killed while writing it",
    }.get(facts.ownership, "was not made by ssdlab")
    return Refusal(
        "no-consent",
        f"{facts.path} would be overwritten, and it {why}",
        f"if all data in it may be lost, give its name: --destroy {quoted(facts.name)}",
    )
