"""The options of a measurement and of a drive, each defined once, as they are typed.

The command's flags and help, the parameters of `ssdlab.measure` and the run steps of a job derive from
`MeasureOptions`; `MeasureOptions.workload` returns the `Workload` they mean.
"""

from __future__ import annotations

import json
import re
from math import gcd
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Field, PlainSerializer, model_validator

from ssdlab.model import units
from ssdlab.model.arrival import Closed, Open, Rate
from ssdlab.model.errors import LabError, Refused, UsageError, unknown
from ssdlab.model.failed_ios import ErrorOptions
from ssdlab.model.frozen import Bytes, FioName, Metavar, NamedOptions
from ssdlab.model.meter_text import MeterOptions
from ssdlab.model.pattern import AnyPattern, AnySpan, Bands, Sequential, Span, Uniform, Zipf, pattern_text
from ssdlab.model.units import duration_text, size_text
from ssdlab.model.workload import MAX_DEPTH, MAX_WORKERS, Block, Blocks, Cpus, Mix, Stop, Stream, Workload

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pydantic import JsonValue

_PLAIN = re.compile(r"\d+(\.\d*)?|\.\d+")


def parse_share(value: object) -> object:
    """Parse text such as ``25%`` or ``0.25`` into a share from 0 to 1; return other values unchanged.

    Raises
    ------
    UsageError
        The text is neither, or it is above 1: ``25`` is ambiguous.
    """
    if not isinstance(value, str):
        return value
    text = value.strip()
    if not _PLAIN.fullmatch(text):
        return float(units.parse_percent(text))
    share = float(text)
    if share > 1:
        advice = f"write {text}%, or {share / 100:g}" if share <= 100 else "write one such as 25%, or 0.25"
        raise UsageError(f"share {value!r} is more than 1, the whole", advice, given=value)
    return share


Share = Annotated[float, BeforeValidator(parse_share), Metavar("PERCENT")]
"""A share from 0 to 1; text may have a percent sign."""


# Options of every command that writes to drives: how a drive is created, and what data may be lost.
# `measure`, `run`, `plan` and `job` add options of their own.


def endurance_cap(text: str) -> float:
    """Parse ``--endurance-cap``: a share, possibly above 1, or whole bytes.

    >>> endurance_cap("150%"), endurance_cap("40TB")
    (1.5, 40000000000000)

    Raises
    ------
    UsageError
        The text is neither a percentage nor a size above 0.
    """
    if text.lstrip().startswith("-"):
        raise UsageError(f"an endurance cap of {text.strip()} allows no writes", "give one such as 20%")
    if "%" not in text:
        if (size := units.parse_bytes(text, noun="endurance cap")) == 0:
            raise UsageError("an endurance cap of 0 allows no writes", "give one such as 40TB")
        return size
    share = float(units.parse_percent(text, noun="endurance cap", beyond=True))
    if share <= 0:
        raise UsageError(f"an endurance cap of {text} allows no writes", "give one such as 20%")
    return share


def _read(value: object) -> object:
    return endurance_cap(value) if isinstance(value, str) else value


Endurance = Annotated[int | float, BeforeValidator(_read), Metavar("CAP")]
"""A share of a drive's rated endurance (0.1 is 10 %), or whole bytes as an `int`."""


class DriveOptions(NamedOptions):
    """How a drive is opened; names and text as on the command line."""

    noun: ClassVar[str] = "option of a drive"

    size_bytes: Bytes | None = Field(
        None, alias="size", gt=0, description="size of the file to create if it is missing: 4GiB"
    )
    destroy: Annotated[str, Metavar("ID")] | None = Field(
        None, description="consent to data loss: identifier of the drive (see ssdlab drives)"
    )
    wipe_signatures: bool = Field(
        False,
        description="with --destroy, also allow losing a file system, partition table or array member on "
        "the drive",
    )
    endurance_cap: Endurance | None = Field(
        None,
        gt=0,
        description="share of the rated endurance, or bytes, that may be written: 50%, 40TB [default: 10%]",
    )


Duration = Annotated[
    int,
    BeforeValidator(units.parse_duration),
    PlainSerializer(units.duration_text),
    Metavar("TIME"),
]
"""A time: text with a unit, or a number of seconds; stored in ns."""

