"""`ssdlab drives`: list this host's drives with their write protection, or show one in detail."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from ssdlab.cli.leftovers import left_set
from ssdlab.cli.output import print_fields, print_json, print_line, print_table
from ssdlab.model.errors import Refused
from ssdlab.model.units import block_text, capacity_text, share_text

if TYPE_CHECKING:
    from ssdlab.drives import Look
    from ssdlab.drives.admin.ata import AtaDevice, Security
    from ssdlab.drives.admin.nvme import Controller, Health, Namespace, PowerState
    from ssdlab.drives.admin.tcg import Locking
    from ssdlab.drives.details import AtaDetails, Details, NvmeDetails, ScsiDetails
    from ssdlab.drives.drive_record import DriveRecord
    from ssdlab.drives.guard.judge import Refusal
    from ssdlab.host.environment import Storage
    from ssdlab.model.host_load import Conditions

Fields = list[tuple[str, object]]


def print_details(details: Details | None, record: DriveRecord | None, capacity_bytes: int) -> None:
    """Print what the drive reports and what its record says; None is left out."""
    if details is not None:
        if details.nvme is not None:
            _print_part("reported by the drive", _nvme_fields(details.nvme))
        if details.ata is not None and details.ata.device is not None:
            _print_part("reported by the drive", _ata_fields(details.ata.device, details.ata))
        if details.scsi is not None:
            _print_part("reported by the drive", _scsi_fields(details.scsi))
        _print_part("no answer", list(details.unanswered))
    if record is not None:
        _print_part("from its record", _record_fields(record, capacity_bytes))


def _print_part(title: str, fields: Fields) -> None:
    if any(value not in (None, "", ()) for _, value in fields):
        print_line()
        print_line(title, "dim")
        print_fields(fields, indent=2)


def _nvme_fields(found: NvmeDetails) -> Fields:
    fields: Fields = []
    if (reported := found.controller) is not None:
        fields += _controller_fields(reported)
    if (space := found.namespace) is not None:
        fields += _namespace_fields(space)
    if len(found.active_namespaces) > 1:
        fields += [("namespaces", ", ".join(map(str, found.active_namespaces)))]
    if found.write_cache_enabled is not None:
        fields += [("write cache", "on" if found.write_cache_enabled else "off")]
    if found.power_state is not None:
        fields += [("power state", found.power_state)]
    if found.security is not None:
        fields += [("locking", _locking_text(found.security))]
    if found.sanitize is not None:
        fields += [("last sanitize", found.sanitize.state)]
    if found.health is not None:
        fields += _health_fields(found.health)
    return fields


def _controller_fields(reported: Controller) -> Fields:
    methods = [name for name in ("block", "crypto", "overwrite") if getattr(reported.sanitize, name)]
    formats = ["user data", *(["crypto"] if reported.erase_crypto else [])] if reported.format else []
    reach = " (of all namespaces at once)" if reported.erase_all and formats else ""
    return [
        ("vendor", f"{reported.vendor_id:04x}h, OUI {reported.ieee_oui}"),
        ("NVMe version", reported.version),
        ("total NVM", _capacity(reported.total_bytes)),
        ("sanitize", ", ".join(methods) or "no"),
        ("format", (", ".join(formats) or "no") + reach),
        ("security", "yes" if reported.security else "no"),
        ("TRIM", "yes" if reported.deallocate else "no"),
        ("write zeroes", "yes" if reported.write_zeroes else "no"),
        ("cache", "volatile" if reported.write_cache else "no volatile cache"),
        ("power states", "; ".join(_power_text(state) for state in reported.power_states)),
        ("warning temperature", _with("{} C", reported.warning_c)),
    ]


def _power_text(state: PowerState) -> str:
    power = "?" if state.max_w is None else f"{state.max_w:g}"
    return f"{state.index}: {power} W{'' if state.operational else ' idle'}"


def _namespace_fields(space: Namespace) -> Fields:
    shown = [
        f"{block_text(form.data_bytes)}{f'+{form.metadata_bytes}' if form.metadata_bytes else ''}"
        f"{' (in use)' if form.index == space.format else ''}"
        for form in space.formats
    ]
    return [
        ("LBA formats", ", ".join(shown)),
        ("EUI-64", space.eui64),
        ("NGUID", space.nguid),
        ("trimmed reads", space.deallocated_reads or "not reported"),
    ]


def _health_fields(health: Health) -> Fields:
    return [
        ("warnings", ", ".join(health.warnings)),
        ("temperature", _with("{} C", health.temperature_c)),
        ("wear", _joined(_worn(health.used_pct), _with("{} % spare left", health.spare_pct))),
        ("host writes", _capacity(health.written_bytes)),
        ("host reads", _capacity(health.read_bytes)),
        (
            "power-on time",
            _joined(_with("{} h", health.power_on_hours), _with("{} cycles", health.power_cycles)),
        ),
        ("unsafe shutdowns", health.unsafe_shutdowns),
        ("media errors", health.media_errors),
    ]


def _ata_fields(device: AtaDevice, found: AtaDetails) -> Fields:
    fields: Fields = [
        ("WWN", device.wwn),
        ("form factor", device.form_factor),
        ("link", f"{device.link or '?'} of {device.link_most}" if device.link_most else device.link),
        ("security", _security_text(device.security)),
        ("sanitize", "yes" if device.sanitize else "no"),
        ("TRIM", "yes" if device.trim else "no"),
        ("trimmed reads", device.trimmed_reads or "not reported"),
        ("write cache", ("on" if device.write_cache_enabled else "off") if device.write_cache else "none"),
    ]
    fields += [("temperature", _with("{} C", found.temperature_c))]
    if (statistics := found.statistics) is not None:
        fields += [
            ("wear", _worn(statistics.used_pct)),
            ("host writes", _capacity(statistics.written_bytes)),
            ("power-on time", _with("{} h", statistics.power_on_hours)),
        ]
    return fields


def _with(words: str, value: int | None) -> str | None:
    return None if value is None else words.format(value)


def _worn(used_pct: int | None) -> str | None:
    return _with("{} % of rated endurance used", used_pct)


def _capacity(found_bytes: int | None) -> str | None:
    return None if found_bytes is None else capacity_text(found_bytes)


def _joined(*parts: str | None) -> str:
    return ", ".join(part for part in parts if part is not None)


def _locking_text(reported: Locking) -> str:
    if not reported.supported:
        return "none"
    states = ["locked" if reported.locked else "set up, unlocked" if reported.enabled else "not set up"]
    states += ["a shadow MBR hides its data"] if reported.shadow else []
    return ", ".join([*reported.rules, *states])


def _scsi_fields(reported: ScsiDetails) -> Fields:
    shape, supply = reported.characteristics, reported.provisioning
    cache = {True: "on", False: "off", None: None}[reported.write_cache_enabled]
    return [
        (
            "medium",
            {True: "solid state", False: "rotating", None: None}[shape.solid_state] if shape else None,
        ),
        ("form factor", shape.form_factor if shape else None),
        ("link", reported.link),
        ("TRIM", ("yes" if supply.unmap or supply.write_same_unmap else "no") if supply else None),
        ("trimmed reads", (supply.unmapped_reads or "not reported") if supply else None),
        ("write cache", cache),
        ("temperature", _with("{} C", reported.temperature_c)),
        ("wear", _worn(reported.used_pct)),
    ]


def _security_text(security: Security) -> str:
    if not security.supported:
        return "no"
    states = ("enabled", "locked", "frozen", "attempts_exhausted")
    held = [name.replace("_", " ") for name in states if getattr(security, name)]
    return ", ".join(["supported", *held, *(["enhanced erase"] if security.enhanced else [])])


def _record_fields(record: DriveRecord, capacity_bytes: int) -> Fields:
    noted = record.model_dump(exclude_none=True, exclude={"model", "serial"})
    fields: Fields = [(name.replace("_", " "), value) for name, value in noted.items()]
    spare, endurance, energy = (
        record.spare_share(capacity_bytes), record.endurance_bytes(capacity_bytes), record.hold_up_j()
    )  # fmt: skip
    if spare is not None:
        fields.append(("spare", share_text(spare)))
    if endurance is not None:
        fields.append(("rated endurance", capacity_text(endurance)))
    if energy is not None:
        fields.append(("hold-up energy", f"{energy:g} J"))
    return fields


_THERE = "name an existing drive or file; ssdlab drives lists the drives"


def drives(drive: str | None = None, /, *, json: bool = False) -> None:
    """List the drives of this host and their write protection, or show one in detail. Touches nothing.

    Parameters
    ----------
    drive
        A block device or a file [default: list all disks of this host].
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
        assert look.identity is not None  # listed drives exist
        who = look.identity
        name = " ".join(part for part in (who.model, who.serial) if part)
        rows.append((who.path, name or who.transport, capacity_text(who.capacity_bytes), _guard(look)))
    if not rows:
        print_line("no disks found; you can test a file instead: ssdlab measure scratch.bin --size 4GiB")
        return
    print_table(rows, ("drive", "model", "capacity", "guard"), right=(2,))
    _print_not_seen(unseen)


def _print_not_seen(unseen: tuple[str, ...]) -> None:
    for what in unseen:
        print_line(f"not seen: {what}", "dim")


def _tell(drive: str, *, as_json: bool) -> None:
    from ssdlab.drives import look, tell
    from ssdlab.host.environment import read_environment
    from ssdlab.host.platform import read_platform
    from ssdlab.host.rights import not_seen

    found = look(drive)
    if found.identity is None:
        assert found.reading is not None  # a drive without an identity is refused
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
        ("kind", who.kind if look.exists else f"{who.kind}, does not exist yet"),
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
    """Return the guard's verdict in a few words."""
    if look.reading is not None:
        return f"refused: {look.reading.what.removeprefix(_path(look)).strip().removeprefix('is ')}"
    if look.writing is None:
        return "free"
    assert look.identity is not None
    if look.writing.reason == "no-consent":
        carries = ", ".join(dict.fromkeys(found.kind for found in look.signatures))
        more = f" --wipe-signatures (it carries {carries})" if carries else ""
        return f"free; to write: --destroy {look.identity.consent_id}{more}"
    return f"read-only: {look.writing.what.removeprefix(_path(look)).strip()}"


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
