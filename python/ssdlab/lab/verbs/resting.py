"""Steps at rest, the drive's power states, and a load that aligns power recordings with the run."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from ssdlab.lab.verbs.verb import STEP_MAX_S, Bounds, Facts, Planned, Planning, Verb
from ssdlab.model.errors import DriveError
from ssdlab.model.power_features import PowerFeatures, PowerState
from ssdlab.model.summary import Summary
from ssdlab.model.workload import Block, Mix, Stop, Stream, Workload
from ssdlab.results.journal import boot_id
from ssdlab.results.records import StepResult

if TYPE_CHECKING:
    from ssdlab.lab.verbs.verb import StepContext


class Idle(Verb):
    """Leaves the drive idle."""

    verb: ClassVar[str] = "idle"
    omitted: ClassVar[frozenset[str]] = frozenset({"certain"})

    seconds: int | float
    certain: bool = True
    """See `Lab.run`."""

    def plan(self, planning: Planning) -> Planned:
        del planning
        return Planned(
            Bounds(float(self.seconds) if self.certain else 0.0, self.seconds + STEP_MAX_S),
            overhead_s=STEP_MAX_S,
        )

    def do(self, at: StepContext) -> StepResult:
        at.drive.idle(self.seconds, on_look=at.look)
        return StepResult(seconds=0.0)


_USUAL = PowerFeatures(
    protocol="nvme",
    states=(
        *(PowerState(name=f"ps{number}", operational=True) for number in range(3)),
        *(PowerState(name=f"ps{number}") for number in (3, 4, 5)),
    ),
    saving="apst",
    values=("off", "on"),
    sent=True,
)
"""Features of most client drives, for a plan that cannot ask the drive."""


class PowerFacts(Facts):
    """The drive's power-saving features."""

    features: PowerFeatures


class AskPower(Verb):
    """Reads the drive's power-saving features."""

    verb: ClassVar[str] = "power-features"

    def plan(self, planning: Planning) -> Planned:
        """Assume the features of a typical drive, unless the drive's own are known."""
        features = planning.power_features() or _USUAL
        return Planned(facts=PowerFacts(features=features).model_dump(mode="json"))

    def effects(self) -> tuple[str, ...]:
        return ("reads the drive's power states, if it has any",)

    def do(self, at: StepContext) -> StepResult:
        facts = PowerFacts(features=at.drive.power_features())
        return StepResult(seconds=0.0, facts=facts.model_dump(mode="json"))

    def redo(self, at: StepContext) -> None:
        """Do nothing: reading has no effect on the drive."""


class RestFacts(Facts):
    """Latency of the first read after each rest, in order."""

    wake_ns: tuple[float, ...] = ()
    awake_ns: tuple[float, ...] = ()
    """Latencies of a second read right after the first, when the drive is awake."""


WAKE_MAX_S = 0.1
"""Maximum seconds to enter and leave a power state: Linux uses no slower state
(nvme_core.default_ps_max_latency_us)."""


