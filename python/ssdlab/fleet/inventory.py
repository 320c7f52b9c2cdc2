"""The inventory of a host's drives: one file per host, in the shared library.

The host itself writes the file, which shows that it sees the library (`library_token`). The file also has its
clock's offset from the library's (`clock_ahead_s`) and its version of ssdlab.
"""

from __future__ import annotations

import fcntl
import os
import secrets
import shlex
import time
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import Field, JsonValue, TypeAdapter, ValidationError

from ssdlab.drives import list_drives, look
from ssdlab.fleet.trusted_files import (
    DriveText,
    HostName,
    Line,
    Serial,
    misfit_text,
    private_folder,
    read_private,
)
from ssdlab.host.defaults import library_words
from ssdlab.host.durable import library_errors
from ssdlab.host.environment import tool_facts
from ssdlab.host.fillers import is_filler
from ssdlab.host.held_folder import HeldFolder
from ssdlab.host.identity import Identity
from ssdlab.host.platform import pci_device_of
from ssdlab.host.sysfs import there
from ssdlab.model.capabilities import SIMULATED_PREFIX
from ssdlab.model.errors import Refused, UsageError, check_schema, excerpt
from ssdlab.model.frozen import Stored
from ssdlab.model.units import counted
from ssdlab.results.lease import host_name
from ssdlab.results.seal import Broken, read_document, seal_document
from ssdlab.runs.provenance import slot_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence, Set

    from ssdlab.drives.opening import Look

SCHEMA = "ssdlab.inventory/1"
FLEET = ".fleet"
"""The fleet's own folder in a library."""
INVENTORY = "inventory"
TOKEN = "token"
SHARED_WITHIN_S = 60.0
"""Maximum seconds until a file made on another host is seen; NFS caches attributes for half of that."""
MAX_CLOCK_S = 1.0
"""Maximum seconds between the clocks of two hosts; a larger difference could misorder their runs."""
MAX_FROM_FILES_S = MAX_CLOCK_S / 2
"""Maximum offset from the clock of the shared file system, so that any two hosts meet `MAX_CLOCK_S`."""
_IDENTITY = TypeAdapter(Identity)
_HOST: TypeAdapter[str] = TypeAdapter(HostName)


class FleetDrive(Stored):
    """One drive of a host, as reported by the kernel, or by the text of a simulated drive."""

    serial: Serial = Field(description="serial, as used by the fleet; if it has none, host and name")
    text: DriveText = Field(description="its name on its host")
    slot: Line = Field(description="its location, such as a slot")
    resettable: bool = Field(False, description="whether it can be reset without a trace, as zram can")
    link: Line = Field(default="", description="switch or controller that it shares with others, if known")
    signatures: tuple[Line, ...] = Field(default=(), description="file systems and the like on it")
    identity: dict[str, JsonValue]

    @property
    def who(self) -> Identity:
        """The drive's identity, as the guard read it."""
        return _IDENTITY.validate_python(self.identity)

    @property
    def simulated(self) -> bool:
        return self.text.startswith(SIMULATED_PREFIX)

    @property
    def model(self) -> str:
        """Model of the drive; its kernel name if unknown."""
        return self.who.model or self.who.name


class Inventory(Stored):
    """The drives of one host, and facts of the host."""

    schema_version: str = Field(default=SCHEMA, alias="schema")
    host: HostName
    rack: Line = Field(default="", description="rack, as stated with the inventory")
    version: Line = Field(description="version of its ssdlab")
    taken: float = Field(description="host time, in seconds since 1970")
    library_token: str = Field(description="token read from the library: equal on all hosts that share it")
    clock_ahead_s: float = Field(description="host clock minus that of the library's file system")
    cpus: int
    memory_mib: int = 0
    drives: tuple[FleetDrive, ...] = Field(
        description="drives that the guard allows to be written, with consent"
    )
    left_out: dict[str, str] = Field(default={}, description="by device, the guard's objection")


def own_version() -> str:
    return tool_facts()["version"]


