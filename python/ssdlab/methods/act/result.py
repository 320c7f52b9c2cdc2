"""Results of Aerospike ACT: a test at one load, and the search for the highest load."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import Field, JsonValue

from ssdlab.formats.act import option_text, thousandths
from ssdlab.plugin import ResultBase, Stored, and_listed, span_text

from .load import SERVICE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Rule = Literal["2019", "6.x"]
RULES: dict[Rule, Literal["response", "service"]] = {"2019": "response", "6.x": "service"}
"""Latency clock of each rule: from when a read was due (response), or from its issue (service)."""
Program = Literal["act_storage", "act_index"]
JUDGED_S = 3600
"""Length of the slices that ACT judges."""
UNJUDGED = "ACT judges slices of an hour"
DAY_S = 86_400
"""Minimum length of a test for a certificate, in slices of an hour."""
UNEXPLAINED = "it ended before its time"
"""Reason of a test that ended early although ACT would not have ended it."""


class ActSlice(Stored):
    """One slice of a test, judged by both rules."""

    number: int = Field(description="from 1")
    ios: dict[str, int] = Field(description="reads that each rule counts")
    rates: dict[str, float] = Field(description="of them, per second")
    response: dict[str, float] = Field(description="share of reads at or over 1, 2, 4 ... 64 ms, from due")
    service: dict[str, float] = Field(description="likewise, from issue")
    given: dict[str, float] = Field(description="share of each stream's due I/Os that was done")
    passed: dict[str, bool] = Field(description="whether each rule's limits hold")
    short: tuple[str, ...] = Field(default=(), description="streams of which too little was done to count")

    @property
    def done_share(self) -> float:
        """Share of due I/Os that the slowest stream completed."""
        return min(self.given.values(), default=1.0)


class ActVerdict(Stored):
    """The verdict of one rule."""

    rule: Rule
    passed: bool | None = Field(
        description="whether all limits were kept: a verdict only of a test that is judged (`unjudged`); "
        "None: there was no whole slice, or no read in one"
    )
    worst: dict[str, float] = Field(
        description="worst share of any slice at each threshold; of what ran, where no slice is whole"
    )
    why: str = Field(default="", description="the first limit that did not hold, and where")


class ActDelivery(Stored):
    """Result of ssdlab's own delivery test, which ACT lacks: whether every slice completed its load."""

    delivered: bool | None = Field(description="whether it was; None: no slice is whole")
    why: str = Field(default="", description="the stream that fell short, and where")


class ActTry(Stored):
    """One load of a search."""

    load: int | float
    ordinal: int
    ran_s: float
    completed: bool = Field(description="whether it ran to its end")
    abandoned: bool = Field(description="whether it was ended early, as it was certain to fail")
    passed: bool | None = Field(description="by the rule of the search; as in `ActVerdict`")
    why: str = Field(default="", description="why it did not pass")
    delivery: ActDelivery | None = Field(default=None, description="as in `ActResult`")
    worst: dict[str, float] = Field(description="as in `ActVerdict`")
    done: dict[str, float] = Field(description="share of each stream's due I/Os that was done")
    drive_state: str = Field(description="preparation of the drive before")
    written_before_bytes: int = Field(description="bytes written to the drive before, by this run")
    mean_w: float | None = None

    @property
    def held(self) -> bool:
        """Whether the load was delivered and passed, as the search requires."""
        return self.passed is True and (self.delivery is None or self.delivery.delivered is not False)

    def share_over(self, ms: int, slice_s: float) -> float:
        """Return the worst slice's share of reads of `ms` or longer.

        Of a load that ended within its first slice this is a lower bound: all reads still due count as fast.
        """
        share = self.worst[str(ms)]
        if not self.is_bound(slice_s):
            return share
        return share * min(1.0, self.done.get(SERVICE, self.min_done)) * self.ran_s / slice_s

    def is_bound(self, slice_s: float) -> bool:
        """Whether the load ended within its first slice, so that its shares are lower bounds."""
        return not self.completed and self.ran_s < slice_s

    @property
    def min_done(self) -> float:
        """Share of due I/Os that the slowest stream completed."""
        return min(self.done.values(), default=1.0)


