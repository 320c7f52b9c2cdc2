"""A verb that makes a workload of its own stays within the part of the drive in use."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import pytest

from lab.fake_drive import FakeDrive, run_on
from ssdlab.lab.lab import Lab
from ssdlab.lab.method import Method, Params, RunData
from ssdlab.lab.parts.workloads import closed_loop
from ssdlab.lab.verbs.verb import Verb
from ssdlab.model.errors import UsageError
from ssdlab.model.pattern import Span
from ssdlab.model.workload import Workload
from ssdlab.results.records import StepResult
from ssdlab.results.schema import JobResult, Usable
from ssdlab.runs.order import Order
from ssdlab.runs.session import start

if TYPE_CHECKING:
    from ssdlab.lab.verbs.verb import StepContext

MIB = 1 << 20
WRITES = closed_loop("random", "write", block_bytes=4096, in_flight=4, seconds=0.2)


class NoParams(Params):
    """None."""


class Salvo(Verb):
    """Writes by workloads that no procedure has seen."""

    verb: ClassVar[str] = "salvo"

    start: int | None = None
    measured: bool = False
    endless: bool = False

    def do(self, at: StepContext) -> StepResult:
        facts = {"span": at.span.length}
        if self.measured:
            return at.measure(self.writes, None, overload=False).model_copy(update={"facts": facts})
        at.run(self.writes, None)
        return StepResult(seconds=0.0, facts=facts)

    @property
    def writes(self) -> Workload:
        (stream,) = WRITES.streams
        changes = {} if self.start is None else {"span": Span(start=self.start, length=MIB)}
        if self.endless:
            changes["stop"] = stream.stop.model_copy(update={"time_ns": None})
        return WRITES.model_copy(update={"streams": (stream.model_copy(update=changes),)})


def salvo(limit: int | None = None, usable: int | None = None, **asked: object) -> Method:
    def procedure(lab: Lab, p: NoParams) -> None:
        if usable is not None:
            lab.variant({}, Usable(length=usable, spare=0.5, of="user capacity", free=False), "variant")
        if limit is not None:
            lab.limit(limit)
        lab.do(Salvo.model_validate(asked), label="salvo")

    def conclude(data: RunData, p: NoParams) -> JobResult:
        assert data.steps[-1].result.facts["span"] == (limit or usable or data.capacity_bytes)
        return JobResult(quick=False, points=())

    return Method("salvos", 1, "Salvos", NoParams, procedure, conclude, writes=lambda p: True)


@pytest.mark.parametrize("measured", [False, True])
@pytest.mark.parametrize("asked", [{}, {"limit": 16 * MIB}, {"usable": 16 * MIB}])
def test_it_gets_the_span_and_the_seed_of_its_step(tmp_path: Path, measured: bool, asked: dict) -> None:
    seeds = []
    for seed in (7, 8):
        drive = FakeDrive()
        run_on(drive, salvo(measured=measured, **asked), NoParams(), tmp_path / str(seed), seed=seed)
        (ran,) = drive.runs
        length = next(iter(asked.values()), drive.capacity_bytes)
        assert ran.streams[0].span == Span(start=0, length=length)
        seeds.append(ran.seed)
    assert seeds[0] != seeds[1], "its I/Os do not go with the seed of the run"


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        ({"usable": 16 * MIB, "start": 16 * MIB}, r"^salvo: the span ends at 17 MiB"),
        ({"endless": True}, "of step 'salvo' would never stop"),
    ],
)
def test_what_the_procedure_may_not_ask_for_is_refused(tmp_path: Path, asked: dict, why: str) -> None:
    drive = FakeDrive()
    with pytest.raises(UsageError, match=why):
        run_on(drive, salvo(**asked), NoParams(), tmp_path)
    assert not drive.runs


def test_a_file_beyond_the_limit_keeps_its_bytes(scratch: Path) -> None:
    image = scratch / "limited.img"
    method = salvo(limit=MIB)
    start(Order(method, NoParams(), str(image), size_bytes=4 * MIB), scratch / "library")
    before = image.read_bytes()
    start(Order(method, NoParams(), str(image), seed=2), scratch / "library")
    after = image.read_bytes()
    assert before[:MIB] != after[:MIB], "nothing was written"
    assert before[MIB:] == after[MIB:]
