"""The journal: durable, cut at a torn end, refused when damaged; the hash of a step; the lock."""

from __future__ import annotations

import errno
import json
import os
import resource
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ssdlab.model.errors import HostError, Refused
from ssdlab.results.journal import Journal, step_hash
from ssdlab.results.lease import RunLock, is_running
from ssdlab.results.lines import journal_bytes, parse_journal
from ssdlab.results.records import BeginRecord, StepResult
from ssdlab.results.run_folder import JOURNAL, finished_steps


def begin(ordinal: int, attempt: int = 1, verb: str = "note") -> BeginRecord:
    args = {"text": f"t{ordinal}"}
    return BeginRecord(
        ordinal=ordinal,
        attempt=attempt,
        verb=verb,
        label=verb,
        args=args,
        hash=step_hash(verb, args),
        policy="restart",
        at="2026-01-01T00:00:00Z",
    )


def filled(folder: Path, steps: int = 3) -> bytes:
    with Journal(folder) as journal:
        for ordinal in range(steps):
            journal.begin(begin(ordinal))
            journal.end(ordinal, 1, StepResult(seconds=0.5))
    return (folder / JOURNAL).read_bytes()


def test_what_was_written_is_read_back(tmp_path: Path) -> None:
    filled(tmp_path)
    with Journal(tmp_path) as journal:
        assert [journal.history(n).ended.result.seconds for n in range(3)] == [0.5] * 3
        assert journal.history(3).begins == [] and journal.history(3).next_attempt == 1


def test_torn_at_any_byte_the_whole_records_stand(tmp_path: Path) -> None:
    whole = filled(tmp_path, 2)
    records = parse_journal(whole, tmp_path / JOURNAL).records
    for cut in range(len(whole) + 1):
        (tmp_path / JOURNAL).write_bytes(whole[:cut])
        with Journal(tmp_path):
            pass
        found = parse_journal((tmp_path / JOURNAL).read_bytes(), tmp_path / JOURNAL)
        kept = found.records
        expected = whole[:cut].count(b"\n")
        assert kept[:expected] == records[:expected]
        assert len(kept) == expected + 1, "the torn end was not cut before the next record"
        assert found.good_bytes == (tmp_path / JOURNAL).stat().st_size and found.torn_bytes == 0


@given(st.binary(min_size=1, max_size=40).filter(lambda tail: b"\n" not in tail))
def test_rubbish_at_the_end_is_cut_off(tail: bytes) -> None:
    record = journal_bytes([begin(0)], "")
    found = parse_journal(record + tail, Path("journal"))
    assert len(found.records) == 1 and (found.good_bytes, found.torn_bytes) == (len(record), len(tail))
    with pytest.raises(Refused, match="line 2"):
        parse_journal(record + tail + b"\n", Path("journal"))
    unsealed = begin(0).model_dump_json().encode() + b"\n"
    assert parse_journal(unsealed + tail + b"\n", Path("journal")).good_bytes == len(unsealed)


def test_damage_before_the_end_is_refused(tmp_path: Path) -> None:
    lines = filled(tmp_path).split(b"\n")
    lines[2] = lines[2][:-5]
    (tmp_path / JOURNAL).write_bytes(b"\n".join(lines))
    with pytest.raises(Refused) as raised:
        Journal(tmp_path)
    assert raised.value.facts["line"] == 3


def test_a_lost_journal_does_not_start_the_run_anew(tmp_path: Path) -> None:
    (tmp_path / "steps").mkdir()
    with Journal(tmp_path):
        pass
    (tmp_path / JOURNAL).write_bytes(b"")
    (tmp_path / "steps" / "0000-1.log").write_bytes(b"rows")
    with pytest.raises(Refused, match="lost"):
        Journal(tmp_path)


def test_a_newer_journal_is_refused(tmp_path: Path) -> None:
    newer = json.dumps({"t": "open", "schema": "ssdlab.journal/3", "at": "x", "boot_id": ""}) + "\n"
    (tmp_path / JOURNAL).write_text(newer * 2)
    with pytest.raises(Refused, match="newer"):
        Journal(tmp_path)
    assert (tmp_path / JOURNAL).read_text() == newer * 2


def test_void_takes_an_end_back_and_part_keeps_an_attempt_open_for_the_next(tmp_path: Path) -> None:
    with Journal(tmp_path) as journal:
        journal.begin(begin(0))
        assert journal.history(0).open_attempt.attempt == 1
        journal.end(0, 1, StepResult(seconds=1.0))
        assert journal.history(0).open_attempt is None
        journal.void(0, 1, "because")
        assert journal.history(0).ended is None and journal.history(0).next_attempt == 2
        journal.begin(begin(0, 2))
        journal.part(0, 2, {"bytes": 5, "ios": 1, "ns": 1})
        assert journal.history(0).open_attempt is None
        assert [part.attempt for part in journal.history(0).standing_parts] == [2]
        journal.void(0, 2, "rebooted")
        assert journal.history(0).standing_parts == []
    records = parse_journal((tmp_path / JOURNAL).read_bytes(), tmp_path).records
    assert finished_steps(records) == []


def test_the_hash_knows_verb_and_arguments_and_not_their_order() -> None:
    assert step_hash("run", {"a": 1, "b": [1, 2]}) == step_hash("run", {"b": [1, 2], "a": 1})
    assert step_hash("run", {"a": 1}) != step_hash("run", {"a": 2})
    assert step_hash("run", {"a": 1}) != step_hash("fill", {"a": 1})


def test_a_full_disk_leaves_no_half_record(tmp_path: Path) -> None:
    whole = filled(tmp_path)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    with Journal(tmp_path) as journal:
        opened = (tmp_path / JOURNAL).read_bytes()
        resource.setrlimit(resource.RLIMIT_FSIZE, (len(opened) + 20, before[1]))
        try:
            with pytest.raises(HostError) as raised:
                journal.begin(begin(3))
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
        assert raised.value.exit_status == 3 and raised.value.facts["errno"] == errno.EFBIG
        assert (tmp_path / JOURNAL).read_bytes() == opened
        assert journal.history(3).begins == []
    assert opened.startswith(whole)


def test_only_one_process_holds_a_run(tmp_path: Path) -> None:
    assert not is_running(tmp_path)
    lock = RunLock(tmp_path)
    assert is_running(tmp_path)
    with pytest.raises(Refused, match="another process"):
        RunLock(tmp_path)
    child = os.fork()
    if child == 0:
        try:
            RunLock(tmp_path)
        except Refused:
            os._exit(42)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 42
    lock.release()
    assert not is_running(tmp_path)
    RunLock(tmp_path).release()
