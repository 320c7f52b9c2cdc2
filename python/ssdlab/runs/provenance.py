"""The provenance of a run in its manifest: method, drive, host and tool."""

from __future__ import annotations

import os
import secrets
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, cast

from ssdlab.drives.ratings import rated_values
from ssdlab.host.consent import has_own_name
from ssdlab.host.held_folder import hold
from ssdlab.results.journal import boot_id, now
from ssdlab.results.lease import host_name
from ssdlab.results.records import VoidedWrites
from ssdlab.results.run_folder import STEPS, RunFolder, step_logs
from ssdlab.results.schema import DriveInfo, Manifest
from ssdlab.results.step_log import log_name, log_written
from ssdlab.results.store import new_run_id
from ssdlab.runs.session_record import first_session

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pydantic import JsonValue

    from ssdlab.drives.base import Drive
    from ssdlab.host.held_folder import HeldFolder
    from ssdlab.host.identity import Identity
    from ssdlab.model.failed_ios import OnError
    from ssdlab.results.records import VoidedAttempt
    from ssdlab.runs.order import Order


def written_by_run(folder: Path | HeldFolder) -> int:
    """Return the bytes written by all attempts of a run: from its tables, or else from its logs.

    Raises
    ------
    Refused
        The run is damaged.
    """
    held = hold(folder)
    run = RunFolder(held.path)
    if run.manifest.tables:  # some logs may be gone by now
        return _by_table(run)
    if not (names := step_logs(held)):
        return 0
    with held.folder(STEPS) as steps:
        return sum(_by_log(steps, name) for name in names)


def voided_writes(folder: HeldFolder, voided: Sequence[VoidedAttempt]) -> tuple[VoidedWrites, ...]:
    """Return the bytes written by voided attempts, from their logs.

    Parameters
    ----------
    folder
        The run folder, before its tables are written.
    voided
        The voided attempts.
    """
    there = set(step_logs(folder))
    names = [(each, log_name(each.ordinal, each.attempt)) for each in voided]
    if not any(name in there for _, name in names):
        return ()
    with folder.folder(STEPS) as steps:
        return tuple(VoidedWrites(each.place, _by_log(steps, name)) for each, name in names if name in there)


def _by_table(run: RunFolder) -> int:
    from ssdlab.results.tables import SERIES  # numpy, which most readers of a run do without

    if SERIES not in [table.name for table in run.manifest.tables]:
        return 0
    return int(run.read_table(SERIES, {"bytes": "BIGINT"}, "direction = 'write'", "bytes")["bytes"].sum())


def _by_log(steps: HeldFolder, name: str) -> int:
    with steps.readable(name) as path:
        return log_written(path)


def first_manifest(order: Order, drive: Drive, writing: bool) -> Manifest:
    started = now()
    info = drive_info(order.drive, drive)
    engine = str(getattr(order.params, "engine", order.method.engine))
    options: dict[str, JsonValue] = {
        "text": lasting_text(order.drive, info),
        "size_bytes": order.size_bytes,
        "destroy": order.destroy,
        "writing": writing,
        "wipe_signatures": order.wipe_signatures,
        "endurance_cap": order.endurance_cap,
        "on_error": order.on_error,
        **({} if order.meter is None else {"meter": str(order.meter)}),
    }
    return Manifest(
        run_id=order.run_id or new_run_id(order.method.name),
        status="running",
        method=order.method.info(order.params),
        quick=order.quick,
        params=order.params.model_dump(mode="json"),
        drive=info,
        open_options=options,
        engine="sim" if info.capabilities.virtual_time else engine,
        seed=order.seed if order.seed is not None else secrets.randbits(63),
        environment=host_context(drive, order.rig),
        tool=tool_of(info, order.method.package),
        created=started,
        sessions=(first_session(started),),
        member=order.member,
        ratings=rated_values(drive.identity),
    )


def on_error_of(manifest: Manifest) -> OnError:
    """Return a run's policy for too many failed I/Os; runs of older versions have none and stop."""
    return "continue" if manifest.open_options.get("on_error") == "continue" else "stop"


