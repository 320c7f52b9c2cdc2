"""A folder held open by its descriptor, so that no rename or link can lead out of it.

In a folder that others can change, a link, named pipe or folder may replace an expected file. So a folder is
opened once, and its files are accessed by single names through that descriptor. Links are not followed. Only
regular files are read. Only regular files of this user that have a single name are changed. A new file is
created under a temporary name and renamed into place.
"""

from __future__ import annotations

import ctypes
import errno
import os
import secrets
import shutil
import stat
import struct
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Self

from ssdlab.host.plain_files import (
    FOLDER_FLAGS,
    check_file,
    not_ours,
    open_folder,
    single_name,
    user_name,
    walk_to_folder,
)
from ssdlab.model.closing import Closing
from ssdlab.model.errors import HostError, LabError, Refused
from ssdlab.model.limits import RUN_FILE_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterator

# Two system calls that Python's `os` lacks: `statx` (birth time, O_DIRECT alignment) and `fallocate`.
#
# They are called through Python's own C library. A library or kernel without them gives None or an error.
# Layout of `struct statx`: statx(2); mask bits: include/uapi/linux/stat.h.

_AT_EMPTY_PATH = 0x1000
_MASK_BTIME = 0x800
_MASK_DIOALIGN = 0x2000
_BUFFER_BYTES = 256
_BTIME_AT = 80
_DIO_MEMORY_AT = 152


@dataclass(frozen=True, slots=True)
class FileDetails:
    """Facts that `statx` has and `stat` lacks; None if kernel or file system does not report them."""

    birth_ns: int | None
    direct_offset_bytes: int | None


def file_details(descriptor: int) -> FileDetails:
    """Return when an open file was created, and the alignment that O_DIRECT needs for offsets and lengths."""
    library = ctypes.CDLL(None, use_errno=True)
    buffer = ctypes.create_string_buffer(_BUFFER_BYTES)
    call = getattr(library, "statx", None)
    wanted = _MASK_BTIME | _MASK_DIOALIGN
    if call is None or call(descriptor, b"", _AT_EMPTY_PATH, ctypes.c_uint(wanted), buffer) != 0:
        return FileDetails(None, None)
    (mask,) = struct.unpack_from("=I", buffer)
    seconds, nanoseconds = struct.unpack_from("=qI", buffer, _BTIME_AT)
    _, offset_bytes = struct.unpack_from("=II", buffer, _DIO_MEMORY_AT)
    return FileDetails(
        birth_ns=seconds * 10**9 + nanoseconds if mask & _MASK_BTIME else None,
        # Zero means that this file does not support direct I/O.
        direct_offset_bytes=offset_bytes if mask & _MASK_DIOALIGN else None,
    )


def allocate(descriptor: int, length: int) -> bool:
    """Reserve space for the first `length` bytes of an open file; return False if the file system cannot.

    Python's `posix_fallocate` is not used: it writes a byte into every block if the kernel cannot allocate.

    Raises
    ------
    OSError
        The space is not available (ENOSPC, EDQUOT, EFBIG ...).
    """
    library = ctypes.CDLL(None, use_errno=True)
    call = getattr(library, "fallocate64", None) or library.fallocate
    if call(descriptor, 0, ctypes.c_int64(0), ctypes.c_int64(length)) == 0:
        return True
    number = ctypes.get_errno()
    if number in {errno.EOPNOTSUPP, errno.ENOSYS}:
        return False
    raise OSError(number, os.strerror(number))


_PLAIN = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
"""Flags for every file: a link is an error, and a named pipe without a writer does not block."""
_MODE = 0o644
FOLDER_MODE = 0o777
"""Permissions of new folders, before the user's umask."""


@dataclass(frozen=True, slots=True)
class FolderId:
    """Identity of a folder, which a copy does not share; `birth_ns` is None if not reported."""

    inode: int
    birth_ns: int | None


