"""The consent of a run to lose one drive's data: kept with the run, sealed by this host.

A run folder can be copied, edited or forged. So `resume` accepts the consent only under four conditions: the
seal is valid, folder and manifest are those of the consent, and the same drive is still attached. Otherwise
consent is needed again, and the drive is checked as for a new run.
"""

from __future__ import annotations

import hashlib
import json
import shlex
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import Field, JsonValue

from ssdlab.host.chain import Layer, chain_of
from ssdlab.host.consent import has_own_name, is_sealed, seal
from ssdlab.host.durable import library_errors
from ssdlab.host.sysfs import HostFiles, there
from ssdlab.model.capabilities import SIMULATED_PREFIX
from ssdlab.model.errors import Refused
from ssdlab.model.frozen import Stored
from ssdlab.results.journal import boot_id, now
from ssdlab.results.run_folder import CONSENT
from ssdlab.results.schema import DriveInfo
from ssdlab.results.seal import canonical, read_document, seal_document
from ssdlab.results.verifying import CONSENT_SCHEMA

if TYPE_CHECKING:
    from ssdlab.host.held_folder import HeldFolder
    from ssdlab.results.schema import Manifest

SCHEMA = CONSENT_SCHEMA
_SCHEMAS = ("ssdlab.consent/1", SCHEMA)
_PURPOSE = "consent of a run"
_MANIFEST_PARTS = (
    "run_id",
    "method",
    "quick",
    "params",
    "open_options",
    "engine",
    "seed",
    "member",
    "children",
    "redoing",
)
"""Parts of a manifest that decide what is done to a drive; the record holds the drive itself."""


class Given(Stored):
    """One act of consent: at the start of a run, or on `resume`."""

    at: str
    session: int = Field(description="number of the session it was given for, from 0")
    folder_inode: int = Field(description="the run folder itself; a copy has another")
    folder_birth_ns: int | None
    boot_id: str
    manifest_sha256: str = Field(description="digest of the manifest's parts that define the work")
    allowed: dict[str, JsonValue] = Field(description="how the drive was opened")
    drive: DriveInfo = Field(description="the drive as found then")
    chain: dict[str, JsonValue] | None = Field(
        description="layers below the block device; None: not a device"
    )
    seal: str | None = Field(default=None, description="seal of this host; None: it could not store a key")


class Record(Stored):
    """The consent file of a run folder."""

    schema_version: str = Field(default=SCHEMA, alias="schema")
    given: tuple[Given, ...]


@dataclass(frozen=True)
class Standing:
    """The valid consent of a run, or why it has none."""

    given: Given | None
    why: str = ""


@dataclass(frozen=True)
class Renewal:
    """The consent options of `resume`; see the same attributes of `Order`."""

    destroy: str | None = None
    wipe_signatures: bool = False
    endurance_cap: float | None = None


def keeps_nothing(manifest: Manifest) -> bool:
    """Whether all drives of a run are simulated and temporary; such a run needs no consent."""
    from ssdlab.drives.simulated.text import SimulatedText

    texts = {manifest.drive.text, *(child.drive for child in manifest.children)}
    texts.add(str(manifest.open_options.get("text", manifest.drive.text)))
    return all(t.startswith(SIMULATED_PREFIX) and SimulatedText.parse(t).state is None for t in texts)


def record_consent(folder: HeldFolder, manifest: Manifest, drive: DriveInfo) -> None:
    """Record a session's consent and its drive durably.

    Raises
    ------
    Refused
        Other users can access this host's key.
    HostError
        The library cannot be written.
    """
    if keeps_nothing(manifest):
        return
    earlier = _read(folder)
    made = Given(
        at=now(),
        session=len(manifest.sessions) - 1,
        folder_inode=folder.id.inode,
        folder_birth_ns=folder.id.birth_ns,
        boot_id=boot_id(),
        manifest_sha256=_digest(manifest),
        allowed=manifest.open_options,
        drive=drive,
        chain=chain_now(drive),
    )
    made = made.model_copy(update={"seal": seal(_sealed(made), _PURPOSE)})
    record = Record(given=(*(earlier.given if isinstance(earlier, Record) else ()), made))
    with library_errors(folder.path / CONSENT):
        folder.replace(CONSENT, seal_document(record.model_dump_json(by_alias=True, indent=1)))


def standing_consent(folder: HeldFolder, manifest: Manifest) -> Standing:
    """Return a run's consent, if it was given on this host for this folder and manifest.

    `resume_checks` checks the drive after it is opened.
    """
    record = _read(folder)
    if isinstance(record, str):
        return Standing(None, record)
    given = record.given[-1]
    if not is_sealed(_sealed(given), _PURPOSE, given.seal):
        return Standing(None, "its consent was not sealed by this user on this host")
    here = folder.id
    if (given.folder_inode, given.folder_birth_ns) != (here.inode, here.birth_ns):
        return Standing(None, "the folder is a copy of the one with consent")
    if given.manifest_sha256 != _digest(manifest) or _lasting(given.drive) != _lasting(manifest.drive):
        return Standing(None, "its manifest has changed since consent was given")
    if goes_by_name(given.drive) and given.boot_id != boot_id():
        name = given.drive.id
        why = f"{name} is only a kernel name, and this host was rebooted since"
        return Standing(None, why)
    return Standing(given)


