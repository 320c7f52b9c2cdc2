"""Damage to what a run folder keeps: told, or without effect on what is shown; never exit 70.

Truth is what the undamaged folder shows: `show --json` and the data of the report page, to the byte. Of a run
that was killed it is what one of the prefixes of its journal shows.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from lab.fake_drive import FakeDrive
from lab.synthetic import edited, make_finished_run
from ssdlab.cli import main
from ssdlab.host.held_folder import HeldFolder
from ssdlab.methods import find_method
from ssdlab.methods.suites.suite import Part
from ssdlab.model.errors import Refused
from ssdlab.results import store
from ssdlab.results.doubt import doubting
from ssdlab.results.journal import Journal
from ssdlab.results.lines import parse_journal, parse_notes
from ssdlab.results.live import read_live
from ssdlab.results.run_folder import (
    CONDITIONS,
    CONDITIONS_SCHEMA,
    JOURNAL,
    LIVE,
    MANIFEST,
    NOTES,
    STEPS,
    RunFolder,
    read_manifest,
)
from ssdlab.results.seal import Broken, Chain, open_document, seal_document
from ssdlab.results.step_log import log_name
from ssdlab.results.tables import HIST, SERIES
from ssdlab.results.verifying import verify_run
from ssdlab.runs.conditions.ledger import Ledger, change_of, read_ledger
from ssdlab.runs.session import Order, start
from ssdlab.runs.suites.session import start_suite
from suites import made as suites

DRIVE = "sim:tiny-test,scale=4"
SETTINGS = {"depths": "1,4,8", "seconds": "100ms", "ramp_seconds": "0"}
UNSEALED = Path(__file__).parent / "unsealed"
"""Folders that an ssdlab without seals made: a finished run, a saved measurement, a killed run."""
SEED = 20_261_122
REFUSED = 2


class Killer:
    """Ends its own process without warning when so many steps are finished."""

    def __init__(self, after: int) -> None:
        self.left = after

    def began(self, progress: object) -> None:
        pass

    def tick(self, progress: object) -> None:
        pass

    def finished(self, step: object, progress: object, *, read_back: bool) -> None:
        self.left -= 1
        if not self.left:
            os.kill(os.getpid(), signal.SIGKILL)

    def ended(self, status: object) -> None:
        pass


def sweep() -> Order:
    method = find_method("peak-random-read")
    return Order(method, method.params.build(SETTINGS), DRIVE, seed=SEED)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A finished run, a saved measurement and a run that was killed after three of its steps."""
    library = tmp_path_factory.mktemp("made")
    finished = start(sweep(), library / "finished")
    words = [
        "--rw",
        "randread",
        "--bs",
        "4k",
        "--seconds",
        "200ms",
        "--save",
        "--library",
        str(library / "one"),
    ]
    assert main(["measure", DRIVE, *words]) == 0
    child = os.fork()
    if child == 0:
        try:
            start(sweep(), library / "killed", [Killer(3)])
        finally:
            os._exit(70)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
    (killed,) = store.run_folders(library / "killed")
    (measured,) = store.run_folders(library / "one")
    return {"finished": finished, "measured": measured, "killed": killed}


