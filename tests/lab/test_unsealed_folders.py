"""Folders from before there were seals, and what does not hang together in one without them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from lab.damaged import REFUSED, DamagedRun
from lab.synthetic import edited
from ssdlab.cli import main
from ssdlab.model.errors import Refused
from ssdlab.results.lines import parse_journal
from ssdlab.results.run_folder import (
    JOURNAL,
    MANIFEST,
    RunFolder,
)
from ssdlab.results.tables import SERIES
from ssdlab.results.verifying import doubting, verify_run

# --- folders from before there were seals ---


@pytest.mark.parametrize("which", ["finished", "measured", "killed"])
def test_an_old_folder_opens_and_is_marked(make_damaged: Callable[[str], DamagedRun], which: str) -> None:
    old = make_damaged(f"unsealed {which}")
    status, out = old.command("show", str(old.folder), "--json")
    assert status == 0 and json.loads(out)["seal"] == "not sealed"
    assert "not sealed" in old.command("show", str(old.folder))[1]
    page = old.folder / "page.html"
    assert old.command("report", str(old.folder), "-o", str(page))[0] == 0
    assert "not sealed: made before" in page.read_text()
    assert verify_run(old.folder).seal == "not sealed"


def test_an_old_run_that_was_killed_is_gone_on_with_and_sealed(
    make_damaged: Callable[[str], DamagedRun],
) -> None:
    old = make_damaged("unsealed killed")
    before = old.whole[JOURNAL]
    status, out = old.command("resume", str(old.folder), "--json")
    while status == REFUSED:  # this ssdlab simulates otherwise: say of each step what it leaves now
        facts = json.loads(out)["facts"]
        assert facts["reason"] == "state-differs" and facts["then"].encode() in before
        before = before.replace(facts["then"].encode(), facts["found"].encode())
        old.put(JOURNAL, before)
        status, out = old.command("resume", str(old.folder), "--json")
    assert status == 0 and json.loads(out)["seal"] == "sealed"
    data = (old.folder / JOURNAL).read_bytes()
    assert data.startswith(before)
    (old.folder / JOURNAL).chmod(0o644)
    for at in (len(before) // 2, len(before) + 20, len(data) - 80):
        old.put(JOURNAL, data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])
        with pytest.raises(Refused, match="damaged"):
            RunFolder(old.folder).journal()


def test_an_old_table_is_held_against_the_hash_that_was_always_there(
    make_damaged: Callable[[str], DamagedRun],
) -> None:
    old = make_damaged("unsealed finished")
    data = old.whole[SERIES]
    old.put(SERIES, data[:900] + bytes([data[900] ^ 4]) + data[901:])
    assert old.shown()[0] == REFUSED


@pytest.mark.parametrize("which", ["finished", "measured", "killed"])
@pytest.mark.long
def test_damage_to_an_old_folder_is_never_our_own_fault(
    make_damaged: Callable[[str], DamagedRun], which: str
) -> None:
    """Without seals a flip can show something else; it must not end in an internal error."""
    old = make_damaged(f"unsealed {which}")
    for name, bit in old.sample(40):
        assert old.flipped(name, bit)[0] in (0, REFUSED), f"bit {bit} of {name}"


def test_what_makes_no_sense_is_laid_to_a_folder_without_a_seal_only(
    make_damaged: Callable[[str], DamagedRun], capfd: pytest.CaptureFixture[str]
) -> None:
    old = make_damaged("unsealed measured")
    old.put(MANIFEST, old.whole[MANIFEST].replace(b'"min":', b'"mim":'))
    assert main(["show", str(old.folder)]) == REFUSED
    assert "cannot be interpreted (KeyError: 'min')" in capfd.readouterr().err
    old.put(MANIFEST, re.sub(rb'"in_flight": ?[\d.]+', b'"in_flight":"odd"', old.whole[MANIFEST]))
    assert main(["show", str(old.folder)]) == REFUSED
    said = capfd.readouterr().err
    assert "cannot be interpreted (ValidationError: " in said and "in_flight" in said
    sealed = make_damaged("measured", "other")
    with pytest.raises(KeyError), doubting([sealed.folder]):
        {}["of our own"]


# --- what does not hang together ---


def records(*changes: dict) -> bytes:
    """A journal without seals."""
    opened = {"t": "open", "schema": "ssdlab.journal/1", "at": "x", "boot_id": ""}
    return b"".join(json.dumps(each).encode() + b"\n" for each in (opened, *changes, opened))


def test_an_end_that_nothing_began_is_damage() -> None:
    end = {"t": "end", "ordinal": 3, "attempt": 1, "result": {"seconds": 1.0}, "at": "x"}
    part = {"t": "part", "ordinal": 3, "attempt": 1, "done": {}, "at": "x"}
    for record in (end, part):
        with pytest.raises(Refused, match="line 2: it ends attempt 1 of step 4, which was not started"):
            parse_journal(records(record), Path("journal.jsonl"))


@pytest.mark.parametrize("which", ["finished", "unsealed finished"])
def test_a_finished_run_has_a_journal(make_damaged: Callable[[str], DamagedRun], which: str) -> None:
    damaged = make_damaged(which)
    damaged.put(JOURNAL, b"")
    assert damaged.shown()[0] == REFUSED
    (damaged.folder / JOURNAL).unlink()
    assert damaged.shown()[0] == REFUSED


def test_a_manifest_without_sessions_or_options_of_opening(make_damaged: Callable[[str], DamagedRun]) -> None:
    damaged = make_damaged("killed")
    for changes in ({"open_options": {}}, {"open_options": {"text": 3}}, {"sessions": []}):
        edited(damaged.folder, **changes)
        status, _ = damaged.command("resume", str(damaged.folder))
        assert status == REFUSED, changes
        damaged.restore()
