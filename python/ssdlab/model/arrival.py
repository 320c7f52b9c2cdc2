"""When the I/Os of a stream are due."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, Field, PlainSerializer, WithJsonSchema, model_validator

from ssdlab.model import units
from ssdlab.model.errors import UsageError
from ssdlab.model.frozen import Bytes, Frozen, Metavar, Nanoseconds

_BANDWIDTH = re.compile(
    r"(\d+(?:\.\d+)?\s*[kmgt]?(?:i?b)?)(?:/s|ps)|\d+(?:\.\d+)?\s*[kmgt]?i?b", re.IGNORECASE
)
_THOUSANDTHS = re.compile(r"[\d_.]+\s*m")
_EXAMPLE_BYTES = 4096


def _rate(value: str | float | Fraction) -> Fraction:
    """Parse a rate in I/Os a second; refuse a bandwidth, as fio's --rate takes, and fio's m for a million."""
    text = value.strip() if isinstance(value, str) else ""
    if (bandwidth := _BANDWIDTH.fullmatch(text)) is not None:
        ios = units.parse_bytes(bandwidth[1] or text) / _EXAMPLE_BYTES
        raise UsageError(
            f"rate {text!r} is a bandwidth; a rate is in I/Os a second",
            f"divide it by the block size: with blocks of {units.block_text(_EXAMPLE_BYTES)} it is {ios:.0f}",
            given=text,
        )
    if _THOUSANDTHS.fullmatch(text):
        raise UsageError(
            f"rate {text!r} would mean thousandths of an I/O a second",
            "write M for a million; to cap a bandwidth, divide it by the block size",
            given=text,
        )
    return units.parse_rate(value)


Rate = Annotated[
    Fraction,
    BeforeValidator(_rate),
    PlainSerializer(units.rate_text),
    Metavar("RATE"),
    WithJsonSchema(
        {"type": "string", "description": "I/Os a second, an exact number such as 2000 or 400/17"}
    ),
]
"""I/Os a second, as an exact fraction."""


class Closed(Frozen):
    """Closed loop: the next I/O starts when one has completed."""

    kind: Literal["closed"] = "closed"
    think_ns: Nanoseconds = Field(0, ge=0, description="pause between a completion and the next I/O, in ns")

    def native(self) -> object:
        """Return the arrival as the native runner takes it."""
        return {"closed": {"think_ns": self.think_ns}}


Process = Literal["even", "poisson", "act6", "act2019"]


class Open(Frozen):
    """Open loop: I/Os are due at times that do not depend on completions."""

    kind: Literal["open"] = "open"
    process: Process = Field(
        "even",
        description="even: equal intervals; poisson: independent arrivals; act6: all workers tick together "
        "(Aerospike ACT 6); act2019: one even generator feeds queues in turn (ACT before 6)",
    )
    queues: int | None = Field(
        None, ge=1, description="queues of act2019; the workers divide evenly among them"
    )
    rate: Rate = Field(description="arrivals a second, for the stream as a whole")
    backlog_ns: Nanoseconds = Field(
        10 * units.NS_PER_S, ge=1, description="how long a due I/O may wait before it is dropped, in ns"
    )

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.process == "act2019" and self.queues is None:
            raise UsageError("arrival act2019 needs its number of queues", "give one, such as act2019:4")
        if self.process != "act2019" and self.queues is not None:
            raise UsageError(f"arrival {self.process} has no queues", "leave the number out, or use act2019")
        return self

    def native(self) -> object:
        process = {"act2019": {"queues": self.queues}} if self.process == "act2019" else self.process
        rate = {"num": self.rate.numerator, "den": self.rate.denominator}
        return {"open": {"process": process, "rate": rate, "backlog_ns": self.backlog_ns}}


class Bursts(Frozen):
    """Repeated bursts: I/Os of a number of bytes that are all due at once."""

    kind: Literal["bursts"] = "bursts"
    bytes: Bytes = Field(gt=0, description="bytes of a burst, a multiple of the block")
    every_ns: Nanoseconds = Field(
        gt=0, description="from the start of one burst to the start of the next, in ns"
    )

    def native(self) -> object:
        return {"bursts": {"bytes": self.bytes, "every_ns": self.every_ns}}


class Pulses(Frozen):
    """A closed loop with pauses: I/Os start only in the first part of each period."""

    kind: Literal["pulses"] = "pulses"
    on_ns: Nanoseconds = Field(gt=0, description="time from the start of a pulse in which I/Os start, in ns")
    every_ns: Nanoseconds = Field(
        gt=0, description="from the start of one pulse to the start of the next, in ns"
    )

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.every_ns <= self.on_ns:
            raise UsageError(
                f"pulses of {units.duration_text(self.on_ns)} every {units.duration_text(self.every_ns)} "
                "leave no idle time",
                "give a longer interval, or use Closed",
            )
        return self

    def native(self) -> object:
        return {"pulses": {"on_ns": self.on_ns, "every_ns": self.every_ns}}


class AsRecorded(Frozen):
    """I/Os are due at the times in a recorded trace."""

    kind: Literal["recorded"] = "recorded"
    backlog_ns: Nanoseconds = Field(
        10 * units.NS_PER_S, ge=1, description="how long a due I/O may wait before it is dropped, in ns"
    )

    def native(self) -> object:
        return {"recorded": {"backlog_ns": self.backlog_ns}}


def parse_arrival(value: object) -> object:
    """Return `Closed` for the text ``closed``, and a value that is not text unchanged."""
    if not isinstance(value, str):
        return value
    if value == "closed":
        return Closed()
    raise UsageError(
        f"arrival {value!r} has no rate",
        "give Open(process, rate), Bursts(bytes, every_ns), Pulses(on_ns, every_ns) or closed",
    )


AnyArrival = Annotated[
    Closed | Open | Bursts | Pulses | AsRecorded, Field(discriminator="kind"), BeforeValidator(parse_arrival)
]
"""An arrival, or the text ``"closed"``."""
