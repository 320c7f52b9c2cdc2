"""Runs as one archive, and back: a gzipped tar of run folders, as `tar` reads it.

An archive may come from anybody. It is read to its end before anything is written: what is no plain file or
folder of a run folder, whatever name leads out of it, and what is larger than anything of ours refuses the
whole. Then the runs are written into a folder of their own within the library, held against their seals, and
renamed into place; a run that the library has already stays as it is.
"""

from __future__ import annotations

import gzip
import io
import os
import re
import secrets
import tarfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from ssdlab.host.documents import open_regular
from ssdlab.host.durable import library_errors
from ssdlab.host.held_folder import HeldFolder
from ssdlab.library.redacting import Redaction
from ssdlab.model.errors import Refused, excerpt, of_os
from ssdlab.results import catalogue
from ssdlab.results.lease import is_running
from ssdlab.results.run_folder import MANIFEST, RunFolder, read_sealed_manifest
from ssdlab.results.store import hold_library
from ssdlab.results.verifying import check_run

INNER = ("steps", "states")
"""Folders that a run folder may have."""
MEMBERS = 1_000_000
BYTES = 1 << 40
"""So much an archive may hold: nobody packs more, and gzip makes a terabyte of a gigabyte of nothing."""
_PART = re.compile(r"[^/\0]{1,255}")
_MODE = 0o644


@dataclass(frozen=True)
class Unpacked:
    """What came of an archive: runs that were written, and runs that were there."""

    written: tuple[str, ...]
    there: tuple[str, ...]


def pack(folders: Sequence[Path], archive: IO[bytes], *, redact: bool = False) -> list[str]:
    """Write run folders, suites with their runs, as one archive; return their names.

    Parameters
    ----------
    folders
        The runs.
    archive
        Where to write.
    redact
        Leave serial numbers and host names out, and seal the runs anew (`redacting`).

    Raises
    ------
    Refused
        A run is damaged or going on, or holds what is no file; one that is to be redacted is not finished.
    """
    chosen = list(dict.fromkeys(each for folder in folders for each in (*_parts(folder), folder)))
    for folder in chosen:
        _check_packable(folder)
    redaction = Redaction(secrets.token_bytes(16)) if redact else None
    with (
        gzip.GzipFile(fileobj=archive, mode="wb", mtime=0, filename="") as packed,
        tarfile.open(fileobj=packed, mode="w|", format=tarfile.PAX_FORMAT) as tar,
    ):
        for folder in chosen:
            with HeldFolder(folder) as held:
                held.check_plain(*INNER)
                if redaction is None:
                    _add_folder(tar, held, folder.name)
                else:
                    _add_redacted(tar, held, redaction)
    return [folder.name for folder in chosen]


def unpack(archive: Path, library: Path) -> Unpacked:
    """Write the runs of an archive into a library, all or none, and enter them.

    Raises
    ------
    Refused
        It is no archive of runs, holds what leads out of its folders, or a run in it is damaged, or another
        run of that id is in the library; nothing was written.
    HostError
        The library cannot be written.
    """
    names = _look_through(archive)
    here = [name for name in names if (library / name).exists()]
    new = [name for name in names if name not in here]
    with library_errors(library), hold_library(library) as place:
        temporary = f".unpack-{secrets.token_hex(6)}"
        try:
            with place.new_folder(temporary) as staged:
                _write_runs(archive, staged)
                _check_staged(library / temporary, names)
                for name in here:
                    _check_same(library / temporary / name, library / name)
                for name in new:
                    staged.rename(name, place, name)
            place.sync()
        finally:
            place.remove_tree(temporary)
    for name in new:
        catalogue.enter(library / name)
    return Unpacked(tuple(new), tuple(here))


def _parts(folder: Path) -> list[Path]:
    """Return the runs that a run is made of, over all levels, each before what is made of it."""
    children = RunFolder(folder).manifest.children
    names = [child.run_id for child in children if _PART.fullmatch(child.run_id) and child.run_id[0] != "."]
    found = [folder.parent / name for name in names if (folder.parent / name / MANIFEST).is_file()]
    return [part for each in found if each != folder for part in (*_parts(each), each)]


def _check_packable(folder: Path) -> None:
    run = RunFolder(folder)
    if is_running(folder):
        raise Refused(f"run {run.manifest.run_id} is running", "wait for it, or stop it first")
    check_run(run)


def _add_folder(tar: tarfile.TarFile, held: HeldFolder, prefix: str) -> None:
    entry = tarfile.TarInfo(prefix)
    entry.type, entry.mode = tarfile.DIRTYPE, 0o755
    tar.addfile(entry)
    for name in held.names():
        if name in INNER and not held.is_file(name):
            with held.folder(name) as inner:
                _add_folder(tar, inner, f"{prefix}/{name}")
        elif held.is_file(name) and not name.startswith("."):
            with held.opened(name) as descriptor, open(descriptor, "rb", closefd=False) as file:
                entry = tarfile.TarInfo(f"{prefix}/{name}")
                status = os.fstat(descriptor)
                entry.size, entry.mode, entry.mtime = status.st_size, _MODE, int(status.st_mtime)
                tar.addfile(entry, file)


