"""Simulated drives of one model that are unlike, as real ones are: a profile file of each, under one name.

The times of the medium are drawn with 3 % spread. Three drives are planted: one is hot, one has few spare
blocks, and one has an old firmware that collects more slowly.
"""

from __future__ import annotations

import random
import re
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

SPREAD = 0.03
MODEL = "unlike"
HOT, FEW_SPARE, OLD = "HOT", "SPARE", "OLD"
HOT_AMBIENT_C = 66.0
WORK: dict[str, Any] = {
    "run": "steady-random-write",
    "set": {"depths": "32", "seconds": "300ms", "least_seconds": "500ms", "most_seconds": "2s"},
}
"""What tells them apart in a third of a second each, with `quick` and an analytic precondition."""

POWER = """
[power]
idle_mw = { value = 50, source = "chosen" }
active_mw = { value = 2450, source = "chosen" }
die_read_mw = { value = 82, source = "chosen" }
die_program_mw = { value = 116, source = "chosen" }
die_erase_mw = { value = 82, source = "chosen" }
transfer_nj = { value = 250.0, source = "chosen" }
command_uj = { value = 1.0, source = "chosen" }
link_pj_per_byte = { value = 200.0, source = "chosen" }
window_ms = { value = 10.0, source = "chosen" }

[thermal]
ambient_c = { value = 35.0, source = "chosen" }
resistance_k_per_w = { value = 5.0, source = "chosen" }
time_constant_s = { value = 2.0, source = "chosen" }

[[thermal.throttle]]
above_c = { value = 75.0, source = "chosen" }
until_c = { value = 70.0, source = "chosen" }
cap_w = { value = 2.9, source = "chosen" }
"""


def make_drives(folder: Path, count: int, seed: int = 1) -> list[str]:
    """Write a profile for each drive, and return their texts; the last three are the planted ones."""
    chance = random.Random(seed)
    planted: dict[str, Mapping[str, object]] = {
        HOT: {"ambient_c": HOT_AMBIENT_C},
        FEW_SPARE: {"blocks_per_plane": 46},
        OLD: {"rule": '{ value = { d-choices = 2 }, source = "chosen" }'},
    }
    names = [f"U{number:03}" for number in range(count - len(planted))] + list(planted)
    return [_drive(folder, name, chance, planted.get(name, {})) for name in names]


def _drive(folder: Path, name: str, chance: random.Random, own: Mapping[str, object]) -> str:
    base = files("ssdlab.profiles").joinpath("tiny-test.toml").read_text(encoding="utf-8")
    text = base.replace('name = "tiny-test"', f'name = "{MODEL}"') + POWER
    for key in ("read_us", "program_us", "erase_ms"):
        text = _scaled(text, key, chance.gauss(1.0, SPREAD))
    for key, value in own.items():
        text = _put(text, key, value)
    path = folder / f"{name}.toml"
    path.write_text(text)
    firmware = "1.0" if name == OLD else "2.1"
    return f"sim:{path},scale=4,serial={name},firmware={firmware},seed={chance.randrange(1, 2**31)}"


def _scaled(text: str, key: str, factor: float) -> str:
    """Multiply a time of the table `[flash]`; the controller has a `read_us` of its own before it."""
    head, flash, rest = text.partition("[flash]\n")
    line = re.search(rf"^{key} = \{{ value = \[?([\d.]+)", rest, re.MULTILINE)
    assert line is not None
    at = line.start(1), line.end(1)
    return head + flash + rest[: at[0]] + f"{float(line[1]) * factor:.4f}" + rest[at[1] :]


def _put(text: str, key: str, value: object) -> str:
    shown = value if isinstance(value, str) else f'{{ value = {value}, source = "chosen" }}'
    changed, count = re.subn(rf"^{key} = .*$", f"{key} = {shown}", text, flags=re.MULTILINE)
    assert count == 1, key
    return changed
