"""The verbs: what each asks of the drive, what it refuses, and that they are only steps."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from lab.fake_drive import FakeDrive, run_on
from ssdlab.lab.lab import Lab
from ssdlab.lab.method import Method, Params
from ssdlab.lab.parts.workloads import closed_loop
from ssdlab.model.errors import DriveError, Refused, Unsupported, UsageError
from ssdlab.model.pattern import Span
from ssdlab.model.workload import Stream, Workload
from ssdlab.results.run_folder import RunFolder
from ssdlab.results.schema import JobResult


class NoParams(Params):
    """None."""


def run_procedure(procedure, drive: FakeDrive, library: Path) -> RunFolder:
    made = Method(
        "some",
        1,
        "Some",
        NoParams,
        lambda lab, p: procedure(lab),
        lambda data, p: JobResult(quick=False, points=()),
    )
    return RunFolder(run_on(drive, made, NoParams(), library))


def echo_lab(**facts) -> Lab:
    sizes = {"capacity_bytes": 1 << 30, "logical_block_bytes": 512, **facts}
    return Lab(SimpleNamespace(perform=lambda request: request), **sizes)


def test_steps_are_numbered_in_order_and_refused_ones_take_no_number() -> None:
    lab = echo_lab()
    assert lab.note("a").ordinal == 0
    with pytest.raises(UsageError):
        lab.idle(-1)
    with pytest.raises(UsageError):
        lab.fill(passes=0)
    assert lab.flush().ordinal == 1


def test_each_verb_reaches_the_drive(tmp_path: Path) -> None:
    def all_verbs(lab: Lab) -> None:
        lab.conditions(scheduler="none")
        lab.fill(passes=2)
        lab.precondition(closed_loop("random", "write", block_bytes=4096, in_flight=4, seconds=1))
        lab.run(closed_loop("random", "read", block_bytes=4096, in_flight=1, seconds=1), label="r")
        lab.idle(0.01)
        lab.trim()
        lab.flush()
        lab.note("hello")

    drive = FakeDrive()
    run = run_procedure(all_verbs, drive, tmp_path)
    assert [name for name, _ in drive.done] == ["run", "run", "run", "idle", "trim", "flush"]
    fill, before, read = drive.runs
    assert fill.streams[0].stop.bytes == 2 << 30 and fill.streams[0].block[0].bytes == 128 * 1024
    assert fill.streams[0].pattern.kind == "sequential" and fill.changes_data and not read.changes_data
    assert drive.done[4] == ("trim", (0, 1 << 30))
    verbs = [step.verb for step in run.steps()]
    assert verbs == ["conditions", "fill", "precondition", "run", "idle", "trim", "flush", "note"]
    assert run.steps()[4].result.seconds >= 0.01
    assert run.steps()[7].args == {"text": "hello"}
    assert before.streams[0].in_flight == 4


def test_a_fill_keeps_to_the_limit() -> None:
    lab = echo_lab()
    lab.limit(256 << 20)
    (stream,) = lab.fill().workload.streams
    assert stream.span == Span(start=0, length=256 << 20) and stream.stop.bytes == 256 << 20


def test_limit_narrows_what_follows() -> None:
    lab = echo_lab()
    lab.limit(256 << 20)
    read = closed_loop("random", "read", block_bytes=4096, in_flight=1, seconds=1)
    assert lab.run(read, label="x").workload.streams[0].span == Span(start=0, length=256 << 20)
    assert lab.trim().args["length"] == 256 << 20
    assert lab.fill().workload.streams[0].stop.bytes == 256 << 20
    for wrong in (0, 511, (1 << 30) + 512, -512):
        with pytest.raises(UsageError):
            lab.limit(wrong)


def test_odd_capacities_fit_every_block() -> None:
    """480 GB as sold: no multiple of 128 KiB, let alone of 1 MiB."""
    sold = 480_103_981_056
    lab = echo_lab(capacity_bytes=sold)
    whole = sold // (1 << 20) * (1 << 20)
    assert lab.fill().workload.streams[0].block[0].bytes == 128 * 1024
    assert lab.fill().workload.streams[0].stop.bytes == whole
    for block in (512, 4096, 128 * 1024, 1 << 20):
        read = closed_loop("sequential", "read", block_bytes=block, in_flight=8, seconds=1)
        assert lab.run(read, label="x").workload.streams[0].span.length == whole
    small = echo_lab(capacity_bytes=(1 << 20) + 4096)
    read = closed_loop("random", "read", block_bytes=128 * 1024, in_flight=8, seconds=1)
    assert small.run(read, label="x").workload.streams[0].span.length == 1 << 20


def test_a_stream_keeps_its_own_span_and_a_workload_its_own_seed() -> None:
    lab = echo_lab()
    stream = Stream(span=Span(start=4096, length=8192), stop={"ios": 10})
    mine = lab.run(Workload.of(stream, seed=42), label="x").workload
    assert mine.seed == 42 and mine.streams[0].span == Span(start=4096, length=8192)
    seeds = {lab.run(Workload.of(stream), label="x").workload.seed for _ in range(20)}
    assert len(seeds) == 20


def test_the_same_seed_gives_the_same_steps() -> None:
    read = closed_loop("random", "read", block_bytes=4096, in_flight=1, seconds=1)
    one, two, other = (echo_lab(seed=seed).run(read, label="x").workload.seed for seed in (5, 5, 6))
    assert one == two != other


def test_fill_fits_its_block_to_a_small_span() -> None:
    lab = echo_lab(capacity_bytes=(1 << 20) + 4096)
    assert lab.fill().workload.streams[0].block[0].bytes == 4096
    assert lab.fill().workload.streams[0].stop.bytes == (1 << 20) + 4096
    deep = lab.fill(depth=8).workload.streams[0]
    assert (deep.engine, deep.depth, deep.workers) == ("uring", 8, 1)


def test_fill_is_left_out_only_where_the_drive_can_prove_it(tmp_path: Path) -> None:
    for known, runs in ((True, 0), (False, 1), (None, 1)):
        drive = FakeDrive(known_written=known)
        run = run_procedure(lambda lab: lab.fill(unless_written=True), drive, tmp_path / str(known))
        assert len(drive.runs) == runs
        assert bool(run.steps()[0].result.facts.get("already_written")) is (runs == 0)
    drive = FakeDrive(known_written=True)
    run_procedure(lambda lab: lab.fill(), drive, tmp_path / "plain")
    assert len(drive.runs) == 1


def test_a_workload_that_never_ends_is_refused() -> None:
    with pytest.raises(UsageError, match="never stop"):
        echo_lab().run(Workload.of(Stream()), label="x")


def test_what_a_drive_cannot_do_is_a_typed_refusal(tmp_path: Path) -> None:
    with pytest.raises(Unsupported) as raised:
        run_procedure(lambda lab: lab.health(), FakeDrive(), tmp_path)
    assert isinstance(raised.value, Refused) and raised.value.exit_status == 2
    assert raised.value.kind == "unsupported" and raised.value.advice


def test_points_that_cannot_be_forked_are_measured_in_order_and_depart(tmp_path: Path) -> None:
    def points(lab: Lab) -> None:
        lab.sweep(
            "depth",
            (1, 2),
            lambda n: closed_loop("random", "write", block_bytes=4096, in_flight=n, seconds=1),
            forked=True,
        )

    drive = FakeDrive()
    run = run_procedure(points, drive, tmp_path)
    assert [workload.streams[0].in_flight for workload in drive.runs] == [1, 2]
    assert [step.verb for step in run.steps()] == ["fork", "back", "run", "back", "run", "back"]
    (departure,) = run.manifest.departures
    assert departure.code == "order-effects"


def test_a_purge_is_journalled_with_its_proof(tmp_path: Path) -> None:
    run = run_procedure(lambda lab: lab.purge(), FakeDrive(), tmp_path)
    facts = run.steps()[0].result.facts
    assert facts["purged"] is True and facts["record"]["method"] == "nvme-format-user-data"
    assert not run.manifest.departures


def test_without_a_purge_a_procedure_stops_or_departs(tmp_path: Path) -> None:
    with pytest.raises(DriveError, match="cannot be purged"):
        run_procedure(lambda lab: lab.purge(), FakeDrive(purgeable=False), tmp_path / "must")
    run = run_procedure(lambda lab: lab.purge(if_able=True), FakeDrive(purgeable=False), tmp_path / "may")
    assert run.steps()[0].result.facts["purged"] is False
    assert [departure.code for departure in run.manifest.departures] == ["not-purged"]


def test_a_substitute_for_a_purge_is_a_departure(tmp_path: Path) -> None:
    run = run_procedure(lambda lab: lab.purge(), FakeDrive(purge_method="discard"), tmp_path)
    (departure,) = run.manifest.departures
    assert departure.code == "purge-substitute" and "discard" in departure.what


def test_a_condition_that_is_not_met_is_a_departure(tmp_path: Path) -> None:
    from dataclasses import fields

    from ssdlab.model.host_load import Conditions

    unknown = dict.fromkeys((field.name for field in fields(Conditions)), None)
    settings = Conditions(**{**unknown, "device": "x", "schedulers": ("none", "bfq"), "scheduler": "bfq"})
    run = run_procedure(
        lambda lab: lab.conditions(scheduler="none", write_cache="off", nomerges="2"),
        FakeDrive(settings=settings),
        tmp_path,
    )
    told = {departure.code: departure.what for departure in run.manifest.departures}
    assert told == {
        "condition-scheduler": "scheduler is bfq; requested: none",
        "condition-write_cache": "write cache is not known; requested: off",
    }
    assert run.steps()[0].result.facts["found"]["scheduler"] == "bfq"


def test_a_block_ends_where_it_ends() -> None:
    lab = echo_lab()
    with lab.on_interruption("re-precondition"):
        assert lab.note("in").policy == "re-precondition"
        with lab.on_interruption("continue"):
            assert lab.flush().policy == "continue"
        assert lab.note("in").policy == "re-precondition"
    assert lab.note("out").policy == "restart"
    assert lab.fill().policy == "continue"
