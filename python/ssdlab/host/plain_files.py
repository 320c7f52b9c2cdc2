"""What a held folder takes for a folder, a file and a name: nothing that leads elsewhere."""

from __future__ import annotations

import errno
import os
import pwd
import stat
from contextlib import suppress
from pathlib import Path

from ssdlab.host.path_walk import walk
from ssdlab.model.errors import Refused

FOLDER_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_KINDS = {
    stat.S_IFLNK: "a link",
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a named pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFREG: "a file",
}


def walk_to_folder(path: Path, *, make: int | None = None, private: bool = False) -> int:
    """Open a folder, links followed where that gives nobody power; see `ssdlab.host.path_walk.walk`."""
    _, pin = walk(path, make=make, private=private)
    try:
        return os.open(".", FOLDER_FLAGS, dir_fd=pin)
    finally:
        os.close(pin)


def open_folder(path: Path, at: int | None, name: Path) -> int:
    """Open a folder, by its name in the folder `at`; a link to one is refused."""
    try:
        return os.open(name, FOLDER_FLAGS, dir_fd=at)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENOTDIR):
            with suppress(OSError):
                status = os.stat(name, dir_fd=at, follow_symlinks=False)
                if not stat.S_ISDIR(status.st_mode):
                    raise _wrong_kind(status, path, "a folder") from error
        error.filename = str(path)
        raise


def check_file(status: os.stat_result, path: Path, *, own: bool, single: bool) -> None:
    """Refuse what is no regular file; one that is not ours, if `own`; one with several names, if `single`."""
    if not stat.S_ISREG(status.st_mode):
        raise _wrong_kind(status, path, "a file")
    if own and status.st_uid != os.geteuid():
        raise not_ours(path, status.st_uid)
    if single and status.st_nlink != 1:
        raise Refused(
            f"{path} has {status.st_nlink} names (hard links): writing to it would change another file too",
            "put a copy in its place (cp, then mv), or start a new run",
            reason="hard-linked",
            path=str(path),
        )


def _wrong_kind(status: os.stat_result, path: Path, wanted: str) -> Refused:
    kind = _KINDS.get(stat.S_IFMT(status.st_mode), "no file")
    where = ""
    if stat.S_ISLNK(status.st_mode):
        with suppress(OSError):
            where = f" to {path.readlink()}"
    return Refused(
        f"{path} is {kind}{where}, and only {wanted} is taken there",
        "look who put it there; put the real one in its place, or restore the folder from a copy",
        reason="not-plain",
        path=str(path),
        kind=kind,
    )


def not_ours(path: Path, owner: int) -> Refused:
    """Return the refusal to write what belongs to somebody else."""
    return Refused(
        f"{path} belongs to {user_name(owner)}, and only its owner's ssdlab writes there",
        f"run as {user_name(owner)}, or make a copy of the run folder that is yours (cp -r)",
        reason="not-ours",
        path=str(path),
        owner=owner,
    )


def user_name(number: int) -> str:
    """Return who that is, by name where there is one."""
    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:
        return f"user {number}"


def single_name(name: str, where: Path) -> str:
    """Return a name if it is one, and no way to elsewhere."""
    if not name or name in (".", "..") or "/" in name or "\0" in name:
        raise Refused(
            f"{where} names {name!r}, which is no name of a file within",
            "the folder is damaged or forged; restore it from a copy",
            reason="not-plain",
            path=str(where),
            given=name,
        )
    return name