_ARRIVALS = ("closed", "even", "poisson", "act6", "act2019")
DEFAULT_TIME_NS = 10 * units.NS_PER_S
DEFAULT_SEED = 1
_DIRECTIONS = {
    "read": (True, 100),
    "write": (True, 0),
    "rw": (True, None),
    "randread": (False, 100),
    "randwrite": (False, 0),
    "randrw": (False, None),
    "trim": (True, None),
    "randtrim": (False, None),
}
"""fio's values of `rw`: whether the pattern is sequential, and the percentage of reads, if fixed."""

FIO_ENGINES: dict[str, Literal["sync", "uring"]] = {
    "psync": "sync",
    "sync": "sync",
    "pvsync": "sync",
    "pvsync2": "sync",
    "io_uring": "uring",
    "libaio": "uring",
}
"""fio's engines, with the ssdlab engine that sends the same I/O to the drive."""
BUFFERED = "its reads and writes go through the page cache, not to the drive"
OTHER_ENGINES = {
    "posixaio": "glibc does the I/Os of a file one by one, whatever the iodepth",
    "vsync": "it merges adjacent I/Os",
    "mmap": BUFFERED,
    "splice": BUFFERED,
}
"""Other engines of fio, each with the reason for its refusal."""


def _engine(value: object) -> object:
    if not isinstance(value, str):
        return value
    if value in OTHER_ENGINES:
        raise UsageError(
            f"engine {value} is refused: {OTHER_ENGINES[value]}", f"use one of {', '.join(FIO_ENGINES)}"
        )
    return FIO_ENGINES.get(value, value)


def _known_arrival(text: str) -> str:
    name = text.partition(":")[0]
    if name not in _ARRIVALS:
        raise unknown("arrival", name, _ARRIVALS)
    return text


def _percent(value: object) -> object:
    if not isinstance(value, str):
        return value
    share = units.parse_percent(value if value.rstrip().endswith("%") else f"{value}%") * 100
    if share.denominator != 1:
        raise UsageError(
            f"share {value!r} is not a whole percentage", "give a percentage such as 50%", given=value
        )
    return share.numerator