def consented(
    folder: HeldFolder, manifest: Manifest, renewal: Renewal | None, *, writes: bool, words: str
) -> tuple[Manifest, Given | None]:
    """Return the manifest with options that can be trusted, and its recorded consent, if any.

    Parameters
    ----------
    folder, manifest
        The run to continue.
    renewal
        Renewed consent; it replaces the recorded consent and enters the manifest.
    writes
        Whether the method writes, whatever the manifest says.
    words
        How a command names the run.

    Raises
    ------
    Refused
        The run would write, or store a simulated drive's state, without valid consent.
    """
    options = manifest.open_options
    opened = str(options.get("text", manifest.drive.text))
    if renewal is not None:
        _check_simulated(opened, renewal)
        allowed: dict[str, JsonValue] = {
            "destroy": renewal.destroy,
            "wipe_signatures": renewal.wipe_signatures,
            "endurance_cap": renewal.endurance_cap,
        }
        return manifest.model_copy(update={"open_options": {**options, **allowed}}), None
    if keeps_nothing(manifest):
        return manifest, None
    standing = standing_consent(folder, manifest)
    keeps = opened.startswith(SIMULATED_PREFIX)
    if standing.given is None and (writes or keeps or options.get("writing")):
        raise without_consent(manifest, standing.why, words)
    return manifest, standing.given


def _check_simulated(opened: str, renewal: Renewal) -> None:
    """Refuse renewed consent that does not name the simulated drive; the guard checks real drives."""
    from ssdlab.drives.simulated.drive import identity_of
    from ssdlab.drives.simulated.text import SimulatedText

    if not opened.startswith(SIMULATED_PREFIX):
        return
    name = identity_of(SimulatedText.parse(opened)).consent_id
    if renewal.destroy != name:
        raise Refused(
            f"--destroy {renewal.destroy} is not the identifier of {opened}",
            f"if its state may be lost, give its identifier: --destroy '{name}'",
            reason="wrong-consent",
            target=opened,
        )


def chain_now(drive: DriveInfo) -> dict[str, JsonValue] | None:
    """Return the layers below a block device, in the form of the record; None if it is no block device."""
    files = HostFiles()
    node = files.node_named(str(drive.identity.get("name"))) if drive.capabilities.block_device else None
    return None if node is None else json.loads(json.dumps(asdict(chain_of(files, node))))


def layer_of(kept: Mapping[str, Any]) -> Layer:
    """Return a device and the layers below it, from the form of the record."""
    backing, below = kept["backing"], tuple(layer_of(each) for each in kept["below"])
    return Layer(**{**kept, "backing": None if backing is None else tuple(backing), "below": below})


def can_be_reset(drive: DriveInfo) -> bool:
    """Whether a device can be reset (zram) without a new attachment number.

    Source: Documentation/admin-guide/blockdev/zram.rst, `reset`.
    """
    files = HostFiles()
    node = files.node_named(str(drive.identity.get("name"))) if drive.capabilities.block_device else None
    return node is not None and there(node / "reset")


def without_consent(manifest: Manifest, why: str, words: str) -> Refused:
    """Return the refusal of a run that would write without valid consent.

    Parameters
    ----------
    manifest, why
        The run, and why its consent is not valid.
    words
        How a command names the run.
    """
    drive = manifest.drive
    name = shlex.quote(Path(drive.text).name) if drive.capabilities.on_file_system else "ID"
    look = f"check it with ssdlab drives {shlex.quote(drive.text)}"
    return Refused(
        f"run {manifest.run_id} would overwrite {drive.text} and needs consent again: {why}",
        f"{look}; if all data on it may be lost: ssdlab resume {words} --destroy {name}",
        reason="no-consent",
        run=manifest.run_id,
        target=drive.text,
    )


def goes_by_name(drive: DriveInfo) -> bool:
    """Whether a block device has no lasting identifier, only a kernel name or a name of this boot."""
    return drive.capabilities.block_device and not has_own_name(drive.id, drive.identity)


def _lasting(drive: DriveInfo) -> dict[str, Any]:
    """Return the manifest's record of a drive without what changes with each attachment."""
    return drive.model_dump(mode="json", exclude={"identity"})


def _digest(manifest: Manifest) -> str:
    parts = manifest.model_dump(mode="json", include=set(_MANIFEST_PARTS))
    return hashlib.sha256(canonical(parts)).hexdigest()


def _sealed(given: Given) -> bytes:
    return canonical(given.model_dump(mode="json", exclude={"seal"}))


def _read(folder: HeldFolder) -> Record | str:
    """Return the consent record of a run folder, or why there is none."""
    try:
        record = Record.model_validate(read_document(folder.read_bytes(CONSENT), SCHEMA)[0])
    except FileNotFoundError:
        return "it has no record of consent"
    except ValueError:
        return "its record of consent is damaged"
    if record.schema_version not in _SCHEMAS or not record.given:
        return "its record of consent was written by another ssdlab version"
    return record