def last_try(tries: Sequence[ActTry], load: float | None) -> ActTry | None:
    """Return the try of a load that counts, which is its last; None if the load was not tried."""
    return next((each for each in reversed(tries) if each.load == load), None)


def _none(value: object) -> bool:
    return not value


CHANGED: dict[str, JsonValue] = Field(
    default={},
    exclude_if=_none,
    description="options that differ from ACT's defaults, by name; also arrivals, rates and service threads "
    "that are not ACT's",
)


def with_changed(load: str, changed: Mapping[str, JsonValue]) -> str:
    """Append the options that are not ACT's to a load: `8x with record-bytes 128 and defrag-lwm-pct 0`."""
    return f"{load} with {changed_text(changed)}" if changed else load


def changed_text(changed: Mapping[str, JsonValue]) -> str:
    """Return the options that differ from ACT's own, in words and under ACT's names."""
    return and_listed([option_text(name, value) for name, value in changed.items()])


class ActResult(ResultBase):
    """A test at one load."""

    kind: Literal["act"] = "act"
    program: Program
    act_version: str = Field(description="ACT version of the load: 6.6")
    load: int | float = Field(
        description="N of Nx: 2000 reads and 1000 writes a second each; 0 for other ratios"
    )
    arrivals: str
    service_threads: int
    config: dict[str, JsonValue] = Field(description="options of the program")
    changed: dict[str, JsonValue] = CHANGED
    derived: dict[str, str] = Field(description="what the program derives, by its names")
    asked: dict[str, float] = Field(description="I/Os a second of each stream")
    ordinal: int
    asked_s: float
    ran_s: float
    completed: bool = Field(description="whether it ran to its end")
    stopped: str = Field(default="", description="why it did not")
    undone: int = Field(description="I/Os due at the end, still not done a second later")
    slice_s: float
    slices: tuple[ActSlice, ...]
    verdicts: tuple[ActVerdict, ...]
    delivery: ActDelivery | None = Field(
        default=None,
        description="whether the load was done; None: an older run, whose verdicts have it in them",
    )
    rule: Rule = Field(description="the one that the load's name goes by, from its arrivals")
    mean_w: float | None = None
    stress_completed: bool | None = Field(
        default=None, description="whether twice the load ran to its end; None: not asked for"
    )
    stress_stopped: str = Field(default="", description="why it did not")
    certified: bool | None = Field(
        default=None, description="24 h passed at a load of ACT's own, and 24 h at twice of it to the end"
    )

    tries: tuple[ActTry, ...] = Field(default=(), description="tries of the search before it, in order")
    unjudged: str = Field(
        default="", description="why limits that were kept, or not, are no verdict of ACT's"
    )

    @property
    def covered_s(self) -> float:
        """Time checked against the limits: all whole slices, or the whole run if there are none."""
        return len(self.slices) * self.slice_s or self.ran_s

    @property
    def judged(self) -> bool:
        """Whether the test ran long enough for ACT's judgement, or ACT would have ended it early."""
        ended_by_act = not self.completed and not self.stopped.startswith(UNEXPLAINED)
        return self.slice_s == JUDGED_S and (self.ran_s >= JUDGED_S or ended_by_act)

    @property
    def trial(self) -> str:
        """Why a test of this length, with these slices and reads, cannot certify; empty if it can."""
        if self.asked_s < DAY_S:
            return f"a certificate takes 24 h, not {span_text(self.asked_s)}"
        if self.slice_s != JUDGED_S:
            return f"a certificate takes slices of an hour, not {span_text(self.slice_s)}"
        if not self.completed:
            return UNEXPLAINED if self.stopped.startswith(UNEXPLAINED) else ""
        numbers = {each.number for each in self.slices if all(each.ios.values())}
        hours = range(1, round(self.asked_s / JUDGED_S) + 1)
        missing = [str(hour) for hour in hours if hour not in numbers]
        if not missing:
            return ""
        return f"{len(missing)} of {len(hours)} hours without reads, the first hour {missing[0]}"

    @property
    def load_text(self) -> str:
        return with_changed(f"{self.load}x" if self.load else "rates of its own", self.changed)

    @property
    def why_unjudged(self) -> str:
        """Why ACT gives no verdict, with the time that ran; empty if there is a verdict."""
        return "" if self.judged else _too_short(self.unjudged, self.slice_s, "the load", self.ran_s)

    @property
    def passed(self) -> bool | None:
        """Whether the drive delivered this load and passed by the named rule; None: not judged."""
        return self.held if self.judged else None

    @property
    def held(self) -> bool:
        """Whether the run kept all limits and delivered its load, however long it ran."""
        held = self.completed and any(each.passed is True for each in self.verdicts if each.rule == self.rule)
        held = held and (self.delivery is None or self.delivery.delivered is not False)
        return held and self.stress_completed is not False


