"""`ssdlab drives`: every drive here with what guards it, or all that is known of one."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from ssdlab.cli.leftovers import left_set
from ssdlab.cli.output import print_fields, print_json, print_line, print_table
from ssdlab.model.errors import Refused
from ssdlab.model.units import block_text, capacity_text

if TYPE_CHECKING:
    from ssdlab.drives import Look
    from ssdlab.drives.guard.judge import Refusal
    from ssdlab.host.environment import Storage
    from ssdlab.model.host_load import Conditions


_THERE = "name a drive or a file that is there; ssdlab drives lists the drives"


def drives(drive: str | None = None, /, *, json: bool = False) -> None:
    """List every drive here with what guards it, or tell all that is known of one. Nothing is touched.

    Parameters
    ----------
    drive
        A block device or a file; without it, all disks of this host.
    json
        Print JSON, schema ssdlab.drives/1 (or ssdlab.drive/1 for one).
    """
    if drive is None:
        _list(as_json=json)
    else:
        _tell(drive, as_json=json)


def _list(*, as_json: bool) -> None:
    from ssdlab.drives import list_drives
    from ssdlab.drives.guard.usage import look_around
    from ssdlab.host.rights import not_seen
    from ssdlab.host.sysfs import HostFiles

    around = look_around(HostFiles())
    found = list_drives(seen=around)
    unseen = (*not_seen(), *(one.what for one in around.tables.unseen), *around.opened.barred)
    if as_json:
        drives = [_record(look) for look in found]
        listing = {"schema": "ssdlab.drives/1", "drives": drives}
        print_json({**listing, "not_seen": list(unseen), "left_set": left_set()})
        return
    rows = []
    for look in found:
        assert look.identity is not None  # what is listed is there
        who = look.identity
        name = " ".join(part for part in (who.model, who.serial) if part)
        rows.append((who.path, name or who.transport, capacity_text(who.capacity_bytes), _guard(look)))
    if not rows:
        print_line("no disk was found here; a file will do: ssdlab measure scratch.bin --size 4GiB")
        return
    print_table(rows, ("drive", "model", "capacity", "guard"), right=(2,))
    _print_not_seen(unseen)


def _print_not_seen(unseen: tuple[str, ...]) -> None:
    for what in unseen:
        print_line(f"not seen: {what}", "dim")


def _tell(drive: str, *, as_json: bool) -> None:
    from ssdlab.cli.drive_details import print_details
    from ssdlab.drives import look, tell
    from ssdlab.host.environment import read_environment
    from ssdlab.host.platform import read_platform
    from ssdlab.host.rights import not_seen

    found = look(drive)
    if found.identity is None:
        assert found.reading is not None  # what has no identity is refused
        advice = _THERE if found.reading.reason == "no-size" else found.reading.advice
        raise Refused(found.reading.what, advice, reason=found.reading.reason, target=drive)
    storage = read_environment(found.identity).storage
    details, record = tell(found.identity)
    parts = {one.part: one for one in read_platform(identity=found.identity).components}
    placed = {name: parts[name].name for name in ("host_adapter", "slot")}
    if as_json:
        facts = {} if storage is None else asdict(storage)
        facts.pop("identity", None)
        shown_details = {"details": None if details is None else asdict(details)}
        noted = {"record": None if record is None else record.model_dump(mode="json")}
        print_json(
            {
                "schema": "ssdlab.drive/1",
                **_record(found),
                **shown_details,
                **noted,
                **facts,
                **placed,
                "not_seen": list(not_seen()),
                "left_set": left_set(),
            }
        )
        return
    print_line(found.identity.path, "bold")
    at = [("host adapter", placed["host_adapter"]), ("slot", placed["slot"])]
    print_fields([*_identity_fields(found), *at, *_storage_fields(storage)], indent=2)
    print_details(details, record, found.identity.capacity_bytes)
    if storage is not None and storage.conditions is not None:
        _print_settings(storage.conditions)
    print_line()
    _print_guard(found)
    _print_not_seen(not_seen())


def _storage_fields(storage: Storage | None) -> list[tuple[str, object]]:
    fields: list[tuple[str, object]] = []
    if storage is not None and (system := storage.file_system) is not None:
        fields += [("file system", f"{system.fstype}, mounted at {system.mount_point}")]
        fields += [("options", ",".join(system.options))]
    if storage is not None and storage.queues is not None and storage.queues.present:
        fields += [("queues", f"{storage.queues.present} in hardware, {storage.queues.used} used from here")]
    return fields


def _print_settings(settings: Conditions) -> None:
    print_line()
    print_line(f"settings of {settings.device}", "dim")
    named = {name.replace("_", " "): _plain(value) for name, value in asdict(settings).items()}
    print_fields([field for field in named.items() if field[0] != "device"], indent=2)


def _identity_fields(look: Look) -> list[tuple[str, object]]:
    who = look.identity
    assert who is not None
    physical = who.physical_block_bytes
    return [
        ("kind", who.kind if look.exists else f"{who.kind}, not there yet"),
        ("model", who.model),
        ("serial", who.serial),
        ("wwid", who.wwid),
        ("firmware", who.firmware),
        ("transport", who.transport),
        ("namespace", who.nsid),
        ("siblings", ", ".join(who.siblings)),
        ("capacity", f"{capacity_text(who.capacity_bytes)} ({who.capacity_bytes} bytes)"),
        ("logical block", block_text(who.logical_block_bytes)),
        ("physical block", None if physical is None else block_text(physical)),
        ("NUMA node", who.numa_node),
        ("backing", who.backing),
        ("links", ", ".join(who.links)),
        ("carries", "; ".join(dict.fromkeys(found.words for found in look.signatures))),
    ]


def _print_guard(look: Look) -> None:
    for doing, refusal in (("reading", look.reading), ("writing", look.writing)):
        if refusal is None:
            print_line(f"{doing}: allowed", "good")
        else:
            print_line(f"{doing}: refused, {refusal.what}", "warn")
            print_line(f"         {refusal.advice}", "dim")


def _guard(look: Look) -> str:
    """Return in a few words what the guard thinks."""
    if look.reading is not None:
        return f"refused: {look.reading.what.removeprefix(_path(look)).strip().removeprefix('is ')}"
    if look.writing is None:
        return "free"
    assert look.identity is not None
    if look.writing.reason == "no-consent":
        carries = ", ".join(dict.fromkeys(found.kind for found in look.signatures))
        more = f" --wipe-signatures (it carries {carries})" if carries else ""
        return f"free; to write: --destroy {look.identity.consent_id}{more}"
    return f"reading only: {look.writing.what.removeprefix(_path(look)).strip()}"


def _path(look: Look) -> str:
    return "" if look.identity is None else look.identity.path


def _record(look: Look) -> dict[str, Any]:
    identity = None if look.identity is None else asdict(look.identity)
    return {
        "identity": identity,
        "exists": look.exists,
        "reading": _refusal(look.reading),
        "writing": _refusal(look.writing),
        "signatures": [asdict(found) for found in look.signatures],
    }


def _refusal(refusal: Refusal | None) -> dict[str, str] | None:
    return None if refusal is None else asdict(refusal)


def _plain(value: object) -> object:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ", ".join(str(item) for item in value) if isinstance(value, tuple) else value