def _add_redacted(tar: tarfile.TarFile, held: HeldFolder, redaction: Redaction) -> None:
    name = held.path.name
    entry = tarfile.TarInfo(name)
    entry.type, entry.mode = tarfile.DIRTYPE, 0o755
    tar.addfile(entry)
    for file, content in redaction.files(held.path):
        entry = tarfile.TarInfo(f"{name}/{file}")
        data = held.read_bytes(file) if content is None else content
        entry.size, entry.mode = len(data), _MODE
        tar.addfile(entry, io.BytesIO(data))


@contextmanager
def _opened(archive: Path) -> Iterator[tarfile.TarFile]:
    """Read an archive from its beginning; what is wrong with its bytes is a refusal."""
    with ExitStack() as stack:
        try:
            file = stack.enter_context(open_regular(archive, "archive"))
        except OSError as error:
            raise of_os(error, f"cannot read {archive}", "name an archive of `library pack`") from error
        try:
            packed = stack.enter_context(gzip.GzipFile(fileobj=file))
            yield stack.enter_context(tarfile.open(fileobj=packed, mode="r|"))
        except (tarfile.TarError, EOFError, zlib.error, gzip.BadGzipFile, UnicodeError, ValueError) as error:
            raise Refused(
                f"{archive} is no archive of runs: {error}",
                "name one that `ssdlab library pack` wrote; fetch it again if it was cut short",
                path=str(archive),
            ) from error


def _look_through(archive: Path) -> list[str]:
    """Return the names of the runs in an archive, all of whose members are such as ours are."""
    names: dict[str, bool] = {}
    seen: set[str] = set()
    members = size = 0
    with _opened(archive) as tar:
        for member in tar:
            members, size = members + 1, size + member.size
            path = member.name
            if members > MEMBERS or size > BYTES:
                raise _unfit(archive, path, f"there is more than {MEMBERS} files or {BYTES >> 40} TiB in it")
            parts = path.split("/")
            _check_member(archive, member, parts)
            if path in seen:
                raise _unfit(archive, path, "it is there twice")
            seen.add(path)
            names[parts[0]] = names.get(parts[0], False) or parts[1:] == [MANIFEST]
    if not names:
        raise Refused(f"{archive} holds no run", "name one that `ssdlab library pack` wrote")
    for name, whole in names.items():
        if not whole:
            raise _unfit(archive, name, f"it has no {MANIFEST}")
    return list(names)


def _check_member(archive: Path, member: tarfile.TarInfo, parts: list[str]) -> None:
    path = member.name
    if path.startswith("/") or any(part in ("", ".", "..") or not _PART.fullmatch(part) for part in parts):
        raise _unfit(archive, path, "the name leads out of its folder")
    if any(part.startswith(".") for part in parts):
        raise _unfit(archive, path, "no name of a run folder begins with a dot")
    if not (member.isreg() or member.isdir()) or member.issparse():
        raise _unfit(archive, path, "it is a link, a device or a pipe")
    folder = parts if member.isdir() else parts[:-1]
    if not folder or len(folder) > 2 or (len(folder) == 2 and folder[1] not in INNER):
        raise _unfit(archive, path, "no run folder has such a place")


def _unfit(archive: Path, name: str, why: str) -> Refused:
    return Refused(
        f"{archive} is refused for {excerpt(name)!r} in it: {why}",
        "nothing was unpacked; look who made it",
        path=str(archive),
        member=excerpt(name),
    )


def _write_runs(archive: Path, staged: HeldFolder) -> None:
    with _opened(archive) as tar:
        for member in tar:
            parts = member.name.split("/")
            _check_member(archive, member, parts)  # the file may have been put in place of the other
            folder = parts if member.isdir() else parts[:-1]
            with ExitStack() as stack:
                held = staged
                for part in folder:
                    held = stack.enter_context(held.folder(part, make=True))
                source = tar.extractfile(member)
                if source is not None:
                    with held.replacing(parts[-1], durable=False, mode=_MODE) as descriptor:
                        _copy(source, descriptor)


def _copy(source: IO[bytes], descriptor: int) -> None:
    with io.FileIO(descriptor, "wb", closefd=False) as file:
        while block := source.read(1 << 20):
            file.write(block)


def _check_staged(folder: Path, names: Sequence[str]) -> None:
    for name in names:
        run = RunFolder(folder / name)
        if run.manifest.run_id != name:
            raise Refused(f"{name} in the archive is run {run.manifest.run_id}", "look who made it")
        check_run(run)


def _check_same(found: Path, there: Path) -> None:
    """Refuse a run that the library has another of."""
    if read_sealed_manifest(found) != read_sealed_manifest(there):
        raise Refused(
            f"{there} is another run than that of the archive",
            "unpack into a library of its own: --library FOLDER",
            path=str(there),
        )