class ActSearchResult(ResultBase):
    """The search for the highest load at which the limits hold."""

    kind: Literal["act-search"] = "act-search"
    act_version: str
    arrivals: str
    service_threads: int
    rule: Rule
    slice_s: float
    seconds: float = Field(description="of each try")
    changed: dict[str, JsonValue] = CHANGED
    score: int | float | None = Field(
        description="highest load that was done and passed, below the lowest that did not hold; N of Nx"
    )
    resolution: int | float | None = Field(
        description="from the score to the lowest load that did not hold; None: none failed"
    )
    highest_completed: int | float | None = Field(description="highest load that ran to its end")
    tries: tuple[ActTry, ...] = Field(description="in the order they were run")
    drive_state: str = Field(description="what the drive did between two tries")
    score_w: float | None = Field(default=None, description="mean power at the score")
    score_per_w: float | None = None
    unjudged: str = Field(default="", description="as in `ActResult`")

    @property
    def score_text(self) -> str:
        return with_changed(f"{self.score}x", self.changed)

    @property
    def lowest_failed(self) -> int | float | None:
        return None if self.resolution is None else thousandths((self.score or 0) + self.resolution)

    @property
    def failed_by_rule(self) -> int | float | None:
        """The lowest load that failed by ACT's rule alone; None: none failed."""
        return min((each.load for each in self.tries if not each.passed), default=None)

    @property
    def score_by_rule(self) -> int | float | None:
        """The score by ACT's rule alone, without ssdlab's delivery test."""
        failed = self.failed_by_rule
        passed = [each.load for each in self.tries if each.passed]
        return max((load for load in passed if failed is None or load < failed), default=None)

    @property
    def by_rule_text(self) -> str:
        """The score by the rule alone in words; `at least` if no load failed by it."""
        if self.score_by_rule is None:
            return "none"
        return f"{'at least ' if self.failed_by_rule is None else ''}{self.score_by_rule}x"

    @property
    def ended_by(self) -> ActTry | None:
        """The last try of the lowest load that did not hold; None: every load held."""
        failed = [each for each in self.tries if not each.held and each.load == self.lowest_failed]
        return failed[-1] if failed else None

    @property
    def judged(self) -> bool:
        """Whether the tries ran long enough for ACT's judgement."""
        return self.slice_s == JUDGED_S <= self.seconds

    @property
    def why_unjudged(self) -> str:
        """Why ACT gives no verdict, with the time that ran; empty if the tries were long enough."""
        return "" if self.judged else _too_short(self.unjudged, self.slice_s, "each load", self.seconds)


def _too_short(why: str, slice_s: float, what: str, ran_s: float) -> str:
    return f"{why or UNJUDGED}; {what} ran for {span_text(ran_s)}, in slices of {span_text(slice_s)}"
