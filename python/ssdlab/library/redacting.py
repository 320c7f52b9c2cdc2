"""A run without serial numbers and host names, sealed anew, with a note that says so.

What is to go is collected from the run itself: the values of the fields `PRIVATE`, and the drive's identifier
where it is a real one. Each is replaced wherever it stands, in paths and links too, by a word made of it and
of a secret of the archive: two runs of one drive still show that they are, and nobody can look it up.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ssdlab.host.held_folder import HeldFolder
from ssdlab.model.capabilities import capabilities_of
from ssdlab.model.errors import Refused
from ssdlab.results.journal import now
from ssdlab.results.run_folder import (
    APART,
    CONDITIONS,
    CONSENT,
    JOURNAL,
    LIVE,
    MANIFEST,
    NOTES,
    TAGS,
    RunFolder,
)
from ssdlab.results.schema import Note
from ssdlab.results.seal import Chain, file_digest, open_document, seal_document
from ssdlab.results.unwritten_tables import not_written

if TYPE_CHECKING:
    from pathlib import Path

PRIVATE = frozenset(
    ("serial", "wwid", "eui64", "nguid", "uuid", "subnqn", "hostname", "machine_id", "boot_id")
)
"""Fields whose values name one drive or one host."""
LEFT_OUT = (CONSENT, LIVE)
"""Files of the host alone, which no figure rests on."""
NOTE = "serial numbers and host names were redacted, and the run was sealed anew"
_WHOLE_WORDS_BELOW = 6
"""Shorter values are replaced as whole words only: a host may be called `a`."""


class Redaction:
    """What is replaced in the runs of one archive.

    Parameters
    ----------
    secret
        Of this archive alone.
    """

    def __init__(self, secret: bytes) -> None:
        self._secret = secret
        self.seals: dict[str, str] = {}
        """Of each run that was redacted: the new seal of its manifest."""

    def files(self, folder: Path) -> Iterator[tuple[str, bytes | None]]:
        """Yield the files of a run and what is in them; None: as it is there.

        The runs of a suite come before it.

        Raises
        ------
        Refused
            The run is not finished, or its tables are not written.
        """
        run = RunFolder(folder)
        if run.lacks_tables:
            raise not_written(folder, run.manifest)
        if run.manifest.status != "finished" or run.manifest.sealed is None:
            state = "not finished" if run.manifest.status != "finished" else "not sealed"
            raise Refused(
                f"run {run.manifest.run_id} is {state}",
                "only finished, sealed runs are redacted: resume it, or leave --redact out",
                run=run.manifest.run_id,
            )
        with HeldFolder(folder) as held:
            private = self._private(run, held)
            yield from self._of(run, held, private)

    def redacted(self, run: RunFolder, content: Mapping[str, object]) -> dict[str, object]:
        """Return files that were made of a run, by name, text or JSON, without what is private of the run."""
        with HeldFolder(run.path) as held:
            private = self._private(run, held)
        return {name: _without(each, private) for name, each in content.items()}

    def _of(
        self, run: RunFolder, held: HeldFolder, private: Mapping[str, str]
    ) -> Iterator[tuple[str, bytes | None]]:
        sealed = run.manifest.sealed
        assert sealed is not None
        journal, chain = _chained(held, JOURNAL, private, Chain(run.manifest.run_id))
        yield JOURNAL, journal
        names = [name for name in held.names() if name not in (JOURNAL, MANIFEST, NOTES, *LEFT_OUT)]
        files: dict[str, str] = {}
        for name in names:
            if name.startswith(".") or not held.is_file(name):
                continue
            if name == TAGS:
                yield name, _chained(held, name, private, Chain())[0]
            elif name == CONDITIONS:
                yield name, _document(held.read_bytes(name), private).encode()
            else:
                yield name, None
                if name in sealed.files and name not in APART:
                    files[name] = file_digest(held, name)
        notes, last = _chained(held, NOTES, private, Chain())
        yield NOTES, notes + last.write(Note(at=now(), text=NOTE).model_dump_json())
        runs = {run_id: self.seals.get(run_id, seal) for run_id, seal in sealed.runs.items()}
        changed = sealed.model_copy(update={"journal_seal": chain.seal, "files": files, "runs": runs})
        manifest = _document(held.read_bytes(MANIFEST), private, {"sealed": changed.model_dump()})
        self.seals[run.manifest.run_id] = str(json.loads(manifest)["seal"])
        yield MANIFEST, manifest.encode()

    def _private(self, run: RunFolder, held: HeldFolder) -> dict[str, str]:
        """Return what is to go, longest first, with what stands in its place."""
        drive = run.manifest.drive
        values = set(_values(json.loads(open_document(held.read_bytes(MANIFEST))[0])))
        if capabilities_of(drive.identity.get("kind"), drive.kind).block_device:
            values.add(drive.id)
        kept = sorted((value for value in values if value.strip()), key=lambda value: (-len(value), value))
        return {value: self._word(value) for value in kept}

    def _word(self, value: str) -> str:
        digest = hashlib.blake2b(value.encode(), key=self._secret, digest_size=5).hexdigest()
        return f"redacted-{digest}"


def _values(stored: object) -> Iterator[str]:
    """Yield the texts under `PRIVATE` names."""
    if isinstance(stored, dict):
        for name, value in stored.items():
            if name in PRIVATE and isinstance(value, str):
                yield value
            else:
                yield from _values(value)
    elif isinstance(stored, list):
        for value in stored:
            yield from _values(value)


def _without(stored: Any, private: Mapping[str, str]) -> Any:  # noqa: ANN401 - any JSON
    """Return JSON with private texts replaced, in names and in values."""
    if isinstance(stored, str):
        for value, word in private.items():
            if len(value) < _WHOLE_WORDS_BELOW:
                stored = re.sub(rf"(?<!\w){re.escape(value)}(?!\w)", word, stored)
            else:
                stored = stored.replace(value, word)
        return stored
    if isinstance(stored, dict):
        return {_without(name, private): _without(value, private) for name, value in stored.items()}
    if isinstance(stored, list):
        return [_without(value, private) for value in stored]
    return stored


def _document(data: bytes, private: Mapping[str, str], more: Mapping[str, object] | None = None) -> str:
    """Return a sealed document without what is private, sealed anew."""
    stored = _without(json.loads(open_document(data)[0]), private) | dict(more or {})
    return seal_document(json.dumps(stored, ensure_ascii=False, indent=1))


def _chained(held: HeldFolder, name: str, private: Mapping[str, str], chain: Chain) -> tuple[bytes, Chain]:
    """Return a file of sealed lines without what is private, sealed anew, and its chain."""
    try:
        data = held.read_bytes(name)
    except FileNotFoundError:
        return b"", chain
    old = chain.copy()
    lines = [json.loads(old.read(line)) for line in data.split(b"\n")[:-1]]
    new = [chain.write(json.dumps(_without(line, private), ensure_ascii=False)) for line in lines]
    return b"".join(new), chain
