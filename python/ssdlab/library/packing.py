"""Packs runs into an archive and unpacks them: a gzipped tar of run folders, which `tar` can read.

An archive is untrusted. It is read completely before anything is written: names, contents and journals must
match the seals of its manifests. Then the runs are written to a temporary folder of the library, checked
against their seals, and moved into place. Existing runs are not changed.
"""

from __future__ import annotations

import gzip
import io
import os
import re
import secrets
import tarfile
import zlib
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import IO, TYPE_CHECKING

from ssdlab.formats.tar import Broken as BrokenTar
from ssdlab.formats.tar import Member, Members
from ssdlab.host.documents import open_regular
from ssdlab.host.durable import library_errors
from ssdlab.host.held_folder import HeldFolder
from ssdlab.library.redacting import Redaction
from ssdlab.model.errors import Refused, excerpt, of_os
from ssdlab.results.catalogue_row import row_of
from ssdlab.results.lease import is_running
from ssdlab.results.run_folder import (
    APART,
    JOURNAL,
    MANIFEST,
    RunFolder,
    parse_manifest,
    read_sealed_manifest,
)
from ssdlab.results.seal import Broken, Chain
from ssdlab.results.settling import settling
from ssdlab.results.store import hold_library
from ssdlab.results.verifying import check_run, verify_run

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ssdlab.results.schema import Manifest


_PART = re.compile(r"[^/\0]{1,255}")
_MODE = 0o644
_INNER = {
    "steps": re.compile(r"\d{4,}-\d+\.(log|samples|power)"),
    "states": re.compile(r"(\d{4,}|begin)\.state"),
}
"""Folders of an unfinished run, and the names of files in them."""
_RECORDING = re.compile(r"trace-\d{4,}\.records")
_DOCUMENT_BYTES = 4 << 20
_JOURNAL_BYTES = 32 << 20
"""Maximum size of a document and of a journal. ssdlab writes no larger ones, and reads them into memory
whole."""


@dataclass(frozen=True)
class Unpacked:
    """Names of the runs that were unpacked, and of those that the library already had."""

    written: tuple[str, ...]
    there: tuple[str, ...]


def pack(folders: Sequence[Path], archive: IO[bytes], *, redact: bool = False) -> list[str]:
    """Write run folders, suites with their runs, into one archive; return their names.

    Parameters
    ----------
    archive
        File to write to.
    redact
        Whether to redact serial numbers and host names, and reseal the runs (`redacting`).

    Raises
    ------
    Refused
        A run is damaged, running, or contains something other than files, or a run to redact is not finished.
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
                held.check_plain(*_INNER)
                if redaction is None:
                    _add_folder(tar, held, folder.name, RunFolder(folder).manifest)
                else:
                    _add_redacted(tar, held, redaction)
    return [folder.name for folder in chosen]


def unpack(archive: Path, library: Path) -> Unpacked:
    """Add the runs of an archive to a library and its catalogue, all or none.

    Raises
    ------
    Refused
        The file is not an archive of runs or has names outside its folders, or a run is damaged. Or the
        library has another run with that id. Nothing was written.
    HostError
        The library cannot be written.
    """
    names = _look_through(archive)
    here = [name for name in names if (library / name).exists()]
    new = [name for name in names if name not in here]
    temporary = f".unpack-{secrets.token_hex(6)}"
    with (
        library_errors(library),
        hold_library(library) as place,
        settling(place, scratch=temporary) as change,
    ):
        with place.new_folder(temporary) as staged:
            _write_runs(archive, staged)
            _check_staged(library / temporary, names)
            for name in here:
                _check_same(library / temporary / name, library / name)
            staged.sync()
        change.move([(f"{temporary}/{name}", name) for name in new])
    return Unpacked(tuple(new), tuple(here))


def _parts(folder: Path) -> list[Path]:
    """Return the runs of a suite, over all levels; each run comes before the suite that contains it."""
    manifest = RunFolder(folder).manifest
    every = dict.fromkeys((*(child.run_id for child in manifest.children), *manifest.kept_beside))
    names = [name for name in every if _PART.fullmatch(name) and name[0] != "."]
    found = [folder.parent / name for name in names if (folder.parent / name / MANIFEST).is_file()]
    return [part for each in found if each != folder for part in (*_parts(each), each)]


def _check_packable(folder: Path) -> None:
    run = RunFolder(folder)
    if is_running(folder):
        raise Refused(f"run {run.manifest.run_id} is running", "wait until it ends, or stop it first")
    check_run(run)


def _add_folder(tar: tarfile.TarFile, held: HeldFolder, prefix: str, manifest: Manifest) -> None:
    """Add the files of a run to the archive, without files that do not belong to the run."""
    entry = tarfile.TarInfo(prefix)
    entry.type, entry.mode = tarfile.DIRTYPE, 0o755
    tar.addfile(entry)
    inner = prefix.partition("/")[2]
    for name in held.names():
        if not inner and name in _INNER and not held.is_file(name):
            with held.folder(name) as folder:
                _add_folder(tar, folder, f"{prefix}/{name}", manifest)
        elif held.is_file(name) and _belongs(manifest, [inner, name] if inner else [name]):
            with held.opened(name) as descriptor, open(descriptor, "rb", closefd=False) as file:
                entry = tarfile.TarInfo(f"{prefix}/{name}")
                status = os.fstat(descriptor)
                entry.size, entry.mode, entry.mtime = status.st_size, _MODE, int(status.st_mtime)
                tar.addfile(entry, file)


def _belongs(manifest: Manifest, place: Sequence[str]) -> bool:
    """Whether a file belongs to a run: it is sealed, or an unfinished run may have it.

    `place` is the path in the run folder, in parts.
    """
    *folders, name = place
    if manifest.status == "finished" and (manifest.tables or manifest.children):
        sealed = manifest.sealed
        known = {*APART, *(table.name for table in manifest.tables), *(sealed.files if sealed else ())}
        return not folders and (name in known or (sealed is None and _RECORDING.fullmatch(name) is not None))
    if folders:
        return _INNER[folders[0]].fullmatch(name) is not None
    return name in APART or _RECORDING.fullmatch(name) is not None


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


@dataclass
class _Found:
    manifest: bytes = b""
    digests: dict[str, str] = field(default_factory=dict)
    """SHA-256 of each file, by its path in the run folder."""
    journal: Chain | None = None


def _look_through(archive: Path) -> list[str]:
    """Return the names of the runs in an archive, after checking each against its manifest's seals."""
    runs: dict[str, _Found] = {}
    seen: set[str] = set()
    with opened(archive) as members:
        for member in members:
            parts = _place_of(archive, member)
            if member.path in seen:
                raise _unfit(archive, member.path, "it occurs twice")
            seen.add(member.path)
            found = runs.setdefault(parts[0], _Found())
            if not member.is_folder:
                _take_note(archive, member, parts, found, members)
    if not runs:
        raise Refused(f"{archive} holds no runs", "name one that `ssdlab library pack` wrote")
    for name, found in runs.items():
        _check_sealed(archive, name, found)
    return list(runs)


