"""What the manifest of a finished run says of everything else that its folder keeps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ssdlab.results.lines import parse_journal
from ssdlab.results.run_folder import APART, JOURNAL, read_sealed_manifest
from ssdlab.results.schema import Sealed
from ssdlab.results.seal import file_digest

if TYPE_CHECKING:
    from ssdlab.host.held_folder import HeldFolder
    from ssdlab.results.schema import Manifest


def sealed_of(folder: HeldFolder, manifest: Manifest) -> Sealed:
    """Return the seals of a run that has just been finished.

    Raises
    ------
    Refused
        Its journal, or a run of a suite, is damaged.
    """
    from ssdlab.results.tables import (
        HIST,
        IOS,
        SERIES,
        TELEMETRY,
    )  # numpy, which most readers of a run do without

    apart = APART | {HIST, IOS, SERIES, TELEMETRY}  # the manifest's list of tables seals those
    data = folder.read_bytes(JOURNAL) if folder.exists(JOURNAL) else b""
    journal = parse_journal(data, folder.path / JOURNAL, manifest.run_id)
    others = (name for name in folder.names() if name not in apart and not name.startswith("."))
    files = {name: file_digest(folder, name) for name in others if folder.is_file(name)}
    runs: dict[str, str] = {}
    for child in manifest.children:
        if child.left_out is None:
            found = read_sealed_manifest(folder.path.parent / child.run_id)[1]
            if found is not None:
                runs[child.run_id] = found
    return Sealed(journal_lines=journal.chain.lines, journal_seal=journal.chain.seal, files=files, runs=runs)