class MeasureOptions(DriveOptions, MeterOptions, ErrorOptions):
    """What can be set for `ssdlab measure`; names and text as on the command line."""

    noun: ClassVar[str] = "option of measure"

    rw: Annotated[
        Literal["read", "write", "rw", "randread", "randwrite", "randrw", "trim", "randtrim"],
        FioName("readwrite"),
    ] = Field("randread", description="direction and order, as in fio; rw and randrw mix reads and writes")
    read_pct: Annotated[int | None, FioName("rwmixread")] = Field(
        None, ge=0, le=100, description="percentage of reads in rw and randrw [default: 50]"
    )
    block: Blocks = Field(
        (Block(bytes=4096),),
        alias="bs",
        min_length=1,
        max_length=64,
        description="block size: 4k, or sizes with weights: 4k:70,128k:30 [default: 4k]",
    )
    workers: Annotated[int, FioName("numjobs")] = Field(
        1, alias="threads", ge=1, le=MAX_WORKERS, description="threads that issue I/O"
    )
    depth: Annotated[int, FioName("iodepth")] = Field(
        1, ge=1, le=MAX_DEPTH, description="I/Os in flight per thread; over 1 needs uring"
    )
    engine: Annotated[Literal["sync", "uring"], BeforeValidator(_engine), FioName("ioengine")] = Field(
        "sync",
        description="sync: one blocking call at a time per thread; uring: io_uring. fio's libaio means "
        "uring, its psync sync",
    )
    batch: int | None = Field(None, ge=1, description="I/Os per submission (uring)")
    pattern: AnyPattern | None = Field(
        None,
        description="order of random I/O: uniform, shuffled (each block once per pass, as with fio's "
        "random map), zipf:1.1, or hot:80/20 [default: uniform]",
    )
    write_block: Blocks | None = Field(
        None,
        alias="write_bs",
        min_length=1,
        max_length=64,
        description="block size of writes in rw and randrw [default: as --bs]",
    )
    write_pattern: AnyPattern | None = Field(
        None,
        description="where the writes of rw and randrw go: sequential, uniform, zipf:1.1, or hot:80/20 "
        "[default: as the reads; in rw writes keep their own position]",
    )
    arrival: Annotated[str, AfterValidator(_known_arrival)] | None = Field(
        None,
        description="closed (a completion starts the next I/O), or an open loop at --rate: even, poisson, "
        "act6, act2019 or act2019:QUEUES [default: closed; even with --rate]",
    )
    rate: Rate | None = Field(None, description="total I/Os per second, exactly: 2000, 23.53, 60k, 400/17")
    backlog_ns: Duration | None = Field(
        None,
        alias="backlog",
        gt=0,
        description="how long a due I/O may wait before it is dropped [default: 10s]",
    )
    think_ns: Duration | None = Field(
        None, alias="think", description="pause between a completion and the next I/O (closed)"
    )
    time_ns: Annotated[Duration | None, FioName("runtime")] = Field(
        None,
        alias="seconds",
        gt=0,
        description="duration of the measurement: 5, 90s, 10m [default: 10 s, or until --bytes]",
    )
    stop_bytes: Bytes | None = Field(None, alias="bytes", gt=0, description="amount to transfer: 10GiB")
    ramp_ns: Duration = Field(
        0,
        alias="ramp",
        description="time at the start that is not counted, in whole intervals [default: none]",
    )
    span: AnySpan = Field(Span(), description="part of the drive: 0..25%, 10GiB..20GiB [default: all]")
    interval_ns: Duration = Field(
        units.NS_PER_S, alias="interval", ge=1_000_000, description="length of an interval [default: 1s]"
    )
    seed: int | None = Field(
        None,
        ge=0,
        lt=2**64,
        description="random seed: the same seed gives the same I/Os [default: 1; a new one each time for a "
        "device, a file or state=FILE]",
    )
    precondition: Literal["none", "fill", "one-pass", "analytic", "steady"] = Field(
        "none",
        description="before measuring: none, fill (write the whole drive once), one-pass (purge, then write "
        "it once at random), analytic (compute a simulated drive's steady state); steady needs "
        "a method",
    )
    spare: Share | None = Field(
        None,
        gt=0,
        lt=0.9,
        description="spare share of the flash, for one-pass: 7% or 0.07 [default: drive record or profile]",
    )
    compressible_pct: Annotated[int, BeforeValidator(_percent), Metavar("PERCENT")] = Field(
        0,
        alias="compressible",
        ge=0,
        le=100,
        description="compressible share of written data: 50%; no effect on a simulated drive, which holds no "
        "data [default: 0%]",
    )
    dsync: bool = Field(False, description="every write is durable on completion (O_DSYNC)")
    fsync: int | None = Field(
        None,
        ge=1,
        description="fsync after every N writes of a thread; its latencies are reported separately",
    )
    fdatasync: int | None = Field(
        None, ge=1, description="as fsync, with fdatasync, which skips a file's timestamps"
    )
    buffered: bool = Field(
        False, description="write through the page cache, in blocks of any size; results are not ranked"
    )
    poll: bool = Field(
        False, description="poll for completions (needs uring and a driver with poll queues; fio's hipri)"
    )
    cpus: Cpus = Field((), description="CPUs to pin the threads to, in turn: 0-3,8 [default: not pinned]")
    numa: int | None = Field(None, ge=0, description="NUMA node to whose CPUs the threads are pinned")
    allow_unwritten: bool = Field(
        False, description="allow reads of never-written blocks: measures the tool, not the drive"
    )
    log_ios: Path | None = Field(None, description="file to log every single I/O to")
    save: bool = Field(False, description="save the result in the library, as a run")
    library: Annotated[Path, Metavar("FOLDER")] | None = Field(
        None,
        description="folder of runs for --save [default: $SSDLAB_LIBRARY, else library in config.toml, "
        "else ~/.local/share/ssdlab/runs]",
    )

    @model_validator(mode="before")
    @classmethod
    def _each_in_its_place(cls, given: object) -> object:
        """Give reads and writes of `rw` separate positions, as in fio, and show this among the options."""
        if isinstance(given, dict) and given.get("rw") == "rw" and given.get("write_pattern") is None:
            return {**given, "write_pattern": "sequential"}
        return given

    @property
    def writing(self) -> bool:
        """Whether the workload writes to or trims the drive."""
        return self.precondition != "none" or self.workload().changes_data

    def workload(self, cpus: tuple[int, ...] = ()) -> Workload:
        """Return the workload of these options; without a seed option it has seed 1.

        Parameters
        ----------
        cpus
            CPUs of the requested NUMA node, which the options do not know.
        """
        sequential, _ = _DIRECTIONS[self.rw]
        if "trim" in self.rw:
            ops: Mix | Literal["trim"] = "trim"
        else:
            ops = Mix(read_pct=self._read_pct())
        stream = Stream(
            name=self.rw,
            ops=ops,
            block=self.block,
            pattern=Sequential() if sequential else self.pattern or Uniform(),
            write_block=self.write_block,
            write_pattern=self.write_pattern,
            span=self.span,
            workers=self.workers,
            depth=self.depth,
            engine=self.engine,
            batch=self.batch,
            arrival=self._arrival(),
            compressible_pct=self.compressible_pct,
            dsync=self.dsync,
            direct=not self.buffered,
            polled=self.poll,
            flush_every=self.fsync or self.fdatasync,
            flush="fsync" if self.fsync is not None else "fdatasync",
            cpus=self.cpus or cpus,
            stop=self._stop(),
            log_ios=self.log_ios is not None,
        )
        return Workload(
            seed=DEFAULT_SEED if self.seed is None else self.seed,
            interval_ns=self.interval_ns,
            ramp_ns=self.ramp_ns,
            streams=(stream,),
        )

    def _read_pct(self) -> int:
        _, fixed = _DIRECTIONS[self.rw]
        if fixed is not None:
            return fixed
        return 50 if self.read_pct is None else self.read_pct

    def _stop(self) -> Stop:
        time_ns = self.time_ns
        if time_ns is None and self.stop_bytes is None:
            time_ns = DEFAULT_TIME_NS
        return Stop(time_ns=None if time_ns is None else time_ns + self.ramp_ns, bytes=self.stop_bytes)

    def _arrival(self) -> Closed | Open:
        name, _, queues = (self.arrival or ("closed" if self.rate is None else "even")).partition(":")
        if name == "closed":
            if self.rate is not None:
                raise UsageError(
                    "a closed loop has no rate: the next I/O waits for a completion",
                    "use --arrival even or poisson with --rate, or --think for a pause",
                )
            if self.backlog_ns is not None:
                raise UsageError("a closed loop has no backlog", "use --backlog with --rate, or leave it out")
            return Closed(think_ns=self.think_ns or 0)
        if self.rate is None:
            raise UsageError(f"arrival {name} needs a rate", "give --rate, in I/Os a second, such as 2000")
        if self.think_ns is not None:
            raise UsageError(
                f"arrival {name} has no think time: I/Os are due at --rate",
                "leave out --think, or use closed",
            )
        backlog = {} if self.backlog_ns is None else {"backlog_ns": self.backlog_ns}
        return Open(process=name, queues=self._queues(name, queues), rate=self.rate, **backlog)

    def _queues(self, name: str, text: str) -> int | None:
        if text and not (name == "act2019" and text.isdecimal() and len(text) < 7 and int(text)):
            raise UsageError(f"arrival {self.arrival} is not valid", "give queues only to act2019: act2019:4")
        if name != "act2019":
            return None
        # ACT before 6 gave each queue four threads.
        return int(text) if text else max(1, self.workers // 4)

    @model_validator(mode="after")
    def _check(self) -> Self:
        sequential, fixed = _DIRECTIONS[self.rw]
        if self.read_pct is not None and self.rw not in ("rw", "randrw"):
            raise UsageError(
                f"--read-pct does not apply to {self.rw}", "use --rw randrw (or rw) with --read-pct"
            )
        if self.pattern is not None and sequential:
            raise UsageError(
                f"{self.rw} is sequential and cannot have the pattern {pattern_text(self.pattern)}",
                f"use --rw rand{self.rw} with --pattern",
            )
        if isinstance(self.pattern, Sequential):
            raise UsageError(
                f"{self.rw} is random, not sequential", f"use --rw {self.rw.removeprefix('rand')}"
            )
        if self.fsync is not None and self.fdatasync is not None:
            raise UsageError("--fsync and --fdatasync cannot be combined", "give one of them")
        if self.buffered and fixed != 0:
            raise UsageError(
                f"--buffered is for writes: {self.rw} through the page cache would measure memory",
                "use --rw write or randwrite with --buffered, or leave it out",
            )
        if self.cpus and self.numa is not None:
            raise UsageError("both --cpus and --numa pin threads", "give one of them")
        if self.precondition == "steady":
            raise Refused(
                "measure alone does not bring the drive to steady state",
                "run a method that does: ssdlab run steady-random-write; or use --precondition fill",
            )
        if self.allow_unwritten and (fixed == 0 or "trim" in self.rw):
            raise UsageError(f"{self.rw} reads nothing", "leave out --allow-unwritten")
        if self.spare is not None and self.precondition != "one-pass":
            raise UsageError(
                "--spare needs --precondition one-pass", "add --precondition one-pass, or leave it out"
            )
        if self.allow_unwritten and self.precondition != "none":
            done = {"fill": "a fill"}.get(self.precondition, f"--precondition {self.precondition}")
            raise UsageError(
                f"after {done} no block is unwritten", "leave out --allow-unwritten or --precondition"
            )
        if self.library is not None and not self.save:
            raise UsageError("--library needs --save: nothing is saved", "add --save")
        self._check_ramp()
        self.workload()
        return self

    def _check_ramp(self) -> None:
        if self.ramp_ns and self.stop_bytes is not None and self.time_ns is None:
            raise UsageError(
                "a ramp would consume some or all of --bytes uncounted", "use --seconds with --ramp"
            )
        # An interval is counted as a whole or not at all, so a ramp must not end within an interval.
        if self.ramp_ns % self.interval_ns:
            common_ns = max(gcd(self.ramp_ns, self.interval_ns), units.NS_PER_S // 1000)
            raise UsageError(
                f"the ramp of {units.duration_text(self.ramp_ns)} is not a multiple of the interval, "
                f"{units.duration_text(self.interval_ns)}",
                f"use --interval {units.duration_text(common_ns)}, or another --ramp",
                ramp_ns=self.ramp_ns,
                interval_ns=self.interval_ns,
            )


MEASURE = "measure"
"""Method name of a saved measurement."""
_OF_DRIVE_AND_METER = {
    field.alias or name for each in (DriveOptions, MeterOptions) for name, field in each.model_fields.items()
}
_NOT_THE_LOAD = {*_OF_DRIVE_AND_METER, "seed", "log_ios", "save", "library"}
"""Options that are no part of the load: how the drive was opened, what was saved, and the seed."""
_ALWAYS: dict[str, JsonValue] = {"rw": "randread", "bs": [{"bytes": 4096, "weight": 1}]}
"""Options that are shown even with their default values, because they tell what was measured."""


def load_options(params: Mapping[str, JsonValue]) -> dict[str, str]:
    """Return the options that differ from their defaults, by name.

    Parameters
    ----------
    params
        The fields of `MeasureOptions` that were given, as a manifest holds them.
    """
    usual: dict[str, JsonValue] = MeasureOptions().model_dump(
        mode="json", by_alias=True, exclude=set(_ALWAYS)
    )
    if "bytes" not in params:
        usual["seconds"] = duration_text(DEFAULT_TIME_NS)
    return {
        name: option_text(name, value)
        for name, value in sorted({**_ALWAYS, **params}.items())
        if name in _ALWAYS or (name not in _NOT_THE_LOAD and value is not None and value != usual.get(name))
    }


def option_text(name: str, value: JsonValue) -> str:
    """Return the value of a field of `MeasureOptions` as a user types it, else as JSON."""
    try:
        text = _typed(name, value)
    except (LabError, LookupError, ValueError):
        text = None
    return json.dumps(value, sort_keys=True) if text is None else text


def _typed(name: str, value: JsonValue) -> str | None:
    match value:
        case list() if name in ("bs", "write_bs"):
            blocks = [Block.model_validate(each) for each in value]
            weighted = len(blocks) > 1
            return ",".join(
                size_text(each.bytes) + (f":{each.weight}" if weighted else "") for each in blocks
            )
        case dict() if name == "span":
            return Span.model_validate(value).text
        case dict() if name in ("pattern", "write_pattern"):
            return _pattern(value)
        case list() | dict():
            return ",".join(map(str, value)) if name == "cpus" else None
        case int() if name in ("bytes", "size"):
            return size_text(value)
    return str(value)


def _pattern(value: dict[str, JsonValue]) -> str:
    """Return a stored pattern as text. Zipf and bands are stored without a kind, so their fields tell it."""
    if "theta_milli" in value:
        return pattern_text(Zipf.model_validate(value))
    if "bands" in value:
        return pattern_text(Bands.model_validate(value))
    return str(value["kind"])