def take(
    library: Path,
    simulated: Sequence[str] = (),
    host: str | None = None,
    rack: str | None = None,
    *,
    drop: Sequence[str] = (),
) -> Inventory:
    """Look at the drives of this host, and write its inventory into the library.

    Rack and simulated drives are kept from the previous inventory.

    Parameters
    ----------
    simulated
        Texts of simulated drives that count as drives of this host; each has a `serial=`.
    host
        Name of the host; by default `host_name()`.
    rack
        Rack of the host; None: as before.
    drop
        Serials of drives that may be missing.

    Raises
    ------
    UsageError
        A simulated drive has no serial, or a serial to drop is attached or not in the inventory.
    Refused
        Two drives have one serial, or a drive of the previous inventory is missing and not to be dropped.
    HostError
        The library cannot be written.
    """
    name = checked_host(host)
    looks = [each for each in list_drives() if each.identity is not None]
    refused = {each.identity.path: why for each in looks if each.identity and (why := _guarded(each))}
    drives: list[FleetDrive] = []
    for each in looks:
        if not _guarded(each):
            try:
                drives.append(drive_found(each, name))
            except ValidationError as error:
                assert each.identity is not None
                refused[each.identity.path] = f"{each.identity.path}: {misfit_text(error)}"
    before = None
    with suppress(Refused):  # damaged: the new one replaces it
        before = inventory_of(library, name)
    known = () if before is None else before.drives
    given = [_of_text(text) for text in simulated]
    named = {each.serial for each in given}
    kept = [each for each in known if each.simulated and each.serial not in {*named, *drop}]
    drives += [*kept, *given]
    _check_serials(drives)
    attached = {serial_on(name, each.identity) for each in looks if each.identity is not None}
    _check_kept(name, known, drives, drop, attached)
    folder = fleet_folder(library)
    taken = Inventory(
        host=name,
        rack=(before.rack if before else "") if rack is None else rack,
        version=own_version(),
        taken=time.time(),
        library_token=library_token(library),
        clock_ahead_s=clock_ahead_s(folder),
        cpus=len(os.sched_getaffinity(0)),
        memory_mib=os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2**20,
        drives=tuple(drives),
        left_out=refused,
    )
    with library_errors(library), private_folder(folder.path / INVENTORY, make=True) as held:
        held.replace(f"{name}.json", seal_document(taken.model_dump_json(by_alias=True, indent=1)))
    return taken


def checked_host(host: str | None) -> str:
    """Return the name of a host, by default of this one.

    Raises
    ------
    UsageError
        The name is not a valid host name.
    """
    name = host or host_name()
    try:
        return _HOST.validate_python(name)
    except ValidationError as error:
        raise UsageError(
            f"{excerpt(name)!r} is not a host name", "give one with --host: letters, digits, dots, hyphens"
        ) from error


def _check_kept(
    host: str,
    known: Sequence[FleetDrive],
    drives: Sequence[FleetDrive],
    drop: Sequence[str],
    attached: Set[str],
) -> None:
    """Refuse a missing drive that is not to be dropped, and a serial to drop that is attached or unknown.

    A drive that is attached but must not be written is not missing: the inventory lists it with the reason.
    """
    here, were = {each.serial for each in drives}, {each.serial for each in known}
    for serial in drop:
        if serial in here or serial not in were:
            wrong = "is attached" if serial in here else "is not in the inventory"
            raise UsageError(f"{serial} cannot be dropped: it {wrong}", f"leave out --drop {serial}")
    gone = [each.serial for each in known if each.serial not in {*here, *drop, *attached}]
    if gone:
        words = "".join(f" --drop {shlex.quote(serial)}" for serial in gone)
        raise Refused(
            f"{host} had {counted(len(gone), 'drive')} that it has no more: {', '.join(gone)}",
            f"attach them again, or leave them out: add{words}",
            serials=gone,
        )


def changes(before: Inventory, now: Inventory) -> list[str]:
    """Return the differences between two inventories of a host in words: drives, slots, firmware, rack."""
    old, new = ({each.serial: each for each in one.drives} for one in (before, now))
    came = [f"new: {serial}" for serial in new if serial not in old]
    gone = [f"not kept: {serial}" for serial in old if serial not in new]
    moved = [
        f"moved: {serial} from {old[serial].slot} to {each.slot}"
        for serial, each in new.items()
        if serial in old and old[serial].slot != each.slot
    ]
    flashed = [
        f"firmware: {serial} from {old[serial].who.firmware} to {each.who.firmware}"
        for serial, each in new.items()
        if serial in old and old[serial].who.firmware != each.who.firmware
    ]
    rack = [f"rack: {before.rack or 'none'} to {now.rack or 'none'}"] if before.rack != now.rack else []
    return [*came, *gone, *moved, *flashed, *rack]