def lasting_text(text: str, info: DriveInfo) -> str:
    """Return a drive's text so that it means the same drive from any working directory."""
    from ssdlab.drives.simulated.text import SimulatedText

    if info.capabilities.on_file_system:
        return info.id
    if info.capabilities.made_to_order:
        return str(SimulatedText.parse(text).anchored())
    return str(Path(text).absolute()) if "/" in text else text


def measured_under(manifest: Manifest, drive: Drive) -> Manifest:
    """Return a manifest with the present queue settings, read at the end of the last step.

    The manifest's environment was read before the first step, when the run had not yet changed settings.
    """
    found = drive.conditions()
    storage = manifest.environment.get("storage")
    if found is None or not isinstance(storage, dict):
        return manifest
    plain = {name: list(v) if isinstance(v, tuple) else v for name, v in asdict(found).items()}
    changed = {**storage, "conditions": cast("JsonValue", plain)}
    return manifest.model_copy(update={"environment": {**manifest.environment, "storage": changed}})


def metered_by(manifest: Manifest, record: dict[str, JsonValue] | None) -> Manifest:
    """Return a manifest with the record of the meter; unchanged without a meter."""
    if record is None:
        return manifest
    return manifest.model_copy(update={"environment": {**manifest.environment, "meter": record}})


def drive_info(text: str, drive: Drive) -> DriveInfo:
    return identity_info(text, drive.identity)


def identity_info(text: str, identity: Identity) -> DriveInfo:
    plain = {name: list(v) if isinstance(v, tuple) else v for name, v in asdict(identity).items()}
    can = identity.capabilities
    return DriveInfo(
        text=text,
        kind=can.stored_as,
        id=identity.path if can.on_file_system else identity.consent_id,
        name=identity.model or identity.name,
        capacity_bytes=identity.capacity_bytes,
        logical_block_bytes=identity.logical_block_bytes,
        identity=cast("dict[str, JsonValue]", plain),
    )


def tool() -> dict[str, JsonValue]:
    """Return version and build of this ssdlab, for a manifest."""
    from ssdlab.host.environment import tool_facts

    return dict(tool_facts())


def tool_of(drive: DriveInfo, package: str | None = None) -> dict[str, JsonValue]:
    """Return `tool` plus the simulator of a simulated drive and the package of a method."""
    found = tool()
    if drive.capabilities.made_to_order:
        from ssdlab.drives.simulated.drive import simulator

        found["simulator"] = simulator(drive.text)
    return {**found, **({"plugin": package} if package else {})}


def host_context(drive: Drive, rig: Path | None = None) -> dict[str, JsonValue]:
    """Return the facts of host, kernel and drive settings on which the figures depend."""
    from ssdlab.drives.environment import environment_facts

    return {**environment_facts(drive, rig), "place": place_of(drive)}


RACK = "SSDLAB_RACK"
"""Environment variable that names this host's rack; the fleet sets it from the host's inventory."""


def place_of(drive: Drive) -> dict[str, JsonValue]:
    """Return the location of a drive: host, rack and slot; None for what is unknown."""
    who = drive.identity
    node = Path("/sys/class/block") / who.name.replace("/", "!")
    slot = slot_of(node, who) if who.capabilities.block_device else None
    return {"hostname": host_name(), "rack": os.environ.get(RACK) or None, "slot": slot}


def slot_of(node: Path, who: Identity) -> str:
    """Return a drive's slot: its device path in sysfs, which stays the same if the drive is replaced.

    A drive without a device and with only a kernel name (loop, zram) is identified by the kernel's attachment
    count since boot: the next drive of that name has another count.
    """
    device = node / "device"
    if device.exists():
        return str(device.resolve())
    if who.diskseq is None or has_own_name(who.consent_id, asdict(who)):
        return who.path
    return f"{who.path} (attachment {who.diskseq} since start {boot_id()})"
