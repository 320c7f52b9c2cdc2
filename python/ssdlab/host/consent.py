"""The identifier that gives consent (`--destroy`), and the key that seals consent on this host.

The identifier is the drive's serial number (`serial/nsid` with several namespaces), else the world-wide name,
else the kernel name. Cheap drives and bridges report `000000000000`, or one serial number for all drives. So
fillers (`ssdlab.host.fillers`) and identifiers that another disk has too are skipped. A device mapper volume
without a UUID is identified by its own name, as kernel names change at each boot. A partition is named after
its disk: `serial-part2`.
"""

from __future__ import annotations

import fcntl
import hashlib
import hmac
import os
import re
import secrets
import stat
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from ssdlab.host.attributes import disk_of, namespace_siblings, own_wwid_of, serial_of
from ssdlab.host.fillers import is_filler
from ssdlab.host.held_folder import HeldFolder
from ssdlab.host.sysfs import HostFiles, names, number, text, there
from ssdlab.host.user_folders import state_folder
from ssdlab.model.errors import Refused

_PART = re.compile(r"-part\d+$")


def consent_id(files: HostFiles, node: Path) -> str:
    """Return the identifier that gives consent to writing to the block device with this sysfs folder."""
    disk = disk_of(node)
    others = [_candidates(other) for other in disks_of(files) if other != disk]
    return _with_part(_name(disk, _candidates(disk), others), node)


def consent_ids(files: HostFiles) -> dict[str, Path]:
    """Return the identifier of every block device of this host, also of partitions, with its sysfs folder."""
    all_candidates = {disk: _candidates(disk) for disk in disks_of(files)}
    found = {}
    for disk, own in all_candidates.items():
        name = _name(disk, own, [other for at, other in all_candidates.items() if at != disk])
        for node in (disk, *(disk / part for part in names(disk) if there(disk / part / "partition"))):
            found[_with_part(name, node)] = node
    return found


def disks_of(files: HostFiles) -> list[Path]:
    """Return the sysfs folders of all whole disks, without the hidden per-path devices of NVMe multipath."""
    nodes = [files.node_named(name) for name in names(files.sys / "block")]
    return [node for node in nodes if node is not None and text(node / "hidden") != "1"]


def _name(disk: Path, own: Sequence[str], others: Sequence[Sequence[str]]) -> str:
    unique = (candidate for candidate in own if not any(candidate in other for other in others))
    return next(unique, disk.name.replace("!", "/"))


def _with_part(name: str, node: Path) -> str:
    part = number(node / "partition")
    return name if part is None else f"{name}-part{part}"


def _candidates(disk: Path) -> tuple[str, ...]:
    found = []
    serial = serial_of(disk)
    if serial is not None and not is_filler(serial):
        nsid = number(disk / "nsid")
        found.append(f"{serial}/{nsid}" if namespace_siblings(disk) and nsid is not None else serial)
    found += [name for name in (own_wwid_of(disk), text(disk / "dm" / "name")) if name is not None]
    return tuple(found)


def has_own_name(identifier: str, facts: Mapping[str, object]) -> bool:
    """Return whether an identifier is the drive's own, and not a name from the kernel or the user.

    Parameters
    ----------
    identifier
        As returned by `consent_id`.
    facts
        `serial`, `nsid`, `wwid` and `model` of the drive.

    >>> has_own_name("S64GNE0R/2-part1", {"serial": "S64GNE0R", "nsid": 2}), has_own_name("loop0", {})
    (True, False)
    >>> has_own_name("naa.0000000000000000", {"wwid": "naa.0000000000000000"})
    False
    """
    own = (facts.get("serial"), f"{facts.get('serial')}/{facts.get('nsid')}", facts.get("wwid"))
    whole, model = _PART.sub("", identifier), facts.get("model")
    return whole in own and not is_filler(whole.partition("/")[0], None if model is None else str(model))


# The key of this host and user, and the seals made with it.
#
# The folder of a run records what the run was allowed to overwrite, but a folder can be copied, edited or
# forged. A seal shows that this user's ssdlab wrote the record on this host: HMAC-SHA-256 (RFC 2104) with a
# key that nobody else can read.

_FIRST_WORDS = "ssdlab key 1 "
"""First words of the key file, so that no other file of ssdlab is taken for a key."""
_KEY_BYTES = 32
_PRIVATE_FOLDER, _PRIVATE = 0o700, 0o600


def seal(content: bytes, purpose: str) -> str | None:
    """Return the seal of a content; None if the state folder cannot store a key.

    `purpose` separates kinds of seals.

    Raises
    ------
    Refused
        Others can access the key file, or it does not hold a key.
    """
    key = host_key()
    return None if key is None else _seal(key, content, purpose)


def is_sealed(content: bytes, purpose: str, found: str | None) -> bool:
    """Return whether a content has the seal of this host for this purpose."""
    key = host_key()
    if key is None or found is None:
        return False
    return hmac.compare_digest(_seal(key, content, purpose), found)


def host_key(folder: Path | None = None) -> bytes | None:
    """Return the key of this host and user, created at first use; None if the state folder cannot store one.

    Raises
    ------
    Refused
        Others can access the key file, or it does not hold a key.
    """
    folder = folder or state_folder()
    try:
        with HeldFolder(folder, make=_PRIVATE_FOLDER) as held:
            fcntl.flock(held.fileno(), fcntl.LOCK_EX)
            name = f"key-{os.geteuid()}"
            with suppress(FileNotFoundError):
                return _read(held, name)
            text = f"{_FIRST_WORDS}{secrets.token_hex(_KEY_BYTES)}\n"
            held.replace(name, text, mode=_PRIVATE)
            return _read(held, name)
    except OSError:
        return None


def _seal(key: bytes, content: bytes, purpose: str) -> str:
    return hmac.new(key, purpose.encode() + b"\0" + content, hashlib.sha256).hexdigest()


def _read(held: HeldFolder, name: str) -> bytes:
    with held.opened(name) as descriptor:
        status = os.fstat(descriptor)
        private = status.st_uid == os.geteuid() and not stat.S_IMODE(status.st_mode) & ~_PRIVATE
        text = os.read(descriptor, 4096).decode("ascii", errors="replace") if private else ""
    words = text.removeprefix(_FIRST_WORDS).strip()
    with suppress(ValueError):
        if status.st_nlink == 1 and text.startswith(_FIRST_WORDS) and len(bytes.fromhex(words)) == _KEY_BYTES:
            return bytes.fromhex(words)
    raise Refused(
        f"{held.path / name}, this host's key, is accessible to others, or is not a key",
        "remove it: a new one is made, and resumed runs need consent again",
        reason="key",
        path=str(held.path / name),
    )
