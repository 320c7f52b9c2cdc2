"""What a resumed test of rounds must hold, by its journal alone: not by what the method says of itself."""

from __future__ import annotations

from pathlib import Path

from ssdlab.lab.outcome import read_result
from ssdlab.methods.pts.result import DemandResult, PtsResult, PtsRounds
from ssdlab.results.records import EndRecord, OpenRecord, VoidRecord
from ssdlab.results.run_folder import RunFolder


def rounds_of(folder: Path) -> tuple[PtsRounds, ...]:
    """Return the groups of rounds of a run's result; those of a demand test with their cells."""
    result = read_result(RunFolder(folder))
    if isinstance(result, DemandResult):
        ordinals = [cell.model_dump(include={"ordinals"}) for cell in (result.pre_writes, *result.cells)]
        filled = [{"read_pct": 0, "block_bytes": 1, **each} for each in ordinals]
        return (PtsRounds.model_validate({**result.rounds.model_dump(), "cells": filled}),)
    assert isinstance(result, PtsResult)
    return result.groups


def session_of(folder: Path) -> dict[int, int]:
    """Return in which session the standing attempt at each step was finished, by the order of the journal."""
    sessions, found = 0, {}
    for record in RunFolder(folder).journal():
        if isinstance(record, OpenRecord):
            sessions += 1
        elif isinstance(record, EndRecord):
            found[record.ordinal] = sessions
    return found


def mixed_rounds(folder: Path) -> list[str]:
    """Return each round and window that holds steps of more than one session: none may."""
    session = session_of(folder)
    found = []
    for group in rounds_of(folder):
        of_round = [{session[cell.ordinals[at]] for cell in group.cells} for at in range(group.rounds)]
        found += [f"{group.group} round {at + 1}" for at, each in enumerate(of_round) if len(each) > 1]
        window = set().union(*of_round[group.first - 1 : group.last])
        found += [f"{group.group} rounds {group.first} to {group.last}"] if len(window) > 1 else []
    return found


def cost_of(folder: Path, session: int) -> tuple[int, int]:
    """Return how many measured cells and preparations a session finished."""
    run = RunFolder(folder)
    verbs = {step.ordinal: step.verb for step in run.steps()}
    ended, sessions = [], 0
    for record in run.journal():
        if isinstance(record, OpenRecord):
            sessions += 1
        elif isinstance(record, EndRecord) and sessions == session:
            ended.append(record.ordinal)
    return (
        sum(verbs[ordinal] == "run" for ordinal in ended),
        sum(verbs[ordinal] in ("precondition", "purge") for ordinal in ended),
    )


def voided_labels(folder: Path) -> set[str]:
    """Return what was voided, by label."""
    run = RunFolder(folder)
    assert any(isinstance(record, VoidRecord) for record in run.journal())
    return {attempt.label for attempt in run.voided()}
