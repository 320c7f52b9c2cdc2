"""fio's job files: what the field writes is honoured, ignored or refused, and never bent."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from math import gcd
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from ssdlab.cli import main
from ssdlab.drives import open_drive
from ssdlab.formats.fio import Target, job_file
from ssdlab.formats.fio.options import RULES
from ssdlab.formats.fio.sections import Given, read_sections
from ssdlab.formats.fio.stages import Stage, read_stages
from ssdlab.lab.job import JobParams, steps_of_fio
from ssdlab.model.arrival import Closed, Open
from ssdlab.model.errors import UsageError
from ssdlab.model.limits import DURATION_NS
from ssdlab.model.measurement import read_ios
from ssdlab.model.pattern import Band, Bands, Sequential, Shuffled, Stepped, Uniform
from ssdlab.model.workload import Block, Stop, Stream, Workload

GIB = 1 << 30
MIB = 1 << 20
DRIVE = Target(None, False, 16 * GIB, 512)
DIRECT = "direct=1\nfilename=/dev/sdz\n"


@dataclass(frozen=True)
class Case:
    """A job file of the corpus: what is ignored of it, or where it is refused."""

    name: str
    text: str
    ignored: frozenset[str]
    refused: str | None


def cases() -> Iterator[Case]:
    text = (
        Path(__file__).with_name("fio_jobs.txt").read_text().partition("\n\n===")[2].partition("\n\n=== ")[2]
    )
    for entry in text.split("\n\n=== "):
        title, _, jobs = entry.partition("\n")
        name, outcome, what = (part.strip() for part in re.split(r": ?|; ", title, maxsplit=2))
        refused = what if outcome == "refused" else None
        yield Case(name, f"{jobs}\n", frozenset(() if refused else what.split()), refused)


CASES = list(cases())


def stages(text: str, target: Target = DRIVE, **environment: str) -> tuple[Stage, ...]:
    return read_stages(read_sections(text, "x.fio", Path(), environment), target)[0]


def streams(text: str, target: Target = DRIVE) -> tuple[Stream, ...]:
    """The streams of the only stage."""
    (stage,) = stages(text, target)
    return stage.workload.streams


def test_the_corpus_is_as_large_as_it_says() -> None:
    assert sum(case.refused is None for case in CASES) >= 40
    assert len({case.name for case in CASES}) == len(CASES) >= 50


@pytest.mark.parametrize("case", [case for case in CASES if case.refused is None], ids=lambda case: case.name)
def test_it_runs(case: Case) -> None:
    found, said = read_stages(read_sections(case.text, "x.fio", Path(), {}), DRIVE)
    ignored = {
        name
        for each in said
        if each.startswith("ignored")
        for name in re.findall(r"([a-z_]+)(?:=\S+)? \(", each)
    }
    assert ignored == case.ignored
    runs = [each for each in steps_of_fio(found, said).steps if each.do == "run"]
    assert [each.workload().streams for each in runs] == [each.workload.streams for each in found]
    with open_drive("sim:tiny-test", writing=True, allow_unwritten=True) as drive:
        for stage in found:
            summary = drive.run(stage.workload).summary()
            for stream in stage.workload.streams:
                assert summary["read" if stream.reads else "trim" if stream.trims else "write"]["ios"]


@pytest.mark.parametrize("case", [case for case in CASES if case.refused], ids=lambda case: case.name)
def test_it_is_refused_by_name_and_line(case: Case) -> None:
    with pytest.raises(UsageError) as caught:
        stages(case.text)
    assert caught.value.facts["option"] == case.refused
    named = case.text.splitlines()[int(caught.value.facts["line"]) - 1]
    assert case.refused in named or "iodepth_batch_complete" in named  # by its alias


COMPILED = [case for case in CASES if "ioengine=rbd" not in case.text]
"""Debian's fio has no such engine."""


