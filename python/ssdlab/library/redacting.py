"""Redacts serial numbers and host names of a run, reseals it, and adds a note.

The values to redact are those of the fields `PRIVATE` in the run, and a real drive's identifier. `PRIVATE`
fields are replaced as a whole. `OPEN` fields may mention such a value, and it is replaced there unless it
could be an ordinary word: a host may be called `series`. Each value becomes a hash with a secret key of the
archive. Runs of one drive stay recognisable as such, but the value cannot be recovered.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
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
    (
        *("serial", "wwid", "eui64", "nguid", "uuid", "subnqn", "links"),
        *("hostname", "machine_id", "boot_id", "rack", "slot"),
    )
)
"""Fields whose values identify one drive or one host."""
PLACES = frozenset(("path", "backing", "source", "mount_point", "file", "library", "config"))
SENTENCES = frozenset(("text", "what", "why", "advice", "caveats", "cause", "gone", "add", "remove"))
"""Fields of text; `add` and `remove` are lists of tags, which may be named after a drive."""
DRIVES = frozenset(("id", "consent_id", "drive", "destroy", "device"))
OPEN = DRIVES | PLACES | SENTENCES
"""Fields that may mention a drive or a host."""
NAMED = frozenset(("drive", "identity", "children", "redoing", "platform"))
"""Fields within which `name` and `title` describe a drive, or come from the user."""
LEFT_OUT = (CONSENT, LIVE)
"""Files that are not packed: they concern only the host, and no figure depends on them."""
NOTE = "serial numbers and host names were redacted, and the run was resealed"
_NO_WORD = re.compile(r"(?=.*\d).{6,}")
"""Matches values that cannot be an ordinary word: six characters or more, with a digit."""


@dataclass(frozen=True)
class _Private:
    """The words that replace private values: for values that fill a field, and for values within text."""

    whole: Mapping[str, str]
    within: Mapping[str, str]


class Redaction:
    """Redacts the runs of one archive.

    Parameters
    ----------
    secret
        Key of the hashes that replace values.
    """

    def __init__(self, secret: bytes) -> None:
        self._secret = secret
        self.seals: dict[str, str] = {}
        """New seal of each redacted run's manifest."""

    def files(self, folder: Path) -> Iterator[tuple[str, bytes | None]]:
        """Yield the name and the redacted content of each file of a run; None: the file is unchanged.

        Redact the runs of a suite before the suite, as its seals cover theirs.

        Raises
        ------
        Refused
            The run is not finished, its tables are not written, or it is imported.
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
        if run.manifest.tool.get("imported_from"):
            raise Refused(
                f"run {run.manifest.run_id} holds a file of fio, which may name drive and host",
                "leave the run out, or leave --redact out",
                run=run.manifest.run_id,
            )
        with HeldFolder(folder) as held:
            private = self._private(run, held)
            yield from self._of(run, held, private)

    def redacted(self, run: RunFolder, content: Mapping[str, object]) -> dict[str, object]:
        """Return files derived from a run, as text or JSON by name, without private values."""
        with HeldFolder(run.path) as held:
            private = self._private(run, held)
        return {name: self._without(each, private, "text") for name, each in content.items()}

    def _of(self, run: RunFolder, held: HeldFolder, private: _Private) -> Iterator[tuple[str, bytes | None]]:
        sealed = run.manifest.sealed
        assert sealed is not None
        journal, chain = self._chained(held, JOURNAL, private, Chain(run.manifest.run_id))
        yield JOURNAL, journal
        names = [name for name in held.names() if name not in (JOURNAL, MANIFEST, NOTES, *LEFT_OUT)]
        files: dict[str, str] = {}
        for name in names:
            if name.startswith(".") or not held.is_file(name):
                continue
            if name == TAGS:
                yield name, self._chained(held, name, private, Chain())[0]
            elif name == CONDITIONS:
                yield name, self._document(held.read_bytes(name), private).encode()
            else:
                yield name, None
                if name in sealed.files and name not in APART:
                    files[name] = file_digest(held, name)
        notes, last = self._chained(held, NOTES, private, Chain())
        yield NOTES, notes + last.write(Note(at=now(), text=NOTE).model_dump_json())
        runs = {run_id: self.seals.get(run_id, seal) for run_id, seal in sealed.runs.items()}
        changed = sealed.model_copy(update={"journal_seal": chain.seal, "files": files, "runs": runs})
        manifest = self._document(held.read_bytes(MANIFEST), private, {"sealed": changed.model_dump()})
        self.seals[run.manifest.run_id] = str(json.loads(manifest)["seal"])
        yield MANIFEST, manifest.encode()

    def _private(self, run: RunFolder, held: HeldFolder) -> _Private:
        values = set(_values(json.loads(open_document(held.read_bytes(MANIFEST))[0])))
        drive = run.manifest.drive
        is_real = capabilities_of(drive.identity.get("kind"), drive.kind).block_device
        ids = {drive.id} if is_real and drive.id.strip() else set()
        # udev's links spell `naa.5002...` as `wwn-0x5002...`, and have no blanks.
        parts = {
            part
            for value in values | ids
            for part in (value, value.partition(".")[2], "_".join(value.split()))
        }
        within = sorted(
            (part for part in parts if _NO_WORD.fullmatch(part)), key=lambda part: (-len(part), part)
        )
        return _Private(
            {value: self._word(value) for value in values | ids if value.strip()},
            {part: self._word(part) for part in within},
        )

    def _word(self, value: str) -> str:
        digest = hashlib.blake2b(value.encode(), key=self._secret, digest_size=5).hexdigest()
        return f"redacted-{digest}"

    def _without(self, stored: Any, private: _Private, field: str = "") -> Any:  # noqa: ANN401 - any JSON
        """Return JSON with private values replaced; `field` is the name of the field that holds it."""
        if isinstance(stored, dict):
            names = {name: name for name in stored} | (
                dict.fromkeys(("name", "title"), "drive") if field in NAMED else {}
            )
            return {name: self._without(value, private, names[name]) for name, value in stored.items()}
        if isinstance(stored, list):
            return [self._without(value, private, field) for value in stored]
        if not isinstance(stored, str):
            return stored
        if field in PRIVATE:
            return self._word(stored) if stored.strip() else stored
        if field in DRIVES:
            stored = private.whole.get(stored, stored)
        if field in OPEN:
            for value, word in private.within.items():
                stored = stored.replace(value, word)
        return stored

    def _document(self, data: bytes, private: _Private, more: Mapping[str, object] | None = None) -> str:
        stored = self._without(json.loads(open_document(data)[0]), private) | dict(more or {})
        return seal_document(json.dumps(stored, ensure_ascii=False, indent=1))

    def _chained(self, held: HeldFolder, name: str, private: _Private, chain: Chain) -> tuple[bytes, Chain]:
        """Return a file of sealed lines with private values replaced, sealed anew, and its chain."""
        try:
            data = held.read_bytes(name)
        except FileNotFoundError:
            return b"", chain
        old = chain.copy()
        lines = [json.loads(old.read(line)) for line in data.split(b"\n")[:-1]]
        new = [chain.write(json.dumps(self._without(line, private), ensure_ascii=False)) for line in lines]
        return b"".join(new), chain


def _values(stored: object) -> Iterator[str]:
    """Yield the texts of all fields in `PRIVATE`."""
    if isinstance(stored, dict):
        for name, value in stored.items():
            listed = value if isinstance(value, list) else [value]
            yield from (each for each in listed if name in PRIVATE and isinstance(each, str))
            yield from _values(value)
    elif isinstance(stored, list):
        for value in stored:
            yield from _values(value)
