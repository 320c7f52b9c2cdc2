"""fio jobs as workloads: jobs that run at the same time are the streams of one workload.

Each option is done exactly as in fio, or refused by name and line. The clones of a job (`numjobs`) are the
workers of one stream. Each clone is a stream of its own in three cases: the job is sequential, so that every
clone begins at its start; the clones have different parts of the drive; or the job has a rate, which fio
applies to each clone.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import gcd
from typing import TYPE_CHECKING, Any, Literal

from pydantic import TypeAdapter

from ssdlab.formats.fio.options import RULES
from ssdlab.model.arrival import Closed, Open
from ssdlab.model.errors import UsageError, excerpt
from ssdlab.model.limits import DURATION_NS
from ssdlab.model.options import BUFFERED, FIO_ENGINES, OTHER_ENGINES
from ssdlab.model.pattern import Band, Bands, Sequential, Shuffled, Span, Stepped, Uniform, Zipf
from ssdlab.model.units import bytes_text
from ssdlab.model.workload import MAX_WORKERS, Block, Cpus, Mix, Stop, Stream, Workload

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ssdlab.formats.fio import Target
    from ssdlab.formats.fio.sections import Given, Section
    from ssdlab.model.frozen import Frozen

_US = 1000
_MAX_STREAMS = 256
"""Maximum streams of one workload."""
_DIRECTIONS = {"read": (0,), "write": (1,), "trim": (2,), "rw": (0, 1)}
"""Directions of a job, as indices into a list of values for reads, writes and trims."""
_BY_THREADS = "preadv and pwritev"
_FLUSHES = ("end_fsync", "fsync_on_close")
_MAX_SIZES = 64
"""Maximum block sizes of one direction."""


@dataclass(frozen=True)
class Stage:
    """Jobs that run at the same time."""

    label: str
    workload: Workload
    rest_ns: int = 0
    """Rest before the jobs start."""
    flush: bool = False
    """Whether the drive is flushed after the jobs."""


def read_stages(jobs: Sequence[Section], target: Target) -> tuple[tuple[Stage, ...], tuple[str, ...]]:
    """Return the stages of a job file for a drive, in order, and remarks on them.

    Raises
    ------
    UsageError
        An option would change the load, or the drive cannot do it; the error names file and line.
    """
    _check_options(jobs)
    remarks = _ignored(jobs)
    _check_files(jobs)
    stages = tuple(_stage(each, target, remarks) for each in _in_stages(jobs))
    return stages, tuple(dict.fromkeys(remarks))


def _check_options(jobs: Sequence[Section]) -> None:
    for job in jobs:
        for name, given in job.options.items():
            rule = RULES[name]
            if rule.fate == "refused" and (given.text or "1").lower() != rule.harmless:
                value = f"={excerpt(given.text)}" if given.text else ""
                given.wrong(f"{name}{value} is refused: {rule.why}", "leave it out, or run the job with fio")


def _ignored(jobs: Sequence[Section]) -> list[str]:
    """Return a sentence for each reason, with the options that are ignored for it."""
    found: dict[str, dict[str, None]] = {}
    for job in jobs:
        for name, given in job.options.items():
            if RULES[name].fate == "ignored":
                value = f"={excerpt(given.text)}" if name == "filename" else ""
                found.setdefault(RULES[name].why, {})[f"{name}{value} (line {given.line})"] = None
    return [f"ignored: {', '.join(names)}: {why}" for why, names in found.items()]


def _check_files(jobs: Sequence[Section]) -> None:
    """Refuse jobs that name several files, or different files."""
    advice = "make a job file for each drive"
    for job in jobs:
        for given in filter(None, (job.get("filename"), job.get("directory"))):
            if ":" in given.text.replace("\\:", ""):
                given.wrong(f"{given.name} names several files", advice)
        if job.text("filename", "") != jobs[0].text("filename", ""):
            job.at("filename").wrong(f"[{job.name}] and [{jobs[0].name}] go to different files", advice)


# Stages: which jobs wait for which others.


def _in_stages(jobs: Sequence[Section]) -> list[list[Section]]:
    stages: list[list[Section]] = []
    at: dict[str, int] = {}
    floor = 0
    for job in jobs:
        place = floor
        if job.flag("stonewall"):
            place = floor = len(stages)
        if (given := job.get("wait_for")) is not None:
            if given.text not in at:
                given.wrong(
                    f"no job named {excerpt(given.text)!r} precedes [{job.name}]", "name an earlier job"
                )
            place = max(place, at[given.text] + 1)
        stages += [[] for _ in range(place + 1 - len(stages))]
        stages[place].append(job)
        at[job.name] = max(place, at.get(job.name, 0))
    for number, stage in enumerate(stages):
        for job in stage:
            given = job.get("wait_for")
            if given is None or job.flag("stonewall") or at[given.text] != number - 1:
                continue
            if others := [each.name for each in stages[number - 1] if each.name != given.text]:
                given.wrong(
                    f"[{job.name}] would start while [{others[0]}] may still be running", "add stonewall"
                )
    return stages


def _stage(jobs: Sequence[Section], target: Target, remarks: list[str]) -> Stage:
    label = " + ".join(dict.fromkeys(job.name for job in jobs))
    streams: list[Stream] = []
    try:
        for job in jobs:
            place = 0 if not streams else _end(streams[-1])
            streams += _Job(job, target, remarks).streams(place)
        _check_ends(jobs, streams)
        ramp_us, rest_us = (_alike(jobs, name) for name in ("ramp_time", "startdelay"))
        seeds = [("seed", job.number("randseed", 0)) for job in jobs if job.get("randseed")]
        workload = Workload.of(*_named(streams), ramp_ns=ramp_us * _US, **dict(seeds))
        flush = workload.changes_data and any(job.flag(name) for job in jobs for name in _FLUSHES)
        return Stage(label, workload, rest_us * _US, flush)
    except UsageError as error:
        if "line" in error.facts:
            raise
        jobs[0].at().wrong(f"[{label}]: {error.what}", error.advice)


def _end(stream: Stream) -> int:
    start, length = stream.span.start, stream.span.length
    assert isinstance(start, int)  # as `_Job` makes them
    assert isinstance(length, int)
    return start + length


def _named(streams: Sequence[Stream]) -> list[Stream]:
    """Return streams with unique names; clones are numbered as in fio."""
    names = [each.name for each in streams]
    seen: dict[str, int] = {}
    named = []
    for stream in streams:
        number = seen[stream.name] = seen.get(stream.name, -1) + 1
        several = names.count(stream.name) > 1
        named.append(stream.model_copy(update={"name": f"{stream.name}.{number}"}) if several else stream)
    return named


def _alike(jobs: Sequence[Section], name: str) -> int:
    """Return a time in us that must be the same for all jobs of a stage."""
    times = {0 if (given := job.get(name)) is None else given.us for job in jobs}
    if len(times) > 1:
        jobs[-1].at(name).wrong(
            f"jobs that run together have different {name}", f"give all of them the same {name}"
        )
    return times.pop()


def _check_ends(jobs: Sequence[Section], streams: Sequence[Stream]) -> None:
    """Refuse actions at the end of a job while other jobs may still run."""
    alone = len(streams) == 1 and streams[0].workers == 1
    timed = all(job.flag("time_based") for job in jobs)
    if alone or (timed and len({each.stop.time_ns for each in streams}) == 1):
        return
    for job in jobs:
        if job.flag("exitall"):
            job.at("exitall").wrong(
                "the first job to end would end the others", "give all of them the same runtime"
            )
        for name in _FLUSHES:
            if job.flag(name):
                what = f"{name} would run at the end of each job, while others may still write"
                job.at(name).wrong(what, "give all of them the same runtime, with time_based")


class _Job:
    """One job, translated into streams."""

    def __init__(self, job: Section, target: Target, remarks: list[str]) -> None:
        self.job, self.target, self.remarks = job, target, remarks
        self.rw = self._rw()
        self.directions = _DIRECTIONS[self.rw.removeprefix("rand")]
        self.sides = [self._blocks(direction) for direction in self.directions]
        self.blocks = tuple({block.bytes: block for side in self.sides for block in side}.values())
        self.smallest = min(block.bytes for block in self.blocks)
        self.patterns = self._patterns()

    def streams(self, place: int) -> list[Stream]:
        """Return the streams of all clones.

        Jobs without a filename have a file each. These files are placed one after another on the drive, from
        `place`.
        """
        clones = self.job.number("numjobs", 1)
        own_files = self.job.get("filename") is None
        increment = self._place("offset_increment")
        size = self._size()
        if own_files and clones > 1 and size is not None:
            increment = increment or size
        start = self._place("offset") + (place if own_files else 0)
        rate = self._rate()
        common = self._common()
        paced = rate is not None and rate[1] == "even"
        in_order = any(isinstance(each, Sequential) for each in self.patterns)
        apart = clones > 1 and (increment or paced or in_order)
        limit = _MAX_STREAMS if apart else MAX_WORKERS
        if not 1 <= clones <= limit:
            each = " for clones with their own offset or rate" if apart else ""
            self.job.at("numjobs").wrong(f"numjobs={clones} is out of range{each}", f"use 1 to {limit}")
        workers, cpus = 1 if apart else clones, self._cpus()
        made = []
        for index in range(clones if apart else 1):
            at = start + index * increment
            length = self._length(at, size)
            own = cpus[index % len(cpus) :][:1] if apart and cpus else cpus
            made.append(
                Stream(
                    **common,
                    **self._places(at, length),
                    cpus=own,
                    span=Span(start=at, length=length),
                    workers=workers,
                    stop=self._stop(length, workers),
                    arrival=self._arrival(rate, workers),
                )
            )
        return made

    def _common(self) -> dict[str, Any]:
        engine, depth = self._engine()
        return {
            "name": self.job.name,
            "ops": self._ops(),
            "engine": engine,
            "depth": depth,
            "batch": self._batch(engine, depth),
            "polled": self._polled(engine),
            "compressible_pct": self._compressible(),
            "dsync": self._durable(),
            "direct": self._direct() or "trim" in self.rw,
            **self._flush(),
        }

    # Operations, flushes and block sizes.

    def _rw(self) -> str:
        text = self.job.text("rw", "read")
        given = self.job.at("rw")
        if ":" in text:
            given.wrong(f"rw={text} skips or repeats offsets", "leave out the colon and what follows")
        name = {"readwrite": "rw"}.get(text, text)
        if name.removeprefix("rand") not in _DIRECTIONS:
            given.wrong(
                f"rw={excerpt(text)} is not supported", "use read, write, trim or rw, with rand or without"
            )
        if "trim" in name and not self.target.block_device and self.target.path is not None:
            given.wrong("a file cannot be trimmed", "name a block device or a simulated drive")
        on_file = self.target.path is not None and not self.target.block_device
        if not self._direct() and "trim" not in name and not (on_file and name.endswith("write")):
            self.job.at("buffered", "direct").wrong(
                f"[{self.job.name}] has no direct=1: {BUFFERED}",
                "set direct=1; only writes to a file can be buffered",
            )
        return name

    def _direct(self) -> bool:
        return self.job.flag("direct") or not self.job.flag("buffered", default=True)

    def _flush(self) -> dict[str, Any]:
        asked = {name: every for name in ("fsync", "fdatasync") if (every := self.job.number(name, 0))}
        if not asked or 1 not in self.directions:
            return {}
        (name, every), *others = asked.items()
        if others:
            self.job.at(name).wrong("fsync and fdatasync cannot be combined", "keep one of them")
        given = self.job.at(name)
        if self._engine()[1] > 1:
            given.wrong("with a queue, fio flushes during the writes, ssdlab after them", "write iodepth=1")
        if len(self.directions) > 1:
            given.wrong("in a mix, fio flushes after reads too", "make two jobs of it, one that writes")
        self.remarks.append(f"{name}={every} (line {given.line}): a flush follows the last write as well")
        return {"flush": name, "flush_every": every}

    def _ops(self) -> object:
        if self.rw.removeprefix("rand") != "rw":
            return self.rw.removeprefix("rand")
        shares = [name for name in self.job.options if name in ("rwmixread", "rwmixwrite")]
        if not shares:
            return Mix(read_pct=50)
        last = self.job.options[shares[-1]]
        return Mix(read_pct=last.number if last.name == "rwmixread" else 100 - last.number)

    def _value(self, given: Given, direction: int) -> str:
        """Return the value for reads (0), writes (1) or trims (2); the last of a list is repeated."""
        values = given.text.split(",")
        return values[min(direction, len(values) - 1)].strip()

    def _blocks(self, direction: int) -> tuple[Block, ...]:
        given = self.job.at("bssplit", "bsrange", "bs")
        value = self._value(given, direction)
        blocks = [(4096, 1)]
        if given.name == "bssplit":
            blocks = self._split(given, value)
        elif given.name == "bsrange":
            blocks = self._range(given, value)
        elif given.name == "bs" and (value or "," not in given.text):
            blocks = [(given.size_of(value), 1)]
        unit = self.target.logical_block_bytes if self._direct() else 1
        for size, _ in blocks:
            if size == 0 or size % unit:
                given.wrong(
                    f"a block of {size} is not a multiple of {unit}, the logical block",
                    "use a multiple of it",
                )
        if len(blocks) > _MAX_SIZES:
            given.wrong(f"{given.name} has {len(blocks)} sizes", f"use at most {_MAX_SIZES}")
        return tuple(Block(bytes=size, weight=weight) for size, weight in blocks)

    def _split(self, given: Given, value: str) -> list[tuple[int, int]]:
        """Return sizes and percentages; sizes without a percentage share the remainder equally."""
        parts = [part.partition("/")[::2] for part in value.split(":") if part.strip()]
        sizes = [given.size_of(size) for size, _ in parts]
        shares = [int(share) if share.strip().isdecimal() else None for _, share in parts]
        rest, open_ = 100 - sum(share or 0 for share in shares), shares.count(None)
        whole = [rest // open_ if share is None else share for share in shares]
        if rest < 0 or sum(whole) != 100 or len(set(sizes)) < len(sizes):
            given.wrong(
                f"the shares of {excerpt(given.text)} do not add up to 100 %",
                "give each size a share: 4k/60:8k/40",
            )
        if any(size % min(sizes) for size in sizes):
            given.wrong(
                f"{excerpt(given.text)} has sizes that fio rounds: not multiples of the smallest",
                "give multiples of the smallest size",
            )
        return [(size, share) for size, share in zip(sizes, whole, strict=True) if share]

    def _range(self, given: Given, value: str) -> list[tuple[int, int]]:
        """Return the sizes of a range with equal weights: fio draws from the multiples of the smallest."""
        low, _, high = value.replace(":", "-").partition("-")
        smallest, largest = given.size_of(low), given.size_of(high)
        if not smallest or largest < smallest or largest % smallest:
            given.wrong(
                f"{excerpt(value)} is not a range of multiples of its smallest size",
                "write one such as 4k-64k",
            )
        return [(size, 1) for size in range(smallest, min(largest, smallest * 2 * _MAX_SIZES) + 1, smallest)]

    # Offsets, sizes and patterns.

    def _place(self, name: str) -> int:
        """Return `offset` or `offset_increment` in bytes; percentages are rounded up to a block."""
        if (given := self.job.get(name)) is None:
            return 0
        place = given.bytes_of(self.target.capacity_bytes)
        return place if given.percent is None else -(-place // self.smallest) * self.smallest

    def _size(self) -> int | None:
        given = self.job.get("size")
        if given is None:
            if self.job.get("filename") is None:
                self.job.at().wrong(f"[{self.job.name}] has neither filename nor size", "give it a size")
            return None
        size = given.bytes_of(self.target.capacity_bytes)
        if given.percent is not None:
            return size // self.smallest * self.smallest
        if size % self.smallest:
            given.wrong(
                f"size={given.text} is not a multiple of the block: fio would exceed it", "use whole blocks"
            )
        return size

    def _length(self, start: int, size: int | None) -> int:
        given, rest = self.job.at("size", "offset_increment", "offset"), self.target.capacity_bytes - start
        if start % self.target.logical_block_bytes:
            given.wrong(
                f"offset {start} is not a multiple of the drive's logical block", "use a multiple of it"
            )
        if size is None or (self.job.at("size").percent is not None and size > rest):
            size = rest // self.smallest * self.smallest
        if size < max(block.bytes for block in self.blocks) or size > rest:
            whole = bytes_text(self.target.capacity_bytes)
            place = f"from {bytes_text(start)} to {bytes_text(start + size)} of {whole}"
            given.wrong(f"[{self.job.name}] would use {place}", "use a larger drive, or another size")
        return size

    def _patterns(self) -> tuple[Frozen, ...]:
        """Return one pattern for all I/Os, or one for reads and one for writes if fio places them separately.

        In a random mix with the same sizes, reads and writes have one distribution, and share fio's random
        map.
        """
        if "rand" not in self.rw:
            return tuple(Sequential() for _ in self.directions)
        orders = [self._in_order(direction) for direction in self.directions]
        if len(set(self.sides)) == len(set(orders)) == 1:
            return (Sequential() if orders[0] else self._law(self.sides[0]),)
        given = self.job.at("percentage_random", "bssplit", "bsrange", "bs")
        if not self.job.flag("norandommap"):
            given.wrong(
                "fio has one random map for reads and writes, which shortens blocks", "write norandommap=1"
            )
        return tuple(
            Sequential() if in_order else self._law(side)
            for side, in_order in zip(self.sides, orders, strict=True)
        )

    def _in_order(self, direction: int) -> bool:
        """Return whether one direction of a random job is sequential."""
        if (given := self.job.get("percentage_random")) is None:
            return False
        value = self._value(given, direction)
        if value not in ("", "0", "100"):
            given.wrong(
                "random and sequential I/O cannot be mixed in one direction", "write 100 or 0 for each"
            )
        if value == "0" and not self.job.flag("norandommap"):
            given.wrong("fio's random map also records sequential I/O", "write norandommap=1")
        return value == "0"

    def _law(self, blocks: tuple[Block, ...]) -> Frozen:
        """Return the pattern of random I/O with these sizes."""
        smallest = min(block.bytes for block in blocks)
        law, _, rest = self.job.text("random_distribution", "random").partition(":")
        given = self.job.at("random_distribution")
        aligned = self.job.number("ba", smallest)
        placed = len(blocks) > 1 or aligned != smallest
        if law != "random" and (placed or len(self.blocks) > 1):
            given.wrong(f"{law} with several sizes differs from fio's", "give one bs and no blockalign")
        match law:
            case "random" if placed:
                if len(blocks) > 1 and aligned == smallest and not self.job.flag("norandommap"):
                    what = "with several sizes, fio's random map shortens blocks"
                    self.job.at("bssplit", "bsrange").wrong(what, "write norandommap=1")
                return Stepped(step_bytes=aligned)
            case "random" if self.job.flag("norandommap"):
                return Uniform()
            case "random":
                repeated = self.job.flag("randrepeat", default=True) and not self.job.flag("time_based")
                return Shuffled(anew=not repeated)
            case "zipf" if (theta := given.real_of(rest) * 1000).denominator == 1 and 0 < theta != 1000:
                return Zipf(theta_milli=int(theta))
            case "zoned":
                return self._zones(given, rest, [share for _, share in _pairs(given, rest)])
            case "zoned_abs":
                return self._zones(given, rest, [given.size_of(size) for _, size in _pairs(given, rest)])
        given.wrong(
            f"random_distribution={given.text} is not supported", "use random, zipf:1.2, zoned or zoned_abs"
        )

    def _places(self, start: int, length: int) -> dict[str, Any]:
        """Return block sizes and patterns of a stream on its part of the drive."""
        for pattern, side in zip(self.patterns, self.sides, strict=False):
            if isinstance(pattern, Stepped) and start % pattern.step_bytes:
                self.job.at("offset", "offset_increment", "ba").wrong(
                    f"offset {start} is not a multiple of {pattern.step_bytes}, at which blocks begin",
                    "use a multiple of it",
                )
            odd = [block.bytes for block in side if length % block.bytes]
            if odd and isinstance(pattern, Sequential) and len(self.patterns) > 1:
                self.job.at("size", "bs").wrong(
                    f"{length} bytes are not a multiple of the block of {odd[0]}: fio goes past their end",
                    "use whole blocks",
                )
        self._check_passes(length)
        made: dict[str, Any] = {"block": self.sides[0], "pattern": self.patterns[0]}
        if self.sides[-1] != self.sides[0]:
            made["write_block"] = self.sides[1]
        if len(self.patterns) > 1 and (
            self.patterns[1] != self.patterns[0] or self.patterns[0] == Sequential()
        ):
            made["write_pattern"] = self.patterns[1]
        return made

    def _check_passes(self, length: int) -> None:
        """Refuse further passes that fio would restart or flush: ssdlab's passes simply continue."""
        loops, amount = self.job.number("loops", 1), self.job.get("io_size")
        more = loops > 1 or (amount is not None and amount.bytes_of(length) > length)
        if not more or self.job.flag("time_based"):
            return
        for name in ("fsync", "fdatasync", *_FLUSHES):
            if self.job.number(name, 0):
                self.job.at(name).wrong(
                    f"with loops or a larger io_size, fio's {name} acts on each pass",
                    "write one pass, or time_based and a runtime",
                )
        if len(self.directions) < 2:
            return
        given = self.job.at("loops" if loops > 1 else "io_size")
        if Sequential() in self.patterns:
            given.wrong("fio restarts sequential I/O in each pass", "write time_based and a runtime")
        if Shuffled() in self.patterns:
            given.wrong("fio reads and writes the same blocks in each pass", "write randrepeat=0")

    def _zones(self, given: Given, text: str, widths: Sequence[int | str]) -> Bands:
        spans = [int(width) for width in widths]
        accesses = [given.size_of(share) for share, _ in _pairs(given, text)]
        size = self._size()
        whole = 100 if isinstance(widths[0], str) else self._length(self._place("offset"), size)
        if sum(accesses) != 100 or sum(spans) != whole or 0 in spans:
            given.wrong(
                f"the zones of {excerpt(given.text)} do not cover all I/Os and the whole span",
                "write zones for all of them",
            )
        unit, parts = gcd(*spans), zip(accesses, spans, strict=True)
        return Bands(bands=tuple(Band(access_weight=a, span_weight=s // unit) for a, s in parts))

    # Amounts, times and rates.

    def _stop(self, length: int, workers: int) -> Stop:
        """Return when the clones of a job end: by time alone, or also by their amount."""
        runtime = self.job.get("runtime")
        ramp_us = self.job.at("ramp_time").us if self.job.get("ramp_time") else 0
        time_us = 0 if runtime is None else runtime.us
        time_ns = (time_us + ramp_us) * _US if time_us else None
        if self.job.flag("time_based"):
            if time_ns is None:
                self.job.at("time_based").wrong("time_based has no runtime", "write runtime=60")
            return Stop(time_ns=time_ns)
        if ramp_us:
            what = "fio counts the amount from the end of the ramp, ssdlab from its start"
            self.job.at("ramp_time").wrong(what, "write time_based=1 and a runtime")
        given, loops = self.job.get("io_size"), self.job.number("loops", 1)
        amount = length if given is None else given.bytes_of(length)
        ios = self.job.number("number_ios", 0)
        if ios and (len(self.blocks) > 1 or loops > 1):
            self.job.at("number_ios").wrong(
                "number_ios with several sizes or loops is not supported", "use io_size"
            )
        blocks = -(-amount // self.smallest) * self.smallest
        exact = blocks if len(self.blocks) == 1 else amount
        return Stop(time_ns=time_ns, bytes=exact * loops * workers, ios=ios * workers or None)

    def _rate(self) -> tuple[Fraction, Literal["even", "poisson"]] | None:
        """Return the rate of one clone in I/Os per second, and its arrival process; None without a rate."""
        laws: dict[str, Literal["even", "poisson"]] = {"linear": "even", "poisson": "poisson"}
        if (law := laws.get(self.job.text("rate_process", "linear"))) is None:
            self.job.at("rate_process").wrong("this rate_process is not supported", "use linear or poisson")
        for name in ("rate", "rate_iops"):
            if (given := self.job.get(name)) is None:
                continue
            if len(self.directions) > 1:
                given.wrong(f"fio keeps a {name} for reads and one for writes", "split it into two jobs")
            if len(self.blocks) > 1:
                given.wrong(f"fio computes {name} from bytes, but the block sizes differ", "give one bs")
            text = self._value(given, self.directions[0])
            if number := given.size_of(text) if text else 0:
                clock = "an open loop; response times count from the due time"
                self.remarks.append(f"{name} (line {given.line}): {clock}")
                return Fraction(number, self.smallest if name == "rate" else 1), law
        return None

    def _arrival(
        self, rate: tuple[Fraction, Literal["even", "poisson"]] | None, workers: int
    ) -> Open | Closed:
        think = self.job.get("thinktime")
        think_us = 0 if think is None else think.us_of(1)
        if think is not None and think_us and rate is not None:
            think.wrong("rate and thinktime cannot be combined", "give only one")
        if think is not None and think_us and self._engine()[1] > 1:
            think.wrong("fio drains its queue before each rest", "give iodepth=1, and more numjobs")
        if rate is None:
            return Closed(think_ns=think_us * _US)
        return Open(process=rate[1], rate=rate[0] * workers, backlog_ns=DURATION_NS)

    # Engine, queue depth and other options of issuing I/O.

    def _engine(self) -> tuple[str, int]:
        text = self.job.text("ioengine", "psync")
        given = self.job.at("ioengine")
        depth = self.job.number("iodepth", 1)
        if text == "posixaio" and depth == 1:
            self.remarks.append(
                f"ioengine={text} (line {given.line}): the same I/O is issued by {_BY_THREADS}"
            )
            return "sync", 1
        if text not in FIO_ENGINES:
            why = OTHER_ENGINES.get(text, "it does not use the kernel's block layer")
            given.wrong(f"ioengine={excerpt(text)} is refused: {why}", f"use one of {', '.join(FIO_ENGINES)}")
        engine = FIO_ENGINES[text]
        if engine == "sync" and depth > 1:
            line = self.job.at("iodepth").line
            self.remarks.append(f"iodepth={depth} (line {line}): {text} has one I/O in flight, in fio too")
            depth = 1
        if text not in ("psync", "io_uring"):
            ours = "io_uring" if engine == "uring" else _BY_THREADS
            self.remarks.append(f"ioengine={text} (line {given.line}): the same I/O is issued by {ours}")
        return engine, depth

    def _batch(self, engine: str, depth: int) -> int | None:
        given = self.job.get("iodepth_batch")
        return None if given is None or engine == "sync" else min(given.number or depth, depth)

    def _polled(self, engine: str) -> bool:
        if self.job.flag("hipri") and engine == "sync":
            self.job.at("hipri").wrong("hipri needs io_uring here", "write ioengine=io_uring")
        return self.job.flag("hipri")

    def _compressible(self) -> int:
        share = self.job.number("buffer_compress_percentage", 0)
        if share == 100:
            self.job.at("buffer_compress_percentage").wrong("fio writes zeros at 100", "write at most 99")
        return share if 1 in self.directions else 0

    def _durable(self) -> bool:
        text = self.job.text("sync", "none") or "1"
        given = self.job.at("sync")
        if text not in ("none", "0", "sync", "1", "dsync"):
            given.wrong(f"sync={excerpt(text)} is unknown", "write none, sync or dsync")
        if 1 not in self.directions or text in ("none", "0"):
            return False
        if text != "dsync":
            if not self.target.block_device and self.target.path is not None:
                given.wrong("O_SYNC writes a file's times too", "write sync=dsync, or name a block device")
            self.remarks.append(
                f"sync={text} (line {given.line}): uses O_DSYNC, which is the same on a drive"
            )
        return True

    def _cpus(self) -> tuple[int, ...]:
        given = self.job.get("cpus_allowed")
        if given is None:
            return ()
        try:
            cpus = TypeAdapter(Cpus).validate_python(given.text)
        except UsageError as error:
            given.wrong(error.what, error.advice)
        if len(cpus) > 1 and self.job.text("cpus_allowed_policy", "shared") != "split":
            given.wrong("ssdlab pins each thread to its own CPU", "write cpus_allowed_policy=split")
        return cpus


def _pairs(given: Given, text: str) -> list[tuple[str, str]]:
    """Return share and width of each zone."""
    pairs = [part.partition("/")[::2] for part in text.split(":") if part]
    if not pairs or not all(first and second for first, second in pairs):
        given.wrong(f"the zones of {excerpt(given.text)} lack a number", "write share/width:share/width")
    return pairs