class DamagedRun:
    """A copy of a run to be damaged, and what the commands make of it."""

    def __init__(self, run: Path, place: Path, capfd: pytest.CaptureFixture[str]) -> None:
        self.folder = Path(shutil.copytree(run, place / run.name))
        for path in self.folder.rglob("*"):
            path.chmod(path.stat().st_mode | 0o200)
        self._page = place / "page.html"
        self._capfd = capfd
        self.names = [name for name in (MANIFEST, JOURNAL, SERIES, HIST) if (self.folder / name).exists()]
        self.whole = {name: (self.folder / name).read_bytes() for name in self.names}

    def command(self, *words: str) -> tuple[int, str]:
        status = main(list(words))
        return status, self._capfd.readouterr().out

    def shown(self) -> tuple[int, str]:
        """Exit status and everything that a reader gets: `show --json`, and the page if that goes well."""
        status, out = self.command("show", str(self.folder), "--json")
        if status == 0:
            told = json.loads(out)
            told.pop("torn_bytes")
            self._page.unlink(missing_ok=True)
            made, _ = self.command("report", str(self.folder), "-o", str(self._page))
            assert made in (0, REFUSED)
            out = json.dumps(told) + (self._page.read_text() if made == 0 else "")
        return status, out

    def put(self, name: str, data: bytes) -> None:
        (self.folder / name).write_bytes(data)

    def restore(self) -> None:
        for name, data in self.whole.items():
            self.put(name, data)

    def flipped(self, name: str, bit: int) -> tuple[int, str]:
        data = bytearray(self.whole[name])
        data[bit // 8] ^= 1 << bit % 8
        self.put(name, bytes(data))
        found = self.shown()
        self.put(name, self.whole[name])
        return found

    def sample(self, count: int) -> Iterator[tuple[str, int]]:
        """Bits of all files, each as likely as any other."""
        draw = random.Random(SEED)
        sizes = [8 * len(data) for data in self.whole.values()]
        for bit in draw.sample(range(sum(sizes)), min(count, sum(sizes))):
            for name, size in zip(self.names, sizes, strict=True):
                if bit < size:
                    yield name, bit
                    break
                bit -= size

    def prefixes(self) -> set[str]:
        """What is shown of each prefix of the journal."""
        lines = self.whole[JOURNAL].splitlines(keepends=True)
        found = set()
        for count in range(len(lines) + 1):
            self.put(JOURNAL, b"".join(lines[:count]))
            status, out = self.shown()
            assert status == 0
            found.add(out)
        self.restore()
        return found


@pytest.fixture
def make_damaged(
    made: dict[str, Path], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> Callable[[str], DamagedRun]:
    def get(which: str, place: str = "copy") -> DamagedRun:
        run = made.get(which) or UNSEALED / which.removeprefix("unsealed ")
        return DamagedRun(run, tmp_path / place, capfd)

    return get


def campaign(damaged: DamagedRun, count: int) -> Counter[str]:
    """Flip so many bits, one at a time; return how many flips were refused and how many had no effect."""
    status, truth = damaged.shown()
    assert status == 0
    allowed = {truth} if read_manifest(damaged.folder).status == "finished" else damaged.prefixes()
    came_to: Counter[str] = Counter()
    for name, bit in damaged.sample(count):
        status, out = damaged.flipped(name, bit)
        where = f"bit {bit % 8} of byte {bit // 8} of {name}"
        assert status in (0, REFUSED), f"{where}: exit status {status}"
        assert status == REFUSED or out in allowed, f"{where}: accepted, and something else is shown"
        came_to["refused" if status else "same"] += 1
    assert damaged.shown() == (0, truth)
    return came_to


@pytest.mark.parametrize("which", ["finished", "measured", "killed"])
def test_a_flipped_bit_is_refused_or_changes_nothing(
    make_damaged: Callable[[str], DamagedRun], which: str
) -> None:
    came_to = campaign(make_damaged(which), 100)
    assert came_to["refused"] >= 98


@pytest.mark.slow
@pytest.mark.timeout(3600)
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
    with pytest.raises(Refused, match="schema has none"):
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
    assert "ends in 17 bytes" in killed.command("show", str(killed.folder))[1]
    assert main(["resume", str(killed.folder)]) == 0
    assert "the last 17 bytes of the journal are torn" in capfd.readouterr().err
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
    with pytest.raises(Refused, match="its seal does not fit"):
        Journal(killed.folder, killed.folder.name)
    assert path.stat().st_size == len(killed.whole[JOURNAL]), "it was cut, and with it what was damaged"


# --- notes ---


def noted(folder: Path) -> bytes:
    for text in ("first", "second, with an é", "third"):
        store.add_note(folder, text)
    return (folder / NOTES).read_bytes()


def test_damaged_notes_are_refused_with_file_and_line(make_damaged: Callable[[str], DamagedRun]) -> None:
    damaged = make_damaged("finished")
    data = noted(damaged.folder)
    truth = damaged.shown()
    for bit in random.Random(SEED).sample(range(8 * len(data)), 60):
        flipped = bytearray(data)
        flipped[bit // 8] ^= 1 << bit % 8
        damaged.put(NOTES, bytes(flipped))
        status, _ = damaged.shown()
        last_newline = bit // 8 == len(data) - 1
        assert status == (0 if last_newline else REFUSED)
    lines = data.splitlines(keepends=True)
    for variant in (lines[1:], lines[::-1], [lines[0], lines[2]], [*lines, lines[2]], [b"[]\n"], [b"\xff\n"]):
        damaged.put(NOTES, b"".join(variant))
        with pytest.raises(Refused, match=r"notes\.jsonl is damaged at line \d"):
            RunFolder(damaged.folder).notes()
        with pytest.raises(Refused, match="damaged"):
            store.add_note(damaged.folder, "more")
        assert (damaged.folder / NOTES).read_bytes() == b"".join(variant)
    damaged.put(NOTES, data)
    assert damaged.shown() == truth


def test_a_note_that_a_crash_cut_short_is_gone_with_the_next(tmp_path: Path) -> None:
    folder = make_finished_run(tmp_path, seconds=5)
    data = noted(folder)
    (folder / NOTES).write_bytes(data[:-9])
    assert [note.text for note in RunFolder(folder).notes()] == ["first", "second, with an é"]
    store.add_note(folder, "fourth")
    assert [note.text for note in RunFolder(folder).notes()] == ["first", "second, with an é", "fourth"]


def test_notes_from_before_there_were_seals_are_gone_on_with(tmp_path: Path) -> None:
    folder = make_finished_run(tmp_path, seconds=5)
    (folder / NOTES).write_text('{"at":"2026-01-01T00:00:00Z","text":"old"}\n')
    store.add_note(folder, "new")
    data = (folder / NOTES).read_bytes()
    assert [note.text for note in parse_notes(data, folder).notes] == ["old", "new"]
    with pytest.raises(Refused, match="line 2"):
        parse_notes(data.replace(b"old", b"odd"), folder)


# --- what else there is ---


def test_settings_in_the_folder_are_sealed(make_damaged: Callable[[str], DamagedRun], tmp_path: Path) -> None:
    damaged = make_damaged("killed")
    ledger = Ledger(HeldFolder(damaged.folder, writing=True), tmp_path / "host")
    ledger.note(change_of("nomerges", "id", "dev", before="0", after="2", lasting=False, destroys=False))
    data = (damaged.folder / CONDITIONS).read_bytes()
    assert RunFolder(damaged.folder).verify() == "unfinished"
    for bit in random.Random(SEED).sample(range(8 * len(data)), 300):
        flipped = bytearray(data)
        flipped[bit // 8] ^= 1 << bit % 8
        damaged.put(CONDITIONS, bytes(flipped))
        with pytest.raises(Refused, match="damaged"):
            RunFolder(damaged.folder).verify()
        with pytest.raises(Refused, match="cannot be read"):
            read_ledger(damaged.folder / CONDITIONS)
    old = json.loads(open_document(data)[0]) | {"schema": "ssdlab.conditions/1"}
    damaged.put(CONDITIONS, json.dumps(old).encode())
    assert read_ledger(damaged.folder / CONDITIONS).changes[0].name == "nomerges"


def test_a_damaged_state_of_a_run_that_goes_on_is_none(make_damaged: Callable[[str], DamagedRun]) -> None:
    damaged = make_damaged("killed")
    data = (damaged.folder / LIVE).read_bytes()
    truth = read_live(damaged.folder)
    assert truth is not None and truth["label"].startswith("depth")
    for bit in range(0, 8 * len(data), 7):
        flipped = bytearray(data)
        flipped[bit // 8] ^= 1 << bit % 8
        damaged.put(LIVE, bytes(flipped))
        assert read_live(damaged.folder) is None


def test_a_damaged_log_of_a_finished_step_is_refused(make_damaged: Callable[[str], DamagedRun]) -> None:
    damaged = make_damaged("killed")
    status, truth = damaged.shown()
    assert status == 0 and "<html" in truth
    folder, page = damaged.folder, damaged.folder.parent / "page.html"
    steps = [step for step in RunFolder(folder).steps() if step.result.measurement is not None]
    assert len(steps) == 2
    for log in (folder / STEPS / log_name(step.ordinal, 1) for step in steps):
        data = log.read_bytes()
        for bit in random.Random(SEED).sample(range(8 * len(data)), 40):
            flipped = bytearray(data)
            flipped[bit // 8] ^= 1 << bit % 8
            log.write_bytes(bytes(flipped))
            assert damaged.command("report", str(folder), "-o", str(page))[0] == REFUSED, f"bit {bit}"
        log.write_bytes(data[:-1])
        assert damaged.command("report", str(folder), "-o", str(page))[0] == REFUSED
        log.write_bytes(data)
    logs = [folder / STEPS / log_name(step.ordinal, 1) for step in steps]
    logs[0].write_bytes(logs[1].read_bytes())
    assert damaged.command("report", str(folder), "-o", str(page))[0] == REFUSED


def test_the_recording_that_a_replay_was_made_of_is_sealed(make_damaged: Callable[[str], DamagedRun]) -> None:
    whole = make_damaged("finished")
    manifest = read_manifest(whole.folder)
    (whole.folder / "trace-0001.records").write_bytes(bytes(100))
    store.write_manifest(whole.folder, manifest.model_copy(update={"sealed": None}))
    assert list(read_manifest(whole.folder).sealed.files) == ["trace-0001.records"]
    assert whole.shown()[0] == 0
    (whole.folder / "trace-0001.records").write_bytes(bytes(99) + b"x")
    assert whole.shown()[0] == REFUSED


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
    old.put(MANIFEST, old.whole[MANIFEST].replace(b'"in_flight"', b'"in_glight"'))
    assert main(["show", str(old.folder)]) == REFUSED
    assert "holds what cannot be made sense of (KeyError: 'in_flight')" in capfd.readouterr().err
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
        with pytest.raises(Refused, match="line 2: it ends attempt 1 of step 3, which was not begun"):
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


# --- every command, and suites ---


@pytest.mark.parametrize("name", [MANIFEST, JOURNAL])
def test_every_command_refuses_a_damaged_run(
    make_damaged: Callable[[str], DamagedRun], capfd: pytest.CaptureFixture[str], name: str
) -> None:
    damaged = make_damaged("killed")
    folder, data = damaged.folder, damaged.whole[name]
    at = len(data) // 2
    damaged.put(name, data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    commands = [["show"], ["report", "-o", str(folder.parent / "page.html")], ["resume"]]
    for first, *rest in [*commands, *([["watch", "--json"], ["act", "log"]] if name == MANIFEST else [])]:
        words = [*rest[:1], str(folder), *rest[1:]] if first == "act" else [str(folder), *rest]
        assert main([first, *words]) == REFUSED
        err = capfd.readouterr().err
        assert f"{name} is damaged" in err and ("line" in err or name == MANIFEST), err
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize("name", [MANIFEST, JOURNAL, SERIES, HIST, NOTES, CONDITIONS])
def test_what_only_reads_refuses_a_damaged_run(make_damaged: Callable[[str], DamagedRun], name: str) -> None:
    """A bit of each file; nothing is appended either."""
    damaged = make_damaged("finished")
    folder = damaged.folder
    assert damaged.command("note", str(folder), "whole")[0] == 0
    if name == CONDITIONS:
        text = json.dumps({"schema": CONDITIONS_SCHEMA, "settings": []})
        damaged.put(CONDITIONS, seal_document(text).encode())
    for words in (["show", str(folder)], ["watch", str(folder)], ["watch", str(folder), "--json"]):
        assert damaged.command(*words)[0] == 0
    data = bytearray((folder / name).read_bytes())
    data[len(data) // 2] ^= 1
    damaged.put(name, bytes(data))
    before = (folder / NOTES).read_bytes()
    for first, *rest in (["show"], ["watch"], ["watch", "--json"], ["note", "more"]):
        assert damaged.command(first, str(folder), *rest)[0] == REFUSED, first
    assert (folder / NOTES).read_bytes() == before


def test_the_logs_of_a_killed_run_are_held_against_their_checksums(
    make_damaged: Callable[[str], DamagedRun],
) -> None:
    damaged = make_damaged("killed")
    folder = damaged.folder
    assert verify_run(folder).seal == "unfinished"
    step = next(each for each in RunFolder(folder).steps() if each.result.measurement is not None)
    log = folder / STEPS / log_name(step.ordinal, step.attempt)
    data = bytearray(log.read_bytes())
    data[len(data) // 2] ^= 1
    log.write_bytes(bytes(data))
    assert "damaged" in str(verify_run(folder).damage)
    for words in (["show"], ["watch"], ["note", "more"]):
        assert damaged.command(words[0], str(folder), *words[1:])[0] == REFUSED


@pytest.mark.parametrize("name", ["live.json", "consent.json"])
def test_verify_tells_of_damage_to_what_a_killed_run_keeps_beside_its_record(
    make_damaged: Callable[[str], DamagedRun], name: str
) -> None:
    damaged = make_damaged("killed")
    schema = {"live.json": "ssdlab.live/2", "consent.json": "ssdlab.consent/2"}[name]
    whole = seal_document(json.dumps({"schema": schema, "given": []})).encode()
    for data, seal in ((whole, "unfinished"), (b"", "unfinished"), (whole.replace(b"given", b"gived"), None)):
        damaged.put(name, data)
        assert verify_run(damaged.folder).seal == seal


def test_verify_tells_what_does_not_belong_to_a_run(make_damaged: Callable[[str], DamagedRun]) -> None:
    damaged = make_damaged("finished")
    assert verify_run(damaged.folder).unknown == ()
    damaged.put("more.parquet", b"x")
    (damaged.folder / "more").mkdir()
    found = verify_run(damaged.folder)
    assert found.seal == "sealed" and found.unknown == ("more", "more.parquet")
    told = damaged.command("library", "verify", "--library", str(damaged.folder.parent))[1]
    assert "sealed; not sealed with it: more, more.parquet" in told
    os.mkfifo(damaged.folder / "pipe")
    assert "is a named pipe" in str(verify_run(damaged.folder).damage)


def test_a_suite_names_the_seals_of_its_runs(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    made = suites.suite(Part("peak-random-read", "any"), Part("peak-sequential-read", "any"))
    order = suites.suite_order(made, "/dev/fake0", {"depths": "1", "seconds": "1", "ramp_seconds": "0"})
    folder = start_suite(order, tmp_path, suites.Watcher(), suites.environment(FakeDrive()))
    suite = RunFolder(folder)
    assert suite.verify() == "sealed"
    first, second = (tmp_path / run_id for run_id in suite.manifest.sealed.runs)
    assert {first.name, second.name} == {child.run_id for child in suite.manifest.children}
    edited(first, seed=1)
    assert RunFolder(first).manifest.seed == 1, "an edit that was sealed anew shows in nothing but the suite"
    for words in (["show"], ["report", "-o", str(tmp_path / "page.html")]):
        assert main([words[0], str(folder), *words[1:]]) == REFUSED
        assert f"{first} is not the run that" in capfd.readouterr().err
    shutil.rmtree(first)
    assert main(["show", str(folder)]) == REFUSED


# --- the whole library ---


def test_library_verify_names_what_is_damaged(
    made: dict[str, Path], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    library = tmp_path / "library"
    sealed, killed = (Path(shutil.copytree(made[which], library / which)) for which in ("finished", "killed"))
    shutil.copytree(UNSEALED / "measured", library / "old")
    for count in (0, 1):
        status = main(["library", "verify", "--library", str(library), "--json"])
        told = json.loads(capfd.readouterr().out)
        states = {each["run"]: each["seal"] for each in told["runs"]}
        assert status == (REFUSED if count else 0) and told["damaged"] == count
        assert states == {
            "finished": None if count else "sealed",
            "killed": "unfinished",
            "old": "not sealed",
        }
        (sealed / HIST).chmod(0o644)
        (sealed / HIST).write_bytes((made["measured"] / HIST).read_bytes())
    assert main(["library", "verify", "--library", str(library)]) == REFUSED
    out = capfd.readouterr().out
    assert f"finished: damaged: {sealed / HIST} is damaged" in out and "runs: 3, damaged: 1" in out
    (killed / MANIFEST).unlink()
    assert verify_run(killed).damage == f"{killed} is not a run folder: it has no manifest.json"
    assert main(["library", "verify", "--library", str(library)]) == REFUSED


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
