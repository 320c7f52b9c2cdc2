"""Run folders as a stranger might hand them over: with links, pipes, foreign owners and forged words."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from ssdlab.host.held_folder import HeldFolder
from ssdlab.lab.found import find_method
from ssdlab.lab.job import read_job
from ssdlab.results.run_folder import read_manifest
from ssdlab.results.seal import seal_document
from ssdlab.results.store import add_note, run_folders
from ssdlab.runs.consent_record import record_consent
from ssdlab.runs.runner import Paused
from ssdlab.runs.session import Order, RunEnvironment, start

JOB = """
[[step]]
do = "fill"
[[step]]
do = "run"
rw = "randrw"
threads = 1
bytes = "256KiB"
"""
SIZE_BYTES = 1 << 20
NOBODY = 65534


@dataclass(frozen=True)
class Scene:
    """A way to spoil a run folder; `spoil` is given the folder and the folder with the victims."""

    name: str
    spoil: Callable[[Path, Path], None]


def interrupted(library: Path, drive: str, **order: Any) -> Path:
    """A run that was stopped after its first step, which has written the whole file."""
    job = find_method("job")
    with pytest.raises(Paused):
        start(
            Order(job, read_job(JOB, "j.toml"), drive, **order),
            library,
            environment=RunEnvironment(pause_after=1),
        )
    folder = run_folders(library)[-1]
    add_note(folder, "a note")
    return folder


def copy_as_ours(folder: Path, library: Path) -> Path:
    """A copy that has our consent, as if it had been begun there."""
    copy = Path(shutil.copytree(folder, library / folder.name, symlinks=True))
    manifest = read_manifest(copy)
    with HeldFolder(copy, writing=True) as held:
        record_consent(held, manifest, manifest.drive)
    return copy


def make_victims(outside: Path) -> None:
    """A private file, a folder with files of names that we use, and a file that looks like a drive."""
    (outside / "folder").mkdir(parents=True)
    for name in ("secret", "foreign.img", "folder/0000-1.log", "folder/begin.state", "folder/manifest.json"):
        path = outside / name
        path.write_bytes(os.urandom(SIZE_BYTES if name == "foreign.img" else 512))
        path.chmod(0o600)
        os.utime(path, (1, 1))


def fingerprint(outside: Path) -> dict[str, tuple[object, ...]]:
    """All that a write to the victims would change."""
    found = {}
    for path in sorted([outside, *outside.rglob("*")]):
        status = path.lstat()
        content = hashlib.sha256(path.read_bytes()).hexdigest() if stat.S_ISREG(status.st_mode) else ""
        found[str(path)] = (status.st_mode, status.st_uid, status.st_size, status.st_mtime_ns, content)
    return found


# --- links and the like ---

TRICKS: dict[str, Callable[[Path, Path], None]] = {
    "link to a file": lambda at, outside: at.symlink_to(outside / "secret"),
    "link to a folder": lambda at, outside: at.symlink_to(outside / "folder"),
    "link to nothing": lambda at, outside: at.symlink_to(outside / "folder" / "new"),
    "link to a device": lambda at, outside: at.symlink_to("/dev/full"),
    "hard link": lambda at, outside: os.link(outside / "secret", at),
    "named pipe": lambda at, outside: os.mkfifo(at),
    "folder": lambda at, outside: at.mkdir(),
}
NAMES = (
    "manifest.json",
    "journal.jsonl",
    "notes.jsonl",
    "live.json",
    "consent.json",
    "conditions.json",
    "series.parquet",
    "hist.parquet",
    "ios.parquet",
    "steps",
    "states",
    ".manifest.json.new",
    ".live.json.new",
    ".journal.jsonl.new",
    ".consent.json.new",
    ".conditions.json.new",
    ".series.parquet.new",
    ".hist.parquet.new",
    "series.tmp",
    "steps/0000-1.log",
    "steps/0001-1.log",
    "steps/0002-1.log",
    "states/begin.state",
)
"""Every name that a run folder has, or had in an earlier version while it was written."""


def planted() -> Iterator[Scene]:
    """Each trick in the place of each name."""
    for name in NAMES:
        for trick, plant in TRICKS.items():

            def spoil(folder: Path, outside: Path, *, name: str = name, plant: Any = plant) -> None:
                at = folder / name
                at.parent.mkdir(exist_ok=True)
                if at.is_dir() and not at.is_symlink():
                    shutil.rmtree(at)
                at.unlink(missing_ok=True)
                plant(at, outside)

            yield Scene(f"{name}: {trick}", spoil)


def given_away() -> Iterator[Scene]:
    """The folder or one of its files belongs to somebody else."""
    for name in (".", "manifest.json", "journal.jsonl", "notes.jsonl", "steps", "consent.json"):

        def spoil(folder: Path, _: Path, *, name: str = name) -> None:
            os.chown(folder / name, NOBODY, NOBODY)

        yield Scene(f"{name}: belongs to somebody else", spoil)


# --- forged words ---


def _edit(name: str, change: Callable[[Any, Path], None]) -> Callable[[Path, Path], None]:
    def spoil(folder: Path, outside: Path) -> None:
        path = folder / name
        stored = json.loads(path.read_text())
        sealed = stored.pop("seal", None) is not None
        change(stored, outside)
        text = json.dumps(stored, indent=1)
        path.write_text(seal_document(text) if sealed else text)  # a forger seals anew

    return spoil


def _on_victim(stored: Any, outside: Path, *parts: str) -> None:
    victim = outside / "foreign.img"
    status = victim.stat()
    facts = {"id": str(victim), "text": str(victim), "name": victim.name}
    if "drive" in parts:
        stored["drive"] |= facts
        stored["drive"]["identity"] |= {"path": str(victim), "name": victim.name, "consent_id": victim.name}
        stored["drive"]["identity"] |= {"inode": status.st_ino, "birth_ns": None, "file_device": None}
    if "options" in parts:
        stored["open_options"] |= {"text": str(victim), "destroy": victim.name, "writing": True}


def _put(*path: str, value: object) -> Callable[[Any, Path], None]:
    def change(stored: Any, outside: Path) -> None:
        for key in path[:-1]:
            stored = stored[int(key) if isinstance(stored, list) else key]
        last = path[-1]
        given = str(value).replace("OUTSIDE", str(outside)) if isinstance(value, str) else value
        stored[int(last) if isinstance(stored, list) else last] = given

    return change


def forged() -> Iterator[Scene]:
    """A manifest, a record of consent or a ledger that says what it should not."""
    manifest: dict[str, Callable[[Any, Path], None]] = {
        "the drive is another file": lambda s, o: _on_victim(s, o, "drive", "options"),
        "only the options name another file": lambda s, o: _on_victim(s, o, "options"),
        "only the drive is another file": lambda s, o: _on_victim(s, o, "drive"),
        "a file that is to be made": _put("open_options", "text", value="OUTSIDE/folder/made.img"),
        "of a kind that need not be there": _put("drive", "kind", value="block"),
        "a simulated drive": _put("drive", "kind", value="sim"),
        "a state that is kept outside": _put(
            "open_options", "text", value="sim:tiny-test,state=OUTSIDE/folder/new.state"
        ),
        "consent to it": _put("open_options", "destroy", value="foreign.img"),
        "signatures may be wiped": _put("open_options", "wipe_signatures", value=True),
        "a cap of 1000": _put("open_options", "endurance_cap", value=10.0),
        "that it only reads": _put("open_options", "writing", value=False),
        "another size": _put("open_options", "size_bytes", value=1 << 30),
        "an id that leads out": _put("run_id", value="../../outside/folder"),
        "another method": _put("method", "name", value="steady-random-write"),
        "that it is finished": _put("status", value="finished"),
        "a table that leads out": lambda s, _: s.update(
            status="finished", tables=[{"name": "../../outside/secret", "rows": 1, "sha256": ""}]
        ),
        "that it runs": _put("status", value="running"),
        "no options": _put("open_options", value={}),
        "no sessions": _put("sessions", value=[]),
        "another step": _put("params", "steps", "1", "options", "seed", value=12),
    }
    for name, change in manifest.items():
        yield Scene(f"manifest.json says: {name}", _edit("manifest.json", change))

    def both(stored: Any, outside: Path) -> None:
        _on_victim(stored, outside, "drive", "options")

    def manifest_and_consent(folder: Path, outside: Path) -> None:
        _edit("manifest.json", both)(folder, outside)

        def change(stored: Any, outside: Path) -> None:
            given = stored["given"][-1]
            _on_victim(given, outside, "drive")
            given["allowed"] |= {"text": str(outside / "foreign.img"), "destroy": "foreign.img"}

        _edit("consent.json", change)(folder, outside)

    yield Scene("manifest.json and consent.json say another file", manifest_and_consent)
    for field, value in (("seal", None), ("seal", "0" * 64), ("folder_inode", 1), ("boot_id", "another")):
        yield Scene(
            f"consent.json: {field} {value}", _edit("consent.json", _put("given", "0", field, value=value))
        )
    yield Scene("consent.json is gone", lambda folder, _: (folder / "consent.json").unlink())
    yield Scene("consent.json is no JSON", lambda folder, _: (folder / "consent.json").write_text("{"))
