"""Every scene in which a target must be refused, on real devices and files: refused, not a byte written.

By the command line, as a user does. They are set up in `machine.device_situations`,
`machine.file_situations` and `machine.holder_situations`; those of the guest are in
`tests/guest/test_refusals.py`, what must be allowed in `test_allowed.py`. The messages of all are in
`machine.situations`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import machine.device_situations
import machine.file_situations
import machine.holder_situations  # noqa: F401 - all three fill SITUATIONS
from machine.scenes import make_stage, ran, refusal_of, state_of
from machine.situations import MESSAGES, READING, REASONS
from machine.staging import SITUATIONS, Situation, Stage
from ssdlab.model.printable import printable

stage = pytest.fixture(make_stage)

_IN_USE = (
    "mounted-whole", "beside-a-mounted-partition", "mounted-through-a-removed-node", "the-disk-under-root",
    "swap", "loop-device-on-it", "open-in-a-process", "device-mapped", "device-leader-gone",
    "mounted-in-another-namespace",
)  # fmt: skip
_UNWRITTEN = (
    *_IN_USE,
    "no-consent",
    "wrong-identifier",
    "identifier-of-another-drive",
    "file-system",
    "read-only",
)
_OTHERS = {
    "read": (READING, _IN_USE),
    "run": (("run", "qd1", "{target}", "--quick"), _UNWRITTEN),
    "purge": (("purge", "{target}"), (*_IN_USE, "wrong-identifier", "read-only")),
}


def refused_untouched(stage: Stage, set_up: Situation) -> dict[str, Any]:
    """Return what is said of a target, of which nothing may have changed.

    What a scene gives the kernel as swap space the kernel may write to: then it is asked again.
    """
    for _ in range(10):
        swapped = pages_swapped_out()
        before = [state_of(one) for one in set_up.watched]
        said = refusal_of(stage, set_up)
        after = [state_of(one) for one in set_up.watched]
        if pages_swapped_out() == swapped:
            break
    assert after == before
    return said


def pages_swapped_out() -> int:
    lines = Path("/proc/vmstat").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("pswpout "))


@pytest.mark.parametrize("name", SITUATIONS)
def test_refused_and_not_a_byte_written(stage: Stage, name: str) -> None:
    set_up = SITUATIONS[name](stage)
    said = refused_untouched(stage, set_up)
    key = set_up.message or name
    shown = {"target": set_up.target, **set_up.names}
    assert said["what"] == MESSAGES[key].format(**{one: printable(text) for one, text in shown.items()})
    assert said["advice"]
    assert said["facts"].get("reason", "") == REASONS[key]


@pytest.mark.parametrize(
    ("command", "name"), [(command, name) for command, (_, names) in _OTHERS.items() for name in names]
)
def test_other_commands_refuse_it_too(stage: Stage, command: str, name: str) -> None:
    set_up = SITUATIONS[name](stage)
    options = {} if command == "read" else set_up.options
    set_up = replace(set_up, words=_OTHERS[command][0], options=options)
    said = refused_untouched(stage, set_up)
    assert said["facts"]["reason"] == REASONS[set_up.message or name]


def test_each_message_is_of_its_own_and_has_its_reason() -> None:
    assert len(set(MESSAGES.values())) == len(MESSAGES)
    assert set(MESSAGES) == set(REASONS)


def test_names_that_others_chose_forge_no_line(stage: Stage) -> None:
    set_up = SITUATIONS["name-with-a-line-end"](stage)
    done = ran(stage, set_up, as_json=False)
    assert done.status == 2
    assert done.err.count("\n") == 2
    assert "\x1b" not in done.err
    assert not [line for line in done.err.splitlines() if line.startswith("ssdlab: all is well")]


def test_a_command_that_it_advises_is_one_command(scratch: Path, need_tool: Callable[[str], str]) -> None:
    """A name may hold what a shell takes for the end of a word: the words to copy hold it in quotes."""
    import shlex

    from ssdlab.drives import look

    path = scratch / "it's $(touch forged); new"
    path.write_bytes(b"x")
    objection = look(path).writing
    assert objection is not None
    assert shlex.split(objection.advice.partition(": ")[2]) == ["--destroy", path.name]
