"""Opens the drive that a user names, or refuses to."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ssdlab.drives.admin.port import KernelPort
from ssdlab.drives.guard.device_facts import device_facts
from ssdlab.drives.guard.file_guard import file_facts, judge_file
from ssdlab.drives.guard.judge import Intent, Refusal, judge_device
from ssdlab.drives.guard.signatures import Signature
from ssdlab.drives.guard.usage import Seen, look_around
from ssdlab.host.identity import Identity, block_identity
from ssdlab.host.reach import Pin, Place, find
from ssdlab.host.sysfs import HostFiles, device_number, names, number
from ssdlab.model.capabilities import SIMULATED_PREFIX
from ssdlab.model.errors import Refused, UsageError
from ssdlab.model.printable import quoted

if TYPE_CHECKING:
    from ssdlab.drives.admin.port import AdminPort
    from ssdlab.drives.base import Drive, OnTick
    from ssdlab.drives.details import Details
    from ssdlab.drives.drive_record import DriveRecord
    from ssdlab.drives.guard.endurance import EnduranceCap
    from ssdlab.drives.simulated.drive import SimulatedText


_IN_STOCK = re.compile(r"(loop|nbd|ram|fd|sr)\d")


@dataclass(frozen=True, slots=True)
class Look:
    """The result of inspecting a drive without touching it.

    Attributes
    ----------
    identity
        Identity of the drive, or of the file that opening would create. None if there is nothing to identify.
    exists
        False for a file that opening would create.
    reading, writing
        The guard's objections, or None; `writing` takes the given consent into account.
    signatures
        Signatures on a block device: file systems, partition tables, array members.
    """

    identity: Identity | None
    exists: bool
    reading: Refusal | None
    writing: Refusal | None
    signatures: tuple[Signature, ...] = ()


def open_drive(
    text: str | os.PathLike[str],
    *,
    size: int | None = None,
    destroy: str | None = None,
    wipe_signatures: bool = False,
    endurance: EnduranceCap | None = None,
    writing: bool = False,
    formats: bool = False,
    allow_unwritten: bool = False,
    on_tick: OnTick | None = None,
    token: str | None = None,
) -> Drive:
    """Open a drive, if the guard has no objection.

    Parameters
    ----------
    text
        A block device (`/dev/nvme0n1`, any link to it), a file, or a simulated drive (`sim:tiny-test`).
    size
        Bytes of a file to create; an existing file must have this size.
    destroy
        Consent: the identifier of the drive that may be overwritten (see `ssdlab drives`).
    wipe_signatures
        Consent to losing a file system, partition table or array member on the device. Its signatures are
        wiped before the first write.
    endurance
        Cap on the bytes written: a share of a block device's rated endurance, or bytes for a device or file.
        It includes the bytes that earlier sessions wrote. By default `EnduranceCap()`.
    writing
        Whether writes and trims are intended.
    formats
        Whether the LBA format is set before anything else. A namespace without a size gets one by this.
    allow_unwritten
        Allow reads of parts of a file that were never written, and leave these parts unwritten. Such reads
        measure the tool, not the drive.
    on_tick
        Called with a snapshot about every 50 ms while a file is laid out.
    token
        Token of the run to resume, from its file's identity. If ssdlab was killed while it wrote its own
        file, the file then needs no consent.

    Returns
    -------
    Drive
        Held until `close`; also a context manager.

    Raises
    ------
    UsageError
        The text names no drive, or a file that is missing and has no size.
    Refused
        The drive is mounted or in use, consent is missing, or the file is not ours; `reason` says which.
    DriveError, HostError, Interrupted
        The drive could not be opened, or its layout failed or was stopped.
    """
    if (given := _simulated(text)) is not None:
        from ssdlab.drives.simulated.drive import SimulatedDrive

        _check_no_size(given, size)
        if (refusal := _of_another(given, destroy)) is not None:
            raise refusal.error(str(text))
        return SimulatedDrive(given, writing=writing, allow_unwritten=allow_unwritten, on_tick=on_tick)
    intent = Intent(writing, destroy, wipe_signatures, formats)
    with _resolve(text, size) as place:
        if place.device is None:
            from ssdlab.drives.file.drive import FileDrive

            return FileDrive(
                place,
                intent,
                HostFiles(),
                size_bytes=size,
                allow_unwritten=allow_unwritten,
                on_tick=on_tick,
                token=token,
                cap=endurance,
            )
        if size is not None:
            raise UsageError(
                f"{place.path} is a block device and has its own size",
                "leave --size out; --span takes a part of it",
            )
        return _open_device(os.fspath(text), place.device, intent, endurance)


def look(
    text: str | os.PathLike[str],
    *,
    size: int | None = None,
    destroy: str | None = None,
    wipe_signatures: bool = False,
    formats: bool = False,
    files: HostFiles | None = None,
) -> Look:
    """Inspect a drive without writing, creating or holding anything.

    Parameters
    ----------
    text, size, destroy, wipe_signatures, formats
        As for `open_drive`.
    files
        The host; tests pass another root.

    Raises
    ------
    UsageError
        The text names no drive.
    """
    if (given := _simulated(text)) is not None:
        from ssdlab.drives.simulated.drive import identity_of

        _check_no_size(given, size)
        refusal = _of_another(given, destroy)
        return Look(identity_of(given), exists=True, reading=refusal, writing=refusal)
    files = files or HostFiles()
    with _resolve(text, size) as place:
        path = place.path
        node = None if place.device is None else files.node(_number(place.device))
        if node is not None:
            intent = Intent(True, destroy, wipe_signatures, formats)
            return _look_at_device(path, node, intent, files)
    facts = file_facts(files, path)
    reading = judge_file(facts, Intent(destroy=destroy), size)
    writing = judge_file(facts, Intent(writing=True, destroy=destroy), size)
    known = facts.kind == "file" or (facts.kind == "missing" and size is not None)
    identity = _future_identity(path, size or facts.size_bytes, files) if known else None
    return Look(identity, facts.kind == "file", reading, writing)


def list_drives(files: HostFiles | None = None, seen: Seen | None = None) -> tuple[Look, ...]:
    """Inspect every disk of this host, sorted by name.

    Disks without a size are included, except unused loop and similar devices.

    Parameters
    ----------
    files
        The host; tests pass another root.
    seen
        An earlier inspection of the whole host, if any.
    """
    files = files or HostFiles()
    nodes = [files.node_named(name) for name in names(files.sys / "block")]
    seen = look_around(files) if seen is None else seen
    return tuple(
        _look_at_device(files.dev / node.name.replace("!", "/"), node, Intent(True), files, seen=seen)
        for node in nodes
        if node is not None
        and number(node / "hidden") != 1
        and (number(node / "size") or not _IN_STOCK.match(node.name))
    )


def tell(
    identity: Identity, files: HostFiles | None = None, port: AdminPort | None = None
) -> tuple[Details | None, DriveRecord | None]:
    """Query a drive for everything it reports, and read its drive record.

    Parameters
    ----------
    identity
        As `look` found it.
    files, port
        The host, and access to the drive; tests pass others.

    Returns
    -------
    tuple
        Details and drive record. Both are None if the target is no block device; the record is None if there
        is none.

    Raises
    ------
    UsageError, HostError
        A drive record is invalid, or cannot be read.
    """
    from ssdlab.drives.details import read_details
    from ssdlab.drives.drive_record import find_record

    files = files or HostFiles()
    node = files.node_named(identity.name) if identity.kind in {"block", "partition"} else None
    if node is None:
        return None, None
    details = read_details(identity, node, port or KernelPort.of(Path(identity.path), node))
    return details, find_record(identity.model, identity.serial)


def _look_at_device(
    path: Path,
    node: Path,
    intent: Intent,
    files: HostFiles,
    *,
    seen: Seen | None = None,
) -> Look:
    facts = device_facts(files, str(path), node, intent, patience_s=0, seen=seen)
    identity, reading = block_identity(files, node), judge_device(facts, Intent(formats=intent.formats))
    if intent.formats and reading is None:
        from ssdlab.drives.settings.lba_format import sized

        identity = sized(identity, KernelPort.of(path, node))
    return Look(
        identity=identity,
        exists=True,
        reading=reading,
        writing=judge_device(facts, intent),
        signatures=facts.signatures,
    )


def _simulated(text: str | os.PathLike[str]) -> SimulatedText | None:
    """Parse the text of a simulated drive; return None if it names a real one."""
    given = os.fspath(text)
    if not given.startswith(SIMULATED_PREFIX):
        return None
    from ssdlab.drives.simulated.drive import SimulatedText

    return SimulatedText.parse(given)


def check_no_profile(given: str) -> None:
    """Refuse a profile's name without the prefix `sim:`, unless a file has that name.

    Raises
    ------
    UsageError
        The text is the name of a profile; the error suggests the name with the prefix.
    """
    if "/" in given or os.path.lexists(given):
        return
    from ssdlab.drives.simulated.profiles import is_shipped

    if is_shipped(given.partition(",")[0]):
        meant = f"{SIMULATED_PREFIX}{given}"
        raise UsageError(
            f"there is no file {quoted(given)} here", f"name the simulated drive: {meant}", nearest=meant
        )


def _of_another(given: SimulatedText, destroy: str | None) -> Refusal | None:
    """Refuse consent to another drive: a simulated drive needs none, but a wrong one is a mistake."""
    try:
        named = None if destroy is None else _simulated(destroy)
    except UsageError:  # no such drive
        named = None
    if destroy is None or (named is not None and named.drive == given.drive):
        return None
    return Refusal(
        "wrong-consent",
        f"--destroy {quoted(destroy)} is not the identifier of {given.drive}",
        f"leave it out, or give the identifier: --destroy {quoted(given.drive)}",
    )


def _check_no_size(given: SimulatedText, size: int | None) -> None:
    if size is not None:
        raise UsageError(
            f"{given} has the size of its profile", "leave --size out; scale=S makes the drive smaller"
        )


def resolved(text: str | os.PathLike[str]) -> str:
    """Return the path that a text leads to now, for repeated inspection; `sim:` texts are unchanged."""
    if _simulated(text) is not None:
        return os.fspath(text)
    with _resolve(text) as place:
        return str(place.path)


def _resolve(text: str | os.PathLike[str], size: int | None = None) -> Place:
    """Resolve a drive's name, following a link to a device but not a link to a file.

    With a size, the name may be that of a file to create.
    """
    given = os.fspath(text)
    if not given.strip():
        raise UsageError("no drive was named", "name a block device such as /dev/nvme0n1, or a file")
    if size is None:
        check_no_profile(given)
    # `os.path.expanduser` never raises: the guard reports the path of an unknown user.
    place = find(Path(os.path.expanduser(given)))  # noqa: PTH111
    path = place.path
    if path.is_relative_to("/dev") and not path.is_relative_to("/dev/shm") and not path.exists():
        place.close()
        raise UsageError(f"there is no device {path}", "see `ssdlab drives`", target=str(path))
    return place


def _open_device(text: str, pin: Pin, intent: Intent, endurance: EnduranceCap | None) -> Drive:
    from ssdlab.drives.block import BlockDrive

    files = HostFiles()
    node = files.node(_number(pin))
    if node is None:
        raise UsageError(
            f"{pin.path} is a device node without a device",
            "see `ssdlab drives`",
        )
    try:
        return BlockDrive(pin, node, intent, files, endurance)
    except Refused as error:
        if text != str(pin.path):
            error.what += f" ({text} leads there)"
        raise


def _number(pin: Pin) -> str:
    return device_number(pin.status.st_rdev)


def _future_identity(path: Path, size_bytes: int, files: HostFiles) -> Identity:
    """Return the identity of a file without opening it.

    Its logical block is that of the device under the file system, or 4096 bytes if unknown.
    """
    node = files.node(device_number(path.parent.stat().st_dev))
    beneath = None if node is None else block_identity(files, node)
    return Identity(
        path=str(path),
        name=path.name,
        kind="file",
        consent_id=path.name,
        capacity_bytes=size_bytes,
        logical_block_bytes=4096 if beneath is None else beneath.logical_block_bytes,
        backing=None if beneath is None else beneath.path,
    )