def inventory_of(library: Path, host: str) -> Inventory | None:
    """Return the inventory of one host; None if it has none.

    Raises
    ------
    Refused
        The file is damaged, or other users can change it.
    """
    path = library / FLEET / INVENTORY
    try:
        folder = private_folder(path, writing=False)
    except FileNotFoundError:
        return None
    with library_errors(path), folder:
        return _read(folder, f"{host}.json", private=True) if folder.exists(f"{host}.json") else None


def read_inventories(library: Path) -> tuple[Inventory, ...]:
    """Return the inventories of all hosts, by name; refuse inconsistent ones.

    Raises
    ------
    Refused
        A file is damaged, or other users can change it. Or the hosts see different libraries, run different
        versions of ssdlab, or have clocks that differ too much (`MAX_CLOCK_S`, `MAX_FROM_FILES_S`).
    """
    found = inventories_in(library, private=True)
    _check_alike(
        found, "version", "run different versions of ssdlab", "install the same version on all of them"
    )
    _check_alike(
        found,
        "library_token",
        "do not see the same library",
        "mount the same shared folder on all of them, and record their inventories again",
    )
    _check_clocks(found)
    return found


def inventories_in(library: Path, *, private: bool = False) -> tuple[Inventory, ...]:
    """Return the inventories of all hosts, by name, without comparing them.

    Parameters
    ----------
    private
        Whether to refuse files that other users can change; needed if commands are made from them.

    Raises
    ------
    Refused
        A file is damaged, or not private.
    """
    path = library / FLEET / INVENTORY
    try:
        folder = private_folder(path, writing=False) if private else HeldFolder(path)
    except FileNotFoundError:
        return ()
    with library_errors(path), folder:
        return tuple(
            _read(folder, name, private=private)
            for name in folder.names()
            if name.endswith(".json") and not name.startswith(".")
        )


def fleet_folder(library: Path) -> HeldFolder:
    """Open the fleet's own folder in a library; create it if it is missing.

    Raises
    ------
    HostError
        The library cannot be written.
    Refused
        Users other than this one and root can change it.
    """
    with library_errors(library):
        return private_folder(library / FLEET, make=True)


def library_token(library: Path) -> str:
    """Return a library's identifying token, created by the first caller.

    Raises
    ------
    HostError
        The library cannot be written.
    """
    with (
        library_errors(library / FLEET / TOKEN),
        fleet_folder(library) as folder,
        os.fdopen(folder.lock_file(TOKEN), "r+b") as file,
    ):
        fcntl.lockf(file, fcntl.LOCK_EX)
        known = file.read()
        if not known:
            known = secrets.token_hex(16).encode()
            file.write(known)
            file.flush()
            os.fsync(file.fileno())
    return known.decode()


def clock_ahead_s(folder: HeldFolder, clock: Callable[[], float] = time.time) -> float:
    """Return the host's clock minus the clock of a folder's file system, in seconds."""
    name = f"clock-{secrets.token_hex(8)}"
    before = clock()
    folder.replace(name, b"", durable=False)
    after = clock()
    written = (folder.path / name).stat().st_mtime
    folder.remove(name)
    return 0.0 if before <= written <= after else min(before - written, after - written, key=abs)


def serial_on(host: str, who: Identity) -> str:
    """Return a drive's name in the fleet: its serial, or host and name if it has none."""
    return f"{host}-{who.consent_id}" if is_filler(who.serial or "") else str(who.serial)


def _guarded(found: Look) -> str:
    """Return why a drive may not be written, in words; empty if it needs only consent."""
    guard = found.writing
    return "" if guard is None or guard.reason == "no-consent" else guard.what