def _place_of(archive: Path, member: Member) -> list[str]:
    """Return the parts of a member's path, which must be a run folder or a file in one."""
    path = member.path
    parts = path.split("/")
    if any(part in ("", ".", "..") or not _PART.fullmatch(part) for part in parts):
        raise _unfit(archive, path, "its name points outside its folder")
    if any(part.startswith(".") for part in parts):
        raise _unfit(archive, path, "no file of a run starts with a dot")
    folders = parts if member.is_folder else parts[:-1]
    if not folders or len(folders) > 2 or (len(folders) == 2 and folders[1] not in _INNER):
        raise _unfit(archive, path, "no run folder has such a file")
    return parts


def _take_note(archive: Path, member: Member, parts: list[str], found: _Found, members: Members) -> None:
    run, place = parts[0], "/".join(parts[1:])
    limits = dict.fromkeys(APART, _DOCUMENT_BYTES) | {JOURNAL: _JOURNAL_BYTES}
    if member.size > limits.get(place, member.size):
        raise _unfit(archive, member.path, f"it is larger than {limits[place] >> 20} MiB")
    digest, kept = sha256(), []
    for part in members.content():
        digest.update(part)
        if place in (MANIFEST, JOURNAL):
            kept.append(part)
    found.digests[place] = digest.hexdigest()
    if place == MANIFEST:
        found.manifest = b"".join(kept)
    elif place == JOURNAL:
        found.journal = Chain(run)
        try:
            for line in b"".join(kept).split(b"\n")[:-1]:
                found.journal.read(line)
        except Broken as error:
            raise _unfit(archive, member.path, str(error)) from error


