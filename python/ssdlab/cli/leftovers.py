"""Names the drive settings that crashed runs left changed on this host, until they are restored."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ssdlab.host.user_folders import ledger_paths

if TYPE_CHECKING:
    from collections.abc import Sequence

_SAY_IT_THEMSELVES = (["doctor"], ["conditions", "restore"])


def name_leftovers(words: Sequence[str]) -> None:
    """Warn of changed settings on stderr, except those of a run that this command resumes."""
    if not ledger_paths() or any(list(words[: len(each)]) == each for each in _SAY_IT_THEMSELVES):
        return
    from ssdlab.cli.output import warn
    from ssdlab.runs.conditions.leftovers import describe_leftovers, leftovers

    left, damaged = leftovers()
    carried_on = words[1:] if words[:1] == ["resume"] else ()
    others = [each for each in left if not any(each.ledger.is_called(word) for word in carried_on)]
    for what, advice in describe_leftovers(others, damaged):
        warn(what, advice)


def left_set() -> list[dict[str, Any]]:
    """Return the changed settings as JSON, for the key ``left_set``; a damaged ledger comes last."""
    if not ledger_paths():
        return []
    from ssdlab.runs.conditions.leftovers import leftovers

    left, damaged = leftovers()
    entries = [each.as_dict() for each in left]
    return entries if damaged is None else [*entries, {"what": damaged.what, "advice": damaged.advice}]
