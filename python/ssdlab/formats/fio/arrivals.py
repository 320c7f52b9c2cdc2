"""When the I/Os of a stream are due, in fio's words."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from ssdlab.formats.fio.shares import percents
from ssdlab.model.arrival import Bursts, Closed, Open, Pulses
from ssdlab.model.units import bytes_text, duration_text
from ssdlab.model.workload import Mix, Ratio

if TYPE_CHECKING:
    from ssdlab.model.workload import Stream

_LONGEST_REST_US = (1 << 31) - 1


def max_jobs(stream: Stream) -> int:
    """Return in how many jobs a stream can be: fio's Poisson arrivals are at least one a second in each."""
    if not (isinstance(stream.arrival, Open) and stream.arrival.process == "poisson"):
        return stream.workers
    rarest = min(share for share in _directions(stream) if share) * stream.arrival.rate
    return max(1, min(stream.workers, int(rarest)))


def arrival(stream: Stream, jobs: int) -> tuple[list[str], list[str]]:
    """Return fio's options for the arrivals of a stream in so many jobs, and what they cannot say."""
    match stream.arrival:
        case Closed(think_ns=0):
            return [], []
        case Closed(think_ns=think):
            notes = ["fio drains its queue before each rest"] if stream.depth > 1 else []
            return [f"--thinktime={_us(think)}us"], notes
        case Open(process=process, rate=rate):
            notes = ["fio paces each job on its own"]
            if process in ("act6", "act2019"):
                notes.append(f"fio has no arrivals like {process}; they are even here")
            if process != "poisson":
                return [_bytes_a_second(stream, rate, jobs)], notes
            notes.append("fio rounds Poisson's gaps down to microseconds, and rates to whole I/Os a second")
            return [_ios_a_second(stream, rate, jobs), "--rate_process=poisson"], notes
        case Pulses(on_ns=on, every_ns=every):
            options = [f"--thinktime={_us(every - on)}us", f"--thinktime_iotime={_us(on)}us"]
            return options, ["fio counts its rests from when the I/O ends, so that pulses drift"]
        case Bursts(bytes=size, every_ns=every):
            mean = stream.requested_iops or Fraction(0)
            bursts = f"{bytes_text(size)} every {duration_text(every)}"
            return [_bytes_a_second(stream, mean, jobs)], [
                f"fio has no bursts on a clock; this is the mean rate of {bursts}"
            ]
    return [], []


def _bytes_a_second(stream: Stream, rate: Fraction, jobs: int) -> str:
    """Return the rate in bytes: in I/Os a second fio takes whole numbers, and of sizes the smallest."""
    weights = sum(block.weight for block in stream.block)
    mean = Fraction(sum(block.bytes * block.weight for block in stream.block), weights)
    return "--rate=" + ",".join(
        str(max(1, round(rate * mean * share / jobs))) if share else "" for share in _directions(stream)
    ).rstrip(",")


def _ios_a_second(stream: Stream, rate: Fraction, jobs: int) -> str:
    return "--rate_iops=" + ",".join(
        str(max(1, round(rate * share / jobs))) if share else "" for share in _directions(stream)
    ).rstrip(",")


def _directions(stream: Stream) -> tuple[Fraction, Fraction, Fraction]:
    """Return the shares of reads, writes and trims: fio has a rate for each."""
    match stream.ops:
        case Mix(read_pct=share):
            return Fraction(share, 100), Fraction(100 - share, 100), Fraction(0)
        case Ratio(read_weight=reads, write_weight=writes):
            (share, rest), _ = percents((reads, writes))
            return Fraction(share, 100), Fraction(rest, 100), Fraction(0)
    return Fraction(0), Fraction(0), Fraction(1)


def _us(time_ns: int) -> int:
    return min(_LONGEST_REST_US, max(1, -(-time_ns // 1000)))