class Rest(Verb):
    """Lets the drive rest several times, meters its power, and reads a block after each rest."""

    verb: ClassVar[str] = "rest"
    omitted: ClassVar[frozenset[str]] = frozenset({"certain"})

    sent_to: str | None = None
    """State requested before each rest; None: the drive chooses."""
    settle_s: float
    """Seconds of rest before metering."""
    metered_s: float
    again_s: float
    """Seconds of each further rest, which is not metered."""
    reads: int
    """Number of rests; each ends with a read, and a second read of the awake drive."""
    block_bytes: int
    certain: bool = True
    """See `Lab.run`."""

    @property
    def seconds(self) -> float:
        """Total time at rest."""
        return self.settle_s + self.metered_s + (self.reads - 1) * self.again_s

    def plan(self, planning: Planning) -> Planned:
        del planning
        upper_s = self.seconds + self.reads * WAKE_MAX_S + (1 + self.reads) * STEP_MAX_S
        return Planned(
            Bounds(self.seconds if self.certain else 0.0, upper_s),
            overhead_s=(1 + self.reads) * STEP_MAX_S,
        )

    def effects(self) -> tuple[str, ...]:
        sent = "" if self.sent_to is None else f"sends it into {self.sent_to}, "
        return (f"{sent}leaves it idle and reads one block, {self.reads} times",)

    def do(self, at: StepContext) -> StepResult:
        wake_ns: list[float | None] = []
        awake_ns: list[float | None] = []
        rested = None
        for number in range(self.reads):
            at.look(f"rest {number + 1} of {self.reads}")
            self._send(at)
            if rested is None:
                at.drive.idle(self.settle_s, on_look=at.look)
                rested = at.rest(self.metered_s)
            else:
                at.drive.idle(self.again_s, on_look=at.look)
            wake_ns.append(self._read(at, 2 * number))
            awake_ns.append(self._read(at, 2 * number + 1))
        assert rested is not None  # it rests once at least
        woken, awake = (tuple(each for each in took if each is not None) for took in (wake_ns, awake_ns))
        failed = len(wake_ns) + len(awake_ns) - len(woken) - len(awake)
        if not woken or not awake:
            raise DriveError(
                f"{failed} of {2 * self.reads} single reads of {at.drive.identity.path} after rests failed",
                "check the kernel log and the drive's health, then resume the run",
                reason="no-reads",
                operation="read",
                failed=failed,
                asked=2 * self.reads,
            )
        facts = RestFacts(wake_ns=woken, awake_ns=awake).model_dump(mode="json")
        return rested.model_copy(
            update={"facts": {**facts, **({"failed": failed, "asked": 2 * self.reads} if failed else {})}}
        )

    def _send(self, at: StepContext) -> None:
        if self.sent_to is None:
            return
        setting = at.drive.setting("rest_state")
        setting.write(setting.meant(self.sent_to))
        if (now := setting.read()) != self.sent_to:
            raise DriveError(
                f"{at.drive.identity.path} confirmed {self.sent_to}, but is in {now}",
                "add a note to the result: the drive confirms states that it does not enter",
                reason="setting-lies",
                setting="rest_state",
                value=self.sent_to,
                found=now,
            )

    def _read(self, at: StepContext, number: int) -> float | None:
        """Read one block at random, and return the time in ns; None if the read failed."""
        stream = Stream(ops=Mix(read_pct=100), block=(Block(bytes=self.block_bytes),), stop=Stop(ios=1))
        measured = at.run(Workload.of(stream, seed=at.seed + number), None)
        done = Summary.model_validate(measured.as_dict()).read
        taken = None if done is None else done.service_ns.get("max")
        return None if taken is None else float(taken)


_BLOCK_BYTES = 128 * 1024
_WORKERS = 8
"""Threads whose 128 KiB reads nearly fill the link, and so nearly reach maximum power, without io_uring."""


class MarksFacts(Facts):
    """Start and end of each load, in ns of the drive's clock: CLOCK_MONOTONIC of a boot, or virtual time."""

    on_ns: tuple[tuple[int, int], ...]
    boot_id: str | None = None


class PowerMarks(Verb):
    """Alternates reads and rests, whose lengths occur in no other load, to align a power recording."""

    verb: ClassVar[str] = "marks"

    on_and_rest_s: tuple[tuple[float, float], ...]
    seed: int

    @property
    def seconds(self) -> float:
        return sum(on + rest for on, rest in self.on_and_rest_s)

    def plan(self, planning: Planning) -> Planned:
        del planning
        return Planned(Bounds(0.0, self.seconds + STEP_MAX_S), overhead_s=STEP_MAX_S)

    def effects(self) -> tuple[str, ...]:
        return (f"reads at random, on and off, for {self.seconds:g} s: marks to align the power recording",)

    def do(self, at: StepContext) -> StepResult:
        """Make the marks, or none if reads would meet unwritten blocks."""
        on_ns = []
        clock_ns = at.drive.telemetry.clock_ns
        unwritten = at.drive.written(0, at.drive.capacity_bytes) is False
        for number, (on, rest) in enumerate(() if unwritten else self.on_and_rest_s):
            at.look(f"mark {number + 1} of {len(self.on_and_rest_s)}")
            began = clock_ns()
            at.run(self._reads(on, number), None)
            on_ns.append((began, clock_ns()))
            at.drive.idle(rest, on_look=at.look)
        boot = None if at.drive.capabilities.virtual_time else boot_id()
        facts = MarksFacts(on_ns=tuple(on_ns), boot_id=boot)
        return StepResult(seconds=0.0, facts=facts.model_dump(mode="json", exclude_defaults=True))

    def _reads(self, seconds: float, number: int) -> Workload:
        stream = Stream(
            ops=Mix(read_pct=100),
            block=(Block(bytes=_BLOCK_BYTES),),
            workers=_WORKERS,
            stop=Stop(time_ns=round(seconds * 1e9)),
        )
        return Workload.of(stream, seed=self.seed + number)
