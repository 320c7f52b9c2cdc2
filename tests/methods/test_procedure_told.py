"""What a page says was done follows from the finished steps, and from nothing that the method intends."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from methods.on_simulated import SMALL, run
from ssdlab.lab.found import find_method
from ssdlab.lab.job import read_job
from ssdlab.lab.parts.steady import written_by
from ssdlab.model.units import capacity_text, span_text
from ssdlab.report import page, source
from ssdlab.report.sections.provenance import what_was_done
from ssdlab.results.records import Step, StepResult
from ssdlab.results.run_folder import RunFolder
from ssdlab.runs.session import Order, start

SHORT = {
    "qd1": {"steady": "false", "seconds": "0.5", "size_seconds": "0.1", "ramp_seconds": "0", "sizes": "4k"},
    "low-depths": {"seconds": "0.3", "rest_seconds": "0.1"},
    "consistency": {"seconds": "6", "round_seconds": "1"},
    "trim-validation": {"torture_seconds": "1", "sustained_seconds": "0.5"},
    "paced-burst": {"reads": "2", "rate_seconds": "0.3", "rest_seconds": "0.1", "span": "4MB", "most": "64"},
}


@pytest.fixture(params=SHORT)
def done(request: pytest.FixtureRequest, tmp_path: Path) -> RunFolder:
    return run(request.param, tmp_path, **SHORT[request.param])


def told(folder: RunFolder) -> tuple[str, ...]:
    return what_was_done(folder.steps(), folder.manifest.drive.capacity_bytes)


@pytest.mark.long
def test_every_time_that_is_told_was_measured(done: RunFolder) -> None:
    steps = done.steps()
    allowed = {span_text(float(step.measured.elapsed_s)) for step in steps if step.summary is not None}
    rests = [step.result.seconds for step in steps if step.verb == "idle"]
    allowed |= {span_text(each) for each in rests} | {span_text(sum(rests))}
    times = [each for line in told(done) for each in re.findall(r"[\d.]+ s\b|\d+ min \d+ s", line)]
    assert times
    assert set(times) <= allowed


@pytest.mark.long
def test_every_measured_step_is_told_once(done: RunFolder) -> None:
    told_of = 0
    for line in told(done):
        if line.startswith(("Measured", "Prepared", "Filled")):
            told_of += int(found[1]) if (found := re.search(r"\((\d+) steps", line)) else 1
    assert told_of == sum(step.summary is not None for step in done.steps())


def test_what_is_told_as_written_has_the_ramps(tmp_path: Path) -> None:
    """By the model's own counter; an I/O that was in flight at the end is in no row."""
    text = '[[step]]\ndo = "run"\nrw = "randwrite"\nseconds = "200ms"\nramp = "200ms"\ninterval = "50ms"'
    folder = RunFolder(start(Order(find_method("job"), read_job(text, "j"), SMALL), tmp_path))
    (step,) = (each for each in folder.steps() if each.summary is not None)
    assert step.result.telemetry is not None
    counted = int(step.result.telemetry.changes["host_written_bytes"] or 0)
    assert 0 <= counted - step.written_bytes <= 128 << 10
    assert step.written_bytes > 1.5 * step.measured.written_bytes
    assert f"{capacity_text(step.written_bytes)} written" in "".join(told(folder))
    assert written_by([step], 1 << 30)[step.ordinal].bytes == step.written_bytes


def test_what_was_left_out_is_told(tmp_path: Path) -> None:
    folder = run("qd1", tmp_path, **SHORT["qd1"])
    assert any("skipped, as all blocks were already written" in line for line in told(folder))
    assert not any("steady" in line for line in told(folder)), "the method's steady state was skipped"


def test_marks_between_steps_are_nothing_that_was_done(tmp_path: Path) -> None:
    """A stretch begins without touching the drive; what has nothing to say of itself is named, no more."""
    folder = run("qd1", tmp_path, **SHORT["qd1"])
    capacity_bytes, steps = folder.manifest.drive.capacity_bytes, folder.steps()
    (first, *_) = [each for each in steps if each.summary is not None]
    marked = Step(0, 1, "stretch", "before bursts, 5.00 s apart", {}, StepResult(seconds=0.0))
    assert what_was_done([marked, *steps], capacity_bytes) == told(folder)
    bare = Step(0, 1, "flush", "before the cut", {}, StepResult(seconds=0.0))
    (line,) = what_was_done([bare], capacity_bytes)
    assert "before the cut" in line and ": done" not in line
    (line,) = what_was_done([replace(first, verb="one-pass")], capacity_bytes)
    assert line.startswith("Prepared")


def test_a_page_tells_what_was_done_before_the_method_in_full(tmp_path: Path) -> None:
    folder = run("qd1", tmp_path, **SHORT["qd1"])
    text = page.render([source.read_run(folder.path)])
    first = text.index('<ul class="done">')
    assert first < text.index("The method in full") < text.index(find_method("qd1").prose.partition("\n")[0])


def test_rounds_are_told_together(tmp_path: Path) -> None:
    """SNIA's rounds repeat the same kinds of work: a line for each kind, whatever the number of rounds."""
    step = '[[step]]\ndo = "run"\nseconds = "50ms"\n'
    kinds = ('rw = "randread"', 'rw = "randwrite"', 'rw = "randwrite"\nbs = "8k"')
    rounds = [
        f'{step}label = "round {n}, {at}"\n{kind}\n' for n in range(1, 6) for at, kind in enumerate(kinds)
    ]
    last = f'{step}label = "at the end"\nrw = "randread"\n'
    job = read_job("\n".join([f'{step}label = "before"\nrw = "write"\n', *rounds, last]), "j")
    lines = told(RunFolder(start(Order(find_method("job"), job, SMALL), tmp_path)))
    assert [re.findall(r"\((?:(\d+) steps in (\d+) cycles, )?“([^”]+)”", line)[0] for line in lines] == [
        ("", "", "before"),
        ("5", "5", "round 1, 0"),
        ("10", "5", "round 1, 1"),
        ("", "", "at the end"),
    ]
