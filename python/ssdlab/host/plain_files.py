"""Safe path resolution to a folder, which no link can redirect; checks for plain files and folders."""

from __future__ import annotations

import errno
import os
import pwd
import shlex
import stat
from contextlib import suppress
from pathlib import Path

from ssdlab.model.errors import Refused

# A path to a folder is walked once, part by part, so that links let nobody else decide where it ends.
#
# A link of another user may lead only to folders that this other user owns. So root, working in a folder of
# another user, is not led out of it.
#
# On a *private* path, nobody but this user and root can change anything. So it always leads to the same
# folder.
#
# Sources: open(2) (O_PATH, O_NOFOLLOW), path_resolution(7).

_STEP = os.O_PATH | os.O_CLOEXEC
_BY_OTHERS = stat.S_IWGRP | stat.S_IWOTH
_MAX_LINKS = 40
"""The kernel's own limit."""


def walk(path: Path, *, make: int | None = None, private: bool = False) -> tuple[Path, int]:
    """Walk to a folder; each part is inspected and entered through the same descriptor.

    Parameters
    ----------
    path
        Path of the folder; links are followed, also in the last part.
    make
        Permissions with which missing folders are created; None creates none.
    private
        Whether nobody but this user and root may be able to change the folder, or the path to it.

    Returns
    -------
    tuple
        Path of the folder without links, and a descriptor (`O_PATH`) of it.

    Raises
    ------
    Refused
        The path has a link by which another user could lead it anywhere, or it is not private.
    OSError
        The folder does not exist, or it cannot be entered or created.
    """
    if private:
        path = path.absolute()
    trail = [] if path.is_absolute() else list(Path.cwd().parts[1:])
    left = _parts(path)
    strangers: set[int] = set()
    links = 0
    at = os.open("/" if path.is_absolute() else ".", _STEP | os.O_DIRECTORY)
    try:
        while left:
            if private:
                check_private(os.fstat(at), Path("/", *trail), shared=True)
            name = left.pop()
            try:
                step = _step(name, at)
            except FileNotFoundError:
                if make is None:
                    raise
                _check_folder(path, Path("/", *trail), os.fstat(at), strangers)
                strangers = set()
                step = _made(name, at, make)
            status = os.fstat(step)
            if not stat.S_ISLNK(status.st_mode):
                os.close(at)
                at = step
                trail = trail[:-1] if name == ".." else [*trail, name]
                continue
            try:
                target = Path(os.readlink("", dir_fd=step))
            finally:
                os.close(step)
            links = _counted(links)
            if private:
                check_private(status, Path("/", *trail, name))
            if status.st_uid not in {0, os.geteuid()}:
                strangers.add(status.st_uid)
            if target.is_absolute():
                os.close(at)
                at = os.open("/", _STEP | os.O_DIRECTORY)
                trail = []
            left += _parts(target)
        _check_folder(path, Path("/", *trail), os.fstat(at), strangers)
        if private:
            check_private(os.fstat(at), Path("/", *trail))
    except OSError as error:
        os.close(at)
        error.filename = str(path)
        raise
    except BaseException:
        os.close(at)
        raise
    return Path("/", *trail), at


def check_private(status: os.stat_result, path: Path, *, shared: bool = False) -> None:
    """Refuse what users other than this one and root can change.

    Parameters
    ----------
    status, path
        Status and path of the folder, file or link.
    shared
        Whether a sticky folder such as `/tmp` is allowed, in which users can change only their own files.

    Raises
    ------
    Refused
        The error names the owner, or who can change it.
    """
    if status.st_uid not in {0, os.geteuid()}:
        raise _not_private(
            path,
            f"{path} belongs to user {status.st_uid}, who could replace it",
            "use a folder that you own, with all parent folders owned by you or root",
        )
    mode = stat.S_IMODE(status.st_mode)
    if stat.S_ISLNK(status.st_mode) or not mode & _BY_OTHERS or (shared and mode & stat.S_ISVTX):
        return
    by = "everybody" if mode & stat.S_IWOTH else f"its group ({status.st_gid})"
    advice = f"chmod go-w {shlex.quote(str(path))}"
    if shared:
        advice += ", or chmod +t, so that others can change only their own files"
    elif mode & stat.S_ISVTX:  # a folder for everybody's files, as /tmp
        advice = f"use a folder of your own below {path}"
    raise _not_private(path, f"{path} can be changed by {by}", advice)


def _not_private(path: Path, what: str, advice: str) -> Refused:
    return Refused(what, advice, reason="not-private", path=str(path))


def _step(name: str, at: int) -> int:
    return os.open(name, _STEP | os.O_NOFOLLOW, dir_fd=at)


def _made(name: str, at: int, mode: int) -> int:
    with suppress(FileExistsError):  # created meanwhile: `walk` checks it like any other part
        os.mkdir(name, mode, dir_fd=at)
    return _step(name, at)


def _check_folder(path: Path, to: Path, folder: os.stat_result, strangers: set[int]) -> None:
    """Refuse what is not a folder, and a folder reached by links of users who do not own it."""
    if not stat.S_ISDIR(folder.st_mode):
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
    if strangers - {folder.st_uid}:
        raise _led_astray(path, to, min(strangers))


def _counted(links: int) -> int:
    if links == _MAX_LINKS:
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
    return links + 1


def _parts(path: Path) -> list[str]:
    return [part for part in reversed(path.parts) if part != "/"]


def _led_astray(path: Path, to: Path, owner: int) -> Refused:
    return Refused(
        f"the path {path} follows a link of user {owner} into a folder of another user",
        f"if you mean that folder, name it: {to}",
        reason="foreign-link",
        target=str(path),
        owner=owner,
        leads_to=str(to),
    )


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
    """Open a folder and follow links only where that is safe; see `walk`."""
    _, pin = walk(path, make=make, private=private)
    try:
        return os.open(".", FOLDER_FLAGS, dir_fd=pin)
    finally:
        os.close(pin)


def open_folder(path: Path, at: int | None, name: Path) -> int:
    """Open a folder by its name in the folder `at`; refuse a link to a folder."""
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
    """Refuse a non-regular file; with `own`, also another user's; with `single`, one with several names."""
    if not stat.S_ISREG(status.st_mode):
        raise _wrong_kind(status, path, "a file")
    if own and status.st_uid != os.geteuid():
        raise not_ours(path, status.st_uid)
    if single and status.st_nlink != 1:
        raise Refused(
            f"{path} has {status.st_nlink} names (hard links): writing to it would change all of them",
            "replace it with a copy (cp, then mv), or start a new run",
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
        f"{path} is {kind}{where}, but must be {wanted}",
        "find out who put it there; restore the original, or restore the folder from a copy",
        reason="not-plain",
        path=str(path),
        kind=kind,
    )


def not_ours(path: Path, owner: int) -> Refused:
    """Return the refusal to write to another user's file or folder."""
    return Refused(
        f"{path} belongs to {user_name(owner)}, and only its owner may write there",
        f"run as {user_name(owner)}, or copy the run folder (cp -r)",
        reason="not-ours",
        path=str(path),
        owner=owner,
    )


def user_name(number: int) -> str:
    """Return the name of a user; `user` and the number if there is no name."""
    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:
        return f"user {number}"


def single_name(name: str, where: Path) -> str:
    """Return a name; refuse it if it is not a single file name but a path."""
    if not name or name in (".", "..") or "/" in name or "\0" in name:
        raise Refused(
            f"{where} names {name!r}, which is not a file name",
            "the folder is damaged or forged; restore it from a copy",
            reason="not-plain",
            path=str(where),
            given=name,
        )
    return name