def drive_found(found: Look, host: str) -> FleetDrive:
    who = found.identity
    assert who is not None  # listed drives have one
    node = Path("/sys/class/block") / who.name.replace("/", "!")
    return FleetDrive(
        serial=serial_on(host, who),
        text=who.path,
        slot=slot_of(node, who),
        resettable=there(node / "reset"),
        link=_link_of(node, who.transport),
        signatures=tuple(dict.fromkeys(each.kind for each in found.signatures)),
        identity=plain_identity(who),
    )


def _of_text(text: str) -> FleetDrive:
    who = look(text).identity if text.startswith(SIMULATED_PREFIX) else None
    if who is None or who.serial is None:
        what = f"{excerpt(text)!r} is not a simulated drive" if who is None else f"{text} has no serial"
        raise UsageError(what, "give it one: sim:PROFILE,serial=...")
    try:
        return FleetDrive(serial=who.serial, text=text, slot=text, identity=plain_identity(who))
    except ValidationError as error:
        raise UsageError(
            f"{excerpt(text)} is not a simulated drive for a fleet: {misfit_text(error)}",
            "write sim:PROFILE,serial=...",
        ) from error


def plain_identity(who: Identity) -> dict[str, JsonValue]:
    return {name: list(v) if isinstance(v, tuple) else v for name, v in asdict(who).items()}


def _link_of(node: Path, transport: str | None) -> str:
    """Return the PCIe switch, or the controller, that a drive shares with others; empty if unknown."""
    function = pci_device_of(node.resolve())
    if function is None:
        return ""
    if transport != "pcie":
        return function.name
    upstream = function.parent.parent  # above the drive's port: another PCI function if it is a switch
    return upstream.name if pci_device_of(upstream) == upstream else ""


def _check_serials(drives: Iterable[FleetDrive]) -> None:
    seen: dict[str, FleetDrive] = {}
    for drive in drives:
        if (other := seen.setdefault(drive.serial, drive)) is not drive:
            raise Refused(
                f"two drives have the serial {drive.serial}: {other.text} and {drive.text}",
                "remove one of them: a fleet identifies drives by serial",
                serial=drive.serial,
            )


def _check_alike(found: Sequence[Inventory], field: str, what: str, advice: str) -> None:
    values = {each.host: getattr(each, field) for each in found}
    if len(set(values.values())) > 1:
        listed = ", ".join(f"{host} {value[:12]}" for host, value in values.items())
        raise Refused(f"these hosts {what}: {listed}", advice, hosts=sorted(values))


def _check_clocks(found: Sequence[Inventory]) -> None:
    if not found:
        return
    first = min(found, key=lambda each: each.clock_ahead_s)
    last = max(found, key=lambda each: each.clock_ahead_s)
    apart = last.clock_ahead_s - first.clock_ahead_s
    if apart > MAX_CLOCK_S:
        raise Refused(
            f"the clocks of {first.host} and {last.host} differ by {apart:.1f} s",
            "synchronise both to one time server, and record their inventories again",
            hosts=[first.host, last.host],
        )
    for each in found:
        check_ahead(each.host, each.clock_ahead_s)


def check_ahead(host: str, ahead_s: float) -> None:
    """Refuse a clock that is far from that of the library's file system.

    Raises
    ------
    Refused
        The clock is off by more than `MAX_FROM_FILES_S`; the error says by how much.
    """
    if abs(ahead_s) > MAX_FROM_FILES_S:
        raise Refused(
            f"the clock of {host} is {ahead_s:+.1f} s off that of the library's file system",
            "synchronise both to one time server, and record the host's inventory again",
            host=host,
        )


def _read(folder: HeldFolder, name: str, *, private: bool) -> Inventory:
    path = folder.path / name
    try:
        data = read_private(folder, name, own=False) if private else folder.read_bytes(name)
        fields, _ = read_document(data, SCHEMA)
        check_schema(fields.get("schema"), SCHEMA, path)
        return Inventory.model_validate(fields)
    except (OSError, Broken, ValueError, ValidationError) as error:
        why = misfit_text(error) if isinstance(error, ValidationError) else str(error).splitlines()[0]
        raise Refused(
            f"the inventory {path} cannot be read: {why}",
            "give rack and simulated drives anew when you take it again on that host: "
            f"ssdlab fleet inventory --host {path.stem}{library_words(path.parents[2])}",
            path=str(path),
        ) from error
