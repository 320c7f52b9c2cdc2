"""The key of this host and user, and the seals made with it.

What a run was allowed to overwrite lies in its folder, and a folder can be copied, edited or made up. A seal
shows that this user's ssdlab wrote it on this host: HMAC-SHA-256 (RFC 2104) with a key that nobody else can
read.
"""

from __future__ import annotations

import fcntl
import hashlib
import hmac
import os
import secrets
import stat
from contextlib import suppress
from pathlib import Path

from ssdlab.host.held_folder import HeldFolder
from ssdlab.host.state_folder import state_folder
from ssdlab.model.errors import Refused

_FIRST_WORDS = "ssdlab key 1 "
"""So that no other file of ours with a known content is taken for a key."""
_KEY_BYTES = 32
_PRIVATE_FOLDER, _PRIVATE = 0o700, 0o600


def seal(content: bytes, purpose: str) -> str | None:
    """Return the seal of a content; `purpose` keeps seals of one kind from being used as those of another.

    None where the state folder cannot keep a key.

    Raises
    ------
    Refused
        The key is not this user's alone.
    """
    key = host_key()
    return None if key is None else _seal(key, content, purpose)


def is_sealed(content: bytes, purpose: str, found: str | None) -> bool:
    """Say whether this host has sealed a content."""
    key = host_key()
    if key is None or found is None:
        return False
    return hmac.compare_digest(_seal(key, content, purpose), found)


def host_key(folder: Path | None = None) -> bytes | None:
    """Return the key, made at first use; None where the state folder cannot keep one.

    Raises
    ------
    Refused
        What lies there is not this user's alone, or no key.
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
        f"{held.path / name}, this host's key, is not yours alone, or is no key",
        "remove it: a new one is made, and runs that are resumed ask for their consent again",
        reason="key",
        path=str(held.path / name),
    )
