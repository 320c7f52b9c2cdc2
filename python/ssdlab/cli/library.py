"""`ssdlab library`: the folder of runs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ssdlab.cli.ordering import library_of
from ssdlab.cli.output import print_json, print_line, warn
from ssdlab.model.errors import Refused, UsageError

if TYPE_CHECKING:
    from ssdlab.results.verifying import Verified

SCHEMA = "ssdlab.library/1"
VERIFY_SCHEMA = "ssdlab.verify/1"
DAMAGED = Refused.exit_status
"""What `verify` exits with if a run is damaged: what `show` of it would."""


def rebuild(*, library: Path | None = None, json: bool = False) -> None:
    """Make the library's catalogue anew from the runs in it.

    Parameters
    ----------
    library
        Folder of runs; by default ssdlab/runs in the XDG data folder.
    json
        Print what was found as JSON, schema ssdlab.library/1.
    """
    from ssdlab.results import catalogue

    folder = _existing(library)
    done = catalogue.rebuild(folder)
    if json:
        print_json(
            {
                "schema": SCHEMA,
                "library": str(folder),
                "runs": done.runs,
                "figures": done.figures,
                "unreadable": list(done.unreadable),
            }
        )
        return
    print_line(f"{folder}: runs: {done.runs}, figures: {done.figures}")
    for name in done.unreadable:
        warn(f"{name} cannot be read and is left out", f"see why with ssdlab show {name}")


def verify(*, library: Path | None = None, json: bool = False) -> int:
    """Read every run of the library whole, and hold each file against its seal.

    A seal tells damage and careless edits. It is no signature: whoever edits on purpose can seal anew.
    Exit status 2 if a run is damaged.

    Parameters
    ----------
    library
        Folder of runs; by default ssdlab/runs in the XDG data folder.
    json
        Print what was found as JSON, schema ssdlab.verify/1: of each run its seal ("sealed", "unfinished",
        "not sealed"; null if it is damaged), the damage, the bytes of a torn last record, and names
        that were not sealed with it.
    """
    from ssdlab.results.verifying import verify_library

    folder = _existing(library)
    found = list(verify_library(folder))
    damaged = sum(each.seal is None for each in found)
    if json:
        runs = [
            {
                "run": each.folder.name,
                "seal": each.seal,
                "damage": each.damage,
                "torn_bytes": each.torn_bytes,
                "unknown": list(each.unknown),
            }
            for each in found
        ]
        print_json({"schema": VERIFY_SCHEMA, "library": str(folder), "damaged": damaged, "runs": runs})
    else:
        for each in found:
            print_line(f"{each.folder.name}: {_words(each)}", "bad" if each.seal is None else None)
        print_line(f"{folder}: runs: {len(found)}, damaged: {damaged}")
    return DAMAGED if damaged else 0


def _words(found: Verified) -> str:
    if found.seal is None:
        return f"damaged: {found.damage}"
    unknown = f"; not sealed with it: {', '.join(found.unknown)}" if found.unknown else ""
    torn = f"; the last {found.torn_bytes} bytes of its journal are torn and left out"
    return found.seal + (torn if found.torn_bytes else "") + unknown


def _existing(library: Path | None) -> Path:
    folder = library_of(library)
    if not folder.is_dir():
        raise UsageError(
            f"there is no library at {folder}",
            "name the folder of runs with --library; a first run makes it",
            path=str(folder),
        )
    return folder
