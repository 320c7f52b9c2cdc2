"""Results of Aerospike ACT: one test, and the search for the highest load."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, JsonValue

from ssdlab.results.schema import ResultBase
from ssdlab.results.stored import Stored

Rule = Literal["2019", "6.x"]
RULES: dict[Rule, Literal["response", "service"]] = {"2019": "response", "6.x": "service"}
"""What each rule counts a read from: being due, or being issued."""


class ActSlice(Stored):
    """One slice of a test, by both clocks."""

    number: int = Field(description="from 1")
    ios: int
    rate: float = Field(description="reads a second that were done")
    asked: float = Field(description="reads a second that were due")
    response: dict[str, float] = Field(description="share of reads at or over 1, 2, 4 ... 64 ms, from due")
    service: dict[str, float] = Field(description="likewise, from issue")

    @property
    def done_share(self) -> float:
        """Share of the asked rate that was done."""
        return self.rate / self.asked if self.asked else 1.0


class ActVerdict(Stored):
    """What one rule says."""

    rule: Rule
    passed: bool
    worst: dict[str, float] = Field(description="worst share of any slice at each threshold")
    why: str = Field(default="", description="the first limit that did not hold, and where")


class ActRates(Stored):
    """What ACT derives from its configuration, per second."""

    record_stored_bytes: int
    record_stored_range_max_bytes: int
    records_per_block: int
    internal_read_reqs: int
    internal_write_reqs: int
    large_block_reads: float
    large_block_writes: float


class ActResult(ResultBase):
    """A storage test at one load."""

    kind: Literal["act"] = "act"
    act_version: str = Field(description="whose definition of the load: 6.6")
    load: int = Field(description="N of Nx: 2000 reads and 1000 writes a second each; 0 for other ratios")
    arrivals: str
    service_threads: int
    config: dict[str, JsonValue] = Field(description="options of act_storage")
    rates: ActRates
    ordinal: int
    asked_s: float
    ran_s: float
    completed: bool = Field(description="whether it ran to its end")
    stopped: str = Field(default="", description="why it did not")
    slice_s: float
    slices: tuple[ActSlice, ...]
    verdicts: tuple[ActVerdict, ...]
    rule: Rule = Field(description="the one that the load's name goes by, from its arrivals")
    mean_w: float | None = None
    stress_completed: bool | None = Field(
        default=None, description="whether twice the load ran to its end; None: not asked for"
    )

    @property
    def passed(self) -> bool | None:
        """Whether the drive passes at this load, by the rule named; a quick run judges nothing."""
        if self.quick:
            return None
        return self.completed and next(each.passed for each in self.verdicts if each.rule == self.rule)


class ActTry(Stored):
    """One load of a search."""

    load: int
    ordinal: int
    ran_s: float
    completed: bool
    passed: bool
    why: str = Field(default="", description="why it did not pass")
    worst: dict[str, float] = Field(description="worst share of any slice at each threshold")
    mean_w: float | None = None


class ActSearchResult(ResultBase):
    """The highest load at which the limits hold."""

    kind: Literal["act-search"] = "act-search"
    act_version: str
    arrivals: str
    rule: Rule
    slice_s: float
    seconds: float = Field(description="of each try")
    score: int | None = Field(description="highest load that passed below the lowest that did not; N of Nx")
    resolution: int = Field(description="step of the last loads tried")
    highest_completed: int | None = Field(description="highest load that ran to its end")
    tries: tuple[ActTry, ...] = Field(description="in the order they were run")
    drive_state: str = Field(description="what the drive did between two tries")
    score_per_w: float | None = None
