"""An error in an option's value names the option: every option of every command that has a bad value."""

from __future__ import annotations

import inspect
from importlib import import_module
from pathlib import Path

import pytest

from ssdlab.cli import main
from ssdlab.cli.commands import COMMANDS
from ssdlab.model.frozen import Frozen
from ssdlab.model.meter_text import MeterOptions
from ssdlab.model.options import DriveOptions, MeasureOptions
from ssdlab.runs.conditions.variant import Variant

BAD = "4q!"
"""No number, no size, no time, no share, no choice."""
ANY_TEXT = {"destroy", "rig", "library", "log-ios"}
"""Options that take any text: what it names is looked for later."""
BASES: dict[str, tuple[str, tuple[type[Frozen], ...]]] = {
    "measure": ("measure sim:tiny-test --rw randrw", (MeasureOptions,)),
    "run": ("run qd1 sim:tiny-test --dry-run", (DriveOptions, MeterOptions, Variant)),
    "plan": ("plan qd1 sim:tiny-test", (DriveOptions, Variant)),
}


def model_options() -> list[str]:
    """Return a line with a bad value for each option that is a field of a model."""
    lines = []
    for base, models in BASES.values():
        for model in models:
            for name, field in model.model_fields.items():
                word = (field.alias or name).replace("_", "-")
                if field.annotation is not bool and word not in ANY_TEXT and f"--{word} " not in f"{base} ":
                    lines.append(f"{base} --{word} {BAD}")
    return lines


OTHERS = [
    f"runs --since {BAD}",
    f"runs --limit {BAD}",
    f"runs --status {BAD}",
    f"run qd1 sim:tiny-test --repeat {BAD}",
    f"run qd1 sim:tiny-test --run-id {BAD}",
    f"run qd1 sim:tiny-test --seed {BAD}",
    f"run qd1 sim:tiny-test --precondition {BAD}",
    f"purge sim:tiny-test --limit {BAD}",
    f"sim serve tiny-test --memory {BAD}",
    f"sim serve tiny-test --early {BAD}",
    f"trace record /dev/null --output t --seconds {BAD}",
]


@pytest.mark.parametrize("line", [*model_options(), *OTHERS])
def test_the_error_names_the_option(
    line: str, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    option = line.split()[-2]
    assert main(line.split()) == 2
    what = capsys.readouterr().err.splitlines()[-2]
    assert option in what.replace(":", " ").split(), what


def test_the_models_are_those_of_the_commands() -> None:
    for command, (_, models) in BASES.items():
        module, _, function = COMMANDS[command].place.partition(":")
        taken = inspect.signature(getattr(import_module(module), function)).parameters
        for model in models:
            assert {field.alias or name for name, field in model.model_fields.items()} <= {*taken}


def test_python_is_told_the_name_too() -> None:
    with pytest.raises(Exception, match=r"^bs: unit of block size"):
        MeasureOptions(bs="4q")
    with pytest.raises(Exception, match=r"^seconds: '-1' is negative"):
        MeasureOptions(seconds="-1")
