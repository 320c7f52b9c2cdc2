"""Suites on simulated drives: what is shared is the same to the bit, and nothing finished is lost."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from ssdlab.drives import Look
from ssdlab.drives.simulated.drive import SimulatedText, identity_of
from ssdlab.lab.found import find_method
from ssdlab.lab.kinds import SuiteResult
from ssdlab.lab.outcome import read_result
from ssdlab.lab.suites import all_suites
from ssdlab.lab.suites.suite import SHARED_BY_FORK, Part
from ssdlab.methods.mixed_random.result import MixedResult
from ssdlab.results.records import EndRecord
from ssdlab.results.run_folder import RunFolder
from ssdlab.runs.order import Order
from ssdlab.runs.session import start
from ssdlab.runs.suites.ordering import SuiteOrder, groups, planned_children, shared_steps, suite_params
from ssdlab.runs.suites.outcome import sizes_of_parts
from suites.made import BRIEF, SMALL, children, run, suite

pytestmark = pytest.mark.long

STEADY = suite(Part("steady-random-write", "random-steady"), Part("mixed-random", "random-steady"))


@pytest.fixture(scope="module")
def forked(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    return run(STEADY, tmp_path_factory.mktemp("library"), BRIEF)


def test_parts_that_had_the_drive_in_several_sizes_are_told(forked: RunFolder) -> None:
    """A part whose stimuli have a size of their own has a simulated drive in full size."""
    runs = {run.manifest.run_id: run.manifest for run in children(forked).values()}
    of_one_size = list(sizes_of_parts(forked.manifest.children, runs))
    assert of_one_size == []
    mixed = forked.manifest.children[1].run_id
    whole = runs[mixed].drive.model_copy(update={"text": "sim:tiny-test"})
    runs[mixed] = runs[mixed].model_copy(update={"drive": whole})
    (said,) = sizes_of_parts(forked.manifest.children, runs)
    assert said.what.endswith("in full size in mixed-random; at 1/4 of it in steady-random-write")


def measurements(folder: RunFolder) -> dict[str, Any]:
    """What each step measured of the drive, and the state that it left it in."""
    left = {each.ordinal: each.drive_state for each in folder.journal() if isinstance(each, EndRecord)}
    of_the_drive = ("iops", "elapsed_s", "read", "write", "power", "drive")
    return {
        step.label: [left[step.ordinal], *((step.result.measurement or {}).get(key) for key in of_the_drive)]
        for step in folder.steps()
    }


def test_a_state_is_made_once_and_told_by_both(forked: RunFolder) -> None:
    runs = children(forked)
    leader, follower = runs["steady-random-write"], runs["mixed-random"]
    result = read_result(forked)
    assert isinstance(result, SuiteResult)
    assert [each.prepared_by for each in result.outcomes] == [None, leader.manifest.run_id]
    assert follower.manifest.member.prepared_steps == 3
    for own, others in zip(follower.steps()[:3], leader.steps()[:3], strict=True):
        assert own.result.facts["done_in"] == leader.manifest.run_id
        assert own.args == others.args
        assert own.result.measurement == others.result.measurement
    # The proof stands in the follower's own tables.
    precondition = follower.steps()[2]
    assert len(follower.rows(precondition.ordinal)["row"]) == len(leader.rows(2)["row"]) > 5
    assert isinstance(read_result(follower), MixedResult)
    assert read_result(follower).steady.rounds_mb_s == read_result(leader).steady.rounds_mb_s


def test_a_forked_run_is_to_the_bit_the_run_that_is_made_alone(forked: RunFolder, tmp_path: Path) -> None:
    child = next(child for child in forked.manifest.children if child.part == "mixed-random")
    method = find_method("mixed-random")
    member = children(forked)["mixed-random"].manifest.member
    params = method.params.model_validate(child.params)
    alone = start(Order(method, params, SMALL, seed=child.seed, member=member), tmp_path)
    assert measurements(RunFolder(alone)) == measurements(children(forked)["mixed-random"])


def test_seeds_are_by_name_and_preparations_share_theirs(forked: RunFolder) -> None:
    first, second = forked.manifest.children
    assert first.seed != second.seed
    assert first.preparation_seed == second.preparation_seed
    seeds = [run.steps()[3].args["workload"]["seed"] for run in children(forked).values()]
    assert seeds[0] != seeds[1]


def test_what_suites_declare_is_what_their_procedures_share() -> None:
    """Parts that begin in a state made once have the same first steps, up to the end of preconditioning."""
    found = 0
    identity = identity_of(SimulatedText.parse(SMALL))
    for each in all_suites():
        params = suite_params(each, {}, quick=False)
        like = Order(each.method(each.parts[0]), params[each.parts[0].label], SMALL)
        planned = planned_children(SuiteOrder(each, params, like), 7, Look(identity, True, None, None))
        for group in groups(planned, SHARED_BY_FORK):
            if len(group) > 1:
                found += 1
                assert shared_steps(group) >= 3
    assert found >= 1


def words(library: Path, *more: str) -> list[str]:
    return [sys.executable, "-m", "ssdlab", *more, "--library", str(library)]


SET = [word for name, value in BRIEF.items() for word in ("--set", f"{name}={value}")]


@pytest.mark.parametrize(
    "finished_before", [pytest.param(0, marks=pytest.mark.slow), 1, pytest.param(2, marks=pytest.mark.slow)]
)
def test_killed_and_resumed_a_suite_loses_no_finished_run(tmp_path: Path, finished_before: int) -> None:
    library = tmp_path / "library"
    command = words(library, "run", "enterprise-review", SMALL, "--seed", "5", *SET)
    command += ["--set", "sizes=4k", "--set", "size_seconds=0.2"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wait_for(process, library, finished_before)
    process.send_signal(signal.SIGKILL)
    process.wait()
    (parent,) = library.glob("*-enterprise-review-*")
    finished = [path.parent for path in library.glob("2*/hist.parquet")]
    before = {path.name: (path / "series.parquet").read_bytes() for path in finished}
    assert len(before) >= finished_before
    done = subprocess.run(words(library, "resume", str(parent)), capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr
    folder = RunFolder(parent)
    assert folder.manifest.status == "finished"
    runs = children(folder)
    assert len(runs) == 6
    assert all(each.manifest.status == "finished" and each.manifest.tables for each in runs.values())
    for name, table in before.items():
        assert (library / name / "series.parquet").read_bytes() == table
        assert len(RunFolder(library / name).manifest.sessions) <= 2
    assert len(list(library.glob("2*"))) == 7, "nothing was begun twice"


def wait_for(process: subprocess.Popen[bytes], library: Path, count: int) -> None:
    deadline = time.monotonic() + 90
    while not library.exists() or sum((p / "hist.parquet").exists() for p in library.glob("2*")) < count:
        assert process.poll() is None and time.monotonic() < deadline
        time.sleep(0.05)
    time.sleep(0.3)
