"""Damage to what a run folder keeps beside its journal: notes, settings, states, logs, recordings."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from lab.damaged import REFUSED, SEED, DamagedRun
from lab.synthetic import make_finished_run
from ssdlab.host.held_folder import HeldFolder
from ssdlab.model.errors import Refused
from ssdlab.results import store
from ssdlab.results.lines import parse_notes
from ssdlab.results.progress import read_live
from ssdlab.results.run_folder import (
    CONDITIONS,
    LIVE,
    NOTES,
    STEPS,
    RunFolder,
    read_manifest,
)
from ssdlab.results.seal import open_document
from ssdlab.results.step_log import StepPower, log_name, power_name, samples_name, write_power, write_samples
from ssdlab.results.verifying import verify_run
from ssdlab.runs.conditions.ledger import Ledger, change_of, read_ledger

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


def test_every_file_beside_the_logs_of_a_finished_step_is_sealed(
    make_damaged: Callable[[str], DamagedRun],
) -> None:
    damaged = make_damaged("killed")
    power = StepPower(("12 V",), np.arange(3), np.arange(3) + 1, np.ones((3, 1)))
    with HeldFolder(damaged.folder / STEPS, writing=True) as steps:
        write_power(steps, power_name(0, 1), power)
        write_samples(steps, samples_name(0, 1), [])
        names = [name for name in steps.names() if not name.endswith(".log")]
    assert {power_name(0, 1), samples_name(0, 1), samples_name(1, 1)} <= {*names}
    assert RunFolder(damaged.folder).verify() == "unfinished"
    for name in names:
        path = damaged.folder / STEPS / name
        data = path.read_bytes()
        for bit in random.Random(SEED).sample(range(8 * len(data)), min(8 * len(data), 150)):
            flipped = bytearray(data)
            flipped[bit // 8] ^= 1 << bit % 8
            path.write_bytes(bytes(flipped))
            assert name in (verify_run(damaged.folder).damage or ""), bit
        for shorter in (data[:-1], data[: len(data) // 2]):
            path.write_bytes(shorter)
            assert name in (verify_run(damaged.folder).damage or "")
        path.write_bytes(data)
    assert verify_run(damaged.folder).damage is None