@pytest.mark.parametrize("case", COMPILED, ids=lambda case: case.name)
def test_fio_takes_it(case: Case, fio: str, tmp_path: Path) -> None:
    """Otherwise the corpus would be of no file that anybody has."""
    (tmp_path / "x.fio").write_text(case.text)
    done = subprocess.run([fio, "--parse-only", "x.fio"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def option(text: str, **facts: int) -> Given:
    return Given("size", text, 1, "x.fio", **facts)


@pytest.mark.parametrize(
    ("text", "kb_base", "size"),
    [
        ("8k", 1024, 8192),
        ("8kb", 1024, 8192),
        ("8KB", 1024, 8192),
        ("8kib", 1024, 8000),
        ("64kib", 1000, 65536),
        ("64kb", 1000, 64000),
        ("64k", 1000, 64000),
        ("1m", 1024, MIB),
        ("1GiB", 1024, 10**9),
        ("1GiB", 1000, GIB),
        ("0x2000", 1024, 8192),
        ("8192b", 1024, 8192),
        ("(4*1024*(1+1))", 1024, 8192),
    ],
)
def test_a_size_is_what_fio_3_33_made_of_it(text: str, kb_base: int, size: int) -> None:
    assert option(text, kb_base=kb_base).number == size


@pytest.mark.parametrize(
    "text", ["1.5m", "4ki", "8kx", "", "k", "-4k", "(4k*2)", "(2**9)", "(1-2)", "(", "1" * 99, "1z"]
)
def test_a_size_that_fio_reads_otherwise_than_one_would_think_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        option(text).number  # noqa: B018


@pytest.mark.parametrize(
    ("text", "us"), [("60", 60_000_000), ("100ms", 100_000), ("2m", 120_000_000), ("7us", 7)]
)
def test_a_time_is_in_seconds_or_its_unit(text: str, us: int) -> None:
    assert option(text).us == us
    with pytest.raises(UsageError):
        option("5min").us  # noqa: B018 - fio: 5 us


def job(options: str, shared: str = DIRECT) -> str:
    return f"[global]\n{shared}[a]\n{options}"


def test_a_random_map_repeats_no_block_and_norandommap_may() -> None:
    (mapped,) = streams(job("rw=randread\nsize=64m\nnumjobs=2"))
    assert mapped.pattern == Shuffled() and mapped.stop == Stop(bytes=128 * MIB) and mapped.workers == 2
    assert streams(job("rw=randread\nsize=64m\nrandrepeat=0"))[0].pattern == Shuffled(anew=True)
    assert streams(job("rw=randread\nsize=64m\nnorandommap"))[0].pattern == Uniform()


def test_a_map_covers_every_block_once_at_the_drive(tmp_path: Path) -> None:
    (stream,) = streams(job("rw=randwrite\nsize=4m\nloops=2"))
    log = tmp_path / "ios.log"
    with open_drive("sim:tiny-test", writing=True, allow_unwritten=True) as drive:
        drive.run(Workload.of(stream.model_copy(update={"log_ios": True})), log_path=log)
    offsets = read_ios(log)["offset"].tolist()
    assert sorted(offsets) == sorted(2 * [4096 * block for block in range(1024)])
    assert offsets[:1024] == offsets[1024:] != sorted(offsets[:1024])


def test_a_map_is_walked_anew_in_each_pass_of_time(tmp_path: Path) -> None:
    assert streams(job("rw=randread\nsize=4m\nruntime=5\ntime_based"))[0].pattern == Shuffled(anew=True)
    assert streams(job("rw=randread\nsize=4m\nruntime=5\nloops=3"))[0].pattern == Shuffled()


def test_a_size_of_its_own_for_each_direction() -> None:
    shared = "size=64m\nnorandommap\n"
    (stream,) = streams(job(f"{shared}rw=randrw\nbs=4k,64k"))
    assert (stream.block[0].bytes, stream.write_block) == (4096, (Block(bytes=65536),))
    (given,) = streams(job(f"{shared}rw=randrw\nbs=,8k"))
    assert (given.block[0].bytes, given.write_block) == (4096, (Block(bytes=8192),))
    (cut,) = streams(job(f"{shared}rw=randrw\nbs=8k,"))
    assert (cut.block[0].bytes, cut.write_block) == (8192, (Block(bytes=4096),))
    for rw, size in (("randread", 4096), ("randwrite", 16384), ("randtrim", MIB)):
        (one,) = streams(job(f"{shared}rw={rw}\nbs=4k,16k,1m"))
        assert ([block.bytes for block in one.block], one.write_block) == ([size], None)


def test_an_order_of_its_own_for_each_direction() -> None:
    shared = "rw=randrw\nsize=64m\nnorandommap\n"
    (stream,) = streams(job(f"{shared}percentage_random=100,0"))
    assert (stream.pattern, stream.write_pattern) == (Uniform(), Sequential())
    (turned,) = streams(job(f"{shared}percentage_random=0,100"))
    assert (turned.pattern, turned.write_pattern) == (Sequential(), Uniform())
    (plain,) = streams(job(f"{shared}percentage_random=100"))
    assert (plain.pattern, plain.write_pattern) == (Uniform(), None)
    clones = streams(job(f"{shared}percentage_random=100,0\nnumjobs=2"))
    assert {(each.span.start, each.workers) for each in clones} == {(0, 1)}, "both begin at the start"
    (mix,) = streams(job("rw=rw\nsize=64m"))
    assert (mix.pattern, mix.write_pattern) == (Sequential(), Sequential())


def test_a_range_is_of_equal_numbers_of_all_multiples() -> None:
    (stream,) = streams(job("rw=randread\nsize=64m\nnorandommap\nbsrange=4k-16k"))
    assert {block.bytes: block.weight for block in stream.block} == {
        4096 * number: 1 for number in range(1, 5)
    }
    assert stream.pattern == Stepped(step_bytes=4096)


def test_a_flush_at_the_end_is_a_step_of_its_own() -> None:
    timed = "time_based\nruntime=5\n"
    for options, flushes in (
        ("rw=write\nend_fsync=1", True),
        ("rw=write\nfsync_on_close=1", True),
        ("rw=read\nend_fsync=1", False),
        ("rw=write\nend_fsync=0", False),
        (f"rw=write\nnumjobs=4\n{timed}end_fsync=1", True),
    ):
        found = stages(job(f"size=1m\n{options}"))
        assert [each.flush for each in found] == [flushes]
        assert [each.do for each in steps_of_fio(found, ()).steps] == ["run", *["flush"] * flushes]


def test_a_runtime_without_time_based_ends_at_the_size() -> None:
    assert streams(job("rw=read\nsize=1m\nruntime=5"))[0].stop == Stop(time_ns="5s", bytes=MIB)
    assert streams(job("rw=read\nsize=1m\nruntime=5\ntime_based\nramp_time=1"))[0].stop == Stop(time_ns="6s")
    assert streams(job("rw=read\nruntime=5"))[0].stop.bytes == DRIVE.capacity_bytes


def test_clones_of_a_sequence_all_begin_at_its_start() -> None:
    found = streams(job("rw=read\nsize=1m\noffset=2m\nnumjobs=3"))
    assert [each.name for each in found] == ["a.0", "a.1", "a.2"]
    assert {(each.span.start, each.span.length, each.workers) for each in found} == {(2 * MIB, MIB, 1)}


def test_clones_with_parts_have_them() -> None:
    found = streams(job("rw=randread\nsize=25%\noffset_increment=25%\nnumjobs=4"))
    assert [each.span.start for each in found] == [4 * GIB * part for part in range(4)]
    assert {each.span.length for each in found} == {4 * GIB}


def test_jobs_without_a_filename_have_a_file_each() -> None:
    text = "[global]\ndirect=1\nrw=randread\nsize=1m\n[a]\nnumjobs=2\n[b]\n"
    assert [each.span.start for each in streams(text)] == [0, MIB, 2 * MIB]


def test_a_rate_is_of_each_clone() -> None:
    found = streams(job("rw=randread\nsize=1m\nrate_iops=100\nnumjobs=3"))
    assert [each.arrival for each in found] == 3 * [Open(rate=100, backlog_ns=DURATION_NS)]
    (poisson,) = streams(job("rw=randread\nsize=1m\nrate_iops=100\nnumjobs=3\nrate_process=poisson"))
    assert isinstance(poisson.arrival, Open) and poisson.arrival.rate == 300
    (bandwidth,) = streams(job("rw=write\nbs=8k\nsize=1m\nrate=,1m"))
    assert isinstance(bandwidth.arrival, Open) and bandwidth.arrival.rate == 128


def test_a_thinktime_is_in_microseconds() -> None:
    assert streams(job("size=1m\nthinktime=100"))[0].arrival == Closed(think_ns=100_000)
    assert streams(job("size=1m\nthinktime=1ms"))[0].arrival == Closed(think_ns=1_000_000)


def test_an_engine_without_a_queue_has_one_in_flight() -> None:
    (stream,) = streams(job("ioengine=psync\niodepth=32\nsize=1m"))
    assert (stream.engine, stream.depth) == ("sync", 1)


def test_a_later_global_holds_for_later_jobs_alone() -> None:
    text = f"[global]\n{DIRECT}size=1m\nstonewall\n[a]\n[global]\nbs=64k\n[b]\n[c]\nbs=8k\n"
    assert [each.workload.streams[0].block[0].bytes for each in stages(text)] == [4096, 65536, 8192]


def test_who_waits_for_whom() -> None:
    text = f"[global]\n{DIRECT}size=1m\n[a]\n[b]\n[c]\nstonewall\n[d]\nwait_for=c\n[e]\nwait_for=a\n"
    with pytest.raises(UsageError, match="may still be running"):
        stages(text)  # e begins with c, and so d would not wait for all
    assert [each.label for each in stages(text.replace("wait_for=a", "wait_for=c"))] == [
        "a + b",
        "c",
        "d + e",
    ]


def test_variables_and_includes(tmp_path: Path) -> None:
    (tmp_path / "common.inc").write_text("direct=1\nsize=${SIZE}\n")
    text = "[global]\nfilename=/dev/${DISK}\ninclude common.inc\n[a]\n"
    found = read_sections(text, "x.fio", tmp_path, {"SIZE": "1m", "DISK": "sdq"})
    assert found[0].options["size"].text == "1m" and found[0].options["filename"].text == "/dev/sdq"
    assert (found[0].options["size"].file, found[0].options["size"].line) == ("common.inc", 2)
    with pytest.raises(UsageError) as caught:
        read_sections(text, "x.fio", tmp_path, {"DISK": "sdq"})
    assert "common.inc, line 2" in caught.value.what
    (tmp_path / "common.inc").write_text("[b]\n")
    with pytest.raises(UsageError, match="no sections"):
        read_sections(text, "x.fio", tmp_path, {"DISK": "sdq"})
    (tmp_path / "common.inc").write_text("include common.inc\n")
    with pytest.raises(UsageError, match="deep"):
        read_sections(text, "x.fio", tmp_path, {"DISK": "sdq"})


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        (job("size=1m\nblocksise=8k"), 6, "blocksize"),
        ("rw=read\n", 1, "before the first section"),
        ("[globals]\nrw=read\n", 1, "[global]"),
        ("[a]\nrw=read\nsize=1m\n", 1, "direct=1"),
        (job("rw=write\nsize=1000"), 6, "not a multiple"),
        (job("bs = 4k"), 5, "bs=4k"),
        (job("size=1t"), 5, "larger drive"),
        (job("size=1m\nnumjobs=0"), 6, "4096"),
        (job("size=1m\nrw=randrw\nrwmixread=101"), 4, "read_pct"),
        (job("size=1m\nbs=1000"), 6, "logical block"),
        (job("size=1m\nbs=4k,8k\nrw=randrw"), 6, "norandommap"),
        (job("size=1m\nbs="), 6, "whole number"),
        (job("size=1m\nrw=randrw\npercentage_random=100,0"), 7, "norandommap"),
        (job("size=1m\nrw=randrw\nnorandommap\npercentage_random=40,0"), 8, "100 or 0"),
        (job("size=68k\nrw=rw\nbs=4k,64k"), 5, "whole blocks"),
        (job("size=1m\nrw=rw\nloops=2"), 7, "time_based"),
        (job("size=1m\nrw=randrw\nio_size=2m"), 7, "randrepeat=0"),
        (job("size=1m\nrw=randread\nnorandommap\nbsrange=4k-10k"), 8, "4k-64k"),
        (job("size=1m\nrw=read\nbsrange=512-64k"), 7, "at most 64"),
        (job("size=1m\nrw=randread\nnorandommap\noffset=2k\nbssplit=4k/50:8k/50"), 8, "multiple"),
        (job("size=1m\nrw=write\nnumjobs=2\nend_fsync=1"), 8, "runtime"),
        (job("size=1m\nioengine=posixaio\niodepth=2"), 6, "glibc"),
        (job("size=1m\nrw=randread:8"), 6, "colon"),
        (job("size=1m\nsize=$ncpus"), 6, "write the number"),
        (job("size=1m\nkb_base=1023"), 6, "1024 or 1000"),
        (job("size=1m\ntime_based"), 6, "runtime"),
        (job("size=1m\nramp_time=1"), 6, "time_based"),
        (job("size=1m\nthinktime=5\nioengine=libaio\niodepth=2"), 6, "drains"),
        (job("size=1m\nrw=randread\nbssplit=4k/50:8k/50"), 7, "norandommap"),
        (job("size=1m\nrw=randread\nbssplit=4k/50:8k/20\nnorandommap"), 7, "100 %"),
        (job("size=1m\nrw=randread\nrandom_distribution=pareto:0.2"), 7, "zipf"),
        (job("size=1m\nrw=randread\nrandom_distribution=zoned:50/10:50/80"), 7, "zones"),
        (job("size=1m\nfilename=/dev/a:/dev/b"), 6, "each drive"),
        (job("size=1m\n[b]\nfilename=/dev/b\nsize=1m"), 7, "each drive"),
        (job("size=1m\nwait_for=b"), 6, "no job named 'b'"),
        (job("size=1m\nruntime=1\nexitall\n[b]\nsize=2m"), 7, "end the others"),
        (job("size=1m\nnumjobs=300"), 6, "256"),
        (job("size=1m\ncpus_allowed=0-3"), 6, "split"),
        (job("size=1m\nbuffer_compress_percentage=100"), 6, "zeros"),
        (job("size=1m\nioengine=null"), 6, "io_uring"),
        ("", 0, "no job"),
    ],
)
def test_bad_input_is_named_with_its_line(text: str, line: int, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        stages(text)
    assert said in f"{caught.value.what} {caught.value.advice}"
    assert caught.value.facts.get("line", 0) == line


def test_on_a_file_o_sync_is_another_load() -> None:
    text = job("rw=write\nsize=1m\nsync=1")
    with pytest.raises(UsageError, match="times"):
        stages(text, Target("/tmp/x", False, GIB, 512))
    assert streams(text, Target("/dev/sdx", True, GIB, 512))[0].dsync


ETCD = "rw=write\nbs=2300\nfdatasync=1\nsize=230000\nioengine=sync"


def test_etcds_rule_is_asked_of_a_file_and_of_nothing_else() -> None:
    (stream,) = streams(f"[etcd]\n{ETCD}\n", Target("/tmp/wal", False, GIB, 512))
    assert (stream.direct, stream.flush, stream.flush_every) == (False, "fdatasync", 1)
    assert [block.bytes for block in stream.block] == [2300]
    for target in (DRIVE, Target("/dev/sdx", True, GIB, 512)):
        with pytest.raises(UsageError, match="direct=1"):
            stages(f"[etcd]\n{ETCD}\n", target)


@pytest.mark.parametrize(
    ("options", "flush"),
    [
        ("rw=write\nfsync=4", ("fsync", 4)),
        ("rw=read\nfsync=1", ("fdatasync", None)),
        ("rw=write\nfsync=0", ("fdatasync", None)),
    ],
)
def test_a_flush_follows_so_many_writes(options: str, flush: tuple[str, int | None]) -> None:
    (stream,) = streams(job(f"{options}\nsize=1m"))
    assert (stream.flush, stream.flush_every) == flush


@pytest.mark.parametrize(
    "options",
    [
        "fsync=1\nfdatasync=1",
        "fsync=1\nioengine=io_uring\niodepth=8",
        "rw=randrw\nfsync=4",
        "rw=rw\nfdatasync=1",
        "fsync=4\nloops=3",
        "end_fsync=1\nio_size=3m",
        "fsync_on_close=1\nloops=2",
    ],
)
def test_flushes_that_fio_does_otherwise_are_refused(options: str) -> None:
    with pytest.raises(UsageError, match=r"fsync|flushes"):
        stages(job(f"rw=write\nsize=1m\n{options}"))


def test_sizes_that_fio_would_round_are_refused() -> None:
    with pytest.raises(UsageError, match="multiples"):
        stages(job("rw=randread\nsize=4m\nbssplit=4k/50:6k/50"))


@pytest.mark.parametrize("inside", ["\x0c", "\u2028", "\x85", "\x1c"])
def test_only_a_line_feed_ends_a_line(inside: str) -> None:
    text = (
        f"# a comment{inside} bs=8k\n{job(f'rw=read{chr(10)}size=1m{chr(10)}description=some{inside}bs=16k')}"
    )
    (stream,) = streams(text)
    assert [each.bytes for each in stream.block] == [4096]


def test_the_harmless_value_of_a_refused_option_is_let_through() -> None:
    for name, rule in RULES.items():
        if rule.harmless is not None and name != "buffered":
            assert stages(job(f"size=1m\n{name}={rule.harmless}"))


BLOCKS = st.sampled_from([4096, 8192, 65536])


@given(
    ops=st.sampled_from(["read", "write", "trim", 30, 70]),
    block=BLOCKS,
    pattern=st.sampled_from(
        [
            Uniform(),
            Shuffled(),
            Shuffled(anew=True),
            "zipf:1.2",
            Stepped(step_bytes=2048),
            Bands(bands=(Band(access_weight=60, span_weight=1), Band(access_weight=40, span_weight=9))),
        ]
    ),
    workers=st.sampled_from([1, 2, 4]),
    depth=st.integers(1, 64),
    place=st.integers(0, 100),
    stop=st.sampled_from([Stop(time_ns="5s"), Stop(bytes=64 * MIB), Stop(bytes=64 * MIB, time_ns="5s")]),
    dsync=st.booleans(),
    flush=st.sampled_from([None, ("fsync", 1), ("fdatasync", 8)]),
)
def test_our_job_files_are_read_as_they_were_meant(
    ops: object,
    block: int,
    pattern: object,
    workers: int,
    depth: int,
    place: int,
    stop: Stop,
    dsync: bool,
    flush: tuple[str, int] | None,
) -> None:
    repeated = pattern == Shuffled() and stop.bytes is None
    assume(not repeated)  # by time alone each pass of fio has an order of its own
    flushed = flush if depth == 1 and ops == "write" else None
    stream = Stream.model_validate(
        {
            "ops": ops,
            "block": block,
            "pattern": pattern,
            "span": {"start": place * MIB, "length": 100 * MIB},
            "workers": workers,
            "depth": depth,
            "engine": "uring" if depth > 1 else "sync",
            "stop": stop,
            "dsync": dsync and ops not in ("read", "trim"),
            **({} if flushed is None else {"flush": flushed[0], "flush_every": flushed[1]}),
        }
    )
    target = Target("/dev/sdz", True, GIB, 512)
    text = job_file([("main", Workload.of(stream, seed=7))], target)
    (stage,) = stages(text, target)
    assert stage.workload == Workload.of(stream, seed=7)


ORDERS = st.sampled_from([Sequential(), Uniform()])


@given(
    share=st.integers(1, 99),
    blocks=st.tuples(BLOCKS, BLOCKS),
    orders=st.tuples(ORDERS, ORDERS),
    depth=st.integers(1, 64),
    place=st.integers(0, 100),
    stop=st.sampled_from([Stop(time_ns="5s"), Stop(bytes=64 * MIB), Stop(bytes=64 * MIB, time_ns="5s")]),
)
def test_reads_and_writes_apart_are_read_as_they_were_meant(
    share: int,
    blocks: tuple[int, int],
    orders: tuple[Sequential | Uniform, Sequential | Uniform],
    depth: int,
    place: int,
    stop: Stop,
) -> None:
    (reads, writes), (first, second) = blocks, orders
    alike = first == second == Uniform()
    stream = Stream.model_validate(
        {
            "ops": share,
            "block": reads,
            "pattern": first,
            "write_block": None if reads == writes else writes,
            "write_pattern": None if alike else second,
            "span": {"start": place * MIB, "length": 100 * MIB},
            "depth": depth,
            "engine": "uring" if depth > 1 else "sync",
            "stop": stop,
        }
    )
    target = Target("/dev/sdz", True, GIB, 512)
    text = job_file([("main", Workload.of(stream, seed=7))], target)
    assert "#" not in text
    assert [each.workload for each in stages(text, target)] == [Workload.of(stream, seed=7)]


@pytest.mark.parametrize("sizes", ["bssplit=4k/80:8k/20,32k/50:64k/50", "bsrange=4k-64k,8k-24k"])
def test_sizes_of_reads_and_of_writes_are_printed_as_they_were_read(sizes: str) -> None:
    (stage,) = stages(job(f"rw=randrw\nnorandommap\nsize=64m\n{sizes}"))
    text = job_file([("main", stage.workload)], DRIVE)
    assert sizes.partition("=")[0] in text and "percents" not in text and "multiples" not in text
    again = stages(text.replace("filename=DRIVE", "filename=/dev/sdz"))[0].workload.streams[0]
    (stream,) = stage.workload.streams
    for one, other in ((again.block, stream.block), (again.write_block, stream.write_block)):
        assert one is not None and other is not None
        assert [block.bytes for block in one] == [block.bytes for block in other]
    assert again.patterns == stream.patterns == (Stepped(step_bytes=4096), Stepped(step_bytes=other[0].bytes))


def test_steps_of_a_job_file_wait_for_each_other() -> None:
    target = Target("/dev/sdz", True, GIB, 512)
    steps = [
        (f"depth {depth}", Workload.of(Stream(depth=depth, engine="uring", stop=Stop(time_ns="1s"))))
        for depth in (1, 8)
    ]
    beside = Workload.of(
        Stream(name="r", stop=Stop(time_ns="1s")), Stream(name="w", ops="write", stop=Stop(time_ns="1s"))
    )
    found = stages(job_file([*steps, ("global mix", beside)], target), target)
    assert [len(each.workload.streams) for each in found] == [1, 1, 2]
    assert [each.workload.streams[0].depth for each in found] == [1, 8, 1]


def printed(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """The job file that a plan is printed as."""
    assert main(["plan", *words, "sim:tiny-test,scale=4", "--fio"]) == 0
    return capsys.readouterr().out


def test_a_plan_is_printed_as_a_job_file(capsys: pytest.CaptureFixture[str]) -> None:
    text = printed(capsys, "peak-random-read", "--set", "depths=1,4,16", "--set", "seconds=2")
    found = stages(text, Target(None, True, 16 * GIB, 512))
    assert [each.label for each in found] == ["depth 1", "depth 4", "depth 16"]
    assert [each.workload.streams[0].in_flight for each in found] == [1, 4, 16]
    assert "consent" not in text
    whole = printed(capsys, "quick-look")
    assert "consent" in whole.partition("[global]")[0], "fio asks for none before it writes"
    jobs = read_sections(whole, "x.fio", Path(), {})
    assert len(jobs) > 10
    assert [job.flag("stonewall") for job in jobs] == [False, *([True] * (len(jobs) - 1))]


def test_a_run_that_is_resumed_has_the_same_steps() -> None:
    text = job("rw=randrw\nsize=64m\nrate_process=poisson\nrandseed=5\nstartdelay=500ms")
    params = steps_of_fio(*read_stages(read_sections(text, "x.fio", Path(), {}), DRIVE))
    stored = JobParams.model_validate_json(params.model_dump_json())
    assert [each.do for each in stored.steps] == ["note", "idle", "run"]
    assert stored.steps[-1].workload() == params.steps[-1].workload() == stages(text)[0].workload
    unseeded = steps_of_fio(stages(job("size=1m")), ()).steps[0].workload()
    assert "seed" not in unseeded.model_fields_set  # the run draws one


def test_a_job_file_writes_the_drive_that_the_command_names(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path / "other"
    other.write_bytes(b"\xa5" * 65536)
    (tmp_path / "x.fio").write_text(f"[a]\nfilename={other}\ndirect=1\nrw=write\nsize=64k\nstartdelay=1\n")
    words = [
        "job",
        str(tmp_path / "x.fio"),
        "sim:tiny-test,scale=4",
        "--library",
        str(tmp_path / "L"),
        "--json",
    ]
    assert main(words) == 0
    said = capsys.readouterr()
    assert f"filename={other}" in said.err and json.loads(said.out)["status"] == "finished"
    assert other.read_bytes() == b"\xa5" * 65536
    journal = next((tmp_path / "L").glob("*/journal.jsonl")).read_text()
    assert all(f'"verb":"{verb}"' in journal.replace(" ", "") for verb in ("note", "idle", "run"))


def test_a_real_device_needs_its_consent_whatever_the_job_file_names(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    disk = tmp_path / "disk"
    disk.write_bytes(b"precious" * 8192)
    (tmp_path / "x.fio").write_text("[a]\nfilename=/dev/null\ndirect=1\nrw=write\nsize=64k\n")
    assert main(["job", str(tmp_path / "x.fio"), str(disk), "--library", str(tmp_path / "L")]) != 0
    assert "--destroy" in capsys.readouterr().err
    assert disk.read_bytes() == b"precious" * 8192


def test_the_page_of_the_documents_has_every_option() -> None:
    page = (Path(__file__).parents[2] / "docs" / "reference" / "fio-options.md").read_text()
    for name, rule in RULES.items():
        (row,) = [line for line in page.splitlines() if f"`{name}`" in line and line.startswith("| ")]
        assert rule.fate in row and rule.why in row


def test_a_job_file_is_of_the_whole_drive(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "x.fio").write_text("[a]\nrw=read\ndirect=1\nsize=100%\n")
    words = ["job", str(tmp_path / "x.fio"), "sim:tiny-test,scale=4", "--library", str(tmp_path / "L")]
    assert main([*words, "--spare", "40%"]) == 2
    assert "--spare" in capsys.readouterr().err
    assert not (tmp_path / "L").exists()


@dataclass(frozen=True)
class Side:
    """What was done in one direction."""

    ios: int
    bytes: int
    sizes: frozenset[int]
    grid: int
    """Of which all places are multiples."""
    followed: float
    """The share of I/Os that begin where the one before ended."""

    @classmethod
    def of(cls, ios: list[tuple[int, int]]) -> Side:
        followed = [start == before + length for (before, length), (start, _) in pairwise(ios)]
        sizes = frozenset(length for _, length in ios)
        return cls(
            len(ios),
            sum(length for _, length in ios),
            sizes,
            gcd(*(start for start, _ in ios)),
            sum(followed) / len(followed),
        )


def sides_of(ios: list[tuple[str, int, int]]) -> dict[str, Side]:
    """Each direction by itself."""
    return {
        name: Side.of([(start, length) for kind, start, length in ios if kind == name])
        for name in sorted({kind for kind, _, _ in ios})
    }


def by_fio(fio: str, folder: Path, options: str) -> dict[str, Side]:
    """What fio itself does, by its own log; through the page cache, since places and sizes are asked for."""
    file, log = folder / "f", folder / "io.log"
    file.write_bytes(bytes(16 * MIB))
    (folder / "x.fio").write_text(f"[a]\nfilename={file}\nwrite_iolog={log}\n{options}\n")
    done = subprocess.run([fio, "--output-format=json", "x.fio"], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    words = [line.split()[-3:] for line in log.read_text().splitlines()]
    ios = [(word[0], int(word[1]), int(word[2])) for word in words if word[0] in ("read", "write")]
    counted = json.loads(done.stdout[done.stdout.index("{") :])["jobs"][0]
    found = sides_of(ios)
    assert {name: (side.ios, side.bytes) for name, side in found.items()} == {
        name: (counted[name]["total_ios"], counted[name]["io_bytes"]) for name in found
    }
    return found


def by_ours(folder: Path, options: str) -> dict[str, Side]:
    """What the same job does here, on a simulated drive."""
    (stream,) = streams(job(options))
    log = folder / "ours.log"
    with open_drive("sim:tiny-test", writing=True, allow_unwritten=True) as drive:
        drive.run(Workload.of(stream.model_copy(update={"log_ios": True})), log_path=log)
    ios = read_ios(log)
    rows = zip(ios["direction"].tolist(), ios["offset"].tolist(), ios["length"].tolist(), strict=True)
    return sides_of([(("read", "write", "trim")[kind], start, length) for kind, start, length in rows])


@pytest.mark.parametrize(
    "options",
    [
        "rw=randrw\nbs=4k,64k\nnorandommap",
        "rw=randrw\nbs=,16k\nnorandommap\nrwmixread=70",
        "rw=rw\nrwmixread=70",
        "rw=rw\nbs=4k,64k",
        "rw=randrw\npercentage_random=100,0\nnorandommap",
        "rw=randrw\npercentage_random=0,100\nbs=16k,4k\nnorandommap",
        "rw=randrw\nbssplit=4k/50:8k/50,32k/70:64k/30\nnorandommap",
        "rw=randwrite\nbsrange=4k-16k\nnorandommap",
        "rw=read\nbsrange=4k-16k",
        "rw=randread\npercentage_random=0\nnorandommap",
    ],
    ids=lambda options: options.replace("\n", " "),
)
def test_each_direction_does_what_it_does_in_fio(options: str, fio: str, tmp_path: Path) -> None:
    asked = f"size=16m\n{options}"
    theirs, ours = by_fio(fio, tmp_path, asked), by_ours(tmp_path, asked)
    assert theirs.keys() == ours.keys()
    largest = max(size for side in theirs.values() for size in side.sizes)
    totals = [sum(side.bytes for side in sides.values()) for sides in (theirs, ours)]
    assert all(16 * MIB <= total < 16 * MIB + largest for total in totals)
    for name, one in theirs.items():
        other = ours[name]
        assert (one.sizes, one.grid) == (other.sizes, other.grid)
        assert round(one.followed) == round(other.followed)
        # Counts are drawn: of n I/Os the deviation is below the square root of n, of a difference twice it.
        assert abs(one.ios - other.ios) < 6 * (one.ios + other.ios) ** 0.5


@pytest.mark.parametrize(("end", "alike"), [("runtime=300ms\ntime_based", False), ("loops=3", True)])
def test_fios_passes_over_its_map_are_as_ours(end: str, alike: bool, fio: str, tmp_path: Path) -> None:
    """64 blocks: a pass takes it a millisecond or two, so that there are two passes at least."""
    (tmp_path / "f").write_bytes(bytes(256 * 1024))
    (tmp_path / "x.fio").write_text(
        f"[a]\nfilename={tmp_path}/f\nwrite_iolog={tmp_path}/log\nrw=randread\nsize=256k\n{end}\n"
    )
    subprocess.run([fio, "x.fio"], cwd=tmp_path, capture_output=True, check=True)
    words = [line.split()[-3:] for line in (tmp_path / "log").read_text().splitlines()]
    places = [int(word[1]) for word in words if word[0] == "read"]
    first, second = places[:64], places[64:128]
    assert sorted(first) == sorted(second) == [4096 * block for block in range(64)]
    assert (first == second) is alike
    assert streams(job(f"rw=randread\nsize=256k\n{end}"))[0].pattern == Shuffled(anew=not alike)
