"""The way to a folder, walked once, a part at a time: links give nobody power over where it ends.

A link of another user may lead to folders of that user's own, and not to anybody else's: whoever works as
root in a folder of somebody else is not led out of it.

A way that is *private* goes over nothing that anybody but this user and root can change, so it leads to the
same folder whenever it is walked again.

Sources: open(2) (O_PATH, O_NOFOLLOW), path_resolution(7).
"""

from __future__ import annotations

import errno
import os
import shlex
import stat
from contextlib import suppress
from pathlib import Path

from ssdlab.model.errors import Refused

_STEP = os.O_PATH | os.O_CLOEXEC
_BY_OTHERS = stat.S_IWGRP | stat.S_IWOTH
_MAX_LINKS = 40
"""As the kernel itself counts."""


def walk(path: Path, *, make: int | None = None, private: bool = False) -> tuple[Path, int]:
    """Walk to a folder; each part is looked at and entered by the same descriptor.

    Parameters
    ----------
    path
        The folder; a link is followed, the last part too.
    make
        Permissions of the folders that are made where there are none; None makes none.
    private
        Whether nobody but this user and root may be able to change the folder, or the way to it.

    Returns
    -------
    tuple
        Where it is, without links, and a descriptor (`O_PATH`) of it.

    Raises
    ------
    Refused
        The way goes over a link by which another user could lead it anywhere, or is not private.
    OSError
        There is none, or it cannot be entered or made.
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
    """Refuse what others than this user and root can change.

    Parameters
    ----------
    status, path
        The folder, file or link, and what it is called.
    shared
        Whether a folder may be one like `/tmp`, in which everybody changes what is theirs alone.

    Raises
    ------
    Refused
        With whose it is, or by whom it can be changed.
    """
    if status.st_uid not in {0, os.geteuid()}:
        raise _not_private(
            path,
            f"{path} belongs to user {status.st_uid}, who could replace it",
            "use a folder that you own, with all folders above it yours or root's",
        )
    mode = stat.S_IMODE(status.st_mode)
    if stat.S_ISLNK(status.st_mode) or not mode & _BY_OTHERS or (shared and mode & stat.S_ISVTX):
        return
    by = "everybody" if mode & stat.S_IWOTH else f"its group ({status.st_gid})"
    advice = f"chmod go-w {shlex.quote(str(path))}"
    if shared:
        advice += ", or chmod +t, which lets others change only what is theirs"
    elif mode & stat.S_ISVTX:  # everybody is to make files here, as in /tmp
        advice = f"use a folder of your own below {path}"
    raise _not_private(path, f"{path} can be changed by {by}", advice)


def _not_private(path: Path, what: str, advice: str) -> Refused:
    return Refused(what, advice, reason="not-private", path=str(path))


def _step(name: str, at: int) -> int:
    return os.open(name, _STEP | os.O_NOFOLLOW, dir_fd=at)


def _made(name: str, at: int, mode: int) -> int:
    with suppress(FileExistsError):  # somebody was faster: what it is, is looked at as of all others
        os.mkdir(name, mode, dir_fd=at)
    return _step(name, at)


def _check_folder(path: Path, to: Path, folder: os.stat_result, strangers: set[int]) -> None:
    """Refuse what is no folder, and one into which links of other users have led who do not own it."""
    if not stat.S_ISDIR(folder.st_mode):
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
    if strangers - {folder.st_uid}:
        raise _led_astray(path, to, min(strangers))


def _counted(links: int) -> int:
    if links == _MAX_LINKS:
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
    return links + 1


def _parts(path: Path) -> list[str]:
    """Return the parts of a path, the last one first."""
    return [part for part in reversed(path.parts) if part != "/"]


def _led_astray(path: Path, to: Path, owner: int) -> Refused:
    return Refused(
        f"the way to {path} goes over a link that belongs to user {owner}, into a folder that does not",
        f"if that folder is meant, name it: {to}",
        reason="foreign-link",
        target=str(path),
        owner=owner,
        leads_to=str(to),
    )
