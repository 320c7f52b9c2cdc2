"""Where `ssdlab sim serve` listens and keeps contents, looked at before a drive is laid out.

The server looks again when it opens them; here nothing is made.
"""

from __future__ import annotations

import errno
import os
import socket
import stat
from pathlib import Path

from ssdlab.host.output_files import followed
from ssdlab.model.errors import Refused, UsageError, of_os
from ssdlab.model.units import bytes_text

SOCKET_PATH_BYTES = 107
"""As `sockaddr_un` has it, less its final zero."""


def socket_place(path: Path) -> Path:
    """Return where a socket can be made.

    Raises
    ------
    UsageError, Refused, HostError
        Something else is there already, or there is no folder in which we may make it; its path is too long.
    """
    place = followed(path)
    if os.path.lexists(place) and not _left_behind(place):
        raise Refused(
            f"{place} is there already", "name another path, or end what listens there", path=str(place)
        )
    if (length := len(os.fsencode(place))) > SOCKET_PATH_BYTES:
        raise UsageError(
            f"{place} is too long for a socket: {length} bytes, and {SOCKET_PATH_BYTES} are possible",
            "name a shorter path",
            path=str(place),
        )
    _check_folder(place)
    return place


def _left_behind(place: Path) -> bool:
    """Whether it is a socket of ours whose server was killed: the server makes its own instead."""
    found = place.lstat()
    if not stat.S_ISSOCK(found.st_mode) or found.st_uid != os.geteuid():
        return False
    # Of another type, so that who listens is not disturbed: the kernel says only that, or that nobody does.
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as probe:
        return probe.connect_ex(os.fspath(place)) == errno.ECONNREFUSED


def check_port(port: int) -> None:
    """Refuse a port of 127.0.0.1 that cannot be listened on now; 0 is any that is free.

    Raises
    ------
    Refused
        Another program has it, or it is not for this user.
    """
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as the server does
        try:
            probe.bind(("127.0.0.1", port))
            probe.listen(1)
        except OSError as error:
            raise Refused(
                f"127.0.0.1:{port} cannot be listened on: {error.strerror}",
                "name another port, or 0 for one that is free",
                port=port,
                errno=error.errno,
            ) from error


def data_place(path: Path, capacity_bytes: int) -> Path:
    """Return the file for a drive's contents, which is new or of the drive's size.

    Raises
    ------
    UsageError, Refused, HostError
        It is something else, or there is no folder in which we may make it.
    """
    place = followed(path)
    try:
        found = place.stat()
    except FileNotFoundError:
        _check_folder(place)
        return place
    except OSError as error:
        raise of_os(error, f"{place} cannot hold the contents", "name another file") from error
    if not stat.S_ISREG(found.st_mode) or found.st_size != capacity_bytes:
        raise Refused(
            f"{place} is there, and is not a file of {bytes_text(capacity_bytes)}",
            "name the file of this drive's contents, or a new one",
            path=str(place),
        )
    return place


def _check_folder(place: Path) -> None:
    if not place.parent.is_dir():
        raise UsageError(f"there is no folder {place.parent}", "make it, or name another", path=str(place))
    if not os.access(place.parent, os.W_OK | os.X_OK):
        raise Refused(
            f"nothing can be made in {place.parent}", "name a folder that is yours", path=str(place)
        )
