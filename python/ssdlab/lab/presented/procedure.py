"""What a run did, from its finished steps: never what the method intends.

Steps of one kind that follow one another are told together, with the depths, sizes, mixes and times that they
had; what was left out says so.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, TypeVar

from ssdlab.lab.verbs.table import describe_step
from ssdlab.model.units import block_text, capacity_text, ends_text, significant, span_text
from ssdlab.model.workload import Mix, Ratio, RecordedOps
from ssdlab.results.claim import as_sentence

if TYPE_CHECKING:
    from ssdlab.model.workload import Stream
    from ssdlab.results.run_folder import Step

N = TypeVar("N", int, float)

_SILENT = frozenset(
    {"back", "conditions", "find", "fork", "health", "limit", "note", "power-features", "stretch", "trace"}
)
"""Verbs that neither work on the drive nor change what is on it; the table of steps has them."""
_RUNS = {"fill": "Filled", "precondition": "Prepared", "one-pass": "Prepared", "run": "Measured"}


def what_was_done(steps: Iterable[Step], capacity_bytes: int) -> tuple[str, ...]:
    """Return in sentences what the finished steps of a run did, in the order in which they were done."""
    shown = sorted((step for step in steps if step.verb not in _SILENT), key=lambda step: step.place)
    return tuple(
        sentence
        for key, group in groupby(_without_rests(shown), key=_kind)
        for sentence in _describe(key[0], list(group), capacity_bytes)
    )


def _without_rests(steps: Sequence[Step]) -> Iterator[Step]:
    """Leave out rests between two steps of one kind: they are told with these."""
    for at, step in enumerate(steps):
        between = 0 < at < len(steps) - 1 and _kind(steps[at - 1]) == _kind(steps[at + 1])
        if step.verb != "idle" or not between:
            yield step


def _kind(step: Step) -> tuple[str, ...]:
    if step.verb not in _RUNS or step.workload is None:
        return (step.verb, str(step.ordinal))
    return (step.verb, *(_doing(stream) for stream in step.ran.streams))


def _describe(verb: str, steps: Sequence[Step], capacity_bytes: int) -> Iterator[str]:
    if verb == "idle":
        yield f"Rest of {span_text(sum(step.result.seconds for step in steps))}."
        return
    if verb not in _RUNS or steps[0].workload is None:
        for step in steps:
            outcome = describe_step(step)
            yield as_sentence(f"{step.label}: {outcome}" if outcome else f"done: “{step.label}”")
        return
    left_out = [step for step in steps if step.result.measurement is None]
    for step in left_out:
        yield as_sentence(f"{step.label}: left out, as every block was known to be written")
    done = [step for step in steps if step.result.measurement is not None]
    if done:
        yield _worked(verb, done, capacity_bytes)


def _worked(verb: str, steps: Sequence[Step], capacity_bytes: int) -> str:
    """Tell steps that ran the same kind of work."""
    first, last = steps[0].label, steps[-1].label
    labels = f"“{first}”" if len(steps) == 1 else f"{len(steps)} steps, “{first}” to “{last}”"
    if again := sum(step.attempt > 1 and not step.result.segments for step in steps):
        labels += f", {'' if again == len(steps) else f'{again} of them '}done again after an interruption"
    parts = [
        f"{_RUNS[verb]} ({labels}): {_together(steps[0].ran.streams)}",
        _range([block.bytes for each in _streams(steps) for block in each.block], block_text),
        f"{_range([each.in_flight for each in _streams(steps)], str)} in flight",
        _range([round(float(step.measured.elapsed_s), 9) for step in steps], span_text)
        + (" each" if len(steps) > 1 else ""),
    ]
    mixes = sorted({each.ops.read_pct for each in _streams(steps) if isinstance(each.ops, Mix)}, reverse=True)
    if any(0 < mix < 100 for mix in mixes):
        parts.insert(1, f"{_range(mixes, str)} % reads")
    written = sum(step.written_bytes for step in steps)
    if written:
        share = significant(written / capacity_bytes)
        parts.append(f"{capacity_text(written)} written, {share} of the capacity")
    return f"{', '.join(parts)}."


def _together(streams: Sequence[Stream]) -> str:
    """Return what the streams of a step do; those that do the same by their number, behind the others."""
    counts = Counter(_doing(each) for each in streams)
    phrases = [each if many == 1 else f"{many} streams of {each}" for each, many in counts.items()]
    return " beside ".join(sorted(phrases, key=lambda each: each not in counts))


def _streams(steps: Sequence[Step]) -> list[Stream]:
    return [stream for step in steps for stream in step.ran.streams]


def _doing(stream: Stream) -> str:
    """Return what a stream does, in one phrase."""
    order = "sequential" if stream.pattern.kind == "sequential" else "random"
    match stream.ops:
        case RecordedOps():
            return "recorded I/O"
        case "trim":
            return f"{order} trims"
        case Ratio():
            return f"{order} reads and writes"
        case Mix(read_pct=100):
            return f"{order} reads"
        case Mix(read_pct=0):
            return f"{order} writes"
    return f"{order} reads and writes"


def _range(values: Sequence[N], text: Callable[[N], str]) -> str:
    return ends_text(text(min(values)), text(max(values)))
