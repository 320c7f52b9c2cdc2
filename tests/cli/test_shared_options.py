"""Options that several commands have are one option: the same flag, value, default and help."""

from __future__ import annotations

import inspect
import re
from importlib import import_module
from typing import Any

import pytest

from ssdlab.cli.commands import COMMANDS
from ssdlab.model.errors import UsageError


def flags(command: str) -> dict[str, Any]:
    """Each flag of a command: its default, what it takes, its names and its help."""
    module, name = COMMANDS[command].place.split(":")
    found = inspect.signature(getattr(import_module(module), name), eval_str=True).parameters.values()
    told = {}
    for each in found:
        (marks, kinds) = (getattr(each.annotation, name, ()) for name in ("__metadata__", "__args__"))
        if each.kind is inspect.Parameter.KEYWORD_ONLY and marks:
            # What it takes is a class made for the word in its help, so two are compared by their text.
            told[each.name] = (
                each.default,
                re.sub("0x[0-9a-f]+", "", repr(kinds)),
                marks[0].name,
                marks[0].help,
            )
    return told


OF_DRIVE = {"size", "destroy", "wipe_signatures", "endurance_cap"}
OF_VARIANT = {"usable", "spare", "power_limit", "write_cache", "lba_format"}
OF_ORDER = {"dry_run", "rig", "seed", "library"}
OF_METHOD = {"set", "quick", "repeat"}


@pytest.mark.parametrize(
    ("command", "like", "shared"),
    [
        # `run` and `plan` take consent for each of several drives.
        ("measure", "run", OF_DRIVE - {"destroy"}),
        ("plan", "run", OF_DRIVE | OF_VARIANT | OF_METHOD),
        ("job", "run", (OF_DRIVE - {"destroy"}) | OF_VARIANT | OF_ORDER),
        ("job", "measure", {"destroy"}),
    ],
)
def test_shared_options_are_the_same(command: str, like: str, shared: set[str]) -> None:
    one, other = flags(command), flags(like)
    assert shared <= one.keys() & other.keys()
    assert {name: one[name] for name in shared} == {name: other[name] for name in shared}
    assert all(help_text for *_, help_text in (one[name] for name in shared))


@pytest.mark.parametrize("share", ["0%", "-1%", "nothing"])
@pytest.mark.parametrize(
    "words",
    [("run", "qd1", "s.img"), ("plan", "qd1", "s.img"), ("measure", "s.img")],
    ids=lambda words: words[0],
)
def test_a_share_that_leaves_nothing_is_refused_alike(
    words: tuple[str, ...], share: str, capsys: pytest.CaptureFixture[str]
) -> None:
    from ssdlab.cli import main

    assert main([*words, f"--endurance-cap={share}"]) == UsageError.exit_status
    assert "endurance cap" in capsys.readouterr().err
