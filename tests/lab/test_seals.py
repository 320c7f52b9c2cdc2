"""Damage to what a run folder keeps: told, or without effect on what is shown; never exit 70.

Truth is what the undamaged folder shows: `show --json` and the data of the report page, to the byte. Of a run
that was killed it is what one of the prefixes of its journal shows.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable

import pytest

from lab.damaged import REFUSED, SEED, DamagedRun, campaign
from ssdlab.cli import main
from ssdlab.model.errors import Refused
from ssdlab.results.journal import Journal
from ssdlab.results.run_folder import (
    JOURNAL,
    MANIFEST,
    RunFolder,
    read_manifest,
)
from ssdlab.results.seal import Broken, Chain, open_document, seal_document
from ssdlab.results.tables import HIST, SERIES


@pytest.mark.parametrize("which", ["finished", "measured", "killed"])
@pytest.mark.long
def test_a_flipped_bit_is_refused_or_changes_nothing(
    make_damaged: Callable[[str], DamagedRun], which: str
) -> None:
    came_to = campaign(make_damaged(which), 100)
    assert came_to["refused"] >= 98


@pytest.mark.slow
@pytest.mark.parametrize(("which", "count"), [("finished", 4000), ("measured", 2000), ("killed", 4000)])
def test_ten_thousand_flipped_bits(make_damaged: Callable[[str], DamagedRun], which: str, count: int) -> None:
    came_to = campaign(make_damaged(which), count)
    print(f"{which}: {dict(came_to)}")
    assert came_to.total() == count


@pytest.mark.parametrize("which", ["finished", "killed"])
def test_every_bit_that_says_there_is_a_seal(make_damaged: Callable[[str], DamagedRun], which: str) -> None:
    """No single flip makes a sealed folder one from before there were seals."""
    damaged = make_damaged(which)
    for name, key in (
        (MANIFEST, b'"schema": "ssdlab.run/2"'),
        (MANIFEST, b'"seal": "'),
        (JOURNAL, b',"seal":"'),
    ):
        at = damaged.whole[name].rindex(key) if key != b',"seal":"' else damaged.whole[name].index(key)
        for bit in range(8 * at, 8 * (at + len(key))):
            data = bytearray(damaged.whole[name])
            data[bit // 8] ^= 1 << bit % 8
            damaged.put(name, bytes(data))
            with pytest.raises(Refused):
                RunFolder(damaged.folder).journal()
        damaged.restore()


def test_an_old_schema_number_does_not_open_a_sealed_manifest(
    make_damaged: Callable[[str], DamagedRun],
) -> None:
    damaged = make_damaged("finished")
    text = damaged.whole[MANIFEST]
    damaged.put(MANIFEST, seal_document(json.dumps(json.loads(text) | {"schema": "ssdlab.run/1"})).encode())
    with pytest.raises(Refused, match="its schema does not have"):
        read_manifest(damaged.folder)
    stripped = json.loads(open_document(text)[0])
    damaged.put(MANIFEST, json.dumps(stripped).encode())
    with pytest.raises(Refused, match="no seal"):
        read_manifest(damaged.folder)


@pytest.mark.parametrize("which", ["finished", "killed"])
def test_a_journal_with_lines_removed_doubled_or_moved(
    make_damaged: Callable[[str], DamagedRun], which: str
) -> None:
    damaged = make_damaged(which)
    allowed = {damaged.shown()[1]} if which == "finished" else damaged.prefixes()
    lines = damaged.whole[JOURNAL].splitlines(keepends=True)
    variants = [lines[:at] + lines[at + 1 :] for at in range(len(lines))]
    variants += [lines[: at + 1] + lines[at:] for at in range(len(lines))]
    variants += [[*lines[:at], lines[at + 1], lines[at], *lines[at + 2 :]] for at in range(len(lines) - 1)]
    refused = 0
    for variant in variants:
        damaged.put(JOURNAL, b"".join(variant))
        status, out = damaged.shown()
        assert status == REFUSED or (status == 0 and out in allowed)
        refused += status == REFUSED
    assert refused == len(variants) - (which == "killed"), "of a killed run the last line may be missing"


@pytest.mark.parametrize("which", ["finished", "measured", "killed"])
@pytest.mark.long
def test_cut_at_any_place(make_damaged: Callable[[str], DamagedRun], which: str) -> None:
    damaged = make_damaged(which)
    finished = read_manifest(damaged.folder).status == "finished"
    allowed = damaged.prefixes() if not finished else set()
    draw = random.Random(SEED)
    for name, data in damaged.whole.items():
        for cut in {0, 1, len(data) - 1, *(draw.randrange(len(data)) for _ in range(12))}:
            damaged.put(name, data[:cut])
            status, out = damaged.shown()
            assert status == REFUSED or out in allowed, f"{name} cut to {cut} bytes"
        damaged.put(name, data)


def test_the_journal_and_tables_of_another_run(make_damaged: Callable[[str], DamagedRun]) -> None:
    damaged, other = make_damaged("finished"), make_damaged("measured", "other")
    for name in (JOURNAL, SERIES, HIST):
        damaged.put(name, other.whole[name])
        status, _ = damaged.shown()
        assert status == REFUSED, name
        damaged.restore()
    killed = make_damaged("killed", "third")
    killed.put(JOURNAL, damaged.whole[JOURNAL])
    with pytest.raises(Refused, match="line 1: its seal"):
        RunFolder(killed.folder).journal()


def test_a_torn_tail_of_a_killed_run_is_told_and_of_a_finished_one_refused(
    make_damaged: Callable[[str], DamagedRun], capfd: pytest.CaptureFixture[str]
) -> None:
    killed = make_damaged("killed")
    killed.put(JOURNAL, killed.whole[JOURNAL] + b'{"t":"begin","ord')
    status, out = killed.command("show", str(killed.folder), "--json")
    assert status == 0 and json.loads(out)["torn_bytes"] == 17 and json.loads(out)["seal"] == "unfinished"
    assert "ends with 17 bytes" in killed.command("show", str(killed.folder))[1]
    assert main(["resume", str(killed.folder)]) == 0
    assert "the last 17 bytes of the journal are incomplete" in capfd.readouterr().err
    assert RunFolder(killed.folder).verify() == "sealed"
    finished = make_damaged("finished", "other")
    finished.put(JOURNAL, finished.whole[JOURNAL] + b"{")
    assert finished.shown()[0] == REFUSED


def test_a_sector_that_was_never_written_is_a_torn_end_and_a_changed_line_is_not(
    make_damaged: Callable[[str], DamagedRun],
) -> None:
    killed = make_damaged("killed")
    *lines, last = killed.whole[JOURNAL].splitlines(keepends=True)
    assert len(last) > 1200
    path = killed.folder / JOURNAL
    unwritten = last[:512] + b"\0" * 512 + last[1024:]
    killed.put(JOURNAL, b"".join(lines) + unwritten)
    found = RunFolder(killed.folder).read_journal()
    assert len(found.records) == len(lines) and found.torn_bytes == len(unwritten)
    killed.put(JOURNAL, b"".join(lines) + last[:600] + b"\0" + last[601:])
    with pytest.raises(Refused) as raised:
        RunFolder(killed.folder).journal()
    assert raised.value.facts == {"path": str(path), "line": len(lines) + 1}
    with pytest.raises(Refused, match="its seal does not match"):
        Journal(killed.folder, killed.folder.name)
    assert path.stat().st_size == len(killed.whole[JOURNAL]), "it was cut, and with it what was damaged"


# --- the format itself ---


def test_a_chain_reads_what_it_wrote_and_tells_every_flip() -> None:
    writer = Chain("run")
    texts = ['{"a":1}', '{"b":"}"}', '{"seal":"x"}']
    lines = [writer.write(text) for text in texts]
    reader = Chain("run")
    assert [reader.read(line.removesuffix(b"\n")).decode() for line in lines] == texts
    assert (reader.seal, reader.lines, reader.sealed) == (writer.seal, 3, True)
    line = lines[1].removesuffix(b"\n")
    for bit in range(8 * len(line)):
        chain = Chain("run")
        chain.read(lines[0].removesuffix(b"\n"))
        with pytest.raises(Broken):
            chain.read(line[: bit // 8] + bytes([line[bit // 8] ^ (1 << bit % 8)]) + line[bit // 8 + 1 :])
    with pytest.raises(Broken):
        Chain("another run").read(lines[0].removesuffix(b"\n"))


def test_a_document_reads_what_it_wrote_and_tells_every_flip() -> None:
    data = seal_document('{\n "a": 1,\n "b": {"c": [2]}\n}\n').encode()
    text, seal = open_document(data)
    assert json.loads(text) == {"a": 1, "b": {"c": [2]}} and seal == json.loads(data)["seal"]
    for bit in range(8 * len(data)):
        flipped = data[: bit // 8] + bytes([data[bit // 8] ^ (1 << bit % 8)]) + data[bit // 8 + 1 :]
        try:
            assert open_document(flipped)[1] is None, "whoever expects a seal refuses it"
        except Broken:
            continue
