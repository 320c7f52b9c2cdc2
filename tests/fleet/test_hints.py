"""What the fleet's commands propose can be typed as it stands, in whatever library."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import ssdlab.fleet
from ssdlab.fleet.fleet_folder import FleetFolder
from ssdlab.fleet.fleet_plan import read_plan
from ssdlab.fleet.local import hold

pytestmark = pytest.mark.long

SELECTION = """
[[drives]]
model = "tiny-test"
[[work]]
run = "peak-random-read"
quick = true
set = { depths = "1", seconds = "50ms" }
"""
PACKAGE = Path(ssdlab.fleet.__file__).parents[1]


def proposed(text: str) -> list[str]:
    """Return the words after `ssdlab` of the command that a hint proposes."""
    (line,) = re.findall(r"ssdlab (fleet (?:resume|run|watch|inventory) [^;`]+)", text.replace("\n", " "))
    return shlex.split(line)


def test_each_hint_can_be_typed_as_it_stands(
    make_plan: Callable[..., Path], ssdlab: Callable[..., Any], library: Path
) -> None:
    path = make_plan(SELECTION, n1=["A1"])
    place = ("--library", str(library))
    not_begun = ssdlab("fleet", "status", str(path))
    assert ssdlab(*proposed(not_begun.stderr), "--backend", "local").returncode == 0
    again = ssdlab("fleet", "run", str(path), "--backend", "local")
    assert ssdlab(*proposed(again.stderr)).returncode == 0
    finished = ssdlab("fleet", "cancel", "last", *place)
    assert finished.returncode == 0
    assert "nothing is left to cancel" in finished.stderr
    assert "resume" not in finished.stderr
    folder = next((library / ".fleet").glob("*/plan.json")).parent
    assert not (folder / "cancelled").exists(), "a plan that is finished is left as it is"
    (folder / "attempts" / "0001-1.json").write_text("{")
    damaged = ssdlab("fleet", "status", "last", *place)
    (folder / "attempts" / "0001-1.json").unlink()
    assert ssdlab(*proposed(damaged.stderr)).returncode == 0


def test_to_cancel_a_plan_says_how_it_is_continued(
    make_plan: Callable[..., Path], ssdlab: Callable[..., Any], library: Path
) -> None:
    FleetFolder.make(read_plan(make_plan(SELECTION, n1=["A1"])))
    told = ssdlab("fleet", "cancel", "last", "--library", str(library))
    assert "is running, and none will start" in told.stderr
    assert ssdlab(*proposed(told.stderr), "--backend", "local").returncode == 0


def test_each_command_of_a_plan_gives_one_document_of_json(
    make_plan: Callable[..., Path], ssdlab: Callable[..., Any], library: Path
) -> None:
    plan = read_plan(make_plan(SELECTION, n1=["A1", "A2"]))
    folder = FleetFolder.make(plan)
    place = ("--library", str(library), "--json")
    job = ("fleet", "job", str(folder.path), "0001", "--plan", plan.digest, "--json")
    checked = ssdlab("fleet", "check", *place)
    assert checked.returncode == 0
    assert json.loads(checked.stdout)["faults"] == {}
    done, again = ssdlab(*job), ssdlab(*job)
    assert (done.returncode, again.returncode) == (0, 0)
    told = json.loads(done.stdout)
    assert (told["schema"], told["run"]) == ("ssdlab.show/1", plan.job("0001").run_id)
    assert json.loads(again.stdout)["run"] == told["run"]
    cancelled = json.loads(ssdlab("fleet", "cancel", "last", *place).stdout)
    assert (cancelled["plan"], cancelled["cancelled"], cancelled["ended"]) == (plan.plan_id, True, 0)
    stopped = ssdlab(*job[:3], "0002", *job[4:])
    assert (stopped.returncode, json.loads(stopped.stdout)["error"]) == (130, "interrupted")
    watched = ssdlab("fleet", "watch", "last", *place)
    assert json.loads(watched.stdout)["counts"] == {"finished": 1, "cancelled": 1}


def test_a_damaged_inventory_names_the_library_to_take_it_into(
    make_plan: Callable[..., Path], ssdlab: Callable[..., Any], library: Path
) -> None:
    make_plan(SELECTION, n1=["A1"])
    (library / ".fleet" / "inventory" / "n1.json").write_text("{")
    told = ssdlab("fleet", "plan", "selection.toml", "--library", str(library))
    assert told.returncode == 2
    assert ssdlab(*proposed(told.stderr)).returncode == 0
    again = ssdlab("fleet", "plan", "selection.toml", "--library", str(library))
    assert "cannot be read" not in again.stderr


def test_commands_on_a_plan_are_proposed_by_one_function() -> None:
    """Written out elsewhere, one would lack the library."""
    for path in [*(PACKAGE / "fleet").glob("*.py"), *(PACKAGE / "cli").glob("fleet*.py")]:
        assert not re.search(r"ssdlab fleet (resume|watch|cancel|status|job) \{", path.read_text()), path


def test_what_follows_a_plan_elsewhere_than_on_a_terminal_says_so_at_once(
    make_plan: Callable[..., Path], ssdlab: Callable[..., Any], library: Path
) -> None:
    path = make_plan(SELECTION.replace("[[work]]", '[[work]]\nshares = ["chamber"]'), n1=["A1"])
    taken = hold(["shared:chamber"], "a test")
    assert not isinstance(taken, str)
    words = [sys.executable, "-m", "ssdlab", "fleet"]
    named = {**os.environ, "SLURMD_NODENAME": "n1"}
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    runner = subprocess.Popen([*words, "run", str(path), "--backend", "local"], env=named, **quiet)
    while not next((library / ".fleet").glob("*/submitted.json"), None):
        assert runner.poll() is None
    watch = subprocess.Popen(
        [*words, "watch", "last", "--library", str(library)], env=named, stderr=subprocess.PIPE, text=True
    )
    assert watch.stderr is not None
    assert "1 job: 1 waiting" in watch.stderr.readline()
    taken.close()
    assert watch.wait(timeout=120) == 0
    assert runner.wait(timeout=120) == 0
    watch.stderr.close()