class HeldFolder(Closing):
    """A folder, held open until `close` or until the object is no longer referenced.

    Parameters
    ----------
    path
        Path of the folder.
    writing
        Whether files in it are to be created or changed; then it must belong to this user.
    follow
        Whether its last part may be a link, such as one to a library elsewhere. Links of other users on the
        path may then lead only into folders of theirs (`ssdlab.host.plain_files`).
    make
        Permissions with which missing folders of the path are created; implies `follow`.

    Raises
    ------
    Refused
        The path is a link or no folder, or a link on the way leads where it may not. Or the folder is to be
        written and belongs to another user.
    OSError
        The folder cannot be opened.
    """

    def __init__(
        self, path: Path, *, writing: bool = False, follow: bool = False, make: int | None = None
    ) -> None:
        walked = follow or make is not None
        found = walk_to_folder(path, make=make) if walked else open_folder(path, None, path)
        self._take(found, path, writing=writing)

    @classmethod
    def of_descriptor(cls, descriptor: int, path: Path, *, writing: bool = False) -> Self:
        """Take over the descriptor of a folder, such as one inherited from a parent process."""
        made = cls.__new__(cls)
        made._take(descriptor, path, writing=writing)
        return made

    def _take(self, descriptor: int, path: Path, *, writing: bool) -> None:
        self._descriptor, self.path, self.writing = descriptor, path, writing
        if writing and (owner := os.fstat(descriptor).st_uid) != os.geteuid():
            self.close()
            raise not_ours(path, owner)

    def fileno(self) -> int:
        return self._descriptor

    def close(self) -> None:
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)

    def __del__(self) -> None:
        if getattr(self, "_descriptor", -1) >= 0:
            self.close()

    # --- identity and content ---

    @property
    def id(self) -> FolderId:
        """Identity that distinguishes the folder from a copy."""
        return FolderId(os.fstat(self._descriptor).st_ino, file_details(self._descriptor).birth_ns)

    def parent(self) -> HeldFolder:
        return HeldFolder.of_descriptor(
            os.open("..", FOLDER_FLAGS, dir_fd=self._descriptor), self.path.parent
        )

    def folder(self, name: str, *, make: bool = False) -> HeldFolder:
        """Open a subfolder, for writing if this folder is.

        Raises
        ------
        FileNotFoundError
            There is none, and `make` is not set.
        Refused
            The name is not that of a folder, or the subfolder is to be written and belongs to another user.
        """
        path = self.path / single_name(name, self.path)
        if make:
            with suppress(FileExistsError):
                os.mkdir(name, dir_fd=self._descriptor)
        descriptor = open_folder(path, self._descriptor, Path(name))
        return HeldFolder.of_descriptor(descriptor, path, writing=self.writing)

    def new_folder(self, name: str) -> HeldFolder:
        """Create a subfolder that did not exist, empty and owned by this user.

        Raises
        ------
        HostError
            The new folder has another owner, as on some file systems, or is not empty.
        """
        path = self.path / single_name(name, self.path)
        os.mkdir(name, dir_fd=self._descriptor)
        descriptor = open_folder(path, self._descriptor, Path(name))
        status = os.fstat(descriptor)
        if status.st_uid == os.geteuid() and not _names(descriptor):
            return HeldFolder.of_descriptor(descriptor, path, writing=True)
        os.close(descriptor)
        raise HostError(
            f"{path}, just created, belongs to {user_name(status.st_uid)} or is not empty",
            "name a library on a file system with file owners, in a folder that nobody else can change",
            path=str(path),
        )

    def names(self) -> list[str]:
        return _names(self._descriptor)

    def exists(self, name: str) -> bool:
        """Return whether anything has this name; a link counts."""
        return self._status(name) is not None

    def is_file(self, name: str) -> bool:
        """Return whether a regular file has this name; a link does not count."""
        status = self._status(name)
        return status is not None and stat.S_ISREG(status.st_mode)

    def check_plain(self, *folders: str) -> None:
        """Refuse the folder if it, or a named subfolder, holds anything but plain files and folders.

        Raises
        ------
        Refused
            The error names what was found, and where.
        """
        for name in self.names():
            status = self._status(name)
            if status is None:
                continue
            if stat.S_ISDIR(status.st_mode):
                if name in folders:
                    with self.folder(name) as inner:
                        inner.check_plain()
                continue
            check_file(status, self.path / name, own=self.writing, single=False)

    # --- reading ---

    @contextmanager
    def opened(self, name: str, *, own: bool = False) -> Iterator[int]:
        """Open a regular file for reading and yield its descriptor.

        Raises
        ------
        FileNotFoundError
            There is none.
        Refused
            It is a link or no file; with `own`, also if it belongs to another user or has several names.
        """
        descriptor = self._open(name, os.O_RDONLY, changing=own)
        try:
            yield descriptor
        finally:
            os.close(descriptor)

    @contextmanager
    def readable(self, name: str) -> Iterator[Path]:
        """Yield a path by which other code can read a file, even if it is renamed; see `opened`."""
        with self.opened(name) as descriptor:
            path = Path(f"/proc/self/fd/{descriptor}")
            with _named(str(path), str(self.path / name)):
                yield path

    def read_bytes(self, name: str, *, own: bool = False) -> bytes:
        with self.opened(name, own=own) as descriptor, open(descriptor, "rb", closefd=False) as file:
            return read_whole(file, self.path / name)

    # --- writing ---

    @contextmanager
    def replacing(self, name: str, *, durable: bool = True, mode: int = _MODE) -> Iterator[int]:
        """Yield the descriptor of a new file, which atomically takes its name after the block."""
        temporary = f".{name}.new" if self.writing else f".{name}.{secrets.token_hex(6)}.new"
        self._check_replaceable(name)
        self.remove(temporary)  # left by a process that was killed
        descriptor = self._open(temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL, mode=mode)
        try:
            try:
                yield descriptor
                if durable:
                    os.fsync(descriptor)
            finally:
                os.close(descriptor)
            os.rename(temporary, name, src_dir_fd=self._descriptor, dst_dir_fd=self._descriptor)
        except BaseException:
            with suppress(OSError):
                os.unlink(temporary, dir_fd=self._descriptor)
            raise
        if durable:
            self.sync()

    def replace(self, name: str, content: str | bytes, *, durable: bool = True, mode: int = _MODE) -> None:
        """Replace a file's content by `content`; see `replacing`."""
        with self.replacing(name, durable=durable, mode=mode) as descriptor:
            _write(descriptor, content.encode() if isinstance(content, str) else content)

    def append_to(self, name: str) -> int:
        """Open a file of this user for reading and appending, or create it; return its descriptor."""
        return self._open(name, os.O_RDWR | os.O_APPEND | os.O_CREAT, changing=True)

    def lock_file(self, name: str) -> int:
        """Open a regular file of any user for locking, or create it; return its descriptor."""
        return self._open(name, os.O_RDWR | os.O_CREAT)

    def new_path(self, name: str) -> Path:
        """Return a path by which other code can create a file here, which it must do with O_EXCL.

        Raises
        ------
        Refused
            Something other than a file of this user has the name.
        """
        if (status := self._status(name)) is not None:
            check_file(status, self.path / name, own=self.writing, single=False)
        return Path(f"/proc/self/fd/{self._descriptor}") / name

    def existing_path(self, name: str) -> Path:
        """Return a path by which other code can read a file, after checks as in `opened`."""
        with self.opened(name):
            return Path(f"/proc/self/fd/{self._descriptor}") / name

    @contextmanager
    def by_name(self) -> Iterator[None]:
        """Name files by their path, not by our descriptor, in errors that other code raises in the block."""
        with _named(f"/proc/self/fd/{self._descriptor}/", f"{self.path}/"):
            yield

    def set_mode(self, name: str, mode: int) -> None:
        """Change the permissions of a file of this user."""
        descriptor = self._open(name, os.O_RDONLY, changing=True)
        try:
            os.fchmod(descriptor, mode)
        finally:
            os.close(descriptor)

    def remove(self, name: str) -> None:
        """Remove a file, if there is one.

        Raises
        ------
        Refused
            The name is not that of a file.
        """
        status = self._status(name)
        if status is None:
            return
        check_file(status, self.path / name, own=False, single=False)
        with suppress(FileNotFoundError):
            os.unlink(name, dir_fd=self._descriptor)

    def remove_folder(self, name: str) -> None:
        """Remove a folder with the files in it, if there is one.

        Raises
        ------
        Refused
            The name is a link or no folder, or the folder holds something other than files.
        """
        try:
            inner = self.folder(name)
        except FileNotFoundError:
            return
        with inner:
            for each in inner.names():
                inner.remove(each)
        os.rmdir(name, dir_fd=self._descriptor)

    def remove_tree(self, name: str) -> None:
        """Remove a folder with everything in it; do nothing if the name is not that of a folder."""
        status = self._status(name)
        if status is None or not stat.S_ISDIR(status.st_mode):
            return
        shutil.rmtree(name, ignore_errors=True, dir_fd=self._descriptor)

    def rename(self, name: str, to: HeldFolder, new: str) -> None:
        """Move a file or folder into a folder on the same file system."""
        single_name(name, self.path), single_name(new, to.path)
        os.rename(name, new, src_dir_fd=self._descriptor, dst_dir_fd=to._descriptor)

    def link(self, name: str, to: HeldFolder) -> None:
        """Give a file a second name in another folder, the same as here (a hard link)."""
        with self.opened(name):
            os.link(
                name,
                name,
                src_dir_fd=self._descriptor,
                dst_dir_fd=to._descriptor,
                follow_symlinks=False,
            )

    def sync(self) -> None:
        """Make the folder's names durable."""
        os.fsync(self._descriptor)

    # --- internals ---

    def _status(self, name: str) -> os.stat_result | None:
        try:
            return os.stat(single_name(name, self.path), dir_fd=self._descriptor, follow_symlinks=False)
        except FileNotFoundError:
            return None

    def _check_replaceable(self, name: str) -> None:
        """Refuse to replace anything but a file of this user, in a folder that is held for writing.

        A rename would replace a link without following it, but a link should not be there.
        """
        status = self._status(name)
        if status is not None and self.writing:
            check_file(status, self.path / name, own=True, single=False)

    def _open(self, name: str, flags: int, *, changing: bool = False, mode: int = _MODE) -> int:
        path = self.path / single_name(name, self.path)
        try:
            descriptor = os.open(name, flags | _PLAIN, mode, dir_fd=self._descriptor)
        except OSError as error:
            if error.errno in (errno.ELOOP, errno.EISDIR, errno.ENXIO, errno.EMLINK):
                status = self._status(name)
                if status is not None:
                    check_file(status, path, own=False, single=False)
            error.filename = str(path)
            raise
        try:
            check_file(os.fstat(descriptor), path, own=changing, single=changing)
        except Refused:
            os.close(descriptor)
            raise
        return descriptor


