"""A host whose clock is off: refused by its name when a plan is made, begun, and on the host of a job."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ssdlab.fleet.fleet_folder import FleetFolder
from ssdlab.fleet.fleet_plan import read_plan
from ssdlab.fleet.host_checks import check_clock
from ssdlab.model.errors import Refused

pytestmark = pytest.mark.long

SELECTION = '[[drives]]\nmodel = "tiny-test"\n[[work]]\nrun = "peak-random-read"\nquick = true\n'
AHEAD_S = 2.5


@pytest.fixture
def ahead(tmp_path: Path) -> dict[str, str]:
    """The environment of a host whose clock is ahead: every `time.time` of its processes says so."""
    place = tmp_path / "ahead"
    place.mkdir()
    text = f"import time\n_true = time.time\ntime.time = lambda: _true() + {AHEAD_S}\n"
    (place / "sitecustomize.py").write_text(text)
    return {**os.environ, "PYTHONPATH": str(place)}


@pytest.mark.parametrize("off", [-2.0, -0.7, 0.7, 2.0])
def test_a_clock_that_is_off_is_refused(library: Path, off: float) -> None:
    """Two hosts that are each within half a second of their files are within a second of each other."""
    library.mkdir()
    check_clock(library)
    check_clock(library, lambda: time.time() + 0.3)
    with pytest.raises(Refused, match=rf"the clock of \S+ is \{off:+.1f} s off that of the library's"):
        check_clock(library, lambda: time.time() + off)


def test_a_job_on_a_host_whose_clock_is_off_writes_nothing(
    make_plan: Callable[..., Path],
    ssdlab: Callable[..., Any],
    states: Callable[..., Any],
    library: Path,
    ahead: dict[str, str],
) -> None:
    plan = read_plan(make_plan(SELECTION, n1=["A1"], n2=["A2"]))
    folder = FleetFolder.make(plan)
    words = ("fleet", "job", str(folder.path), "0002", "--plan", plan.digest)
    done = ssdlab(*words, host="n2", environment=ahead)
    assert done.returncode == 2
    sentence = f"the clock of n2 is +{AHEAD_S} s off that of the library's file system"
    assert sentence in done.stderr
    assert states()["A2"]["state"] == "refused"
    assert states()["A2"]["reason"] == sentence
    assert not list(library.glob("2*")), "no run was made"
    again = ssdlab(*words, host="n2")
    assert again.returncode == 0, again.stderr


def test_a_fleet_with_such_a_host_is_neither_planned_nor_begun(
    make_plan: Callable[..., Path], ssdlab: Callable[..., Any], library: Path, ahead: dict[str, str]
) -> None:
    path = make_plan(SELECTION, n1=["A1"])
    begun = ssdlab("fleet", "run", str(path), "--backend", "local", environment=ahead)
    assert begun.returncode == 2
    assert "the clock of n1 is +2.5 s" in begun.stderr
    place = ("--library", str(library))
    words = ("fleet", "inventory", "--host", "n2", "--simulated", "sim:tiny-test,scale=4,serial=A2", *place)
    assert ssdlab(*words, environment=ahead).returncode == 0
    planned = ssdlab("fleet", "plan", "selection.toml", *place)
    assert planned.returncode == 2
    assert "the clocks of n1 and n2 differ by 2.5 s" in planned.stderr
    (library / ".fleet" / "inventory" / "n1.json").unlink()  # alone, it is still far from its files
    planned = ssdlab("fleet", "plan", "selection.toml", *place)
    assert planned.returncode == 2
    assert "the clock of n2 is +2.5 s off that of the library's file system" in planned.stderr
    assert not list(library.glob("2*"))