def _check_sealed(archive: Path, name: str, found: _Found) -> None:
    """Refuse a run that does not match the seals of its manifest."""
    if not found.manifest:
        raise _unfit(archive, name, f"it has no {MANIFEST}")
    manifest = parse_manifest(found.manifest, Path(name) / MANIFEST)[0]
    if manifest.run_id != name:
        raise _unfit(archive, name, f"its manifest is of run {excerpt(manifest.run_id)}")
    for place in found.digests:
        if not _belongs(manifest, place.split("/")):
            raise _unfit(archive, f"{name}/{place}", "its manifest does not list it")
    if manifest.status != "finished" or not (manifest.tables or manifest.children):
        return
    sealed = manifest.sealed
    files = {name: digest for name, digest in (sealed.files if sealed else {}).items() if name not in APART}
    for place, digest in {**files, **{table.name: table.sha256 for table in manifest.tables}}.items():
        if found.digests.get(place) != digest:
            raise _unfit(archive, f"{name}/{place}", "it does not match its seal")
    journal = found.journal or Chain(name)
    if (
        sealed
        and not manifest.children
        and (journal.lines, journal.seal) != (sealed.journal_lines, sealed.journal_seal)
    ):
        raise _unfit(archive, f"{name}/{JOURNAL}", "it does not end where the run did")


def _unfit(archive: Path, name: str, why: str) -> Refused:
    return Refused(
        f"{archive} is refused because of {excerpt(name)!r} in it: {why}",
        "nothing was unpacked: check where the archive comes from",
        path=str(archive),
        member=excerpt(name),
    )


def _write_runs(archive: Path, staged: HeldFolder) -> None:
    with opened(archive) as members:
        for member in members:
            parts = _place_of(archive, member)  # checked again, as the archive may have been replaced
            with ExitStack() as stack:
                held = staged
                for part in parts if member.is_folder else parts[:-1]:
                    held = stack.enter_context(held.folder(part, make=True))
                if not member.is_folder:
                    with held.replacing(parts[-1], mode=_MODE) as descriptor:
                        _copy(members.content(), descriptor)


def _copy(content: Iterator[bytes], descriptor: int) -> None:
    with io.FileIO(descriptor, "wb", closefd=False) as file:
        for part in content:
            left = memoryview(part)
            while left:
                left = left[file.write(left) :]


def _check_staged(folder: Path, names: Sequence[str]) -> None:
    for name in names:
        run = RunFolder(folder / name)
        if run.manifest.run_id != name:
            raise Refused(
                f"{name} in the archive is run {run.manifest.run_id}", "check where the archive comes from"
            )
        row_of(run, check_run(run))
        if (damage := verify_run(run.path).damage) is not None:
            raise Refused(
                f"run {name} in the archive is damaged: {damage}", "check where the archive comes from"
            )


def _check_same(found: Path, there: Path) -> None:
    """Refuse a run if the library has a different run with the same id."""
    if read_sealed_manifest(found) != read_sealed_manifest(there):
        raise Refused(
            f"{there} differs from the run of that id in the archive",
            "unpack into another library: --library FOLDER",
            path=str(there),
        )


FREE_BYTES = 1 << 29
RATIO = 50
"""Maximum content of an archive: `FREE_BYTES` plus `RATIO` times its size. Real ones have far less, as tables
are already compressed."""
_EMPTY_BYTES = 4 << 20


class _Unpacked:
    """The content of a gzip file, up to a limit."""

    def __init__(self, file: IO[bytes]) -> None:
        self._limit = FREE_BYTES + RATIO * os.fstat(file.fileno()).st_size
        self._packed = _Packed(file)
        self._file: gzip.GzipFile = gzip.GzipFile(fileobj=self._packed)  # type: ignore[call-overload]

    def read(self, count: int, /) -> bytes:
        found = self._file.read(count)
        self._packed.unpacked += len(found)
        if self._packed.unpacked > self._limit:
            raise BrokenTar(f"it unpacks to more than {FREE_BYTES >> 20} MiB and {RATIO} times its size")
        return found


class _Packed:
    """The packed bytes of an archive; limits empty gzip parts, of which gzip would read any number."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file, self._read = file, 0
        self.unpacked = 0

    def read(self, count: int, /) -> bytes:
        found = self._file.read(count)
        self._read += len(found)
        if self._read > 2 * self.unpacked + _EMPTY_BYTES:
            raise BrokenTar("it is larger than its contents")
        return found


@contextmanager
def opened(archive: Path) -> Iterator[Members]:
    """Open an archive for reading its members from the start.

    Raises
    ------
    Refused
        The file is not an archive of ssdlab, or is incomplete.
    UsageError
        It is not a file, or cannot be read.
    """
    try:
        file = open_regular(archive, "archive")
    except OSError as error:
        raise of_os(error, f"cannot read {archive}", "name an archive of `library pack`") from error
    with file:
        try:
            yield Members(_Unpacked(file))
        except (BrokenTar, EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise Refused(
                f"{archive} is not an archive of runs: {error}",
                "name one that `ssdlab library pack` wrote; fetch it again if it was cut short",
                path=str(archive),
            ) from error