def hold(folder: Path | HeldFolder, *, writing: bool = False) -> HeldFolder:
    """Return the given held folder, or open one by its path."""
    return folder if isinstance(folder, HeldFolder) else HeldFolder(folder, writing=writing)


def _names(descriptor: int) -> list[str]:
    with os.scandir(descriptor) as entries:
        return sorted(entry.name for entry in entries)


@contextmanager
def _named(inner: str, outer: str) -> Iterator[None]:
    """Replace the path `inner` by `outer` in errors."""
    try:
        yield
    except LabError as error:
        error.what = error.what.replace(inner, outer)
        error.facts = {
            name: value.replace(inner, outer) if isinstance(value, str) else value
            for name, value in error.facts.items()
        }
        raise


def _write(descriptor: int, content: bytes) -> None:
    view = memoryview(content)
    while view:
        view = view[os.write(descriptor, view) :]


def read_whole(file: BinaryIO, path: Path) -> bytes:
    """Read a file from its position on; raise Refused if it is larger than files of a run may be."""
    if os.fstat(file.fileno()).st_size > RUN_FILE_BYTES:
        raise Refused(
            f"{path} is larger than {RUN_FILE_BYTES >> 20} MiB, the limit of a run's files",
            "restore it from a copy",
            path=str(path),
        )
    return file.read()
